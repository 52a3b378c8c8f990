/*
 * The JWT-bearer grant: start or renew a Session, signed out (section 4.2).
 */
#include "fcgi/auth/token.h"

static const struct auth_refusal refusals[] = {
	{ "invalid_session", PF_INVALID_SESSION, AUTH_WRITTEN,
	    "the Session has ended or is not this client's and User's" },
};
static const struct auth_function SESSION_START = {
	{
		"session_start",
		"SELECT outcome, replayed, retry_s, sid, expires_in"
		" FROM poppy_api.session_start($1, $2, $3, $4, $5, $6, $7, $8,"
		" $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)"
	}, refusals, PF_COUNT(refusals)
};
enum { SID = AUTH_OWN, EXPIRES_IN };

struct starting {
	struct pf_user user;
	struct pf_sid old, fresh;
	bool renew;
};

/* One round trip: Session, token and all that is spent, or nothing. */
static enum pf_rc
call(struct auth_asking *q, const struct starting *c,
    const struct pf_token *token, struct pf_row *row)
{
	const struct pf_settings *s = &pf_app(q->rq)->set;
	struct pf_tokenhash hash;
	enum pf_rc rc;

	rc = pf_token_hash(pf_bytes(token->text, PF_TOKEN_TEXT), &hash);
	if (rc != PF_OK)
		return rc;
	const struct pf_param own[] = {
		PF_INT4(c->user.bucket),
		PF_BYTES(c->user.key, sizeof(c->user.key)),
		c->renew ? PF_BYTES(c->old.raw, PF_SID_RAW) : PF_NULLP,
		PF_BYTES(c->fresh.raw, PF_SID_RAW),
		PF_BYTES(hash.b, sizeof(hash.b)),
		PF_INT4(s->tokens.session_seconds),
		PF_INT8(s->sessions.idle_seconds),
		PF_INT8(s->sessions.max_seconds),
		q->bearer ? PF_NULLP :
		    PF_BYTES(q->proof.jkt, sizeof(q->proof.jkt)),
		q->api != NULL ? PF_TEXT(q->api->resource) : PF_NULLP
	};
	return auth_call(q, &SESSION_START, own, PF_COUNT(own), row);
}

static enum pf_rc
start(struct auth_asking *q, struct starting *c, struct pf_token *token)
{
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = pf_token_new("pst_", c->user.bucket, token)) != PF_OK ||
	    (rc = pf_sid_new(c->user.bucket, &c->fresh)) != PF_OK ||
	    (rc = call(q, c, token, &row)) != PF_OK)
		return rc;
	if (pf_row_bytes(&row, SID).n != PF_SID_RAW)
		return PF_E_BUG;
	const struct auth_tokens given = {
		.access = pf_bytes(token->text, PF_TOKEN_TEXT),
		.bearer = q->bearer,
		.expires_in = pf_row_int(&row, EXPIRES_IN),
		.scopes = PF_LIT(""),
		.sid = c->renew ? c->old : c->fresh,
	};
	return auth_send_tokens(q->rq, &given);
}

/* Whose Session, and which; errors noted. */
static enum pf_rc
judge_session(struct auth_asking *q, const struct pf_claims *claims,
    struct starting *c)
{
	struct pf_str scope;
	enum pf_rc rc;

	if (pf_form_get(&q->form, "scope", &scope) == PF_OK && scope.n != 0)
		return pf_fail(q->rq, PF_INVALID_SCOPE,
		    "a signed-out Session has no scopes");
	if ((rc = auth_named_session(q, &c->old, &c->renew)) != PF_OK)
		return rc;
	rc = pf_user_of(&pf_app(q->rq)->keys, claims->iss, claims->sub,
	    &c->user);
	if (rc != PF_OK)
		return rc;
	/* The bucket is part of the id; a wrong one is another id. */
	if (c->renew && c->old.bucket != c->user.bucket)
		return pf_fail(q->rq, PF_INVALID_SESSION,
		    "the Session has ended or is not this client's and User's");
	return PF_OK;
}

enum pf_rc
auth_grant_session(struct auth_asking *q)
{
	struct starting c = { .renew = false };
	struct pf_token token = { { 0 } };
	struct pf_claims claims;
	struct pf_spend spend;
	enum pf_rc rc;

	rc = pf_session_assertion(q->rq, &q->form, &q->client, &claims, &spend);
	if (rc != PF_OK || (rc = judge_session(q, &claims, &c)) != PF_OK)
		return rc;
	auth_spends(q, AUTH_ASSERTION, spend.key, spend.iat);
	rc = start(q, &c, &token);
	pf_token_wipe(&token);
	return rc;
}
