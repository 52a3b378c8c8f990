#include "core/poppy/scope.h"

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
