/*
 * The agents that are connected to a customer's account, and how to disconnect
 * them (section 4.9).
 */
#include "fcgi/auth/pages.h"

#include "core/poppy/audit.h"
#include "core/poppy/scope.h"

static const struct pf_stmt CONNECTED_LIST = {
	"connected_list", "SELECT client_no, client_id, name, scopes,"
	" since_at, used_at, expires_at, kinds, sessions"
	" FROM poppy_api.connected_list($1)"
};
enum { LIST_NO, LIST_ID, LIST_NAME, LIST_SCOPES, LIST_SINCE, LIST_USED,
    LIST_EXPIRES, LIST_KINDS, LIST_SESSIONS };

static const struct pf_stmt CONNECTED_END = {
	"connected_end", "SELECT poppy_api.connected_end($1, $2, $3)"
};

#define AGENT_VARS	16
#define SHOWN_MAX	200	/* agents on the page */

struct list {
	struct auth_page page;
	const struct pf_rows *rows;
	size_t n;
};

static enum pf_rc
read_list(struct list *l)
{
	struct pf_req *rq = l->page.rq;
	const struct pf_param v[] = { PF_TEXT(l->page.login.account) };

	return pf_db_many(rq->db, rq->arena, &CONNECTED_LIST, v, PF_COUNT(v),
	    &l->rows, &l->n);
}

static enum pf_rc
agent_of(struct pf_req *rq, const struct pf_row *row, struct auth_agent *out)
{
	return auth_agent_of(rq, pf_row_str(row, LIST_ID),
	    pf_row_str(row, LIST_NAME), PF_NOSTR, out);
}

/* "agents?disconnect=NO" */
static enum pf_rc
url_of(struct pf_req *rq, const char *which, int64_t no, struct pf_str *out)
{
	struct pf_str place;
	struct pf_buf b;
	enum pf_rc rc;

	pf_buf_init(&b, rq->arena, 64);
	pf_buf_addz(&b, "agents?disconnect=");
	if (which != NULL)
		pf_buf_addz(&b, which);
	else
		pf_buf_int(&b, no);
	if ((rc = pf_buf_done(&b, &place)) != PF_OK)
		return rc;
	*out = auth_page_url(rq, place);
	return pf_str_given(*out) ? PF_OK : PF_E_MEM;
}

/* "" for none. */
static enum pf_rc
count_of(struct pf_req *rq, int64_t n, struct pf_str *out)
{
	struct pf_buf b;

	pf_buf_init(&b, rq->arena, 32);
	if (n > 0)
		pf_buf_int(&b, n);
	return pf_buf_done(&b, out);
}

static enum pf_rc
fill_row(struct list *l, const struct pf_row *row, struct pf_var *v)
{
	struct auth_page *p = &l->page;
	int64_t since = pf_row_int(row, LIST_SINCE);
	int64_t used = pf_row_int(row, LIST_USED);
	int64_t ends = pf_row_int(row, LIST_EXPIRES);
	struct pf_str kinds = pf_row_str(row, LIST_KINDS);
	struct auth_agent a;
	struct pf_vars *scopes;
	struct pf_str url, sessions;
	enum pf_rc rc;
	size_t n;

	if ((rc = agent_of(p->rq, row, &a)) != PF_OK ||
	    (rc = auth_scope_rows(p, pf_row_str(row, LIST_SCOPES), &scopes,
	    &n)) != PF_OK ||
	    (rc = url_of(p->rq, NULL, pf_row_int(row, LIST_NO), &url)) !=
	    PF_OK || (rc = count_of(p->rq, pf_row_int(row, LIST_SESSIONS),
	    &sessions)) != PF_OK)
		return rc;
	const struct pf_var filled[AGENT_VARS] = {
		AUTH_AGENT_VARS(a), PF_VAR_LIST("scopes", scopes, n),
		PF_VAR("since", pf_pages_iso(p->rq, since)),
		PF_VAR("since_text", pf_pages_day(p->rq, p->lang, since)),
		PF_VAR("used", pf_pages_iso(p->rq, used)),
		PF_VAR("used_text", pf_pages_day(p->rq, p->lang, used)),
		PF_VAR("ends", pf_pages_iso(p->rq, ends)),
		PF_VAR("ends_text", pf_pages_day(p->rq, p->lang, ends)),
		PF_VAR("sessions", sessions),
		PF_VAR_IF("by_direct", pf_scope_has(kinds, PF_LIT("direct"))),
		PF_VAR_IF("by_device", pf_scope_has(kinds, PF_LIT("device"))),
		PF_VAR_IF("by_mediated",
		    pf_scope_has(kinds, PF_LIT("mediated"))),
		PF_VAR("url", url),
	};

	for (size_t i = 0; i < AGENT_VARS; i++)
		v[i] = filled[i];
	return PF_OK;
}

static enum pf_rc
fill_rows(struct list *l, struct pf_vars **out, size_t *n)
{
	struct pf_var *v;
	struct pf_row row;
	enum pf_rc rc;

	*n = l->n < SHOWN_MAX ? l->n : SHOWN_MAX;
	*out = pf_arena_alloc(l->page.rq->arena, *n * sizeof(**out));
	v = pf_arena_alloc(l->page.rq->arena, *n * AGENT_VARS * sizeof(*v));
	if (*out == NULL || v == NULL)
		return PF_E_MEM;
	for (size_t i = 0; i < *n; i++, v += AGENT_VARS) {
		row = pf_rows_at(l->rows, i);
		if ((rc = fill_row(l, &row, v)) != PF_OK)
			return rc;
		(*out)[i] = (struct pf_vars){ v, AGENT_VARS, NULL };
	}
	return PF_OK;
}

