/*
 * dpop - DPoP Proofs (RFC 9449, section 4.3): every check but replay, which is
 * the database's, and the binding to a token, which is the caller's.
 */
#ifndef PF_DPOP_H
#define PF_DPOP_H

#include "core/jose/jws.h"

struct pf_dpop_want {
	struct pf_str method;	/* htm, byte for byte */
	struct pf_str url;	/* the public URL of the request; a query or
				 * fragment of it is ignored */
	struct pf_str token;	/* the access token for ath; PF_NOSTR: ath is
				 * not looked at (token endpoint) */
	int64_t now_at;
	int64_t past, future;	/* seconds that iat may lie off */
};

struct pf_proof {
	unsigned char jkt[PF_SHA256_LEN];	/* thumbprint of its key */
	unsigned char spend[16];	/* replay key: first half of SHA-256
					 * over jkt and jti */
	int64_t iat;
	struct pf_str nonce;		/* PF_NOSTR if none; not checked */
};

/*
 * header is the value of the one DPoP header field. PF_E_INPUT with *why (text
 * in the arena or a constant; for a stale iat it gives iat, our time and the
 * window; never the proof): not exactly one JWS, a comma or space in it, typ
 * other than dpop+jwt, alg or jwk refused, a private member in jwk, signature
 * wrong, jti not 1 to 256 bytes, htm, htu, iat or ath wrong.
 */
PF_MUST enum pf_rc pf_dpop_check(struct pf_arena *a, struct pf_str header,
    const struct pf_dpop_want *want, struct pf_proof *out, const char **why);

/*
 * htu against the request's URL (RFC 9449, 4.3 check 9; RFC 3986, 6.2): scheme
 * and host without case, default port dropped, query and fragment ignored, path
 * byte for byte (an empty path equals "/"); userinfo or anything but https is
 * refused.
 */
bool pf_dpop_same_url(struct pf_str htu, struct pf_str url);

#endif
