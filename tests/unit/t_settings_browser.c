/*
 * Settings of web browsing: what is refused and why, and what is made of them.
 */
#include "config.h"

#include <unistd.h>

#include "core/poppy/settings.h"
#include "tests/unit/tap.h"

#define HOST(h, b, d)	"{ \"host\": \"" h "\", \"base\": \"https://" b \
			"\", \"domain\": \"" d "\" }"
#define HOSTS(list)	"\"hosts\": [" list "],\n"
#define ONE	HOSTS(HOST("shop.example", "shop.example", "shop.example"))
#define TWO	HOSTS(HOST("shop.example", "shop.example", "shop.example") "," \
		HOST("www.shop.example", "www.shop.example", "shop.example"))
#define ISSUER	"\"issuer\": \"https://shop.example\",\n"
#define REST	"\"organization\": { \"name\": \"Shop\" },\n" \
	"\"database\": { \"conninfo\": \"dbname=x\" }\n"
#define BROWSER(more)	"\"browser\": { \"enabled\": true" more " },\n"
#define SITE(rules)	"\"site\": { \"rules\": [" rules "] },\n"
#define PAGES	SITE("{ \"path\": \"/\" }")
#define DOMAIN(d)	", \"cookie\": \"__Secure-poppy\", \"domain\": \"" d "\""

