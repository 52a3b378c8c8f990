/*
 * The revocation endpoint (RFC 7009; section 4.9).
 */
#include "fcgi/auth/auth.h"

#include "core/poppy/assertion.h"
#include "core/store/token.h"

static const struct pf_stmt TOKEN_REVOKE = {
	"token_revoke",
	"SELECT outcome, retry_s"
	" FROM poppy_api.token_revoke($1, $2, $3, $4, $5, $6)"
};
enum { OUTCOME, RETRY_S };

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
	unsigned bucket = 0;
	struct pf_row row;
	enum pf_rc rc;
	bool readable;

	readable = pf_token_parse("pst_", text, &bucket) == PF_OK;
	if ((rc = pf_token_hash(text, &hash)) != PF_OK)
		return rc;
	const struct pf_param v[] = {
		PF_INT8(who->client->no),
		PF_BYTES(who->spend.key, PF_SPEND_LEN), PF_INT8(who->spend.iat),
		PF_INT4(s->assertions.skew_seconds),
		readable ? PF_INT4(bucket) : PF_NULLP,
		readable ? PF_BYTES(hash.b, sizeof(hash.b)) : PF_NULLP
	};
	rc = pf_db_one(rq->db, rq->arena, &TOKEN_REVOKE, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	if (pf_row_is(&row, OUTCOME, "replay"))
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "client_assertion: jti was used before");
	if (pf_row_is(&row, OUTCOME, "blocked"))
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "this client is not accepted here");
	if (!pf_row_is(&row, OUTCOME, "ok"))
		return pf_fail_retry(rq, PF_UNAVAILABLE,
		    (int)pf_row_int(&row, RETRY_S),
		    "assertions can't be judged now");
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
