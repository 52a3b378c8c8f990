/*
 * The page that asks (section 4.5), and the answer. What was asked for is read
 * again from the database each time; the form says which scopes, and yes or no.
 */
#include "fcgi/auth/pages.h"

#include "core/poppy/audit.h"
#include "core/web/url.h"

#define CODE_SECONDS	60

const struct pf_stmt auth_authorize_show = {
	"authorize_show", "SELECT outcome, client_id, name, logo, redirect,"
	" scopes, resource FROM poppy_api.authorize_show($1, $2)"
};

static const struct pf_stmt AUTHORIZE_DECIDE = {
	"authorize_decide", "SELECT outcome, redirect, state, approved, status"
	" FROM poppy_api.authorize_decide($1, $2, $3, $4, $5, $6, $7, $8)"
};
enum { DECIDE_OUTCOME, DECIDE_REDIRECT, DECIDE_STATE, DECIDE_APPROVED,
    DECIDE_STATUS };

/* A request on its way. */
struct asking {
	struct auth_page page;
	struct pf_str id;		/* as the URL has it */
	struct pf_tokenhash hash;
	struct pf_row row;		/* of authorize_show() */
};

static enum pf_rc
show(struct asking *q)
{
	struct pf_req *rq = q->page.rq;
	const struct pf_param v[] = {
		PF_BYTES(q->hash.b, sizeof(q->hash.b)),
		PF_TEXT(q->page.login.account)
	};

	return pf_db_one(rq->db, rq->arena, &auth_authorize_show, v,
	    PF_COUNT(v), &q->row);
}

/* Why it can't be shown or decided. */
static enum pf_rc
say(struct asking *q, const struct pf_row *row)
{
	if (pf_row_is(row, AUTH_SHOW_OUTCOME, "other_account"))
		return auth_page_refuse(q->page.rq, PF_SAY_OTHER_ACCOUNT,
		    "this request was begun by another account");
	return auth_page_say(q->page.rq, PF_SAY_ENDED);
}

/* Where the browser goes then; an app on this computer has no host. */
static enum pf_rc
redirect_host(struct pf_req *rq, struct pf_str uri, struct pf_str *host,
    bool *loopback)
{
	struct auth_agent a;
	enum pf_rc rc;

	rc = auth_agent_of(rq, uri, PF_NOSTR, PF_NOSTR, &a);
	*host = a.host;
	*loopback = !pf_url_is_https(uri);
	return rc;
}

static enum pf_rc
send_page(struct asking *q, const struct auth_agent *agent,
    const struct pf_vars *scopes, size_t nscopes)
{
	struct auth_page *p = &q->page;
	struct pf_str redirect = pf_row_str(&q->row, AUTH_SHOW_REDIRECT);
	struct pf_str action, host;
	struct auth_hidden hidden, leave;
	struct pf_buf b;
	enum pf_rc rc;
	bool loopback;

	pf_buf_init(&b, p->rq->arena, 512);
	pf_buf_addz(&b, "consent/");
	pf_buf_add(&b, q->id);
	if ((rc = pf_buf_done(&b, &action)) != PF_OK ||
	    (rc = redirect_host(p->rq, redirect, &host, &loopback)) != PF_OK ||
	    (rc = auth_page_form(p, "consent", q->id, &hidden)) != PF_OK ||
	    (rc = auth_page_leave(p, true, &leave)) != PF_OK)
		return rc;
	const struct pf_var v[] = {
		AUTH_AGENT_VARS(*agent),
		PF_VAR("action", auth_page_url(p->rq, action)),
		PF_VAR_LIST("hidden", hidden.rows, hidden.n),
		PF_VAR("account", p->login.name),
		PF_VAR_LIST("scopes", scopes, nscopes),
		PF_VAR("redirect_host", host), PF_VAR_IF("loopback", loopback),
		AUTH_LEAVE_VARS(p, leave),
	};
	const struct pf_page page = {
		.id = PF_PAGE_CONSENT, .status = 200, .lang = p->lang, .v = v,
		.n = PF_COUNT(v),
		.allow.redirect = redirect,
		.allow.images = { &agent->logo, agent->logo.n > 0 },
	};

	return pf_pages_send(p->rq, auth_of(p->rq)->pages, &page);
}

static enum pf_rc
ask(struct asking *q)
{
	struct auth_page *p = &q->page;
	struct auth_agent agent;
	struct pf_vars *scopes;
	enum pf_rc rc;
	size_t n;

	if ((rc = show(q)) != PF_OK)
		return rc;
	if (!pf_row_is(&q->row, AUTH_SHOW_OUTCOME, "ok"))
		return say(q, &q->row);
	p->lang = pf_pages_lang(p->rq, auth_of(p->rq)->pages, p->login.locale);
	rc = auth_agent_of(p->rq, pf_row_str(&q->row, AUTH_SHOW_CLIENT_ID),
	    pf_row_str(&q->row, AUTH_SHOW_NAME),
	    pf_row_str(&q->row, AUTH_SHOW_LOGO), &agent);
	if (rc != PF_OK)
		return rc;
	rc = auth_scope_rows(p, pf_row_str(&q->row, AUTH_SHOW_SCOPES), &scopes,
	    &n);
	return rc != PF_OK ? rc : send_page(q, &agent, scopes, n);
}

/*
 * The User of a client that knows no Sessions (section 6): made of the account,
 * apart from all that agents name. It is used only where the request names no
 * Session, which the database knows.
 */
