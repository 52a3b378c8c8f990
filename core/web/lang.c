/*
 * lang - see lang.h.
 */
#include "core/web/lang.h"

#define RANGES_MAX	32	/* of one header */
#define CODE_MAX	16

void
pf_langs_init(struct pf_langs *l)
{
	*l = (struct pf_langs){ .n = 1 };
	l->v[0].code = PF_LIT("en");
	l->v[0].name = PF_LIT("English");
	l->v[0].bare = true;
}

struct pf_str
pf_lang_slot(struct pf_str s, size_t at)
{
	size_t i = at + 1;

	if (at >= s.n || s.p[at] != '{')
		return PF_NOSTR;
	while (i < s.n && (s.p[i] == '_' || pf_is_digit(s.p[i]) ||
	    (s.p[i] >= 'a' && s.p[i] <= 'z')))
		i++;
	if (i == at + 1 || i == s.n || s.p[i] != '}')
		return PF_NOSTR;
	return (struct pf_str){ s.p + at + 1, i - at - 1 };
}

static bool
has_slot(struct pf_str s, struct pf_str name)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '{' && pf_str_eq(pf_lang_slot(s, i), name))
			return true;
	return false;
}

/* A name that only the translator knows would be filled with nothing. */
static bool
slots_ok(const struct pf_mo *mo)
{
	struct pf_str id, text, slot;

	for (size_t i = 0; i < mo->n; i++) {
		pf_mo_at(mo, i, &id, &text);
		for (size_t k = 0; id.n != 0 && k < text.n; k++) {
			slot = pf_lang_slot(text, k);
			if (pf_str_given(slot) && !has_slot(id, slot))
				return false;
		}
	}
	return true;
}

static bool
code_ok(struct pf_str code)
{
	if (code.n < 2 || code.n > CODE_MAX || !pf_is_alpha(code.p[0]))
		return false;
	for (size_t i = 0; i < code.n; i++)
		if (pf_lower(code.p[i]) != code.p[i] ||
		    (!pf_is_alpha(code.p[i]) && !pf_is_digit(code.p[i]) &&
		    code.p[i] != '-'))
			return false;
	return true;
}

static enum pf_rc
read_lang(struct pf_lang *lang, struct pf_str file, const char **why)
{
	struct pf_str direction;
	enum pf_rc rc;

	if ((rc = pf_mo_open(file, &lang->mo, why)) != PF_OK)
		return rc;
	*why = "a translation has a {name} that the text has not";
	if (!slots_ok(&lang->mo))
		return PF_E_INPUT;
	lang->name = pf_mo_text(&lang->mo, PF_LIT("LANGUAGE"));
	direction = pf_mo_text(&lang->mo, PF_LIT("DIRECTION"));
	lang->rtl = pf_str_eqz(direction, "rtl");
	*why = "LANGUAGE or DIRECTION (ltr, rtl) is not translated";
	return pf_str_given(lang->name) &&
	    (lang->rtl || pf_str_eqz(direction, "ltr")) ? PF_OK : PF_E_INPUT;
}

enum pf_rc
pf_langs_add(struct pf_langs *l, struct pf_str code, struct pf_str file,
    const char **why)
{
	struct pf_lang lang = { .code = code };
	size_t i = 0;
	enum pf_rc rc;

	*why = "its name is no language in lower case, such as de or pt-br";
	if (!code_ok(code))
		return PF_E_INPUT;
	if ((rc = read_lang(&lang, file, why)) != PF_OK)
		return rc;
	while (i < l->n && !pf_str_eq(l->v[i].code, code))
		i++;
	*why = "there are too many languages";
	if (i == PF_LANGS_MAX)
		return PF_E_INPUT;
	if (i == l->n)
		l->n++;
	l->v[i] = lang;
	return PF_OK;
}

const struct pf_lang *
pf_langs_get(const struct pf_langs *l, struct pf_str code)
{
	for (size_t i = 0; i < l->n; i++)
		if (pf_str_eq_nocase(l->v[i].code, code))
			return &l->v[i];
	return NULL;
}

/* The thousandths of "q=0.8" (RFC 9110, 12.4.2); -1 if it is none. */
static int
weight(struct pf_str s)
{
	int q = 0, unit = 1000;

	s = pf_str_trim(s);
	if (s.n < 3 || s.n > 7 || pf_lower(s.p[0]) != 'q' || s.p[1] != '=')
		return -1;
	for (size_t i = 2; i < s.n; i++) {
		if (i == 3 && s.p[i] == '.')
			continue;
		if (i == 3 || !pf_is_digit(s.p[i]))
			return -1;
		q += (s.p[i] - '0') * unit;
		unit /= 10;
	}
	return q <= 1000 ? q : -1;
}

/* "de-AT-1996", "de-AT", "de": RFC 4647, 3.4. */
static const struct pf_lang *
look_up(const struct pf_langs *l, struct pf_str range)
{
	const struct pf_lang *lang;

	for (;;) {
		if ((lang = pf_langs_get(l, range)) != NULL)
			return lang;
		while (range.n > 0 && range.p[range.n - 1] != '-')
			range.n--;
		if (range.n == 0)
			return NULL;
		range.n--;
	}
}

const struct pf_lang *
pf_langs_pick(const struct pf_langs *l, struct pf_str accept_language)
{
	const struct pf_lang *best = &l->v[0], *lang;
	struct pf_str rest = accept_language, one, range;
	int q, best_q = 0;

	for (int i = 0; i < RANGES_MAX && pf_str_cut(&rest, ',', &one); i++) {
		range = pf_str_trim(pf_str_head(one, pf_str_find(one, ';')));
		q = !pf_str_has(one, ';') ? 1000 :
		    weight(pf_str_from(one, pf_str_find(one, ';') + 1));
		lang = pf_str_eqz(range, "*") ? &l->v[0] : look_up(l, range);
		if (lang != NULL && q > best_q) {
			best = lang;
			best_q = q;
		}
	}
	return best;
}

struct pf_str
pf_lang_text(const struct pf_lang *lang, struct pf_str id)
{
	struct pf_str text;

	if (lang->bare)
		return id;
	text = pf_mo_text(&lang->mo, id);
	return pf_str_given(text) ? text : id;
}
