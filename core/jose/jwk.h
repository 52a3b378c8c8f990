/*
 * jwk - JSON Web Keys (RFC 7517, RFC 7518 section 6, RFC 8037), thumbprints
 * (RFC 7638).
 *
 * EC P-256 and P-384, RSA of 2048 to 4096 bits with an odd e of 3 to 2^32,
 * OKP Ed25519. The key fixes its algorithm: P-256 ES256, P-384 ES384, Ed25519
 * EdDSA, RSA RS256 or PS256 (or only the one its alg member names).
 */
#ifndef PF_JWK_H
#define PF_JWK_H

#include "core/base/json.h"
#include "core/jose/crypt.h"

enum pf_alg {
	PF_ALG_NONE = 0,
	PF_ES256,
	PF_ES384,
	PF_RS256,
	PF_PS256,
	PF_EDDSA
};
#define PF_ALG_ALL	"ES256 ES384 RS256 PS256 EdDSA"

/* PF_ALG_NONE for any other name: HS*, none, unknown. */
enum pf_alg pf_alg_parse(struct pf_str name);
const char *pf_alg_name(enum pf_alg alg);

struct pf_key;		/* immutable; shared by threads; counted */
/* The key itself, counted once more. */
struct pf_key *pf_key_ref(struct pf_key *k);
void pf_key_free(struct pf_key *k);	/* NULL is fine */

/*
 * One public key from a JWK object. PF_E_INPUT with *why (a constant) for an
 * unknown kty or crv, a point not on its curve, a weak RSA key, a private or
 * symmetric member (d p q dp dq qi oth k), alg or use that does not fit
 * signatures (use other than "sig", key_ops without "verify"). Of Ed25519 a
 * point of small order or not reduced is refused; one off the curve is found at
 * the first signature, which is PF_E_AUTH.
 */
PF_MUST enum pf_rc pf_jwk_parse(const struct pf_json *jwk, struct pf_key **out,
    const char **why);
const unsigned char *pf_key_thumbprint(const struct pf_key *k); /* 32 bytes */
bool pf_key_fits(const struct pf_key *k, enum pf_alg alg);
struct pf_str pf_key_kid(const struct pf_key *k);	/* PF_NOSTR if none */

#define PF_KEYSET_MAX	20
struct pf_keyset {
	size_t n;
	struct pf_key *key[PF_KEYSET_MAX];
};
/*
 * A JWK Set (RFC 7517, 5). Keys of unknown kty, crv, alg or use are passed
 * over (the RFC says so); a private member anywhere, two equal kids, more than
 * 20 keys, or no usable key at all are PF_E_INPUT. Free with pf_keyset_free().
 */
PF_MUST enum pf_rc pf_jwks_parse(struct pf_str text, struct pf_keyset *out,
    const char **why);
void pf_keyset_free(struct pf_keyset *s);

/*
 * For agents and tests: keys that can sign. A private JWK needs d, and for RSA
 * p q dp dq qi too; PF_E_INPUT also if they don't belong to the public members.
 */
PF_MUST enum pf_rc pf_key_generate(enum pf_alg alg, struct pf_key **out);
PF_MUST enum pf_rc pf_jwk_parse_private(const struct pf_json *jwk,
    struct pf_key **out, const char **why);
/*
 * As a JWK object, with alg where the key has but one; private members only on
 * request, which fails (the buffer sticks) for a public key. kid may be
 * PF_NOSTR.
 */
void pf_key_write(struct pf_buf *b, const struct pf_key *k, struct pf_str kid,
    bool with_private);

#endif
