/*
 * The pages: the built-in ones in every language with hostile values, an
 * operator's own ones, and the headers. With PAGES_OUT=folder the pages are
 * written there, to be looked at.
 */
#include "config.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/jose/crypt.h"
#include "core/poppy/pages.h"
#include "core/poppy/pages_say.h"
#include "tests/unit/tap.h"

static struct pf_arena arena, kept;
static struct pf_settings set;

static void
fresh(struct pf_req *rq)
{
	memset(rq, 0, sizeof(*rq));
	pf_arena_reset(&arena);
	rq->arena = &arena;
	rq->method = PF_GET;
	pf_resp_init(rq);
}

static bool
has(struct pf_str s, const char *what)
{
	return s.n > 0 && memmem(s.p, s.n, what, strlen(what)) != NULL;
}

/* The value of a header, PF_NOSTR without it. */
static struct pf_str
header(const struct pf_req *rq, const char *name)
{
	struct pf_str rest = pf_buf_str(&rq->resp.head), line;
	size_t n = strlen(name);

	while (pf_str_cut(&rest, '\n', &line))
		if (line.n > n + 2 && line.p[n] == ':' &&
		    pf_str_eqz(pf_str_head(line, n), name))
			return pf_bytes(line.p + n + 2, line.n - n - 3);
	return PF_NOSTR;
}

static const struct {
	enum pf_page_id id;
	const char *name;
	const char *flags;	/* of those below, which are on */
} views[] = {
	{ PF_PAGE_LOGIN, "login", "agent" },
	{ PF_PAGE_LOGIN, "login-failed", "failed" },
	{ PF_PAGE_LANDING, "landing", "agent" },
	{ PF_PAGE_CONSENT, "consent", "redirect_host" },
	{ PF_PAGE_CONSENT, "consent-logo", "redirect_host agent_logo" },
	{ PF_PAGE_CONSENT, "consent-device", "user_code" },
	{ PF_PAGE_CODE, "code", "" },
	{ PF_PAGE_CODE, "code-wrong", "wrong user_code" },
	{ PF_PAGE_DONE, "done", "approved agents_url" },
	{ PF_PAGE_DONE, "declined", "" },
	{ PF_PAGE_AGENTS, "agents", "list gone back" },
	{ PF_PAGE_AGENTS, "agents-none", "gone_all" },
	{ PF_PAGE_DISCONNECT, "disconnect", "" },
	{ PF_PAGE_DISCONNECT, "disconnect-all", "all" },
	{ PF_PAGE_MESSAGE, "message", "next" },
	{ PF_PAGE_REFUSED, "refused-sign-in", "sign_in scope" },
	{ PF_PAGE_REFUSED, "refused-more", "more scope" },
	{ PF_PAGE_REFUSED, "refused-closed", "closed" },
	{ PF_PAGE_REFUSED, "refused-method", "method" },
	{ PF_PAGE_REFUSED, "refused-blocked", "blocked" },
	{ PF_PAGE_REFUSED, "refused-odd", "odd" },
	{ PF_PAGE_REFUSED, "refused-busy", "busy" },
	{ PF_PAGE_REFUSED, "refused-wait", "wait" },
	{ PF_PAGE_JOIN_FAILED, "join-failed", "" },
	{ PF_PAGE_JOIN_FAILED, "join-busy", "busy" },
	{ PF_PAGE_JOIN_FAILED, "join-wait", "wait" },
};

struct values {
	struct pf_str agent, host, account, text, code, logo, url;
};

static const struct values plain = {
	PF_LIT_INIT("Example Agent"), PF_LIT_INIT("agent.example"),
	PF_LIT_INIT("Robin Vale"), PF_LIT_INIT("Manage saved addresses"),
	PF_LIT_INIT("WDJB-MJHT"), PF_LIT_INIT("https://a.example/logo.png"),
	PF_LIT_INIT("/poppy/agents"),
};
#define EVIL	"\"'><img src=x onerror=alert(1)>&{{agent}}"
static const struct values evil = {
	PF_LIT_INIT(EVIL), PF_LIT_INIT(EVIL), PF_LIT_INIT(EVIL),
	PF_LIT_INIT(EVIL), PF_LIT_INIT(EVIL), PF_LIT_INIT("javascript:" EVIL),
	PF_LIT_INIT("javascript:" EVIL),
};

static bool
on(const char *flags, const char *name)
{
	struct pf_str rest = pf_str(flags), one;

	while (pf_str_cut(&rest, ' ', &one))
		if (pf_str_eqz(one, name))
			return true;
	return false;
}

