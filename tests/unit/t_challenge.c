#include "config.h"

#include "core/web/req.h"
#include "tests/unit/tap.h"

#define ALGS	", algs=\"ES256 ES384 RS256 PS256 EdDSA\""

static struct pf_arena arena;

static struct pf_req
fresh(void)
{
	struct pf_req rq = { 0 };

	pf_arena_reset(&arena);
	rq.arena = &arena;
	rq.method = PF_POST;
	rq.scheme = "DPoP";
	pf_resp_init(&rq);
	return rq;
}

static bool
contains(struct pf_str s, const char *what)
{
	return s.n > 0 && memmem(s.p, s.n, what, strlen(what)) != NULL;
}

/* A header stands there once, with this value; NULL: not at all. */
static void
is_header(struct pf_req *rq, const char *name, const char *want)
{
	struct pf_str rest = pf_buf_str(&rq->resp.head), line, value;
	size_t n = strlen(name), seen = 0;

	value = PF_NOSTR;
	while (pf_str_cut(&rest, '\n', &line)) {
		if (!pf_str_eq_nocase(pf_str_head(line, n), pf_str(name)) ||
		    line.n < n + 3 || line.p[n] != ':')
			continue;
		value = (struct pf_str){ line.p + n + 2, line.n - n - 3 };
		seen++;
	}
	tap_is_z(value, want, "header %s", name);
	tap_is((long long)seen, want != NULL, "as often as it should");
}

