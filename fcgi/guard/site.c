/*
 * site - which rule of "site" a page falls under, for a browser that has joined
 * a Session.
 *
 * The same page has more names than a list can tell, so a path stands for all
 * of them: what PHP gets as PATH_INFO behind a script, and a folder without its
 * slash. What is written in another way than plainly has been refused before.
 */
#include "fcgi/guard/guard.h"

static bool
covers(const struct pf_rule *r, struct pf_str path)
{
	struct pf_str folder = r->path;

	if (pf_str_ends(folder, PF_LIT("/")))
		folder = pf_str_head(folder, folder.n - 1);
	return pf_str_starts(path, folder) &&
	    (path.n == folder.n || path.p[folder.n] == '/');
}

static bool
names(const struct pf_rule *r, const struct guard_ask *ask)
{
	return covers(r, ask->path) &&
	    guard_query(r->query, ask->query) == GUARD_QUERY_YES;
}

/* Is the query odd to any rule of the path? See match.c. */
static bool
is_odd(const struct pf_list *rules, const struct guard_ask *ask)
{
	const struct pf_rule *r = rules->v;

	for (size_t i = 0; i < rules->n; i++)
		if (r[i].query.n != 0 && covers(&r[i], ask->path) &&
		    guard_query(r[i].query, ask->query) == GUARD_QUERY_ODD)
			return true;
	return false;
}

enum guard_match
guard_site_find(const struct pf_settings *s, const struct guard_ask *ask,
    const struct pf_rule **rule)
{
	const struct pf_rule *closed = s->site.closed.v, *r = s->site.rules.v;
	enum guard_match found = GUARD_NO_RULE;

	if (is_odd(&s->site.closed, ask) || is_odd(&s->site.rules, ask))
		return GUARD_ODD_QUERY;
	for (size_t i = 0; i < s->site.closed.n; i++)
		if (names(&closed[i], ask))
			return GUARD_NO_RULE;
	for (size_t i = 0; i < s->site.rules.n; i++) {
		if (!names(&r[i], ask))
			continue;
		if (guard_method_fits(&r[i], ask->method)) {
			*rule = &r[i];
			return GUARD_RULE;
		}
		found = GUARD_NO_METHOD;
	}
	return found;
}
