/*
 * nonce - DPoP nonces (RFC 9449, 8 and 9), of which nobody keeps a list.
 *
 * A nonce is the HMAC of a slot of time, so every process of every host that
 * has the master key knows it. That of the slot before still counts, so one
 * serves for at least PF_NONCE_SLOT seconds and for at most twice as long. It
 * says that a proof was made lately, not by whom: replay is the database's
 * business.
 */
#ifndef PF_NONCE_H
#define PF_NONCE_H

#include "core/poppy/keys.h"

#define PF_NONCE_SLOT	120	/* seconds */
#define PF_NONCE_AHEAD	10	/* seconds that another host's clock may be */
#define PF_NONCE_RAW	16	/* bytes of the HMAC that are shown */
#define PF_NONCE_TEXT	PF_B64URL_LEN(PF_NONCE_RAW)

struct pf_req;

/* The nonce of the slot that now_at lies in. */
PF_MUST enum pf_rc pf_nonce_at(const struct pf_keys *k, int64_t now_at,
    char out[PF_NONCE_TEXT]);

/* Is it that of this slot or of the one before, or of the next one when that is
 * near? PF_E_AUTH if not; PF_NOSTR is none of them. */
PF_MUST enum pf_rc pf_nonce_check(const struct pf_keys *k, int64_t now_at,
    struct pf_str nonce);

/*
 * Are nonces wanted, and if so, does the proof have a good one? If not,
 * use_dpop_nonce is noted; whoever replies adds the nonce to ask for.
 */
PF_MUST enum pf_rc pf_nonce_demand(struct pf_req *rq, struct pf_str nonce);

/* With nonces on, the one to use next as a header of that name. */
void pf_nonce_tell(struct pf_req *rq, const char *header);

/*
 * The same as DPoP-Nonce, where scripts of other origins may see it, once the
 * reply has been built: errors forget the headers from before them. The reply
 * must say Cache-Control: no-store.
 */
void pf_nonce_reply(struct pf_req *rq);

#endif
