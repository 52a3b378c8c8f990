#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdlib.h>
#include <string.h>

#include "core/jose/key.h"

struct pf_key *
pf_key_ref(struct pf_key *k)
{
	atomic_fetch_add_explicit(&k->refs, 1, memory_order_relaxed);
	return k;
}

void
pf_key_free(struct pf_key *k)
{
	if (k == NULL)
		return;
	if (atomic_fetch_sub_explicit(&k->refs, 1, memory_order_acq_rel) != 1)
		return;
	EVP_PKEY_free(k->pkey);
	free(k);
}

const unsigned char *
pf_key_thumbprint(const struct pf_key *k)
{
	return k->thumbprint;
}

struct pf_str
pf_key_kid(const struct pf_key *k)
{
	return k->kid;
}

bool
pf_key_fits(const struct pf_key *k, enum pf_alg alg)
{
	if (k->only != PF_ALG_NONE)
		return k->only == alg;
	return pf_kind_does(k->pub.kind, alg);
}

enum pf_rc
pf_key_new(const struct pf_pub *pub, enum pf_alg only, struct pf_str kid,
    EVP_PKEY *pkey, struct pf_key **out)
{
	struct pf_key *k;
	enum pf_rc rc;

	*out = NULL;
	if ((k = calloc(1, sizeof(*k) + kid.n)) == NULL) {
		EVP_PKEY_free(pkey);
		return PF_E_MEM;
	}
	atomic_init(&k->refs, 1);
	k->pkey = pkey;
	k->only = only;
	k->pub = *pub;
	if (pf_str_given(kid)) {
		memcpy(k + 1, kid.p, kid.n);
		k->kid = pf_bytes(k + 1, kid.n);
	}
	if ((rc = pf_thumbprint(pub, k->thumbprint)) != PF_OK) {
		pf_key_free(k);
		return rc;
	}
	*out = k;
	return PF_OK;
}

/* OpenSSL refuses coordinates past the field and points off the curve. */
static enum pf_rc
point(const struct pf_pub *pub, EVP_PKEY *pkey)
{
	unsigned char text[1 + 2 * 48];

	text[0] = POINT_CONVERSION_UNCOMPRESSED;
	memcpy(text + 1, pub->a, pub->na);
	memcpy(text + 1 + pub->na, pub->b, pub->nb);
	if (EVP_PKEY_copy_parameters(pkey, pf_crypt_curve(pub->kind)) != 1)
		return PF_E_MEM;
	if (EVP_PKEY_set1_encoded_public_key(pkey, text,
	    1 + pub->na + pub->nb) != 1)
		return PF_E_INPUT;
	return PF_OK;
}

static enum pf_rc
ec_public(const struct pf_pub *pub, EVP_PKEY **out)
{
	EVP_PKEY *pkey;
	enum pf_rc rc;

	if ((pkey = EVP_PKEY_new()) == NULL)
		return PF_E_MEM;
	if ((rc = point(pub, pkey)) == PF_OK)
		*out = pkey;
	else
		EVP_PKEY_free(pkey);
	return rc;
}

static EVP_PKEY *
rsa_from(OSSL_PARAM *params)
{
	EVP_PKEY_CTX *ctx;
	EVP_PKEY *pkey = NULL;

	if ((ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL)) == NULL)
		return NULL;
	if (EVP_PKEY_fromdata_init(ctx) != 1 ||
	    EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params) != 1)
		pkey = NULL;
	EVP_PKEY_CTX_free(ctx);
	return pkey;
}

static enum pf_rc
rsa_public(const struct pf_pub *pub, EVP_PKEY **out)
{
	OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
	BIGNUM *n = BN_bin2bn(pub->a, (int)pub->na, NULL);
	BIGNUM *e = BN_bin2bn(pub->b, (int)pub->nb, NULL);
	OSSL_PARAM *params = NULL;

	if (bld != NULL && n != NULL && e != NULL &&
	    OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
	    OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_E, e) == 1)
		params = OSSL_PARAM_BLD_to_param(bld);
	if (params != NULL)
		*out = rsa_from(params);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(bld);
	BN_free(n);
	BN_free(e);
	return *out != NULL ? PF_OK : PF_E_MEM;
}

enum pf_rc
pf_pkey_public(const struct pf_pub *pub, EVP_PKEY **out)
{
	enum pf_rc rc = PF_E_BUG;

	*out = NULL;
	switch (pub->kind) {
	case PF_KIND_P256:
	case PF_KIND_P384:
		rc = ec_public(pub, out);
		break;
	case PF_KIND_RSA:
		rc = rsa_public(pub, out);
		break;
	case PF_KIND_ED25519:
		*out = EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL,
		    pub->a, pub->na);
		rc = *out != NULL ? PF_OK : PF_E_MEM;
		break;
	}
	if (rc != PF_OK)
		ERR_clear_error();
	return rc;
}
