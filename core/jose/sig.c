#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ec.h>
#include <openssl/rsa.h>
#include <string.h>

#include "core/jose/key.h"

#define DER_MAX		(2 + 2 * (2 + 1 + 48))
#define DIGEST_MAX	48

/* A positive INTEGER in its shortest form. */
static size_t
der_integer(const unsigned char *p, size_t n, unsigned char *out)
{
	size_t pad;

	while (n > 1 && *p == 0) {
		p++;
		n--;
	}
	pad = (*p & 0x80) != 0;
	out[0] = 0x02;
	out[1] = (unsigned char)(n + pad);
	out[2] = 0;
	memcpy(out + 2 + pad, p, n);
	return 2 + pad + n;
}

/*
 * r || s as the SEQUENCE that OpenSSL wants. By hand, since ECDSA_SIG costs
 * sixty times as much. It stays below 128 bytes, so a length is one byte.
 * OpenSSL checks that r and s lie in 1 ... n - 1.
 */
static size_t
der_signature(const unsigned char *raw, size_t field,
    unsigned char out[DER_MAX])
{
	size_t n;

	n = der_integer(raw, field, out + 2);
	n += der_integer(raw + field, field, out + 2 + n);
	out[0] = 0x30;
	out[1] = (unsigned char)n;
	return 2 + n;
}

/* RFC 7518, 3.3 and 3.5: PSS has MGF1 with SHA-256 and a salt of 32 bytes. */
static bool
rsa_scheme(EVP_PKEY_CTX *ctx, enum pf_alg alg)
{
	if (EVP_PKEY_CTX_set_rsa_padding(ctx, alg == PF_PS256 ?
	    RSA_PKCS1_PSS_PADDING : RSA_PKCS1_PADDING) != 1 ||
	    EVP_PKEY_CTX_set_signature_md(ctx, pf_crypt_md(alg)) != 1)
		return false;
	return alg != PF_PS256 || EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx,
	    RSA_PSS_SALTLEN_DIGEST) == 1;
}

static bool
verify_digest(const struct pf_key *k, enum pf_alg alg,
    const unsigned char *sig, size_t nsig, const unsigned char *md, size_t nmd)
{
	EVP_PKEY_CTX *ctx;
	bool ok;

	if ((ctx = EVP_PKEY_CTX_new_from_pkey(NULL, k->pkey, NULL)) == NULL)
		return false;
	ok = EVP_PKEY_verify_init(ctx) == 1 &&
	    (k->pub.kind != PF_KIND_RSA || rsa_scheme(ctx, alg)) &&
	    EVP_PKEY_verify(ctx, sig, nsig, md, nmd) == 1;
	EVP_PKEY_CTX_free(ctx);
	return ok;
}

/* Ed25519 hashes for itself: there is no form of it over a digest. */
static bool
verify_ed25519(const struct pf_key *k, struct pf_str msg,
    const unsigned char *sig)
{
	EVP_MD_CTX *ctx;
	bool ok;

	if ((ctx = EVP_MD_CTX_new()) == NULL)
		return false;
	ok = EVP_DigestVerifyInit_ex(ctx, NULL, NULL, NULL, NULL, k->pkey,
	    NULL) == 1 && EVP_DigestVerify(ctx, sig, 64,
	    (const unsigned char *)msg.p, msg.n) == 1;
	EVP_MD_CTX_free(ctx);
	return ok;
}

static size_t
sig_len(const struct pf_pub *pub)
{
	return pub->kind == PF_KIND_RSA ? pub->na :
	    2 * pf_kind_field(pub->kind);
}

static bool
verify(const struct pf_key *k, enum pf_alg alg, struct pf_str msg,
    const unsigned char *sig, size_t nsig)
{
	unsigned char md[DIGEST_MAX], der[DER_MAX];
	size_t nmd = alg == PF_ES384 ? 48 : 32;

	if (alg == PF_EDDSA)
		return verify_ed25519(k, msg, sig);
	if (pf_crypt_digest(pf_crypt_md(alg), msg, md) != PF_OK)
		return false;
	if (k->pub.kind == PF_KIND_RSA)
		return verify_digest(k, alg, sig, nsig, md, nmd);
	nsig = der_signature(sig, pf_kind_field(k->pub.kind), der);
	return verify_digest(k, alg, der, nsig, md, nmd);
}

