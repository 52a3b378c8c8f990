/*
 * Settings of web browsing (section 5): how an agent's browser joins a Session,
 * and what the shop's pages are to it.
 */
#include "core/poppy/settings_in.h"

#include <string.h>

#include "core/poppy/domain.h"
#include "core/web/url.h"

/* Cookies that we set under fixed names begin with it. */
#define OWN_COOKIES	"__Host-poppy-"

/* RFC 6265 takes more, but the name also stands in patterns of the web server,
 * and PHP makes underscores of what it can't have in a name. */
static const char *
check_cookie(struct pf_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!pf_is_alpha(s.p[i]) && !pf_is_digit(s.p[i]) &&
		    s.p[i] != '-' && s.p[i] != '_')
			return "may have letters, digits, - and _";
	if (pf_str_starts(s, PF_LIT(OWN_COOKIES)))
		return "must not begin with " OWN_COOKIES
		    ", as other cookies of ours do";
	return NULL;
}

/* What a browser would take for the Domain of a cookie (RFC 6265, 5.3). */
static const char *
check_domain(struct pf_str s)
{
	if (s.n == 0)
		return NULL;
	for (size_t i = 0; i < s.n; i++)
		if (pf_lower(s.p[i]) != s.p[i] || s.p[i] == ':')
			return "must be a domain in lower case, without port";
	if (pf_host_is_ip(s) || !pf_host_within(s, s) || !pf_str_has(s, '.'))
		return "must be a domain such as shop.example";
	return pf_domain_is_suffix(s) ?
	    "must not be a domain below which anybody may have names" : NULL;
}

#define BR(m)	(PF_AT(browser.m) - PF_AT(browser))
static const struct pf_conf_key browser_keys[] = {
	{ "", PF_CONF_LINE, BR(line), 0, 0, NULL, NULL, NULL, NULL },
	{ "enabled", PF_CONF_BOOL, BR(enabled), 0, 0, "false",
	    "Agents' browsers may join Sessions, and must to browse.", NULL,
	    NULL },
	{ "cookie", PF_CONF_STR, BR(cookie), 1, 64, "\"__Host-poppy\"",
	    "Name of the cookie of a joined browser; __Host-..., with a domain "
	    "__Secure-...; the web server's include has it, too.",
	    check_cookie, NULL },
	{ "domain", PF_CONF_STR, BR(domain), 0, 255, "\"\"",
	    "Domain of that cookie, where the shop's pages are on several "
	    "hosts; \"\": the host that set it alone.", check_domain, NULL },
	{ "per_session", PF_CONF_INT, BR(per_session), 1, 100, "1",
	    "Browsers that may have joined one Session at a time; one more, "
	    "and the oldest is out.", NULL, NULL },
};
const struct pf_conf_table pf_browser_table = PF_TABLE(browser, browser_keys);

#define RULE(m)	offsetof(struct pf_rule, m)
static const struct pf_conf_key closed_keys[] = {
	{ "", PF_CONF_LINE, RULE(line), 0, 0, NULL, NULL, NULL, NULL },
	{ "path", PF_CONF_STR, RULE(path), 1, 500, NULL,
	    "Exact path, or all below it if it ends in '/'.", pf_check_path,
	    NULL },
	{ "query", PF_CONF_STR, RULE(query), 0, 500, "\"\"",
	    "What the query must have, as in guard.", pf_check_query, NULL },
};
static const struct pf_conf_table closed_table = {
	sizeof(struct pf_rule), PF_KEYS(closed_keys)
};

#define SI(m)	(PF_AT(site.m) - PF_AT(site))
static const struct pf_conf_key site_keys[] = {
	{ "", PF_CONF_LINE, SI(line), 0, 0, NULL, NULL, NULL, NULL },
	{ "closed", PF_CONF_LIST, SI(closed), 0, 1000, "[]",
	    "What is closed to agents, whatever their scopes; looked at "
	    "first.", NULL, &closed_table },
	{ "rules", PF_CONF_LIST, SI(rules), 0, 1000, "[]",
	    "What a page needs: the first rule that matches decides, and what "
	    "none matches is closed.", NULL, &pf_rule_table },
};
const struct pf_conf_table pf_site_table = PF_TABLE(site, site_keys);

/* What the browser can be led to is on a host that has this name itself: a base
 * on another host gets, and sets, that one's cookies. */
static bool
by_its_name(const struct pf_host *h)
{
	struct pf_url u;

	return h->domain.n != 0 && pf_url_parse(h->base, &u) == PF_OK &&
	    pf_str_eq_nocase(u.host, h->host) &&
	    pf_host_within(h->host, h->domain);
}

static enum pf_rc
write_endpoint(struct pf_arena *a, const struct pf_settings *s,
    struct pf_host *h)
{
	struct pf_buf b;

	pf_buf_init(&b, a, 1024);
	pf_buf_add(&b, h->base);
	pf_buf_add(&b, s->mounts.browser);
	return pf_buf_done(&b, &h->browser_endpoint);
}

struct pf_str
pf_settings_browser_endpoint(const struct pf_settings *s, struct pf_str domain)
{
	const struct pf_host *h = s->hosts.v;

	for (size_t i = 0; i < s->hosts.n; i++)
		if (pf_str_given(h[i].browser_endpoint) &&
		    pf_str_eq(h[i].domain, domain))
			return h[i].browser_endpoint;
	return PF_NOSTR;
}

