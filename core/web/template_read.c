/*
 * Reading templates: see template.h.
 */
#include "core/web/template_int.h"

#include <string.h>

/* Names that hold in a block, and those around it. */
struct scope {
	const struct pf_tpl_name *names;
	const struct scope *outer;
};

struct reading {
	struct pf_arena *arena;
	const struct pf_tpl_files *files;
	struct pf_conf_fault *fault;
	struct pf_tpl_html html;
	size_t nodes;
	unsigned depth;
};

/* A file on its way. */
struct source {
	const char *file;
	struct pf_str rest;
	int64_t line;
};

enum tag {
	TAG_VALUE, TAG_MESSAGE, TAG_IF, TAG_EACH, TAG_ELSE, TAG_END_IF,
	TAG_END_EACH, TAG_FILE, TAG_REMARK, TAG_END
};

static const struct { const char *head; enum tag tag; } tags[] = {
	{ "_ ", TAG_MESSAGE }, { "_\n", TAG_MESSAGE }, { "#if ", TAG_IF },
	{ "#each ", TAG_EACH }, { "else", TAG_ELSE }, { "/if", TAG_END_IF },
	{ "/each", TAG_END_EACH }, { "> ", TAG_FILE }, { "!", TAG_REMARK },
};

static enum pf_rc
refuse(const struct reading *r, const struct source *src, struct pf_str what,
    const char *why)
{
	char key[40];

	if (what.n > sizeof(key) - 1)
		what.n = sizeof(key) - 1;
	memcpy(key, what.n > 0 ? what.p : "", what.n);
	key[what.n] = '\0';
	return pf_conf_refuse(r->fault, src->file, src->line, key, "%s", why);
}

static void
count_lines(struct source *src, struct pf_str passed)
{
	for (size_t i = 0; i < passed.n; i++)
		if (passed.p[i] == '\n')
			src->line++;
}

static void
skip(struct source *src, size_t n)
{
	count_lines(src, pf_str_head(src->rest, n));
	src->rest = pf_str_from(src->rest, n);
}

/* Where the two braces stand; s.n if nowhere. */
static size_t
find_pair(struct pf_str s, char c)
{
	for (size_t i = 0; i + 1 < s.n; i++)
		if (s.p[i] == c && s.p[i + 1] == c)
			return i;
	return s.n;
}

static enum pf_rc
add_node(struct reading *r, const struct source *src, struct pf_tpl_node ***at,
    struct pf_tpl_node node)
{
	struct pf_tpl_node *n;

	if (++r->nodes > PF_TPL_NODES)
		return refuse(r, src, PF_LIT(""), "the page is too long");
	if ((n = pf_arena_alloc(r->arena, sizeof(*n))) == NULL)
		return PF_E_MEM;
	*n = node;
	**at = n;
	*at = &n->next;
	return PF_OK;
}

/* The literal text up to the next tag. */
static enum pf_rc
read_text(struct reading *r, struct source *src, struct pf_tpl_node ***at)
{
	size_t n = find_pair(src->rest, '{'), bad;
	struct pf_str text = pf_str_head(src->rest, n);
	const char *why;

	if (n == 0)
		return PF_OK;
	if ((why = pf_tpl_html_feed(&r->html, text, &bad)) != NULL) {
		skip(src, bad);
		return refuse(r, src, pf_str_head(src->rest,
		    pf_str_find(src->rest, '\n')), why);
	}
	skip(src, n);
	return add_node(r, src, at, (struct pf_tpl_node){
	    .op = PF_OP_TEXT, .s = text });
}

/*
 * What stands between the braces, and behind its head: the text of a message
 * may end in a brace of its own.
 */
static enum pf_rc
read_tag(struct reading *r, struct source *src, enum tag *tag,
    struct pf_str *rest)
{
	struct pf_str all = pf_str_from(src->rest, 2);
	size_t n = find_pair(all, '}'), i = 0;

