#include "fcgi/guard/guard.h"

static bool
path_matches(const struct pf_rule *r, struct pf_str path)
{
	return pf_str_ends(r->path, PF_LIT("/")) ?
	    pf_str_starts(path, r->path) : pf_str_eq(path, r->path);
}

static bool
names(const struct pf_rule *r, const struct guard_ask *ask)
{
	return path_matches(r, ask->path) &&
	    guard_query(r->query, ask->query) == GUARD_QUERY_YES;
}

/* Is the query odd to any rule of the path? Then no rule may decide, for one
 * that looks at less would let through what another one shuts. */
static bool
is_odd(const struct pf_guarded *g, const struct guard_ask *ask)
{
	const struct pf_rule *r = g->rules.v;

	for (size_t i = 0; i < g->rules.n; i++)
		if (r[i].query.n != 0 && path_matches(&r[i], ask->path) &&
		    guard_query(r[i].query, ask->query) == GUARD_QUERY_ODD)
			return true;
	return false;
}

bool
guard_method_fits(const struct pf_rule *r, struct pf_str method)
{
	bool head = pf_str_eqz(method, "HEAD");

	for (size_t i = 0; i < r->methods.n; i++)
		if (pf_str_eq(r->methods.v[i], method) ||
		    (head && pf_str_eqz(r->methods.v[i], "GET")))
			return true;
	return false;
}

/* An MCP server is on the host of its url alone. Several names may lead to one
 * host, so its public URL says which. */
static bool
host_matches(const struct pf_guarded *g, const struct pf_host *host)
{
	if (g->entry == NULL || !g->entry->mcp)
		return true;
	return host != NULL && pf_str_eq(g->entry->host->base, host->base);
}

static bool
goes_before(const struct pf_guarded *g, const struct pf_guarded *best)
{
	if (best == NULL || g->prefix.n != best->prefix.n)
		return best == NULL || g->prefix.n > best->prefix.n;
	return g->entry != NULL && g->entry->mcp &&
	    (best->entry == NULL || !best->entry->mcp);
}

static const struct pf_guarded *
covering(const struct pf_settings *s, const struct pf_host *host,
    struct pf_str path)
{
	const struct pf_guarded *g = s->guard.v, *best = NULL;

	for (size_t i = 0; i < s->guard.n; i++)
		if (pf_guarded_covers(&g[i], path) &&
		    host_matches(&g[i], host) && goes_before(&g[i], best))
			best = &g[i];
	return best;
}

enum guard_match
guard_find(const struct pf_settings *s, const struct guard_ask *ask,
    const struct pf_guarded **guarded, const struct pf_rule **rule)
{
	enum guard_match found = GUARD_NO_RULE;
	const struct pf_rule *r;

	if ((*guarded = covering(s, ask->host, ask->path)) == NULL)
		return GUARD_OUTSIDE;
	if (is_odd(*guarded, ask))
		return GUARD_ODD_QUERY;
	r = (*guarded)->rules.v;
	for (size_t i = 0; i < (*guarded)->rules.n; i++) {
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

static bool
named_before(const struct pf_rule *r, const struct pf_rule *end, size_t at,
    const struct guard_ask *ask)
{
	struct pf_str method = end->methods.v[at];

	for (; r <= end; r++) {
		size_t n = r == end ? at : r->methods.n;

		for (size_t i = 0; i < n; i++)
			if (names(r, ask) &&
			    pf_str_eq(r->methods.v[i], method))
				return true;
	}
	return false;
}

void
guard_methods(struct pf_buf *b, const struct pf_guarded *guarded,
    const struct guard_ask *ask)
{
	const struct pf_rule *first = guarded->rules.v;

	for (size_t i = 0; i < guarded->rules.n; i++) {
		const struct pf_rule *r = &first[i];

		for (size_t k = 0; names(r, ask) && k < r->methods.n; k++) {
			if (named_before(first, r, k, ask))
				continue;
			if (b->n != 0)
				pf_buf_addz(b, ", ");
			pf_buf_add(b, r->methods.v[k]);
		}
	}
}
