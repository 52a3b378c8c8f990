/*
 * The token endpoint: proof, client, grant, Session, in this order. What fails
 * spends nothing; what is decided spends everything in one transaction.
 */
#include "fcgi/auth/auth.h"

#include "core/poppy/principal.h"
#include "fcgi/auth/token.h"

#define CODE		"authorization_code"

static bool
always(const struct pf_settings *s)
{
	(void)s;
	return true;
}

static bool
with_direct(const struct pf_settings *s)
{
	return s->sign_in.direct.n != 0;
}

static bool
with_device(const struct pf_settings *s)
{
	return s->sign_in.device.n != 0;
}

/* An Account Token outlives the type of sign-in that gave it, as long as there
 * is sign-in at all. */
static bool
with_any(const struct pf_settings *s)
{
	return with_direct(s) || with_device(s) || s->sign_in.mediated.n != 0;
}

static const struct {
	const char *grant_type;
	bool (*offered)(const struct pf_settings *s);
	enum pf_rc (*grant)(struct auth_asking *q);
} grants[] = {
	{ "urn:ietf:params:oauth:grant-type:jwt-bearer", always,
	    auth_grant_session },
	{ CODE, with_direct, auth_grant_code },
	{ "urn:ietf:params:oauth:grant-type:device_code", with_device,
	    auth_grant_device },
	{ "refresh_token", with_any, auth_grant_refresh },
};

static enum pf_rc
run_grant(struct auth_asking *q)
{
	struct pf_str type;
	enum pf_rc rc;

	if ((rc = auth_field(q, "grant_type", &type)) != PF_OK)
		return rc;
	for (size_t i = 0; i < PF_COUNT(grants); i++)
		if (pf_str_eqz(type, grants[i].grant_type) &&
		    grants[i].offered(&pf_app(q->rq)->set))
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

/*
 * A public client is welcome where MCP clients are that know nothing of the
 * protocol (section 6): a code for an MCP server, and no Session. Who sends an
 * assertion is judged by it.
 */
static bool
may_be_public(const struct auth_asking *q)
{
	static const char *const more[] = { "session_id", "client_assertion",
		"client_assertion_type" };
	struct pf_str value;

	if (!q->bearer || !pf_app(q->rq)->set.mcp_public ||
	    pf_form_get(&q->form, "grant_type", &value) != PF_OK ||
	    !pf_str_eqz(value, CODE))
		return false;
	for (size_t i = 0; i < PF_COUNT(more); i++)
		if (pf_form_get(&q->form, more[i], &value) == PF_OK)
			return false;
	return true;
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
	q.public_ok = may_be_public(&q);
	return auth_authenticated(&q, pf_app(rq)->set.token_endpoint,
	    run_grant);
}
