/* Which rule a request falls under; the walk-arounds. */
#include "core/web/url.h"
#include "fcgi/guard/guard.h"
#include "tests/unit/tap.h"

static const struct pf_str get[] = { PF_LIT_INIT("GET") };
static const struct pf_str change[] = {
	PF_LIT_INIT("POST"), PF_LIT_INIT("GET"), PF_LIT_INIT("DELETE")
};
static const struct pf_rule api_rules[] = {
	{ .path = PF_LIT_INIT("/api/stock.php"), .methods = { get, 1 } },
	{ .path = PF_LIT_INIT("/api/cart"), .methods = { get, 1 } },
	{ .path = PF_LIT_INIT("/api/cart"), .methods = { change, 3 } },
	{ .path = PF_LIT_INIT("/api/open/"), .methods = { get, 1 },
	    .open = true },
};
static const struct pf_rule inner_rules[] = {
	{ .path = PF_LIT_INIT("/api/inner/x"), .methods = { get, 1 } },
};
static const struct pf_guarded guarded[] = {
	{ .prefix = PF_LIT_INIT("/api/"), .rules = { api_rules, 4 } },
	{ .prefix = PF_LIT_INIT("/api/inner/"), .rules = { inner_rules, 1 } },
};

static const struct {
	const char *method, *path;
	enum guard_match want;
	int rule;
} cases[] = {
	{ "GET", "/api/stock.php", GUARD_RULE, 0 },
	{ "HEAD", "/api/stock.php", GUARD_RULE, 0 },
	{ "POST", "/api/stock.php", GUARD_NO_METHOD, 0 },
	{ "get", "/api/stock.php", GUARD_NO_METHOD, 0 },
	{ "GET", "/api/stock.php/", GUARD_NO_RULE, 0 },
	{ "GET", "/api/stock.php/foo", GUARD_NO_RULE, 0 },
	{ "GET", "/api/stock.php;x", GUARD_NO_RULE, 0 },
	{ "GET", "/api/STOCK.php", GUARD_NO_RULE, 0 },
	{ "GET", "/api/stock.ph", GUARD_NO_RULE, 0 },
	{ "GET", "/api/", GUARD_NO_RULE, 0 },
	{ "GET", "/api", GUARD_OUTSIDE, 0 },
	{ "GET", "/API/stock.php", GUARD_OUTSIDE, 0 },
	{ "GET", "/", GUARD_OUTSIDE, 0 },
	{ "GET", "/apis/stock.php", GUARD_OUTSIDE, 0 },
	{ "GET", "/api/cart", GUARD_RULE, 1 },
	{ "POST", "/api/cart", GUARD_RULE, 2 },
	{ "PUT", "/api/cart", GUARD_NO_METHOD, 0 },
	{ "GET", "/api/open/", GUARD_RULE, 3 },
	{ "GET", "/api/open/a/b", GUARD_RULE, 3 },
	{ "GET", "/api/open", GUARD_NO_RULE, 0 },
	{ "GET", "/api/inner/x", GUARD_RULE, -1 },
	{ "GET", "/api/inner/stock.php", GUARD_NO_RULE, 0 },
};

/* What never gets as far as a rule: pf_path_check() or pf_path_decode(). */
static const char *const walks[] = {
	"/%61pi/stock.php", "/api/%73tock.php", "/api//stock.php",
	"/api/./stock.php", "/x/../api/stock.php", "/api/%2e%2e/stock.php",
	"/api%2Fstock.php", "/api%5cstock.php", "/api\\stock.php",
	"/api/stock.php%00", "/api/stock%2Ephp", "/api/stock.php%0a",
	"/api/stock.php%", "/api/stock.php%zz", "/api/%c0%afstock.php",
	"api/stock.php", "", "*",
};

static bool
is_rule(const struct pf_rule *r, int want)
{
	return want < 0 ? r == &inner_rules[0] : r == &api_rules[want];
}

/* Two MCP servers under one path on two hosts, and an API beside. */
static const struct pf_host hosts[] = {
	{ .host = PF_LIT_INIT("a.example"), .base = PF_LIT_INIT("https://a") },
	{ .host = PF_LIT_INIT("b.example"), .base = PF_LIT_INIT("https://b") },
	{ .host = PF_LIT_INIT("also-a"), .base = PF_LIT_INIT("https://a") },
	{ .host = PF_LIT_INIT("c.example"), .base = PF_LIT_INIT("https://c") },
};
static const struct pf_api mcp[] = {
	{ .mcp = true, .host = &hosts[0] }, { .mcp = true, .host = &hosts[1] },
};
static const struct pf_rule mcp_rules[] = {
	{ .path = PF_LIT_INIT("/mcp"), .methods = { change, 1 } },
};
static const struct pf_guarded servers[] = {
	{ .prefix = PF_LIT_INIT("/mcp"), .rules = { mcp_rules, 1 } },
	{ .prefix = PF_LIT_INIT("/mcp"), .entry = &mcp[0],
	    .rules = { mcp_rules, 1 } },
	{ .prefix = PF_LIT_INIT("/mcp"), .entry = &mcp[1],
	    .rules = { mcp_rules, 1 } },
};

