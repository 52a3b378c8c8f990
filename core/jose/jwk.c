#include "core/jose/key.h"
#include "core/jose/why.h"

/* d is RSA's, EC's and OKP's secret, k that of a symmetric key. */
static const char *const privates[] = {
	"d", "p", "q", "dp", "dq", "qi", "oth", "k"
};

bool
pf_jwk_has_private(const struct pf_json *jwk)
{
	for (size_t i = 0; i < PF_COUNT(privates); i++)
		if (pf_json_has(jwk, privates[i]))
			return true;
	return false;
}

static bool
number(const struct pf_json *jwk, const char *name, unsigned char *out,
    size_t cap, size_t *n)
{
	struct pf_str text;

	return pf_json_str(jwk, name, &text) == PF_OK &&
	    pf_b64url_decode(text, out, cap, n) == PF_OK && *n > 0;
}

/* RFC 7518, 6.2.1.2: coordinates have the full length of the field. */
static enum pf_rc
ec_numbers(const struct pf_json *jwk, struct pf_pub *pub, const char **why)
{
	size_t field = pf_kind_field(pub->kind);

	if (!number(jwk, "x", pub->a, field, &pub->na) || pub->na != field)
		return pf_refuse(why, "x is not a coordinate of its curve");
	if (!number(jwk, "y", pub->b, field, &pub->nb) || pub->nb != field)
		return pf_refuse(why, "y is not a coordinate of its curve");
	return PF_OK;
}

static size_t
bits(const unsigned char *p, size_t n)
{
	size_t all = n * 8;

	for (unsigned mask = 0x80; mask != 0 && (p[0] & mask) == 0; mask >>= 1)
		all--;
	return all;
}

/* An even number is no RSA modulus and no exponent, whatever else it is. */
static enum pf_rc
rsa_numbers(const struct pf_json *jwk, struct pf_pub *pub, const char **why)
{
	if (!number(jwk, "n", pub->a, PF_RSA_MAX, &pub->na) ||
	    pub->a[0] == 0 || (pub->a[pub->na - 1] & 1) == 0)
		return pf_refuse(why, "n is not an RSA modulus");
	if (bits(pub->a, pub->na) < 2048)
		return pf_refuse(why, "n is shorter than 2048 bits");
	if (!number(jwk, "e", pub->b, 4, &pub->nb) || pub->b[0] == 0 ||
	    (pub->b[pub->nb - 1] & 1) == 0 ||
	    (pub->nb == 1 && pub->b[0] < 3))
		return pf_refuse(why, "e is not odd and from 3 to 2^32");
	return PF_OK;
}

/*
 * The y of Ed25519's points of small order, little endian without the sign of
 * x. Under such a key there are signatures that fit nearly any text.
 */
static const unsigned char small_order[][32] = {
	{ 0 },
	{ 1 },
	{ 0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
	  0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
	  0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05 },
	{ 0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
	  0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
	  0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a },
	{ 0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f },
};

/* y at or past the field's prime 2^255 - 19: a second name for a point. */
static bool
past_prime(const unsigned char y[32])
{
	for (size_t i = 1; i < 31; i++)
		if (y[i] != 0xff)
			return false;
	return y[31] == 0x7f && y[0] >= 0xed;
}

static enum pf_rc
okp_numbers(const struct pf_json *jwk, struct pf_pub *pub, const char **why)
{
	unsigned char y[32];

	if (!number(jwk, "x", pub->a, 32, &pub->na) || pub->na != 32)
		return pf_refuse(why, "x is not a key of 32 bytes");
	for (size_t i = 0; i < sizeof(y); i++)
		y[i] = pub->a[i];
	y[31] &= 0x7f;
	if (past_prime(y))
		return pf_refuse(why, "x is not reduced");
	for (size_t i = 0; i < PF_COUNT(small_order); i++)
		if (pf_equal_ct(y, small_order[i], sizeof(y)))
			return pf_refuse(why, "x is a point of small order");
	return PF_OK;
}