static enum pf_rc
send_list(struct list *l)
{
	struct auth_page *p = &l->page;
	struct pf_str gone = auth_page_field(p, "gone"), all = PF_LIT("");
	struct auth_hidden leave;
	struct pf_vars *agents;
	enum pf_rc rc;
	size_t n;

	if ((rc = fill_rows(l, &agents, &n)) != PF_OK ||
	    (rc = auth_page_leave(p, false, &leave)) != PF_OK ||
	    (n > 1 && (rc = url_of(p->rq, "all", 0, &all)) != PF_OK))
		return rc;
	const struct pf_var v[] = {
		PF_VAR("account", p->login.name),
		PF_VAR_LIST("agents", agents, n),
		PF_VAR_IF("gone", pf_str_eqz(gone, "one")),
		PF_VAR_IF("gone_all", pf_str_eqz(gone, "all")),
		PF_VAR("url_all", all),
		PF_VAR("back", pf_app(p->rq)->set.pages.account_url),
		AUTH_LEAVE_VARS(p, leave),
	};
	const struct pf_page page = {
		.id = PF_PAGE_AGENTS, .status = 200, .lang = p->lang, .v = v,
		.n = PF_COUNT(v),
	};

	return pf_pages_send(p->rq, auth_of(p->rq)->pages, &page);
}

/* "all", or one of the list, whose row is *row then. */
static bool
find(const struct list *l, struct pf_str which, struct pf_row *row)
{
	int64_t no;

	if (pf_str_int(which, 1, INT64_MAX, &no) != PF_OK)
		return false;
	for (size_t i = 0; i < l->n; i++) {
		*row = pf_rows_at(l->rows, i);
		if (pf_row_int(row, LIST_NO) == no)
			return true;
	}
	return false;
}

static enum pf_rc
ask(struct list *l, struct pf_str which)
{
	bool all = pf_str_eqz(which, "all");
	struct auth_page *p = &l->page;
	struct auth_agent a = { .name = PF_LIT("") };
	struct auth_hidden hidden;
	struct pf_str self;
	struct pf_row row;
	struct pf_buf b;
	enum pf_rc rc;

	if (!all && !find(l, which, &row))
		return auth_page_goto(p, PF_LIT("agents"));
	if (!all && (rc = agent_of(p->rq, &row, &a)) != PF_OK)
		return rc;
	pf_buf_init(&b, p->rq->arena, 64);
	pf_buf_fmt(&b, "?disconnect=%.*s&", PF_STRF(which));
	if ((rc = pf_buf_done(&b, &self)) != PF_OK ||
	    (rc = auth_page_form(p, "agents", PF_LIT(""), &hidden)) != PF_OK)
		return rc;
	auth_hidden_add(&hidden, "disconnect", which);
	const struct pf_var v[] = {
		AUTH_AGENT_VARS(a), PF_VAR_IF("all", all),
		PF_VAR("action", auth_page_url(p->rq, PF_LIT("agents"))),
		PF_VAR("back", auth_page_url(p->rq, PF_LIT("agents"))),
		PF_VAR_LIST("hidden", hidden.rows, hidden.n),
	};
	const struct pf_page page = {
		.id = PF_PAGE_DISCONNECT, .status = 200, .lang = p->lang,
		.v = v, .n = PF_COUNT(v), .here = self,
	};

	return pf_pages_send(p->rq, auth_of(p->rq)->pages, &page);
}

static enum pf_rc
begin(struct pf_req *rq, struct auth_page *p)
{
	enum pf_rc rc;

	if ((rc = auth_page_begin(rq, p)) == PF_OK)
		p->lang = pf_pages_lang(rq, auth_of(rq)->pages,
		    p->login.locale);
	return rc;
}

enum pf_rc
auth_agents(struct pf_req *rq)
{
	struct list l = { .n = 0 };
	struct pf_str which;
	enum pf_rc rc;

	if ((rc = begin(rq, &l.page)) != PF_OK)
		return rc;
	if (!l.page.login.in)
		return auth_page_login(&l.page, PF_LIT("agents"));
	if ((rc = read_list(&l)) != PF_OK)
		return rc;
	which = auth_page_field(&l.page, "disconnect");
	return which.n > 0 ? ask(&l, which) : send_list(&l);
}

/* One that isn't there, or is another customer's, is gone just the same. */
static enum pf_rc
disconnect(struct auth_page *p)
{
	struct pf_str which = auth_page_field(p, "disconnect");
	bool all = pf_str_eqz(which, "all");
	struct pf_row row;
	int64_t no = 0;
	enum pf_rc rc;

	if (!all && pf_str_int(which, 1, INT64_MAX, &no) != PF_OK)
		return auth_page_goto(p, PF_LIT("agents"));
	const struct pf_param v[] = {
		PF_TEXT(p->login.account), all ? PF_NULLP : PF_INT8(no),
		PF_TEXT(pf_audit_address(p->rq))
	};
	rc = pf_db_one(p->rq->db, p->rq->arena, &CONNECTED_END, v, PF_COUNT(v),
	    &row);
	if (rc != PF_OK)
		return rc;
	return auth_page_goto(p, all ? PF_LIT("agents?gone=all") :
	    PF_LIT("agents?gone=one"));
}

enum pf_rc
auth_agents_sent(struct pf_req *rq)
{
	struct auth_page p;
	enum pf_rc rc;

	if ((rc = auth_page_begin(rq, &p)) != PF_OK)
		return rc;
	if (!p.login.in)
		return auth_page_login(&p, PF_LIT("agents"));
	rc = auth_page_sent(&p, "agents", PF_LIT(""));
	if (rc == PF_E_FORBID)
		return auth_page_refuse(rq, PF_SAY_STALE_FORM,
		    "agents: the form is not from here");
	return rc != PF_OK ? rc : disconnect(&p);
}