static const struct { const char *why, *text, *key; long line; } bad[] = {
	{ "no Sessions", "{ \"issuer\": \"\",\n" ONE BROWSER("") PAGES REST "}",
	    "browser.enabled", 3 },
	{ "agents that are not told", "{" ISSUER ONE "\"web\": false,\n"
	    "\"apis\": [{ \"type\": \"openapi\", \"url\": "
	    "\"https://shop.example/o\", \"description\": \"d\" }],\n"
	    BROWSER("") PAGES REST "}", "browser.enabled", 5 },
	{ "no rules for pages", "{" ISSUER ONE BROWSER("") REST "}",
	    "site.rules", 0 },
	{ "an empty list of rules", "{" ISSUER ONE BROWSER("") SITE("") REST
	    "}", "site.rules", 4 },
	{ "rules without browsers", "{" ISSUER ONE PAGES REST "}", "site", 3 },
	{ "closed pages without browsers", "{" ISSUER ONE
	    "\"site\": { \"closed\": [{ \"path\": \"/x\" }] },\n" REST "}",
	    "site", 3 },
	{ "a cookie that any host may set", "{" ISSUER ONE
	    BROWSER(", \"cookie\": \"poppy\"") PAGES REST "}",
	    "browser.cookie", 3 },
	{ "a cookie with the prefix alone", "{" ISSUER ONE
	    BROWSER(", \"cookie\": \"__Host-\"") PAGES REST "}",
	    "browser.cookie", 3 },
	{ "a prefix in small letters", "{" ISSUER ONE
	    BROWSER(", \"cookie\": \"__host-poppy\"") PAGES REST "}",
	    "browser.cookie", 3 },
	{ "a host-only cookie with the weaker prefix", "{" ISSUER ONE
	    BROWSER(", \"cookie\": \"__Secure-poppy\"") PAGES REST "}",
	    "browser.cookie", 3 },
	{ "a domain with a host-only prefix", "{" ISSUER TWO
	    BROWSER(", \"domain\": \"shop.example\"") PAGES REST "}",
	    "browser.cookie", 3 },
	{ "a cookie that ends a header", "{" ISSUER ONE
	    BROWSER(", \"cookie\": \"__Host-a; x\"") PAGES REST "}",
	    "browser.cookie", 3 },
	{ "a cookie with an equals sign", "{" ISSUER ONE
	    BROWSER(", \"cookie\": \"__Host-a=b\"") PAGES REST "}",
	    "browser.cookie", 3 },
	{ "a cookie that is a pattern", "{" ISSUER ONE
	    BROWSER(", \"cookie\": \"__Host-.*\"") PAGES REST "}",
	    "browser.cookie", 3 },
	{ "the cookie of logins", "{" ISSUER ONE
	    BROWSER(", \"cookie\": \"__Host-poppy-login\"") PAGES REST "}",
	    "browser.cookie", 3 },
	{ "no cookie", "{" ISSUER ONE BROWSER(", \"cookie\": \"\"") PAGES REST
	    "}", "browser.cookie", 3 },
	{ "a cookie of 65 letters", "{" ISSUER ONE BROWSER(", \"cookie\": \""
	    "__Host-8901234567890123456789012345678901234567890123456789012345"
	    "\"") PAGES REST "}", "browser.cookie", 3 },
	{ "a domain beside the host", "{" ISSUER ONE
	    BROWSER(DOMAIN("other.example")) PAGES REST "}", "browser.domain",
	    3 },
	{ "a look-alike of it", "{" ISSUER HOSTS(HOST("shop.example",
	    "shop.example", "shop.example") "," HOST("evilshop.example",
	    "evilshop.example", "evilshop.example"))
	    BROWSER(DOMAIN("shop.example")) PAGES REST "}", "browser.domain",
	    3 },
	{ "a domain below the host", "{" ISSUER ONE
	    BROWSER(DOMAIN("www.shop.example")) PAGES REST "}",
	    "browser.domain", 3 },
	{ "everybody's domain", "{" ISSUER HOSTS(HOST("shop.co.uk",
	    "shop.example", "shop.co.uk")) BROWSER(DOMAIN("co.uk")) PAGES REST
	    "}", "browser.domain", 3 },
	{ "a top level", "{" ISSUER ONE BROWSER(DOMAIN("example")) PAGES REST
	    "}", "browser.domain", 3 },
	{ "a domain with a dot before it", "{" ISSUER ONE
	    BROWSER(DOMAIN(".shop.example")) PAGES REST "}", "browser.domain",
	    3 },
	{ "a domain with a dot behind it", "{" ISSUER ONE
	    BROWSER(DOMAIN("shop.example.")) PAGES REST "}", "browser.domain",
	    3 },
	{ "a domain in capitals", "{" ISSUER ONE
	    BROWSER(DOMAIN("Shop.example")) PAGES REST "}", "browser.domain",
	    3 },
	{ "a domain with a port", "{" ISSUER ONE
	    BROWSER(DOMAIN("shop.example:443")) PAGES REST "}",
	    "browser.domain", 3 },
	{ "an address as a domain", "{" ISSUER ONE
	    BROWSER(DOMAIN("127.0.0.1")) PAGES REST "}", "browser.domain", 3 },
	{ "a domain that ends the attribute", "{" ISSUER ONE
	    BROWSER(DOMAIN("shop.example; x")) PAGES REST "}",
	    "browser.domain", 3 },
	{ "no browser a Session", "{" ISSUER ONE
	    BROWSER(", \"per_session\": 0") PAGES REST "}",
	    "browser.per_session", 3 },
	{ "a crowd of them", "{" ISSUER ONE
	    BROWSER(", \"per_session\": 101") PAGES REST "}",
	    "browser.per_session", 3 },
	{ "hosts that no browser reaches by name", "{" ISSUER
	    HOSTS(HOST("other.example", "shop.example", "other.example"))
	    BROWSER("") PAGES REST "}", "browser.enabled", 3 },
	{ "a host outside of its domain", "{" ISSUER
	    HOSTS(HOST("shop.example", "shop.example", "other.example"))
	    BROWSER("") PAGES REST "}", "browser.enabled", 3 },
	{ "open and scopes", "{" ISSUER ONE BROWSER("")
	    SITE("\n{ \"path\": \"/a\", \"open\": true, \"scopes\": "
	    "[\"poppy:read\"] }") REST "}", "site.rules.open", 5 },
	{ "open and signed in", "{" ISSUER ONE BROWSER("")
	    SITE("\n{ \"path\": \"/a\", \"open\": true, \"signed_in\": true }")
	    REST "}", "site.rules.open", 5 },
	{ "a rule without a slash", "{" ISSUER ONE BROWSER("")
	    SITE("{ \"path\": \"a\" }") REST "}", "site.rules[0].path", 4 },
	{ "a rule with dots", "{" ISSUER ONE BROWSER("")
	    SITE("{ \"path\": \"/a/../b\" }") REST "}", "site.rules[0].path",
	    4 },
	{ "an encoded rule", "{" ISSUER ONE BROWSER("")
	    SITE("{ \"path\": \"/%61\" }") REST "}", "site.rules[0].path", 4 },
	{ "a query that is none", "{" ISSUER ONE BROWSER("")
	    SITE("{ \"path\": \"/\", \"query\": \"x\" }") REST "}",
	    "site.rules[0].query", 4 },
	{ "no method at all", "{" ISSUER ONE BROWSER("")
	    SITE("{ \"path\": \"/\", \"methods\": [] }") REST "}",
	    "site.rules[0].methods", 4 },
	{ "a closed page with scopes", "{" ISSUER ONE BROWSER("")
	    "\"site\": { \"rules\": [{ \"path\": \"/\" }],\n\"closed\": "
	    "[{ \"path\": \"/a\", \"scopes\": [\"poppy:read\"] }] },\n" REST
	    "}", "site.closed[0].scopes", 5 },
	{ "a closed page that is open", "{" ISSUER ONE BROWSER("")
	    "\"site\": { \"rules\": [{ \"path\": \"/\" }],\n\"closed\": "
	    "[{ \"path\": \"/a\", \"open\": true }] },\n" REST "}",
	    "site.closed[0].open", 5 },
	{ "a closed page by method", "{" ISSUER ONE BROWSER("")
	    "\"site\": { \"rules\": [{ \"path\": \"/\" }],\n\"closed\": "
	    "[{ \"path\": \"/a\", \"methods\": [\"GET\"] }] },\n" REST "}",
	    "site.closed[0].methods", 5 },
	{ "an encoded closed page", "{" ISSUER ONE BROWSER("")
	    "\"site\": { \"rules\": [{ \"path\": \"/\" }],\n\"closed\": "
	    "[{ \"path\": \"/%61\" }] },\n" REST "}", "site.closed[0].path",
	    5 },
	{ "an endpoint that is a folder", "{" ISSUER ONE BROWSER("") PAGES
	    "\"mounts\": { \"browser\": \"/join/\" },\n" REST "}",
	    "mounts.browser", 5 },
	{ "an endpoint behind a guard of tokens", "{" ISSUER ONE BROWSER("")
	    PAGES "\"mounts\": { \"browser\": \"/api/join\" },\n"
	    "\"guard\": [\n{ \"prefix\": \"/api/\", \"rules\": "
	    "[{ \"path\": \"/api/x\" }] }],\n" REST "}", "guard.prefix", 7 },
	{ "a socket without a slash", "{" ISSUER ONE
	    "\"listen\": { \"browser\": \"browser.sock\" },\n" REST "}",
	    "listen.browser", 3 },
	{ "no thread", "{" ISSUER ONE "\"workers\": { \"browser\": 0 },\n" REST
	    "}", "workers.browser", 3 },
};

