/*
 * Sending the pages: see pages.h.
 */
#include "config.h"

#include "core/poppy/pages.h"

#include <time.h>

#include "core/web/cookie.h"
#include "core/web/form.h"

#define LANG_COOKIE	"__Host-poppy-lang"
#define TEXT_MAX	4096
#define DAY_TEXT	64

static const struct pf_lang *
chosen(struct pf_req *rq, const struct pf_pages *p)
{
	const struct pf_lang *lang;
	struct pf_form query;
	struct pf_str code;
	const char *why;

	if (!pf_str_given(rq->query) ||
	    pf_form_parse(rq->arena, rq->query, &query, &why) != PF_OK ||
	    pf_form_get(&query, "lang", &code) != PF_OK ||
	    (lang = pf_langs_get(&p->langs, code)) == NULL)
		return NULL;
	/* The code is one of ours, so it is safe in a header. */
	pf_resp_headerf(rq, "Set-Cookie", LANG_COOKIE "=%.*s; Path=/; Secure; "
	    "HttpOnly; SameSite=Lax", PF_STRF(lang->code));
	return lang;
}

const struct pf_lang *
pf_pages_lang(struct pf_req *rq, const struct pf_pages *p,
    struct pf_str locale)
{
	const struct pf_lang *lang;
	struct pf_str code;

	if ((lang = chosen(rq, p)) != NULL)
		return lang;
	if (pf_cookie_get(rq->cookie, LANG_COOKIE, &code) == PF_OK &&
	    (lang = pf_langs_get(&p->langs, code)) != NULL)
		return lang;
	if (locale.n >= 2 &&
	    ((lang = pf_langs_get(&p->langs, locale)) != NULL ||
	    (lang = pf_langs_get(&p->langs, pf_str_head(locale, 2))) != NULL))
		return lang;
	return pf_langs_pick(&p->langs, rq->accept_language);
}

struct pf_str
pf_pages_text(struct pf_req *rq, const struct pf_lang *lang, const char *id,
    const struct pf_vars *vars)
{
	struct pf_str text;
	struct pf_buf b;

	pf_buf_init(&b, rq->arena, TEXT_MAX);
	pf_tpl_text(lang, pf_str(id), vars, &b);
	return pf_buf_done(&b, &text) == PF_OK ? text : PF_LIT("");
}

static const struct { const char *scope, *title, *text; } known[] = {
	{ "poppy:read", PF_T("See your account"),
	    PF_T("Your orders, bookings and details.") },
	{ "poppy:write", PF_T("Make changes in your account"),
	    PF_T("Such as placing an order, exchanging an item or moving a "
	    "booking.") },
};

void
pf_pages_scope(const struct pf_settings *s, const struct pf_lang *lang,
    struct pf_str scope, struct pf_str *title, struct pf_str *text)
{
	*title = scope;
	*text = PF_LIT("");
	(void)pf_settings_custom_scope(s, scope, title);
	for (size_t i = 0; i < PF_COUNT(known); i++) {
		if (!pf_str_eqz(scope, known[i].scope))
			continue;
		*title = pf_lang_text(lang, pf_str(known[i].title));
		*text = pf_lang_text(lang, pf_str(known[i].text));
	}
}

static const char *const months[] = {
	PF_T("January"), PF_T("February"), PF_T("March"), PF_T("April"),
	PF_T("May"), PF_T("June"), PF_T("July"), PF_T("August"),
	PF_T("September"), PF_T("October"), PF_T("November"), PF_T("December")
};

struct pf_str
pf_pages_day(struct pf_req *rq, const struct pf_lang *lang, int64_t at)
{
	char day[16], year[16];
	struct tm tm;

	if (at <= 0 || gmtime_r(&at, &tm) == NULL)
		return PF_LIT("");
	if (strftime(day, sizeof(day), "%d", &tm) == 0 ||
	    strftime(year, sizeof(year), "%Y", &tm) == 0)
		return PF_LIT("");
	const struct pf_var v[] = {
		PF_VAR("day", pf_str(day[0] == '0' ? day + 1 : day)),
		PF_VAR("month", pf_lang_text(lang, pf_str(months[tm.tm_mon]))),
		PF_VAR("year", pf_str(year)),
	};
	const struct pf_vars vars = { v, PF_COUNT(v), NULL };

	return pf_pages_text(rq, lang, PF_T("{day} {month} {year}"), &vars);
}

