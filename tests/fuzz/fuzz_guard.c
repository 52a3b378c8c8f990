/*
 * What the guard lets through: a line with the method, then the request's path
 * and query. Whatever was written, the rule that decides is one of the path as
 * PHP will see it, and of the query as PHP will read it.
 */
#include "config.h"

#include <string.h>

#include "core/web/url.h"
#include "fcgi/guard/guard.h"
#include "tests/fuzz/fuzz.h"

#define STRS(...)	{ (struct pf_str[]){ __VA_ARGS__ },		\
	sizeof((struct pf_str[]){ __VA_ARGS__ }) / sizeof(struct pf_str) }
#define GET	STRS(PF_LIT_INIT("GET"))
#define BOTH	STRS(PF_LIT_INIT("GET"), PF_LIT_INIT("POST"))

static struct pf_rule api_rules[] = {
	{ .path = PF_LIT_INIT("/api/stock.php"), .methods = GET },
	{ .path = PF_LIT_INIT("/api/stock.php"),
	    .methods = STRS(PF_LIT_INIT("DELETE")), .signed_in = true },
	{ .path = PF_LIT_INIT("/api/all/"), .methods = BOTH },
};
static struct pf_rule deep_rules[] = {
	{ .path = PF_LIT_INIT("/api/deep/x"), .methods = BOTH },
};
static struct pf_rule shop_rules[] = {
	{ .path = PF_LIT_INIT("/index.php"), .methods = BOTH,
	    .query = PF_LIT_INIT("route=account/*") },
	{ .path = PF_LIT_INIT("/index.php"), .methods = GET,
	    .query = PF_LIT_INIT("route=open") },
	{ .path = PF_LIT_INIT("/index.php"), .methods = GET,
	    .query = PF_LIT_INIT("a_b-c=1*") },
};
static struct pf_guarded guarded[] = {
	{ .prefix = PF_LIT_INIT("/api/"),
	    .rules = { api_rules, PF_COUNT(api_rules) } },
	{ .prefix = PF_LIT_INIT("/api/deep/"),
	    .rules = { deep_rules, PF_COUNT(deep_rules) } },
	{ .prefix = PF_LIT_INIT("/index.php"),
	    .rules = { shop_rules, PF_COUNT(shop_rules) } },
};
static struct pf_rule closed[] = {
	{ .path = PF_LIT_INIT("/api/stock.php") },
	{ .path = PF_LIT_INIT("/api/all/deep/") },
	{ .path = PF_LIT_INIT("/index.php"),
	    .query = PF_LIT_INIT("route=account/*") },
};
static struct pf_rule site_rules[] = {
	{ .path = PF_LIT_INIT("/index.php"), .methods = BOTH },
	{ .path = PF_LIT_INIT("/api/all"), .methods = BOTH,
	    .signed_in = true },
	{ .path = PF_LIT_INIT("/"), .methods = GET },
};
static const struct pf_settings set = {
	.guard = { guarded, PF_COUNT(guarded) },
	.site = { .closed = { closed, PF_COUNT(closed) },
	    .rules = { site_rules, PF_COUNT(site_rules) } },
};

/* '+' and %XX undone; what is no escape stays. */
static struct pf_str
php_decode(struct pf_str s)
{
	struct pf_buf b;

	pf_buf_init(&b, &fuzz_arena, s.n + 1);
	for (size_t i = 0; i < s.n; i++) {
		int c = pf_url_percent(s, i);

		pf_buf_char(&b, c >= 0 ? (char)c : s.p[i] == '+' ? ' ' :
		    s.p[i]);
		i += c >= 0 ? 2 : 0;
	}
	return pf_buf_str(&b);
}

/*
 * php_register_variable_ex() of PHP 8.2: the variable that a raw name fills,
 * and whether as an array. A '[' without its ']' is made '_'; so are all spaces
 * and dots here, even where PHP leaves some, which takes more names for ours.
 */
