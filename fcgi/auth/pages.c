/*
 * pages - see pages.h.
 */
#include "fcgi/auth/pages.h"

#include "core/base/log.h"
#include "core/poppy/audit.h"
#include "core/web/cookie.h"
#include "core/web/url.h"

#define PLACE_MAX	4096

static const struct pf_pages *
pages_of(const struct pf_req *rq)
{
	return auth_of(rq)->pages;
}

enum pf_rc
auth_page_begin(struct pf_req *rq, struct auth_page *out)
{
	struct pf_str text = rq->method == PF_POST ? rq->body : rq->query;
	const char *why;
	enum pf_rc rc;

	*out = (struct auth_page){ .rq = rq };
	rc = pf_form_parse(rq->arena, text, &out->form, &why);
	if (rc == PF_E_INPUT)
		return pf_fail(rq, PF_INVALID_REQUEST, "form: %s", why);
	if (rc == PF_OK)
		rc = pf_limit_before(rq, PF_LIMIT_REFUSED);
	if (rc != PF_OK)
		return rc;
	return pf_login_load(rq, &out->login);
}

struct pf_str
auth_page_field(const struct auth_page *p, const char *name)
{
	struct pf_str value;

	return pf_form_get(&p->form, name, &value) == PF_OK ? value :
	    PF_LIT("");
}

enum pf_rc
auth_page_sent(struct auth_page *p, const char *form, struct pf_str id)
{
	return pf_login_sent(p->rq, &p->login, form, id,
	    auth_page_field(p, "csrf"));
}

struct pf_str
auth_page_url(struct pf_req *rq, struct pf_str place)
{
	struct pf_str url;
	struct pf_buf b;

	pf_buf_init(&b, rq->arena, PLACE_MAX);
	pf_buf_add(&b, pf_app(rq)->set.mounts.pages);
	pf_buf_char(&b, '/');
	pf_buf_add(&b, place);
	return pf_buf_done(&b, &url) == PF_OK ? url : PF_NOSTR;
}

enum pf_rc
auth_page_goto(struct auth_page *p, struct pf_str place)
{
	struct pf_str url = auth_page_url(p->rq, place);

	if (!pf_str_given(url))
		return PF_E_MEM;
	pf_resp_header(p->rq, "Location", url);
	pf_resp_header(p->rq, "Cache-Control", PF_LIT("no-store"));
	return pf_resp_empty(p->rq, 303);
}

enum pf_rc
auth_page_login(struct auth_page *p, struct pf_str next)
{
	struct pf_str place;
	struct pf_buf b;
	enum pf_rc rc;

	/* Of a link from the shop with ?lang= the cookie stays. */
	(void)pf_pages_lang(p->rq, pages_of(p->rq), PF_NOSTR);
	if (pf_str_given(p->login.status))
		return auth_page_say(p->rq, pf_say_of_status(p->login.status));
	pf_buf_init(&b, p->rq->arena, PLACE_MAX);
	pf_buf_addz(&b, "login?next=");
	pf_url_escape(&b, next);
	if ((rc = pf_buf_done(&b, &place)) != PF_OK)
		return rc;
	return auth_page_goto(p, place);
}

enum pf_rc
auth_page_say(struct pf_req *rq, enum pf_say what)
{
	return pf_pages_say(rq, pages_of(rq), what, PF_NOSTR, NULL);
}

enum pf_rc
auth_page_refuse(struct pf_req *rq, enum pf_say what, const char *why)
{
	PF_LOG(PF_LOG_INFO, "refused", PF_F_Z("why", why),
	    PF_F_Z("route", rq->route->path),
	    PF_F_STR("address", rq->remote_addr));
	pf_audit_count(pf_app(rq)->proc->audit, pf_str(why),
	    pf_audit_address(rq), 1);
	pf_limit_refused(rq);
	return auth_page_say(rq, what);
}

enum pf_rc
auth_page_limit(struct pf_req *rq, int64_t retry_s)
{
	pf_resp_headerf(rq, "Retry-After", "%lld",
	    (long long)(retry_s > 0 ? retry_s : 1));
	return auth_page_say(rq, PF_SAY_LIMIT);
}

/* Pages are on the issuer's host alone, and for no agent's browser: it must
 * never approve for its own user. */
enum pf_rc
auth_page_needs(struct pf_req *rq)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_host *host = pf_settings_host(s, rq->host);

	if (host == NULL || !pf_str_eq(host->base, s->issuer_host->base))
		return pf_fail(rq, PF_NOT_FOUND, "There is nothing here.");
	return pf_cookie_named(rq->cookie, s->browser.cookie.p) ?
	    PF_E_FORBID : PF_OK;
}

static const struct { enum pf_err err; enum pf_say say; } errors[] = {
	{ PF_INVALID_CLIENT, PF_SAY_BAD_CLIENT },
	{ PF_INSUFFICIENT_SCOPE, PF_SAY_AGENT },
	{ PF_RATE_LIMITED, PF_SAY_LIMIT },
	{ PF_UNAVAILABLE, PF_SAY_BUSY },
	{ PF_NOT_FOUND, PF_SAY_ABSENT },
	{ PF_TOO_LARGE, PF_SAY_TOO_LARGE },
	{ PF_SERVER_ERROR, PF_SAY_FAULT },
};

void
auth_page_error(struct pf_req *rq)
{
	enum pf_say what = PF_SAY_BAD_REQUEST;

	for (size_t i = 0; i < PF_COUNT(errors); i++)
		if (errors[i].err == rq->err)
			what = errors[i].say;
	pf_resp_reset(rq);
	if (rq->retry_after > 0)
		pf_resp_headerf(rq, "Retry-After", "%d", rq->retry_after);
	if (auth_page_say(rq, what) == PF_OK)
		return;
	/* No memory for a page: the status alone must do. */
	pf_resp_reset(rq);
	rq->resp.status = pf_say_status(what);
	rq->resp.body = PF_LIT("");
}

void
auth_hidden_add(struct auth_hidden *h, const char *name, struct pf_str value)
{
	struct pf_var *v = h->v[h->n];

	v[0] = (struct pf_var)PF_VAR("name", pf_str(name));
	v[1] = (struct pf_var)PF_VAR("value", value);
	h->rows[h->n++] = (struct pf_vars){ v, 2, NULL };
}

enum pf_rc
auth_page_form(struct auth_page *p, const char *form, struct pf_str id,
    struct auth_hidden *out)
{
	struct pf_str token;
	enum pf_rc rc;

	out->n = 0;
	if ((rc = pf_login_ensure(p->rq, &p->login)) != PF_OK ||
	    (rc = pf_login_csrf(p->rq, &p->login, form, id, &token)) != PF_OK)
		return rc;
	auth_hidden_add(out, "csrf", token);
	return PF_OK;
}

enum pf_rc
auth_page_leave(struct auth_page *p, bool asked, struct auth_hidden *out)
{
	enum pf_rc rc;

	rc = auth_page_form(p, "logout", PF_LIT(""), out);
	if (rc == PF_OK && asked)
		auth_hidden_add(out, "asked", PF_LIT("1"));
	return rc;
}

enum pf_rc
auth_style(struct pf_req *rq)
{
	return pf_pages_style(rq, pages_of(rq));
}
