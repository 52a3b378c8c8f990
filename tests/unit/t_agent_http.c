/*
 * poppy-agent's reading and writing of HTTP: caching, Retry-After,
 * WWW-Authenticate, and the little server.
 */
#include "config.h"

#include "core/jose/crypt.h"
#include "tests/unit/tap.h"
#include "tools/poppy-agent/fresh.h"
#include "tools/poppy-agent/httpd.h"
#include "tools/poppy-agent/wwwauth.h"

#define NOW	INT64_C(784111777)	/* Sun, 06 Nov 1994 08:49:37 GMT */
#define NOT	{ NULL, 0 }

static struct pf_arena arena;

static const struct {
	const char *why;
	struct ag_caching c;
	bool store;
	int64_t seconds;
} caching[] = {
	{ "no headers: no guessing", { NOT, NOT, NOT, NOT }, true, 0 },
	{ "max-age", { PF_LIT_INIT("public, max-age=300"), NOT, NOT, NOT },
	    true, 300 },
	{ "in other case, quoted, with spaces",
	    { PF_LIT_INIT(" Public ,\tMAX-AGE=\"60\" "), NOT, NOT, NOT },
	    true, 60 },
	{ "less the age", { PF_LIT_INIT("max-age=300"), PF_LIT_INIT("100"),
	    NOT, NOT }, true, 200 },
	{ "older than it may be", { PF_LIT_INIT("max-age=300"),
	    PF_LIT_INIT("301"), NOT, NOT }, true, 0 },
	{ "an age that is none", { PF_LIT_INIT("max-age=300"),
	    PF_LIT_INIT("-5"), NOT, NOT }, true, 300 },
	{ "the first max-age counts",
	    { PF_LIT_INIT("max-age=1, max-age=500"), NOT, NOT, NOT }, true, 1 },
	{ "max-age that is no number", { PF_LIT_INIT("max-age=1h"), NOT, NOT,
	    NOT }, true, 0 },
	{ "max-age beyond 64 bits",
	    { PF_LIT_INIT("max-age=99999999999999999999"), NOT, NOT, NOT },
	    true, 0 },
	{ "at most a day", { PF_LIT_INIT("max-age=31536000"), NOT, NOT, NOT },
	    true, 86400 },
	{ "s-maxage is not ours", { PF_LIT_INIT("s-maxage=300"), NOT, NOT,
	    NOT }, true, 0 },
	{ "no-cache", { PF_LIT_INIT("max-age=300, no-cache"), NOT, NOT, NOT },
	    true, 0 },
	{ "no-cache with fields",
	    { PF_LIT_INIT("no-cache=\"set-cookie\", max-age=300"), NOT, NOT,
	    NOT }, true, 0 },
	{ "no-store", { PF_LIT_INIT("max-age=300, no-store"), NOT, NOT, NOT },
	    false, 0 },
	{ "Expires against Date", { NOT, NOT,
	    PF_LIT_INIT("Sun, 06 Nov 1994 09:49:37 GMT"),
	    PF_LIT_INIT("Sun, 06 Nov 1994 09:48:37 GMT") }, true, 60 },
	{ "Expires against our clock", { NOT, NOT,
	    PF_LIT_INIT("Sun, 06 Nov 1994 08:49:47 GMT"), NOT }, true, 10 },
	{ "max-age wins over Expires", { PF_LIT_INIT("max-age=5"), NOT,
	    PF_LIT_INIT("Sun, 06 Nov 1994 09:49:37 GMT"), NOT }, true, 5 },
	{ "Expires: 0", { NOT, NOT, PF_LIT_INIT("0"), NOT }, true, 0 },
	{ "an empty header", { PF_LIT_INIT(""), NOT, NOT, NOT }, true, 0 },
};

