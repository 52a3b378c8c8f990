/*
 * The token endpoint: proof, client, grant, Session, in this order. What fails
 * spends nothing; what is decided spends everything in one transaction.
 */
#include "fcgi/auth/auth.h"

#include <string.h>

#include "core/jose/dpop.h"
#include "core/poppy/assertion.h"
#include "core/poppy/audit.h"
#include "core/poppy/limit.h"
#include "core/poppy/principal.h"

/* What a token request has proved so far. */
struct asking {
	struct pf_req *rq;
	struct pf_form form;
	const struct pf_api *api;	/* the token is for it alone, or NULL */
	bool bearer;			/* it is an MCP server: no proof */
	struct pf_proof proof;
	struct pf_authn client;
	bool stale;		/* judged by documents that have changed */
};

#define SESSION_START(spends, iats)					\
	"SELECT outcome, replayed, sid, expires_in, retry_s"		\
	" FROM poppy_api.session_start($1, $2, $3, $4, $5, $6, $7, $8,"	\
	" $9, $10, $11, $12, ARRAY[" spends "]::bytea[],"		\
	" ARRAY[" iats "]::bigint[], $13, $18, $19, $20, $21)"

static const struct pf_stmt START_DPOP = {
	"session_start",
	SESSION_START("$22, $14, $16", "$23, $15, $17")
};
/* Without a proof there are two things to spend. */
static const struct pf_stmt START_BEARER = {
	"session_start_bearer", SESSION_START("$14, $16", "$15, $17")
};
enum { OUTCOME, REPLAYED, SID, EXPIRES_IN, RETRY_S };

/* The signed parts of a request in the order in which they are spent. */
enum { SPEND_PROOF, SPEND_CLIENT, SPEND_GRANT, SPENDS };

static enum pf_rc
replayed(struct pf_req *rq, int64_t which)
{
	switch (which - 1) {
	case SPEND_PROOF:
		return pf_fail(rq, PF_INVALID_DPOP_PROOF,
		    "the proof was used before");
	case SPEND_CLIENT:
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "client_assertion: jti was used before");
	case SPEND_GRANT:
		return pf_fail(rq, PF_INVALID_GRANT,
		    "assertion: jti was used before");
	default:
		return PF_E_BUG;
	}
}

static enum pf_rc
refuse(struct asking *q, const struct pf_row *row)
{
	bool by_client = pf_row_is(row, OUTCOME, "limit_client");
	struct pf_req *rq = q->rq;

	rq->judged = true;
	if (by_client || pf_row_is(row, OUTCOME, "limit_address"))
		return pf_limit_full(rq, PF_LIMIT_TOKEN, q->client.client->no,
		    by_client, pf_row_int(row, RETRY_S));
	if (pf_row_is(row, OUTCOME, "replay")) {
		pf_limit_refused(rq);
		return replayed(rq, pf_row_int(row, REPLAYED) +
		    (q->bearer ? SPEND_CLIENT : SPEND_PROOF));
	}
	if (pf_row_is(row, OUTCOME, "invalid_session")) {
		pf_limit_refused(rq);
		return pf_fail(rq, PF_INVALID_SESSION,
		    "the Session has ended or is not this client's and User's");
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
	return pf_fail_retry(rq, PF_UNAVAILABLE,
	    (int)pf_row_int(row, RETRY_S), "assertions can't be judged now");
}

static enum pf_rc
send_token(struct asking *q, const struct pf_token *token,
    const struct pf_sid *sid, int64_t expires_in)
{
	struct pf_req *rq = q->rq;
	char id[PF_SID_TEXT];
	struct pf_buf b;
	struct pf_jw w;

	pf_sid_text(sid, id);
	pf_buf_init(&b, rq->arena, 1024);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "access_token", pf_bytes(token->text, PF_TOKEN_TEXT));
	pf_jw_strz(&w, "token_type", q->bearer ? "Bearer" : "DPoP");
	pf_jw_int(&w, "expires_in", expires_in);
	pf_jw_strz(&w, "scope", "");
	pf_jw_str(&w, "session_id", pf_bytes(id, sizeof(id)));
	pf_jw_bool(&w, "signed_in", false);
	pf_jw_close(&w, '}');
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	return pf_resp_json(rq, 200, &b);
}