static char path[] = "/tmp/t_settings_browser.XXXXXX";

static enum pf_rc
read_text(struct pf_arena *a, const char *text, struct pf_settings *s,
    struct pf_conf_fault *fault)
{
	FILE *f = fopen(path, "w");

	tap_need(f != NULL, "a temporary file");
	(void)fputs(text, f);
	tap_need(fclose(f) == 0, "writing it");
	*fault = (struct pf_conf_fault){ 0 };
	return pf_settings_read(path, a, s, fault);
}

static void
check_good(struct pf_arena *a)
{
	const struct pf_rule *r;
	struct pf_conf_fault f;
	struct pf_settings s;

	tap_is(read_text(a, "{" ISSUER ONE REST "}", &s, &f), PF_OK,
	    "without browsers (%s %s)", f.key, f.reason);
	tap_ok(!s.browser.enabled, "they are off");
	tap_is_z(s.browser.cookie, "__Host-poppy", "the cookie's name stays");
	tap_ok(!pf_str_given(pf_settings_browser_endpoint(&s,
	    PF_LIT("shop.example"))), "no endpoint");
	tap_is(read_text(a, "{" ISSUER ONE BROWSER("")
	    "\"site\": { \"rules\": [{ \"path\": \"/a\", \"scopes\": "
	    "[\"poppy:read\"] }, { \"path\": \"/\", \"methods\": [\"GET\", "
	    "\"POST\"] }], \"closed\": [{ \"path\": \"/\", \"query\": "
	    "\"route=account/password*\" }] },\n" REST "}", &s, &f), PF_OK,
	    "with browsers (%s %s)", f.key, f.reason);
	r = s.site.rules.v;
	tap_is((long long)s.site.rules.n, 2, "two rules");
	tap_ok(r[0].methods.n == 1 && pf_str_eqz(r[0].methods.v[0], "GET"),
	    "GET by default");
	tap_is((long long)r[1].methods.n, 2, "or what is listed");
	r = s.site.closed.v;
	tap_is((long long)s.site.closed.n, 1, "one closed page");
	tap_is_z(r[0].query, "route=account/password*", "by its query");
	tap_is(s.browser.per_session, 1, "one browser a Session");
	tap_is_z(s.mounts.browser, "/poppy/browser-session", "the mount");
	tap_ok(s.issuer_host == pf_settings_host(&s, PF_LIT("shop.example")),
	    "the issuer's host is one of the list");
}

