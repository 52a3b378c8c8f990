/*
 * visit DOMAIN: the whole signed-out path, step by step.
 */
#include "config.h"

#include <string.h>

#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/call.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/discover.h"
#include "tools/poppy-agent/fetch.h"
#include "tools/poppy-agent/join.h"
#include "tools/poppy-agent/openapi.h"
#include "tools/poppy-agent/session.h"

#define EXCERPT		300

struct visit {
	struct ag_company *company;
	struct pf_str session;
	struct ag_openapi api;
	size_t op;		/* the operation that could be called */
	bool callable;
};

static enum pf_rc
discover(struct agent *ag, struct visit *v)
{
	enum pf_rc rc;

	ag_step_begin(&ag->show, "discover",
	    "Discovery: what does this domain offer, and may it?");
	rc = ag_discover(ag, ag->opt.arg[0], true, &v->company);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

static const struct ag_api *
openapi_of(const struct ag_company *c)
{
	for (size_t i = 0; i < c->napis; i++)
		if (pf_str_eqz(c->api[i].type, "openapi") &&
		    !pf_str_given(c->api[i].resource))
			return &c->api[i];
	return NULL;
}

static enum pf_rc
read_description(struct agent *ag, struct visit *v, const struct ag_api *api)
{
	const struct pf_json *doc;
	struct pf_str at, origin;
	enum pf_rc rc;

	if ((rc = ag_fetch(ag, api->url, "R-6-2", NULL, &doc, &at)) != PF_OK ||
	    (rc = ag_openapi_read(&ag->arena, doc, at, &v->api,
	    &ag->fault)) != PF_OK)
		return rc;
	ag_show_fact(&ag->show, "API", v->api.title);
	ag_show_fact(&ag->show, "server", v->api.base);
	for (size_t i = 0; i < v->api.n; i++)
		ag_show_fact(&ag->show, v->api.op[i].scoped ?
		    "GET (needs scopes)" : "GET", v->api.op[i].url);
	if (ag_origin(&ag->arena, v->api.base, &origin) != PF_OK)
		return PF_E_BUG;
	if ((rc = ag_place_allow(ag, v->company->asked, origin)) != PF_OK)
		return rc;
	v->callable = v->api.n > 0;
	if (!v->callable)
		ag_show_note(&ag->show, "no GET operation can be called with "
		    "the examples of the description (%zu seen)",
		    v->api.skipped);
	return PF_OK;
}

static enum pf_rc
describe(struct agent *ag, struct visit *v)
{
	const struct ag_api *api = openapi_of(v->company);
	enum pf_rc rc = PF_OK;

	ag_step_begin(&ag->show, "describe", "The API that it lists");
	if (api == NULL)
		ag->show.skipped = "no openapi API is listed that takes a "
		    "plain Session Token";
	else
		rc = read_description(ag, v, api);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

static void
show_excerpt(struct agent *ag, const struct ag_reply *rp)
{
	struct pf_str body = rp->body;
	struct pf_buf b;

	while (body.n > 0 && body.p[body.n - 1] == '\n')
		body.n--;
	pf_buf_init(&b, &ag->arena, EXCERPT + 8);
	pf_buf_add(&b, pf_str_head(body, EXCERPT));
	if (body.n > EXCERPT)
		pf_buf_addz(&b, "\xe2\x80\xa6");
	ag_show_fact(&ag->show, "answer", pf_buf_str(&b));
}

static enum pf_rc
call_one(struct agent *ag, struct visit *v, struct ag_reply *rp)
{
	static const struct ag_field accept[] = {
		{ PF_LIT_INIT("Accept"), PF_LIT_INIT("application/json") },
	};
	const struct ag_call call = {
		.method = "GET", .url = v->api.op[v->op].url,
		.field = accept, .nfields = 1, .body = PF_NOSTR,
	};

	return ag_call_send(ag, v->company, &v->session, &call, rp);
}

static enum pf_rc
call(struct agent *ag, struct visit *v, const char *name, const char *title)
{
	struct ag_reply rp = { .status = 0 };
	enum pf_rc rc;

	ag_step_begin(&ag->show, name, title);
	if (!v->callable) {
		ag->show.skipped = "nothing to call";
		return ag_step_end(&ag->show, PF_OK, &ag->fault);
	}
	/* A call that wants an account is no failure of a signed-out visit:
	 * go on to the next one. */
	while ((rc = call_one(ag, v, &rp)) == PF_E_FORBID &&
	    v->op + 1 < v->api.n) {
		ag_show_note(&ag->show, "%s", ag->fault.got);
		v->op++;
	}
	if (rc == PF_OK)
		show_excerpt(ag, &rp);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

/* The Company's front page, as the browser of this Session sees it. */
static enum pf_rc
browse(struct agent *ag, struct visit *v)
{
	struct ag_joining j = {
		.company = v->company, .session = v->session,
	};
	struct pf_buf b;
	enum pf_rc rc;

	ag_step_begin(&ag->show, "browse",
	    "A browser joins the Session and opens the front page");
	if (!pf_str_given(v->company->browser_endpoint)) {
		ag->show.skipped = "no web.browser_session_endpoint is "
		    "listed: pages are browsed signed out";
		return ag_step_end(&ag->show, PF_OK, &ag->fault);
	}
	pf_buf_init(&b, &ag->arena, 512);
	pf_buf_fmt(&b, "https://%.*s/", PF_STRF(v->company->asked));
	j.return_to = pf_buf_str(&b);
	if ((rc = ag_browser_check(ag, &j)) == PF_OK)
		rc = ag_join(ag, &j);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

static enum pf_rc
walk(struct agent *ag, struct visit *v)
{
	enum pf_rc rc;

	if ((rc = discover(ag, v)) != PF_OK ||
	    (rc = ag_session_start(ag, v->company, &v->session)) != PF_OK ||
	    (rc = describe(ag, v)) != PF_OK ||
	    (rc = call(ag, v, "call",
	    "Call the API with Session Token and proof")) != PF_OK ||
	    (rc = ag_session_renew(ag, v->company, &v->session)) != PF_OK)
		return rc;
	rc = call(ag, v, "call again", "Call once more, with the new token");
	return rc != PF_OK ? rc : browse(ag, v);
}

enum pf_rc
ag_cmd_visit(struct agent *ag)
{
	struct visit *v = pf_arena_alloc(&ag->arena, sizeof(*v));
	enum pf_rc rc;

	if (v == NULL)
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no memory");
	ag->show.verbose = true;
	ag->show.numbered = true;
	ag->show.faults = stdout;
	if ((rc = ag_client_ready(ag)) != PF_OK)
		return rc;
	rc = walk(ag, v);
	if (!ag->show.json)
		printf("%s\n", rc != PF_OK ? "The visit failed." :
		    v->callable ? "The visit went well." :
		    "The visit went well as far as it could: no API was "
		    "called.");
	return rc;
}
