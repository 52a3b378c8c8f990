/*
 * pages - what customers see: the built-in templates, style sheet and
 * languages, and what an operator put in their place.
 *
 * Read with the settings and immutable like them. A file of the folder
 * pages.folder wins over the built-in one of its name: login.html, style.css,
 * de.mo; a shop.css there comes behind the style sheet, and further languages
 * are those of further .mo files.
 */
#ifndef PF_PAGES_H
#define PF_PAGES_H

#include "core/poppy/settings.h"
#include "core/web/page.h"
#include "core/web/template.h"

enum pf_page_id {
	PF_PAGE_LOGIN, PF_PAGE_LANDING, PF_PAGE_CONSENT, PF_PAGE_CODE,
	PF_PAGE_DONE, PF_PAGE_AGENTS, PF_PAGE_DISCONNECT, PF_PAGE_MESSAGE,
	/* These are for the browsers of agents. They have no choice of language
	 * (?lang= is the shop's own there): take pf_langs_pick(). */
	PF_PAGE_REFUSED, PF_PAGE_JOIN_FAILED,
	PF_PAGE_COUNT
};

struct pf_pages {
	struct pf_langs langs;
	const struct pf_tpl *page[PF_PAGE_COUNT];
	struct pf_str css;
	struct pf_str css_version;
	struct pf_str style;	/* its URL, with the version */
	struct pf_str shop, logo, home;
	struct pf_str shop_login;	/* the shop's own login page, where a
					 * form ends that finds nobody in */
};

/* PF_E_INPUT with *fault. */
PF_MUST enum pf_rc pf_pages_load(struct pf_arena *a,
    const struct pf_settings *s, struct pf_conf_fault *fault,
    const struct pf_pages **out);

/* Marks a text in C that is shown to people, for pages/po/extract. */
#define PF_T(text)	text

/*
 * The language of this visitor: chosen by ?lang= (and kept in a cookie, as the
 * way may lead over the shop's own pages), by that cookie, known of the
 * customer (locale, or PF_NOSTR), else by Accept-Language.
 */
const struct pf_lang *pf_pages_lang(struct pf_req *rq,
    const struct pf_pages *p, struct pf_str locale);

/* One text of PF_T() in the arena; "" without memory. */
struct pf_str pf_pages_text(struct pf_req *rq, const struct pf_lang *lang,
    const char *id, const struct pf_vars *vars);
/* What a scope is called, and more about it or "". */
void pf_pages_scope(const struct pf_settings *s, const struct pf_lang *lang,
    struct pf_str scope, struct pf_str *title, struct pf_str *text);
/* A day for people, and as in RFC 3339. Both "" for 0. */
struct pf_str pf_pages_day(struct pf_req *rq, const struct pf_lang *lang,
    int64_t at);
struct pf_str pf_pages_iso(struct pf_req *rq, int64_t at);
/* The first letter of a name, for where a picture would be. */
struct pf_str pf_pages_initial(struct pf_str name);

struct pf_page {
	enum pf_page_id id;
	int status;
	const struct pf_lang *lang;
	const struct pf_var *v;	/* what the page may name: pages.c */
	size_t n;
	/* What links to this page in another language must have: "?", or
	 * "?name=value&". PF_NOSTR is "?". */
	struct pf_str here;
	struct pf_page_allow allow;
};

PF_MUST enum pf_rc pf_pages_send(struct pf_req *rq, const struct pf_pages *p,
    const struct pf_page *page);
/* The style sheet: for good under its version, else for five minutes. */
PF_MUST enum pf_rc pf_pages_style(struct pf_req *rq, const struct pf_pages *p);

#endif
