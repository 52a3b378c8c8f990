/*
 * A request as the web server passes it: lines NAME=value. It is read, routed,
 * judged as a call with token and proof, and answered; whatever came in, the
 * reply is well-formed and nobody gets in (there is no database here).
 */
#include "config.h"

#include "core/poppy/fetch.h"
#include "core/poppy/limit.h"
#include "core/poppy/principal.h"
#include "core/web/cookie.h"
#include "core/web/route.h"
#include "core/web/serve_int.h"
#include "tests/fuzz/fuzz.h"

static bool judged;		/* the request got as far as the database */

static enum pf_rc
needs(struct pf_req *rq, unsigned bits)
{
	enum pf_rc rc = PF_OK;

	if (bits & PF_NEEDS_PROOF)
		rc = pf_principal_by_proof(rq, PF_NOSTR);
	if (bits & PF_NEEDS_BEARER)
		rc = pf_principal_by_bearer(rq,
		    PF_LIT("https://shop.example/mcp"));
	FUZZ_HOLDS(bits == 0 || rc != PF_OK);
	judged = judged || rc == PF_E_DB;
	return rc;
}

static enum pf_rc
document(struct pf_req *rq)
{
	judged = true;
	return pf_resp_cached(rq, "text/plain", PF_LIT("document"),
	    "max-age=60");
}

static enum pf_rc
echo(struct pf_req *rq)
{
	judged = true;
	pf_resp_header(rq, "X-Var", rq->var[0]);
	pf_resp_header(rq, "X-Origin", rq->origin);
	return pf_resp_empty(rq, 204);
}

static const struct pf_route rows[] = {
	{ PF_GET, "/doc", 0, PF_NONE, 0, document },
	{ PF_POST, "/form/{id}", 0, PF_FORM, 16, echo },
	{ PF_GET, "/files/{path...}", 0, PF_NONE, 0, echo },
	{ PF_GET, "/api/stock.php", PF_NEEDS_PROOF, PF_NONE, 0, echo },
	{ PF_POST, "/mcp", PF_NEEDS_BEARER, PF_NONE, 0, echo },
};
static const struct pf_routes routes = { rows, PF_COUNT(rows) };
static const struct pf_mount mounts[] = { { PF_LIT_INIT(""), &routes } };

static const struct pf_host hosts[] = {
	{ .host = PF_LIT_INIT("shop.example"),
	    .base = PF_LIT_INIT("https://shop.example") },
};
static struct pf_proc proc;
static const struct pf_app app = { .proc = &proc, .set = {
	.hosts = { hosts, PF_COUNT(hosts) },
	.proofs = { .past_seconds = 300, .future_seconds = 60 },
} };

/* A database that can't be reached. */
static struct pf_db *
no_database(void)
{
	static const struct pf_db_opts opts = {
		.conninfo = "host=/nonexistent", .timeout_ms = 100,
		.quiet = true
	};
	static struct pf_db *db;

	if (db == NULL) {
		FUZZ_HOLDS(pf_db_new(&opts, &db) == PF_OK);
		FUZZ_HOLDS(pf_limiter_new(64, &proc.limits) == PF_OK);
	}
	return db;
}

/* The header block: lines of CRLF, none empty but the last. */
static void
well_formed(struct pf_str head)
{
	FUZZ_HOLDS(pf_str_starts(head, PF_LIT("Status: ")));
	FUZZ_HOLDS(pf_str_ends(head, PF_LIT("\r\n\r\n")));
	for (size_t i = 0; i < head.n; i++) {
		FUZZ_HOLDS(head.p[i] != '\0');
		if (head.p[i] == '\n')
			FUZZ_HOLDS(i > 0 && head.p[i - 1] == '\r');
		if (head.p[i] == '\r')
			FUZZ_HOLDS(i + 1 < head.n && head.p[i + 1] == '\n');
		if (i + 4 < head.n)
			FUZZ_HOLDS(!pf_str_starts(pf_str_from(head, i),
			    PF_LIT("\r\n\r\n")));
	}
}

/* "NAME=value" of each line, as libfcgi has them. */
static char **
environment(struct pf_str in)
{
	char **env = pf_arena_alloc(&fuzz_arena, 65 * sizeof(*env));
	struct pf_str one;
	size_t n = 0;

	FUZZ_HOLDS(env != NULL);
	while (n < 64 && pf_str_cut(&in, '\n', &one))
		if ((env[n] = pf_arena_z(&fuzz_arena, one)) != NULL)
			n++;
	env[n] = NULL;
	return env;
}

bool
fuzz_one(struct pf_str in)
{
	struct pf_req rq = { .arena = &fuzz_arena, .app = &app,
		.now_at = FUZZ_NOW, .runs = 1, .body = PF_LIT("") };
	struct pf_str head, cookie;
	enum pf_rc rc;

	rq.db = no_database();
	judged = false;
	pf_resp_init(&rq);
	rc = pf_req_read(&rq, environment(in));
	if (rc == PF_OK) {
		(void)!pf_cookie_get(rq.cookie, "__Host-poppy", &cookie);
		FUZZ_HOLDS(pf_fetch_fresh_s(rq.accept, 0) >= 60);
		rc = pf_route_run(&rq, mounts, PF_COUNT(mounts), needs);
	}
	if (rc != PF_OK)
		pf_fail_reply(&rq, rc);
	FUZZ_HOLDS(rq.resp.status >= 200 && rq.resp.status <= 599);
	if (pf_resp_block(&rq, &head) == PF_OK)
		well_formed(head);
	return judged;
}
