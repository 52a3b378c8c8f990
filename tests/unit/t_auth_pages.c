/* What forms send to the pages, where they lead, and the tokens in them. */
#include "config.h"

#include "core/jose/crypt.h"
#include "fcgi/auth/pages.h"
#include "tests/unit/tap.h"

#define A43	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define PRQ	"prq_AA" A43

static struct pf_arena arena;
static struct pf_proc proc;
static const struct pf_host host = {
	.host = PF_LIT_INIT("shop.example"),
	.base = PF_LIT_INIT("https://shop.example:8443"),
};
static struct pf_app app = { .proc = &proc };

static struct pf_req
fresh(void)
{
	struct pf_req rq = { 0 };

	pf_arena_reset(&arena);
	rq.arena = &arena;
	rq.app = &app;
	pf_resp_init(&rq);
	return rq;
}

static const struct { const char *typed, *want; } codes[] = {
	{ "WDJB-MJHT", "WDJB-MJHT" }, { "wdjbmjht", "WDJB-MJHT" },
	{ " wdjb mjht ", "WDJB-MJHT" }, { "w-d-j-b-m-j-h-t", "WDJB-MJHT" },
	{ "", NULL }, { "-", NULL }, { "WDJB-MJH", NULL },
	{ "WDJB-MJHTX", NULL }, { "WDJB-MJH1", NULL }, { "WDJB_MJHT", NULL },
	{ "WDJB\tMJHT", NULL }, { "\xd0\x96" "DJB-MJHT", NULL },
	{ "<script>", NULL },
};

static const struct { const char *raw, *want; } nexts[] = {
	{ "agents", "agents" }, { "", "agents" }, { "device", "device" },
	{ "device?user_code=wdjbmjht", "device?user_code=WDJB-MJHT" },
	{ "device?user_code=x", "device" }, { "device?x=y", "agents" },
	{ "device?user_code=WDJB-MJHT&a=b", "device" },
	{ "consent/" PRQ, "consent/" PRQ },
	{ "consent/" PRQ "A", "agents" }, { "consent/" PRQ "/..", "agents" },
	{ "consent/" PRQ "?a", "agents" }, { "consent/", "agents" },
	{ "consent/prq_AA\r\nA: b", "agents" }, { "consent/../x", "agents" },
	{ "https://evil.example/", "agents" }, { "//evil.example", "agents" },
	{ "/agents", "agents" }, { "javascript:alert(1)", "agents" },
	{ "logout", "agents" },
};

static void
test_codes(void)
{
	struct pf_str shown, bare;
	struct pf_req rq;

	for (size_t i = 0; i < PF_COUNT(codes); i++) {
		rq = fresh();
		tap_is(auth_user_code(&rq, pf_str(codes[i].typed), &shown,
		    &bare), codes[i].want != NULL ? PF_OK : PF_E_INPUT,
		    "code \"%s\"", codes[i].typed);
		if (codes[i].want == NULL)
			continue;
		tap_is_z(shown, codes[i].want, "as it is shown");
		tap_is_z(bare, "WDJBMJHT", "as it is kept");
	}
	for (size_t i = 0; i < PF_COUNT(nexts); i++) {
		rq = fresh();
		tap_is_z(auth_page_next(&rq, pf_str(nexts[i].raw)),
		    nexts[i].want, "next=%s", nexts[i].raw);
	}
}

static struct pf_str
location(const struct pf_req *rq)
{
	struct pf_str head = pf_buf_str(&rq->resp.head);

	return pf_str_head(pf_str_from(head, sizeof("Location: ") - 1),
	    pf_str_find(head, '\r') - (sizeof("Location: ") - 1));
}

#define CB	"https://agent.example/cb"
#define ISS	"&iss=https%3A%2F%2Fshop.example"
static const struct { const char *uri, *state, *want; } redirects[] = {
	{ CB, "s", CB "?code=c%26d&state=s" ISS },
	{ CB, NULL, CB "?code=c%26d" ISS },
	{ CB, "", CB "?code=c%26d&state=" ISS },
	{ CB "?a=b", "s", CB "?a=b&code=c%26d&state=s" ISS },
	{ CB "?", "s", CB "?code=c%26d&state=s" ISS },
	{ CB "?a=b&", "s", CB "?a=b&code=c%26d&state=s" ISS },
	{ CB "?x=%2F", "a b&c=d#e+f\r\nA: b\"", CB "?x=%2F&code=c%26d&state="
	    "a%20b%26c%3Dd%23e%2Bf%0D%0AA%3A%20b%22" ISS },
	{ "http://127.0.0.1:1234/", "s",
	    "http://127.0.0.1:1234/?code=c%26d&state=s" ISS },
};

