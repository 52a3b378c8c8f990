#include "core/base/conf.h"

#include <string.h>

#include "core/base/conf_tree.h"

struct load {
	struct pf_conf_where w;
	struct pf_arena *a;
};

static enum pf_rc object(struct load *l, const struct pf_node *v,
    const struct pf_conf_table *t, void *out);

/* min = max = 0 stands for "no range". */
static bool
within(const struct pf_conf_key *k, int64_t n)
{
	return (k->min == 0 && k->max == 0) || (n >= k->min && n <= k->max);
}

static enum pf_rc
count(struct load *l, const struct pf_node *v, const struct pf_conf_key *k)
{
	if (within(k, (int64_t)v->n))
		return PF_OK;
	return pf_conf_bad(&l->w, v->line,
	    "must have %lld to %lld entries, not %zu", (long long)k->min,
	    (long long)k->max, v->n);
}

/* A text that must pass the key's own check. */
static enum pf_rc
checked(struct load *l, const struct pf_node *v, const struct pf_conf_key *k)
{
	const char *why;

	if (v->type != PF_NODE_STRING)
		return pf_conf_bad(&l->w, v->line, "must be a string");
	if (k->check != NULL && (why = k->check(v->text)) != NULL)
		return pf_conf_bad(&l->w, v->line, "%s", why);
	return PF_OK;
}

static enum pf_rc
text(struct load *l, const struct pf_node *v, const struct pf_conf_key *k,
    void *out)
{
	if (v->type != PF_NODE_STRING)
		return pf_conf_bad(&l->w, v->line, "must be a string");
	if (!within(k, (int64_t)v->text.n))
		return pf_conf_bad(&l->w, v->line,
		    "must have %lld to %lld bytes, not %zu", (long long)k->min,
		    (long long)k->max, v->text.n);
	memcpy(out, &v->text, sizeof(v->text));
	return checked(l, v, k);
}

static enum pf_rc
integer(struct load *l, const struct pf_node *v, const struct pf_conf_key *k,
    void *out)
{
	int64_t n;

	/* "1.0" and "1e3" are numbers, and no integers. */
	if (v->type != PF_NODE_NUMBER ||
	    pf_str_int(v->text, INT64_MIN, INT64_MAX, &n) != PF_OK)
		return pf_conf_bad(&l->w, v->line, "must be an integer");
	if (!within(k, n))
		return pf_conf_bad(&l->w, v->line,
		    "must be from %lld to %lld, not %lld", (long long)k->min,
		    (long long)k->max, (long long)n);
	memcpy(out, &n, sizeof(n));
	return PF_OK;
}

static enum pf_rc
boolean(struct load *l, const struct pf_node *v, void *out)
{
	if (v->type != PF_NODE_BOOL)
		return pf_conf_bad(&l->w, v->line, "must be true or false");
	memcpy(out, &v->truth, sizeof(v->truth));
	return PF_OK;
}

static enum pf_rc
strings(struct load *l, const struct pf_node *v, const struct pf_conf_key *k,
    void *out)
{
	struct pf_strs list = { NULL, v->n };
	const struct pf_node *e;
	struct pf_str *to;
	enum pf_rc rc;
	size_t back, i = 0;

	if (v->type != PF_NODE_ARRAY)
		return pf_conf_bad(&l->w, v->line, "must be a list of strings");
	if ((rc = count(l, v, k)) != PF_OK)
		return rc;
	if ((to = pf_arena_alloc(l->a, v->n * sizeof(*to))) == NULL)
		return pf_conf_nomem(&l->w, v->line);
	for (e = v->first; e != NULL; e = e->next, i++) {
		back = pf_conf_down_at(&l->w, i);
		if ((rc = checked(l, e, k)) != PF_OK)
			return rc;
		pf_conf_up(&l->w, back);
		to[i] = e->text;
	}
	list.v = to;
	memcpy(out, &list, sizeof(list));
	return PF_OK;
}

static enum pf_rc
map(struct load *l, const struct pf_node *v, const struct pf_conf_key *k,
    void *out)
{
	struct pf_map m = { NULL, NULL, v->n };
	const struct pf_node *e;
	struct pf_str *key, *val;
	enum pf_rc rc;
	size_t back, i = 0;

	if (v->type != PF_NODE_OBJECT)
		return pf_conf_bad(&l->w, v->line,
		    "must be an object whose values are strings");
	if ((rc = count(l, v, k)) != PF_OK)
		return rc;
	key = pf_arena_alloc(l->a, v->n * sizeof(*key));
	val = pf_arena_alloc(l->a, v->n * sizeof(*val));
	if (key == NULL || val == NULL)
		return pf_conf_nomem(&l->w, v->line);
	for (e = v->first; e != NULL; e = e->next, i++) {
		back = pf_conf_down(&l->w, e->name);
		if ((rc = checked(l, e, k)) != PF_OK)
			return rc;
		pf_conf_up(&l->w, back);
		key[i] = e->name;
		val[i] = e->text;
	}
	m.key = key;
	m.value = val;
	memcpy(out, &m, sizeof(m));
	return PF_OK;
}

