/*
 * The pages on which customers sign in, as browsers get them, and the shop's
 * login page: reached, closed to agents' browsers, and with the policy that was
 * sent.
 */
#include "tools/poppyctl/check.h"

#include "core/poppy/domain.h"
#include "core/web/url.h"

static bool
get(struct check *k, struct pf_str url, struct pf_str cookie,
    struct ctl_reply *rp)
{
	const struct ctl_ask ask = {
		.method = "GET", .url = url, .cookie = cookie
	};

	return ck_ask(k, "pages", &ask, rp);
}

static bool
says(struct pf_str policy, const char *word)
{
	struct pf_str w = pf_str(word);

	for (size_t i = 0; i + w.n <= policy.n; i++)
		if (pf_str_starts(pf_str_from(policy, i), w))
			return true;
	return false;
}

/* Two policies allow only what both do, so that a form-action of the shop's
 * keeps the button that approves from leading to the agent. */
static bool
judge_policy(struct check *k, struct pf_str url, const struct ctl_reply *rp)
{
	const char *wrong = NULL;

	if (rp->policies == 0)
		wrong = "comes without a Content-Security-Policy, which "
		    "poppy-auth sent";
	else if (rp->policies > 1 || pf_str_has(rp->policy, ','))
		wrong = "comes with a Content-Security-Policy beside that of "
		    "poppy-auth, so that the button that approves may do "
		    "nothing";
	else if (!says(rp->policy, "frame-ancestors 'none'") ||
	    !says(rp->policy, "default-src 'none'"))
		wrong = "comes with another Content-Security-Policy than "
		    "poppy-auth sent";
	if (wrong == NULL)
		return true;
	ck_say(k, CK_WARNING, "pages", "%.*s: %s: let the web server (or a "
	    "proxy in front) set that header elsewhere than below %.*s only",
	    PF_STRF(url), wrong, PF_STRF(k->c->set.mounts.pages));
	return false;
}

/* A page that everybody gets: what is wrong with a request that says nothing. */
static bool
judge_any_page(struct check *k)
{
	struct pf_str url = k->c->set.authorization_endpoint;
	struct ctl_reply rp;

	return k->c->set.sign_in.direct.n == 0 || (get(k, url, PF_NOSTR, &rp) &&
	    judge_policy(k, url, &rp));
}

/* Where our own page sends the browser, or shows a form. */
static bool
judge_login(struct check *k, struct pf_str url, const struct ctl_reply *rp)
{
	const struct pf_settings *s = &k->c->set;

	if (s->login.by_shop && rp->status == 303 &&
	    pf_str_starts(rp->location, s->login.shop_url))
		return judge_any_page(k);
	if (!s->login.by_shop && rp->status == 200 &&
	    pf_str_starts(rp->content_type, PF_LIT("text/html")))
		return judge_policy(k, url, rp);
	ck_say(k, CK_FAULT, "pages", "%.*s: status %d instead of %s: is the "
	    "path led to poppy-auth, and does it run with these settings?",
	    PF_STRF(url), rp->status, s->login.by_shop ?
	    "303 to login.shop_url" : "200 with a page");
	return false;
}

/* The ticket comes by a form of the shop's, with a cookie of ours that browsers
 * send along from the same site alone (SameSite=Lax). */
static bool
same_site(struct check *k, struct pf_str url)
{
	struct pf_str shop, ours;
	struct pf_url u;

	if (pf_url_parse(url, &u) != PF_OK ||
	    pf_domain_of(k->c->arena, u.host, &shop) != PF_OK ||
	    pf_url_parse(k->c->set.issuer, &u) != PF_OK ||
	    pf_domain_of(k->c->arena, u.host, &ours) != PF_OK)
		return true;
	if (pf_str_eq(shop, ours))
		return true;
	ck_say(k, CK_FAULT, "pages", "%.*s: %.*s and the issuer's %.*s are two "
	    "sites, so tickets come back without the browser's cookie and "
	    "count for nothing: set login.by to \"password\", or give issuer "
	    "and shop one domain", PF_STRF(url), PF_STRF(shop), PF_STRF(ours));
	return false;
}

