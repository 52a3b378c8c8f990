/* Templates, filled with a value that tries to get out of its place. */
#include <string.h>

#include "core/web/template.h"
#include "tests/fuzz/fuzz.h"

#define EVIL	"\"'><p onclick=x>"

static enum pf_rc
find_file(void *ctx, struct pf_str name, struct pf_str *text,
    const char **shown)
{
	*shown = "fuzz";
	*text = *(const struct pf_str *)ctx;
	return pf_str_eqz(name, "page") || pf_str_eqz(name, "x") ? PF_OK :
	    PF_E_ABSENT;
}

static const struct pf_tpl_name rows[] = {
	{ "b", PF_TPL_TEXT, NULL }, { NULL, PF_TPL_TEXT, NULL }
};
static const struct pf_tpl_name names[] = {
	{ "a", PF_TPL_TEXT, NULL }, { "u", PF_TPL_URL, NULL },
	{ "l", PF_TPL_LIST, rows }, { NULL, PF_TPL_TEXT, NULL }
};

static size_t
count(struct pf_str s, struct pf_str what)
{
	size_t n = 0;

	for (size_t i = 0; i + what.n <= s.n; i++)
		n += memcmp(s.p + i, what.p, what.n) == 0;
	return n;
}

/* With it and without it there are as many quotes and brackets. */
static void
written(const struct pf_tpl *t, struct pf_str value, size_t quotes[3])
{
	const struct pf_var b[] = { PF_VAR("b", value) };
	const struct pf_vars row = { b, 1, NULL };
	const struct pf_var v[] = {
		PF_VAR("a", value), PF_VAR("u", value),
		PF_VAR_LIST("l", &row, 1)
	};
	const struct pf_vars vars = { v, PF_COUNT(v), NULL };
	struct pf_langs langs;
	struct pf_buf out;

	pf_langs_init(&langs);
	pf_buf_init(&out, &fuzz_arena, PF_TPL_OUT);
	pf_tpl_render(t, &langs.v[0], &vars, &out);
	quotes[0] = count(pf_buf_str(&out), PF_LIT("\""));
	quotes[1] = count(pf_buf_str(&out), PF_LIT("<"));
	quotes[2] = out.failed;
}

bool
fuzz_one(struct pf_str in)
{
	struct pf_tpl_files files = { find_file, &in };
	size_t plain[3], evil[3];
	struct pf_conf_fault fault = { 0 };
	const struct pf_tpl *t;
	enum pf_rc rc;

	rc = pf_tpl_read(&fuzz_arena, &files, "page", names, NULL, &fault, &t);
	if (rc != PF_OK) {
		FUZZ_HOLDS(rc != PF_E_INPUT || fault.reason[0] != '\0');
		return false;
	}
	written(t, PF_LIT("x"), plain);
	written(t, PF_LIT(EVIL), evil);
	FUZZ_HOLDS(evil[2] || (plain[0] == evil[0] && plain[1] == evil[1]));
	return true;
}
