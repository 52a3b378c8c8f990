#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <string.h>

#include "core/jose/key.h"
#include "core/jose/why.h"

/* A JWK's private members and what OpenSSL calls them. */
static const struct pf_secret ec_secrets[] = {
	{ "d", OSSL_PKEY_PARAM_PRIV_KEY },
}, rsa_secrets[] = {
	{ "d", OSSL_PKEY_PARAM_RSA_D },
	{ "p", OSSL_PKEY_PARAM_RSA_FACTOR1 },
	{ "q", OSSL_PKEY_PARAM_RSA_FACTOR2 },
	{ "dp", OSSL_PKEY_PARAM_RSA_EXPONENT1 },
	{ "dq", OSSL_PKEY_PARAM_RSA_EXPONENT2 },
	{ "qi", OSSL_PKEY_PARAM_RSA_COEFFICIENT1 },
};

const struct pf_secret *
pf_key_secrets(enum pf_kind kind, size_t *n)
{
	*n = kind == PF_KIND_RSA ? PF_COUNT(rsa_secrets) : PF_COUNT(ec_secrets);
	return kind == PF_KIND_RSA ? rsa_secrets : ec_secrets;
}

/* The private members as numbers; those read so far must be freed anyway. */
static bool
read_secrets(const struct pf_json *jwk, enum pf_kind kind,
    BIGNUM *bn[PF_SECRETS_MAX])
{
	unsigned char raw[PF_RSA_MAX];
	const struct pf_secret *names;
	struct pf_str text;
	size_t n, count;
	bool ok = true;

	names = pf_key_secrets(kind, &count);
	for (size_t i = 0; ok && i < count; i++) {
		ok = pf_json_str(jwk, names[i].jwk, &text) == PF_OK &&
		    pf_b64url_decode(text, raw, sizeof(raw), &n) == PF_OK &&
		    (bn[i] = BN_secure_new()) != NULL &&
		    BN_bin2bn(raw, (int)n, bn[i]) != NULL;
	}
	pf_wipe(raw, sizeof(raw));
	return ok;
}

static bool
push_public(OSSL_PARAM_BLD *bld, const struct pf_pub *pub, BIGNUM *n,
    BIGNUM *e, unsigned char point[1 + 2 * 48])
{
	if (pub->kind == PF_KIND_RSA)
		return BN_bin2bn(pub->a, (int)pub->na, n) != NULL &&
		    BN_bin2bn(pub->b, (int)pub->nb, e) != NULL &&
		    OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_N,
		    n) == 1 &&
		    OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_E,
		    e) == 1;
	point[0] = 4;
	memcpy(point + 1, pub->a, pub->na);
	memcpy(point + 1 + pub->na, pub->b, pub->nb);
	return OSSL_PARAM_BLD_push_utf8_string(bld, OSSL_PKEY_PARAM_GROUP_NAME,
	    pub->kind == PF_KIND_P384 ? "P-384" : "P-256", 0) == 1 &&
	    OSSL_PARAM_BLD_push_octet_string(bld, OSSL_PKEY_PARAM_PUB_KEY,
	    point, 1 + pub->na + pub->nb) == 1;
}

/* The private half must belong to the public one: with a wrong d or factor a
 * signature would give the key away. */
static EVP_PKEY *
checked(EVP_PKEY *pkey)
{
	EVP_PKEY_CTX *ctx;
	bool ok;

	ctx = EVP_PKEY_CTX_new_from_pkey(NULL, pkey, NULL);
	ok = ctx != NULL && EVP_PKEY_pairwise_check(ctx) == 1;
	EVP_PKEY_CTX_free(ctx);
	if (ok)
		return pkey;
	EVP_PKEY_free(pkey);
	return NULL;
}

