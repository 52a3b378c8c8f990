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
	" $10)"
};
enum { OUTCOME, RETRY_S };

static enum pf_rc
refuse(struct pf_req *rq, const struct pf_authn *who, const struct pf_row *row)
{
	bool by_client = pf_row_is(row, OUTCOME, "limit_client");

	rq->judged = true;
	if (by_client || pf_row_is(row, OUTCOME, "limit_address"))
		return pf_limit_full(rq, PF_LIMIT_REVOKE, who->client->no,
		    by_client, pf_row_int(row, RETRY_S));
	if (pf_row_is(row, OUTCOME, "replay")) {
		pf_limit_refused(rq);
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "client_assertion: jti was used before");
	}
	if (pf_row_is(row, OUTCOME, "blocked")) {
		pf_limit_refused(rq);
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "this client is not accepted here");
	}
	return pf_fail_retry(rq, PF_UNAVAILABLE, (int)pf_row_int(row, RETRY_S),
	    "assertions can't be judged now");
}

/*
 * RFC 7009, 2.2: unknown, foreign and unreadable tokens get the same answer,
 * and the hint is not looked at. The call spends the client assertion, so an
 * unreadable token goes down too, as NULL.
 */
static enum pf_rc
revoke(struct pf_req *rq, const struct pf_authn *who, struct pf_str text)
{
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
		PF_INT4(s->limits.token_per_client)
	};
	rc = pf_db_one(rq->db, rq->arena, &TOKEN_REVOKE, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	if (!pf_row_is(&row, OUTCOME, "ok"))
		return refuse(rq, who, &row);
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	return pf_resp_empty(rq, 200);
}

enum pf_rc
auth_revoke(struct pf_req *rq)
{
	struct pf_authn who;
	struct pf_form form;
	struct pf_str text;
	const char *why;
	enum pf_rc rc;

	rq->token_endpoint = true;
	if ((rc = pf_limit_before(rq, PF_LIMIT_REVOKE)) != PF_OK)
		return rc;
	rc = pf_form_parse(rq->arena, rq->body, &form, &why);
	if (rc == PF_E_INPUT)
		return pf_fail(rq, PF_INVALID_REQUEST, "form: %s", why);
	if (rc != PF_OK)
		return rc;
	if (pf_str_given(pf_form_repeated(&form)))
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "a parameter stands there twice");
	rc = pf_authenticate(rq, &form, pf_app(rq)->set.revocation_endpoint,
	    &who);
	if (rc != PF_OK)
		return rc;
	if (pf_form_get(&form, "token", &text) != PF_OK)
		return pf_fail(rq, PF_INVALID_REQUEST, "token missing");
	return revoke(rq, &who, text);
}
