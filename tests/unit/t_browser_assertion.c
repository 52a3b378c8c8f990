/*
 * The assertion by which a browser joins (section 5): where it may lead, what
 * it must claim, and all that must not pass.
 */
#include "core/poppy/app.h"
#include "core/poppy/browser_assertion.h"
#include "core/web/challenge.h"
#include "tests/unit/tap.h"

#define NOW		1790900000LL
#define ENDPOINT	"https://shop.example/poppy/browser-session"
#define AGENT		"https://agent.example/agent.json"
#define JTI		"Hk29vQ0sPZ1mXa7cR4tLwA"
#define S(z)	PF_LIT_INIT(z)

/* The first is where all is posted to. */
static const struct pf_host hosts[] = {
	{ .host = S("shop.example"), .base = S("https://shop.example"),
	    .domain = S("shop.example"),
	    .browser_endpoint = S(ENDPOINT) },
	{ .host = S("api.shop.example"),
	    .base = S("https://api.shop.example:8443") },
	{ .host = S("other.example"), .base = S("https://other.example"),
	    .domain = S("other.example"), .browser_endpoint =
	    S("https://other.example/poppy/browser-session") },
};

static const struct { bool ok; struct pf_str url; } returns[] = {
	{ true, S("https://shop.example/orders") },
	{ true, S("https://shop.example") },
	{ true, S("https://shop.example/") },
	{ true, S("https://shop.example?page=2") },
	{ true, S("https://shop.example/a?u=https://evil.example/#x@y") },
	{ true, S("https://shop.example/#reviews") },
	{ true, S("https://www.shop.example/") },
	{ true, S("https://a.b.shop.example/") },
	{ true, S("https://SHOP.example/") },
	{ true, S("HTTPS://shop.example/") },
	{ true, S("https://shop.example:443/") },
	{ true, S("https://shop.example:8443/") },
	{ true, S("https://xn--caf-dma.shop.example/") },
	{ true, S("https://shop.example//evil.example") },
	{ true, S("https://shop.example/%0d%0aSet-Cookie:x") },

	/* another scheme, or none */
	{ false, S("") },
	{ false, S("/orders") },
	{ false, S("//shop.example/") },
	{ false, S("shop.example") },
	{ false, S("http://shop.example/") },
	{ false, S("javascript://shop.example/%0aalert(1)") },
	{ false, S("data:text/html,x") },
	{ false, S("https:shop.example") },
	{ false, S("https:/shop.example") },
	{ false, S("https:///shop.example") },
	{ false, S("https:\\\\shop.example") },
	{ false, S("httpss://shop.example/") },
	{ false, S(" https://shop.example/") },
	{ false, S("\thttps://shop.example/") },
	{ false, S("https ://shop.example/") },
	/* another host */
	{ false, S("https://evil.example/") },
	{ false, S("https://other.example/") },
	{ false, S("https://evilshop.example/") },
	{ false, S("https://evil-shop.example/") },
	{ false, S("https://shop.example.evil.example/") },
	{ false, S("https://shop.example-evil.example/") },
	{ false, S("https://example/") },
	{ false, S("https://shop.examplee/") },
	{ false, S("https://shop-example/") },
	{ false, S("https://evil.example/shop.example") },
	{ false, S("https://evil.example?.shop.example") },
	{ false, S("https://evil.example#.shop.example") },
	{ false, S("https://evil.example;.shop.example/") },
	{ false, S("https://evil.example\\.shop.example/") },
	{ false, S("https://evil.example%2f.shop.example/") },
	{ false, S("https://evil.example%5c.shop.example/") },
	{ false, S("https://evil.example%23.shop.example/") },
	{ false, S("https://shop.example./") },
	{ false, S("https://.shop.example/") },
	{ false, S("https://www..shop.example/") },
	{ false, S("https:///") },
	{ false, S("https://*.shop.example/") },
	{ false, S("https://127.0.0.1/") },
	{ false, S("https://[::1]/") },
	{ false, S("https://[shop.example]/") },
	{ false, S("https://2130706433/") },
	/* a User before the host */
	{ false, S("https://shop.example@evil.example/") },
	{ false, S("https://evil.example@shop.example/") },
	{ false, S("https://@shop.example/") },
	{ false, S("https://:@shop.example/") },
	{ false, S("https://a:b@shop.example/") },
	{ false, S("https://shop.example:443@evil.example/") },
	{ false, S("https://shop.example%40evil.example/") },
	/* ports */
	{ false, S("https://shop.example:8080/") },
	{ false, S("https://shop.example:80/") },
	{ false, S("https://shop.example:/") },
	{ false, S("https://shop.example:0/") },
	{ false, S("https://shop.example:0443/") },
	{ false, S("https://shop.example:+443/") },
	{ false, S("https://shop.example:65979/") },
	{ false, S("https://shop.example:443:443/") },
	{ false, S("https://shop.example:443.evil.example/") },
	/* bytes that some read as others */
	{ false, S("https://shop.example\\@evil.example/") },
	{ false, S("https://shop.example\\evil") },
	{ false, S("https://shop.example/a\\b") },
	{ false, S("https://shop.example/a b") },
	{ false, S("https://shop.example/\r\nSet-Cookie: a=b") },
	{ false, S("https://shop.example/\n") },
	{ false, S("https://shop.example/\t") },
	{ false, S("https://sh\top.example/") },
	{ false, S("https://shop.example\0.evil.example/") },
	{ false, S("https://shop.example/\x7f") },
	{ false, S("https://sh\xc3\xb6p.shop.example/") },
	{ false, S("https://shop.example\xe3\x80\x82""evil.example/") },
	{ false, S("https://shop.example\xef\xbc\x8f""evil.example/") },
	{ false, S("https://shop.example/caf\xc3\xa9") },
	{ false, S("https://shop.example/<b>") },
	{ false, S("https://shop.example/\"") },
	{ false, S("https://shop.example/%") },
	{ false, S("https://shop.example/%zz") },
	{ false, S("https://shop.example/#a#b") },
};

