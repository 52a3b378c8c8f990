/*
 * check DOMAIN: everything that an agent can test on a live deployment, failing
 * cases included.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tools/poppy-agent/check.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/discover.h"
#include "tools/poppy-agent/fetch.h"
#include "tools/poppy-agent/openapi.h"
#include "tools/poppy-agent/sign.h"

/* A limit of two minutes at most is sat out: checks come in dozens. */
#define PATIENCE	120

static void
why(struct ck *ck, enum pf_rc rc, const struct ck_reply *rp)
{
	struct pf_buf b;

	pf_buf_init(&b, &ck->ag->arena, 4096);
	if (rc != PF_OK)
		ag_escape(&b, pf_str(ck->ag->fault.got), false);
	else if (rp != NULL)
		ag_escape(&b, pf_str_head(rp->http.body, 300), false);
	if (rp != NULL && rc == PF_OK)
		printf("# status %d, error \"%.*s\", challenge \"%.*s\"\n",
		    rp->http.status, PF_STRF(rp->error),
		    PF_STRF(rp->challenge));
	printf("# %.*s\n", PF_STRF(pf_buf_str(&b)));
}

void
ck_point(struct ck *ck, enum pf_rc rc, bool good, const char *rows,
    const char *what, const struct ck_reply *rp)
{
	good = good && rc == PF_OK;
	ck->failed += !good;
	printf("%sok %d - %s %s\n", good ? "" : "not ", ++ck->n, rows, what);
	if (!good)
		why(ck, rc, rp);
	(void)fflush(stdout);
}

void
ck_skip(struct ck *ck, const char *rows, const char *reason)
{
	printf("ok %d - %s # SKIP %s\n", ++ck->n, rows, reason);
}

/* The first listed API that takes a plain token, and what can be called of it. */
static enum pf_rc
find_calls(struct ck *ck)
{
	const struct ag_company *c = ck->company;
	const struct pf_json *doc;
	struct ag_openapi api;
	struct pf_str at;
	enum pf_rc rc;
	size_t i;

	for (i = 0; i < c->napis; i++)
		if (pf_str_eqz(c->api[i].type, "openapi") &&
		    !pf_str_given(c->api[i].resource))
			break;
	if (i == c->napis)
		return PF_OK;
	if ((rc = ag_fetch(ck->ag, c->api[i].url, "R-6-2", NULL, &doc, &at)) !=
	    PF_OK || (rc = ag_openapi_read(&ck->ag->arena, doc, at, &api,
	    &ck->ag->fault)) != PF_OK)
		return rc;
	/* Those that say that they need scopes come last. */
	if (api.n > 0 && !api.op[0].scoped)
		ck->call_url = api.op[0].url;
	if (api.n > 1)
		ck->scoped_url = api.op[api.n - 1].url;
	return PF_OK;
}

static enum pf_rc
prepare(struct ck *ck)
{
	struct agent *ag = ck->ag;
	enum pf_rc rc;

	if (ag->opt.client_id != NULL)
		ag->st.client_id = pf_str(ag->opt.client_id);
	if ((rc = ag_client_ready(ag)) != PF_OK)
		return rc;
	ck->key = ag_signing_key(&ag->st);
	if ((rc = pf_key_generate(PF_ES256, &ck->dpop)) != PF_OK ||
	    (rc = pf_key_generate(PF_ES256, &ck->stranger)) != PF_OK ||
	    (rc = ag_random_id(&ag->arena, "usr_", &ck->user_id)) != PF_OK)
		return ag_fault(&ag->fault, rc, NULL, "no keys could be made");
	return ag_discover(ag, ag->opt.arg[0], true, &ck->company);
}

/* ag_discover() reads the state afresh; the key is its newest one. */
static enum pf_rc
run(struct ck *ck)
{
	enum pf_rc rc;

	rc = prepare(ck);
	ck_point(ck, rc, rc == PF_OK, "R-3.1-2,R-3.1-3,R-3.1-6,R-3.2-4,"
	    "R-3.2-6,R-3.2-7", "discovery: every MUST of both documents", NULL);
	if (rc != PF_OK)
		return rc;
	if (ck->ag->opt.client_id != NULL)
		ck->ag->st.client_id = pf_str(ck->ag->opt.client_id);
	ck->key = ag_signing_key(&ck->ag->st);
	ck_documents(ck);
	rc = find_calls(ck);
	ck_point(ck, rc, rc == PF_OK, "R-6-1,R-6-2",
	    "each listed openapi API has a description", NULL);
	ck_nonces(ck);
	ck_sessions(ck);
	if (!pf_str_given(ck->token))
		return PF_E_UPSTREAM;
	ck_mistakes(ck);
	ck_calls(ck);
	ck_mcp(ck);
	ck_browser(ck);
	ck_signin(ck);
	ck_account(ck);
	return PF_OK;
}

enum pf_rc
ag_cmd_check(struct agent *ag)
{
	struct ck ck = {
		.ag = ag, .token = PF_NOSTR, .call_url = PF_NOSTR,
		.scoped_url = PF_NOSTR, .login = pf_str(ag->opt.login),
		.password = pf_str(getenv("POPPY_AGENT_PASSWORD")),
	};
	enum pf_rc rc;

	if (ag->opt.login != NULL && ck.password.n == 0) {
		ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
		return ag_fault(&ag->fault, PF_E_INPUT, NULL, "--login needs "
		    "the customer's password in POPPY_AGENT_PASSWORD");
	}
	if (ag->opt.max_wait < PATIENCE)
		ag->opt.max_wait = PATIENCE;
	puts("TAP version 13");
	rc = run(&ck);
	printf("1..%d\n", ck.n);
	printf("# %d of %d failed\n", ck.failed, ck.n);
	pf_key_free(ck.dpop);
	pf_key_free(ck.stranger);
	ag->fault.shown = true;
	if (rc == PF_OK && ck.failed != 0)
		rc = PF_E_UPSTREAM;
	return rc;
}
