/* A shop's hash: a line that names its kind, then the hash. What is read keeps
 * to the caps, and what costs little is done. */
#include <string.h>

#include "core/poppy/password_in.h"
#include "tests/fuzz/fuzz.h"

static bool
cheap(const struct pf_pw_work *w)
{
	switch ((enum pf_pw_family)w->family) {
	case PF_PW_QUICK:
		return true;
	case PF_PW_BCRYPT:
		FUZZ_HOLDS(w->cost >= 4 && w->cost <= PF_BCRYPT_COST_MAX);
		return w->cost == 4;
	case PF_PW_ARGON2:
		FUZZ_HOLDS(w->kib <= PF_ARGON2_KIB_MAX);
		FUZZ_HOLDS(w->kib >= 8 * w->lanes && w->lanes > 0);
		FUZZ_HOLDS(w->passes > 0 && w->passes <= PF_ARGON2_PASSES_MAX);
		FUZZ_HOLDS(w->length <= PF_DIGEST_MAX && w->length >= 16);
		return w->kib * w->passes <= 256;
	case PF_PW_ROUNDS:
		FUZZ_HOLDS(w->cost >= 7 && w->cost <= PF_PHPASS_COST_MAX);
		return w->cost <= 9;
	}
	FUZZ_HOLDS(!"a family");
	return false;
}

bool
fuzz_one(struct pf_str in)
{
	struct pf_pw_plan plan = { .trim = false };
	struct pf_str kind;
	enum pf_rc rc;

	if (!pf_str_cut(&in, '\n', &kind) || !pf_str_given(in))
		return false;
	if (pf_str_ends(in, PF_LIT("\n")))
		in.n--;
	rc = pf_pw_read(kind, in, &plan);
	FUZZ_HOLDS(rc == PF_OK || rc == PF_E_INPUT);
	if (rc != PF_OK)
		return false;
	FUZZ_HOLDS(pf_password_kind_fault(kind) == NULL);
	FUZZ_HOLDS(plan.pw.nsalt <= PF_PW_SALT_MAX);
	FUZZ_HOLDS(plan.pw.ndigest <= PF_DIGEST_MAX);
	if (cheap(&plan.pw.work)) {
		rc = pf_password_check(kind, in, PF_LIT("guess"));
		FUZZ_HOLDS(rc == PF_OK || rc == PF_E_AUTH);
	}
	return true;
}