static struct pf_app app;
static struct pf_arena arena;
static char sid[PF_SID_TEXT + 1];
static char other_sid[PF_SID_TEXT + 3];		/* with its quotes */

static void
check_returns(void)
{
	char longest[2100] = "https://shop.example/";

	for (size_t i = 0; i < PF_COUNT(returns); i++)
		tap_ok(pf_return_ok(&app.set, &hosts[0], returns[i].url) ==
		    returns[i].ok, "%s %.*s", returns[i].ok ? "to" : "not to",
		    PF_STRF(returns[i].url));
	(void)memset(longest + 21, 'a', sizeof(longest) - 21);
	tap_ok(pf_return_ok(&app.set, &hosts[0], pf_bytes(longest, 2048)),
	    "2,048 bytes");
	tap_ok(!pf_return_ok(&app.set, &hosts[0], pf_bytes(longest, 2049)),
	    "one more");
	tap_ok(!pf_return_ok(&app.set, &hosts[0], PF_NOSTR), "nothing");
	tap_ok(!pf_return_ok(&app.set, &hosts[2],
	    PF_LIT("https://shop.example/")), "a domain by its own host alone");
}

/* One claim in the place of what a good assertion has. */
struct change {
	const char *why;
	const char *typ;	/* NULL: the right one; "": none */
	const char *name, *value;	/* value NULL: left out */
	enum pf_err err;
};

static struct pf_str
write_claims(const struct change *c)
{
	const struct { const char *name, *value; } all[] = {
		{ "iss", "\"" AGENT "\"" }, { "sub", "\"usr_Q7c1vK\"" },
		{ "aud", "\"" ENDPOINT "\"" }, { "session_id", NULL },
		{ "return_to", "\"https://shop.example/orders\"" },
		{ "iat", "1790900000" }, { "exp", "1790900060" },
		{ "jti", "\"" JTI "\"" },
	};
	const char *value;
	struct pf_str text;
	struct pf_buf b;

	pf_buf_init(&b, &arena, 16384);
	for (size_t i = 0; i < PF_COUNT(all); i++) {
		bool changed = c->name != NULL &&
		    strcmp(c->name, all[i].name) == 0;

		value = changed ? c->value : all[i].value;
		if (changed && value == NULL)
			continue;
		pf_buf_fmt(&b, "%s\"%s\":", b.n == 0 ? "{" : ",", all[i].name);
		if (value != NULL)
			pf_buf_addz(&b, value);
		else
			pf_buf_fmt(&b, "\"%s\"", sid);
	}
	pf_buf_char(&b, '}');
	tap_need(pf_buf_done(&b, &text) == PF_OK, "claims");
	return text;
}