static enum pf_rc
user_of(struct asking *q, struct pf_user *out)
{
	const struct pf_app *app = pf_app(q->page.rq);
	struct pf_str client;
	struct pf_buf b;
	enum pf_rc rc;

	*out = (struct pf_user){ .bucket = 0 };
	if (pf_row_null(&q->row, AUTH_SHOW_RESOURCE))
		return PF_OK;
	pf_buf_init(&b, q->page.rq->arena, 4096);
	pf_buf_addz(&b, "mcp:");
	pf_buf_add(&b, pf_row_str(&q->row, AUTH_SHOW_CLIENT_ID));
	if ((rc = pf_buf_done(&b, &client)) != PF_OK)
		return rc;
	return pf_user_of(&app->keys, client, q->page.login.account, out);
}

static enum pf_rc
decide(struct asking *q, const struct pf_user *user,
    const struct pf_tokenhash *code, struct pf_row *row)
{
	struct pf_req *rq = q->page.rq;
	bool approve = pf_str_eqz(auth_page_field(&q->page, "answer"),
	    "approve");
	const struct pf_param v[] = {
		PF_BYTES(q->hash.b, sizeof(q->hash.b)),
		PF_TEXT(q->page.login.account), PF_BOOL(approve),
		PF_TEXT(auth_scopes_ticked(&q->page)),
		PF_BYTES(code->b, sizeof(code->b)), PF_INT4(CODE_SECONDS),
		pf_row_null(&q->row, AUTH_SHOW_RESOURCE) ? PF_NULLP :
		    PF_BYTES(user->key, sizeof(user->key)),
		PF_TEXT(pf_audit_address(rq))
	};

	return pf_db_one(rq->db, rq->arena, &AUTHORIZE_DECIDE, v, PF_COUNT(v),
	    row);
}

static enum pf_rc
answer(struct asking *q, struct pf_token *code)
{
	struct pf_req *rq = q->page.rq;
	struct pf_tokenhash hash;
	struct pf_str text;
	struct pf_user user;
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = show(q)) != PF_OK)
		return rc;
	if (!pf_row_is(&q->row, AUTH_SHOW_OUTCOME, "ok"))
		return say(q, &q->row);
	if ((rc = user_of(q, &user)) != PF_OK ||
	    (rc = pf_token_new("pac_", user.bucket, code)) != PF_OK)
		return rc;
	text = pf_bytes(code->text, sizeof(code->text));
	if ((rc = pf_token_hash(text, &hash)) != PF_OK ||
	    (rc = decide(q, &user, &hash, &row)) != PF_OK)
		return rc;
	if (pf_row_is(&row, DECIDE_OUTCOME, "refused"))
		return auth_page_say(rq, pf_say_of_status(pf_row_str(&row,
		    DECIDE_STATUS)));
	if (!pf_row_is(&row, DECIDE_OUTCOME, "ok"))
		return say(q, &row);
	if (pf_row_bool(&row, DECIDE_APPROVED))
		return auth_redirect(rq, pf_row_str(&row, DECIDE_REDIRECT),
		    "code", text, NULL, pf_row_str(&row, DECIDE_STATE));
	return auth_redirect(rq, pf_row_str(&row, DECIDE_REDIRECT), "error",
	    PF_LIT("access_denied"), NULL, pf_row_str(&row, DECIDE_STATE));
}

/* PF_E_ABSENT: the URL names no request. */
static enum pf_rc
begin(struct pf_req *rq, struct asking *q)
{
	enum pf_rc rc;

	if ((rc = auth_page_begin(rq, &q->page)) != PF_OK)
		return rc;
	q->id = rq->var[0];
	if (pf_token_parse("prq_", q->id, NULL) != PF_OK)
		return PF_E_ABSENT;
	return pf_token_hash(q->id, &q->hash);
}

static enum pf_rc
to_login(struct asking *q)
{
	struct pf_str next;
	struct pf_buf b;
	enum pf_rc rc;

	pf_buf_init(&b, q->page.rq->arena, 128);
	pf_buf_addz(&b, "consent/");
	pf_buf_add(&b, q->id);
	rc = pf_buf_done(&b, &next);
	return rc != PF_OK ? rc : auth_page_login(&q->page, next);
}

enum pf_rc
auth_consent(struct pf_req *rq)
{
	struct asking q = { .id = PF_NOSTR };
	enum pf_rc rc;

	if ((rc = begin(rq, &q)) == PF_E_ABSENT)
		return auth_page_say(rq, PF_SAY_ENDED);
	if (rc != PF_OK)
		return rc;
	return q.page.login.in ? ask(&q) : to_login(&q);
}

enum pf_rc
auth_consent_answer(struct pf_req *rq)
{
	struct asking q = { .id = PF_NOSTR };
	struct pf_token code = { { 0 } };
	enum pf_rc rc;

	if ((rc = begin(rq, &q)) == PF_E_ABSENT)
		return auth_page_say(rq, PF_SAY_ENDED);
	if (rc != PF_OK)
		return rc;
	if (!q.page.login.in)
		return to_login(&q);
	rc = auth_page_sent(&q.page, "consent", q.id);
	if (rc == PF_E_FORBID)
		return auth_page_refuse(rq, PF_SAY_STALE_FORM,
		    "consent: the form is not from here");
	if (rc != PF_OK)
		return rc;
	rc = answer(&q, &code);
	pf_token_wipe(&code);
	return rc;
}