static struct pf_str
php_name(struct pf_str raw, bool *array)
{
	struct pf_str s = php_decode(raw), name;
	size_t open;
	char *p;

	s = pf_str_head(s, pf_str_find(s, '\0'));
	while (pf_str_starts(s, PF_LIT(" ")))
		s = pf_str_from(s, 1);
	open = pf_str_find(s, '[');
	*array = open > 0 && open < s.n &&
	    pf_str_has(pf_str_from(s, open), ']');
	name = pf_arena_copy(&fuzz_arena, *array ? pf_str_head(s, open) : s);
	p = (char *)(uintptr_t)name.p;
	for (size_t i = 0; i < name.n; i++)
		if (strchr(" .[", p[i]) != NULL)
			p[i] = '_';
	return name;
}

/* $_GET[name]: the last one wins. False: not there, or an array. */
static bool
php_get(struct pf_str query, struct pf_str name, struct pf_str *value)
{
	struct pf_str rest = query, one;
	bool array, found = false;

	while (pf_str_cut(&rest, '&', &one)) {
		size_t eq = pf_str_find(one, '=');

		if (!pf_str_eq(php_name(pf_str_head(one, eq), &array), name))
			continue;
		found = !array;
		*value = php_decode(pf_str_from(one, eq + 1));
	}
	return found;
}

static void
check_query(struct pf_str rule, struct pf_str query)
{
	size_t n = pf_str_find(rule, '=');
	struct pf_str want = pf_str_from(rule, n + 1), value = PF_NOSTR;
	enum guard_query said = guard_query(rule, query);
	bool is, start = pf_str_ends(want, PF_LIT("*"));

	is = php_get(query, pf_str_head(rule, n), &value) && (start ?
	    pf_str_starts(value, pf_str_head(want, want.n - 1)) :
	    pf_str_eq(value, want));
	FUZZ_HOLDS(said != GUARD_QUERY_YES || is);
	FUZZ_HOLDS(said != GUARD_QUERY_NO || !is);
}

/* GET stands for HEAD in rules. */
static bool
has_method(const struct pf_rule *r, struct pf_str method)
{
	if (pf_str_eqz(method, "HEAD"))
		method = PF_LIT("GET");
	for (size_t i = 0; i < r->methods.n; i++)
		if (pf_str_eq(r->methods.v[i], method))
			return true;
	return false;
}

static bool
has(struct pf_str s, const char *what)
{
	for (; s.n > 0; s = pf_str_from(s, 1))
		if (pf_str_starts(s, pf_str(what)))
			return true;
	return false;
}

static void
check_rule(const struct guard_ask *ask, const struct pf_guarded *g,
    const struct pf_rule *r)
{
	const struct pf_rule *first = g->rules.v;

	FUZZ_HOLDS(r >= first && r < first + g->rules.n);
	FUZZ_HOLDS(pf_str_starts(ask->path, g->prefix));
	FUZZ_HOLDS(pf_str_ends(r->path, PF_LIT("/")) ?
	    pf_str_starts(ask->path, r->path) : pf_str_eq(ask->path, r->path));
	FUZZ_HOLDS(has_method(r, ask->method));
	/* Nothing that the web server or PHP could walk up or down by. */
	FUZZ_HOLDS(!pf_str_has(ask->path, '\\') && !pf_str_has(ask->path, '\0'));
	FUZZ_HOLDS(!has(ask->path, "//") && !has(ask->path, "/../") &&
	    !has(ask->path, "/./"));
	if (pf_str_starts(ask->path, PF_LIT("/api/deep/")))
		FUZZ_HOLDS(g == &guarded[1]);
	/* No rule before it names the request. */
	for (; first < r; first++)
		FUZZ_HOLDS(!pf_str_eq(first->path, r->path) ||
		    !has_method(first, ask->method) ||
		    guard_query(first->query, ask->query) == GUARD_QUERY_NO);
}

static void
check_methods(const struct guard_ask *ask, const struct pf_guarded *g)
{
	struct pf_str text;
	struct pf_buf b;

	pf_buf_init(&b, &fuzz_arena, 256);
	guard_methods(&b, g, ask);
	FUZZ_HOLDS(pf_buf_done(&b, &text) == PF_OK && text.n >= 3);
	FUZZ_HOLDS(!pf_str_eq(text, ask->method));
}

