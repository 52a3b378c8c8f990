#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <string.h>

#include "core/jose/key.h"

static bool
point_of(const EVP_PKEY *pkey, struct pf_pub *pub)
{
	size_t n, field = pf_kind_field(pub->kind);
	unsigned char text[1 + 2 * 48];

	if (EVP_PKEY_get_octet_string_param(pkey, OSSL_PKEY_PARAM_PUB_KEY,
	    text, sizeof(text), &n) != 1 || n != 1 + 2 * field)
		return false;
	memcpy(pub->a, text + 1, field);
	memcpy(pub->b, text + 1 + field, field);
	pub->na = pub->nb = field;
	return true;
}

static bool
number_of(const EVP_PKEY *pkey, const char *name, unsigned char *out,
    size_t cap, size_t *n)
{
	BIGNUM *bn = NULL;
	bool ok;

	if (EVP_PKEY_get_bn_param(pkey, name, &bn) != 1)
		return false;
	if ((ok = (size_t)BN_num_bytes(bn) <= cap))
		*n = (size_t)BN_bn2bin(bn, out);
	BN_clear_free(bn);
	return ok;
}

bool
pf_pkey_numbers(const EVP_PKEY *pkey, struct pf_pub *pub)
{
	switch (pub->kind) {
	case PF_KIND_P256:
	case PF_KIND_P384:
		return point_of(pkey, pub);
	case PF_KIND_RSA:
		return number_of(pkey, OSSL_PKEY_PARAM_RSA_N, pub->a,
		    sizeof(pub->a), &pub->na) && number_of(pkey,
		    OSSL_PKEY_PARAM_RSA_E, pub->b, sizeof(pub->b), &pub->nb);
	case PF_KIND_ED25519:
		pub->na = 32;
		return EVP_PKEY_get_raw_public_key(pkey, pub->a,
		    &pub->na) == 1;
	}
	return false;
}

enum pf_rc
pf_key_generate(enum pf_alg alg, struct pf_key **out)
{
	struct pf_pub pub = { 0 };
	EVP_PKEY *pkey = NULL;

	*out = NULL;
	switch (alg) {
	case PF_ES256:
		pub.kind = PF_KIND_P256;
		pkey = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
		break;
	case PF_ES384:
		pub.kind = PF_KIND_P384;
		pkey = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-384");
		break;
	case PF_RS256:
	case PF_PS256:
		pub.kind = PF_KIND_RSA;
		pkey = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048);
		break;
	case PF_EDDSA:
		pub.kind = PF_KIND_ED25519;
		pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
		break;
	case PF_ALG_NONE:
		break;
	}
	if (pkey == NULL || !pf_pkey_numbers(pkey, &pub)) {
		ERR_clear_error();
		EVP_PKEY_free(pkey);
		return PF_E_BUG;
	}
	return pf_key_new(&pub, alg, PF_NOSTR, pkey, out);
}