/* session_id, if one is named: what can't be one of ours is no Session. */
static enum pf_rc
named_session(struct asking *q, struct pf_sid *out, bool *named)
{
	struct pf_str text;

	*named = pf_form_get(&q->form, "session_id", &text) == PF_OK;
	if (*named && pf_sid_parse(text, out) != PF_OK)
		return pf_fail(q->rq, PF_INVALID_SESSION, "no such Session");
	return PF_OK;
}

struct session_call {
	struct pf_user user;
	struct pf_sid old, fresh;
	bool renew;
	struct pf_spend spend[SPENDS];
};

/* One round trip: Session, token and all that is spent, or nothing. */
static enum pf_rc
call_session_start(struct asking *q, const struct session_call *c,
    const struct pf_token *token, struct pf_row *row)
{
	struct pf_req *rq = q->rq;
	const struct pf_settings *s = &pf_app(rq)->set;
	int64_t future = s->proofs.future_seconds > s->assertions.skew_seconds ?
	    s->proofs.future_seconds : s->assertions.skew_seconds;
	unsigned char address[PF_LIMIT_KEY];
	struct pf_tokenhash hash;
	enum pf_rc rc;

	pf_limit_address(rq, address);
	rc = pf_token_hash(pf_bytes(token->text, PF_TOKEN_TEXT), &hash);
	if (rc != PF_OK)
		return rc;
	const struct pf_param v[] = {
		PF_INT8(q->client.client->no),
		PF_INT8(q->client.client->version),
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
		q->api != NULL ? PF_TEXT(q->api->resource) : PF_NULLP,
		PF_INT4(future),
		PF_BYTES(c->spend[1].key, PF_SPEND_LEN),
		PF_INT8(c->spend[1].iat),
		PF_BYTES(c->spend[2].key, PF_SPEND_LEN),
		PF_INT8(c->spend[2].iat),
		PF_TEXT(pf_audit_address(rq)),
		PF_BYTES(address, sizeof(address)),
		PF_INT4(s->limits.token_per_address),
		PF_INT4(s->limits.token_per_client),
		PF_BYTES(c->spend[0].key, PF_SPEND_LEN),
		PF_INT8(c->spend[0].iat)
	};
	/* The proof's stand last and are left out without one. */
	return pf_db_one(rq->db, rq->arena,
	    q->bearer ? &START_BEARER : &START_DPOP, v,
	    PF_COUNT(v) - (q->bearer ? 2 : 0), row);
}

static enum pf_rc
start(struct asking *q, struct session_call *c, struct pf_token *token)
{
	struct pf_str sid;
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = pf_limit_client(q->rq, q->client.client->no)) != PF_OK ||
	    (rc = pf_token_new("pst_", c->user.bucket, token)) != PF_OK ||
	    (rc = pf_sid_new(c->user.bucket, &c->fresh)) != PF_OK ||
	    (rc = call_session_start(q, c, token, &row)) != PF_OK)
		return rc;
	if (!pf_row_is(&row, OUTCOME, "ok"))
		return refuse(q, &row);
	sid = pf_row_bytes(&row, SID);
	if (sid.n != PF_SID_RAW)
		return PF_E_BUG;
	return send_token(q, token, c->renew ? &c->old : &c->fresh,
	    pf_row_int(&row, EXPIRES_IN));
}

/* Section 4.2: start or renew a Session, signed out. */
static enum pf_rc
grant_session(struct asking *q)
{
	struct session_call c = { 0 };
	struct pf_token token = { { 0 } };
	struct pf_claims claims;
	struct pf_str scope;
	enum pf_rc rc;

	rc = pf_session_assertion(q->rq, &q->form, &q->client, &claims,
	    &c.spend[SPEND_GRANT]);
	if (rc != PF_OK)
		return rc;
	if (pf_form_get(&q->form, "scope", &scope) == PF_OK && scope.n != 0)
		return pf_fail(q->rq, PF_INVALID_SCOPE,
		    "a signed-out Session has no scopes");
	if ((rc = named_session(q, &c.old, &c.renew)) != PF_OK)
		return rc;
	rc = pf_user_of(&pf_app(q->rq)->keys, claims.iss, claims.sub, &c.user);
	if (rc != PF_OK)
		return rc;
	/* The bucket is part of the id; a wrong one is another id. */
	if (c.renew && c.old.bucket != c.user.bucket)
		return pf_fail(q->rq, PF_INVALID_SESSION,
		    "the Session has ended or is not this client's and User's");
	(void)memcpy(c.spend[SPEND_PROOF].key, q->proof.spend, PF_SPEND_LEN);
	c.spend[SPEND_PROOF].iat = q->proof.iat;
	c.spend[SPEND_CLIENT] = q->client.spend;
	rc = start(q, &c, &token);
	pf_token_wipe(&token);
	return rc;
}