static enum pf_rc
show(struct pf_req *rq, const struct pf_pages *p, const struct pf_lang *lang,
    size_t i, const struct values *x)
{
	const char *f = views[i].flags;
	const struct pf_str none = PF_LIT(""), yes = PF_LIT("1");
	const struct pf_var hidden[] = {
		PF_VAR("name", PF_LIT("csrf")), PF_VAR("value", x->text)
	};
	const struct pf_vars hiddens = { hidden, 2, NULL };
	const struct pf_var s1[] = {
		PF_VAR("id", PF_LIT("s0")), PF_VAR("checked", yes),
		PF_VAR("scope", PF_LIT("poppy:read")),
		PF_VAR("title", pf_pages_text(rq, lang, "See your account",
		    NULL)),
		PF_VAR("text", pf_pages_text(rq, lang,
		    "Your orders, bookings and details.", NULL)),
	};
	const struct pf_var s2[] = {
		PF_VAR("id", PF_LIT("s1")), PF_VAR("checked", yes),
		PF_VAR("scope", x->text), PF_VAR("title", x->text),
	};
	const struct pf_vars scopes[] = {
		{ s1, PF_COUNT(s1), NULL }, { s2, PF_COUNT(s2), NULL }
	};
	const struct pf_var a[] = {
		PF_VAR("agent", x->agent), PF_VAR("agent_host", x->host),
		PF_VAR("initial", pf_pages_initial(x->agent)),
		PF_VAR_LIST("scopes", scopes, 2),
		PF_VAR("since", pf_pages_iso(rq, 1790000000)),
		PF_VAR("since_text", pf_pages_day(rq, lang, 1790000000)),
		PF_VAR("used", pf_pages_iso(rq, 1796000000)),
		PF_VAR("used_text", pf_pages_day(rq, lang, 1796000000)),
		PF_VAR("ends", pf_pages_iso(rq, 1798000000)),
		PF_VAR("ends_text", pf_pages_day(rq, lang, 1798000000)),
		PF_VAR("url", PF_LIT("/poppy/agents/1")),
	};
	const struct pf_vars agents[] = {
		{ a, PF_COUNT(a), NULL }, { a, PF_COUNT(a), NULL }
	};
	bool list = on(f, "list");
	const struct pf_var v[] = {
		PF_VAR("agent", views[i].id != PF_PAGE_LOGIN ||
		    on(f, "agent") ? x->agent : none),
		PF_VAR("agent_host", x->host),
		PF_VAR("agent_logo", on(f, "agent_logo") ? x->logo : none),
		PF_VAR("initial", pf_pages_initial(x->agent)),
		PF_VAR("account", x->account), PF_VAR("login", x->account),
		PF_VAR("action", PF_LIT("/poppy/x")),
		PF_VAR("leave", PF_LIT("/poppy/logout")),
		PF_VAR_LIST("hidden", &hiddens, 1),
		PF_VAR_LIST("leave_hidden", &hiddens, 1),
		PF_VAR("failed", on(f, "failed") ? yes : none),
		PF_VAR("redirect_host", on(f, "redirect_host") ? x->host :
		    none),
		PF_VAR("user_code", on(f, "user_code") ? x->code : none),
		PF_VAR("wrong", on(f, "wrong") ? yes : none),
		PF_VAR("approved", on(f, "approved") ? yes : none),
		PF_VAR("all", on(f, "all") ? yes : none),
		PF_VAR("gone", on(f, "gone") ? yes : none),
		PF_VAR("gone_all", on(f, "gone_all") ? yes : none),
		PF_VAR("back", x->url), PF_VAR("url_all", x->url),
		PF_VAR("next", x->url), PF_VAR("next_text", x->text),
		PF_VAR("title", x->text), PF_VAR("text", x->text),
		PF_VAR_LIST("scopes", scopes, 2),
		PF_VAR("error", x->text),
		PF_VAR("scope", on(f, "scope") ? x->text : none),
		PF_VAR("sign_in", on(f, "sign_in") ? yes : none),
		PF_VAR("more", on(f, "more") ? yes : none),
		PF_VAR("closed", on(f, "closed") ? yes : none),
		PF_VAR("method", on(f, "method") ? yes : none),
		PF_VAR("blocked", on(f, "blocked") ? yes : none),
		PF_VAR("odd", on(f, "odd") ? yes : none),
		PF_VAR("busy", on(f, "busy") ? yes : none),
		PF_VAR("wait", on(f, "wait") ? yes : none),
		{ "agents", on(f, "agents_url") ? x->url : none, agents,
		    list ? 2 : 0 },
	};
	const struct pf_page page = {
		.id = views[i].id, .status = 200, .lang = lang, .v = v,
		.n = PF_COUNT(v),
	};

	return pf_pages_send(rq, p, &page);
}

