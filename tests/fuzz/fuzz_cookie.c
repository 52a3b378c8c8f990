/* The Cookie header: what comes out is one clean value of the header. */
#include "core/web/cookie.h"
#include "tests/fuzz/fuzz.h"

bool
fuzz_one(struct pf_str in)
{
	struct pf_str v;

	if (pf_cookie_get(in, "__Host-poppy", &v) != PF_OK) {
		FUZZ_HOLDS(!pf_str_given(v));
		return false;
	}
	FUZZ_HOLDS(fuzz_within(v, in));
	for (size_t i = 0; i < v.n; i++)
		FUZZ_HOLDS(v.p[i] > ' ' && v.p[i] < 0x7f && v.p[i] != ';' &&
		    v.p[i] != '"' && v.p[i] != ',');
	return true;
}
