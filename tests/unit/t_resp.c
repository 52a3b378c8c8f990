/* Replies: status, headers, ETags; and reading a request's variables. */
#include "config.h"

#include "core/base/log.h"
#include "core/jose/crypt.h"
#include "core/web/serve_int.h"
#include "tests/unit/tap.h"

static struct pf_arena arena;
static struct pf_req rq;

static void
fresh(enum pf_method method)
{
	pf_arena_reset(&arena);
	memset(&rq, 0, sizeof(rq));
	rq.arena = &arena;
	rq.method = method;
	pf_resp_init(&rq);
}

static void
block_is(const char *want, const char *why)
{
	struct pf_str out;

	tap_is(pf_resp_block(&rq, &out), PF_OK, "%s: block", why);
	tap_is_z(out, want, "%s", why);
}

static void
blocks(void)
{
	fresh(PF_GET);
	tap_is(pf_resp_send(&rq, 200, "text/plain", PF_LIT("abc")), PF_OK,
	    "send");
	block_is("Status: 200 OK\r\nContent-Type: text/plain\r\n"
	    "Content-Length: 3\r\n\r\n", "a page");
	fresh(PF_HEAD);
	tap_ok(pf_resp_send(&rq, 200, "text/plain", PF_LIT("abc")) == PF_OK &&
	    rq.resp.no_body, "HEAD has no body");
	block_is("Status: 200 OK\r\nContent-Type: text/plain\r\n"
	    "Content-Length: 3\r\n\r\n", "and GET's length");
	fresh(PF_POST);
	tap_ok(pf_resp_empty(&rq, 204) == PF_OK && rq.resp.no_body, "204");
	block_is("Status: 204 No Content\r\n\r\n", "nothing else");
	fresh(PF_GET);
	pf_resp_header(&rq, "Variable-POPPY_SESSION", PF_LIT("s"));
	tap_is(pf_resp_empty(&rq, 200), PF_OK, "an authorizer's");
	block_is("Status: 200 OK\r\nVariable-POPPY_SESSION: s\r\n\r\n",
	    "only its variables");
	fresh(PF_GET);
	tap_is(pf_resp_empty(&rq, 599), PF_OK, "a status without a name");
	block_is("Status: 599 Unknown\r\n\r\n", "is no fault");
}

static const struct { const char *why, *name; struct pf_str value; } bad[] = {
	{ "LF", "X-A", PF_LIT_INIT("a\nSet-Cookie: x=y") },
	{ "CR", "X-A", PF_LIT_INIT("a\rb") },
	{ "NUL", "X-A", PF_LIT_INIT("a\0b") },
	{ "escape", "X-A", PF_LIT_INIT("\x1b[31m") },
	{ "DEL", "X-A", PF_LIT_INIT("\x7f") },
	{ "a colon in the name", "X-A: b", PF_LIT_INIT("c") },
	{ "a line break in the name", "X\r\nA", PF_LIT_INIT("c") },
	{ "no name", "", PF_LIT_INIT("c") },
};

static void
bad_headers(void)
{
	static char huge[5000];

	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		fresh(PF_GET);
		pf_resp_header(&rq, bad[i].name, bad[i].value);
		tap_is((long long)rq.resp.head.n, 0, "left out: %s",
		    bad[i].why);
	}
	memset(huge, 'x', sizeof(huge) - 1);
	fresh(PF_GET);
	pf_resp_headerf(&rq, "X-A", "%s", huge);
	tap_is((long long)rq.resp.head.n, 0, "left out: longer than 4 KiB");
	for (int i = 0; i < 5; i++)
		pf_resp_header(&rq, "X-A", pf_str(huge));
	tap_is(pf_resp_empty(&rq, 200), PF_E_MEM, "over 16 KiB of headers");
	pf_resp_reset(&rq);
	tap_is(pf_resp_empty(&rq, 500), PF_OK, "forgotten at a reset");
	tap_is(pf_resp_send(&rq, 200, NULL, pf_bytes(huge, PF_RESP_MAX + 1)),
	    PF_E_MEM, "a body over the limit");
}

static int
cached(const char *if_none_match, enum pf_method method)
{
	fresh(method);
	rq.if_none_match = pf_str(if_none_match);
	if (pf_resp_cached(&rq, "application/json", PF_LIT("{}"),
	    "max-age=60") != PF_OK)
		return -1;
	return rq.resp.status;
}

/* RFC 9110, 13.1.2. The tag is the start of SHA-256 of {}. */
#define TAG	"\"RBNvo1WzZ4oRRq0W9-hknpT7\""
static const struct { const char *value; int status; } matches[] = {
	{ TAG, 304 }, { "W/" TAG, 304 }, { "*", 304 }, { " * ", 304 },
	{ "\"a\", " TAG, 304 }, { "\"a\",W/\"b,c\"," TAG ",\"d\"", 304 },
	{ "\"a,b\"", 200 }, { "", 200 }, { NULL, 200 }, { ",", 200 },
	{ "RBNvo1WzZ4oRRq0W9-hknpT7", 200 },
	{ "\"RBNvo1WzZ4oRRq0W9-hknpT7", 200 },
	{ "x" TAG, 200 }, { "w/" TAG, 200 }, { "\"*\"", 200 },
	{ "\"" TAG "\"", 200 },
};