	if (n == all.n)
		return refuse(r, src, PF_LIT("{{"), "is not closed by }}");
	while (n + 2 < all.n && all.p[n + 2] == '}')
		n++;
	all = pf_str_trim(pf_str_head(all, n));
	while (i < PF_COUNT(tags) &&
	    !pf_str_starts(all, pf_str(tags[i].head)))
		i++;
	*tag = i < PF_COUNT(tags) ? tags[i].tag : TAG_VALUE;
	*rest = i < PF_COUNT(tags) ?
	    pf_str_from(all, strlen(tags[i].head)) : all;
	if ((*tag == TAG_ELSE || *tag == TAG_END_IF || *tag == TAG_END_EACH) &&
	    rest->n != 0)
		return refuse(r, src, all, "is no tag of templates");
	*rest = pf_str_trim(*rest);
	skip(src, n + 4);
	if (*tag != TAG_VALUE && *tag != TAG_MESSAGE && src->rest.n > 0 &&
	    src->rest.p[0] == '\n')
		skip(src, 1);
	return PF_OK;
}

static const struct pf_tpl_name *
find_name(const struct scope *scope, struct pf_str name)
{
	for (; scope != NULL; scope = scope->outer)
		for (const struct pf_tpl_name *n = scope->names;
		    n != NULL && n->name != NULL; n++)
			if (pf_str_eqz(name, n->name))
				return n;
	return NULL;
}

static enum pf_rc
read_value(struct reading *r, struct source *src, const struct scope *scope,
    struct pf_str name, struct pf_tpl_node ***at)
{
	const struct pf_tpl_name *known = find_name(scope, name);
	enum pf_tpl_place place;
	const char *why;

	if (known == NULL)
		return refuse(r, src, name, "is no value of this page");
	if (known->kind == PF_TPL_LIST)
		return refuse(r, src, name, "is a list: it wants #each");
	why = pf_tpl_html_value(&r->html, known->kind, &place);
	if (why != NULL)
		return refuse(r, src, name, why);
	return add_node(r, src, at, (struct pf_tpl_node){
	    .op = PF_OP_VALUE, .place = place, .s = name });
}

/* White space within, line breaks of the file among it, is one space: so the
 * text can be found in a catalogue. */
static enum pf_rc
squeeze(struct pf_arena *a, struct pf_str in, struct pf_str *out)
{
	bool space = false;
	struct pf_buf b;

	pf_buf_init(&b, a, in.n);
	for (size_t i = 0; i < in.n; i++) {
		bool is = in.p[i] == ' ' || in.p[i] == '\t' || in.p[i] == '\n';

		if (is && !space && b.n > 0)
			pf_buf_char(&b, ' ');
		else if (!is)
			pf_buf_char(&b, in.p[i]);
		space = is;
	}
	if (b.n > 0 && b.p[b.n - 1] == ' ')
		b.n--;
	return pf_buf_done(&b, out);
}

static bool
is_text(const struct scope *scope, struct pf_str name)
{
	const struct pf_tpl_name *known = find_name(scope, name);

	return known != NULL && known->kind != PF_TPL_LIST;
}

static enum pf_rc
read_message(struct reading *r, struct source *src, const struct scope *scope,
    struct pf_str text, struct pf_tpl_node ***at)
{
	enum pf_tpl_place place;
	struct pf_str slot;
	const char *why;
	enum pf_rc rc;

	if ((rc = squeeze(r->arena, text, &text)) != PF_OK)
		return rc;
	if (text.n == 0)
		return refuse(r, src, PF_LIT("_"), "wants a text");
	why = pf_tpl_html_value(&r->html, PF_TPL_TEXT, &place);
	if (why == NULL && place != PF_PLACE_HTML)
		why = "a text may not be part of a URL";
	if (why != NULL)
		return refuse(r, src, text, why);
	for (size_t i = 0; i < text.n; i++) {
		slot = pf_lang_slot(text, i);
		if (pf_str_given(slot) && !is_text(scope, slot))
			return refuse(r, src, slot, "is no value of this page");
	}
	return add_node(r, src, at, (struct pf_tpl_node){
	    .op = PF_OP_MESSAGE, .s = text });
}

static enum pf_rc read_block(struct reading *r, struct source *src,
    const struct scope *scope, enum tag *end, struct pf_tpl_node **out);