static void
test_table(void)
{
	static const struct {
		enum pf_err err;
		const char *code;
		int status, at_token_endpoint;
		enum pf_rc rc;
		bool challenge, retry;
	} row[] = {
		{ PF_INVALID_REQUEST, "invalid_request", 400, 400,
		    PF_E_INPUT, false, false },
		{ PF_INVALID_CLIENT, "invalid_client", 401, 401, PF_E_AUTH,
		    false, false },
		{ PF_INVALID_GRANT, "invalid_grant", 400, 400, PF_E_AUTH,
		    false, false },
		{ PF_INVALID_SESSION, "invalid_session", 400, 400, PF_E_AUTH,
		    false, false },
		{ PF_ACCOUNT_MISMATCH, "account_mismatch", 400, 400,
		    PF_E_CONFLICT, false, false },
		{ PF_INVALID_SCOPE, "invalid_scope", 400, 400, PF_E_INPUT,
		    false, false },
		{ PF_INVALID_TARGET, "invalid_target", 400, 400, PF_E_INPUT,
		    false, false },
		{ PF_UNSUPPORTED_GRANT_TYPE, "unsupported_grant_type", 400,
		    400, PF_E_INPUT, false, false },
		{ PF_UNAUTHORIZED_CLIENT, "unauthorized_client", 400, 400,
		    PF_E_FORBID, false, false },
		{ PF_AUTHORIZATION_PENDING, "authorization_pending", 400, 400,
		    PF_E_CONFLICT, false, false },
		{ PF_SLOW_DOWN, "slow_down", 400, 400, PF_E_LIMIT, false,
		    false },
		{ PF_ACCESS_DENIED, "access_denied", 400, 400, PF_E_FORBID,
		    false, false },
		{ PF_EXPIRED_TOKEN, "expired_token", 400, 400, PF_E_ABSENT,
		    false, false },
		{ PF_INVALID_DPOP_PROOF, "invalid_dpop_proof", 401, 400,
		    PF_E_AUTH, true, false },
		{ PF_USE_DPOP_NONCE, "use_dpop_nonce", 401, 400, PF_E_AUTH,
		    true, false },
		{ PF_INVALID_TOKEN, "invalid_token", 401, 401, PF_E_AUTH,
		    true, false },
		{ PF_SIGN_IN_REQUIRED, "sign_in_required", 403, 403,
		    PF_E_FORBID, true, false },
		{ PF_INSUFFICIENT_SCOPE, "insufficient_scope", 403, 403,
		    PF_E_FORBID, true, false },
		{ PF_EXTENSION_REQUIRED, "extension_required", 403, 403,
		    PF_E_FORBID, false, false },
		{ PF_RATE_LIMITED, "rate_limited", 429, 429, PF_E_LIMIT,
		    false, true },
		{ PF_NOT_FOUND, "not_found", 404, 404, PF_E_ABSENT, false,
		    false },
		{ PF_METHOD_NOT_ALLOWED, "method_not_allowed", 405, 405,
		    PF_E_INPUT, false, false },
		{ PF_UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", 415,
		    415, PF_E_INPUT, false, false },
		{ PF_TOO_LARGE, "content_too_large", 413, 413, PF_E_INPUT,
		    false, false },
		{ PF_HEADERS_TOO_LARGE, "headers_too_large", 431, 431,
		    PF_E_INPUT, false, false },
		{ PF_UNAVAILABLE, "temporarily_unavailable", 503, 503,
		    PF_E_BUSY, false, true },
		{ PF_SERVER_ERROR, "server_error", 500, 500, PF_E_BUG, false,
		    false },
	};
	char body[256], challenge[256];
	struct pf_req rq;

	tap_is(PF_COUNT(row), PF_ERR_COUNT - 1, "all errors are tested");
	for (size_t i = 0; i < PF_COUNT(row); i++) {
		snprintf(body, sizeof(body), "{\"error\":\"%s\","
		    "\"error_description\":\"So it is.\"}", row[i].code);
		snprintf(challenge, sizeof(challenge), "DPoP error=\"%s\", "
		    "error_description=\"So it is.\"" ALGS, row[i].code);
		for (int token = 0; token < 2; token++) {
			rq = fresh();
			rq.token_endpoint = token != 0;
			tap_is(pf_fail(&rq, row[i].err, "So it is."),
			    row[i].rc, "%s", row[i].code);
			pf_fail_reply(&rq, row[i].rc);
			tap_is(rq.resp.status, token ?
			    row[i].at_token_endpoint : row[i].status,
			    "status%s", token ? " at the token endpoint" : "");
			tap_is_z(rq.resp.body, body, "body");
			is_header(&rq, "Cache-Control", "no-store");
			is_header(&rq, "Content-Type", "application/json");
			is_header(&rq, "WWW-Authenticate",
			    row[i].challenge ? challenge : NULL);
			is_header(&rq, "Retry-After",
			    row[i].retry ? "1" : NULL);
		}
	}
	tap_is(pf_err_info((enum pf_err)-1)->status, 500, "below the table");
	tap_is(pf_err_info(PF_ERR_COUNT)->status, 500, "behind the table");
}

static void
test_bearer(void)
{
	struct pf_req rq = fresh();

	rq.scheme = "Bearer";
	pf_fail_reply(&rq, pf_fail(&rq, PF_INVALID_TOKEN, "Gone."));
	is_header(&rq, "WWW-Authenticate", "Bearer error=\"invalid_token\", "
	    "error_description=\"Gone.\"");
	rq = fresh();
	rq.scheme = "Bearer";
	pf_fail_reply(&rq, pf_fail(&rq, PF_INVALID_DPOP_PROOF, "Bad."));
	is_header(&rq, "WWW-Authenticate", "DPoP "
	    "error=\"invalid_dpop_proof\", error_description=\"Bad.\"" ALGS);
	rq = fresh();
	rq.scheme = "Bearer";
	rq.resource_metadata = PF_LIT("https://s.example/.well-known/x/mcp");
	pf_fail_reply(&rq, pf_fail(&rq, PF_INVALID_TOKEN, "Gone."));
	is_header(&rq, "WWW-Authenticate", "Bearer error=\"invalid_token\", "
	    "error_description=\"Gone.\", "
	    "resource_metadata=\"https://s.example/.well-known/x/mcp\"");
	rq = fresh();
	rq.scheme = NULL;
	pf_fail_reply(&rq, pf_fail(&rq, PF_INVALID_TOKEN, "Gone."));
	is_header(&rq, "WWW-Authenticate", "DPoP error=\"invalid_token\", "
	    "error_description=\"Gone.\"" ALGS);
}