/* The shop's own page must be there, and shut to the agents' browsers. */
static void
check_shop(struct check *k)
{
	struct pf_str url = k->c->set.login.shop_url;
	struct ctl_reply rp;

	if (!same_site(k, url) || !get(k, url, PF_NOSTR, &rp))
		return;
	if (rp.status / 100 != 2 && rp.status / 100 != 3) {
		ck_say(k, CK_FAULT, "pages", "%.*s: status %d: correct "
		    "login.shop_url", PF_STRF(url), rp.status);
		return;
	}
	if (!get(k, url, ck_agent_cookie(k), &rp))
		return;
	if (rp.status == 403)
		ck_say(k, CK_OK, "pages", "%.*s: the shop's login page, closed "
		    "to agents' browsers", PF_STRF(url));
	else
		ck_say(k, CK_FAULT, "pages", "%.*s: status %d to an agent's "
		    "browser, which could log in for its own user: call "
		    "Poppy::refuseAgents() first on that page", PF_STRF(url),
		    rp.status);
}

/* What a page of ours loads. */
static bool
style_there(struct check *k, struct pf_str url)
{
	struct ctl_reply rp;

	if (!get(k, url, PF_NOSTR, &rp))
		return false;
	if (rp.status == 200 &&
	    pf_str_starts(rp.content_type, PF_LIT("text/css")))
		return true;
	ck_say(k, CK_FAULT, "pages", "%.*s: status %d instead of 200 with a "
	    "style sheet: is the path led to poppy-auth?", PF_STRF(url),
	    rp.status);
	return false;
}

/* All of them lead to login, and none answers an agent's browser. */
static bool
leads_to_login(struct check *k, struct pf_str url, struct pf_str login)
{
	struct ctl_reply rp;

	if (!get(k, url, PF_NOSTR, &rp))
		return false;
	if (rp.status != 303 || !says(rp.location, login.p)) {
		ck_say(k, CK_FAULT, "pages", "%.*s: status %d instead of 303 "
		    "to %s: is the path led to poppy-auth?", PF_STRF(url),
		    rp.status, login.p);
		return false;
	}
	if (!get(k, url, ck_agent_cookie(k), &rp))
		return false;
	if (rp.status == 403)
		return true;
	ck_say(k, CK_FAULT, "pages", "%.*s: status %d to an agent's browser "
	    "instead of 403: does the Cookie header reach poppy-auth?",
	    PF_STRF(url), rp.status);
	return false;
}

/* Agents send JSON there: a form is refused, by poppy-auth and in JSON. */
static bool
mediated_there(struct check *k)
{
	const struct ctl_ask ask = {
		.method = "POST", .url = k->c->set.mediated_endpoint,
		.form = PF_LIT("x=")
	};
	struct ctl_reply rp;

	if (k->c->set.sign_in.mediated.n == 0)
		return true;
	if (!ck_ask(k, "pages", &ask, &rp))
		return false;
	if ((rp.status == 401 || rp.status == 415) &&
	    pf_str_starts(rp.content_type, PF_LIT("application/json")))
		return true;
	ck_say(k, CK_FAULT, "pages", "%.*s: status %d instead of 415 in JSON: "
	    "is the path led to poppy-auth?", PF_STRF(ask.url), rp.status);
	return false;
}

bool
ck_signs_in(const struct check *k)
{
	const struct pf_settings *s = &k->c->set;

	return s->sign_in.direct.n + s->sign_in.device.n +
	    s->sign_in.mediated.n != 0;
}

void
ck_pages(struct check *k)
{
	const struct pf_settings *s = &k->c->set;
	struct pf_str mount, login;
	struct ctl_reply rp;

	if (!ck_signs_in(k)) {
		ck_say(k, CK_LEFT_OUT, "pages", "no type of sign-in is on");
		return;
	}
	mount = ck_join(k, s->issuer_host->base, "", s->mounts.pages);
	login = ck_join(k, s->mounts.pages, "/login", PF_LIT("\0"));
	if (s->login.by_shop)
		check_shop(k);
	if (get(k, ck_join(k, mount, "/login", PF_LIT("")), PF_NOSTR, &rp) &&
	    judge_login(k, ck_join(k, mount, "/login", PF_LIT("")), &rp) &&
	    style_there(k, ck_join(k, mount, "/style.css", PF_LIT(""))) &&
	    leads_to_login(k, ck_join(k, mount, "/agents", PF_LIT("")),
	    login) &&
	    leads_to_login(k, s->verification_uri, login) &&
	    mediated_there(k))
		ck_say(k, CK_OK, "pages", "%.*s: login, agents and device are "
		    "there, with the policy that was sent, and closed to "
		    "agents' browsers", PF_STRF(mount));
}