static EVP_PKEY *
from_params(enum pf_kind kind, OSSL_PARAM *params)
{
	EVP_PKEY_CTX *ctx;
	EVP_PKEY *pkey = NULL;

	ctx = EVP_PKEY_CTX_new_from_name(NULL,
	    kind == PF_KIND_RSA ? "RSA" : "EC", NULL);
	if (ctx != NULL && params != NULL &&
	    (EVP_PKEY_fromdata_init(ctx) != 1 ||
	    EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_KEYPAIR, params) != 1))
		pkey = NULL;
	EVP_PKEY_CTX_free(ctx);
	return pkey == NULL ? NULL : checked(pkey);
}

static EVP_PKEY *
from_numbers(const struct pf_pub *pub, BIGNUM *secret[PF_SECRETS_MAX])
{
	OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
	BIGNUM *n = BN_new(), *e = BN_new();
	unsigned char point[1 + 2 * 48];
	const struct pf_secret *names;
	OSSL_PARAM *params = NULL;
	EVP_PKEY *pkey = NULL;
	size_t count;
	bool ok;

	names = pf_key_secrets(pub->kind, &count);
	ok = bld != NULL && n != NULL && e != NULL &&
	    push_public(bld, pub, n, e, point);
	for (size_t i = 0; ok && i < count; i++)
		ok = OSSL_PARAM_BLD_push_BN(bld, names[i].ossl,
		    secret[i]) == 1;
	if (ok && (params = OSSL_PARAM_BLD_to_param(bld)) != NULL)
		pkey = from_params(pub->kind, params);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(bld);
	BN_free(n);
	BN_free(e);
	return pkey;
}

static EVP_PKEY *
ed25519_private(const struct pf_json *jwk, const struct pf_pub *pub)
{
	unsigned char d[32];
	struct pf_pub own = { .kind = PF_KIND_ED25519 };
	EVP_PKEY *pkey = NULL;
	struct pf_str text;
	size_t n;

	if (pf_json_str(jwk, "d", &text) != PF_OK ||
	    pf_b64url_decode(text, d, sizeof(d), &n) != PF_OK || n != 32)
		return NULL;
	pkey = EVP_PKEY_new_raw_private_key_ex(NULL, "ED25519", NULL, d, n);
	pf_wipe(d, sizeof(d));
	if (pkey != NULL && pf_pkey_numbers(pkey, &own) &&
	    pf_equal_ct(own.a, pub->a, 32))
		return pkey;
	EVP_PKEY_free(pkey);
	return NULL;
}

static EVP_PKEY *
private_pkey(const struct pf_json *jwk, const struct pf_pub *pub)
{
	BIGNUM *bn[PF_SECRETS_MAX] = { NULL };
	EVP_PKEY *pkey = NULL;

	if (pub->kind == PF_KIND_ED25519)
		return ed25519_private(jwk, pub);
	if (read_secrets(jwk, pub->kind, bn))
		pkey = from_numbers(pub, bn);
	for (size_t i = 0; i < PF_SECRETS_MAX; i++)
		BN_clear_free(bn[i]);
	return pkey;
}

enum pf_rc
pf_jwk_parse_private(const struct pf_json *jwk, struct pf_key **out,
    const char **why)
{
	struct pf_str kid;
	struct pf_pub pub;
	enum pf_alg only;
	EVP_PKEY *pkey;
	enum pf_rc rc;

	*out = NULL;
	*why = "";
	if ((rc = pf_jwk_public(jwk, &pub, why)) != PF_OK)
		return rc;
	rc = pf_jwk_meta(jwk, pub.kind, "sign", &only, &kid, why);
	if (rc != PF_OK)
		return rc;
	if (pf_json_has(jwk, "oth"))
		return pf_refuse(why, "RSA with more than two primes");
	if ((pkey = private_pkey(jwk, &pub)) == NULL) {
		ERR_clear_error();
		return pf_refuse(why,
		    "the private members are missing or not this key's");
	}
	return pf_key_new(&pub, only, kid, pkey, out);
}
