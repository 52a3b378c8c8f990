/*
 * The revocation endpoint (RFC 7009; section 4.9).
 */
#include "fcgi/auth/auth.h"

#include "core/poppy/audit.h"
#include "core/store/token.h"
#include "fcgi/auth/asking.h"

/* What can be spent here is one: the client assertion. */
static const struct auth_function TOKEN_REVOKE = {
	{
		"token_revoke",
		"SELECT outcome, 1, retry_s"
		" FROM poppy_api.token_revoke($1, $2, $3, $4, $5, $6, $7, $8,"
		" $9, $10, $11)"
	}, NULL, 0
};
static const struct auth_function ACCOUNT_REVOKE = {
	{
		"account_revoke",
		"SELECT outcome, 1, retry_s"
		" FROM poppy_api.account_revoke($1, $2, $3, $4, $5, $6, $7,"
		" $8, $9, $10, $11)"
	}, NULL, 0
};

/*
 * RFC 7009, 2.2: unknown, foreign and unreadable tokens get the same answer,
 * and the hint is not looked at. The call spends the client assertion, so an
 * unreadable token goes down too, as NULL.
 */
static enum pf_rc
revoke_token(struct auth_asking *q, struct pf_str text)
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
	if ((rc = pf_token_hash(text, &hash)) != PF_OK)
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
	rc = pf_db_one(rq->db, rq->arena, &TOKEN_REVOKE.stmt, v, PF_COUNT(v),
	    &row);
	return rc != PF_OK ? rc : auth_judge(q, &TOKEN_REVOKE, &row);
}

/* The same for an Account Token: its grant, and all that it has signed in. */
static enum pf_rc
revoke_account(struct auth_asking *q, struct pf_str text, unsigned bucket)
{
	struct pf_req *rq = q->rq;
	const struct pf_authn *who = &q->client;
	const struct pf_settings *s = &pf_app(rq)->set;
	unsigned char address[PF_LIMIT_KEY];
	struct pf_tokenhash hash;
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = pf_token_hash(text, &hash)) != PF_OK)
		return rc;
	pf_limit_address(rq, address);
	const struct pf_param v[] = {
		PF_INT8(who->client->no), PF_INT8(who->client->version),
		PF_BYTES(who->spend.key, PF_SPEND_LEN), PF_INT8(who->spend.iat),
		PF_INT4(s->assertions.skew_seconds),
		PF_INT4(bucket),
		PF_BYTES(hash.b, sizeof(hash.b)),
		PF_TEXT(pf_audit_address(rq)),
		PF_BYTES(address, sizeof(address)),
		PF_INT4(s->limits.token_per_address),
		PF_INT4(s->limits.token_per_client)
	};
	rc = pf_db_one(rq->db, rq->arena, &ACCOUNT_REVOKE.stmt, v,
	    PF_COUNT(v), &row);
	return rc != PF_OK ? rc : auth_judge(q, &ACCOUNT_REVOKE, &row);
}

static enum pf_rc
revoke(struct auth_asking *q)
{
	struct pf_str text;
	unsigned bucket;
	enum pf_rc rc;

	if ((rc = auth_field(q, "token", &text)) != PF_OK ||
	    (rc = pf_limit_client(q->rq, q->client.client->no)) != PF_OK)
		return rc;
	rc = pf_token_parse("pat_", text, &bucket) == PF_OK ?
	    revoke_account(q, text, bucket) : revoke_token(q, text);
	if (rc != PF_OK)
		return rc;
	pf_resp_header(q->rq, "Cache-Control", PF_LIT("no-store"));
	return pf_resp_empty(q->rq, 200);
}

enum pf_rc
auth_revoke(struct pf_req *rq)
{
	struct auth_asking q = { .rq = rq, .limit = PF_LIMIT_REVOKE };
	enum pf_rc rc;

	if ((rc = auth_ask(&q)) != PF_OK)
		return rc;
	return auth_authenticated(&q, pf_app(rq)->set.revocation_endpoint,
	    revoke);
}
