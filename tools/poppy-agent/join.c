#include "config.h"

#include "tools/poppy-agent/join.h"

#include <string.h>

#include "core/web/url.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/html.h"
#include "tools/poppy-agent/wait.h"

#define FORM_MAX	16384
#define PAGE_MAX	(4u << 20)
#define COOKIE_MAX	8192

enum pf_rc
ag_cookie_read(struct pf_str field, struct ag_cookie *out)
{
	struct pf_str rest = field, one, name, value;
	size_t mark;

	memset(out, 0, sizeof(*out));
	if (!pf_str_cut(&rest, ';', &one))
		return PF_E_INPUT;
	mark = pf_str_find(one, '=');
	out->name = pf_str_trim(pf_str_head(one, mark));
	if (mark == one.n || out->name.n == 0)
		return PF_E_INPUT;
	out->value = pf_str_trim(pf_str_from(one, mark + 1));
	while (pf_str_given(rest) && pf_str_cut(&rest, ';', &one)) {
		mark = pf_str_find(one, '=');
		name = pf_str_trim(pf_str_head(one, mark));
		value = mark == one.n ? PF_LIT("") :
		    pf_str_trim(pf_str_from(one, mark + 1));
		if (pf_str_eq_nocase(name, PF_LIT("Secure")))
			out->secure = true;
		else if (pf_str_eq_nocase(name, PF_LIT("HttpOnly")))
			out->http_only = true;
		else if (pf_str_eq_nocase(name, PF_LIT("SameSite")))
			out->same_site = value;
		else if (pf_str_eq_nocase(name, PF_LIT("Path")))
			out->path = value;
		else if (pf_str_eq_nocase(name, PF_LIT("Domain")))
			out->domain = value;
	}
	return PF_OK;
}

const char *
ag_cookie_fault(const struct ag_cookie *c)
{
	if (c->value.n == 0)
		return "it has no value";
	if (!c->secure)
		return "it is not Secure";
	if (!c->http_only)
		return "it is not HttpOnly";
	/* Without the attribute a browser takes Lax, but not each does. */
	if (!pf_str_eq_nocase(c->same_site, PF_LIT("Lax")) &&
	    !pf_str_eq_nocase(c->same_site, PF_LIT("None")))
		return "its SameSite is neither Lax nor None";
	return NULL;
}

enum pf_rc
ag_join_form(struct pf_arena *a, struct pf_str assertion, struct pf_str *body)
{
	struct pf_buf b;

	pf_buf_init(&b, a, FORM_MAX);
	pf_buf_addz(&b, "assertion=");
	pf_url_escape(&b, assertion);
	return pf_buf_done(&b, body);
}

enum pf_rc
ag_join_check(struct agent *ag, const struct ag_reply *rp,
    struct pf_str return_to, struct ag_cookie *cookie)
{
	struct ag_fault *f = &ag->fault;
	const char *why;

	if (rp->status != 303)
		return ag_fault(f, PF_E_UPSTREAM, "R-5-13",
		    "not joined: status %d", rp->status);
	if (!pf_str_eq(ag_reply_field(rp, "location", 0), return_to))
		return ag_fault(f, PF_E_UPSTREAM, "R-5-13",
		    "a redirect that does not lead to return_to");
	if (ag_cookie_read(ag_reply_field(rp, "set-cookie", 0), cookie) !=
	    PF_OK)
		return ag_fault(f, PF_E_UPSTREAM, "R-5-13",
		    "a redirect without a cookie");
	if ((why = ag_cookie_fault(cookie)) != NULL)
		return ag_fault(f, PF_E_UPSTREAM, "R-5-17", "a cookie, but %s",
		    why);
	return PF_OK;
}

static enum pf_rc
ask(struct agent *ag, const struct ag_request *rq, struct ag_reply *rp)
{
	struct ag_patience patience = { 0 };
	bool again;
	enum pf_rc rc;

	/* A limit has not spent the assertion, but time has: it lives longer
	 * than any wait that is worth it. */
	do {
		if ((rc = ag_wait_before(ag, rq->method, rq->url)) != PF_OK ||
		    (rc = ag_http_send(ag, rq, rp)) != PF_OK ||
		    (rc = ag_wait_after(ag, &patience, rq->method, rq->url, rp,
		    &again)) != PF_OK)
			return rc;
	} while (again);
	ag_show_status(&ag->show, rp->status, NULL);
	return PF_OK;
}

static enum pf_rc
post(struct agent *ag, const struct ag_joining *j, struct ag_reply *rp)
{
	/* The page that a real browser posts from says nothing of itself. */
	static const struct ag_field field[] = {
		{ PF_LIT_INIT("Content-Type"),
		    PF_LIT_INIT("application/x-www-form-urlencoded") },
		{ PF_LIT_INIT("Origin"), PF_LIT_INIT("null") },
	};
	struct ag_request rq = {
		.method = "POST", .url = j->company->browser_endpoint,
		.field = field, .nfields = PF_COUNT(field), .max = PAGE_MAX,
	};
	struct pf_str assertion;
	enum pf_rc rc;

	if ((rc = ag_browser_assert(ag, j, &assertion)) != PF_OK ||
	    (rc = ag_join_form(&ag->arena, assertion, &rq.body)) != PF_OK)
		return rc;
	return ask(ag, &rq, rp);
}

static enum pf_rc
open_page(struct agent *ag, const struct ag_joining *j,
    const struct ag_cookie *cookie, struct ag_reply *rp)
{
	struct ag_field field = { PF_LIT("Cookie"), PF_NOSTR };
	const struct ag_request rq = {
		.method = "GET", .url = j->return_to, .field = &field,
		.nfields = 1, .body = PF_NOSTR, .max = PAGE_MAX,
	};
	struct pf_buf b;
	enum pf_rc rc;

	pf_buf_init(&b, &ag->arena, COOKIE_MAX);
	pf_buf_add(&b, cookie->name);
	pf_buf_char(&b, '=');
	pf_buf_add(&b, cookie->value);
	if ((rc = pf_buf_done(&b, &field.value)) != PF_OK)
		return rc;
	ag_show_request(&ag->show, rq.method, rq.url);
	ag_show_sent_secret(&ag->show, "Cookie", field.value);
	return ask(ag, &rq, rp);
}

enum pf_rc
ag_join(struct agent *ag, const struct ag_joining *j)
{
	struct ag_reply rp = { .status = 0 };
	struct ag_cookie cookie;
	enum pf_rc rc;

	if ((rc = post(ag, j, &rp)) != PF_OK ||
	    (rc = ag_join_check(ag, &rp, j->return_to, &cookie)) != PF_OK)
		return rc;
	ag_show_received(&ag->show, PF_LIT("location"), j->return_to);
	ag_show_received_secret(&ag->show, PF_LIT("set-cookie"), cookie.value);
	ag_show_fact(&ag->show, "cookie", cookie.name);
	if ((rc = open_page(ag, j, &cookie, &rp)) != PF_OK)
		return rc;
	ag_show_fact(&ag->show, "page", j->return_to);
	ag_show_fact_int(&ag->show, "status", rp.status);
	ag_show_fact(&ag->show, "title", ag_html_title(&ag->arena, rp.body));
	return PF_OK;
}
