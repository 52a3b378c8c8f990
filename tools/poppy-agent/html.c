#include "config.h"

#include "tools/poppy-agent/html.h"

#include <string.h>

#include "core/base/buf.h"

#define VALUE_MAX	65536

static const struct { const char *ref; char c; } references[] = {
	{ "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' },
	{ "&quot;", '"' }, { "&#39;", '\'' }, { "&#x27;", '\'' },
};

static struct pf_str
decoded(struct pf_arena *a, struct pf_str s)
{
	struct pf_buf b;

	pf_buf_init(&b, a, VALUE_MAX);
	while (s.n > 0) {
		size_t skip = 1;
		char c = s.p[0];

		for (size_t i = 0; c == '&' && i < PF_COUNT(references); i++)
			if (pf_str_starts(s, pf_str(references[i].ref))) {
				c = references[i].c;
				skip = strlen(references[i].ref);
				break;
			}
		pf_buf_char(&b, c);
		s = pf_str_from(s, skip);
	}
	return pf_buf_str(&b);
}

/* Where text stands in s from at on, without case; s.n if nowhere. */
static size_t
find(struct pf_str s, size_t at, const char *text)
{
	size_t n = strlen(text);

	for (; at + n <= s.n; at++)
		if (pf_str_eq_nocase(pf_bytes(s.p + at, n), pf_str(text)))
			return at;
	return s.n;
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* One attribute of a start tag, cut from its rest. */
static bool
next_attribute(struct pf_str *rest, struct pf_str *name, struct pf_str *value)
{
	size_t n = 0;
	char quote;

	while (rest->n > 0 && (is_space(rest->p[0]) || rest->p[0] == '/'))
		*rest = pf_str_from(*rest, 1);
	while (n < rest->n && !is_space(rest->p[n]) && rest->p[n] != '=')
		n++;
	*name = pf_str_head(*rest, n);
	*value = PF_LIT("");
	*rest = pf_str_from(*rest, n);
	if (rest->n < 2 || rest->p[0] != '=')
		return n > 0;
	quote = rest->p[1];
	if (quote != '"' && quote != '\'') {
		*rest = pf_str_from(*rest, 1);
		for (n = 0; n < rest->n && !is_space(rest->p[n]); n++)
			;
		*value = pf_str_head(*rest, n);
		*rest = pf_str_from(*rest, n);
		return true;
	}
	*rest = pf_str_from(*rest, 2);
	n = pf_str_find(*rest, quote);
	*value = pf_str_head(*rest, n);
	*rest = pf_str_from(*rest, n + 1);
	return true;
}

static struct pf_str
attribute(struct pf_arena *a, struct pf_str tag, const char *wanted)
{
	struct pf_str rest = tag, name, value;

	while (next_attribute(&rest, &name, &value))
		if (pf_str_eq_nocase(name, pf_str(wanted)))
			return decoded(a, value);
	return PF_NOSTR;
}

/* Behind "<input" or "<button", up to its '>'. Quotes in our pages hold none. */
static void
add_input(struct pf_arena *a, struct pf_str tag, bool button,
    struct ag_form *out)
{
	struct ag_input *in = &out->input[out->n];

	if (out->n == AG_INPUTS_MAX)
		return;
	in->name = attribute(a, tag, "name");
	in->value = attribute(a, tag, "value");
	in->type = attribute(a, tag, "type");
	if (!pf_str_given(in->type))
		in->type = button ? PF_LIT("submit") : PF_LIT("text");
	in->checked = pf_str_given(attribute(a, tag, "checked"));
	if (pf_str_given(in->name))
		out->n++;
}

bool
ag_html_form(struct pf_arena *a, struct pf_str page, size_t *at,
    struct ag_form *out)
{
	size_t begin = find(page, *at, "<form"), end, open;
	struct pf_str form;

	if (begin == page.n)
		return false;
	end = find(page, begin, "</form>");
	*at = end;
	form = pf_str_head(page, end);
	open = begin + pf_str_find(pf_str_from(form, begin), '>');
	memset(out, 0, sizeof(*out));
	out->action = attribute(a, pf_bytes(page.p + begin + 5,
	    open - begin - 5), "action");
	for (size_t i = open; i < form.n; i++) {
		struct pf_str rest = pf_str_from(form, i);
		size_t head = pf_str_starts(rest, PF_LIT("<input")) ? 6 :
		    pf_str_starts(rest, PF_LIT("<button")) ? 7 : 0;

		if (head != 0)
			add_input(a, pf_str_head(pf_str_from(rest, head),
			    pf_str_find(pf_str_from(rest, head), '>')),
			    head == 7, out);
	}
	return true;
}

const struct ag_input *
ag_form_typed(const struct ag_form *f, const char *type)
{
	for (size_t i = 0; i < f->n; i++)
		if (pf_str_eq_nocase(f->input[i].type, pf_str(type)))
			return &f->input[i];
	return NULL;
}

const struct ag_input *
ag_form_named(const struct ag_form *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (pf_str_eqz(f->input[i].name, name))
			return &f->input[i];
	return NULL;
}

struct pf_str
ag_html_title(struct pf_arena *a, struct pf_str page)
{
	size_t from = find(page, 0, "<title>"), to;

	if (from == page.n)
		return PF_NOSTR;
	from += sizeof("<title>") - 1;
	to = find(page, from, "</title>");
	return to == page.n ? PF_NOSTR :
	    pf_str_trim(decoded(a, pf_bytes(page.p + from, to - from)));
}