/* Nobody checks the signature here. */
static struct pf_str
write_jws(const struct change *c)
{
	struct pf_str head, claims = write_claims(c), text;
	struct pf_buf b;

	pf_buf_init(&b, &arena, 1024);
	if (c->typ != NULL && *c->typ == '\0')
		pf_buf_addz(&b, "{\"alg\":\"ES256\"}");
	else
		pf_buf_fmt(&b, "{\"alg\":\"ES256\",\"typ\":\"%s\"}",
		    c->typ != NULL ? c->typ : "poppy-browser+jwt");
	tap_need(pf_buf_done(&b, &head) == PF_OK, "a header");
	pf_buf_init(&b, &arena, 16384);
	pf_buf_b64url(&b, head.p, head.n);
	pf_buf_char(&b, '.');
	pf_buf_b64url(&b, claims.p, claims.n);
	pf_buf_addz(&b, ".AAAA");
	tap_need(pf_buf_done(&b, &text) == PF_OK, "a JWS");
	return text;
}

static enum pf_rc
judge(struct pf_req *rq, const struct change *c, int64_t now_at,
    struct pf_joining *j)
{
	pf_arena_reset(&arena);
	*rq = (struct pf_req){ .arena = &arena, .app = &app,
	    .now_at = now_at };
	pf_resp_init(rq);
	return pf_browser_assertion(rq, write_jws(c), &hosts[0], j);
}

#define GRANT	PF_INVALID_GRANT
static const struct change bad[] = {
	{ "a Session assertion", "", NULL, NULL, GRANT },
	{ "a plain JWT", "JWT", NULL, NULL, GRANT },
	{ "a DPoP Proof", "dpop+jwt", NULL, NULL, GRANT },
	{ "another type", "poppy-browser", NULL, NULL, GRANT },
	{ "a longer one", "poppy-browser+jwt2", NULL, NULL, GRANT },
	{ "a type in another tree", "text/poppy-browser+jwt", NULL, NULL,
	    GRANT },
	{ "no agent", NULL, "iss", NULL, GRANT },
	{ "an agent by http", NULL, "iss", "\"http://agent.example/a\"",
	    GRANT },
	{ "an agent that is a number", NULL, "iss", "1", GRANT },
	{ "an agent without a path", NULL, "iss", "\"https://agent.example\"",
	    GRANT },
	{ "no User", NULL, "sub", NULL, GRANT },
	{ "an empty User", NULL, "sub", "\"\"", GRANT },
	{ "the agent as its User", NULL, "sub", "\"" AGENT "\"", GRANT },
	{ "a User that is a list", NULL, "sub", "[\"u\"]", GRANT },
	{ "another User", NULL, "sub", "\"usr_other\"", PF_INVALID_SESSION },
	{ "another agent", NULL, "iss", "\"https://agent.example/b.json\"",
	    PF_INVALID_SESSION },
	{ "for nobody", NULL, "aud", NULL, GRANT },
	{ "for the token endpoint", NULL, "aud",
	    "\"https://shop.example/poppy/oauth/token\"", GRANT },
	{ "for the endpoint of another domain", NULL, "aud",
	    "\"https://other.example/poppy/browser-session\"", GRANT },
	{ "for a list", NULL, "aud", "[\"" ENDPOINT "\"]", GRANT },
	{ "with a slash more", NULL, "aud", "\"" ENDPOINT "/\"", GRANT },
	{ "in other letters", NULL, "aud",
	    "\"https://SHOP.example/poppy/browser-session\"", GRANT },
	{ "with a query", NULL, "aud", "\"" ENDPOINT "?\"", GRANT },
	{ "no Session", NULL, "session_id", NULL, GRANT },
	{ "an empty Session", NULL, "session_id", "\"\"", GRANT },
	{ "a Session that is a number", NULL, "session_id", "7", GRANT },
	{ "a Session of somebody's", NULL, "session_id", "\"ses_2Lm0\"",
	    GRANT },
	{ "a token for a Session", NULL, "session_id", "\"pst_AAAAAAAAAAAAAAAA"
	    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"", GRANT },
	{ "a Session of another bucket", NULL, "session_id", other_sid,
	    PF_INVALID_SESSION },
	{ "no page", NULL, "return_to", NULL, GRANT },
	{ "a page that is a list", NULL, "return_to",
	    "[\"https://shop.example/\"]", GRANT },
	{ "a page elsewhere", NULL, "return_to", "\"https://evil.example/\"",
	    GRANT },
	{ "a page behind an escaped backslash", NULL, "return_to",
	    "\"https://shop.example\\\\@evil.example/\"", GRANT },
	{ "a page with an escaped line break", NULL, "return_to",
	    "\"https://shop.example/\\r\\nX: y\"", GRANT },
	{ "a page with an escaped NUL", NULL, "return_to",
	    "\"https://shop.example/\\u0000\"", GRANT },
	{ "no iat", NULL, "iat", NULL, GRANT },
	{ "an iat in words", NULL, "iat", "\"1790900000\"", GRANT },
	{ "an iat 31 s ahead", NULL, "iat", "1790900031", GRANT },
	{ "no exp", NULL, "exp", NULL, GRANT },
	{ "61 s", NULL, "exp", "1790900061", GRANT },
	{ "61 s, from before", NULL, "iat", "1790899999", GRANT },
	{ "60 s and a bit", NULL, "exp", "1790900060.01", GRANT },
	{ "exp at iat", NULL, "exp", "1790900000", GRANT },
	{ "exp before iat", NULL, "exp", "1790899990", GRANT },
	{ "no jti", NULL, "jti", NULL, GRANT },
	{ "21 bytes of jti", NULL, "jti", "\"Hk29vQ0sPZ1mXa7cR4tLw\"", GRANT },
	{ "a jti that is a number", NULL, "jti", "1234567890123456789012",
	    GRANT },
	{ "a jti with a line break", NULL, "jti",
	    "\"Hk29vQ0sPZ1mXa7cR4tLw\\n\"", GRANT },
};

