/*
 * How poppy-agent lets a browser join: what it refuses to ask for, what it
 * signs, the page that it hands over, the cookie that it judges, and the pipe
 * to a browser.
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/jose/jwt.h"
#include "tests/unit/tap.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/devtools.h"
#include "tools/poppy-agent/handover.h"
#include "tools/poppy-agent/join.h"
#include "tools/poppy-agent/sign.h"

#define NOW		INT64_C(1790900000)
#define ENDPOINT	"https://shop.example/poppy/browser-session"

static struct agent ag;

static const struct { const char *url; enum pf_rc want; } pages[] = {
	{ "https://shop.example/", PF_OK },
	{ "https://shop.example", PF_OK },
	{ "https://www.Shop.example:8443/a?b=c", PF_OK },
	{ "http://shop.example/", PF_E_INPUT },
	{ "https://example/", PF_E_INPUT },
	{ "https://xshop.example/", PF_E_INPUT },
	{ "https://shop.example.other.example/", PF_E_INPUT },
	{ "https://shop.example@other.example/", PF_E_INPUT },
	{ "https://u@shop.example/", PF_E_INPUT },
	{ "https://other.example\\@shop.example/", PF_E_INPUT },
	{ "https://shop.example./", PF_E_INPUT },
	{ "https://shop.example/#a", PF_E_INPUT },
	{ "https://shop.example:0/", PF_E_INPUT },
	{ "https://sh\xc3\xb6p.example/", PF_E_INPUT },
	{ "https://shop.example/\r\nX: 1", PF_E_INPUT },
	{ "https://shop.example/?access_token=a", PF_E_INPUT },
	{ "//shop.example/", PF_E_INPUT },
	{ "/orders", PF_E_INPUT },
	{ "javascript:alert(1)//shop.example/", PF_E_INPUT },
	{ "", PF_E_INPUT },
};

static void
test_check(void)
{
	struct ag_company c = { .asked = PF_LIT("shop.example"),
	    .domain = PF_LIT("shop.example"),
	    .browser_endpoint = PF_LIT(ENDPOINT) };
	struct ag_joining j = { .company = &c };

	for (size_t i = 0; i < PF_COUNT(pages); i++) {
		j.return_to = pf_str(pages[i].url);
		tap_is(ag_browser_check(&ag, &j), pages[i].want,
		    "return_to \"%.*s\"",
		    (int)strcspn(pages[i].url, "\r"), pages[i].url);
	}
	c.browser_endpoint = PF_NOSTR;
	j.return_to = pf_str(pages[0].url);
	tap_is(ag_browser_check(&ag, &j), PF_E_ABSENT, "not announced");
}

static void
test_sign(void)
{
	const struct pf_str aud = PF_LIT(ENDPOINT);
	const struct pf_jwt_rules rules = { .now_at = NOW, .skew = 0,
	    .max_life = 60, .jti_min = 22, .jti_max = 64, .aud = &aud,
	    .naud = 1, .aud_single = true, .typ = "poppy-browser+jwt" };
	struct ag_browser_for want = { .iss = PF_LIT("https://a.example/c"),
	    .sub = PF_LIT("usr_1"), .aud = aud,
	    .session_id = PF_LIT("ses_1"),
	    .return_to = PF_LIT("https://shop.example/"), .now_at = NOW };
	struct ag_key key = { .alg = PF_ES256, .kid = PF_LIT("k1") };
	struct pf_claims claims;
	struct pf_jws jws;
	struct pf_str one, two;
	const char *why = "";

	tap_need(pf_key_generate(PF_ES256, &key.key) == PF_OK, "a key");
	tap_is(ag_sign_browser(&ag.arena, &key, &want, &one), PF_OK, "signed");
	tap_is(pf_jws_parse(&ag.arena, one, false, &jws, &why), PF_OK,
	    "a JWS (%s)", why);
	tap_is_z(jws.typ, "poppy-browser+jwt", "typ");
	tap_is(pf_jws_verify(&jws, key.key), PF_OK, "verifies");
	tap_is(pf_jwt_check(&jws, &rules, &claims, &why), PF_OK,
	    "claims of a minute (%s)", why);
	tap_is(ag_sign_browser(&ag.arena, &key, &want, &two), PF_OK, "again");
	tap_ok(!pf_str_eq(one, two), "never the same");
	want.session_id = PF_NOSTR;
	tap_is(ag_sign_browser(&ag.arena, &key, &want, &one), PF_E_BUG,
	    "not without a Session");
	pf_key_free(key.key);
}

/* fault NULL: as it must be; "": no cookie at all. */
static const struct { const char *field, *fault; } cookies[] = {
	{ "__Host-poppy=v; Path=/; Secure; HttpOnly; SameSite=Lax", NULL },
	{ "a=v;secure;httponly;samesite=none", NULL },
	{ "a = v ; SECURE ; HTTPONLY ; SAMESITE = Lax", NULL },
	{ "a=v; Secure; HttpOnly; SameSite=Strict", "SameSite" },
	{ "a=v; Secure; HttpOnly", "SameSite" },
	{ "a=v; Secure; HttpOnly; SameSite", "SameSite" },
	{ "a=v; Secure; SameSite=Lax", "HttpOnly" },
	{ "a=v; HttpOnly; SameSite=Lax", "Secure" },
	{ "a=v Secure; HttpOnly; SameSite=Lax", "Secure" },
	{ "a=; Secure; HttpOnly; SameSite=Lax", "value" },
	{ "=v; Secure; HttpOnly; SameSite=Lax", "" },
	{ "v; Secure; HttpOnly; SameSite=Lax", "" },
	{ "; Secure; HttpOnly; SameSite=Lax", "" },
	{ "", "" },
	{ NULL, "" },
};

