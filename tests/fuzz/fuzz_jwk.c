/* JWK and JWK Sets: no private key gets in, and what does keeps its name. */
#include <string.h>

#include "core/jose/jwk.h"
#include "tests/fuzz/fuzz.h"

/* Written again it is the same key, and nothing private is written. */
static void
again(const struct pf_key *k)
{
	const struct pf_json *v;
	struct pf_key *other;
	struct pf_str text;
	const char *why;
	struct pf_buf b;

	pf_buf_init(&b, &fuzz_arena, 16384);
	pf_key_write(&b, k, pf_key_kid(k), false);
	FUZZ_HOLDS(pf_buf_done(&b, &text) == PF_OK);
	FUZZ_HOLDS(pf_json_parse(&fuzz_arena, text, &pf_json_small, &v, NULL)
	    == PF_OK);
	FUZZ_HOLDS(!pf_json_has(v, "d") && !pf_json_has(v, "k"));
	FUZZ_HOLDS(pf_jwk_parse(v, &other, &why) == PF_OK);
	FUZZ_HOLDS(memcmp(pf_key_thumbprint(k), pf_key_thumbprint(other),
	    PF_SHA256_LEN) == 0);
	pf_key_free(other);
}

static bool
single(struct pf_str in)
{
	const struct pf_json *v;
	const char *why = NULL;
	struct pf_key *k;

	if (pf_json_parse(&fuzz_arena, in, &pf_json_small, &v, NULL) != PF_OK)
		return false;
	if (pf_jwk_parse_private(v, &k, &why) == PF_OK)
		pf_key_free(k);
	if (pf_jwk_parse(v, &k, &why) != PF_OK) {
		FUZZ_HOLDS(why != NULL);
		return false;
	}
	FUZZ_HOLDS(!pf_json_has(v, "d") && !pf_json_has(v, "k"));
	again(k);
	pf_key_free(k);
	return true;
}

static bool
set(struct pf_str in)
{
	struct pf_keyset s;
	const char *why = NULL;

	if (pf_jwks_parse(in, &s, &why) != PF_OK) {
		FUZZ_HOLDS(why != NULL);
		return false;
	}
	FUZZ_HOLDS(s.n >= 1 && s.n <= PF_KEYSET_MAX);
	for (size_t i = 0; i < s.n; i++)
		again(s.key[i]);
	pf_keyset_free(&s);
	return true;
}

bool
fuzz_one(struct pf_str in)
{
	bool a = single(in), b = set(in);

	return a || b;
}
