/*
 * page - the shop's own pages, for a browser that has joined a Session (section
 * 5): the website applies the Session's scopes as the APIs do.
 *
 * Whose cookie is of no live Session is a visitor without an account, and what
 * such a one may not see stays shut.
 */
#include "fcgi/guard/guard.h"

#include "core/poppy/principal.h"
#include "core/poppy/scope.h"

#define SCOPES_MAX	64	/* that a page can name */

/* Looser than what the web server asks us for: it decides who gets here. */
static bool
has(struct pf_str header, struct pf_str name)
{
	for (size_t i = 0; i + name.n <= header.n; i++)
		if (pf_str_starts(pf_str_from(header, i), name))
			return true;
	return false;
}

bool
guard_is_page(const struct pf_req *rq)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_guarded *g = s->guard.v;

	if (!s->browser.enabled ||
	    !has(rq->cookie, s->browser.cookie))
		return false;
	for (size_t i = 0; i < s->guard.n; i++)
		if (pf_guarded_covers(&g[i], rq->path))
			return false;
	return true;
}

/* What a page needs: the rules that may name it too, and at the end the one
 * that lets it through. */
static const struct pf_rule *
next_rule(struct pf_req *rq, const struct guard_ask *ask,
    const struct pf_rule *rule, const struct pf_rule *last)
{
	return guard_site_next(&pf_app(rq)->set, ask, rule, last);
}

/* Some pages of a shop are for everybody who may look at it. The rule that is
 * for accounts, or NULL. */
static const struct pf_rule *
for_account(struct pf_req *rq, const struct guard_ask *ask,
    const struct pf_rule *rule)
{
	const struct pf_rule *r = NULL;

	while ((r = next_rule(rq, ask, rule, r)) != NULL)
		if (r->signed_in || r->scopes.n != 0)
			return r;
	return NULL;
}

static enum pf_rc
may(struct pf_req *rq, const struct guard_ask *ask, const struct pf_rule *rule)
{
	const struct pf_rule *r = NULL;
	enum pf_rc rc;

	while ((r = next_rule(rq, ask, rule, r)) != NULL)
		if ((rc = pf_principal_may(rq, r->signed_in, &r->scopes)) !=
		    PF_OK)
			return rc;
	return PF_OK;
}

static enum pf_rc
apply(struct pf_req *rq, const struct guard_ask *ask,
    const struct pf_rule *rule)
{
	const struct pf_rule *needs = for_account(rq, ask, rule);
	enum pf_rc rc;

	if (rule->open && needs == NULL)
		return guard_pass(rq);
	rc = pf_principal_by_cookie(rq);
	if (rc == PF_E_ABSENT && needs == NULL)
		return guard_pass_ended(rq);
	if (rc == PF_E_ABSENT)
		return pf_fail_scope(rq, PF_SIGN_IN_REQUIRED,
		    pf_scope_join(rq->arena, &needs->scopes));
	if (rc != PF_OK || (rc = may(rq, ask, rule)) != PF_OK)
		return rc;
	return guard_pass_as(rq);
}

enum pf_rc
guard_page(struct pf_req *rq, const struct guard_ask *ask)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_rule *rule;

	if (ask->host == NULL)
		return pf_fail(rq, PF_ACCESS_DENIED, "no host of this company");
	switch (guard_site_find(s, ask, &rule)) {
	case GUARD_RULE:
		return apply(rq, ask, rule);
	case GUARD_NO_METHOD:
		return pf_fail(rq, PF_METHOD_NOT_ALLOWED,
		    "the page takes no such method from agents");
	case GUARD_ODD_QUERY:
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "the query is not written in its plain form");
	case GUARD_NO_RULE:
	case GUARD_OUTSIDE:
		break;
	}
	return pf_fail(rq, PF_ACCESS_DENIED, "the page is closed to agents");
}

/* How the page says it: what refused.html knows, and for machines. */
static const struct say {
	enum pf_err err;
	const char *name, *error;
	int status;
} says[] = {
	{ PF_ACCESS_DENIED, "closed", "closed", 403 },
	{ PF_SIGN_IN_REQUIRED, "sign_in", "sign_in_required", 403 },
	{ PF_INSUFFICIENT_SCOPE, "more", "insufficient_scope", 403 },
	{ PF_METHOD_NOT_ALLOWED, "method", "method_not_allowed", 403 },
	{ PF_INVALID_CLIENT, "blocked", "invalid_client", 403 },
	{ PF_INVALID_REQUEST, "odd", "invalid_request", 400 },
	{ PF_RATE_LIMITED, "wait", "rate_limited", 429 },
	{ PF_SERVER_ERROR, "busy", "server_error", 500 },
	{ PF_UNAVAILABLE, "busy", "temporarily_unavailable", 503 },
};

static const struct say *
say_of(enum pf_err err)
{
	for (size_t i = 0; i < PF_COUNT(says); i++)
		if (says[i].err == err)
			return &says[i];
	return &says[PF_COUNT(says) - 1];
}

struct missing {
	struct pf_var v[SCOPES_MAX][2];
	struct pf_vars rows[SCOPES_MAX];
	size_t n;
};

static void
list_scopes(const struct pf_req *rq, const struct pf_lang *lang,
    struct missing *m)
{
	struct pf_str rest = rq->err_scope, one, title, text;

	for (m->n = 0; m->n < SCOPES_MAX && pf_str_cut(&rest, ' ', &one);) {
		if (one.n == 0)
			continue;
		pf_pages_scope(&pf_app(rq)->set, lang, one, &title, &text);
		m->v[m->n][0] = (struct pf_var)PF_VAR("scope", one);
		m->v[m->n][1] = (struct pf_var)PF_VAR("title", title);
		m->rows[m->n] = (struct pf_vars){ m->v[m->n], 2, NULL };
		m->n++;
	}
}

static enum pf_rc
send(struct pf_req *rq, const struct say *say)
{
	const struct pf_pages *pages = guard_of(rq)->pages;
	const struct pf_lang *lang =
	    pf_langs_pick(&pages->langs, rq->accept_language);
	struct missing m;

	list_scopes(rq, lang, &m);
	const struct pf_var v[] = {
		PF_VAR("error", pf_str(say->error)),
		PF_VAR("scope", rq->err_scope),
		PF_VAR_LIST("scopes", m.rows, m.n),
		PF_VAR_IF(say->name, true),
	};
	const struct pf_page page = {
		.id = PF_PAGE_REFUSED, .status = say->status, .lang = lang,
		.v = v, .n = PF_COUNT(v),
	};

	pf_resp_reset(rq);
	if (rq->retry_after > 0)
		pf_resp_headerf(rq, "Retry-After", "%d", rq->retry_after);
	return pf_pages_send(rq, pages, &page);
}

void
guard_page_error(struct pf_req *rq)
{
	const struct say *say = say_of(rq->err);

	if (send(rq, say) == PF_OK)
		return;
	/* No memory for a page: the status alone must do. */
	pf_resp_reset(rq);
	rq->resp.status = say->status;
	rq->resp.body = PF_LIT("");
}
