/*
 * poppy-guard: the FastCGI authorizer before the shop's own APIs. A Session
 * Token with its proof becomes POPPY_* variables that PHP reads.
 *
 * It never reads a body (an authorizer gets none), and what it does not know it
 * refuses: a prefix that the web server guards and the settings don't is 404.
 */
#include "fcgi/guard/guard.h"

#include <string.h>

#include "core/poppy/limit.h"
#include "core/poppy/nonce.h"
#include "core/poppy/principal.h"
#include "core/web/url.h"

static struct pf_str
listen_at(const struct pf_settings *s)
{
	return s->listen.guard;
}

static int64_t
workers(const struct pf_settings *s)
{
	return s->workers.guard;
}

static enum pf_rc
set_hex(struct pf_req *rq, const char *name, struct pf_str bytes)
{
	struct pf_str hex;
	struct pf_buf b;
	enum pf_rc rc;

	pf_buf_init(&b, rq->arena, 256);
	pf_buf_hex(&b, bytes.p, bytes.n);
	if ((rc = pf_buf_done(&b, &hex)) == PF_OK)
		pf_resp_header(rq, name, hex);
	return rc;
}

/* What came from a shop's row or an agent, in a safe alphabet. */
static enum pf_rc
set_escaped(struct pf_req *rq, const char *name, struct pf_str text)
{
	struct pf_str safe;
	struct pf_buf b;
	enum pf_rc rc;

	pf_buf_init(&b, rq->arena, 8192);
	pf_url_escape(&b, text);
	if ((rc = pf_buf_done(&b, &safe)) == PF_OK)
		pf_resp_header(rq, name, safe);
	return rc;
}

static enum pf_rc
pass(struct pf_req *rq)
{
	guard_gate_hide(rq);
	return pf_resp_empty(rq, 200);
}

/*
 * The fixed list that reaches PHP (poppy-guard(8) says what each is):
 * all of it or none, for a signed-in request without its account would be
 * somebody else's. client_id is a URL of visible ASCII and goes as it is.
 */
static enum pf_rc
let_through(struct pf_req *rq)
{
	const struct pf_principal *who = rq->who;
	char sid[PF_SID_TEXT];
	enum pf_rc rc;

	pf_sid_text(&who->sid, sid);
	pf_resp_header(rq, "Variable-POPPY_VIA",
	    who->bearer ? PF_LIT("bearer") : PF_LIT("proof"));
	pf_resp_header(rq, "Variable-POPPY_CLIENT_ID", who->client_id);
	pf_resp_header(rq, "Variable-POPPY_SESSION",
	    pf_bytes(sid, sizeof(sid)));
	if ((rc = set_hex(rq, "Variable-POPPY_USER", who->user)) != PF_OK)
		return rc;
	pf_resp_header(rq, "Variable-POPPY_SIGNED_IN",
	    who->signed_in ? PF_LIT("1") : PF_LIT("0"));
	if (who->signed_in) {
		rc = set_escaped(rq, "Variable-POPPY_ACCOUNT", who->account);
		if (rc != PF_OK)
			return rc;
		pf_resp_header(rq, "Variable-POPPY_SCOPE", who->scopes);
	}
	/* An authorizer's headers end here: PHP alone can send it on. */
	if (!who->bearer)
		pf_nonce_tell(rq, "Variable-POPPY_DPOP_NONCE");
	return pass(rq);
}

static enum pf_rc
refuse_method(struct pf_req *rq, const struct pf_guarded *g,
    const struct guard_ask *ask)
{
	struct pf_str allow;
	struct pf_buf b;

	pf_buf_init(&b, rq->arena, 256);
	guard_methods(&b, g, ask);
	if (pf_buf_done(&b, &allow) == PF_OK)
		pf_resp_header(rq, "Allow", allow);
	return pf_fail(rq, PF_METHOD_NOT_ALLOWED, "the API has no such method");
}

/* Bearer at MCP servers, DPoP everywhere else (section 4.3). */
static enum pf_rc
find_principal(struct pf_req *rq, const struct pf_api *api)
{
	if (api == NULL)
		return pf_principal_by_proof(rq, PF_NOSTR);
	if (!api->mcp)
		return pf_principal_by_proof(rq, api->resource);
	rq->scheme = "Bearer";
	rq->resource_metadata = api->metadata_url;
	return pf_principal_by_bearer(rq, api->resource);
}

static enum pf_rc
apply(struct pf_req *rq, const struct pf_guarded *guarded,
    const struct pf_rule *rule)
{
	enum pf_rc rc;

	if (rule->open)
		return (rc = pf_limit_open(rq)) != PF_OK ? rc : pass(rq);
	if ((rc = find_principal(rq, guarded->entry)) != PF_OK)
		return rc;
	rc = pf_principal_may(rq, rule->signed_in, &rule->scopes);
	return rc != PF_OK ? rc : let_through(rq);
}

static enum pf_rc
judge(struct pf_req *rq, const struct guard_ask *ask)
{
	const struct pf_guarded *guarded;
	const struct pf_rule *rule;

	switch (guard_find(&pf_app(rq)->set, ask, &guarded, &rule)) {
	case GUARD_RULE:
		return apply(rq, guarded, rule);
	case GUARD_NO_METHOD:
		return refuse_method(rq, guarded, ask);
	case GUARD_ODD_QUERY:
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "the query is not written in its plain form");
	case GUARD_NO_RULE:
		return pf_fail(rq, PF_NOT_FOUND, "no such path in this API");
	case GUARD_OUTSIDE:
		break;
	}
	return pf_fail(rq, PF_NOT_FOUND,
	    "no prefix of the settings covers this path");
}

static enum pf_rc
handle(struct pf_req *rq)
{
	struct guard_ask ask = {
		.host = pf_settings_host(&pf_app(rq)->set, rq->host),
		.query = rq->query,
		.method = rq->method_name,
	};
	enum pf_rc rc;

	if ((rc = guard_gate_check(rq)) != PF_OK)
		return rc;
	if ((rc = pf_path_check(rq->path)) == PF_OK)
		rc = pf_path_decode(rq->arena, rq->path, &ask.path);
	if (rc == PF_E_INPUT)
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "the path is not written in its plain form");
	return rc != PF_OK ? rc : judge(rq, &ask);
}

/* Apache makes HTML of every refusal and drops its Content-Type; the includes
 * make it JSON again where this header stands. */
static void
replied(struct pf_req *rq, enum pf_rc rc)
{
	if (rc != PF_OK && pf_str_given(rq->gate))
		pf_resp_header(rq, "Poppy-Error",
		    pf_str(pf_err_info(rq->err)->code));
	if (rc != PF_OK && pf_err_info(rq->err)->challenge &&
	    strcmp(rq->scheme, "DPoP") == 0)
		pf_nonce_reply(rq);
}

static const struct pf_program program = {
	.name = "poppy-guard",
	.role = "poppy_guard",
	.fcgi = PF_AUTHORIZER,
	.listen = listen_at,
	.workers = workers,
	.build = guard_gate_load,
	.handle = handle,
	.replied = replied,
};

int
main(int argc, char **argv)
{
	return pf_program_main(&program, argc, argv);
}
