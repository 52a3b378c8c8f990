/*
 * Customers log in: with their password on our page, or on the shop's own page,
 * from which a ticket comes back (ticket.c). And out.
 */
#include "fcgi/auth/pages.h"

#include "core/poppy/audit.h"
#include "core/poppy/kept.h"
#include "core/poppy/password.h"
#include "core/poppy/password_pool.h"
#include "core/web/url.h"

#define SHOP_SECONDS	1800	/* for the shop's page, a second factor too */

static const struct pf_stmt LOGIN_BEGIN = {
	"login_begin", "SELECT outcome, retry_s, account, password_hash,"
	" hash_kind FROM poppy_api.login_begin($1, $2, $3, $4, $5)"
};
enum { BEGIN_OUTCOME, BEGIN_RETRY_S, BEGIN_ACCOUNT, BEGIN_HASH, BEGIN_KIND };

static const struct pf_stmt SHOP_LOGIN_START = {
	"shop_login_start",
	"SELECT poppy_api.shop_login_start($1, $2, $3, $4)"
};

struct logging_in {
	struct auth_page page;
	struct pf_str next;
	struct auth_agent agent;	/* who asks; name "" if nobody */
};

/* Who the customer logs in for: shown to everybody who has the link, and bound
 * to no account by it. */
static enum pf_rc
find_agent(struct logging_in *l)
{
	static const struct pf_str consent = PF_LIT_INIT("consent/");
	struct pf_req *rq = l->page.rq;
	struct pf_tokenhash hash;
	struct pf_row row;
	enum pf_rc rc;

	l->agent = (struct auth_agent){ .name = PF_LIT("") };
	if (!pf_str_starts(l->next, consent))
		return PF_OK;
	rc = pf_token_hash(pf_str_from(l->next, consent.n), &hash);
	if (rc != PF_OK)
		return rc;
	const struct pf_param v[] = {
		PF_BYTES(hash.b, sizeof(hash.b)), PF_NULLP
	};
	rc = pf_db_one(rq->db, rq->arena, &auth_authorize_show, v, PF_COUNT(v),
	    &row);
	if (rc != PF_OK || !pf_row_is(&row, AUTH_SHOW_OUTCOME, "ok"))
		return rc;
	return auth_agent_of(rq, pf_row_str(&row, AUTH_SHOW_CLIENT_ID),
	    pf_row_str(&row, AUTH_SHOW_NAME), pf_row_str(&row, AUTH_SHOW_LOGO),
	    &l->agent);
}

static enum pf_rc
here(struct logging_in *l, struct pf_str *out)
{
	struct pf_buf b;

	pf_buf_init(&b, l->page.rq->arena, 512);
	pf_buf_addz(&b, "?next=");
	pf_url_escape(&b, l->next);
	pf_buf_char(&b, '&');
	return pf_buf_done(&b, out);
}

/* What the form says and leads to; name is what was typed before. */
static enum pf_rc
send_page(struct logging_in *l, enum pf_page_id id, struct pf_str name,
    bool failed, bool missing)
{
	struct auth_page *p = &l->page;
	struct auth_hidden hidden;
	struct pf_str self;
	enum pf_rc rc;

	if ((rc = find_agent(l)) != PF_OK || (rc = here(l, &self)) != PF_OK ||
	    (rc = auth_page_form(p, "login", PF_LIT(""), &hidden)) != PF_OK)
		return rc;
	p->lang = pf_pages_lang(p->rq, auth_of(p->rq)->pages, p->login.locale);
	auth_hidden_add(&hidden, "next", l->next);
	const struct pf_var v[] = {
		AUTH_AGENT_VARS(l->agent), PF_VAR("login", name),
		PF_VAR("action", auth_page_url(p->rq, PF_LIT("login"))),
		PF_VAR_LIST("hidden", hidden.rows, hidden.n),
		PF_VAR("account", p->login.name),
		PF_VAR_IF("failed", failed), PF_VAR_IF("missing", missing),
	};
	const struct pf_page page = {
		.id = id, .status = failed ? 403 : 200, .lang = p->lang,
		.v = v, .n = PF_COUNT(v), .here = self,
		.allow.images = { &l->agent.logo, l->agent.logo.n > 0 },
	};

	return pf_pages_send(p->rq, auth_of(p->rq)->pages, &page);
}

