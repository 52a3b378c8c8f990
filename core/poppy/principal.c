#include "core/poppy/principal.h"

#include <string.h>

#include "core/jose/dpop.h"
#include "core/poppy/audit.h"
#include "core/poppy/limit.h"
#include "core/poppy/nonce.h"
#include "core/poppy/scope.h"

static const struct pf_stmt TOKEN_USE = {
	"token_use",
	"SELECT outcome, client_no, client_id, user_key, sid, account, scopes,"
	" signed_in, resource, retry_s"
	" FROM poppy_api.token_use($1, $2, $3, $4, $5, $6, $7, $8, $9,"
	" $10)"
};
enum {
	OUTCOME, CLIENT_NO, CLIENT_ID, USER_KEY, SID, ACCOUNT, SCOPES,
	SIGNED_IN, RESOURCE, RETRY_S
};

/* Of a refusal. */
enum weight {
	DAILY,		/* every agent gets there: nobody counts it */
	COUNTED,	/* we count it, in the address's bucket and the audit */
	WRITTEN		/* in the bucket; the database has written it down */
};

/* What the outcomes of token_use mean to the agent. */
static const struct {
	const char *outcome;
	enum pf_err err;
	enum weight weight;
	const char *why;
} refusals[] = {
	{ "unknown", PF_INVALID_TOKEN, COUNTED, "the token is unknown" },
	{ "expired", PF_INVALID_TOKEN, DAILY, "the token has expired" },
	{ "ended", PF_INVALID_TOKEN, DAILY, "the Session has ended" },
	{ "blocked", PF_INVALID_TOKEN, WRITTEN,
	    "the client is not accepted here" },
	{ "scheme", PF_INVALID_TOKEN, COUNTED,
	    "the token is for another scheme" },
	{ "key", PF_INVALID_DPOP_PROOF, WRITTEN,
	    "the proof's key is not the one the token is bound to" },
	{ "replay", PF_INVALID_DPOP_PROOF, WRITTEN,
	    "the proof was used before" },
};

enum pf_rc
pf_request_url(struct pf_req *rq, struct pf_str *out)
{
	const struct pf_host *h;
	struct pf_buf b;

	if ((h = pf_settings_host(&pf_app(rq)->set, rq->host)) == NULL)
		return pf_fail(rq, PF_NOT_FOUND, "no host of this company");
	pf_buf_init(&b, rq->arena, h->base.n + rq->path.n);
	pf_buf_add(&b, h->base);
	pf_buf_add(&b, rq->path);
	return pf_buf_done(&b, out);
}

static enum pf_rc
check_proof(struct pf_req *rq, struct pf_str token, struct pf_proof *out)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	struct pf_dpop_want want = {
		.method = rq->method_name,
		.token = token,
		.now_at = rq->now_at,
		.past = s->proofs.past_seconds,
		.future = s->proofs.future_seconds,
	};
	const char *why;
	enum pf_rc rc;

	if (!pf_str_given(rq->dpop))
		return pf_fail(rq, PF_INVALID_DPOP_PROOF,
		    "DPoP header missing");
	if ((rc = pf_request_url(rq, &want.url)) != PF_OK)
		return rc;
	rc = pf_dpop_check(rq->arena, rq->dpop, &want, out, &why);
	if (rc == PF_E_INPUT || rc == PF_E_AUTH)
		return pf_fail(rq, PF_INVALID_DPOP_PROOF, "%s", why);
	return rc != PF_OK ? rc : pf_nonce_demand(rq, out->nonce);
}

enum pf_rc
pf_token_proof(struct pf_req *rq, struct pf_proof *out)
{
	return check_proof(rq, PF_NOSTR, out);
}

/* Does the query carry a token? Those are refused whatever else is sent
 * (section 4.3). */
static bool
token_in_query(struct pf_str query)
{
	const struct pf_str name = PF_LIT("access_token");
	struct pf_str rest = query, one;

	while (pf_str_cut(&rest, '&', &one))
		if (pf_str_eq(pf_str_head(one, pf_str_find(one, '=')), name))
			return true;
	return false;
}

/* scheme 1*SP token68 (RFC 9110, 11.4; RFC 9449, 7.1; RFC 6750, 2.1). */
static enum pf_rc
find_token(struct pf_req *rq, const char *scheme, struct pf_str *token,
    unsigned *bucket)
{
	struct pf_str s = rq->authorization;
	size_t space = pf_str_find(s, ' ');

	if (token_in_query(rq->query))
		return pf_fail(rq, PF_INVALID_TOKEN,
		    "tokens are not accepted from a URL");
	if (s.n == 0)
		return pf_fail(rq, PF_INVALID_TOKEN,
		    "Authorization header missing");
	if (!pf_str_eq_nocase(pf_str_head(s, space), pf_str(scheme)))
		return pf_fail(rq, PF_INVALID_TOKEN,
		    "the Authorization scheme must be %s", scheme);
	*token = pf_str_trim(pf_str_from(s, space));
	if (pf_token_parse("pst_", *token, bucket) != PF_OK)
		return pf_fail(rq, PF_INVALID_TOKEN, "the token is unknown");
	return PF_OK;
}

