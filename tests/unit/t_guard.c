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

int
main(void)
{
	struct pf_settings s = { .guard = { guarded, PF_COUNT(guarded) } };
	const struct pf_guarded *g;
	const struct pf_rule *r;
	struct pf_str plain;
	struct pf_arena a;
	struct pf_buf b;

	tap_need(pf_arena_init(&a, 4096, 1 << 16) == PF_OK, "memory");
	for (size_t i = 0; i < PF_COUNT(cases); i++) {
		r = NULL;
		tap_is(guard_find(&s, pf_str(cases[i].path),
		    pf_str(cases[i].method), &g, &r), cases[i].want, "%s %s",
		    cases[i].method, cases[i].path);
		if (cases[i].want == GUARD_RULE)
			tap_ok(is_rule(r, cases[i].rule), "by its own rule");
	}
	for (size_t i = 0; i < PF_COUNT(walks); i++)
		tap_ok(pf_path_check(pf_str(walks[i])) != PF_OK ||
		    pf_path_decode(&a, pf_str(walks[i]), &plain) != PF_OK,
		    "refused before any rule: %s", walks[i]);
	pf_buf_init(&b, &a, 256);
	guard_methods(&b, &guarded[0], PF_LIT("/api/cart"));
	tap_is_z(pf_buf_str(&b), "GET, POST, DELETE", "each method once");
	pf_arena_free(&a);
	return tap_done();
}