/* The shop's page is told which request it is for, and leads back by it. */
static enum pf_rc
to_shop(struct logging_in *l, struct pf_token *id)
{
	struct pf_str shop = pf_app(l->page.rq)->set.login.shop_url, url;
	struct pf_req *rq = l->page.rq;
	struct pf_tokenhash hash;
	struct pf_row row;
	struct pf_buf b;
	enum pf_rc rc;

	if ((rc = pf_login_ensure(rq, &l->page.login)) != PF_OK ||
	    (rc = pf_token_new("prq_", 0, id)) != PF_OK || (rc = pf_token_hash(
	    pf_bytes(id->text, sizeof(id->text)), &hash)) != PF_OK)
		return rc;
	const struct pf_param v[] = {
		PF_BYTES(hash.b, sizeof(hash.b)),
		PF_BYTES(l->page.login.hash.b, sizeof(l->page.login.hash.b)),
		PF_TEXT(l->next), PF_INT4(SHOP_SECONDS)
	};
	rc = pf_db_one(rq->db, rq->arena, &SHOP_LOGIN_START, v, PF_COUNT(v),
	    &row);
	if (rc != PF_OK)
		return rc;
	pf_buf_init(&b, rq->arena, 4096);
	pf_buf_add(&b, shop);
	pf_buf_addz(&b, pf_str_has(shop, '?') ? "&" : "?");
	pf_buf_addz(&b, "poppy_request=");
	pf_buf_add(&b, pf_bytes(id->text, sizeof(id->text)));
	if ((rc = pf_buf_done(&b, &url)) != PF_OK)
		return rc;
	pf_resp_header(rq, "Location", url);
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	return pf_resp_empty(rq, 303);
}

static enum pf_rc
begin(struct pf_req *rq, struct logging_in *l)
{
	enum pf_rc rc;

	if ((rc = auth_page_begin(rq, &l->page)) != PF_OK)
		return rc;
	l->next = auth_page_next(rq, auth_page_field(&l->page, "next"));
	return pf_str_given(l->next) ? PF_OK : PF_E_MEM;
}

/* Who comes from the shop's page logged in is asked whether that is who they
 * are: another may have left the shop's own session behind. */
enum pf_rc
auth_login(struct pf_req *rq)
{
	bool by_shop = pf_app(rq)->set.login.by_shop;
	struct logging_in l = { .next = PF_NOSTR };
	struct pf_token id = { { 0 } };
	enum pf_rc rc;

	if ((rc = begin(rq, &l)) != PF_OK)
		return rc;
	if (l.page.login.in)
		return by_shop ? send_page(&l, PF_PAGE_LANDING, PF_LIT(""),
		    false, false) : auth_page_goto(&l.page, l.next);
	if (!by_shop)
		return send_page(&l, PF_PAGE_LOGIN, PF_LIT(""), false, false);
	rc = to_shop(&l, &id);
	pf_token_wipe(&id);
	return rc;
}

/* --- by password --- */

/* An attempt, kept while its password is checked on another thread: it has been
 * counted, and must be once. */
struct attempt {
	unsigned char name_key[PF_LIMIT_KEY];
	struct pf_row row;
};
static const char ATTEMPT[] = "login attempt";

static enum pf_rc
look_up(struct logging_in *l, struct pf_str name, struct attempt *a)
{
	const struct pf_settings *s = &pf_app(l->page.rq)->set;
	unsigned char address[PF_LIMIT_KEY];
	struct pf_req *rq = l->page.rq;
	enum pf_rc rc;

	if ((rc = pf_login_key(rq, name, a->name_key)) != PF_OK)
		return rc;
	pf_limit_address(rq, address);
	const struct pf_param v[] = {
		PF_TEXT(name), PF_BYTES(a->name_key, PF_LIMIT_KEY),
		PF_BYTES(address, sizeof(address)),
		PF_INT4(s->login.failures_per_login),
		PF_INT4(s->login.failures_per_address)
	};
	return pf_db_one(rq->db, rq->arena, &LOGIN_BEGIN, v, PF_COUNT(v),
	    &a->row);
}

static enum pf_rc
attempt_of(struct logging_in *l, struct pf_str name, struct attempt **out)
{
	struct pf_req *rq = l->page.rq;
	enum pf_rc rc;

	if ((*out = pf_kept_find(rq, ATTEMPT)) != NULL)
		return PF_OK;
	if ((*out = pf_arena_alloc(rq->arena, sizeof(**out))) == NULL)
		return PF_E_MEM;
	if ((rc = look_up(l, name, *out)) != PF_OK)
		return rc;
	return pf_kept_add(rq, ATTEMPT, *out);
}

