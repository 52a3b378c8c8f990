/* Forms: what was decoded is clean text, and encoded again means the same. */
#include "core/web/form.h"
#include "core/web/url.h"
#include "tests/fuzz/fuzz.h"

static void
same(const struct pf_form *a, const struct pf_form *b)
{
	FUZZ_HOLDS(a->n == b->n);
	for (size_t i = 0; i < a->n; i++) {
		FUZZ_HOLDS(pf_str_eq(a->name[i], b->name[i]));
		FUZZ_HOLDS(pf_str_eq(a->value[i], b->value[i]));
	}
}

static void
again(const struct pf_form *f)
{
	static struct pf_form other;
	struct pf_str text;
	const char *why;
	struct pf_buf b;

	pf_buf_init(&b, &fuzz_arena, 4 << 20);
	for (size_t i = 0; i < f->n; i++) {
		pf_url_escape(&b, f->name[i]);
		pf_buf_char(&b, '=');
		pf_url_escape(&b, f->value[i]);
		pf_buf_char(&b, '&');
	}
	if (pf_buf_done(&b, &text) != PF_OK)
		return;
	FUZZ_HOLDS(pf_form_parse(&fuzz_arena, text, &other, &why) == PF_OK);
	same(f, &other);
}

bool
fuzz_one(struct pf_str in)
{
	static struct pf_form f;
	const char *why = NULL;
	struct pf_str v;
	enum pf_rc rc;

	rc = pf_form_parse(&fuzz_arena, in, &f, &why);
	FUZZ_HOLDS(rc == PF_OK || rc == PF_E_MEM || why != NULL);
	if (rc != PF_OK)
		return false;
	FUZZ_HOLDS(f.n <= PF_FORM_MAX);
	for (size_t i = 0; i < f.n; i++) {
		FUZZ_HOLDS(pf_utf8_valid(f.name[i]));
		FUZZ_HOLDS(pf_utf8_valid(f.value[i]));
	}
	if (pf_form_get(&f, "client_id", &v) == PF_E_CONFLICT)
		FUZZ_HOLDS(pf_str_given(pf_form_repeated(&f)));
	again(&f);
	return true;
}
