/*
 * key - what a pf_key is made of, and the signature schemes over it. For
 * core/jose alone: everybody else sees jwk.h.
 */
#ifndef PF_KEY_H
#define PF_KEY_H

#include <stdatomic.h>

#include "core/jose/jwk.h"

/* EVP_PKEY and EVP_MD by their tags: OpenSSL's headers stay in the .c files. */
struct evp_pkey_st;
struct evp_md_st;

enum pf_kind { PF_KIND_P256, PF_KIND_P384, PF_KIND_RSA, PF_KIND_ED25519 };

#define PF_RSA_MAX	512	/* bytes of a 4096-bit modulus */

/* The public members: x and y of a point, n and e of RSA, x of Ed25519. Points
 * have their curve's length, n and e no leading zeros. */
struct pf_pub {
	enum pf_kind kind;
	size_t na, nb;
	unsigned char a[PF_RSA_MAX];
	unsigned char b[48];
};

struct pf_key {
	atomic_uint refs;
	enum pf_alg only;	/* PF_ALG_NONE: what fits its kind */
	struct evp_pkey_st *pkey;
	struct pf_pub pub;
	unsigned char thumbprint[PF_SHA256_LEN];
	struct pf_str kid;	/* in the same block of memory */
};

/* Bytes of a coordinate; 0 for RSA. */
size_t pf_kind_field(enum pf_kind kind);
bool pf_kind_does(enum pf_kind kind, enum pf_alg alg);

/* A key that owns pkey, which is freed here on failure. */
PF_MUST enum pf_rc pf_key_new(const struct pf_pub *pub, enum pf_alg only,
    struct pf_str kid, struct evp_pkey_st *pkey, struct pf_key **out);
/* A JWK's public members, checked as jwk.h says, but for private members. */
PF_MUST enum pf_rc pf_jwk_public(const struct pf_json *jwk,
    struct pf_pub *pub, const char **why);
/* Its kid, alg, use and key_ops; op is "verify" or "sign". */
PF_MUST enum pf_rc pf_jwk_meta(const struct pf_json *jwk, enum pf_kind kind,
    const char *op, enum pf_alg *only, struct pf_str *kid, const char **why);
/* Whether a private or symmetric member stands in it. */
bool pf_jwk_has_private(const struct pf_json *jwk);

/* PF_E_INPUT: the numbers are no key (a point off its curve). */
PF_MUST enum pf_rc pf_pkey_public(const struct pf_pub *pub,
    struct evp_pkey_st **out);
PF_MUST enum pf_rc pf_thumbprint(const struct pf_pub *pub,
    unsigned char out[PF_SHA256_LEN]);

/* The public members of pkey, whose kind is pub->kind already. */
bool pf_pkey_numbers(const struct evp_pkey_st *pkey, struct pf_pub *pub);

/* A JWK's private members and what OpenSSL calls them. */
#define PF_SECRETS_MAX	6
struct pf_secret { const char *jwk, *ossl; };
const struct pf_secret *pf_key_secrets(enum pf_kind kind, size_t *n);

/* Sign or verify in the form that JWS has. sig must have room for PF_RSA_MAX
 * bytes. PF_E_AUTH: wrong, or alg does not fit the key. */
PF_MUST enum pf_rc pf_sig_verify(const struct pf_key *k, enum pf_alg alg,
    struct pf_str msg, const unsigned char *sig, size_t nsig);
PF_MUST enum pf_rc pf_sig_make(const struct pf_key *k, enum pf_alg alg,
    struct pf_str msg, unsigned char *sig, size_t *nsig);

/* What crypt.c holds from the start: an empty key on the curve of that kind,
 * and the digest of an alg (PF_ALG_NONE: SHA-256). */
const struct evp_pkey_st *pf_crypt_curve(enum pf_kind kind);
const struct evp_md_st *pf_crypt_md(enum pf_alg alg);
/* The digest of in with this thread's context; out has room for 48 bytes. */
PF_MUST enum pf_rc pf_crypt_digest(const struct evp_md_st *md,
    struct pf_str in, unsigned char *out);

#endif