static enum pf_rc
failed(struct logging_in *l, struct pf_str name)
{
	struct pf_req *rq = l->page.rq;

	pf_audit_count(pf_app(rq)->proc->audit, PF_LIT("login_failed"),
	    pf_audit_address(rq), 1);
	return send_page(l, PF_PAGE_LOGIN, name, true, false);
}

/* What was found is that of nobody when there is no such customer: the work is
 * the same, and so is the answer. */
static enum pf_rc
check(struct logging_in *l, struct pf_str name, struct pf_str password)
{
	struct pf_req *rq = l->page.rq;
	struct attempt *a;
	enum pf_rc rc, answer = PF_E_AUTH;

	if ((rc = attempt_of(l, name, &a)) != PF_OK)
		return rc;
	if (pf_row_is(&a->row, BEGIN_OUTCOME, "limit"))
		return auth_page_limit(rq, pf_row_int(&a->row, BEGIN_RETRY_S));
	rc = pf_password_ask(rq, pf_app(rq)->proc->passwords,
	    pf_row_str(&a->row, BEGIN_KIND), pf_row_str(&a->row, BEGIN_HASH),
	    password, &answer);
	if (rc != PF_OK)
		return rc;
	if (answer != PF_OK || !pf_row_is(&a->row, BEGIN_OUTCOME, "ok"))
		return failed(l, name);
	rc = pf_login_start(rq, &l->page.login,
	    pf_row_str(&a->row, BEGIN_ACCOUNT), a->name_key);
	if (rc == PF_E_FORBID)
		return auth_page_say(rq,
		    pf_say_of_status(l->page.login.status));
	return rc != PF_OK ? rc : auth_page_goto(&l->page, l->next);
}

static enum pf_rc
by_password(struct logging_in *l)
{
	struct pf_str typed = auth_page_field(&l->page, "login"), name;
	struct pf_str password = auth_page_field(&l->page, "password");
	enum pf_rc rc;

	if ((rc = pf_login_name(l->page.rq, typed, &name)) != PF_OK)
		return rc;
	if (name.n == 0 || password.n == 0 ||
	    password.n > PF_PASSWORD_MAX)
		return send_page(l, PF_PAGE_LOGIN, name, true,
		    password.n == 0 || name.n == 0);
	return check(l, name, password);
}

/* "This is not me": the shop's own session has to end, too. */
static enum pf_rc
somebody_else(struct auth_page *p)
{
	struct pf_req *rq = p->rq;
	enum pf_rc rc;

	if ((rc = pf_login_end(rq, &p->login)) != PF_OK)
		return rc;
	if (!pf_app(rq)->set.login.by_shop)
		return auth_page_say(rq, PF_SAY_LEFT);
	return pf_pages_say(rq, auth_of(rq)->pages, PF_SAY_NOT_ME,
	    pf_app(rq)->set.login.shop_url, PF_T("Go to the shop's sign-in"));
}

enum pf_rc
auth_login_sent(struct pf_req *rq)
{
	struct logging_in l = { .next = PF_NOSTR };
	enum pf_rc rc;

	if ((rc = begin(rq, &l)) != PF_OK)
		return rc;
	rc = auth_page_sent(&l.page, "login", PF_LIT(""));
	if (rc == PF_E_FORBID)
		return auth_page_refuse(rq, PF_SAY_STALE_FORM,
		    "login: the form is not from here");
	if (rc != PF_OK)
		return rc;
	if (!pf_app(rq)->set.login.by_shop)
		return by_password(&l);
	if (pf_str_eqz(auth_page_field(&l.page, "answer"), "continue"))
		return auth_page_goto(&l.page, l.next);
	return somebody_else(&l.page);
}

enum pf_rc
auth_logout(struct pf_req *rq)
{
	struct auth_page p;
	enum pf_rc rc;

	if ((rc = auth_page_begin(rq, &p)) != PF_OK)
		return rc;
	rc = auth_page_sent(&p, "logout", PF_LIT(""));
	if (rc == PF_E_FORBID)
		return auth_page_refuse(rq, PF_SAY_STALE_FORM,
		    "logout: the form is not from here");
	if (rc != PF_OK)
		return rc;
	if (auth_page_field(&p, "asked").n > 0)
		return somebody_else(&p);
	if ((rc = pf_login_end(rq, &p.login)) != PF_OK)
		return rc;
	return auth_page_say(rq, PF_SAY_SIGNED_OUT);
}