/* Of each domain, the first of its hosts. */
static enum pf_rc
write_endpoints(struct pf_arena *a, struct pf_settings *s)
{
	struct pf_host *h;
	struct pf_str had;
	enum pf_rc rc;

	if ((h = pf_arena_alloc(a, s->hosts.n * sizeof(*h))) == NULL)
		return PF_E_MEM;
	(void)memcpy(h, s->hosts.v, s->hosts.n * sizeof(*h));
	s->hosts.v = h;
	for (size_t i = 0; i < s->hosts.n; i++)
		h[i].browser_endpoint = PF_NOSTR;
	for (size_t i = 0; s->browser.enabled && i < s->hosts.n; i++) {
		had = pf_settings_browser_endpoint(s, h[i].domain);
		if (pf_str_given(had) || !by_its_name(&h[i]))
			continue;
		if ((rc = write_endpoint(a, s, &h[i])) != PF_OK)
			return rc;
	}
	return PF_OK;
}

struct checking {
	const char *file;
	const struct pf_settings *s;
	struct pf_conf_fault *fault;
};

/* By the prefix a browser insists on who may set the cookie: nobody from a
 * sibling host, or at least nobody without TLS. */
static enum pf_rc
check_prefix(const struct checking *c)
{
	const struct pf_str want = c->s->browser.domain.n == 0 ?
	    PF_LIT("__Host-") : PF_LIT("__Secure-");
	struct pf_str name = c->s->browser.cookie;

	if (pf_str_starts(name, want) && name.n > want.n)
		return PF_OK;
	return pf_conf_refuse(c->fault, c->file, c->s->browser.line,
	    "browser.cookie", "must begin with %.*s and have a name behind it, "
	    "%s domain", PF_STRF(want), c->s->browser.domain.n == 0 ?
	    "without a" : "with a");
}

/* A browser drops the cookie of a host that is not within its Domain. */
static enum pf_rc
check_hosts(const struct checking *c)
{
	struct pf_str domain = c->s->browser.domain;
	const struct pf_host *h = c->s->hosts.v;
	bool any = false;

	for (size_t i = 0; i < c->s->hosts.n; i++) {
		if (!pf_str_given(h[i].browser_endpoint))
			continue;
		any = true;
		if (domain.n != 0 && !pf_host_within(h[i].host, domain))
			return pf_conf_refuse(c->fault, c->file,
			    c->s->browser.line, "browser.domain",
			    "the host %.*s could not set its cookie",
			    PF_STRF(h[i].host));
	}
	return any ? PF_OK : pf_conf_refuse(c->fault, c->file,
	    c->s->browser.line, "browser.enabled",
	    "no host is within its domain and has the name that is in its "
	    "base");
}

static enum pf_rc
check_rules(const struct checking *c)
{
	const struct pf_rule *r = c->s->site.rules.v;

	for (size_t i = 0; i < c->s->site.rules.n; i++)
		if (r[i].open && (r[i].signed_in || r[i].scopes.n != 0))
			return pf_conf_refuse(c->fault, c->file, r[i].line,
			    "site.rules.open",
			    "an open path can't ask for sign-in or scopes");
	return PF_OK;
}

/* The guard before an API takes tokens alone, and the POST has none. */
static enum pf_rc
check_mount(const struct checking *c)
{
	const struct pf_guarded *g = c->s->guard.v;

	for (size_t i = 0; i < c->s->guard.n; i++)
		if (pf_guarded_covers(&g[i], c->s->mounts.browser))
			return pf_conf_refuse(c->fault, c->file, g[i].line,
			    "guard.prefix", "covers mounts.browser");
	return PF_OK;
}

static enum pf_rc
check_enabled(const struct checking *c)
{
	const struct pf_settings *s = c->s;
	enum pf_rc rc;

	if (s->issuer.n == 0)
		return pf_conf_refuse(c->fault, c->file, s->browser.line,
		    "browser.enabled", "Sessions need an issuer");
	if (!s->web)
		return pf_conf_refuse(c->fault, c->file, s->browser.line,
		    "browser.enabled", "agents would not be told: set web");
	if ((rc = check_prefix(c)) != PF_OK || (rc = check_hosts(c)) != PF_OK ||
	    (rc = check_mount(c)) != PF_OK)
		return rc;
	if (s->site.rules.n == 0)
		return pf_conf_refuse(c->fault, c->file, s->site.line,
		    "site.rules", "must be given with browser.enabled: "
		    "all pages would be closed");
	return check_rules(c);
}

enum pf_rc
pf_settings_browser(const char *file, struct pf_arena *a,
    struct pf_settings *s, struct pf_conf_fault *fault)
{
	const struct checking c = { file, s, fault };
	enum pf_rc rc;

	if ((rc = write_endpoints(a, s)) != PF_OK)
		return rc;
	if (s->browser.enabled)
		return check_enabled(&c);
	if (s->site.closed.n != 0 || s->site.rules.n != 0)
		return pf_conf_refuse(fault, file, s->site.line, "site",
		    "counts for nothing without browser.enabled");
	return PF_OK;
}
