#include "core/poppy/scope.h"

#define SCOPES_MAX	8192	/* bytes of a list; settings allow 32 of 128 */

bool
pf_scope_token(struct pf_str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c < 0x21 || c > 0x7e || c == '"' || c == '\\')
			return false;
	}
	return s.n > 0 && s.n <= 128;
}

bool
pf_scope_has(struct pf_str list, struct pf_str one)
{
	struct pf_str rest = list, s;

	while (pf_str_cut(&rest, ' ', &s))
		if (s.n != 0 && pf_str_eq(s, one))
			return true;
	return false;
}

bool
pf_scope_has_all(struct pf_str list, const struct pf_strs *wanted)
{
	for (size_t i = 0; i < wanted->n; i++)
		if (!pf_scope_has(list, wanted->v[i]))
			return false;
	return true;
}

void
pf_scope_add(struct pf_buf *b, struct pf_str one)
{
	if (pf_scope_has(pf_buf_str(b), one))
		return;
	if (b->n != 0)
		pf_buf_char(b, ' ');
	pf_buf_add(b, one);
}

static bool
among(const struct pf_strs *scopes, struct pf_str one)
{
	for (size_t i = 0; i < scopes->n; i++)
		if (pf_str_eq(scopes->v[i], one))
			return true;
	return false;
}

enum pf_rc
pf_scope_wanted(struct pf_arena *a, struct pf_str text,
    const struct pf_strs *allowed, struct pf_str *out)
{
	struct pf_str rest = text, one;
	struct pf_buf b;

	if (text.n == 0 || pf_str_ends(text, PF_LIT(" ")))
		return PF_E_INPUT;
	pf_buf_init(&b, a, SCOPES_MAX);
	while (pf_str_cut(&rest, ' ', &one)) {
		if (!pf_scope_token(one) || !among(allowed, one))
			return PF_E_INPUT;
		pf_scope_add(&b, one);
	}
	return pf_buf_done(&b, out);
}

struct pf_str
pf_scope_cut(struct pf_arena *a, struct pf_str list, struct pf_str to)
{
	struct pf_str rest = list, one, s;
	struct pf_buf b;

	pf_buf_init(&b, a, SCOPES_MAX);
	while (pf_str_cut(&rest, ' ', &one))
		if (one.n != 0 && pf_scope_has(to, one))
			pf_scope_add(&b, one);
	return pf_buf_done(&b, &s) == PF_OK ? s : PF_NOSTR;
}

struct pf_str
pf_scope_join(struct pf_arena *a, const struct pf_strs *scopes)
{
	struct pf_str s;
	struct pf_buf b;

	pf_buf_init(&b, a, 4096);
	for (size_t i = 0; i < scopes->n; i++) {
		if (i > 0)
			pf_buf_char(&b, ' ');
		pf_buf_add(&b, scopes->v[i]);
	}
	return pf_buf_done(&b, &s) == PF_OK ? s : PF_NOSTR;
}