static void
check_bad(void)
{
	struct pf_joining j;
	struct pf_req rq;
	char jti[300];

	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		tap_ok(judge(&rq, &bad[i], NOW, &j) != PF_OK, "refused: %s",
		    bad[i].why);
		tap_is(rq.err, bad[i].err, "as it should (%.*s)",
		    PF_STRF(rq.err_text));
	}
	(void)memset(jti, 'a', sizeof(jti));
	jti[0] = jti[258] = '"';
	jti[259] = '\0';
	tap_ok(judge(&rq, &(struct change){ .name = "jti", .value = jti }, NOW,
	    &j) != PF_OK, "refused: 257 bytes of jti");
	jti[257] = '"';
	jti[258] = '\0';
	tap_is(judge(&rq, &(struct change){ .name = "jti", .value = jti }, NOW,
	    &j), PF_OK, "256 do");
}

static void
check_good(void)
{
	static const char *const types[] = {
		"poppy-browser+jwt", "application/poppy-browser+jwt",
		"Poppy-Browser+JWT", "APPLICATION/poppy-browser+jwt"
	};
	const struct change none = { .why = "none" };
	struct pf_joining j;
	struct pf_req rq;
	enum pf_rc rc;

	rc = judge(&rq, &none, NOW, &j);
	tap_is(rc, PF_OK, "a good one (%.*s)", PF_STRF(rq.err_text));
	tap_is_z(j.client_id, AGENT, "the agent");
	tap_is_z(j.return_to, "https://shop.example/orders", "the page");
	tap_is(j.sid.bucket, j.user.bucket, "the Session");
	tap_is(j.spend.iat, NOW, "when");
	for (size_t i = 0; i < PF_COUNT(types); i++)
		tap_is(judge(&rq, &(struct change){ .typ = types[i] }, NOW,
		    &j), PF_OK, "as %s (RFC 7515, 4.1.9)", types[i]);
	tap_is(judge(&rq, &none, NOW + 89, &j), PF_OK, "29 s late, of 30");
	tap_ok(judge(&rq, &none, NOW + 90, &j) != PF_OK, "30 s late");
	tap_is(judge(&rq, &none, NOW - 30, &j), PF_OK, "30 s early");
	tap_ok(judge(&rq, &none, NOW - 31, &j) != PF_OK, "31 s early");
}

/* Sessions in this User's bucket, and in the next one. */
static void
make_sids(void)
{
	struct pf_user user;
	struct pf_sid s;

	tap_need(pf_user_of(&app.keys, PF_LIT(AGENT), PF_LIT("usr_Q7c1vK"),
	    &user) == PF_OK, "a User");
	tap_need(pf_sid_new(user.bucket, &s) == PF_OK, "a Session");
	pf_sid_text(&s, sid);
	s.bucket = (s.bucket + 1) % PF_BUCKETS;
	pf_sid_text(&s, other_sid + 1);
	other_sid[0] = other_sid[PF_SID_TEXT + 1] = '"';
}

int
main(void)
{
	tap_need(pf_crypt_init() == PF_OK, "OpenSSL");
	tap_need(pf_arena_init(&arena, 65536, 4 << 20) == PF_OK, "memory");
	app.set.hosts = (struct pf_list){ hosts, PF_COUNT(hosts) };
	app.set.assertions.skew_seconds = 30;
	app.set.assertions.max_seconds = 300;
	make_sids();
	check_returns();
	check_good();
	check_bad();
	pf_arena_free(&arena);
	pf_crypt_end();
	return tap_done();
}
