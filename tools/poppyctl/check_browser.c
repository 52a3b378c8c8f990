/*
 * How agents' browsers join a Session, and see the shop's pages then: does the
 * web server lead them there, and ask the guard for what they see?
 */
#include "config.h"

#include "tools/poppyctl/check.h"

#include <string.h>

#include "core/web/url.h"

#define AREA	"browser"

static bool
get(struct check *k, struct pf_str url, struct pf_str cookie,
    struct ctl_reply *rp)
{
	const struct ctl_ask ask = {
		.method = "GET", .url = url, .cookie = cookie
	};

	return ck_ask(k, AREA, &ask, rp);
}

struct pf_str
ck_agent_cookie(struct check *k)
{
	return ck_join(k, k->c->set.browser.cookie, "=pbs_check",
	    PF_LIT(""));
}

static bool
holds(struct pf_str text, const char *what)
{
	return text.n != 0 &&
	    memmem(text.p, text.n, what, strlen(what)) != NULL;
}

/* poppy-browser takes POST alone, and says so on its own page. */
static bool
is_its_answer(const struct ctl_reply *rp)
{
	return rp->status == 405 && holds(rp->body, "poppy-error") &&
	    holds(rp->body, "join_failed");
}

/* It must be reached by a browser that has an old cookie, too. */
static void
check_endpoint(struct check *k, struct pf_str url)
{
	struct ctl_reply rp;

	if (!get(k, url, PF_NOSTR, &rp))
		return;
	if (!is_its_answer(&rp)) {
		ck_say(k, CK_FAULT, AREA, "%.*s: status %d instead of 405 from "
		    "poppy-browser: is the path led to it, and does it run "
		    "with these settings?", PF_STRF(url), rp.status);
		return;
	}
	if (!get(k, url, ck_agent_cookie(k), &rp))
		return;
	if (!is_its_answer(&rp)) {
		ck_say(k, CK_FAULT, AREA, "%.*s: status %d to a browser that "
		    "has joined before, instead of 405: the guard must not "
		    "stand before that path", PF_STRF(url), rp.status);
		return;
	}
	ck_say(k, CK_OK, AREA, "%.*s: there, for POST alone", PF_STRF(url));
}

/* Does the host send whoever comes on to that base? */
static bool
leads_to(struct check *k, const struct pf_host *from, struct pf_str base)
{
	struct ctl_reply rp;

	return get(k, ck_join(k, from->base, "/", PF_LIT("")), PF_NOSTR, &rp) &&
	    rp.status / 100 == 3 && pf_str_starts(rp.location, base);
}

/* A host-only cookie stays with the host that set it: an agent that goes on to
 * another one is a plain visitor there. */
static void
check_spread(struct check *k, const struct pf_host *told)
{
	const struct pf_settings *s = &k->c->set;
	const struct pf_host *h = s->hosts.v;
	struct pf_url u;

	for (size_t i = 0; s->browser.domain.n == 0 && i < s->hosts.n; i++) {
		if (!pf_str_eq(h[i].domain, told->domain) ||
		    pf_url_parse(h[i].base, &u) != PF_OK ||
		    pf_str_eq_nocase(u.host, told->host) ||
		    leads_to(k, &h[i], told->base))
			continue;
		ck_say(k, CK_WARNING, AREA, "%.*s and %.*s are of one domain, "
		    "and the cookie is for the first alone: an agent's "
		    "browser is a plain visitor on the other; set "
		    "browser.domain, or let one redirect to the other",
		    PF_STRF(told->host), PF_STRF(h[i].host));
		return;
	}
}

/* A page that is closed to agents whatever they bring; by path alone. */
static const struct pf_rule *
closed_page(const struct pf_settings *s)
{
	const struct pf_rule *r = s->site.closed.v;

	for (size_t i = 0; i < s->site.closed.n; i++)
		if (r[i].query.n == 0)
			return &r[i];
	return NULL;
}

/* The name of the cookie stands in the web server's settings as well: with
 * another one there agents would be plain visitors, unseen by the guard. */
static void
check_pages(struct check *k, const struct pf_host *h)
{
	const struct pf_rule *page = closed_page(&k->c->set);
	struct ctl_reply rp;
	struct pf_str url;

	if (page == NULL) {
		ck_say(k, CK_WARNING, AREA, "site.closed names no path, so "
		    "logins, passwords and payment data may be open to agents, "
		    "and whether the web server asks the guard can't be seen");
		return;
	}
	url = ck_join(k, h->base, "", page->path);
	if (!get(k, url, ck_agent_cookie(k), &rp))
		return;
	if (rp.status == 403)
		ck_say(k, CK_OK, AREA, "%.*s: closed to agents' browsers",
		    PF_STRF(url));
	else
		ck_say(k, CK_FAULT, AREA, "%.*s: status %d to an agent's "
		    "browser instead of 403: does the web server's include "
		    "have the cookie's name %.*s, and was poppy-guard sent "
		    "SIGHUP?", PF_STRF(url), rp.status,
		    PF_STRF(k->c->set.browser.cookie));
}

void
ck_browsers(struct check *k)
{
	const struct pf_settings *s = &k->c->set;
	const struct pf_host *h = s->hosts.v;

	if (!s->browser.enabled) {
		ck_say(k, CK_LEFT_OUT, AREA, "browser.enabled is off");
		return;
	}
	for (size_t i = 0; i < s->hosts.n; i++) {
		if (!pf_str_given(h[i].browser_endpoint))
			continue;
		check_endpoint(k, h[i].browser_endpoint);
		check_spread(k, &h[i]);
		check_pages(k, &h[i]);
	}
}
