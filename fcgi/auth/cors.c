/*
 * CORS (Fetch Standard, 3.2): agents that run in a browser may read what the
 * OAuth endpoints answer, if the settings name their origin. Nothing of it
 * depends on cookies, so credentials are never allowed.
 */
#include "fcgi/auth/auth.h"

#define ASK_AGAIN_S	"600"

/* Is it path, or below it? *rest is what follows. */
static bool
is_below(const struct pf_req *rq, struct pf_str path, struct pf_str *rest)
{
	*rest = pf_str_from(rq->path, path.n);
	return pf_str_starts(rq->path, path) &&
	    (rest->n == 0 || rest->p[0] == '/');
}

/* The endpoints that agents call themselves; the others are pages. */
static bool
is_for_agents(const struct pf_req *rq)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_str mediated = PF_LIT("/sign-in");
	struct pf_str rest;

	if (is_below(rq, s->mounts.oauth, &rest))
		return !pf_str_eqz(rest, "/authorize");
	return is_below(rq, s->mounts.pages, &rest) &&
	    pf_str_starts(rest, mediated) &&
	    (rest.n == mediated.n || rest.p[mediated.n] == '/');
}

/* Byte for byte, as browsers write it. */
static bool
is_listed(const struct pf_strs *origins, struct pf_str origin)
{
	for (size_t i = 0; pf_str_given(origin) && i < origins->n; i++)
		if (pf_str_eq(origins->v[i], origin))
			return true;
	return false;
}

void
auth_cors(struct pf_req *rq)
{
	const struct pf_settings *s = &pf_app(rq)->set;

	if (s->cors.origins.n == 0 || !is_for_agents(rq))
		return;
	/* Also to others: a cache must not show one what another got. */
	pf_resp_header(rq, "Vary", PF_LIT("Origin"));
	if (!is_listed(&s->cors.origins, rq->origin))
		return;
	pf_resp_header(rq, "Access-Control-Allow-Origin", rq->origin);
	if (rq->method != PF_OPTIONS) {
		pf_resp_header(rq, "Access-Control-Expose-Headers",
		    PF_LIT("DPoP-Nonce, WWW-Authenticate, Retry-After"));
		return;
	}
	pf_resp_header(rq, "Access-Control-Allow-Methods", PF_LIT("POST"));
	pf_resp_header(rq, "Access-Control-Allow-Headers",
	    PF_LIT("Authorization, Content-Type, DPoP"));
	pf_resp_header(rq, "Access-Control-Max-Age", PF_LIT(ASK_AGAIN_S));
}
