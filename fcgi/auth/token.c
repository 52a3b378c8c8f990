/*
 * The token endpoint: proof, client, grant, Session, in this order. What fails
 * spends nothing; what is decided spends everything in one transaction.
 */
#include "fcgi/auth/auth.h"

#include "core/poppy/principal.h"
#include "fcgi/auth/token.h"

static const struct {
	const char *grant_type;
	enum pf_rc (*grant)(struct auth_asking *q);
} grants[] = {
	{ "urn:ietf:params:oauth:grant-type:jwt-bearer", auth_grant_session },
};

static enum pf_rc
run_grant(struct auth_asking *q)
{
	struct pf_str type;
	enum pf_rc rc;

	if ((rc = auth_field(q, "grant_type", &type)) != PF_OK)
		return rc;
	for (size_t i = 0; i < PF_COUNT(grants); i++)
		if (pf_str_eqz(type, grants[i].grant_type))
			return grants[i].grant(q);
	return pf_fail(q->rq, PF_UNSUPPORTED_GRANT_TYPE,
	    "grant_type is not supported here");
}

/* Which service the token is for (RFC 8707), and whether there must be a proof:
 * Bearer tokens are for one MCP server each (section 4.3). */
static enum pf_rc
find_api(struct auth_asking *q)
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
judge_proof(struct auth_asking *q)
{
	enum pf_rc rc;

	if (q->bearer)
		return PF_OK;
	if ((rc = pf_token_proof(q->rq, &q->proof)) == PF_OK)
		auth_spends(q, AUTH_PROOF, q->proof.spend, q->proof.iat);
	return rc;
}

enum pf_rc
auth_named_session(struct auth_asking *q, struct pf_sid *out, bool *named)
{
	struct pf_str text;

	*named = pf_form_get(&q->form, "session_id", &text) == PF_OK;
	if (*named && pf_sid_parse(text, out) != PF_OK)
		return pf_fail(q->rq, PF_INVALID_SESSION, "no such Session");
	return PF_OK;
}

enum pf_rc
auth_token(struct pf_req *rq)
{
	struct auth_asking q = { .rq = rq, .limit = PF_LIMIT_TOKEN };
	enum pf_rc rc;

	if ((rc = auth_ask(&q)) != PF_OK ||
	    (rc = find_api(&q)) != PF_OK ||
	    (rc = judge_proof(&q)) != PF_OK)
		return rc;
	return auth_authenticated(&q, pf_app(rq)->set.token_endpoint,
	    run_grant);
}