/* Both ways through it must leave the HTML at the same place. */
static enum pf_rc
join(struct reading *r, const struct source *src, struct pf_str name,
    const struct pf_tpl_html *other)
{
	bool glued = r->html.glued || other->glued;

	if (!pf_tpl_html_same(&r->html, other))
		return refuse(r, src, name, "this block ends within a tag, an "
		    "attribute or a URL that began in it");
	r->html.glued = glued;
	return PF_OK;
}

static enum pf_rc
read_if(struct reading *r, struct source *src, const struct scope *scope,
    struct pf_str name, struct pf_tpl_node ***at)
{
	struct pf_tpl_node node = { .op = PF_OP_IF, .s = name };
	struct pf_tpl_html before, first;
	const char *why;
	enum pf_rc rc;
	enum tag end;

	if (find_name(scope, name) == NULL)
		return refuse(r, src, name, "is no value of this page");
	if ((why = pf_tpl_html_edge(&r->html)) != NULL)
		return refuse(r, src, name, why);
	before = r->html;
	if ((rc = read_block(r, src, scope, &end, &node.kids)) != PF_OK)
		return rc;
	first = r->html;
	r->html = before;
	if (end == TAG_ELSE && (rc = read_block(r, src, scope, &end,
	    &node.otherwise)) != PF_OK)
		return rc;
	if (end != TAG_END_IF)
		return refuse(r, src, name, "its #if is not closed by /if");
	if ((rc = join(r, src, name, &first)) != PF_OK)
		return rc;
	return add_node(r, src, at, node);
}

static enum pf_rc
read_each(struct reading *r, struct source *src, const struct scope *scope,
    struct pf_str name, struct pf_tpl_node ***at)
{
	struct pf_tpl_node node = { .op = PF_OP_EACH, .s = name };
	const struct pf_tpl_name *known = find_name(scope, name);
	struct pf_tpl_html before;
	struct scope inner;
	const char *why;
	enum pf_rc rc;
	enum tag end;

	if (known == NULL || known->kind != PF_TPL_LIST)
		return refuse(r, src, name, "is no list of this page");
	if ((why = pf_tpl_html_edge(&r->html)) != NULL)
		return refuse(r, src, name, why);
	before = r->html;
	inner = (struct scope){ known->of, scope };
	if ((rc = read_block(r, src, &inner, &end, &node.kids)) != PF_OK)
		return rc;
	if (end != TAG_END_EACH)
		return refuse(r, src, name, "its #each is not closed by /each");
	if ((rc = join(r, src, name, &before)) != PF_OK)
		return rc;
	return add_node(r, src, at, node);
}

static enum pf_rc
open_file(struct reading *r, const struct source *from, struct pf_str name,
    struct source *src)
{
	size_t bad = 0, n;
	enum pf_rc rc;

	*src = (struct source){ .line = 1 };
	rc = r->files->find(r->files->ctx, name, &src->rest, &src->file);
	if (rc == PF_E_ABSENT)
		return refuse(r, from, name, "there is no such file");
	if (rc != PF_OK)
		return rc;
	if (src->rest.n > PF_TPL_BYTES)
		return refuse(r, src, PF_LIT(""), "the file is too long");
	while ((n = pf_utf8_next(pf_str_from(src->rest, bad))) > 0)
		bad += n;
	if (bad == src->rest.n)
		return PF_OK;
	count_lines(src, pf_str_head(src->rest, bad));
	return refuse(r, src, PF_LIT(""), "is not UTF-8");
}

/* Read in its place, so that names and HTML are judged where it is used. */
static enum pf_rc
read_file(struct reading *r, const struct source *from,
    const struct scope *scope, struct pf_str name, struct pf_tpl_node ***at)
{
	struct source src;
	enum pf_rc rc;
	enum tag end;

	if ((rc = open_file(r, from, name, &src)) != PF_OK ||
	    (rc = read_block(r, &src, scope, &end, *at)) != PF_OK)
		return rc;
	if (end != TAG_END)
		return refuse(r, &src, PF_LIT(""),
		    "closes what it didn't open");
	while (**at != NULL)
		*at = &(**at)->next;
	return PF_OK;
}

