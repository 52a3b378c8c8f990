/*
 * poppy-guard: the FastCGI authorizer before the shop's own APIs and pages. A
 * Session Token with its proof, or the cookie of a browser that has joined a
 * Session, becomes POPPY_* variables that PHP reads.
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
		return (rc = pf_limit_open(rq)) != PF_OK ? rc : guard_pass(rq);
	if ((rc = find_principal(rq, guarded->entry)) != PF_OK)
		return rc;
	rc = pf_principal_may(rq, rule->signed_in, &rule->scopes);
	return rc != PF_OK ? rc : guard_pass_as(rq);
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
	if (guard_is_page(rq))
		return guard_page(rq, ask);
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

/* A page's refusal is a page. */
static bool
is_page(const struct pf_req *rq, enum pf_rc rc)
{
	return rc != PF_OK && guard_is_page(rq);
}

/* Apache makes HTML of every refusal and drops its Content-Type; the includes
 * make it JSON again where this header stands. */
static void
replied(struct pf_req *rq, enum pf_rc rc)
{
	if (is_page(rq, rc)) {
		guard_page_error(rq);
		return;
	}
	if (rc != PF_OK && pf_str_given(rq->gate))
		pf_resp_header(rq, "Poppy-Error",
		    pf_str(pf_err_info(rq->err)->code));
	if (rc != PF_OK && pf_err_info(rq->err)->challenge &&
	    strcmp(rq->scheme, "DPoP") == 0)
		pf_nonce_reply(rq);
}

static enum pf_rc
build(struct pf_app *app)
{
	struct pf_conf_fault fault = { 0 };
	struct guard *own;
	enum pf_rc rc;

	if ((own = pf_arena_alloc(&app->arena, sizeof(*own))) == NULL)
		return PF_E_MEM;
	*own = (struct guard){ .pages = NULL };
	app->own = own;
	if ((rc = guard_gate_load(app, &own->gate)) != PF_OK ||
	    !app->set.browser.enabled)
		return rc;
	rc = pf_pages_load(&app->arena, &app->set, &fault, &own->pages);
	if (rc == PF_E_INPUT)
		pf_app_complain(app, &fault);
	return rc;
}

static const struct pf_program program = {
	.name = "poppy-guard",
	.role = "poppy_guard",
	.fcgi = PF_AUTHORIZER,
	.listen = listen_at,
	.workers = workers,
	.build = build,
	.handle = handle,
	.replied = replied,
};

int
main(int argc, char **argv)
{
	return pf_program_main(&program, argc, argv);
}
