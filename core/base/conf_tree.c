#include "core/base/conf_tree.h"

#include <string.h>

#include "core/base/json.h"

struct reader {
	struct pf_conf_where *w;
	struct pf_arena *a;
	const char *p;
	const char *end;
	int64_t line;
	size_t values;		/* how many so far */
	unsigned depth;
};

/* For the words and strings of a file, which json.c judges one by one. */
static const struct pf_json_limits token = { 1024 * 1024, 1, 1 };

static enum pf_rc value(struct reader *r, struct pf_node *v);

static struct pf_str
rest(const struct reader *r)
{
	return pf_bytes(r->p, (size_t)(r->end - r->p));
}

static bool
take(struct reader *r, char c)
{
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

/* Up to and with the end mark; false if there is none. */
static bool
skip_past(struct reader *r, struct pf_str mark)
{
	for (; r->p < r->end; r->p++) {
		if (pf_str_starts(rest(r), mark)) {
			r->line += *r->p == '\n';
			r->p += mark.n;
			return true;
		}
		r->line += *r->p == '\n';
	}
	return false;
}

/* White space and comments. */
static enum pf_rc
space(struct reader *r)
{
	int64_t from;

	for (; r->p < r->end; ) {
		if (pf_str_starts(rest(r), PF_LIT("//"))) {
			/* Without a line end it lasts to the end of all. */
			(void)skip_past(r, PF_LIT("\n"));
		} else if (pf_str_starts(rest(r), PF_LIT("/*"))) {
			from = r->line;
			r->p += 2;
			if (!skip_past(r, PF_LIT("*/")))
				return pf_conf_bad(r->w, from,
				    "a comment that begins here has no end");
		} else if (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' ||
		    *r->p == '\n') {
			r->line += *r->p == '\n';
			r->p++;
		} else {
			break;
		}
	}
	return PF_OK;
}

/* What stands at p and can't. */
static enum pf_rc
unexpected(struct reader *r, const char *wanted)
{
	unsigned char c;

	if (r->p == r->end)
		return pf_conf_bad(r->w, r->line,
		    "the file ends where %s must follow", wanted);
	c = (unsigned char)*r->p;
	if (c == '\'')
		return pf_conf_bad(r->w, r->line,
		    "strings have double quotes, not single ones");
	if (c > ' ' && c < 0x7f)
		return pf_conf_bad(r->w, r->line,
		    "%s must follow, not '%c'", wanted, c);
	return pf_conf_bad(r->w, r->line,
	    "%s must follow, not byte 0x%02x", wanted, c);
}

/* What a string means. Nearly all have no escape and are just checked. */
static enum pf_rc
meaning(struct reader *r, struct pf_str quoted, struct pf_str *out)
{
	struct pf_json_fault f = { 0, "can't be read" };
	const struct pf_json *v;
	struct pf_str s;
	enum pf_rc rc;

	if (!pf_str_has(quoted, '\\')) {
		rc = pf_json_scan(quoted, &token, &f);
		s = pf_bytes(quoted.p + 1, quoted.n - 2);
	} else if ((rc = pf_json_parse(r->a, quoted, &token, &v, &f)) == PF_OK)
		rc = pf_json_as_str(v, &s);
	if (rc == PF_E_INPUT)
		return pf_conf_bad(r->w, r->line, "%s", f.why);
	if (rc != PF_OK)
		return pf_conf_nomem(r->w, r->line);
	*out = pf_arena_copy(r->a, s);
	return out->p == NULL ? pf_conf_nomem(r->w, r->line) : PF_OK;
}

static enum pf_rc
string(struct reader *r, struct pf_str *out)
{
	const char *from = r->p++;

	for (; r->p < r->end && *r->p != '"'; r->p++) {
		if (*r->p == '\n')
			return pf_conf_bad(r->w, r->line,
			    "a string has no closing quote in its line");
		if (*r->p == '\\' && r->end - r->p > 1 && r->p[1] != '\n')
			r->p++;
	}
	if (!take(r, '"'))
		return pf_conf_bad(r->w, r->line,
		    "the file ends within a string");
	return meaning(r, pf_bytes(from, (size_t)(r->p - from)), out);
}

static bool
in_word(char c)
{
	return pf_is_b64url(c) || c == '.' || c == '+';
}

static enum pf_rc
word(struct reader *r, struct pf_node *v)
{
	struct pf_json_fault f = { 0, "can't be read" };
	struct pf_str w = rest(r);
	size_t n;

	for (n = 0; n < w.n && in_word(w.p[n]); n++)
		;
	w = pf_str_head(w, n);
	if (n == 0)
		return unexpected(r, "a value");
	r->p += n;
	v->truth = pf_str_eqz(w, "true");
	if (pf_str_eqz(w, "null")) {
		v->type = PF_NODE_NULL;
		return PF_OK;
	}
	if (v->truth || pf_str_eqz(w, "false")) {
		v->type = PF_NODE_BOOL;
		return PF_OK;
	}
	if (!pf_is_digit(w.p[0]) && w.p[0] != '-')
		return pf_conf_bad(r->w, r->line, "%.*s is no value; strings "
		    "have double quotes", n < 40 ? (int)n : 40, w.p);
	if (pf_json_scan(w, &token, &f) != PF_OK)
		return pf_conf_bad(r->w, r->line, "%.*s is no number: %s",
		    n < 40 ? (int)n : 40, w.p, f.why);
	v->type = PF_NODE_NUMBER;
	v->text = pf_arena_copy(r->a, w);
	return v->text.p == NULL ? pf_conf_nomem(r->w, r->line) : PF_OK;
}

/* A member's name and its colon; no name may come twice. */
static enum pf_rc
name(struct reader *r, const struct pf_node *object, struct pf_node *v)
{
	enum pf_rc rc;
	size_t back;

	if (r->p == r->end || *r->p != '"')
		return unexpected(r, "a setting's name in double quotes");
	if ((rc = string(r, &v->name)) != PF_OK)
		return rc;
	back = pf_conf_down(r->w, v->name);
	for (const struct pf_node *o = object->first; o != NULL; o = o->next)
		if (pf_str_eq(o->name, v->name))
			return pf_conf_bad(r->w, r->line,
			    "was given in line %lld already",
			    (long long)o->line);
	if ((rc = space(r)) != PF_OK)
		return rc;
	if (!take(r, ':'))
		return unexpected(r, "a colon");
	if ((rc = space(r)) != PF_OK)
		return rc;
	pf_conf_up(r->w, back);
	return PF_OK;
}

/* One element or member, down in its own place. */
static enum pf_rc
inner(struct reader *r, struct pf_node *of, struct pf_node **out)
{
	struct pf_node *v;
	enum pf_rc rc;
	size_t back;

	if ((v = pf_arena_alloc(r->a, sizeof(*v))) == NULL)
		return pf_conf_nomem(r->w, r->line);
	if (of->type == PF_NODE_OBJECT) {
		if ((rc = name(r, of, v)) != PF_OK)
			return rc;
		back = pf_conf_down(r->w, v->name);
	} else {
		back = pf_conf_down_at(r->w, of->n);
	}
	if ((rc = value(r, v)) != PF_OK)
		return rc;
	pf_conf_up(r->w, back);
	*out = v;
	return PF_OK;
}

/* Behind the opening bracket. A comma may stand before the closing one. */
static enum pf_rc
inside(struct reader *r, struct pf_node *v)
{
	bool object = v->type == PF_NODE_OBJECT, comma = true;
	struct pf_node **last = &v->first;
	enum pf_rc rc;

	if (++r->depth > PF_CONF_DEPTH)
		return pf_conf_bad(r->w, r->line, "nested too deeply");
	for (;;) {
		if ((rc = space(r)) != PF_OK)
			return rc;
		if (take(r, object ? '}' : ']'))
			break;
		if (!comma)
			return unexpected(r, object ? "a comma or }" :
			    "a comma or ]");
		if ((rc = inner(r, v, last)) != PF_OK)
			return rc;
		last = &(*last)->next;
		v->n++;
		if ((rc = space(r)) != PF_OK)
			return rc;
		comma = take(r, ',');
	}
	r->depth--;
	return PF_OK;
}

static enum pf_rc
value(struct reader *r, struct pf_node *v)
{
	v->line = r->line;
	if (++r->values > PF_CONF_VALUES)
		return pf_conf_bad(r->w, r->line, "too many values");
	if (r->p < r->end && *r->p == '"') {
		v->type = PF_NODE_STRING;
		return string(r, &v->text);
	}
	if (take(r, '{')) {
		v->type = PF_NODE_OBJECT;
		return inside(r, v);
	}
	if (take(r, '[')) {
		v->type = PF_NODE_ARRAY;
		return inside(r, v);
	}
	return word(r, v);
}

enum pf_rc
pf_conf_tree(struct pf_conf_where *w, struct pf_str text, int64_t line,
    struct pf_arena *a, struct pf_node **out)
{
	struct reader r = { w, a, text.p, text.p, line, 0, 0 };
	struct pf_node *v;
	enum pf_rc rc;

	if (text.n > 0)
		r.end += text.n;
	if (pf_str_starts(text, PF_LIT("\xef\xbb\xbf")))
		return pf_conf_bad(w, line, "the file begins with a byte order "
		    "mark; save it without one");
	if ((v = pf_arena_alloc(a, sizeof(*v))) == NULL)
		return pf_conf_nomem(w, line);
	if ((rc = space(&r)) != PF_OK || (rc = value(&r, v)) != PF_OK ||
	    (rc = space(&r)) != PF_OK)
		return rc;
	if (r.p < r.end)
		return unexpected(&r, "the end of the file");
	*out = v;
	return PF_OK;
}