static void
keep(const char *dir, const char *name, const char *lang, struct pf_str html)
{
	char path[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s.%s.html", dir, name, lang);
	if ((f = fopen(path, "w")) == NULL)
		return;
	(void)fwrite(html.p, 1, html.n, f);
	(void)fclose(f);
}

/* No tag and no quote that a value brought along. */
static bool
harmless(struct pf_str html)
{
	return !has(html, "<img src=x") && !has(html, "javascript:") &&
	    !has(html, "\"'>") && !has(html, "&{{") && !has(html, "<script");
}

static void
test_builtin(const struct pf_pages *p)
{
	const char *dir = getenv("PAGES_OUT");
	struct pf_req rq;

	tap_is((long long)p->langs.n, 7, "seven languages");
	for (size_t l = 0; l < p->langs.n; l++) {
		const struct pf_lang *lang = &p->langs.v[l];

		for (size_t i = 0; i < PF_COUNT(views); i++) {
			fresh(&rq);
			tap_is(show(&rq, p, lang, i, &plain), PF_OK,
			    "%s in %s", views[i].name, lang->code.p);
			tap_ok(has(rq.resp.body, lang->rtl ?
			    "dir=\"rtl\"" : "dir=\"ltr\""), "its direction");
			tap_ok(has(rq.resp.body, "</html>"), "to the end");
			if (dir != NULL)
				keep(dir, views[i].name, lang->code.p,
				    rq.resp.body);
			fresh(&rq);
			tap_is(show(&rq, p, lang, i, &evil), PF_OK, "evil");
			tap_ok(harmless(rq.resp.body), "nothing got out");
		}
	}
	if (dir != NULL)
		keep(dir, "style", "css", p->css);
}

static const struct { const char *page, *image, *want; } policies[] = {
	{ NULL, NULL, "img-src 'self'; form-action 'self'" },
	{ "https://agent.example/cb?a=b", NULL,
	    "form-action 'self' https://agent.example https:" },
	{ "https://agent.example:8443/cb", NULL,
	    "form-action 'self' https://agent.example:8443 https:" },
	{ "http://127.0.0.1:1234/cb", NULL,
	    "form-action 'self' http://127.0.0.1:1234 https:" },
	{ "http://[::1]:1234/cb", NULL, "form-action 'self' http: https:" },
	{ "javascript:alert(1)", NULL, "form-action 'self'" },
	{ "https://a.example; script-src *", NULL, "form-action 'self'" },
	{ NULL, "https://a.example/l.png",
	    "img-src 'self' https://a.example;" },
	{ NULL, "http://a.example/l.png", "img-src 'self';" },
	{ NULL, "data:image/png,x", "img-src 'self';" },
	{ NULL, "https://a.example,b/l.png", "img-src 'self';" },
	{ NULL, "https://[::1]/l.png", "img-src 'self';" },
};

static void
test_headers(void)
{
	struct pf_page_allow allow;
	struct pf_str image, csp;
	struct pf_req rq;

	for (size_t i = 0; i < PF_COUNT(policies); i++) {
		fresh(&rq);
		image = pf_str(policies[i].image);
		allow = (struct pf_page_allow){
		    .redirect = pf_str(policies[i].page),
		    .images = { &image, image.n > 0 } };
		tap_is(pf_page_send(&rq, 200, PF_LIT("x"), &allow), PF_OK,
		    "sent");
		csp = header(&rq, "Content-Security-Policy");
		tap_ok(has(csp, policies[i].want), "%s in %.*s",
		    policies[i].want, PF_STRF(csp));
		tap_ok(!has(csp, "script-src") && !has(csp, "unsafe") &&
		    !has(csp, "*"), "nothing more");
	}
	tap_is_z(header(&rq, "X-Frame-Options"), "DENY", "no framing");
	tap_ok(has(header(&rq, "Content-Security-Policy"),
	    "frame-ancestors 'none'"), "nor by CSP");
	tap_is_z(header(&rq, "Referrer-Policy"), "same-origin",
	    "no referrer elsewhere");
	tap_is_z(header(&rq, "Cache-Control"), "no-store", "not stored");
	tap_is_z(header(&rq, "X-Content-Type-Options"), "nosniff", "no guess");
}

/* With login by the shop, a form that finds nobody logged in ends there. */
static void
test_shop_login(void)
{
	struct pf_conf_fault fault;
	const struct pf_pages *p;
	struct pf_req rq;

	set.login.by_shop = true;
	set.login.shop_url = PF_LIT("https://www.shop.example/login?x=1");
	tap_need(pf_pages_load(&kept, &set, &fault, &p) == PF_OK, "loaded");
	fresh(&rq);
	tap_is(pf_pages_say(&rq, p, PF_SAY_ABSENT, PF_NOSTR, NULL), PF_OK,
	    "said");
	tap_ok(pf_str_ends(header(&rq, "Content-Security-Policy"),
	    PF_LIT("form-action 'self' https://www.shop.example")),
	    "forms may end there");
	set.login.by_shop = false;
}

static const struct { const char *query, *cookie, *locale, *accept, *want; }
choices[] = {
	{ NULL, NULL, NULL, NULL, "en" },
	{ NULL, NULL, NULL, "de-AT, fr;q=0.5", "de" },
	{ NULL, NULL, "fr_CA", "de", "fr" },
	{ NULL, NULL, "xx", "de", "de" },
	{ NULL, "__Host-poppy-lang=ja", "fr", "de", "ja" },
	{ NULL, "__Host-poppy-lang=xx", NULL, "de", "de" },
	{ NULL, "__Host-poppy-lang=ja; __Host-poppy-lang=ar", NULL, "de",
	    "de" },
	{ "lang=es", "__Host-poppy-lang=ja", "fr", "de", "es" },
	{ "a=b&lang=AR", NULL, NULL, NULL, "ar" },
	{ "lang=es&lang=fr", NULL, NULL, "de", "de" },
	{ "lang=%0d%0aX:1", NULL, NULL, "de", "de" },
	{ "lang=", NULL, NULL, "de", "de" },
	{ "%zz", NULL, NULL, "de", "de" },
};

static void
test_language(const struct pf_pages *p)
{
	struct pf_req rq;

	for (size_t i = 0; i < PF_COUNT(choices); i++) {
		fresh(&rq);
		rq.query = pf_str(choices[i].query);
		rq.cookie = pf_str(choices[i].cookie);
		rq.accept_language = pf_str(choices[i].accept);
		tap_is_z(pf_pages_lang(&rq, p, pf_str(choices[i].locale))->code,
		    choices[i].want, "language %zu", i);
	}
	fresh(&rq);
	rq.query = PF_LIT("lang=es");
	(void)pf_pages_lang(&rq, p, PF_NOSTR);
	tap_is_z(header(&rq, "Set-Cookie"), "__Host-poppy-lang=es; Path=/; "
	    "Secure; HttpOnly; SameSite=Lax", "what is chosen is kept");
}

static void
test_texts(const struct pf_pages *p)
{
	const struct pf_lang *de = pf_langs_get(&p->langs, PF_LIT("de"));
	const struct pf_lang *ja = pf_langs_get(&p->langs, PF_LIT("ja"));
	struct pf_req rq;

	fresh(&rq);
	tap_is_z(pf_pages_day(&rq, &p->langs.v[0], 1796083200),
	    "1 December 2026", "a day in English");
	tap_is_z(pf_pages_day(&rq, de, 1796083200), "1. Dezember 2026",
	    "in German");
	tap_is_z(pf_pages_day(&rq, ja, 1796083200),
	    "2026\xe5\xb9\xb4\xe2\x81\xa8" "12\xe6\x9c\x88\xe2\x81\xa9"
	    "1\xe6\x97\xa5", "in Japanese");
	tap_is_z(pf_pages_day(&rq, de, 0), "", "never");
	tap_is_z(pf_pages_iso(&rq, 1796083200), "2026-12-01T00:00:00Z",
	    "for machines");
	tap_is_z(pf_pages_initial(PF_LIT("\xc3\x89mile")), "\xc3\x89",
	    "a letter of two bytes");
	tap_is_z(pf_pages_initial(PF_LIT("")), "?", "of nothing");
	for (int i = 0; i < PF_SAY_COUNT; i++) {
		fresh(&rq);
		tap_is(pf_pages_say(&rq, p, (enum pf_say)i, PF_NOSTR, NULL),
		    PF_OK, "page %d", i);
		tap_is(rq.resp.status, pf_say_status((enum pf_say)i),
		    "its status");
		tap_ok(has(rq.resp.body, "<h1>") &&
		    !has(rq.resp.body, "<h1></h1>"), "has a title");
		tap_ok(!has(rq.resp.body, "{shop}"), "no name left");
	}
}

static void
test_style(const struct pf_pages *p)
{
	struct pf_req rq;

	fresh(&rq);
	rq.query = pf_str_from(p->style, pf_str_find(p->style, '?') + 1);
	tap_is(pf_pages_style(&rq, p), PF_OK, "the sheet");
	tap_is_z(header(&rq, "Cache-Control"),
	    "public, max-age=31536000, immutable", "for good");
	fresh(&rq);
	rq.query = PF_LIT("v=old");
	tap_is(pf_pages_style(&rq, p), PF_OK, "under an old version");
	tap_is_z(header(&rq, "Cache-Control"), "public, max-age=300",
	    "for a while");
	tap_is_z(header(&rq, "Content-Type"), "text/css; charset=utf-8",
	    "its type");
}

static char folder[64] = "/tmp/t_pages-XXXXXX";

static void
put_file(const char *name, const char *text)
{
	char path[512];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (text == NULL) {
		(void)unlink(path);
		return;
	}
	tap_need((f = fopen(path, "w")) != NULL, path);
	(void)fputs(text, f);
	(void)fclose(f);
}

static const struct { const char *name, *text, *file; int line; } own_bad[] = {
	{ "login.html", "{{> top.html}}\n<p onclick=\"x\">", "login.html", 2 },
	{ "login.html", "\n\n{{nobody}}", "login.html", 3 },
	{ "hidden.html", "{{nobody}}", "hidden.html", 1 },
	{ "message.html", "{{> ../../etc/passwd}}", "message.html", 1 },
	{ "message.html", "{{> .hidden}}", "message.html", 1 },
	{ "consent.html", "{{action}}{{#each hidden}}{{value}}{{/each}}"
	    "{{agent}}{{#if agent_host}}{{/if}}", "consent.html", 0 },
	{ "login.html", "{{action}}", "login.html", 0 },
	{ "agent.html", "{{agent}}", "consent.html", 0 },
	{ "de.mo", "rubbish", "de.mo", 0 },
	{ "Nederlands.mo", "rubbish", "Nederlands.mo", 0 },
};

static void
test_own(void)
{
	struct pf_conf_fault fault;
	const struct pf_pages *p;
	struct pf_req rq;

	tap_need(mkdtemp(folder) != NULL, "a folder");
	set.pages.folder = pf_str(folder);
	put_file("message.html", "<p>{{title}} by the shop"
	    "{{#if next}}{{text}}{{/if}}</p>\n");
	put_file("shop.css", "/* ours */");
	tap_is(pf_pages_load(&kept, &set, &fault, &p), PF_OK, "loaded");
	tap_ok(pf_str_ends(p->css, PF_LIT("/* ours */")), "with a sheet more");
	fresh(&rq);
	tap_is(pf_pages_say(&rq, p, PF_SAY_ABSENT, PF_NOSTR, NULL), PF_OK,
	    "said");
	tap_is_z(rq.resp.body, "<p>There is nothing here by the shop</p>\n",
	    "with a page of its own");
	put_file("message.html", NULL);
	for (size_t i = 0; i < PF_COUNT(own_bad); i++) {
		memset(&fault, 0, sizeof(fault));
		put_file(own_bad[i].name, own_bad[i].text);
		tap_is(pf_pages_load(&kept, &set, &fault, &p), PF_E_INPUT,
		    "refused: %s %s", own_bad[i].name, own_bad[i].text);
		tap_ok(pf_str_ends(pf_str(fault.file), pf_str(own_bad[i].file)),
		    "names %s: %s", fault.file, fault.reason);
		tap_is(fault.line, own_bad[i].line, "and the line");
		put_file(own_bad[i].name, NULL);
	}
	put_file("shop.css", NULL);
	(void)rmdir(folder);
	tap_is(pf_pages_load(&kept, &set, &fault, &p), PF_E_INPUT,
	    "refused: a folder that isn't there");
}

int
main(void)
{
	struct pf_conf_fault fault = { 0 };
	const struct pf_pages *p;

	tap_need(pf_crypt_init() == PF_OK, "OpenSSL");
	tap_need(pf_arena_init(&arena, 65536, 8 << 20) == PF_OK, "an arena");
	tap_need(pf_arena_init(&kept, 65536, 64 << 20) == PF_OK, "another");
	set.organization.name = PF_LIT("Tidewell");
	set.mounts.pages = PF_LIT("/poppy");
	set.pages.home_url = PF_LIT("/");
	if (pf_pages_load(&kept, &set, &fault, &p) != PF_OK) {
		pf_conf_complain(stdout, &fault);
		return 1;
	}
	test_builtin(p);
	test_headers();
	test_shop_login();
	test_language(p);
	test_texts(p);
	test_style(p);
	test_own();
	return tap_done();
}