static const struct {
	const char *kty, *crv;	/* crv NULL: the kty has none */
	enum pf_kind kind;
	enum pf_rc (*numbers)(const struct pf_json *, struct pf_pub *,
	    const char **);
} kinds[] = {
	{ "EC", "P-256", PF_KIND_P256, ec_numbers },
	{ "EC", "P-384", PF_KIND_P384, ec_numbers },
	{ "RSA", NULL, PF_KIND_RSA, rsa_numbers },
	{ "OKP", "Ed25519", PF_KIND_ED25519, okp_numbers },
};

enum pf_rc
pf_jwk_public(const struct pf_json *jwk, struct pf_pub *pub, const char **why)
{
	struct pf_str kty, crv = PF_NOSTR;

	pub->na = pub->nb = 0;
	if (!pf_json_is_obj(jwk))
		return pf_refuse(why, "the key is not an object");
	if (pf_json_str(jwk, "kty", &kty) != PF_OK)
		return pf_refuse(why, "kty missing");
	if (pf_json_has(jwk, "crv") && pf_json_str(jwk, "crv", &crv) != PF_OK)
		return pf_refuse(why, "crv is not a string");
	for (size_t i = 0; i < PF_COUNT(kinds); i++) {
		if (!pf_str_eqz(kty, kinds[i].kty) || (kinds[i].crv != NULL &&
		    !pf_str_eqz(crv, kinds[i].crv)))
			continue;
		pub->kind = kinds[i].kind;
		return kinds[i].numbers(jwk, pub, why);
	}
	return pf_refuse(why, "kty or crv is not supported");
}

static bool
lists(const struct pf_json *arr, const char *word)
{
	struct pf_str s;

	for (size_t i = 0; i < pf_json_len(arr); i++)
		if (pf_json_as_str(pf_json_at(arr, i), &s) == PF_OK &&
		    pf_str_eqz(s, word))
			return true;
	return false;
}

enum pf_rc
pf_jwk_meta(const struct pf_json *jwk, enum pf_kind kind, const char *op,
    enum pf_alg *only, struct pf_str *kid, const char **why)
{
	const struct pf_json *ops;
	struct pf_str s;

	*only = PF_ALG_NONE;
	*kid = PF_NOSTR;
	if (pf_json_has(jwk, "kid") && pf_json_str(jwk, "kid", kid) != PF_OK)
		return pf_refuse(why, "kid is not a string");
	if (pf_json_has(jwk, "use") && (pf_json_str(jwk, "use", &s) != PF_OK ||
	    !pf_str_eqz(s, "sig")))
		return pf_refuse(why, "use is not sig");
	if (pf_json_has(jwk, "key_ops") &&
	    (pf_json_arr(jwk, "key_ops", &ops) != PF_OK || !lists(ops, op)))
		return pf_refuse(why, "key_ops does not fit");
	if (!pf_json_has(jwk, "alg"))
		return PF_OK;
	if (pf_json_str(jwk, "alg", &s) == PF_OK)
		*only = pf_alg_parse(s);
	if (!pf_kind_does(kind, *only))
		return pf_refuse(why, "alg does not fit the key");
	return PF_OK;
}

enum pf_rc
pf_jwk_parse(const struct pf_json *jwk, struct pf_key **out, const char **why)
{
	struct evp_pkey_st *pkey;
	struct pf_str kid;
	struct pf_pub pub;
	enum pf_alg only;
	enum pf_rc rc;

	*out = NULL;
	*why = "";
	if (pf_jwk_has_private(jwk))
		return pf_refuse(why, "the key holds a private member");
	if ((rc = pf_jwk_public(jwk, &pub, why)) != PF_OK)
		return rc;
	rc = pf_jwk_meta(jwk, pub.kind, "verify", &only, &kid, why);
	if (rc != PF_OK)
		return rc;
	if ((rc = pf_pkey_public(&pub, &pkey)) == PF_E_INPUT)
		return pf_refuse(why, "the point is not on its curve");
	if (rc != PF_OK)
		return rc;
	return pf_key_new(&pub, only, kid, pkey, out);
}