static enum pf_rc
set_who(struct pf_req *rq, const struct pf_row *row, unsigned bucket,
    const struct pf_proof *proof)
{
	struct pf_str sid = pf_row_bytes(row, SID);
	struct pf_principal *p;

	if (sid.n != sizeof(p->sid.raw))
		return PF_E_BUG;
	if ((p = pf_arena_alloc(rq->arena, sizeof(*p))) == NULL)
		return PF_E_MEM;
	*p = (struct pf_principal){ .client_no = pf_row_int(row, CLIENT_NO) };
	p->client_id = pf_row_str(row, CLIENT_ID);
	p->user = pf_row_bytes(row, USER_KEY);
	(void)memcpy(p->sid.raw, sid.p, sid.n);
	p->sid.bucket = bucket;
	p->account = pf_row_str(row, ACCOUNT);
	p->scopes = pf_row_str(row, SCOPES);
	p->signed_in = pf_row_bool(row, SIGNED_IN);
	p->resource = pf_row_str(row, RESOURCE);
	p->bearer = proof == NULL;
	if (proof != NULL)
		(void)memcpy(p->jkt, proof->jkt, sizeof(p->jkt));
	rq->who = p;
	return PF_OK;
}

static enum pf_rc
refuse(struct pf_req *rq, const struct pf_row *row)
{
	for (size_t i = 0; i < PF_COUNT(refusals); i++) {
		if (!pf_row_is(row, OUTCOME, refusals[i].outcome))
			continue;
		rq->judged = refusals[i].weight != COUNTED;
		if (refusals[i].weight == WRITTEN)
			pf_limit_refused(rq);
		return pf_fail(rq, refusals[i].err, "%s", refusals[i].why);
	}
	/* epoch, clock: ours, never the agent's fault */
	return pf_fail_retry(rq, PF_UNAVAILABLE,
	    (int)pf_row_int(row, RETRY_S), "proofs can't be judged now");
}

/* proof is NULL for a Bearer token. */
static enum pf_rc
use_token(struct pf_req *rq, struct pf_str token, unsigned bucket,
    const struct pf_proof *proof)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	struct pf_tokenhash hash;
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = pf_token_hash(token, &hash)) != PF_OK ||
	    (rc = pf_limit_bearer(rq, &hash)) != PF_OK)
		return rc;
	const struct pf_param v[] = {
		PF_INT4(bucket), PF_BYTES(hash.b, sizeof(hash.b)),
		proof ? PF_BYTES(proof->jkt, sizeof(proof->jkt)) : PF_NULLP,
		proof ? PF_BYTES(proof->spend, sizeof(proof->spend)) : PF_NULLP,
		proof ? PF_INT8(proof->iat) : PF_NULLP,
		PF_INT4(s->proofs.future_seconds),
		/* An empty one names no request: all would be the same. */
		rq->unique_id.n != 0 ? PF_TEXT(rq->unique_id) : PF_NULLP,
		PF_INT8(s->sessions.idle_seconds),
		PF_INT8(s->sessions.max_seconds),
		PF_TEXT(pf_audit_address(rq))
	};
	rc = pf_db_one(rq->db, rq->arena, &TOKEN_USE, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	if (!pf_row_is(&row, OUTCOME, "ok"))
		return refuse(rq, &row);
	rc = set_who(rq, &row, bucket, proof);
	return rc != PF_OK ? rc : pf_limit_call(rq, &hash);
}

/* A token for one service is good at that service alone, and no other is good
 * there; byte for byte (section 4.3). */
static enum pf_rc
check_resource(struct pf_req *rq, struct pf_str resource)
{
	if (!pf_str_eq(rq->who->resource, resource))
		return pf_fail(rq, PF_INVALID_TOKEN, "%s", resource.n == 0 ?
		    "the token was issued for another resource" :
		    "the token was not issued for this resource");
	return PF_OK;
}

enum pf_rc
pf_principal_by_proof(struct pf_req *rq, struct pf_str resource)
{
	struct pf_proof proof;
	struct pf_str token;
	unsigned bucket;
	enum pf_rc rc;

	if ((rc = pf_limit_before(rq, PF_LIMIT_REFUSED)) != PF_OK ||
	    (rc = find_token(rq, "DPoP", &token, &bucket)) != PF_OK ||
	    (rc = check_proof(rq, token, &proof)) != PF_OK ||
	    (rc = use_token(rq, token, bucket, &proof)) != PF_OK)
		return rc;
	return check_resource(rq, resource);
}

enum pf_rc
pf_principal_by_bearer(struct pf_req *rq, struct pf_str resource)
{
	struct pf_str token;
	unsigned bucket;
	enum pf_rc rc;

	if ((rc = pf_limit_before(rq, PF_LIMIT_REFUSED)) != PF_OK ||
	    (rc = find_token(rq, "Bearer", &token, &bucket)) != PF_OK ||
	    (rc = use_token(rq, token, bucket, NULL)) != PF_OK)
		return rc;
	return check_resource(rq, resource);
}

enum pf_rc
pf_principal_may(struct pf_req *rq, bool signed_in,
    const struct pf_strs *scopes)
{
	struct pf_str all = pf_scope_join(rq->arena, scopes);

	if ((signed_in || scopes->n != 0) && !rq->who->signed_in)
		return pf_fail_scope(rq, PF_SIGN_IN_REQUIRED, all);
	if (!pf_scope_has_all(rq->who->scopes, scopes))
		return pf_fail_scope(rq, PF_INSUFFICIENT_SCOPE, all);
	return PF_OK;
}
