/*
 * Where in the HTML a place of a template is: see template_int.h.
 */
#include "core/web/template_int.h"

#include <string.h>

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool
name_is(const struct pf_tpl_html *h, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pf_str_eqz(pf_bytes(h->name, h->n), list[i]))
			return true;
	return false;
}

/* What runs, or changes how the rest is read. */
static const char *
tag_fault(const struct pf_tpl_html *h)
{
	static const char *const never[] = {
		"script", "style", "iframe", "frame", "object", "embed",
		"base", "noscript", "textarea", "title", "xmp", "plaintext",
		"noembed", "noframes", "template", "svg", "math"
	};

	/* Of these, title alone is of use: its content is text, too, and
	 * escaping holds there. */
	if (pf_str_eqz(pf_bytes(h->name, h->n), "title"))
		return NULL;
	return name_is(h, never, PF_COUNT(never)) ?
	    "this tag may not stand in a template" : NULL;
}

static const char *
attr_fault(struct pf_tpl_html *h)
{
	/* http-equiv: what stands in content would be a header then. */
	static const char *const never[] = {
		"style", "srcdoc", "srcset", "http-equiv"
	};
	static const char *const urls[] = {
		"href", "src", "action", "formaction", "poster", "cite", "data",
		"background", "ping", "xlink:href"
	};

	if ((h->n > 2 && memcmp(h->name, "on", 2) == 0) ||
	    name_is(h, never, PF_COUNT(never)))
		return "this attribute may not stand in a template";
	h->url = name_is(h, urls, PF_COUNT(urls));
	h->begun = false;
	return NULL;
}

static void
name_begin(struct pf_tpl_html *h, char c)
{
	h->name[0] = pf_lower(c);
	h->n = 1;
}

static void
name_add(struct pf_tpl_html *h, char c)
{
	if (h->n < sizeof(h->name))
		h->name[h->n++] = pf_lower(c);
}

static const char *
in_open(struct pf_tpl_html *h, char c)
{
	if (c == '/' && !h->begun) {
		h->begun = true;
		return NULL;
	}
	if (c == '!' && !h->begun) {
		h->begun = false;
		h->state = PF_IN_DECL;
		return NULL;
	}
	if (!pf_is_alpha(c))
		return "write &lt; for a '<' that begins no tag";
	name_begin(h, c);
	h->state = PF_IN_NAME;
	return NULL;
}

/* <!doctype html>. How far a comment goes is a long story. */
static const char *
in_decl(struct pf_tpl_html *h, char c)
{
	if (!h->begun && !pf_is_alpha(c))
		return "write {{! .. }} for a remark";
	h->begun = true;
	if (c == '>')
		h->state = PF_IN_TEXT;
	return NULL;
}

static const char *
in_tag(struct pf_tpl_html *h, char c)
{
	if (c == '>')
		h->state = PF_IN_TEXT;
	else if (c == '"' || c == '\'' || c == '=' || c == '<')
		return "a tag is not written as it should";
	else if (!is_space(c) && c != '/') {
		if (h->glued)
			return "a space is wanted between attributes";
		name_begin(h, c);
		h->state = PF_IN_ATTR;
	}
	return NULL;
}

static const char *
in_name(struct pf_tpl_html *h, char c)
{
	const char *why;

	if (!is_space(c) && c != '>' && c != '/') {
		name_add(h, c);
		return pf_is_alpha(c) || pf_is_digit(c) || c == '-' ? NULL :
		    "a tag is not written as it should";
	}
	if ((why = tag_fault(h)) != NULL)
		return why;
	h->state = PF_IN_TAG;
	return in_tag(h, c);
}

static const char *
in_attr(struct pf_tpl_html *h, char c)
{
	const char *why;

	if (!is_space(c) && c != '>' && c != '/' && c != '=') {
		name_add(h, c);
		return pf_is_alpha(c) || pf_is_digit(c) ||
		    pf_str_has(PF_LIT("-_:."), c) ? NULL :
		    "an attribute is not written as it should";
	}
	if ((why = attr_fault(h)) != NULL)
		return why;
	if (c == '=') {
		h->state = PF_IN_EQUALS;
		return NULL;
	}
	h->state = PF_IN_TAG;
	return in_tag(h, c);
}

static const char *
step(struct pf_tpl_html *h, char c)
{
	switch (h->state) {
	case PF_IN_TEXT:
		if (c != '<')
			return NULL;
		h->state = PF_IN_OPEN;
		h->begun = false;
		return NULL;
	case PF_IN_OPEN:
		return in_open(h, c);
	case PF_IN_NAME:
		return in_name(h, c);
	case PF_IN_TAG:
		return in_tag(h, c);
	case PF_IN_ATTR:
		return in_attr(h, c);
	case PF_IN_EQUALS:
		if (c != '"' && c != '\'')
			return "the value of an attribute wants quotes";
		h->quote = c;
		h->state = PF_IN_VALUE;
		return NULL;
	case PF_IN_VALUE:
		if (c == h->quote)
			h->state = PF_IN_TAG;
		h->begun = true;
		return NULL;
	case PF_IN_DECL:
		return in_decl(h, c);
	}
	return "can't happen";
}

const char *
pf_tpl_html_feed(struct pf_tpl_html *h, struct pf_str text, size_t *bad)
{
	const char *why;

	for (*bad = 0; *bad < text.n; ++*bad) {
		if ((why = step(h, text.p[*bad])) != NULL)
			return why;
		h->glued = false;
	}
	return NULL;
}

const char *
pf_tpl_html_value(struct pf_tpl_html *h, enum pf_tpl_kind kind,
    enum pf_tpl_place *place)
{
	*place = PF_PLACE_HTML;
	if (h->state == PF_IN_TEXT)
		return NULL;
	if (h->state != PF_IN_VALUE)
		return "a value may stand in text or between the quotes of an "
		    "attribute only";
	if (!h->url)
		return NULL;
	if (!h->begun && kind != PF_TPL_URL)
		return "this value is no URL, and must not begin one";
	*place = h->begun ? PF_PLACE_URL_PART : PF_PLACE_URL;
	h->begun = true;
	return NULL;
}

const char *
pf_tpl_html_edge(struct pf_tpl_html *h)
{
	const char *why = NULL;

	if (h->state != PF_IN_ATTR && h->state != PF_IN_NAME)
		return NULL;
	if (h->state == PF_IN_NAME)
		why = tag_fault(h);
	h->state = PF_IN_TAG;
	h->glued = true;
	return why;
}

bool
pf_tpl_html_same(const struct pf_tpl_html *a, const struct pf_tpl_html *b)
{
	if (a->state != b->state)
		return false;
	if (a->state == PF_IN_VALUE)
		return a->quote == b->quote && a->url == b->url &&
		    (!a->url || a->begun == b->begun);
	return a->state == PF_IN_TEXT || a->state == PF_IN_TAG;
}