struct pf_str
pf_pages_iso(struct pf_req *rq, int64_t at)
{
	char text[DAY_TEXT];
	struct pf_str copy;
	struct tm tm;
	size_t n;

	if (at <= 0 || gmtime_r(&at, &tm) == NULL)
		return PF_LIT("");
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	copy = pf_arena_copy(rq->arena, pf_bytes(text, n));
	return copy.p != NULL ? copy : PF_LIT("");
}

struct pf_str
pf_pages_initial(struct pf_str name)
{
	size_t n = pf_utf8_next(name);

	return n > 0 ? pf_str_head(name, n) : PF_LIT("?");
}

/* The rows of the list of languages. */
static enum pf_rc
list_languages(struct pf_req *rq, const struct pf_pages *p,
    const struct pf_lang *current, struct pf_vars **out)
{
	struct pf_vars *rows;
	struct pf_var *v;

	rows = pf_arena_alloc(rq->arena, p->langs.n * sizeof(*rows));
	v = pf_arena_alloc(rq->arena, 3 * p->langs.n * sizeof(*v));
	if (rows == NULL || v == NULL)
		return PF_E_MEM;
	for (size_t i = 0; i < p->langs.n; i++, v += 3) {
		const struct pf_lang *l = &p->langs.v[i];

		v[0] = (struct pf_var)PF_VAR("code", l->code);
		v[1] = (struct pf_var)PF_VAR("name", l->name);
		v[2] = (struct pf_var)PF_VAR_IF("current", l == current);
		rows[i] = (struct pf_vars){ v, 3, NULL };
	}
	*out = rows;
	return PF_OK;
}

/* The shop's own logo and login page may be elsewhere, too. */
static enum pf_rc
allow_shop(struct pf_req *rq, const struct pf_pages *p,
    const struct pf_page *page, struct pf_page_allow *allow)
{
	struct pf_str *urls;
	size_t n = page->allow.images.n;

	*allow = page->allow;
	allow->form = p->shop_login;
	if (p->logo.n == 0)
		return PF_OK;
	urls = pf_arena_alloc(rq->arena, (n + 1) * sizeof(*urls));
	if (urls == NULL)
		return PF_E_MEM;
	urls[0] = p->logo;
	for (size_t i = 0; i < n; i++)
		urls[i + 1] = page->allow.images.v[i];
	allow->images = (struct pf_strs){ urls, n + 1 };
	return PF_OK;
}

enum pf_rc
pf_pages_send(struct pf_req *rq, const struct pf_pages *p,
    const struct pf_page *page)
{
	const struct pf_lang *lang = page->lang;
	struct pf_page_allow allow;
	struct pf_vars *languages;
	struct pf_str html;
	struct pf_buf b;
	enum pf_rc rc;

	if ((rc = list_languages(rq, p, lang, &languages)) != PF_OK ||
	    (rc = allow_shop(rq, p, page, &allow)) != PF_OK)
		return rc;
	const struct pf_var v[] = {
		PF_VAR("shop", p->shop), PF_VAR("logo", p->logo),
		PF_VAR("home", p->home), PF_VAR("style", p->style),
		PF_VAR("lang", lang->code),
		PF_VAR("dir", lang->rtl ? PF_LIT("rtl") : PF_LIT("ltr")),
		PF_VAR("here", pf_str_given(page->here) ? page->here :
		    PF_LIT("?")),
		PF_VAR_LIST("languages", languages, p->langs.n),
	};
	const struct pf_vars common = { v, PF_COUNT(v), NULL };
	const struct pf_vars own = { page->v, page->n, &common };

	pf_buf_init(&b, rq->arena, PF_TPL_OUT);
	pf_tpl_render(p->page[page->id], lang, &own, &b);
	if ((rc = pf_buf_done(&b, &html)) != PF_OK)
		return rc;
	pf_resp_header(rq, "Content-Language", lang->code);
	pf_resp_header(rq, "Vary", PF_LIT("Accept-Language, Cookie"));
	return pf_page_send(rq, page->status, html, &allow);
}

enum pf_rc
pf_pages_style(struct pf_req *rq, const struct pf_pages *p)
{
	struct pf_str asked = rq->query;
	bool named = pf_str_starts(asked, PF_LIT("v=")) &&
	    pf_str_eq(pf_str_from(asked, 2), p->css_version);

	pf_resp_header(rq, "X-Content-Type-Options", PF_LIT("nosniff"));
	return pf_resp_cached(rq, "text/css; charset=utf-8", p->css, named ?
	    "public, max-age=31536000, immutable" : "public, max-age=300");
}
