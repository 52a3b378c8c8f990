/*
 * The authorization code grant: the end of Direct Sign-In (RFC 6749, 4.1.3; RFC
 * 7636, 4.5; section 4.5). An MCP client that knows nothing of the protocol has
 * no Session to name and gets a new one (section 6).
 */
#include "fcgi/auth/token.h"

#define VERIFIER_MIN	43
#define VERIFIER_MAX	128

static const struct auth_refusal refusals[] = {
	{ "dead", PF_INVALID_GRANT, AUTH_COUNTED,
	    "the code is unknown, over, or of another client or redirect_uri" },
	{ "verifier", PF_INVALID_GRANT, AUTH_WRITTEN,
	    "code_verifier is not that of the authorization request" },
	{ "reused", PF_INVALID_GRANT, AUTH_WRITTEN,
	    "the code was used before; what it gave is revoked" },
	{ "target", PF_INVALID_TARGET, AUTH_COUNTED,
	    "the code was given for another resource" },
	{ "no_session", PF_INVALID_TARGET, AUTH_COUNTED,
	    "without session_id the code must be for this resource alone" },
	{ "invalid_session", PF_INVALID_SESSION, AUTH_WRITTEN,
	    "the Session has ended, or is not this client's or the code's" },
	{ "account_mismatch", PF_ACCOUNT_MISMATCH, AUTH_WRITTEN,
	    "the Session is signed in to another account" },
};
static const struct auth_function CODE_REDEEM = {
	{
		"code_redeem",
		"SELECT outcome, replayed, retry_s, scopes, expires_in,"
		" grant_expires_in FROM poppy_api.code_redeem($1, $2, $3, $4,"
		" $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,"
		" $18, $19, $20, $21, $22, $23)"
	}, refusals, PF_COUNT(refusals)
};

struct redeeming {
	struct pf_tokenhash code;
	unsigned bucket;		/* of the code, later of the Session */
	struct pf_str redirect;
	unsigned char challenge[PF_SHA256_LEN];
	struct auth_signing to;
};

/* RFC 7636, 4.1: 43 to 128 unreserved characters. */
static bool
verifier_ok(struct pf_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!pf_is_b64url(s.p[i]) && s.p[i] != '.' && s.p[i] != '~')
			return false;
	return s.n >= VERIFIER_MIN && s.n <= VERIFIER_MAX;
}

static enum pf_rc
read_code(struct auth_asking *q, struct redeeming *c)
{
	struct pf_str code, verifier, session;
	enum pf_rc rc;

	/* What is missing is told before what is there is judged. */
	if ((!q->bearer &&
	    (rc = auth_field(q, "session_id", &session)) != PF_OK) ||
	    (rc = auth_field(q, "code", &code)) != PF_OK ||
	    (rc = auth_field(q, "redirect_uri", &c->redirect)) != PF_OK ||
	    (rc = auth_field(q, "code_verifier", &verifier)) != PF_OK)
		return rc;
	if (pf_token_parse("pac_", code, &c->bucket) != PF_OK)
		return pf_fail(q->rq, PF_INVALID_GRANT, "no such code");
	if (!verifier_ok(verifier))
		return pf_fail(q->rq, PF_INVALID_GRANT, "code_verifier is not "
		    "43 to 128 unreserved characters");
	rc = pf_token_hash(code, &c->code);
	return rc != PF_OK ? rc : pf_sha256(verifier, c->challenge);
}

static enum pf_rc
read_session(struct auth_asking *q, struct redeeming *c)
{
	enum pf_rc rc;

	if ((rc = auth_named_session(q, &c->to.sid, &c->to.named)) != PF_OK)
		return rc;
	if (c->to.named)
		c->bucket = c->to.sid.bucket;
	return PF_OK;
}

static enum pf_rc
call(struct auth_asking *q, const struct redeeming *c, struct pf_row *row)
{
	const struct pf_settings *s = &pf_app(q->rq)->set;
	const struct auth_signing *to = &c->to;
	const struct pf_param sid = PF_BYTES(to->sid.raw, PF_SID_RAW);
	const struct pf_param own[] = {
		PF_BYTES(c->code.b, sizeof(c->code.b)),
		PF_TEXT(c->redirect),
		PF_BYTES(c->challenge, sizeof(c->challenge)),
		PF_INT4(c->bucket),
		to->named ? sid : PF_NULLP,
		to->named ? PF_NULLP : sid,
		PF_BYTES(to->token_hash.b, sizeof(to->token_hash.b)),
		PF_INT4(s->tokens.session_seconds),
		q->is_public ? PF_NULLP :
		    PF_BYTES(to->account_hash.b, sizeof(to->account_hash.b)),
		PF_INT8(s->account_tokens.seconds),
		PF_INT8(s->sessions.idle_seconds),
		PF_INT8(s->sessions.max_seconds),
		q->bearer ? PF_NULLP :
		    PF_BYTES(q->proof.jkt, sizeof(q->proof.jkt)),
		q->api != NULL ? PF_TEXT(q->api->resource) : PF_NULLP
	};

	return auth_call(q, &CODE_REDEEM, own, PF_COUNT(own), row);
}

static enum pf_rc
redeem(struct auth_asking *q, struct redeeming *c)
{
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = read_code(q, c)) != PF_OK ||
	    (rc = read_session(q, c)) != PF_OK ||
	    (rc = auth_signing_new(&c->to, c->bucket)) != PF_OK ||
	    (rc = call(q, c, &row)) != PF_OK)
		return rc;
	return auth_signing_reply(q, &c->to, &row, q->is_public ? PF_NOSTR :
	    pf_bytes(c->to.account.text, PF_TOKEN_TEXT));
}

enum pf_rc
auth_grant_code(struct auth_asking *q)
{
	struct redeeming c = { .bucket = 0 };
	enum pf_rc rc;

	rc = redeem(q, &c);
	auth_signing_wipe(&c.to);
	return rc;
}