/* Which host agents are told of: the first that is reached by its own name. */
static void
check_endpoints(struct pf_arena *a)
{
	static const struct { const char *host, *endpoint; } want[] = {
		{ "old.example", NULL },
		{ "shop.example",
		    "https://shop.example:8443/poppy/browser-session" },
		{ "www.shop.example", NULL },
		{ "away.example", NULL },
		{ "two.example", "https://two.example/poppy/browser-session" },
		{ "api.example", NULL },
	};
	const struct pf_host *h;
	struct pf_conf_fault f;
	struct pf_settings s;

	tap_is(read_text(a, "{ \"issuer\": \"https://shop.example:8443\",\n"
	    HOSTS(HOST("old.example", "shop.example:8443", "shop.example") ","
	    HOST("shop.example", "shop.example:8443", "shop.example") ","
	    HOST("www.shop.example", "www.shop.example", "shop.example") ","
	    HOST("away.example", "shop.example:8443", "away.example") ","
	    HOST("two.example", "two.example", "two.example") ","
	    HOST("api.example", "api.example", "")) BROWSER("") PAGES REST "}",
	    &s, &f), PF_OK, "several hosts (%s %s)", f.key, f.reason);
	for (size_t i = 0; i < PF_COUNT(want); i++) {
		h = pf_settings_host(&s, pf_str(want[i].host));
		tap_need(h != NULL, "a host");
		if (want[i].endpoint == NULL)
			tap_ok(!pf_str_given(h->browser_endpoint),
			    "none on %s", want[i].host);
		else
			tap_is_z(h->browser_endpoint, want[i].endpoint,
			    "on %s", want[i].host);
	}
	tap_is_z(pf_settings_browser_endpoint(&s, PF_LIT("shop.example")),
	    want[1].endpoint, "by domain");
	tap_ok(!pf_str_given(pf_settings_browser_endpoint(&s,
	    PF_LIT("away.example"))), "a domain that is published elsewhere");
	tap_ok(!pf_str_given(pf_settings_browser_endpoint(&s, PF_LIT(""))),
	    "no domain");
	tap_is(read_text(a, "{" ISSUER TWO BROWSER(DOMAIN("shop.example"))
	    PAGES REST "}", &s, &f), PF_OK, "a cookie for two hosts (%s %s)",
	    f.key, f.reason);
}

int
main(void)
{
	struct pf_conf_fault f;
	struct pf_settings s;
	struct pf_arena a;
	int fd;

	tap_need((fd = mkstemp(path)) != -1 && close(fd) == 0, "a file");
	tap_need(pf_arena_init(&a, 65536, 4 << 20) == PF_OK, "memory");
	check_good(&a);
	check_endpoints(&a);
	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		pf_arena_reset(&a);
		tap_is(read_text(&a, bad[i].text, &s, &f), PF_E_INPUT,
		    "refused: %s", bad[i].why);
		tap_ok(strncmp(f.key, bad[i].key, strlen(bad[i].key)) == 0,
		    "names %s (%s: %s)", bad[i].key, f.key, f.reason);
		if (bad[i].line != 0)
			tap_is(f.line, bad[i].line, "and its line");
	}
	(void)unlink(path);
	pf_arena_free(&a);
	return tap_done();
}