static const struct {
	const char *why;
	struct pf_str value;
	enum pf_rc rc;
	int64_t seconds;
} retries[] = {
	{ "seconds", PF_LIT_INIT("120"), PF_OK, 120 },
	{ "at once", PF_LIT_INIT(" 0 "), PF_OK, 0 },
	{ "a date", PF_LIT_INIT("Sun, 06 Nov 1994 08:50:37 GMT"), PF_OK, 60 },
	{ "a date of the past", PF_LIT_INIT("Sun, 06 Nov 1994 08:00:00 GMT"),
	    PF_OK, 0 },
	{ "not given", NOT, PF_E_ABSENT, 0 },
	{ "empty", PF_LIT_INIT(""), PF_E_INPUT, 0 },
	{ "negative", PF_LIT_INIT("-1"), PF_E_INPUT, 0 },
	{ "a fraction", PF_LIT_INIT("1.5"), PF_E_INPUT, 0 },
	{ "words", PF_LIT_INIT("soon"), PF_E_INPUT, 0 },
	{ "beyond ten years", PF_LIT_INIT("400000000"), PF_E_INPUT, 0 },
	{ "a date of another form",
	    PF_LIT_INIT("Sunday, 06-Nov-94 08:49:37 GMT"), PF_E_INPUT, 0 },
	{ "a date with a rest", PF_LIT_INIT("Sun, 06 Nov 1994 08:49:37 GMTx"),
	    PF_E_INPUT, 0 },
	{ "a date without a zone", PF_LIT_INIT("Sun, 06 Nov 1994 08:49:37 UTC"),
	    PF_E_INPUT, 0 },
	{ "the 32nd", PF_LIT_INIT("Sun, 32 Nov 1994 08:49:37 GMT"),
	    PF_E_INPUT, 0 },
};

static const struct {
	const char *why;
	struct pf_str header;
	enum pf_rc rc;
	const char *error, *scope;
} challenges[] = {
	{ "one", PF_LIT_INIT("DPoP error=\"invalid_token\", algs=\"ES256\""),
	    PF_OK, "invalid_token", NULL },
	{ "scheme and names without case",
	    PF_LIT_INIT("dpop ERROR=invalid_token"), PF_OK, "invalid_token",
	    NULL },
	{ "two scopes",
	    PF_LIT_INIT("DPoP error=\"insufficient_scope\", "
	    "scope=\"poppy:read poppy:write\""), PF_OK, "insufficient_scope",
	    "poppy:read poppy:write" },
	{ "behind another scheme",
	    PF_LIT_INIT("Bearer error=\"other\", scope=\"b\", "
	    "DPoP error=\"mine\""), PF_OK, "mine", NULL },
	{ "before another scheme",
	    PF_LIT_INIT("DPoP error=\"mine\", Bearer error=\"other\", "
	    "scope=\"b\""), PF_OK, "mine", NULL },
	{ "behind token68", PF_LIT_INIT("Negotiate abc==, DPoP error=mine"),
	    PF_OK, "mine", NULL },
	{ "a comma in quotes",
	    PF_LIT_INIT("DPoP realm=\"a, Bearer error=x\", error=\"mine\""),
	    PF_OK, "mine", NULL },
	{ "an escaped quote",
	    PF_LIT_INIT("DPoP realm=\"a\\\"b\", error=\"mi\\ne\""), PF_OK,
	    "mine", NULL },
	{ "spaces around =", PF_LIT_INIT("DPoP error = \"mine\""), PF_OK,
	    "mine", NULL },
	{ "the first of two values",
	    PF_LIT_INIT("DPoP error=one, error=two"), PF_OK, "one", NULL },
	{ "bare", PF_LIT_INIT("DPoP"), PF_OK, NULL, NULL },
	{ "empty pieces", PF_LIT_INIT(",, DPoP ,error=mine,,"), PF_OK, "mine",
	    NULL },
	{ "another scheme", PF_LIT_INIT("Bearer error=\"x\""), PF_E_ABSENT,
	    NULL, NULL },
	{ "a longer name", PF_LIT_INIT("DPoPx error=\"x\""), PF_E_ABSENT, NULL,
	    NULL },
	{ "empty", PF_LIT_INIT(""), PF_E_ABSENT, NULL, NULL },
	{ "an open quote", PF_LIT_INIT("DPoP error=\"mine"), PF_E_INPUT, NULL,
	    NULL },
	{ "a quote that ends in a backslash", PF_LIT_INIT("DPoP error=\"x\\"),
	    PF_E_INPUT, NULL, NULL },
	{ "no token", PF_LIT_INIT("\"DPoP\""), PF_E_INPUT, NULL, NULL },
	{ "a NUL", PF_LIT_INIT("\0DPoP error=x"), PF_E_INPUT, NULL, NULL },
};

