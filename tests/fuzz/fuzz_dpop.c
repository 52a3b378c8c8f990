/* DPoP Proofs: two lines, a token (may be empty: none) and the header. */
#include "core/jose/dpop.h"
#include "tests/fuzz/fuzz.h"

bool
fuzz_one(struct pf_str in)
{
	struct pf_dpop_want want = {
		.method = PF_LIT("GET"),
		.url = PF_LIT("https://shop.example/api/stock.php?sku=1"),
		.now_at = FUZZ_NOW, .past = 300, .future = 60
	};
	struct pf_str rest = in, token;
	const char *why = NULL;
	struct pf_proof p;
	enum pf_rc rc;

	if (!pf_str_cut(&rest, '\n', &token))
		return false;
	if (token.n > 0)
		want.token = token;
	rc = pf_dpop_check(&fuzz_arena, rest, &want, &p, &why);
	if (rc != PF_OK) {
		FUZZ_HOLDS(rc == PF_E_MEM || why != NULL);
		return false;
	}
	FUZZ_HOLDS(p.iat >= FUZZ_NOW - 300 && p.iat <= FUZZ_NOW + 60);
	return true;
}
