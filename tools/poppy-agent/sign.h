/*
 * sign - the JWTs of the protocol: client assertion (4.1), Session assertion
 * (4.2), DPoP Proof (4.3) and browser assertion (5). All are made for one
 * request.
 */
#ifndef AG_SIGN_H
#define AG_SIGN_H

#include "core/jose/jws.h"
#include "tools/poppy-agent/state.h"

/* Random bytes of a jti and of a User ID; the draft wants 16 at least. */
#define AG_ID_BYTES	18

/* prefix + AG_ID_BYTES of randomness in base64url, in the arena. */
PF_MUST enum pf_rc ag_random_id(struct pf_arena *a, const char *prefix,
    struct pf_str *out);

/* iss is the client_id, aud the token endpoint as one string; sub is the
 * client_id too (client assertion) or the User ID (Session assertion). */
PF_MUST enum pf_rc ag_sign_assertion(struct pf_arena *a,
    const struct ag_key *key, struct pf_str iss, struct pf_str sub,
    struct pf_str aud, int64_t now_at, struct pf_str *out);

/* A browser assertion; aud is the endpoint, sub the User ID. */
struct ag_browser_for {
	struct pf_str iss, sub, aud;
	struct pf_str session_id, return_to;
	int64_t now_at;
};
PF_MUST enum pf_rc ag_sign_browser(struct pf_arena *a, const struct ag_key *key,
    const struct ag_browser_for *want, struct pf_str *out);

struct ag_proof_for {
	const char *method;
	struct pf_str url;	/* with its query; htu is made of it */
	struct pf_str token;	/* PF_NOSTR at the token endpoint: no ath */
	struct pf_str nonce;	/* empty: none */
	int64_t now_at;
};
/* A URL as it stands in htu: without query and fragment. */
struct pf_str ag_htu(struct pf_str url);
PF_MUST enum pf_rc ag_sign_proof(struct pf_arena *a, const struct pf_key *key,
    const struct ag_proof_for *want, struct pf_str *out);

#endif