static void
etags(void)
{
	for (size_t i = 0; i < PF_COUNT(matches); i++)
		tap_is(cached(matches[i].value, PF_GET), matches[i].status,
		    "If-None-Match: %s", matches[i].value ?
		    matches[i].value : "(none)");
	tap_is(cached("*", PF_HEAD), 304, "HEAD");
	tap_is(cached("*", PF_POST), 200, "not for POST");
	(void)cached(TAG, PF_GET);
	block_is("Status: 304 Not Modified\r\nETag: " TAG
	    "\r\nCache-Control: max-age=60\r\n\r\n", "304");
	(void)cached(NULL, PF_GET);
	block_is("Status: 200 OK\r\nETag: " TAG "\r\nCache-Control: max-age=60"
	    "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n",
	    "200");
}

static enum pf_rc
read_env(const char *const *env)
{
	char *copy[16] = { NULL };
	enum pf_rc rc;

	fresh(PF_GET);
	for (size_t i = 0; env[i] != NULL; i++)
		copy[i] = strdup(env[i]);
	rc = pf_req_read(&rq, copy);
	/* As libfcgi does: nothing may point there any more. */
	for (size_t i = 0; copy[i] != NULL; i++) {
		memset(copy[i], '#', strlen(copy[i]));
		free(copy[i]);
	}
	return rc;
}

#define ENV(...)	((const char *const[]){ "REQUEST_METHOD=GET",	\
	"REQUEST_URI=/a?b", __VA_ARGS__, NULL })

static void
variables(void)
{
	tap_is(read_env(ENV("HTTP_HOST=A.example:443", "PATH_INFO=/x",
	    "HTTP_COOKIE=c=d", "HTTP_X_FORWARDED_FOR=1.2.3.4")), PF_OK,
	    "a request");
	tap_is_z(rq.path, "/a", "path");
	tap_is_z(rq.query, "b", "query");
	tap_is_z(rq.host, "a.example", "host");
	tap_is_z(rq.cookie, "c=d", "cookie");
	tap_is_z(rq.forwarded_for, "1.2.3.4", "X-Forwarded-For");
	tap_ok(!pf_str_given(rq.dpop), "what isn't there isn't given");
	tap_is(read_env(ENV("HTTP_AUTHORIZATION=",
	    "REDIRECT_HTTP_AUTHORIZATION=DPoP t")), PF_OK, "rewritten");
	tap_is_z(rq.authorization, "DPoP t", "the renamed header");
	tap_is(read_env(ENV("HTTP_AUTHORIZATION=Bearer x",
	    "REDIRECT_HTTP_AUTHORIZATION=DPoP t")), PF_OK, "both");
	tap_is_z(rq.authorization, "Bearer x", "the plain one wins");
	tap_is(read_env(ENV("HTTP_HOST=a b")), PF_OK, "a bad host");
	tap_ok(!pf_str_given(rq.host), "is no host");
	tap_is(read_env(ENV("HTTP_ACCEPT")), PF_OK, "without '='");
	tap_ok(!pf_str_given(rq.accept), "is no variable");
}

static void
twice(void)
{
	static const char *const names[] = { "HTTP_AUTHORIZATION=x",
	    "HTTP_DPOP=x", "HTTP_COOKIE=x", "HTTP_HOST=x", "POPPY_HOST=x",
	    "POPPY_GATE=x", "HTTP_X_FORWARDED_FOR=x", "HTTP_ORIGIN=x",
	    "REMOTE_ADDR=x", "REQUEST_URI=/x", "REQUEST_METHOD=GET",
	    "UNIQUE_ID=x", "CONTENT_TYPE=x", "HTTP_IDEMPOTENCY_KEY=x" };

	for (size_t i = 0; i < PF_COUNT(names); i++) {
		tap_is(read_env(ENV(names[i], names[i])), PF_E_INPUT,
		    "refused twice: %s", names[i]);
		tap_ok(!pf_str_given(rq.uri) && rq.err == PF_INVALID_REQUEST,
		    "and nothing of it is left");
	}
	tap_is(read_env(ENV("HTTP_ACCEPT_ENCODING=a",
	    "HTTP_ACCEPT_ENCODING=b")), PF_OK, "others decide nothing");
	tap_is(read_env((const char *const[]){ "REQUEST_METHOD=GET", NULL }),
	    PF_E_INPUT, "without REQUEST_URI");
	tap_is(read_env((const char *const[]){ "REQUEST_URI=/", NULL }),
	    PF_E_INPUT, "without REQUEST_METHOD");
}

int
main(void)
{
	pf_log_init("t_resp", PF_LOG_ERROR);
	/* What is left out is logged; not here. */
	if (freopen("/dev/null", "w", stderr) == NULL)
		return 1;
	tap_need(pf_arena_init(&arena, 4096, 1 << 20) == PF_OK &&
	    pf_crypt_init() == PF_OK, "arena, OpenSSL");
	blocks();
	bad_headers();
	etags();
	variables();
	twice();
	pf_arena_free(&arena);
	pf_crypt_thread_end();
	pf_crypt_end();
	return tap_done();
}
