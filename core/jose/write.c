#include <openssl/err.h>
#include <openssl/evp.h>

#include "core/jose/key.h"

static void
put(struct pf_jw *w, const char *name, const unsigned char *raw, size_t n)
{
	char text[PF_B64URL_LEN(PF_RSA_MAX)];

	pf_jw_str(w, name, pf_bytes(text, pf_b64url_encode(raw, n, text)));
	pf_wipe(text, sizeof(text));
}

static void
put_public(struct pf_jw *w, const struct pf_pub *pub)
{
	static const struct { const char *kty, *crv, *a, *b; } words[] = {
		[PF_KIND_P256] = { "EC", "P-256", "x", "y" },
		[PF_KIND_P384] = { "EC", "P-384", "x", "y" },
		[PF_KIND_RSA] = { "RSA", NULL, "n", "e" },
		[PF_KIND_ED25519] = { "OKP", "Ed25519", "x", NULL },
	};

	pf_jw_strz(w, "kty", words[pub->kind].kty);
	if (words[pub->kind].crv != NULL)
		pf_jw_strz(w, "crv", words[pub->kind].crv);
	put(w, words[pub->kind].a, pub->a, pub->na);
	if (words[pub->kind].b != NULL)
		put(w, words[pub->kind].b, pub->b, pub->nb);
}

/* EC's d has the length of the field (RFC 7518, 6.2.2.1), RSA's numbers are as
 * short as they can be. */
static bool
secret_bytes(const struct pf_key *k, const char *ossl, unsigned char *raw,
    size_t *n)
{
	BIGNUM *bn = NULL;
	int len;

	*n = PF_RSA_MAX;
	if (k->pub.kind == PF_KIND_ED25519)
		return EVP_PKEY_get_raw_private_key(k->pkey, raw, n) == 1;
	if (EVP_PKEY_get_bn_param(k->pkey, ossl, &bn) != 1)
		return false;
	len = (int)pf_kind_field(k->pub.kind);
	len = BN_bn2binpad(bn, raw, len != 0 ? len : BN_num_bytes(bn));
	BN_clear_free(bn);
	*n = (size_t)len;
	return len > 0;
}

static void
put_private(struct pf_jw *w, const struct pf_key *k)
{
	unsigned char raw[PF_RSA_MAX];
	const struct pf_secret *names;
	size_t n, count;

	names = pf_key_secrets(k->pub.kind, &count);
	for (size_t i = 0; i < count; i++) {
		if (!secret_bytes(k, names[i].ossl, raw, &n)) {
			w->b->failed = true;
			break;
		}
		put(w, names[i].jwk, raw, n);
	}
	ERR_clear_error();
	pf_wipe(raw, sizeof(raw));
}

void
pf_key_write(struct pf_buf *b, const struct pf_key *k, struct pf_str kid,
    bool with_private)
{
	struct pf_jw w = pf_jw(b);

	pf_jw_open(&w, NULL, '{');
	put_public(&w, &k->pub);
	if (with_private)
		put_private(&w, k);
	if (k->only != PF_ALG_NONE)
		pf_jw_strz(&w, "alg", pf_alg_name(k->only));
	if (pf_str_given(kid))
		pf_jw_str(&w, "kid", kid);
	pf_jw_close(&w, '}');
}