static const struct {
	const char *why, *path;
	int host, open, want;	/* of hosts; with an openapi entry; -1 none */
} on_hosts[] = {
	{ "the server of host a", "/mcp", 0, 0, 1 },
	{ "the server of host b", "/mcp", 1, 0, 2 },
	{ "by another name of host a", "/mcp", 2, 0, 1 },
	{ "a host with no server", "/mcp", 3, 0, -1 },
	{ "no host of ours", "/mcp", -1, 0, -1 },
	{ "before an API under the same path", "/mcp", 1, 1, 2 },
	{ "the API on its own host", "/mcp", 3, 1, 0 },
	{ "a slash more", "/mcp/", 0, 1, -1 },
	{ "a longer name", "/mcpx", 0, 1, -1 },
	{ "below it", "/mcp/x", 0, 1, -1 },
	{ "in upper case", "/MCP", 0, 1, -1 },
};

static void
check_hosts(void)
{
	const struct pf_guarded *g;
	const struct pf_rule *r;

	for (size_t i = 0; i < PF_COUNT(on_hosts); i++) {
		size_t from = on_hosts[i].open ? 0 : 1;
		struct pf_settings s = {
			.guard = { servers + from, 3 - from }
		};
		int at = on_hosts[i].host, want = on_hosts[i].want;

		g = NULL;
		struct guard_ask ask = {
			.host = at < 0 ? NULL : &hosts[at],
			.path = pf_str(on_hosts[i].path),
			.method = PF_LIT("POST"),
		};
		tap_is(guard_find(&s, &ask, &g, &r),
		    want < 0 ? GUARD_OUTSIDE : GUARD_RULE, "%s",
		    on_hosts[i].why);
		tap_ok(g == (want < 0 ? NULL : &servers[want]), "by its entry");
	}
}

/* What PHP would read otherwise than we do is odd. */
static const struct {
	const char *rule, *query;
	enum guard_query want;
} queries[] = {
	{ "", NULL, GUARD_QUERY_YES },
	{ "", "anything&route=x", GUARD_QUERY_YES },
	{ "route=account/*", NULL, GUARD_QUERY_NO },
	{ "route=account/*", "", GUARD_QUERY_NO },
	{ "route=account/*", "route", GUARD_QUERY_NO },
	{ "route=account/*", "route=", GUARD_QUERY_NO },
	{ "route=account/*", "route=account/login", GUARD_QUERY_YES },
	{ "route=account/*", "a=b&route=account/login&c", GUARD_QUERY_YES },
	{ "route=account/*", "route=account", GUARD_QUERY_NO },
	{ "route=account/*", "route=accounts/x", GUARD_QUERY_NO },
	{ "route=account/*", "route=Account/x", GUARD_QUERY_NO },
	{ "route=account/*", "Route=account/x", GUARD_QUERY_NO },
	{ "route=account/*", "routes=account/x", GUARD_QUERY_NO },
	{ "route=account/*", "x=route=account/x", GUARD_QUERY_NO },
	{ "route=account/*", "route=x&route=account/x", GUARD_QUERY_ODD },
	{ "route=account/*", "route=account/x&route=y", GUARD_QUERY_ODD },
	{ "route=account/*", "route=account/x&rou%74e=y", GUARD_QUERY_ODD },
	{ "route=account/*", "rou%74e=account/x", GUARD_QUERY_ODD },
	{ "route=account/*", "%20route=account/x", GUARD_QUERY_ODD },
	{ "route=account/*", "++route=account/x", GUARD_QUERY_ODD },
	{ "route=account/*", "route%00x=account/x", GUARD_QUERY_ODD },
	{ "route=account/*", "route[]=account/x", GUARD_QUERY_ODD },
	{ "route=account/*", "route%5Ba%5D=account/x", GUARD_QUERY_ODD },
	{ "route=account/*", "route=account%2fx", GUARD_QUERY_ODD },
	{ "route=account/*", "route=%61ccount/x", GUARD_QUERY_ODD },
	{ "route=account/*", "route=account/x+y", GUARD_QUERY_ODD },
	{ "route=account/*", "route=account/%", GUARD_QUERY_ODD },
	{ "route=account/*", "route=account/../x", GUARD_QUERY_ODD },
	{ "route=account/*", "route=x/../account/y", GUARD_QUERY_ODD },
	{ "route=account/*", "route=account//x", GUARD_QUERY_ODD },
	{ "route=account/*", "route=/account/x", GUARD_QUERY_ODD },
	{ "route=account/*", "route=account/", GUARD_QUERY_ODD },
	{ "route=account/*", "route=account/.", GUARD_QUERY_ODD },
	{ "route=account/*", "route=account\\x", GUARD_QUERY_ODD },
	{ "my_page=a", "my_page=a", GUARD_QUERY_YES },
	{ "my_page=a", "my_page=ab", GUARD_QUERY_NO },
	{ "my_page=a", "my.page=a", GUARD_QUERY_ODD },
	{ "my_page=a", "my+page=a", GUARD_QUERY_ODD },
	{ "my_page=a", "my[page=a", GUARD_QUERY_ODD },
	{ "my_page=a", "my_page=a&my%2Epage=b", GUARD_QUERY_ODD },
};

