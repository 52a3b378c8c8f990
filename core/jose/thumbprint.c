#include <string.h>

#include "core/jose/key.h"

/* The longest input: RSA of 4096 bits with an e of four bytes. */
#define TEXT_MAX	(64 + PF_B64URL_LEN(PF_RSA_MAX) + PF_B64URL_LEN(48))

static size_t
put(char *to, const char *z)
{
	size_t n = strlen(z);

	memcpy(to, z, n);
	return n;
}

/*
 * RFC 7638, 3: the required members in the order of their names, without white
 * space. They are written anew from the numbers; since decoding is strict, that
 * is what stood in the JWK.
 */
enum pf_rc
pf_thumbprint(const struct pf_pub *pub, unsigned char out[PF_SHA256_LEN])
{
	static const struct { const char *head, *middle; } words[] = {
		[PF_KIND_P256] = {
		    "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"",
		    "\",\"y\":\"" },
		[PF_KIND_P384] = {
		    "{\"crv\":\"P-384\",\"kty\":\"EC\",\"x\":\"",
		    "\",\"y\":\"" },
		[PF_KIND_RSA] = { "{\"e\":\"", "\",\"kty\":\"RSA\",\"n\":\"" },
		[PF_KIND_ED25519] = {
		    "{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"", NULL },
	};
	bool rsa = pub->kind == PF_KIND_RSA;
	char text[TEXT_MAX];
	size_t n;

	n = put(text, words[pub->kind].head);
	n += rsa ? pf_b64url_encode(pub->b, pub->nb, text + n) :
	    pf_b64url_encode(pub->a, pub->na, text + n);
	if (words[pub->kind].middle != NULL) {
		n += put(text + n, words[pub->kind].middle);
		n += rsa ? pf_b64url_encode(pub->a, pub->na, text + n) :
		    pf_b64url_encode(pub->b, pub->nb, text + n);
	}
	n += put(text + n, "\"}");
	return pf_sha256(pf_bytes(text, n), out);
}
