/*
 * The way back from the shop's own login page: a ticket that the bridge made
 * says who logged in there. It counts once, for a minute, for the request it
 * was made for, and in the browser that began it, whose cookie we gave.
 */
#include "fcgi/auth/pages.h"

#include "core/web/url.h"

static const struct pf_stmt TICKET_SPEND = {
	"ticket_spend", "SELECT outcome, account, next, status"
	" FROM poppy_api.ticket_spend($1, $2, $3)"
};
enum { OUTCOME, ACCOUNT, NEXT, STATUS };

static enum pf_rc
hash_field(const struct auth_page *p, const char *field, const char *prefix,
    struct pf_tokenhash *out)
{
	struct pf_str text = auth_page_field(p, field);

	if (pf_token_parse(prefix, text, NULL) != PF_OK)
		return PF_E_INPUT;
	return pf_token_hash(text, out);
}

static enum pf_rc
dead(struct auth_page *p)
{
	struct pf_str again = auth_page_url(p->rq, PF_LIT("agents"));

	pf_limit_refused(p->rq);
	return pf_pages_say(p->rq, auth_of(p->rq)->pages, PF_SAY_TICKET,
	    again, PF_T("Start again"));
}

/* Then to the page that asks whether that is who they are. */
static enum pf_rc
enter(struct auth_page *p, const struct pf_row *row)
{
	struct pf_str next, place;
	struct pf_buf b;
	enum pf_rc rc;

	rc = pf_login_start(p->rq, &p->login, pf_row_str(row, ACCOUNT), NULL);
	if (rc == PF_E_FORBID)
		return auth_page_say(p->rq, pf_say_of_status(p->login.status));
	if (rc != PF_OK)
		return rc;
	next = auth_page_next(p->rq, pf_row_str(row, NEXT));
	pf_buf_init(&b, p->rq->arena, 512);
	pf_buf_addz(&b, "login?next=");
	pf_url_escape(&b, next);
	if ((rc = pf_buf_done(&b, &place)) != PF_OK)
		return rc;
	return auth_page_goto(p, place);
}

enum pf_rc
auth_ticket(struct pf_req *rq)
{
	struct pf_tokenhash request, ticket;
	struct auth_page p;
	struct pf_row row;
	enum pf_rc rc;

	if (!pf_app(rq)->set.login.by_shop)
		return pf_fail(rq, PF_NOT_FOUND, "There is nothing here.");
	if ((rc = auth_page_begin(rq, &p)) != PF_OK)
		return rc;
	if (!p.login.known ||
	    hash_field(&p, "poppy_request", "prq_", &request) != PF_OK ||
	    hash_field(&p, "ticket", "ptk_", &ticket) != PF_OK)
		return dead(&p);
	const struct pf_param v[] = {
		PF_BYTES(request.b, sizeof(request.b)),
		PF_BYTES(p.login.hash.b, sizeof(p.login.hash.b)),
		PF_BYTES(ticket.b, sizeof(ticket.b))
	};
	rc = pf_db_one(rq->db, rq->arena, &TICKET_SPEND, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	if (pf_row_is(&row, OUTCOME, "ok"))
		return enter(&p, &row);
	if (pf_row_is(&row, OUTCOME, "refused"))
		return auth_page_say(rq,
		    pf_say_of_status(pf_row_str(&row, STATUS)));
	return dead(&p);
}