static void
check_queries(void)
{
	for (size_t i = 0; i < PF_COUNT(queries); i++)
		tap_is(guard_query(pf_str(queries[i].rule),
		    pf_str(queries[i].query)), queries[i].want, "%s: ?%s",
		    queries[i].rule, queries[i].query != NULL ?
		    queries[i].query : "(none)");
}

/* Several rules of one path; the open one first, as a careless operator has
 * it. */
static void
check_routed(void)
{
	static const struct pf_rule rules[] = {
		{ .path = PF_LIT_INIT("/r/i.php"), .methods = { get, 1 },
		    .query = PF_LIT_INIT("route=open/*"), .open = true },
		{ .path = PF_LIT_INIT("/r/i.php"), .methods = { change, 3 },
		    .query = PF_LIT_INIT("route=account/*"),
		    .signed_in = true },
	};
	static const struct pf_guarded routed[] = {
		{ .prefix = PF_LIT_INIT("/r/"), .rules = { rules, 2 } },
	};
	static const struct {
		const char *query;
		enum guard_match want;
		int rule;
	} asks[] = {
		{ "route=open/a", GUARD_RULE, 0 },
		{ "route=account/a", GUARD_RULE, 1 },
		{ "route=other", GUARD_NO_RULE, 0 },
		{ "", GUARD_NO_RULE, 0 },
		{ "route=open/a&route=account/a", GUARD_ODD_QUERY, 0 },
		{ "route=open/a&rout%65=account/a", GUARD_ODD_QUERY, 0 },
	};
	struct pf_settings s = { .guard = { routed, 1 } };
	struct guard_ask ask = {
		.path = PF_LIT("/r/i.php"), .method = PF_LIT("GET")
	};
	const struct pf_guarded *g;
	const struct pf_rule *r;

	for (size_t i = 0; i < PF_COUNT(asks); i++) {
		r = NULL;
		ask.query = pf_str(asks[i].query);
		tap_is(guard_find(&s, &ask, &g, &r), asks[i].want,
		    "by path and query: %s", asks[i].query);
		if (asks[i].want == GUARD_RULE)
			tap_ok(r == &rules[asks[i].rule], "its rule");
	}
}

int
main(void)
{
	struct pf_settings s = { .guard = { guarded, PF_COUNT(guarded) } };
	struct guard_ask ask = { .query = PF_NOSTR };
	const struct pf_guarded *g;
	const struct pf_rule *r;
	struct pf_str plain;
	struct pf_arena a;
	struct pf_buf b;

	tap_need(pf_arena_init(&a, 4096, 1 << 16) == PF_OK, "memory");
	for (size_t i = 0; i < PF_COUNT(cases); i++) {
		r = NULL;
		ask.path = pf_str(cases[i].path);
		ask.method = pf_str(cases[i].method);
		tap_is(guard_find(&s, &ask, &g, &r), cases[i].want, "%s %s",
		    cases[i].method, cases[i].path);
		if (cases[i].want == GUARD_RULE)
			tap_ok(is_rule(r, cases[i].rule), "by its own rule");
	}
	for (size_t i = 0; i < PF_COUNT(walks); i++)
		tap_ok(pf_path_check(pf_str(walks[i])) != PF_OK ||
		    pf_path_decode(&a, pf_str(walks[i]), &plain) != PF_OK,
		    "refused before any rule: %s", walks[i]);
	check_hosts();
	check_queries();
	check_routed();
	pf_buf_init(&b, &a, 256);
	ask.path = PF_LIT("/api/cart");
	guard_methods(&b, &guarded[0], &ask);
	tap_is_z(pf_buf_str(&b), "GET, POST, DELETE", "each method once");
	pf_arena_free(&a);
	return tap_done();
}
