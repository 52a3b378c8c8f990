/* What a page of the shop needs of a browser that has joined a Session; the
 * walk-arounds. */
#include "core/web/url.h"
#include "fcgi/guard/guard.h"
#include "tests/unit/tap.h"

static const struct pf_str get[] = { PF_LIT_INIT("GET") };
static const struct pf_str post[] = { PF_LIT_INIT("POST") };
static const struct pf_rule closed[] = {
	{ .path = PF_LIT_INIT("/login.php") },
	{ .path = PF_LIT_INIT("/admin/") },
	{ .path = PF_LIT_INIT("/index.php"),
	    .query = PF_LIT_INIT("route=account/password*") },
};
static const struct pf_rule rules[] = {
	{ .path = PF_LIT_INIT("/style.css"), .methods = { get, 1 },
	    .open = true },
	{ .path = PF_LIT_INIT("/orders.php"), .methods = { get, 1 } },
	{ .path = PF_LIT_INIT("/orders.php"), .methods = { post, 1 } },
	{ .path = PF_LIT_INIT("/index.php"), .methods = { get, 1 },
	    .query = PF_LIT_INIT("route=account/order") },
	{ .path = PF_LIT_INIT("/"), .methods = { get, 1 } },
};
static const struct pf_settings set = {
	.site = { .closed = { closed, 3 }, .rules = { rules, 5 } },
};

static const struct {
	const char *method, *path, *query;
	enum guard_match want;
	int rule;
} cases[] = {
	{ "GET", "/", NULL, GUARD_RULE, 4 },
	{ "HEAD", "/", NULL, GUARD_RULE, 4 },
	{ "POST", "/", NULL, GUARD_NO_METHOD, 0 },
	{ "get", "/", NULL, GUARD_NO_METHOD, 0 },
	{ "GET", "/style.css", NULL, GUARD_RULE, 0 },
	{ "GET", "/style.cssx", NULL, GUARD_RULE, 4 },
	{ "GET", "/orders.php", NULL, GUARD_RULE, 1 },
	{ "POST", "/orders.php", NULL, GUARD_RULE, 2 },
	{ "PUT", "/orders.php", NULL, GUARD_NO_METHOD, 0 },
	/* PATH_INFO: the same script */
	{ "GET", "/orders.php/x", NULL, GUARD_RULE, 1 },
	{ "GET", "/orders.php/", NULL, GUARD_RULE, 1 },
	{ "POST", "/orders.php/style.css", NULL, GUARD_RULE, 2 },
	{ "GET", "/orders.phpx", NULL, GUARD_RULE, 4 },
	{ "GET", "/orders.php;x", NULL, GUARD_RULE, 4 },
	{ "GET", "/ORDERS.PHP", NULL, GUARD_RULE, 4 },
	{ "GET", "/login.php", NULL, GUARD_NO_RULE, 0 },
	{ "POST", "/login.php", NULL, GUARD_NO_RULE, 0 },
	{ "HEAD", "/login.php", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/login.php", "next=%2F", GUARD_NO_RULE, 0 },
	{ "GET", "/login.php/", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/login.php/style.css", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/login", NULL, GUARD_RULE, 4 },
	{ "GET", "/admin/", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/admin", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/admin/users/1", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/administer", NULL, GUARD_RULE, 4 },
	{ "GET", "/index.php", NULL, GUARD_RULE, 4 },
	{ "GET", "/index.php", "route=account/order", GUARD_RULE, 3 },
	{ "GET", "/index.php/x", "route=account/order", GUARD_RULE, 3 },
	{ "GET", "/index.php", "route=account/password", GUARD_NO_RULE, 0 },
	{ "GET", "/index.php", "a=1&route=account/password/x", GUARD_NO_RULE,
	    0 },
	{ "GET", "/index.php/x", "route=account/password", GUARD_NO_RULE, 0 },
	{ "GET", "/index.php", "route=x&route=account/password",
	    GUARD_ODD_QUERY, 0 },
	{ "GET", "/index.php", "rout%65=account/password", GUARD_ODD_QUERY,
	    0 },
	{ "GET", "/index.php", "route[]=account/password", GUARD_ODD_QUERY,
	    0 },
	{ "GET", "/index.php", "route=account/%70assword", GUARD_ODD_QUERY,
	    0 },
	{ "GET", "/", "route=account/password", GUARD_RULE, 4 },
};

static void
check(size_t i)
{
	const struct pf_rule *r = NULL;
	const struct guard_ask ask = {
		.path = pf_str(cases[i].path),
		.query = cases[i].query == NULL ? PF_NOSTR :
		    pf_str(cases[i].query),
		.method = pf_str(cases[i].method),
	};

	tap_is(guard_site_find(&set, &ask, &r), cases[i].want, "%s %s?%s",
	    cases[i].method, cases[i].path,
	    cases[i].query == NULL ? "" : cases[i].query);
	if (cases[i].want == GUARD_RULE)
		tap_ok(r == &rules[cases[i].rule], "by rule %d",
		    cases[i].rule);
}

/* Without any rule everything is closed, and nothing is read past a name. */
static void
check_none(void)
{
	const struct pf_settings none = { .browser = { .enabled = true } };
	const struct pf_rule *r = NULL;
	const struct guard_ask ask = {
		.path = PF_LIT("/"), .method = PF_LIT("GET"),
	};

	tap_is(guard_site_find(&none, &ask, &r), GUARD_NO_RULE, "no rules");
}

int
main(void)
{
	for (size_t i = 0; i < PF_COUNT(cases); i++)
		check(i);
	check_none();
	return tap_done();
}
