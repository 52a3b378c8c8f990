/*
 * principal - who asks: one struct behind the front door of every program.
 *
 * Draft 0.1 proves it by a Session Token, with a DPoP Proof or as Bearer, or by
 * the cookie of a browser. How that is done is known here alone; later versions
 * of the protocol replace this file.
 */
#ifndef PF_PRINCIPAL_H
#define PF_PRINCIPAL_H

#include "core/poppy/app.h"
#include "core/poppy/keys.h"
#include "core/store/token.h"

struct pf_principal {
	struct pf_str client_id;
	int64_t client_no;
	struct pf_str user;		/* key of the User, 32 bytes */
	struct pf_sid sid;
	struct pf_str account;		/* PF_NOSTR when signed out */
	struct pf_str scopes;		/* of this token or, by cookie, of the
					 * Session; "" when signed out */
	bool signed_in;
	struct pf_str resource;		/* PF_NOSTR: good everywhere but MCP */
	bool bearer;			/* came without a proof, and jkt */
	unsigned char jkt[PF_SHA256_LEN];

	bool cookie;			/* came by the cookie of a joined browser:
					 * no proof, no jkt, no resource */
	struct pf_str client_name;	/* then: how it calls itself, made fit
					 * (label.h), or PF_NOSTR */
	int64_t grant_no;		/* then, signed in: of this sign-in */
};

/* The public URL of this request's path on the host it came to;
 * not_found if that host is none of ours. */
PF_MUST enum pf_rc pf_request_url(struct pf_req *rq, struct pf_str *out);

/*
 * The DPoP Proof of a token request: no token, no ath (section 4.3).
 * invalid_dpop_proof noted if anything is wrong with it, use_dpop_nonce if it
 * lacks a nonce that is wanted, not_found as above.
 */
struct pf_proof;
PF_MUST enum pf_rc pf_token_proof(struct pf_req *rq, struct pf_proof *out);

/*
 * Session Token and proof of an API request, judged and spent in one round
 * trip. resource is what this service demands tokens for; "" takes those that
 * are for no resource. Sets rq->who. Errors noted: invalid_token,
 * invalid_dpop_proof, use_dpop_nonce, not_found, unavailable.
 */
PF_MUST enum pf_rc pf_principal_by_proof(struct pf_req *rq,
    struct pf_str resource);
/* The same for the Bearer token of an MCP server: resource is its url. A DPoP
 * header is not looked at. */
PF_MUST enum pf_rc pf_principal_by_bearer(struct pf_req *rq,
    struct pf_str resource);

/*
 * The browser that has joined a Session, by its cookie (section 5), in one round
 * trip. Sets rq->who. PF_E_ABSENT, nothing noted: the cookie is none of ours or
 * of no live Session. Errors noted: invalid_client for a blocked client,
 * rate_limited.
 */
PF_MUST enum pf_rc pf_principal_by_cookie(struct pf_req *rq);

/* After that: sign_in_required or insufficient_scope noted, or PF_OK. scopes
 * may be empty. */
PF_MUST enum pf_rc pf_principal_may(struct pf_req *rq, bool signed_in,
    const struct pf_strs *scopes);

#endif
