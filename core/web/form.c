/*
 * form - see form.h.
 */
#include "core/web/form.h"
#include "core/web/url.h"

static enum pf_rc
decode(struct pf_arena *a, struct pf_str s, struct pf_str *out,
    const char **why)
{
	size_t n = 0;
	char *p;
	int c;

	if ((p = pf_arena_alloc(a, s.n)) == NULL)
		return PF_E_MEM;
	while (s.n > 0) {
		c = (unsigned char)s.p[0];
		if (c == '%') {
			if ((c = pf_url_percent(s, 0)) < 0) {
				*why = "a % is not followed by two hex digits";
				return PF_E_INPUT;
			}
			s = pf_str_from(s, 2);
		} else if (c == '+')
			c = ' ';
		if (c == '\0') {
			*why = "it holds a NUL";
			return PF_E_INPUT;
		}
		p[n++] = (char)c;
		s = pf_str_from(s, 1);
	}
	*out = (struct pf_str){ p, n };
	if (!pf_utf8_valid(*out)) {
		*why = "it is not valid UTF-8";
		return PF_E_INPUT;
	}
	return PF_OK;
}

enum pf_rc
pf_form_parse(struct pf_arena *a, struct pf_str text, struct pf_form *out,
    const char **why)
{
	struct pf_str rest = text, piece;
	enum pf_rc rc;
	size_t eq;

	out->n = 0;
	*why = NULL;
	while (pf_str_cut(&rest, '&', &piece)) {
		if (piece.n == 0)
			continue;
		if (out->n == PF_FORM_MAX) {
			*why = "it has too many fields";
			return PF_E_INPUT;
		}
		eq = pf_str_find(piece, '=');
		rc = decode(a, pf_str_head(piece, eq), &out->name[out->n],
		    why);
		if (rc != PF_OK)
			return rc;
		rc = decode(a, pf_str_from(piece, eq + 1),
		    &out->value[out->n], why);
		if (rc != PF_OK)
			return rc;
		out->n++;
	}
	return PF_OK;
}

enum pf_rc
pf_form_get(const struct pf_form *f, const char *name, struct pf_str *out)
{
	bool found = false;

	*out = PF_NOSTR;
	for (size_t i = 0; i < f->n; i++) {
		if (!pf_str_eqz(f->name[i], name))
			continue;
		if (found) {
			*out = PF_NOSTR;
			return PF_E_CONFLICT;
		}
		*out = f->value[i];
		found = true;
	}
	return found ? PF_OK : PF_E_ABSENT;
}

struct pf_str
pf_form_repeated(const struct pf_form *f)
{
	for (size_t i = 0; i < f->n; i++)
		for (size_t j = 0; j < i; j++)
			if (pf_str_eq(f->name[i], f->name[j]))
				return f->name[i];
	return PF_NOSTR;
}