static void
test_scope(void)
{
	struct pf_req rq = fresh();

	tap_is(pf_fail_scope(&rq, PF_INSUFFICIENT_SCOPE,
	    PF_LIT("poppy:read poppy:write")), PF_E_FORBID, "scopes");
	pf_fail_reply(&rq, PF_E_FORBID);
	is_header(&rq, "WWW-Authenticate", "DPoP "
	    "error=\"insufficient_scope\", error_description=\"The token "
	    "lacks a scope that the request needs.\", "
	    "scope=\"poppy:read poppy:write\"" ALGS);
	tap_ok(contains(rq.resp.body,
	    "\"scope\":\"poppy:read poppy:write\""), "also in the body");
	rq = fresh();
	rq.scheme = "bearer";
	tap_is(pf_fail_scope(&rq, PF_SIGN_IN_REQUIRED, PF_LIT("a\"b\\\r\nc")),
	    PF_E_FORBID, "scopes that are none");
	pf_fail_reply(&rq, PF_E_FORBID);
	is_header(&rq, "WWW-Authenticate", "Bearer "
	    "error=\"sign_in_required\", error_description=\"The request "
	    "needs a signed-in token.\", scope=\"a?b???c\"");
	rq = fresh();
	tap_is(pf_fail_scope(&rq, PF_SIGN_IN_REQUIRED, PF_LIT("")),
	    PF_E_FORBID, "no scopes");
	pf_fail_reply(&rq, PF_E_FORBID);
	tap_ok(!contains(rq.resp.body, "scope") &&
	    !contains(pf_buf_str(&rq.resp.head), "scope="), "none are named");
	/* A later error without scopes does not keep those of an earlier. */
	tap_is(pf_fail_scope(&rq, PF_INSUFFICIENT_SCOPE, PF_LIT("x")),
	    PF_E_FORBID, "one");
	tap_is(pf_fail(&rq, PF_INVALID_TOKEN, "Gone."), PF_E_AUTH, "another");
	pf_fail_reply(&rq, PF_E_AUTH);
	tap_ok(!contains(rq.resp.body, "\"x\""), "the last error counts");
}

static void
test_retry(void)
{
	struct pf_req rq = fresh();

	tap_is(pf_fail_retry(&rq, PF_RATE_LIMITED, 37, "Slower."), PF_E_LIMIT,
	    "rate limited");
	pf_fail_reply(&rq, PF_E_LIMIT);
	is_header(&rq, "Retry-After", "37");
	for (int s = -1; s < 1; s++) {
		rq = fresh();
		tap_is(pf_fail_retry(&rq, PF_UNAVAILABLE, s, "Later."),
		    PF_E_BUSY, "%d seconds", s);
		pf_fail_reply(&rq, PF_E_BUSY);
		is_header(&rq, "Retry-After", "1");
	}
}

/* RFC 6749, 5.2: %x20-21 / %x23-5B / %x5D-7E. */
static void
test_alphabet(void)
{
	struct pf_req rq = fresh();
	char all[257], longer[2000];
	bool clean = true;

	for (int i = 0; i < 256; i++)
		all[i] = (char)(i == 0 ? 1 : i);
	all[256] = '\0';
	tap_is(pf_fail(&rq, PF_INVALID_TOKEN, "%s", all), PF_E_AUTH, "all");
	for (size_t i = 0; i < rq.err_text.n; i++)
		if (rq.err_text.p[i] < 0x20 || rq.err_text.p[i] > 0x7e ||
		    rq.err_text.p[i] == '"' || rq.err_text.p[i] == '\\')
			clean = false;
	tap_is((long long)rq.err_text.n, 256, "all of it");
	tap_ok(clean, "nothing that ends a quoted-string or a header");
	rq = fresh();
	tap_is(pf_fail(&rq, PF_INVALID_TOKEN, "a\r\nSet-Cookie: x=\"y\\\""),
	    PF_E_AUTH, "a header within");
	pf_fail_reply(&rq, PF_E_AUTH);
	is_header(&rq, "Set-Cookie", NULL);
	is_header(&rq, "WWW-Authenticate", "DPoP error=\"invalid_token\", "
	    "error_description=\"a??Set-Cookie: x=?y??\"" ALGS);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	rq = fresh();
	tap_is(pf_fail(&rq, PF_INVALID_TOKEN, "%s", longer), PF_E_AUTH, "long");
	tap_ok(rq.err_text.n > 100 && rq.err_text.n < 1000, "is cut");
}

