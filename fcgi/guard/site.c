/*
 * site - which rules of "site" a page falls under, for a browser that has joined
 * a Session. What is written in another way than plainly has been refused
 * before.
 */
#include "fcgi/guard/guard.h"

static bool
has_query(const struct pf_rule *r, const struct guard_ask *ask)
{
	return guard_query(r->query, ask->query) == GUARD_QUERY_YES;
}

static bool
names(const struct pf_rule *r, const struct guard_ask *ask)
{
	return guard_names(r->path, ask->path) && has_query(r, ask);
}

/* By a name that is not the page's own, see names.c. */
static bool
may_name(const struct pf_rule *r, const struct guard_ask *ask)
{
	return !guard_names(r->path, ask->path) &&
	    guard_may_name(r->path, ask->path) && has_query(r, ask);
}

/* Is the query odd to any rule of the path? See match.c. */
static bool
is_odd(const struct pf_list *rules, const struct guard_ask *ask)
{
	const struct pf_rule *r = rules->v;

	for (size_t i = 0; i < rules->n; i++)
		if (r[i].query.n != 0 &&
		    guard_may_name(r[i].path, ask->path) &&
		    guard_query(r[i].query, ask->query) == GUARD_QUERY_ODD)
			return true;
	return false;
}

static bool
is_closed(const struct pf_settings *s, const struct guard_ask *ask)
{
	const struct pf_rule *r = s->site.closed.v;

	for (size_t i = 0; i < s->site.closed.n; i++)
		if (names(&r[i], ask) || may_name(&r[i], ask))
			return true;
	return false;
}

/* By another name a page takes no method that it does not take by its own. */
static bool
method_fits(const struct pf_settings *s, const struct guard_ask *ask)
{
	const struct pf_rule *r = s->site.rules.v;
	bool fits = true;

	for (size_t i = 0; i < s->site.rules.n; i++) {
		if (!may_name(&r[i], ask))
			continue;
		if (guard_method_fits(&r[i], ask->method))
			return true;
		fits = false;
	}
	return fits;
}

enum guard_match
guard_site_find(const struct pf_settings *s, const struct guard_ask *ask,
    const struct pf_rule **rule)
{
	enum guard_match found = GUARD_NO_RULE;
	const struct pf_rule *r = s->site.rules.v;

	if (is_odd(&s->site.closed, ask) || is_odd(&s->site.rules, ask))
		return GUARD_ODD_QUERY;
	if (is_closed(s, ask))
		return GUARD_NO_RULE;
	for (size_t i = 0; i < s->site.rules.n; i++) {
		if (!names(&r[i], ask))
			continue;
		found = GUARD_NO_METHOD;
		if (!guard_method_fits(&r[i], ask->method))
			continue;
		if (!method_fits(s, ask))
			break;
		*rule = &r[i];
		return GUARD_RULE;
	}
	return found;
}

const struct pf_rule *
guard_site_next(const struct pf_settings *s, const struct guard_ask *ask,
    const struct pf_rule *rule, const struct pf_rule *last)
{
	const struct pf_rule *first = s->site.rules.v, *r;

	if (last == rule)
		return NULL;
	for (r = last == NULL ? first : last + 1;
	    r < first + s->site.rules.n; r++)
		if (may_name(r, ask) && guard_method_fits(r, ask->method))
			return r;
	return rule;
}