static const struct {
	const char *grant_type;
	enum pf_rc (*grant)(struct asking *q);
} grants[] = {
	{ "urn:ietf:params:oauth:grant-type:jwt-bearer", grant_session },
};

static enum pf_rc
run_grant(struct asking *q)
{
	struct pf_str type;

	if (pf_form_get(&q->form, "grant_type", &type) != PF_OK)
		return pf_fail(q->rq, PF_INVALID_REQUEST, "grant_type missing");
	for (size_t i = 0; i < PF_COUNT(grants); i++)
		if (pf_str_eqz(type, grants[i].grant_type))
			return grants[i].grant(q);
	return pf_fail(q->rq, PF_UNSUPPORTED_GRANT_TYPE,
	    "grant_type is not supported here");
}

static enum pf_rc
read_form(struct asking *q)
{
	struct pf_str twice;
	const char *why;
	enum pf_rc rc;

	rc = pf_form_parse(q->rq->arena, q->rq->body, &q->form, &why);
	if (rc == PF_E_INPUT)
		return pf_fail(q->rq, PF_INVALID_REQUEST, "form: %s", why);
	if (rc != PF_OK)
		return rc;
	twice = pf_form_repeated(&q->form);
	if (pf_str_eqz(twice, "resource"))
		return pf_fail(q->rq, PF_INVALID_TARGET,
		    "resource stands there twice");
	if (pf_str_given(twice))
		return pf_fail(q->rq, PF_INVALID_REQUEST,
		    "a parameter stands there twice");
	return PF_OK;
}

/* Which service the token is for (RFC 8707), and whether there must be a proof:
 * Bearer tokens are for one MCP server each (section 4.3). */
static enum pf_rc
find_api(struct asking *q)
{
	struct pf_req *rq = q->rq;
	struct pf_str resource;

	if (pf_form_get(&q->form, "resource", &resource) != PF_OK)
		return PF_OK;
	q->api = pf_settings_api(&pf_app(rq)->set, resource);
	if (q->api == NULL)
		return pf_fail(rq, PF_INVALID_TARGET,
		    "resource is not one of this company's");
	q->bearer = q->api->mcp;
	if (q->bearer && pf_str_given(rq->dpop))
		return pf_fail(rq, PF_INVALID_TARGET,
		    "tokens for an MCP server are asked for without a proof");
	return PF_OK;
}

static enum pf_rc
authenticate_and_grant(struct asking *q)
{
	struct pf_req *rq = q->rq;
	enum pf_rc rc;

	rc = pf_authenticate(rq, &q->form, pf_app(rq)->set.token_endpoint,
	    &q->client);
	return rc != PF_OK ? rc : run_grant(q);
}

enum pf_rc
auth_token(struct pf_req *rq)
{
	struct asking q = { .rq = rq };
	enum pf_rc rc;

	rq->token_endpoint = true;
	if ((rc = pf_limit_before(rq, PF_LIMIT_TOKEN)) != PF_OK ||
	    (rc = read_form(&q)) != PF_OK ||
	    (rc = find_api(&q)) != PF_OK)
		return rc;
	if (!q.bearer && (rc = pf_token_proof(rq, &q.proof)) != PF_OK)
		return rc;
	rc = authenticate_and_grant(&q);
	/* Another process has newer documents: once more, by those. Nothing has
	 * been spent. */
	if (q.stale) {
		rq->err = PF_ERR_NONE;
		rq->judged = false;
		rc = authenticate_and_grant(&q);
	}
	return rc;
}