/* Does PHP run the script, or is it the folder or something in it? */
static bool
is_at(struct pf_str path, const char *at)
{
	return pf_str_starts(path, pf_str(at)) && (path.n == strlen(at) ||
	    path.p[strlen(at)] == '/');
}

/* Does a script's name or a slash stand before it, in whatever letters? */
static bool
is_below(struct pf_str path, const char *at)
{
	const struct pf_str name = pf_str(at), php = PF_LIT(".php");

	for (size_t i = 0; i + name.n <= path.n; i++)
		if (pf_str_eq_nocase(pf_str_head(pf_str_from(path, i), name.n),
		    name) && (i == 0 || (i >= php.n && pf_str_eq_nocase(
		    pf_str_head(pf_str_from(path, i - php.n), php.n), php))) &&
		    (i + name.n == path.n || path.p[i + name.n] == '/'))
			return true;
	return false;
}

/* Does one of the rules that a page needs to pass ask for a sign-in? */
static bool
asks_sign_in(const struct guard_ask *ask, const struct pf_rule *rule)
{
	const struct pf_rule *r = NULL, *last = NULL;
	bool asks = false;
	size_t n = 0;

	while ((r = guard_site_next(&set, ask, rule, r)) != NULL) {
		FUZZ_HOLDS(++n <= PF_COUNT(site_rules));
		FUZZ_HOLDS(has_method(r, ask->method));
		asks = asks || r->signed_in;
		last = r;
	}
	FUZZ_HOLDS(last == rule);
	return asks;
}

/* To a browser that has joined a Session: what is closed is closed under each
 * of its names, and what needs a sign-in doesn't go by another rule. */
static void
check_site(const struct guard_ask *ask)
{
	const struct pf_rule *r = NULL;
	struct pf_str route = PF_NOSTR;
	enum guard_match found = guard_site_find(&set, ask, &r);

	FUZZ_HOLDS((found == GUARD_RULE) == (r != NULL));
	if (found != GUARD_RULE)
		return;
	FUZZ_HOLDS(has_method(r, ask->method));
	FUZZ_HOLDS(!is_below(ask->path, "/api/stock.php") &&
	    !is_below(ask->path, "/api/stock") &&
	    !is_below(ask->path, "/api/all/deep"));
	FUZZ_HOLDS(!is_below(ask->path, "/api/all") || asks_sign_in(ask, r));
	FUZZ_HOLDS(is_at(ask->path, "/api/all") == (r == &site_rules[1]));
	FUZZ_HOLDS(is_at(ask->path, "/index.php") == (r == &site_rules[0]));
	if ((r == &site_rules[0] || pf_str_eqz(ask->path, "/")) &&
	    php_get(ask->query, PF_LIT("route"), &route))
		FUZZ_HOLDS(!pf_str_starts(route, PF_LIT("account/")));
}

bool
fuzz_one(struct pf_str in)
{
	struct guard_ask ask = { .host = NULL };
	const struct pf_guarded *g = NULL;
	const struct pf_rule *r = NULL;
	struct pf_str rest = in, raw;
	enum guard_match found;
	size_t mark;

	if (!pf_str_cut(&rest, '\n', &ask.method))
		return false;
	mark = pf_str_find(rest, '?');
	raw = pf_str_head(rest, mark);
	ask.query = mark < rest.n ? pf_str_from(rest, mark + 1) : PF_NOSTR;
	for (size_t i = 0; i < PF_COUNT(shop_rules); i++)
		check_query(shop_rules[i].query, ask.query);
	if (pf_path_check(raw) != PF_OK ||
	    pf_path_decode(&fuzz_arena, raw, &ask.path) != PF_OK)
		return false;
	check_site(&ask);
	found = guard_find(&set, &ask, &g, &r);
	FUZZ_HOLDS((found == GUARD_OUTSIDE) == (g == NULL));
	FUZZ_HOLDS((found == GUARD_RULE) == (r != NULL));
	if (found == GUARD_RULE)
		check_rule(&ask, g, r);
	if (found == GUARD_NO_METHOD)
		check_methods(&ask, g);
	return found == GUARD_RULE;
}
