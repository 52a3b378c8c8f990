/*
 * Writing pages: see template.h.
 */
#include "core/web/template_int.h"

#include <string.h>

#include "core/web/page.h"
#include "core/web/url.h"

/* U+2068 and U+2069: what is between them turns nothing around it. */
#define ISOLATE		PF_LIT("\xe2\x81\xa8")
#define ISOLATE_END	PF_LIT("\xe2\x81\xa9")

struct writing {
	const struct pf_lang *lang;
	struct pf_buf *out;
	bool plain;		/* no HTML */
};

static const struct pf_var *
find(const struct pf_vars *vars, struct pf_str name)
{
	for (; vars != NULL; vars = vars->outer)
		for (size_t i = 0; i < vars->n; i++)
			if (pf_str_eqz(name, vars->v[i].name))
				return &vars->v[i];
	return NULL;
}

static struct pf_str
text_of(const struct pf_vars *vars, struct pf_str name)
{
	const struct pf_var *v = find(vars, name);

	return v != NULL ? v->text : PF_LIT("");
}

static bool
is_url(struct pf_str s)
{
	if (s.n > 0 && s.p[0] == '?')
		return true;
	if (s.n > 0 && s.p[0] == '/')
		return s.n == 1 || (s.p[1] != '/' && s.p[1] != '\\');
	return pf_str_starts(s, PF_LIT("https://")) ||
	    pf_str_starts(s, PF_LIT("http://"));
}

static void
put_value(const struct writing *w, struct pf_str s, enum pf_tpl_place place)
{
	if (place == PF_PLACE_URL_PART)
		pf_url_escape(w->out, s);
	else if (place == PF_PLACE_HTML || is_url(s))
		pf_html(w->out, s);
}

static void
put_text(const struct writing *w, struct pf_str s)
{
	if (w->plain)
		pf_buf_add(w->out, s);
	else
		pf_html(w->out, s);
}

/* A name that is written the other way would take its neighbours along. */
static void
put_slot(const struct writing *w, struct pf_str s)
{
	bool isolate = w->lang->rtl;

	for (size_t i = 0; i < s.n && !isolate; i++)
		isolate = (unsigned char)s.p[i] >= 0x80;
	if (isolate && s.n > 0)
		pf_buf_add(w->out, ISOLATE);
	put_text(w, s);
	if (isolate && s.n > 0)
		pf_buf_add(w->out, ISOLATE_END);
}

static void
put_message(const struct writing *w, struct pf_str id,
    const struct pf_vars *vars)
{
	struct pf_str text = pf_lang_text(w->lang, id), slot;
	size_t from = 0;

	for (size_t i = 0; i < text.n; i++) {
		slot = pf_lang_slot(text, i);
		if (!pf_str_given(slot))
			continue;
		put_text(w, pf_str_from(pf_str_head(text, i), from));
		put_slot(w, text_of(vars, slot));
		i += slot.n + 1;
		from = i + 1;
	}
	put_text(w, pf_str_from(text, from));
}

static void put_nodes(const struct writing *w, const struct pf_tpl_node *n,
    const struct pf_vars *vars);

static void
put_each(const struct writing *w, const struct pf_tpl_node *n,
    const struct pf_vars *vars)
{
	const struct pf_var *list = find(vars, n->s);
	struct pf_vars row;

	for (size_t i = 0; list != NULL && i < list->nrows &&
	    !w->out->failed; i++) {
		row = list->rows[i];
		row.outer = vars;
		put_nodes(w, n->kids, &row);
	}
}

static void
put_if(const struct writing *w, const struct pf_tpl_node *n,
    const struct pf_vars *vars)
{
	const struct pf_var *v = find(vars, n->s);
	bool on = v != NULL && (v->text.n > 0 || v->nrows > 0);

	put_nodes(w, on ? n->kids : n->otherwise, vars);
}

static void
put_nodes(const struct writing *w, const struct pf_tpl_node *n,
    const struct pf_vars *vars)
{
	for (; n != NULL && !w->out->failed; n = n->next) {
		switch (n->op) {
		case PF_OP_TEXT:
			pf_buf_add(w->out, n->s);
			break;
		case PF_OP_VALUE:
			put_value(w, text_of(vars, n->s), n->place);
			break;
		case PF_OP_MESSAGE:
			put_message(w, n->s, vars);
			break;
		case PF_OP_IF:
			put_if(w, n, vars);
			break;
		case PF_OP_EACH:
			put_each(w, n, vars);
			break;
		}
	}
}

void
pf_tpl_render(const struct pf_tpl *t, const struct pf_lang *lang,
    const struct pf_vars *vars, struct pf_buf *out)
{
	struct writing w = { lang, out, false };

	put_nodes(&w, t->first, vars);
}

void
pf_tpl_text(const struct pf_lang *lang, struct pf_str id,
    const struct pf_vars *vars, struct pf_buf *out)
{
	struct writing w = { lang, out, true };

	put_message(&w, id, vars);
}