static void
test_redirects(void)
{
	struct pf_req rq;

	for (size_t i = 0; i < PF_COUNT(redirects); i++) {
		rq = fresh();
		tap_is(auth_redirect(&rq, pf_str(redirects[i].uri), "code",
		    PF_LIT("c&d"), NULL, pf_str(redirects[i].state)), PF_OK,
		    "back to %s", redirects[i].uri);
		tap_is_z(location(&rq), redirects[i].want, "appended");
		tap_is(rq.resp.status, 303, "by GET");
	}
	rq = fresh();
	tap_is(auth_redirect(&rq, PF_LIT(CB), "error", PF_LIT("access_denied"),
	    "why not", PF_LIT("s")), PF_OK, "an error");
	tap_is_z(location(&rq), CB "?error=access_denied&error_description="
	    "why%20not&state=s" ISS, "with its description");
}

static const struct { const char *origin; bool good; } origins[] = {
	{ NULL, true }, { "https://shop.example:8443", true },
	{ "https://SHOP.example:8443", true },
	{ "https://shop.example", false },
	{ "http://shop.example:8443", false },
	{ "https://shop.example:8443.evil.example", false },
	{ "https://shop.example:8443@evil.example", false },
	{ "https://user@shop.example:8443", false },
	{ "https://shop.example:8443/", false },
	{ "https://shop.example:8443?", false },
	{ "https://shop.example:8443 https://evil.example", false },
	{ "https://evil.example", false }, { "null", false }, { "", false },
};

/* A form of ours, sent with what is said. */
static enum pf_rc
sent(const char *origin, const struct pf_login *l, const char *form,
    const char *id, struct pf_str token)
{
	struct pf_req rq = { .arena = &arena, .app = &app };

	rq.origin = pf_str(origin);
	return pf_login_sent(&rq, l, form, pf_str(id), token);
}

static void
test_forms(void)
{
	struct pf_login l = { .known = true }, other = { .known = true };
	const struct pf_login nobody = { .known = false };
	struct pf_str token, cut;
	struct pf_req rq = fresh();
	char longer[64];

	memset(l.hash.b, 7, sizeof(l.hash.b));
	memset(other.hash.b, 8, sizeof(other.hash.b));
	memset(app.keys.csrf, 1, sizeof(app.keys.csrf));
	memset(app.keys.other_csrf, 2, sizeof(app.keys.other_csrf));
	tap_need(pf_login_csrf(&rq, &l, "consent", PF_LIT("a"), &token) ==
	    PF_OK, "a token");
	tap_is((long long)token.n, 43, "a MAC");
	for (size_t i = 0; i < PF_COUNT(origins); i++)
		tap_is(sent(origins[i].origin, &l, "consent", "a", token),
		    origins[i].good ? PF_OK : PF_E_FORBID, "Origin: %s",
		    origins[i].origin != NULL ? origins[i].origin : "(none)");
	tap_is(sent(NULL, &l, "consent", "b", token), PF_E_FORBID,
	    "of another request");
	tap_is(sent(NULL, &l, "login", "a", token), PF_E_FORBID,
	    "of another form");
	tap_is(sent(NULL, &other, "consent", "a", token), PF_E_FORBID,
	    "of another browser");
	tap_is(sent(NULL, &nobody, "consent", "a", token), PF_E_FORBID,
	    "without a cookie");
	tap_is(sent(NULL, &l, "consent", "a", PF_NOSTR), PF_E_FORBID, "none");
	tap_is(sent(NULL, &l, "consent", "a", PF_LIT("")), PF_E_FORBID,
	    "empty");
	cut = pf_str_head(token, 42);
	tap_is(sent(NULL, &l, "consent", "a", cut), PF_E_FORBID, "cut short");
	(void)snprintf(longer, sizeof(longer), "%.*sA", PF_STRF(token));
	tap_is(sent(NULL, &l, "consent", "a", pf_str(longer)), PF_E_FORBID,
	    "longer");
	memcpy(app.keys.other_csrf, app.keys.csrf, sizeof(app.keys.csrf));
	memset(app.keys.csrf, 3, sizeof(app.keys.csrf));
	tap_is(sent(NULL, &l, "consent", "a", token), PF_OK,
	    "by the master of before");
	memset(app.keys.other_csrf, 4, sizeof(app.keys.other_csrf));
	tap_is(sent(NULL, &l, "consent", "a", token), PF_E_FORBID,
	    "by one that is gone");
	tap_is(pf_login_csrf(&rq, &nobody, "consent", PF_LIT("a"), &token),
	    PF_E_BUG, "no token for nobody");
}

int
main(void)
{
	tap_need(pf_crypt_init() == PF_OK, "OpenSSL");
	tap_need(pf_arena_init(&arena, 65536, 8 << 20) == PF_OK, "an arena");
	app.set.issuer = PF_LIT("https://shop.example");
	app.set.issuer_host = &host;
	test_codes();
	test_redirects();
	test_forms();
	return tap_done();
}