static void
test_cookies(void)
{
	for (size_t i = 0; i < PF_COUNT(cookies); i++) {
		const char *want = cookies[i].fault, *got;
		struct ag_cookie c;
		enum pf_rc rc = ag_cookie_read(pf_str(cookies[i].field), &c);
		bool none = want != NULL && want[0] == '\0';

		tap_is(rc, none ? PF_E_INPUT : PF_OK, "cookie \"%s\"",
		    cookies[i].field == NULL ? "none" : cookies[i].field);
		if (rc != PF_OK)
			continue;
		got = ag_cookie_fault(&c);
		tap_ok(want == NULL ? got == NULL : got != NULL &&
		    strstr(got, want) != NULL, "... %s",
		    want == NULL ? "is right" : want);
	}
}

static void
test_reply(void)
{
	const struct pf_str to = PF_LIT("https://shop.example/");
	struct ag_reply rp = { .status = 303, .nfields = 2, .field = {
		{ PF_LIT("location"), to },
		{ PF_LIT("set-cookie"),
		    PF_LIT("a=v; Secure; HttpOnly; SameSite=Lax") } } };
	struct ag_cookie c;

	tap_is(ag_join_check(&ag, &rp, to, &c), PF_OK, "joined");
	tap_is_z(c.value, "v", "the cookie");
	tap_is(ag_join_check(&ag, &rp, PF_LIT("https://shop.example"), &c),
	    PF_E_UPSTREAM, "another page than was asked for");
	rp.status = 302;
	tap_is(ag_join_check(&ag, &rp, to, &c), PF_E_UPSTREAM, "no 303");
	rp.status = 303;
	rp.nfields = 1;
	tap_is(ag_join_check(&ag, &rp, to, &c), PF_E_UPSTREAM, "no cookie");
	rp.nfields = 0;
	tap_is(ag_join_check(&ag, &rp, to, &c), PF_E_UPSTREAM, "nothing");
}

static bool
has(struct pf_str text, const char *part)
{
	return strstr(pf_arena_z(&ag.arena, text), part) != NULL;
}

static void
test_page(void)
{
	struct pf_str page, policy;

	tap_is(ag_handover_page(&ag.arena,
	    PF_LIT("https://shop.example/a\"><script>"), PF_LIT("a<b"),
	    PF_LIT("n1"), &page), PF_OK, "a page");
	tap_ok(!has(page, "a\"><script>") && !has(page, "a<b"),
	    "what stands in it is text");
	tap_ok(has(page, "method=\"post\"") && has(page, "<button>"),
	    "a form with a button");
	tap_ok(has(page, "<script nonce=\"n1\">"), "and a script");
	tap_is(ag_handover_policy(&ag.arena, PF_LIT("shop.example"),
	    PF_LIT("n1"), &policy), PF_OK, "a policy");
	tap_ok(has(policy, "default-src 'none'; script-src 'nonce-n1'; "
	    "form-action https://shop.example:* https://*.shop.example:*;"),
	    "it allows the Company alone");
}

static int events;

static void
on_event(void *arg, struct pf_str method, const struct pf_json *params)
{
	(void)arg;
	(void)params;
	events += pf_str_eqz(method, "A.b");
}

static void
test_pipe(void)
{
	static const char in[] = "{\"method\":\"A.b\",\"params\":{}}\0"
	    "no JSON\0{}\0{\"id\":7,\"result\":{}}\0"
	    "{\"id\":1,\"result\":{\"x\":\"y\"}}\0"
	    "{\"id\":2,\"error\":{}}\0{\"id\":3";
	int to[2], from[2];
	const struct pf_json *r;
	struct ag_devtools d;
	struct pf_str s;
	char sent[256];
	ssize_t n;

	tap_need(pipe(to) == 0 && pipe(from) == 0 &&
	    ag_devtools_init(&d, to[1], from[0]) == PF_OK &&
	    write(from[1], in, sizeof(in) - 1) == sizeof(in) - 1, "pipes");
	d.on_event = on_event;
	tap_is(ag_devtools_call(&d, "X.y", PF_LIT("{\"z\":1}"),
	    pf_mono_ms() + 5000, &r), PF_OK, "an answer among others");
	tap_ok(pf_json_str(r, "x", &s) == PF_OK && pf_str_eqz(s, "y"), "ours");
	tap_is(events, 1, "the event before it");
	n = read(to[0], sent, sizeof(sent));
	tap_ok(n > 0 && sent[n - 1] == '\0' && strcmp(sent,
	    "{\"id\":1,\"method\":\"X.y\",\"params\":{\"z\":1}}") == 0,
	    "what was sent");
	tap_is(ag_devtools_call(&d, "X.y", PF_LIT("{}"), pf_mono_ms() + 5000,
	    &r), PF_E_INPUT, "an error");
	tap_is(ag_devtools_call(&d, "X.y", PF_LIT("{}"), pf_mono_ms() + 50,
	    &r), PF_E_ABSENT, "half an answer, and time is over");
	close(from[1]);
	tap_is(ag_devtools_call(&d, "X.y", PF_LIT("{}"), pf_mono_ms() + 5000,
	    &r), PF_E_UPSTREAM, "the browser has gone");
	ag_devtools_free(&d);
}

int
main(void)
{
	tap_need(pf_arena_init(&ag.arena, 65536, 4 << 20) == PF_OK &&
	    pf_crypt_init() == PF_OK, "memory");
	test_check();
	test_sign();
	test_cookies();
	test_reply();
	test_page();
	test_pipe();
	pf_arena_free(&ag.arena);
	pf_crypt_thread_end();
	pf_crypt_end();
	return tap_done();
}