enum pf_rc
pf_sig_verify(const struct pf_key *k, enum pf_alg alg, struct pf_str msg,
    const unsigned char *sig, size_t nsig)
{
	enum pf_rc rc = PF_E_AUTH;

	if (!pf_key_fits(k, alg) || nsig != sig_len(&k->pub))
		return PF_E_AUTH;
	if (verify(k, alg, msg, sig, nsig))
		rc = PF_OK;
	else
		/* A thread's queue of errors would grow and be read by
		 * whoever looks next: libpq and libcurl do. */
		ERR_clear_error();
	return rc;
}

static bool
raw_signature(const unsigned char *der, size_t nder, size_t field,
    unsigned char *out)
{
	ECDSA_SIG *s;
	bool ok;

	if ((s = d2i_ECDSA_SIG(NULL, &der, (long)nder)) == NULL)
		return false;
	ok = BN_bn2binpad(ECDSA_SIG_get0_r(s), out, (int)field) >= 0 &&
	    BN_bn2binpad(ECDSA_SIG_get0_s(s), out + field, (int)field) >= 0;
	ECDSA_SIG_free(s);
	return ok;
}

static bool
sign_digest(const struct pf_key *k, enum pf_alg alg, unsigned char *sig,
    size_t *nsig, const unsigned char *md, size_t nmd)
{
	EVP_PKEY_CTX *ctx;
	bool ok;

	if ((ctx = EVP_PKEY_CTX_new_from_pkey(NULL, k->pkey, NULL)) == NULL)
		return false;
	ok = EVP_PKEY_sign_init(ctx) == 1 &&
	    (k->pub.kind != PF_KIND_RSA || rsa_scheme(ctx, alg)) &&
	    EVP_PKEY_sign(ctx, sig, nsig, md, nmd) == 1;
	EVP_PKEY_CTX_free(ctx);
	return ok;
}

static bool
sign_ed25519(const struct pf_key *k, struct pf_str msg, unsigned char *sig,
    size_t *nsig)
{
	EVP_MD_CTX *ctx;
	bool ok;

	if ((ctx = EVP_MD_CTX_new()) == NULL)
		return false;
	ok = EVP_DigestSignInit_ex(ctx, NULL, NULL, NULL, NULL, k->pkey,
	    NULL) == 1 && EVP_DigestSign(ctx, sig, nsig,
	    (const unsigned char *)msg.p, msg.n) == 1;
	EVP_MD_CTX_free(ctx);
	return ok;
}

static bool
sign(const struct pf_key *k, enum pf_alg alg, struct pf_str msg,
    unsigned char *sig, size_t *nsig)
{
	unsigned char md[DIGEST_MAX], der[DER_MAX];
	size_t nmd = alg == PF_ES384 ? 48 : 32, nder = sizeof(der);

	if (alg == PF_EDDSA)
		return sign_ed25519(k, msg, sig, nsig);
	if (pf_crypt_digest(pf_crypt_md(alg), msg, md) != PF_OK)
		return false;
	if (k->pub.kind == PF_KIND_RSA)
		return sign_digest(k, alg, sig, nsig, md, nmd);
	*nsig = sig_len(&k->pub);
	return sign_digest(k, alg, der, &nder, md, nmd) &&
	    raw_signature(der, nder, pf_kind_field(k->pub.kind), sig);
}

enum pf_rc
pf_sig_make(const struct pf_key *k, enum pf_alg alg, struct pf_str msg,
    unsigned char *sig, size_t *nsig)
{
	*nsig = PF_RSA_MAX;
	if (!pf_key_fits(k, alg))
		return PF_E_AUTH;
	if (sign(k, alg, msg, sig, nsig))
		return PF_OK;
	ERR_clear_error();
	return PF_E_BUG;
}
