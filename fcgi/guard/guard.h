/*
 * guard - poppy-guard: which rule of the settings a request of the shop falls
 * under.
 */
#ifndef GUARD_H
#define GUARD_H

#include "core/poppy/app.h"
#include "core/poppy/pages.h"

struct guard_gate;

/* One reading of the settings. */
struct guard {
	const struct guard_gate *gate;
	const struct pf_pages *pages;	/* NULL if no browser can join */
};

static inline const struct guard *
guard_of(const struct pf_req *rq)
{
	return pf_app(rq)->own;
}

enum guard_match {
	GUARD_OUTSIDE,		/* no prefix covers the path */
	GUARD_NO_RULE,		/* a prefix does, none of its rules */
	GUARD_NO_METHOD,	/* rules name the path, none the method */
	GUARD_ODD_QUERY,	/* PHP may read the query otherwise */
	GUARD_RULE
};

/* What is asked for. */
struct guard_ask {
	const struct pf_host *host;	/* NULL: none of ours */
	struct pf_str path;		/* decoded once */
	struct pf_str query;		/* raw */
	struct pf_str method;
};

/*
 * The rule for it. The longest prefix wins, then an MCP server's, then the first
 * rule. *rule is set for GUARD_RULE; for GUARD_NO_METHOD *guarded is, so that
 * the methods can be told.
 */
enum guard_match guard_find(const struct pf_settings *s,
    const struct guard_ask *ask, const struct pf_guarded **guarded,
    const struct pf_rule **rule);

/* Does the rule take it? GET covers HEAD. */
bool guard_method_fits(const struct pf_rule *r, struct pf_str method);

/*
 * Is path a name of the page that a rule's path stands for? The one that lets
 * through says yes to its own names alone; the other one also to those that a
 * web server or a shop may know it by.
 */
bool guard_names(struct pf_str rule, struct pf_str path);
bool guard_may_name(struct pf_str rule, struct pf_str path);

/*
 * The same as guard_find() for a page of the shop and a browser that has joined
 * a Session: GUARD_NO_RULE is closed.
 */
enum guard_match guard_site_find(const struct pf_settings *s,
    const struct guard_ask *ask, const struct pf_rule **rule);
/* All rules whose demands hold for what rule lets through, itself at the end;
 * from NULL to NULL. */
const struct pf_rule *guard_site_next(const struct pf_settings *s,
    const struct guard_ask *ask, const struct pf_rule *rule,
    const struct pf_rule *last);

/* Does a browser that has joined a Session, or had, ask for a page of the shop
 * and none of its APIs? Without our cookie nobody has any business here. */
bool guard_is_page(const struct pf_req *rq);
/* Judge it; a refusal is noted. */
PF_MUST enum pf_rc guard_page(struct pf_req *rq, const struct guard_ask *ask);
/* The reply to a refused one, for people and agents. */
void guard_page_error(struct pf_req *rq);

/* Let it through: telling PHP nothing, that the cookie is of no live Session,
 * or who it is (rq->who). */
PF_MUST enum pf_rc guard_pass(struct pf_req *rq);
PF_MUST enum pf_rc guard_pass_ended(struct pf_req *rq);
PF_MUST enum pf_rc guard_pass_as(struct pf_req *rq);

/* The methods that rules allow for it, "GET, POST", for Allow. */
void guard_methods(struct pf_buf *b, const struct pf_guarded *guarded,
    const struct guard_ask *ask);

/* Does a raw query have what a rule wants, "name=value" or "name=start*"? Every
 * query has what "" wants. */
enum guard_query { GUARD_QUERY_NO, GUARD_QUERY_YES, GUARD_QUERY_ODD };
enum guard_query guard_query(struct pf_str rule, struct pf_str query);

/*
 * The gate: read the secret that the settings name; at start and on SIGHUP.
 * PF_E_INPUT, told on standard error, if it is not there or not private.
 */
PF_MUST enum pf_rc guard_gate_load(struct pf_app *app,
    const struct guard_gate **out);
/* Is it the web server that asks? server_error noted if not. */
PF_MUST enum pf_rc guard_gate_check(struct pf_req *rq);
/* With a success: PHP gets a word in the secret's place, which the web server
 * kept among the variables of the request. */
void guard_gate_hide(struct pf_req *rq);

#endif