static enum pf_rc
list(struct load *l, const struct pf_node *v, const struct pf_conf_key *k,
    void *out)
{
	struct pf_list all = { NULL, v->n };
	const struct pf_node *e;
	unsigned char *to;
	size_t size, back, i = 0;
	enum pf_rc rc;

	if (v->type != PF_NODE_ARRAY)
		return pf_conf_bad(&l->w, v->line, "must be a list of objects");
	if ((rc = count(l, v, k)) != PF_OK)
		return rc;
	if (__builtin_mul_overflow(v->n, k->sub->size, &size) ||
	    (to = pf_arena_alloc(l->a, size)) == NULL)
		return pf_conf_nomem(&l->w, v->line);
	for (e = v->first; e != NULL; e = e->next, i++) {
		back = pf_conf_down_at(&l->w, i);
		rc = object(l, e, k->sub, to + i * k->sub->size);
		if (rc != PF_OK)
			return rc;
		pf_conf_up(&l->w, back);
	}
	all.v = to;
	memcpy(out, &all, sizeof(all));
	return PF_OK;
}

static enum pf_rc
setting(struct load *l, const struct pf_node *v, const struct pf_conf_key *k,
    void *out)
{
	switch (k->type) {
	case PF_CONF_STR:
		return text(l, v, k, out);
	case PF_CONF_INT:
		return integer(l, v, k, out);
	case PF_CONF_BOOL:
		return boolean(l, v, out);
	case PF_CONF_STRS:
		return strings(l, v, k, out);
	case PF_CONF_MAP:
		return map(l, v, k, out);
	case PF_CONF_OBJ:
		return object(l, v, k->sub, out);
	case PF_CONF_LIST:
		return list(l, v, k, out);
	case PF_CONF_LINE:
		break;
	}
	return PF_E_BUG;
}

/* The default is read as if it stood where its object begins. */
static enum pf_rc
by_default(struct load *l, int64_t line, const struct pf_conf_key *k, void *out)
{
	bool before = l->w.in_default;
	struct pf_node *v;
	enum pf_rc rc;

	if (k->def == NULL)
		return pf_conf_bad(&l->w, line, "must be given");
	l->w.in_default = true;
	rc = pf_conf_tree(&l->w, pf_str(k->def), line, l->a, &v);
	/* What an absent object lacks is no fault of the default "{}". */
	l->w.in_default = before || k->type != PF_CONF_OBJ;
	if (rc == PF_OK)
		rc = setting(l, v, k, out);
	l->w.in_default = before;
	return rc;
}

static const struct pf_node *
find(const struct pf_node *object, const char *name)
{
	for (const struct pf_node *v = object->first; v != NULL; v = v->next)
		if (pf_str_eqz(v->name, name))
			return v;
	return NULL;
}

/* Whatever the table doesn't know is a slip of the pen: better said than
 * silently without effect. */
static enum pf_rc
all_known(struct load *l, const struct pf_node *object,
    const struct pf_conf_table *t)
{
	for (const struct pf_node *v = object->first; v != NULL; v = v->next) {
		size_t i;

		for (i = 0; i < t->nkeys; i++)
			if (t->keys[i].type != PF_CONF_LINE &&
			    pf_str_eqz(v->name, t->keys[i].name))
				break;
		if (i == t->nkeys) {
			(void)pf_conf_down(&l->w, v->name);
			return pf_conf_bad(&l->w, v->line,
			    "there is no such setting");
		}
	}
	return PF_OK;
}

static enum pf_rc
object(struct load *l, const struct pf_node *v, const struct pf_conf_table *t,
    void *out)
{
	const struct pf_node *m;
	enum pf_rc rc;
	size_t back;

	if (v->type != PF_NODE_OBJECT)
		return pf_conf_bad(&l->w, v->line, "must be an object");
	if ((rc = all_known(l, v, t)) != PF_OK)
		return rc;
	for (size_t i = 0; i < t->nkeys; i++) {
		const struct pf_conf_key *k = &t->keys[i];
		unsigned char *to = (unsigned char *)out + k->at;

		if (k->type == PF_CONF_LINE) {
			m = find(v, k->name);
			memcpy(to, m != NULL ? &m->line : &v->line,
			    sizeof(v->line));
			continue;
		}
		back = pf_conf_down(&l->w, pf_str(k->name));
		m = find(v, k->name);
		rc = m != NULL ? setting(l, m, k, to) :
		    by_default(l, v->line, k, to);
		if (rc != PF_OK)
			return rc;
		pf_conf_up(&l->w, back);
	}
	return PF_OK;
}

enum pf_rc
pf_conf_parse(const char *file, struct pf_str text,
    const struct pf_conf_table *table, struct pf_arena *a, void *out,
    struct pf_conf_fault *fault)
{
	struct load l = { { .file = file, .fault = fault }, a };
	struct pf_node *v;
	enum pf_rc rc;

	if (text.n > PF_CONF_BYTES)
		return pf_conf_bad(&l.w, 1, "the file is longer than 1 MiB");
	memset(out, 0, table->size);
	if ((rc = pf_conf_tree(&l.w, text, 1, a, &v)) != PF_OK)
		return rc;
	return object(&l, v, table, out);
}
