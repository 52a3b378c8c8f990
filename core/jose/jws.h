/*
 * jws - JSON Web Signatures in compact form (RFC 7515), strictly.
 */
#ifndef PF_JWS_H
#define PF_JWS_H

#include "core/jose/jwk.h"

#define PF_JWS_MAX	8192	/* bytes of one JWS */

struct pf_jws {
	enum pf_alg alg;
	struct pf_str typ;		/* PF_NOSTR if absent */
	struct pf_str kid;		/* PF_NOSTR if absent */
	const struct pf_json *header;
	const struct pf_json *claims;	/* the payload, an object */
	struct pf_str signed_part;	/* header "." payload, as received */
	unsigned char sig[512];
	size_t nsig;
};

/*
 * Split, decode and read; no signature is checked yet. Refused with PF_E_INPUT
 * and *why: not three parts of strict base64url, a header or payload that is no
 * strict JSON object, alg missing, none, HS* or unknown, any crit, b64, zip or
 * enc, and jwk, jku, x5c, x5u unless allow_jwk (then jwk alone, for DPoP).
 */
PF_MUST enum pf_rc pf_jws_parse(struct pf_arena *a, struct pf_str text,
    bool allow_jwk, struct pf_jws *out, const char **why);

/* PF_E_AUTH: the signature is not this key's, or alg does not fit the key.
 * ECDSA signatures are r || s of fixed length (RFC 7518, 3.4). */
PF_MUST enum pf_rc pf_jws_verify(const struct pf_jws *jws,
    const struct pf_key *k);
/*
 * Verify with a key set: with kid only the key of that kid, else each key that
 * fits alg, in turn. PF_E_ABSENT: no key of that kid (or none that fits);
 * PF_E_AUTH: signature wrong.
 */
PF_MUST enum pf_rc pf_jws_verify_set(const struct pf_jws *jws,
    const struct pf_keyset *set);

/* For agents and tests: header and payload are JSON texts, at most PF_JWS_MAX
 * bytes in the end. PF_E_AUTH: alg is not the key's; PF_E_BUG: a public key. */
PF_MUST enum pf_rc pf_jws_sign(struct pf_arena *a, const struct pf_key *k,
    enum pf_alg alg, struct pf_str header, struct pf_str payload,
    struct pf_str *out);

#endif