static enum pf_rc
read_one(struct reading *r, struct source *src, const struct scope *scope,
    enum tag tag, struct pf_str rest, struct pf_tpl_node ***at)
{
	switch (tag) {
	case TAG_VALUE:
		return read_value(r, src, scope, rest, at);
	case TAG_MESSAGE:
		return read_message(r, src, scope, rest, at);
	case TAG_IF:
		return read_if(r, src, scope, rest, at);
	case TAG_EACH:
		return read_each(r, src, scope, rest, at);
	case TAG_FILE:
		return read_file(r, src, scope, rest, at);
	case TAG_REMARK:
	case TAG_ELSE:
	case TAG_END_IF:
	case TAG_END_EACH:
	case TAG_END:
		break;
	}
	return PF_OK;
}

/* Up to the tag that closes it, which is *end, or to the end of the file. */
static enum pf_rc
read_block(struct reading *r, struct source *src, const struct scope *scope,
    enum tag *end, struct pf_tpl_node **out)
{
	struct pf_tpl_node **at = out;
	struct pf_str rest;
	const char *why;
	enum pf_rc rc;

	if (++r->depth > PF_TPL_DEPTH)
		return refuse(r, src, PF_LIT(""),
		    "blocks and files lie too deep in one another");
	for (*end = TAG_END;;) {
		if ((rc = read_text(r, src, &at)) != PF_OK)
			return rc;
		if (src->rest.n == 0)
			break;
		if ((rc = read_tag(r, src, end, &rest)) != PF_OK)
			return rc;
		if (*end == TAG_ELSE || *end == TAG_END_IF ||
		    *end == TAG_END_EACH)
			break;
		if ((rc = read_one(r, src, scope, *end, rest, &at)) != PF_OK)
			return rc;
		*end = TAG_END;
	}
	if ((why = pf_tpl_html_edge(&r->html)) != NULL)
		return refuse(r, src, PF_LIT(""), why);
	r->depth--;
	return PF_OK;
}

enum pf_rc
pf_tpl_read(struct pf_arena *a, const struct pf_tpl_files *files,
    const char *file, const struct pf_tpl_name *names,
    const struct pf_tpl_name *common, struct pf_conf_fault *fault,
    const struct pf_tpl **out)
{
	struct reading r = { .arena = a, .files = files, .fault = fault };
	struct source top = { .file = file };
	struct scope outer = { common, NULL }, inner = { names, &outer };
	struct pf_tpl_node **at;
	struct pf_tpl *t;
	enum pf_rc rc;

	if ((t = pf_arena_alloc(a, sizeof(*t))) == NULL)
		return PF_E_MEM;
	at = &t->first;
	rc = read_file(&r, &top, &inner, pf_str(file), &at);
	if (rc != PF_OK)
		return rc;
	if (r.html.state != PF_IN_TEXT)
		return refuse(&r, &top, PF_LIT(""),
		    "the page ends within a tag");
	*out = t;
	return PF_OK;
}

static bool
in_text(struct pf_str text, struct pf_str name)
{
	for (size_t i = 0; i < text.n; i++)
		if (pf_str_eq(pf_lang_slot(text, i), name))
			return true;
	return false;
}

static bool
shows(const struct pf_tpl_node *n, struct pf_str name)
{
	for (; n != NULL; n = n->next) {
		if ((n->op == PF_OP_VALUE || n->op == PF_OP_EACH) &&
		    pf_str_eq(n->s, name))
			return true;
		if (n->op == PF_OP_MESSAGE && in_text(n->s, name))
			return true;
		if (shows(n->kids, name) || shows(n->otherwise, name))
			return true;
	}
	return false;
}

bool
pf_tpl_shows(const struct pf_tpl *t, struct pf_str name)
{
	return shows(t->first, name);
}

static void
messages(const struct pf_tpl_node *n,
    void (*fn)(void *ctx, struct pf_str id), void *ctx)
{
	for (; n != NULL; n = n->next) {
		if (n->op == PF_OP_MESSAGE)
			fn(ctx, n->s);
		messages(n->kids, fn, ctx);
		messages(n->otherwise, fn, ctx);
	}
}

void
pf_tpl_messages(const struct pf_tpl *t,
    void (*fn)(void *ctx, struct pf_str id), void *ctx)
{
	messages(t->first, fn, ctx);
}
