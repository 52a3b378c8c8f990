/*
 * The device code grant: what an agent asks while its User decides, and the end
 * of Device Sign-In (RFC 8628, 3.4 and 3.5; section 4.6).
 */
#include "fcgi/auth/token.h"

static const struct auth_refusal refusals[] = {
	{ "pending", PF_AUTHORIZATION_PENDING, AUTH_DAILY,
	    "the User has not decided yet" },
	{ "slow_down", PF_SLOW_DOWN, AUTH_DAILY,
	    "asked too soon: 5 seconds more between requests from now on" },
	{ "denied", PF_ACCESS_DENIED, AUTH_DAILY, "the User has declined" },
	{ "expired", PF_EXPIRED_TOKEN, AUTH_DAILY,
	    "the User has not decided in time" },
	{ "dead", PF_INVALID_GRANT, AUTH_COUNTED,
	    "the device_code is unknown, used, or of another client" },
	{ "invalid_session", PF_INVALID_SESSION, AUTH_WRITTEN,
	    "the Session has ended or is not this client's" },
	{ "account_mismatch", PF_ACCOUNT_MISMATCH, AUTH_WRITTEN,
	    "the Session is signed in to another account" },
};
static const struct auth_function DEVICE_REDEEM = {
	{
		"device_redeem",
		"SELECT outcome, replayed, retry_s, scopes, expires_in,"
		" grant_expires_in FROM poppy_api.device_redeem($1, $2, $3,"
		" $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,"
		" $17, $18, $19, $20)"
	}, refusals, PF_COUNT(refusals)
};

struct polling {
	struct pf_tokenhash code;
	struct auth_signing to;
};

static enum pf_rc
read_poll(struct auth_asking *q, struct polling *c)
{
	struct pf_str code, session;
	enum pf_rc rc;

	if ((rc = auth_field(q, "device_code", &code)) != PF_OK ||
	    (rc = auth_field(q, "session_id", &session)) != PF_OK)
		return rc;
	if (pf_token_parse("pdc_", code, NULL) != PF_OK)
		return pf_fail(q->rq, PF_INVALID_GRANT, "no such device_code");
	if ((rc = auth_named_session(q, &c->to.sid, &c->to.named)) != PF_OK)
		return rc;
	return pf_token_hash(code, &c->code);
}

static enum pf_rc
call(struct auth_asking *q, const struct polling *c, struct pf_row *row)
{
	const struct pf_settings *s = &pf_app(q->rq)->set;
	const struct auth_signing *to = &c->to;
	const struct pf_param own[] = {
		PF_BYTES(c->code.b, sizeof(c->code.b)),
		PF_INT4(to->sid.bucket),
		PF_BYTES(to->sid.raw, PF_SID_RAW),
		PF_BYTES(to->token_hash.b, sizeof(to->token_hash.b)),
		PF_INT4(s->tokens.session_seconds),
		PF_BYTES(to->account_hash.b, sizeof(to->account_hash.b)),
		PF_INT8(s->account_tokens.seconds),
		PF_INT8(s->sessions.idle_seconds),
		PF_INT8(s->sessions.max_seconds),
		q->bearer ? PF_NULLP :
		    PF_BYTES(q->proof.jkt, sizeof(q->proof.jkt)),
		q->api != NULL ? PF_TEXT(q->api->resource) : PF_NULLP
	};

	return auth_call(q, &DEVICE_REDEEM, own, PF_COUNT(own), row);
}

static enum pf_rc
poll(struct auth_asking *q, struct polling *c)
{
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = read_poll(q, c)) != PF_OK ||
	    (rc = auth_signing_new(&c->to, c->to.sid.bucket)) != PF_OK ||
	    (rc = call(q, c, &row)) != PF_OK)
		return rc;
	return auth_signing_reply(q, &c->to, &row,
	    pf_bytes(c->to.account.text, PF_TOKEN_TEXT));
}

enum pf_rc
auth_grant_device(struct auth_asking *q)
{
	struct polling c = { .to = { .named = false } };
	enum pf_rc rc;

	rc = poll(q, &c);
	auth_signing_wipe(&c.to);
	return rc;
}