static const struct { const char *why; struct pf_str head; int status; }
requests[] = {
	{ "a page", PF_LIT_INIT("GET /a HTTP/1.1\r\nHost: x\r\n\r\n"), 200 },
	{ "with a query", PF_LIT_INIT("GET /a?b=/c HTTP/1.1\r\n\r\n"), 200 },
	{ "HTTP/1.0", PF_LIT_INIT("GET /a HTTP/1.0\r\n\r\n"), 200 },
	{ "no page", PF_LIT_INIT("GET /b HTTP/1.1\r\n\r\n"), 404 },
	{ "a page in other case", PF_LIT_INIT("GET /A HTTP/1.1\r\n\r\n"), 404 },
	{ "POST", PF_LIT_INIT("POST /a HTTP/1.1\r\n\r\n"), 405 },
	{ "POST with a body",
	    PF_LIT_INIT("POST /a HTTP/1.1\r\nContent-Length: 1\r\n\r\n"), 405 },
	{ "a method in lower case", PF_LIT_INIT("get /a HTTP/1.1\r\n\r\n"),
	    405 },
	{ "GET with a body",
	    PF_LIT_INIT("GET /a HTTP/1.1\r\nContent-Length: 1\r\n\r\n"), 413 },
	{ "GET with chunks",
	    PF_LIT_INIT("GET /a HTTP/1.1\r\ntransfer-encoding: x\r\n\r\n"),
	    413 },
	{ "an absolute target",
	    PF_LIT_INIT("GET https://x/a HTTP/1.1\r\n\r\n"), 400 },
	{ "two spaces", PF_LIT_INIT("GET  /a HTTP/1.1\r\n\r\n"), 400 },
	{ "a word too many", PF_LIT_INIT("GET /a HTTP/1.1 x\r\n\r\n"), 400 },
	{ "no version", PF_LIT_INIT("GET /a\r\n\r\n"), 400 },
	{ "no method", PF_LIT_INIT(" /a HTTP/1.1\r\n\r\n"), 400 },
	{ "a tab", PF_LIT_INIT("GET\t/a HTTP/1.1\r\n\r\n"), 400 },
	{ "a NUL", PF_LIT_INIT("GET /a\0 HTTP/1.1\r\n\r\n"), 400 },
	{ "HTTP/2.0", PF_LIT_INIT("GET /a HTTP/2.0\r\n\r\n"), 505 },
	{ "another protocol", PF_LIT_INIT("GET /a GOPHER/1\r\n\r\n"), 400 },
	{ "a folded field",
	    PF_LIT_INIT("GET /a HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n"), 400 },
	{ "a space before the colon",
	    PF_LIT_INIT("GET /a HTTP/1.1\r\nA : b\r\n\r\n"), 400 },
	{ "a field without a name",
	    PF_LIT_INIT("GET /a HTTP/1.1\r\n: b\r\n\r\n"), 400 },
	{ "a field without a colon",
	    PF_LIT_INIT("GET /a HTTP/1.1\r\nab\r\n\r\n"), 400 },
	{ "an empty line first", PF_LIT_INIT("\r\n\r\n"), 400 },
};

static void
test_challenge(size_t i)
{
	struct ag_challenge ch;
	enum pf_rc rc = ag_challenge_parse(&arena, challenges[i].header,
	    "DPoP", &ch);
	bool good = rc == challenges[i].rc;

	if (rc == PF_OK)
		good = good &&
		    pf_str_given(ch.error) == (challenges[i].error != NULL) &&
		    pf_str_eq(ch.error, pf_str(challenges[i].error)) &&
		    pf_str_given(ch.scope) == (challenges[i].scope != NULL) &&
		    pf_str_eq(ch.scope, pf_str(challenges[i].scope));
	tap_ok(good, "challenge: %s", challenges[i].why);
}

