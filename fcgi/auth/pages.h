/*
 * pages - what the pages of poppy-auth share: who looks at them, the token in
 * their forms, where they lead, and what they say when something is wrong.
 */
#ifndef AUTH_PAGES_H
#define AUTH_PAGES_H

#include "core/poppy/login.h"
#include "core/poppy/pages.h"
#include "core/poppy/pages_say.h"
#include "core/web/form.h"
#include "fcgi/auth/auth.h"

/* One request for a page. */
struct auth_page {
	struct pf_req *rq;
	struct pf_login login;
	struct pf_form form;		/* the body of a POST, else the query */
	const struct pf_lang *lang;
};

/* Read the form and whose browser it is. Errors are noted. */
PF_MUST enum pf_rc auth_page_begin(struct pf_req *rq, struct auth_page *out);
/* The one value of a field, "" if it isn't there once. */
struct pf_str auth_page_field(const struct auth_page *p, const char *name);
/* Was the form sent from a page of ours, to this browser? PF_E_FORBID. */
PF_MUST enum pf_rc auth_page_sent(struct auth_page *p, const char *form,
    struct pf_str id);

/* 303 to a place of our own, below the mount of the pages: "agents". */
PF_MUST enum pf_rc auth_page_goto(struct auth_page *p, struct pf_str place);
/* Not logged in: to the login page, which leads to next then; or the page that
 * says why this account can't. */
PF_MUST enum pf_rc auth_page_login(struct auth_page *p, struct pf_str next);
/* Where a login may lead: "agents", "device", "device?user_code=XXXX-XXXX" or
 * "consent/" and a request's id. Whatever else raw is, it is "agents". PF_NOSTR
 * without memory. */
struct pf_str auth_page_next(struct pf_req *rq, struct pf_str raw);
/* The URL of a place of our own, as auth_page_goto(). PF_NOSTR without
 * memory. */
struct pf_str auth_page_url(struct pf_req *rq, struct pf_str place);

/* Say why it can't be done. */
PF_MUST enum pf_rc auth_page_say(struct pf_req *rq, enum pf_say what);
/* The same for what may be an attack: log it, count it, write it down. */
PF_MUST enum pf_rc auth_page_refuse(struct pf_req *rq, enum pf_say what,
    const char *why);
/* Where a limit of the database is full. */
PF_MUST enum pf_rc auth_page_limit(struct pf_req *rq, int64_t retry_s);
/* main.c: make a page of the error that has been replied to. */
void auth_page_error(struct pf_req *rq);
/* main.c: what PF_NO_SESSION_COOKIE asks for. */
PF_MUST enum pf_rc auth_page_needs(struct pf_req *rq);

/* The hidden fields of a form: its token and up to two more (NULL name: none).
 * The browser gets a secret if it has none. */
struct auth_hidden {
	struct pf_var v[3][2];
	struct pf_vars rows[3];
	size_t n;
};
PF_MUST enum pf_rc auth_page_form(struct auth_page *p, const char *form,
    struct pf_str id, struct auth_hidden *out);
void auth_hidden_add(struct auth_hidden *h, const char *name,
    struct pf_str value);
/* The form that logs out; from the page that asks: to be somebody else. */
PF_MUST enum pf_rc auth_page_leave(struct auth_page *p, bool asked,
    struct auth_hidden *out);
#define AUTH_LEAVE_VARS(p, h)						\
	PF_VAR("leave", auth_page_url((p)->rq, PF_LIT("logout"))),	\
	PF_VAR_LIST("leave_hidden", (h).rows, (h).n)

/* An agent as people see it. */
struct auth_agent {
	struct pf_str name, host, logo, initial;
};
/* name and logo may be PF_NOSTR. */
PF_MUST enum pf_rc auth_agent_of(struct pf_req *rq, struct pf_str client_id,
    struct pf_str name, struct pf_str logo, struct auth_agent *out);
#define AUTH_AGENT_VARS(a)						\
	PF_VAR("agent", (a).name), PF_VAR("agent_host", (a).host),	\
	PF_VAR("agent_logo", (a).logo), PF_VAR("initial", (a).initial)

/* An authorization request, as the one who looks at it may see it; the account
 * NULL: for nobody yet. */
extern const struct pf_stmt auth_authorize_show;
enum { AUTH_SHOW_OUTCOME, AUTH_SHOW_CLIENT_ID, AUTH_SHOW_NAME, AUTH_SHOW_LOGO,
    AUTH_SHOW_REDIRECT, AUTH_SHOW_SCOPES, AUTH_SHOW_RESOURCE };

/* Rows for each scope of the list, all ticked. PF_E_MEM. */
PF_MUST enum pf_rc auth_scope_rows(struct auth_page *p, struct pf_str scopes,
    struct pf_vars **rows, size_t *n);
/* The ticked ones of the form, in a list. .p is NULL without memory. */
struct pf_str auth_scopes_ticked(struct auth_page *p);

/* XXXX-XXXX from what was typed, in any case, with blanks or hyphens anywhere;
 * bare is the same without the hyphen. PF_E_INPUT if it is no such code. */
PF_MUST enum pf_rc auth_user_code(struct pf_req *rq, struct pf_str typed,
    struct pf_str *shown, struct pf_str *bare);

/*
 * 303 back to the agent: redirect_uri with the parameters appended, never
 * rewritten, then state (PF_NOSTR: none) and iss (RFC 9207).
 */
PF_MUST enum pf_rc auth_redirect(struct pf_req *rq, struct pf_str redirect_uri,
    const char *name, struct pf_str value, const char *description,
    struct pf_str state);

#endif