static void
test_bare(void)
{
	static const struct {
		enum pf_rc rc;
		int status;
		const char *code;
	} row[] = {
		{ PF_OK, 500, "server_error" },
		{ PF_PARKED, 500, "server_error" },
		{ PF_E_INPUT, 400, "invalid_request" },
		{ PF_E_AUTH, 401, "invalid_token" },
		{ PF_E_FORBID, 403, "insufficient_scope" },
		{ PF_E_ABSENT, 404, "not_found" },
		{ PF_E_CONFLICT, 400, "invalid_request" },
		{ PF_E_LIMIT, 429, "rate_limited" },
		{ PF_E_BUSY, 503, "temporarily_unavailable" },
		{ PF_E_DB, 503, "temporarily_unavailable" },
		{ PF_E_UPSTREAM, 503, "temporarily_unavailable" },
		{ PF_E_MEM, 500, "server_error" },
		{ PF_E_BUG, 500, "server_error" },
		{ (enum pf_rc)99, 500, "server_error" },
	};
	char want[64];
	struct pf_req rq;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		rq = fresh();
		pf_fail_reply(&rq, row[i].rc);
		tap_is(rq.resp.status, row[i].status, "bare %s",
		    pf_rc_name(row[i].rc));
		snprintf(want, sizeof(want), "{\"error\":\"%s\"", row[i].code);
		tap_ok(contains(rq.resp.body, want), "%s", row[i].code);
		is_header(&rq, "Retry-After", row[i].status == 503 ||
		    row[i].status == 429 ? "1" : NULL);
	}
}

/* What was said before an error is forgotten, but for the Allow of a 405. */
static void
test_late(void)
{
	struct pf_req rq = fresh();

	pf_resp_header(&rq, "Set-Cookie", PF_LIT("a=b"));
	tap_is(pf_resp_send(&rq, 200, "text/html", PF_LIT("hello")), PF_OK,
	    "a reply");
	pf_fail_reply(&rq, PF_E_DB);
	tap_is(rq.resp.status, 503, "and then an error");
	is_header(&rq, "Set-Cookie", NULL);
	is_header(&rq, "Content-Type", "application/json");
	rq = fresh();
	pf_resp_header(&rq, "Allow", PF_LIT("GET"));
	pf_fail_reply(&rq, pf_fail(&rq, PF_METHOD_NOT_ALLOWED, "No."));
	is_header(&rq, "Allow", "GET");
}

static void
test_no_memory(void)
{
	struct pf_arena tiny;
	struct pf_req rq = { 0 };

	tap_need(pf_arena_init(&tiny, 256, 256) == PF_OK, "a tiny arena");
	rq.arena = &tiny;
	while (pf_arena_alloc(&tiny, 16) != NULL)
		;
	pf_resp_init(&rq);
	pf_fail_reply(&rq, pf_fail(&rq, PF_INVALID_TOKEN, "Gone."));
	tap_is(rq.resp.status, 401, "the status goes out anyway");
	pf_arena_free(&tiny);
}

int
main(void)
{
	tap_need(pf_arena_init(&arena, 16384, 1 << 20) == PF_OK, "an arena");
	test_table();
	test_bearer();
	test_scope();
	test_retry();
	test_alphabet();
	test_bare();
	test_late();
	test_no_memory();
	pf_arena_free(&arena);
	return tap_done();
}
