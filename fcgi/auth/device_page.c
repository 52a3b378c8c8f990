/*
 * Device Sign-In, the customer's side (section 4.6; RFC 8628, 3.3): the code is
 * typed or comes with the link, and is shown again before anything is allowed.
 */
#include "fcgi/auth/pages.h"

#include "core/poppy/audit.h"

static const struct pf_stmt DEVICE_SHOW = {
	"device_show", "SELECT outcome, retry_s, client_id, name, logo, scopes"
	" FROM poppy_api.device_show($1, $2, $3, $4)"
};
enum { SHOW_OUTCOME, SHOW_RETRY_S, SHOW_CLIENT_ID, SHOW_NAME, SHOW_LOGO,
    SHOW_SCOPES };

static const struct pf_stmt DEVICE_DECIDE = {
	"device_decide", "SELECT outcome, approved, status"
	" FROM poppy_api.device_decide($1, $2, $3, $4, $5)"
};
enum { DECIDE_OUTCOME, DECIDE_APPROVED, DECIDE_STATUS };

struct device {
	struct auth_page page;
	struct pf_str typed, shown, bare;	/* the code */
	struct pf_row row;			/* of device_show() */
	struct auth_agent agent;
};

static enum pf_rc
here(struct device *d, struct pf_str *out)
{
	struct pf_buf b;

	*out = PF_LIT("?");
	if (d->shown.n == 0)
		return PF_OK;
	pf_buf_init(&b, d->page.rq->arena, 64);
	pf_buf_addz(&b, "?user_code=");
	pf_buf_add(&b, d->shown);
	pf_buf_char(&b, '&');
	return pf_buf_done(&b, out);
}

/* The page with the field. A code that is unknown, too old or used up looks
 * like one that never was. */
static enum pf_rc
ask_code(struct device *d, bool wrong)
{
	struct auth_page *p = &d->page;
	struct pf_str self;
	enum pf_rc rc;

	if ((rc = here(d, &self)) != PF_OK)
		return rc;
	p->lang = pf_pages_lang(p->rq, auth_of(p->rq)->pages, p->login.locale);
	const struct pf_var v[] = {
		PF_VAR("action", auth_page_url(p->rq, PF_LIT("device"))),
		PF_VAR("user_code", d->shown), PF_VAR_IF("wrong", wrong),
	};
	const struct pf_page page = {
		.id = PF_PAGE_CODE, .status = wrong ? 404 : 200,
		.lang = p->lang, .v = v, .n = PF_COUNT(v), .here = self,
	};

	return pf_pages_send(p->rq, auth_of(p->rq)->pages, &page);
}

static enum pf_rc
ask_consent(struct device *d)
{
	struct auth_page *p = &d->page;
	struct auth_hidden hidden, leave;
	struct pf_vars *scopes;
	struct pf_str self;
	enum pf_rc rc;
	size_t n;

	p->lang = pf_pages_lang(p->rq, auth_of(p->rq)->pages, p->login.locale);
	rc = auth_scope_rows(p, pf_row_str(&d->row, SHOW_SCOPES), &scopes, &n);
	if (rc != PF_OK || (rc = here(d, &self)) != PF_OK ||
	    (rc = auth_page_form(p, "device", d->bare, &hidden)) != PF_OK ||
	    (rc = auth_page_leave(p, true, &leave)) != PF_OK)
		return rc;
	auth_hidden_add(&hidden, "user_code", d->shown);
	const struct pf_var v[] = {
		AUTH_AGENT_VARS(d->agent),
		PF_VAR("action", auth_page_url(p->rq, PF_LIT("device"))),
		PF_VAR_LIST("hidden", hidden.rows, hidden.n),
		PF_VAR("account", p->login.name),
		PF_VAR_LIST("scopes", scopes, n),
		PF_VAR("user_code", d->shown), AUTH_LEAVE_VARS(p, leave),
	};
	const struct pf_page page = {
		.id = PF_PAGE_CONSENT, .status = 200, .lang = p->lang, .v = v,
		.n = PF_COUNT(v), .here = self,
		.allow.images = { &d->agent.logo, d->agent.logo.n > 0 },
	};

	return pf_pages_send(p->rq, auth_of(p->rq)->pages, &page);
}

/* Look for the request of this code; only misses count against the limit.
 * *said: a page has been sent. */
