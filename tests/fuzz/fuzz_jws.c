/* JWS and the claims of assertions: good-* are signed by the key below. */
#include "core/jose/jwt.h"
#include "tests/fuzz/fuzz.h"

/* RFC 7515, A.3. */
#define KEYS								\
	"{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"k\","	\
	"\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\"," \
	"\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}]}"

static const struct pf_str aud[] = {
	PF_LIT_INIT("https://shop.example/poppy/oauth/token")
};
static const struct pf_jwt_rules rules = {
	.now_at = FUZZ_NOW, .skew = 60, .max_life = 300,
	.jti_min = 1, .jti_max = 256, .aud = aud, .naud = 1,
	.aud_single = true,
};

static const struct pf_keyset *
keys(void)
{
	static struct pf_keyset set;
	const char *why;

	if (set.n == 0)
		FUZZ_HOLDS(pf_jwks_parse(PF_LIT(KEYS), &set, &why) == PF_OK);
	return &set;
}

static bool
claims(const struct pf_jws *jws)
{
	struct pf_claims c;
	const char *why = NULL;

	if (pf_jwt_check(jws, &rules, &c, &why) != PF_OK) {
		FUZZ_HOLDS(why != NULL);
		return false;
	}
	FUZZ_HOLDS(c.jti.n >= 1 && c.jti.n <= 256);
	FUZZ_HOLDS(c.exp >= FUZZ_NOW - 60 && c.iat <= FUZZ_NOW + 60);
	FUZZ_HOLDS(c.exp - c.iat <= 300);
	return true;
}

bool
fuzz_one(struct pf_str in)
{
	struct pf_jws jws, with;
	const char *why = NULL;

	if (pf_jws_parse(&fuzz_arena, in, false, &jws, &why) != PF_OK) {
		FUZZ_HOLDS(why != NULL);
		(void)!pf_jws_parse(&fuzz_arena, in, true, &with, &why);
		return false;
	}
	FUZZ_HOLDS(pf_jws_parse(&fuzz_arena, in, true, &with, &why) == PF_OK);
	FUZZ_HOLDS(jws.alg != PF_ALG_NONE && jws.nsig <= sizeof(jws.sig));
	FUZZ_HOLDS(in.n <= PF_JWS_MAX && fuzz_within(jws.signed_part, in));
	return claims(&jws) && pf_jws_verify_set(&jws, keys()) == PF_OK;
}