static const struct ag_page page = {
	PF_LIT_INIT("/a"), PF_LIT_INIT("text/plain"), PF_LIT_INIT("hello")
};

static int
answer(struct pf_str head, struct pf_str *out)
{
	struct ag_ask ask;
	struct pf_buf b;
	int status;

	ag_httpd_parse(head, &ask);
	pf_buf_init(&b, &arena, 4096);
	status = ag_httpd_answer(&b, &ask, &page, 1);
	*out = pf_buf_str(&b);
	return status;
}

static void
test_conditional(void)
{
	struct pf_str out, rest, etag = PF_NOSTR, line;
	struct pf_buf b;

	tap_is(answer(PF_LIT("GET /a HTTP/1.1\r\n\r\n"), &out), 200, "page");
	for (rest = out; pf_str_cut(&rest, '\n', &line);)
		if (pf_str_starts(line, PF_LIT("ETag: ")))
			etag = pf_str_head(pf_str_from(line, 6), line.n - 7);
	tap_ok(etag.n > 10, "an ETag");
	tap_ok(pf_str_ends(out, PF_LIT("\r\n\r\nhello")), "the body");
	pf_buf_init(&b, &arena, 4096);
	pf_buf_fmt(&b, "GET /a HTTP/1.1\r\nif-none-match: \"x\", W/%.*s\r\n"
	    "\r\n", PF_STRF(etag));
	tap_is(answer(pf_buf_str(&b), &out), 304, "its ETag in a list");
	tap_ok(pf_str_ends(out, PF_LIT("\r\n\r\n")), "no body with 304");
	tap_is(answer(PF_LIT("GET /a HTTP/1.1\r\nIf-None-Match: \"x\"\r\n\r\n"),
	    &out), 200, "another ETag");
	tap_is(answer(PF_LIT("HEAD /a HTTP/1.1\r\n\r\n"), &out), 200, "HEAD");
	tap_ok(pf_str_ends(out, PF_LIT("Content-Length: 5\r\n\r\n")),
	    "HEAD: the length, no body");
	tap_is(answer(PF_LIT("HEAD /b HTTP/1.1\r\n\r\n"), &out), 404,
	    "HEAD of nothing");
	tap_ok(pf_str_ends(out, PF_LIT("\r\n\r\n")), "no body either");
}

int
main(void)
{
	struct pf_str out;
	struct ag_fresh f;
	int64_t seconds;

	tap_need(pf_arena_init(&arena, 65536, 1 << 20) == PF_OK &&
	    pf_crypt_init() == PF_OK, "memory");
	for (size_t i = 0; i < PF_COUNT(caching); i++) {
		f = ag_fresh(&caching[i].c, NOW);
		tap_ok(f.store == caching[i].store &&
		    f.seconds == caching[i].seconds, "caching: %s",
		    caching[i].why);
	}
	for (size_t i = 0; i < PF_COUNT(retries); i++) {
		seconds = 0;
		tap_ok(ag_retry_after(retries[i].value, NOW, &seconds) ==
		    retries[i].rc && (retries[i].rc != PF_OK ||
		    seconds == retries[i].seconds), "Retry-After: %s",
		    retries[i].why);
	}
	for (size_t i = 0; i < PF_COUNT(challenges); i++)
		test_challenge(i);
	for (size_t i = 0; i < PF_COUNT(requests); i++)
		tap_is(answer(requests[i].head, &out), requests[i].status,
		    "request: %s", requests[i].why);
	test_conditional();
	tap_is((long long)ag_httpd_head(PF_LIT("GET / HTTP/1.1\r\n\r\nrest")),
	    18, "where a head ends");
	tap_is((long long)ag_httpd_head(PF_LIT("GET / HTTP/1.1\r\n\r")), 0,
	    "a head that is not complete");
	tap_is((long long)ag_httpd_head(PF_LIT("\r\n")), 0, "too short");
	pf_arena_free(&arena);
	pf_crypt_thread_end();
	pf_crypt_end();
	return tap_done();
}