static enum pf_rc
show(struct device *d, bool *said)
{
	struct pf_req *rq = d->page.rq;
	unsigned char address[PF_LIMIT_KEY];
	enum pf_rc rc;

	pf_limit_address(rq, address);
	const struct pf_param v[] = {
		PF_TEXT(d->bare), PF_TEXT(d->page.login.account),
		PF_BYTES(address, sizeof(address)),
		PF_INT4(pf_app(rq)->set.device.guesses)
	};
	rc = pf_db_one(rq->db, rq->arena, &DEVICE_SHOW, v, PF_COUNT(v),
	    &d->row);
	if (rc != PF_OK)
		return rc;
	*said = !pf_row_is(&d->row, SHOW_OUTCOME, "ok");
	if (!*said)
		return auth_agent_of(rq, pf_row_str(&d->row, SHOW_CLIENT_ID),
		    pf_row_str(&d->row, SHOW_NAME),
		    pf_row_str(&d->row, SHOW_LOGO), &d->agent);
	if (pf_row_is(&d->row, SHOW_OUTCOME, "limit"))
		return auth_page_limit(rq, pf_row_int(&d->row, SHOW_RETRY_S));
	return ask_code(d, true);
}

static enum pf_rc
begin(struct pf_req *rq, struct device *d)
{
	enum pf_rc rc;

	if (pf_app(rq)->set.sign_in.device.n == 0)
		return pf_fail(rq, PF_NOT_FOUND, "There is nothing here.");
	if ((rc = auth_page_begin(rq, &d->page)) != PF_OK)
		return rc;
	d->shown = PF_LIT("");
	d->typed = auth_page_field(&d->page, "user_code");
	rc = auth_user_code(rq, d->typed, &d->shown, &d->bare);
	return rc == PF_E_INPUT ? PF_OK : rc;
}

static enum pf_rc
to_login(struct device *d)
{
	struct pf_str next;
	struct pf_buf b;
	enum pf_rc rc;

	if (d->shown.n == 0)
		return auth_page_login(&d->page, PF_LIT("device"));
	pf_buf_init(&b, d->page.rq->arena, 64);
	pf_buf_addz(&b, "device?user_code=");
	pf_buf_add(&b, d->shown);
	rc = pf_buf_done(&b, &next);
	return rc != PF_OK ? rc : auth_page_login(&d->page, next);
}

enum pf_rc
auth_device_page(struct pf_req *rq)
{
	struct device d = { .typed = PF_NOSTR };
	enum pf_rc rc;
	bool said;

	if ((rc = begin(rq, &d)) != PF_OK)
		return rc;
	if (!d.page.login.in)
		return to_login(&d);
	if (d.shown.n == 0)
		return ask_code(&d, d.typed.n > 0);
	if ((rc = show(&d, &said)) != PF_OK || said)
		return rc;
	return ask_consent(&d);
}

static enum pf_rc
done(struct device *d, bool approved)
{
	struct auth_page *p = &d->page;

	p->lang = pf_pages_lang(p->rq, auth_of(p->rq)->pages, p->login.locale);
	const struct pf_var v[] = {
		AUTH_AGENT_VARS(d->agent), PF_VAR_IF("approved", approved),
		PF_VAR("agents", auth_page_url(p->rq, PF_LIT("agents"))),
	};
	const struct pf_page page = {
		.id = PF_PAGE_DONE, .status = 200, .lang = p->lang, .v = v,
		.n = PF_COUNT(v),
	};

	return pf_pages_send(p->rq, auth_of(p->rq)->pages, &page);
}

static enum pf_rc
decide(struct device *d)
{
	struct pf_req *rq = d->page.rq;
	struct pf_row row;
	enum pf_rc rc;
	bool said;

	/* Who it was is said behind the decision. */
	if ((rc = show(d, &said)) != PF_OK || said)
		return rc;
	const struct pf_param v[] = {
		PF_TEXT(d->bare), PF_TEXT(d->page.login.account),
		PF_BOOL(pf_str_eqz(auth_page_field(&d->page, "answer"),
		    "approve")),
		PF_TEXT(auth_scopes_ticked(&d->page)),
		PF_TEXT(pf_audit_address(rq))
	};
	rc = pf_db_one(rq->db, rq->arena, &DEVICE_DECIDE, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	if (pf_row_is(&row, DECIDE_OUTCOME, "refused"))
		return auth_page_say(rq, pf_say_of_status(pf_row_str(&row,
		    DECIDE_STATUS)));
	if (!pf_row_is(&row, DECIDE_OUTCOME, "ok"))
		return auth_page_say(rq, PF_SAY_ENDED);
	return done(d, pf_row_bool(&row, DECIDE_APPROVED));
}

enum pf_rc
auth_device_answer(struct pf_req *rq)
{
	struct device d = { .typed = PF_NOSTR };
	enum pf_rc rc;

	if ((rc = begin(rq, &d)) != PF_OK)
		return rc;
	if (!d.page.login.in)
		return to_login(&d);
	rc = d.shown.n == 0 ? PF_E_FORBID :
	    auth_page_sent(&d.page, "device", d.bare);
	if (rc == PF_E_FORBID)
		return auth_page_refuse(rq, PF_SAY_STALE_FORM,
		    "device: the form is not from here");
	return rc != PF_OK ? rc : decide(&d);
}
