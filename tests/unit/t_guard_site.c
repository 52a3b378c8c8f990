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
	{ .path = PF_LIT_INIT("/account/"), .methods = { get, 1 },
	    .signed_in = true },
	{ .path = PF_LIT_INIT("/shop/index.php"), .methods = { get, 1 },
	    .signed_in = true },
	{ .path = PF_LIT_INIT("/index.php"), .methods = { get, 1 },
	    .query = PF_LIT_INIT("route=account/order") },
	{ .path = PF_LIT_INIT("/"), .methods = { get, 1 } },
};
static const struct pf_settings set = {
	.site = { .closed = { closed, PF_COUNT(closed) },
	    .rules = { rules, PF_COUNT(rules) } },
};

static const struct {
	const char *method, *path, *query;
	enum guard_match want;
	int rule;
} cases[] = {
	{ "GET", "/", NULL, GUARD_RULE, 6 },
	{ "HEAD", "/", NULL, GUARD_RULE, 6 },
	{ "POST", "/", NULL, GUARD_NO_METHOD, 0 },
	{ "get", "/", NULL, GUARD_NO_METHOD, 0 },
	{ "GET", "/style.css", NULL, GUARD_RULE, 0 },
	{ "GET", "/style.cssx", NULL, GUARD_RULE, 6 },
	{ "GET", "/orders.php", NULL, GUARD_RULE, 1 },
	{ "POST", "/orders.php", NULL, GUARD_RULE, 2 },
	{ "PUT", "/orders.php", NULL, GUARD_NO_METHOD, 0 },
	/* PATH_INFO: the same script */
	{ "GET", "/orders.php/x", NULL, GUARD_RULE, 1 },
	{ "GET", "/orders.php/", NULL, GUARD_RULE, 1 },
	{ "POST", "/orders.php/style.css", NULL, GUARD_NO_METHOD, 0 },
	{ "GET", "/orders.phpx", NULL, GUARD_RULE, 6 },
	{ "GET", "/orders.php;x", NULL, GUARD_RULE, 6 },
	{ "GET", "/ORDERS.PHP", NULL, GUARD_RULE, 6 },
	{ "POST", "/ORDERS.PHP", NULL, GUARD_NO_METHOD, 0 },
	{ "POST", "/orders", NULL, GUARD_NO_METHOD, 0 },
	{ "POST", "/orders.php/account/", NULL, GUARD_NO_METHOD, 0 },
	{ "POST", "/orders.php/orders.php", NULL, GUARD_RULE, 2 },
	{ "GET", "/login.php", NULL, GUARD_NO_RULE, 0 },
	{ "POST", "/login.php", NULL, GUARD_NO_RULE, 0 },
	{ "HEAD", "/login.php", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/login.php", "next=%2F", GUARD_NO_RULE, 0 },
	{ "GET", "/login.php/", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/login.php/style.css", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/loginx", NULL, GUARD_RULE, 6 },
	{ "GET", "/log", NULL, GUARD_RULE, 6 },
	{ "GET", "/x/login.php", NULL, GUARD_RULE, 6 },
	/* what is closed may have other names still */
	{ "GET", "/login", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/login/", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/Login.php", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/LOGIN.PHP/x", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/login.php;x", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/login?x", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/login#x", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/index.php/login", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/index.php/login.php", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/a/INDEX.PHP/Login.php/x", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/a.php/b.php/admin", NULL, GUARD_NO_RULE, 0 },
	{ "POST", "/orders.php/admin/x", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/admin.php", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/style.css/login.php", NULL, GUARD_RULE, 0 },
	{ "GET", "/.php/x", NULL, GUARD_RULE, 6 },
	{ "GET", "/php/login.php", NULL, GUARD_RULE, 6 },
	{ "GET", "/admin/", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/admin", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/admin/users/1", NULL, GUARD_NO_RULE, 0 },
	{ "GET", "/administer", NULL, GUARD_RULE, 6 },
	{ "GET", "/index.php", NULL, GUARD_RULE, 6 },
	{ "GET", "/index.php", "route=account/order", GUARD_RULE, 5 },
	{ "GET", "/index.php/x", "route=account/order", GUARD_RULE, 5 },
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
	/* which script a folder runs is for the web server to say */
	{ "GET", "/", "route=account/password", GUARD_NO_RULE, 0 },
	{ "GET", "/", "route=x&route=y", GUARD_ODD_QUERY, 0 },
	{ "GET", "/", "route=account/order", GUARD_RULE, 6 },
	{ "GET", "/index", "route=account/password", GUARD_NO_RULE, 0 },
	{ "GET", "/INDEX.php", "route=account/password", GUARD_NO_RULE, 0 },
	{ "GET", "/x/", "route=account/password", GUARD_RULE, 6 },
};

/* Rules that a page falls under by another name demand what they demand of it;
 * what lets it through comes last. */
static const struct {
	const char *path;
	int want[3], n;
} demands[] = {
	{ "/", { 6 }, 1 },
	{ "/account/x", { 3 }, 1 },
	{ "/Account/x", { 3, 6 }, 2 },
	{ "/ACCOUNT", { 3, 6 }, 2 },
	{ "/account.php", { 3, 6 }, 2 },
	{ "/account;x/y", { 3, 6 }, 2 },
	{ "/index.php/account/x", { 3, 6 }, 2 },
	{ "/help.php/account", { 3, 6 }, 2 },
	{ "/accounts", { 6 }, 1 },
	{ "/x/account/", { 6 }, 1 },
	{ "/orders", { 1, 6 }, 2 },
	{ "/orders.php/style.css", { 0, 1 }, 2 },
	{ "/orders.php/account/style.css", { 3, 1 }, 2 },
	{ "/style.css/x", { 0 }, 1 },
	{ "/style.css/x.php/account", { 3, 0 }, 2 },
	{ "/shop/index.php", { 4 }, 1 },
	{ "/shop/index.php/a", { 4 }, 1 },
	{ "/shop/", { 4, 6 }, 2 },
	{ "/Shop/", { 4, 6 }, 2 },
	{ "/shop/index", { 4, 6 }, 2 },
	{ "/shop/x", { 6 }, 1 },
};

static void
check_demands(size_t i)
{
	const struct pf_rule *r = NULL, *one = NULL;
	const struct guard_ask ask = {
		.path = pf_str(demands[i].path), .method = PF_LIT("GET"),
	};
	int n = 0;

	tap_is(guard_site_find(&set, &ask, &r), GUARD_RULE, "%s",
	    demands[i].path);
	while ((one = guard_site_next(&set, &ask, r, one)) != NULL) {
		tap_ok(n < demands[i].n && one == &rules[demands[i].want[n]],
		    "%s: rule %d", demands[i].path, (int)(one - rules));
		n++;
	}
	tap_is(n, demands[i].n, "%s: all", demands[i].path);
}

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
	for (size_t i = 0; i < PF_COUNT(demands); i++)
		check_demands(i);
	check_none();
	return tap_done();
}
