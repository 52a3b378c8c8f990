/*
 * The refresh grant: an Account Token gives signed-in Session Tokens (RFC 6749,
 * 6; section 4.8).
 */
#include "fcgi/auth/token.h"

#include "core/poppy/scope.h"

static const struct auth_refusal refusals[] = {
	{ "dead", PF_INVALID_GRANT, AUTH_COUNTED,
	    "the Account Token is unknown, over, or of another client" },
	{ "reused", PF_INVALID_GRANT, AUTH_WRITTEN,
	    "the Account Token was replaced; its sign-in is revoked now" },
	{ "scope", PF_INVALID_SCOPE, AUTH_COUNTED,
	    "the Account Token does not have all of these scopes" },
	{ "target", PF_INVALID_TARGET, AUTH_COUNTED,
	    "the Account Token is for another resource" },
	{ "invalid_session", PF_INVALID_SESSION, AUTH_WRITTEN,
	    "the Session has ended, or is not this client's and User's" },
	{ "account_mismatch", PF_ACCOUNT_MISMATCH, AUTH_WRITTEN,
	    "the Session is signed in to another account" },
};
static const struct auth_function TOKEN_REFRESH = {
	{
		"token_refresh",
		"SELECT outcome, replayed, retry_s, scopes, expires_in,"
		" grant_expires_in, rotated FROM poppy_api.token_refresh($1,"
		" $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,"
		" $15, $16, $17, $18, $19, $20, $21, $22)"
	}, refusals, PF_COUNT(refusals)
};
enum { ROTATED = AUTH_SIGNED };

struct refreshing {
	struct pf_str scopes;		/* PF_NOSTR: all */
	unsigned bucket;		/* of the Account Token */
	struct pf_tokenhash old, successor_hash;
	struct pf_token successor;
	struct auth_signing to;
};

/* scope as RFC 6749, 3.3 has it; whether the grant covers it is the database's
 * to say. */
static enum pf_rc
read_scope(struct auth_asking *q, struct refreshing *c)
{
	struct pf_str text, rest, one;
	struct pf_buf b;

	if (pf_form_get(&q->form, "scope", &text) != PF_OK)
		return PF_OK;
	pf_buf_init(&b, q->rq->arena, text.n);
	for (rest = text; pf_str_cut(&rest, ' ', &one);) {
		if (!pf_scope_token(one))
			return pf_fail(q->rq, PF_INVALID_SCOPE,
			    "scope is no list of scopes");
		pf_scope_add(&b, one);
	}
	return pf_buf_done(&b, &c->scopes);
}

/* The successor is made of the old one, so that it can be said again to an
 * agent that did not get the reply. */
static enum pf_rc
derive(struct auth_asking *q, struct pf_str old, struct refreshing *c)
{
	const struct pf_keys *keys = &pf_app(q->rq)->keys;
	unsigned char raw[PF_SHA256_LEN];
	enum pf_rc rc;

	rc = pf_hmac256(keys->successor, &old, 1, raw);
	if (rc == PF_OK)
		rc = pf_token_of("pat_", c->bucket, raw, &c->successor);
	pf_wipe(raw, sizeof(raw));
	return rc != PF_OK ? rc : pf_token_hash(pf_bytes(c->successor.text,
	    PF_TOKEN_TEXT), &c->successor_hash);
}

static enum pf_rc
read_refresh(struct auth_asking *q, struct refreshing *c)
{
	struct pf_str old;
	enum pf_rc rc;

	if ((rc = auth_field(q, "refresh_token", &old)) != PF_OK)
		return rc;
	if (pf_token_parse("pat_", old, &c->bucket) != PF_OK)
		return pf_fail(q->rq, PF_INVALID_GRANT,
		    "no such Account Token");
	if ((rc = read_scope(q, c)) != PF_OK ||
	    (rc = pf_token_hash(old, &c->old)) != PF_OK ||
	    (rc = derive(q, old, c)) != PF_OK)
		return rc;
	return auth_named_session(q, &c->to.sid, &c->to.named);
}

/*
 * The bucket is that of the Account Token's User. A Session of another one is
 * not this User's, but whether the Account Token lives is said first: so what
 * is asked for is one that nobody has.
 */
static struct pf_param
named_sid(const struct refreshing *c)
{
	const struct pf_sid *sid = &c->to.sid;

	if (!c->to.named)
		return PF_NULLP;
	return PF_BYTES(sid->raw, sid->bucket == c->bucket ? PF_SID_RAW : 0);
}

static enum pf_rc
call(struct auth_asking *q, const struct refreshing *c, struct pf_row *row)
{
	const struct pf_settings *s = &pf_app(q->rq)->set;
	const struct auth_signing *to = &c->to;
	const struct pf_param own[] = {
		PF_BYTES(c->old.b, sizeof(c->old.b)),
		PF_INT4(c->bucket),
		named_sid(c),
		to->named ? PF_NULLP : PF_BYTES(to->sid.raw, PF_SID_RAW),
		PF_BYTES(to->token_hash.b, sizeof(to->token_hash.b)),
		PF_INT4(s->tokens.session_seconds),
		PF_INT8(s->sessions.idle_seconds),
		PF_INT8(s->sessions.max_seconds),
		q->bearer ? PF_NULLP :
		    PF_BYTES(q->proof.jkt, sizeof(q->proof.jkt)),
		q->api != NULL ? PF_TEXT(q->api->resource) : PF_NULLP,
		PF_TEXT(c->scopes),
		s->account_tokens.rotate ? PF_BYTES(c->successor_hash.b,
		    sizeof(c->successor_hash.b)) : PF_NULLP,
		PF_INT4(s->account_tokens.grace_seconds)
	};

	return auth_call(q, &TOKEN_REFRESH, own, PF_COUNT(own), row);
}

static enum pf_rc
refresh(struct auth_asking *q, struct refreshing *c)
{
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = read_refresh(q, c)) != PF_OK ||
	    (rc = auth_signing_new(&c->to, c->bucket)) != PF_OK ||
	    (rc = call(q, c, &row)) != PF_OK)
		return rc;
	return auth_signing_reply(q, &c->to, &row, pf_row_bool(&row, ROTATED) ?
	    pf_bytes(c->successor.text, PF_TOKEN_TEXT) : PF_NOSTR);
}

enum pf_rc
auth_grant_refresh(struct auth_asking *q)
{
	struct refreshing c = { .scopes = PF_NOSTR };
	enum pf_rc rc;

	rc = refresh(q, &c);
	pf_wipe(&c, sizeof(c));
	return rc;
}
