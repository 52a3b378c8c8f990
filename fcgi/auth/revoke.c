/*
 * The revocation endpoint (RFC 7009; section 4.9).
 */
#include "fcgi/auth/auth.h"

#include "core/poppy/assertion.h"
#include "core/poppy/audit.h"
#include "core/poppy/limit.h"
#include "core/store/token.h"

static const struct pf_stmt TOKEN_REVOKE = {
	"token_revoke",
	"SELECT outcome, retry_s"
	" FROM poppy_api.token_revoke($1, $2, $3, $4, $5, $6, $7, $8, $9,"
	" $10, $11)"
};
enum { OUTCOME, RETRY_S };

/* What a request asks to revoke, and for whom. */
struct asking {
	struct pf_req *rq;
	struct pf_form form;
	struct pf_authn client;
	bool stale;		/* judged by documents that have changed */
};

static enum pf_rc
refuse(struct asking *q, const struct pf_row *row)
{
	struct pf_req *rq = q->rq;
	bool by_client = pf_row_is(row, OUTCOME, "limit_client");

	rq->judged = true;
	if (by_client || pf_row_is(row, OUTCOME, "limit_address"))
		return pf_limit_full(rq, PF_LIMIT_REVOKE, q->client.client->no,
		    by_client, pf_row_int(row, RETRY_S));
	if (pf_row_is(row, OUTCOME, "replay")) {
		pf_limit_refused(rq);
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "client_assertion: jti was used before");
	}
	pf_client_cache_forget(pf_app(rq)->proc->clients,
	    q->client.client->client_id);
	q->stale = pf_row_is(row, OUTCOME, "stale");
	if (pf_row_is(row, OUTCOME, "blocked")) {
		pf_limit_refused(rq);
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "this client is not accepted here");
	}
	/* stale, epoch, clock: nothing the agent did */
	return pf_fail_retry(rq, PF_UNAVAILABLE, (int)pf_row_int(row, RETRY_S),
	    "assertions can't be judged now");
}

/*
 * RFC 7009, 2.2: unknown, foreign and unreadable tokens get the same answer,
 * and the hint is not looked at. The call spends the client assertion, so an
 * unreadable token goes down too, as NULL.
 */
static enum pf_rc
revoke(struct asking *q, struct pf_str text)
{
	struct pf_req *rq = q->rq;
	const struct pf_authn *who = &q->client;
	const struct pf_settings *s = &pf_app(rq)->set;
	struct pf_tokenhash hash = { { 0 } };
	unsigned char address[PF_LIMIT_KEY];
	unsigned bucket = 0;
	struct pf_row row;
	enum pf_rc rc;
	bool readable;

	readable = pf_token_parse("pst_", text, &bucket) == PF_OK;
	if ((rc = pf_token_hash(text, &hash)) != PF_OK ||
	    (rc = pf_limit_client(rq, who->client->no)) != PF_OK)
		return rc;
	pf_limit_address(rq, address);
	const struct pf_param v[] = {
		PF_INT8(who->client->no),
		PF_BYTES(who->spend.key, PF_SPEND_LEN), PF_INT8(who->spend.iat),
		PF_INT4(s->assertions.skew_seconds),
		readable ? PF_INT4(bucket) : PF_NULLP,
		readable ? PF_BYTES(hash.b, sizeof(hash.b)) : PF_NULLP,
		PF_TEXT(pf_audit_address(rq)),
		PF_BYTES(address, sizeof(address)),
		PF_INT4(s->limits.token_per_address),
		PF_INT4(s->limits.token_per_client),
		PF_INT8(who->client->version)
	};
	rc = pf_db_one(rq->db, rq->arena, &TOKEN_REVOKE, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	if (!pf_row_is(&row, OUTCOME, "ok"))
		return refuse(q, &row);
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	return pf_resp_empty(rq, 200);
}

static enum pf_rc
authenticate_and_revoke(struct asking *q)
{
	struct pf_req *rq = q->rq;
	struct pf_str text;
	enum pf_rc rc;

	rc = pf_authenticate(rq, &q->form, pf_app(rq)->set.revocation_endpoint,
	    &q->client);
	if (rc != PF_OK)
		return rc;
	if (pf_form_get(&q->form, "token", &text) != PF_OK)
		return pf_fail(rq, PF_INVALID_REQUEST, "token missing");
	return revoke(q, text);
}

enum pf_rc
auth_revoke(struct pf_req *rq)
{
	struct asking q = { .rq = rq };
	const char *why;
	enum pf_rc rc;

	rq->token_endpoint = true;
	if ((rc = pf_limit_before(rq, PF_LIMIT_REVOKE)) != PF_OK)
		return rc;
	rc = pf_form_parse(rq->arena, rq->body, &q.form, &why);
	if (rc == PF_E_INPUT)
		return pf_fail(rq, PF_INVALID_REQUEST, "form: %s", why);
	if (rc != PF_OK)
		return rc;
	if (pf_str_given(pf_form_repeated(&q.form)))
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "a parameter stands there twice");
	rc = authenticate_and_revoke(&q);
	/* As at the token endpoint: once more, by the newer documents. */
	if (q.stale) {
		q.stale = false;
		rq->err = PF_ERR_NONE;
		rq->judged = false;
		rc = authenticate_and_revoke(&q);
	}
	return rc;
}
