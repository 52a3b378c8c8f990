#include "core/poppy/browser_assertion.h"

#include "core/poppy/app.h"
#include "core/poppy/assertion_in.h"
#include "core/web/url.h"

#define TYPE		"poppy-browser+jwt"
#define LIFE_MAX	60	/* seconds, exp - iat */
#define HTTPS_PORT	443

static bool
has_port(const struct pf_settings *s, int port)
{
	const struct pf_host *h = s->hosts.v;
	struct pf_url u;

	if (port == HTTPS_PORT)
		return true;
	for (size_t i = 0; i < s->hosts.n; i++)
		if (pf_url_parse(h[i].base, &u) == PF_OK && u.port == port)
			return true;
	return false;
}

bool
pf_return_ok(const struct pf_settings *s, const struct pf_host *host,
    struct pf_str url)
{
	struct pf_url u;

	return pf_url_parse(url, &u) == PF_OK &&
	    pf_str_eq_nocase(u.scheme, PF_LIT("https")) && !u.userinfo &&
	    pf_host_within(u.host, host->domain) && has_port(s, u.port);
}

static enum pf_rc
bad(struct pf_req *rq, const char *why)
{
	return pf_fail(rq, PF_INVALID_GRANT, "browser assertion: %s", why);
}

/* What all assertions have. */
static enum pf_rc
claims(struct pf_req *rq, const struct pf_host *host, struct pf_joining *j,
    struct pf_claims *c)
{
	struct pf_jwt_rules r = pf_assertion_rules(rq);
	const char *why;

	r.typ = TYPE;
	r.aud = &host->browser_endpoint;
	r.naud = 1;
	r.aud_single = true;
	r.max_life = LIFE_MAX;
	r.jti_min = PF_JTI_USER;
	if (pf_jwt_check(&j->jws, &r, c, &why) != PF_OK)
		return bad(rq, why);
	if (!pf_client_id_ok(c->iss))
		return bad(rq, "iss is no client_id");
	if (pf_str_eq(c->sub, c->iss))
		return bad(rq, "sub is the client, not a User");
	j->client_id = c->iss;
	return PF_OK;
}

/* What this one has besides. */
static enum pf_rc
own_claims(struct pf_req *rq, const struct pf_host *host, struct pf_joining *j)
{
	struct pf_str sid;

	if (pf_json_str(j->jws.claims, "session_id", &sid) != PF_OK)
		return bad(rq, "session_id missing, or not a string");
	if (pf_sid_parse(sid, &j->sid) != PF_OK)
		return bad(rq, "session_id is none of ours");
	if (pf_json_str(j->jws.claims, "return_to", &j->return_to) != PF_OK)
		return bad(rq, "return_to missing, or not a string");
	if (!pf_return_ok(&pf_app(rq)->set, host, j->return_to))
		return bad(rq, "return_to is no https URL on this domain");
	return PF_OK;
}

enum pf_rc
pf_browser_assertion(struct pf_req *rq, struct pf_str text,
    const struct pf_host *host, struct pf_joining *out)
{
	struct pf_claims c;
	const char *why;
	enum pf_rc rc;

	rc = pf_jws_parse(rq->arena, text, false, &out->jws, &why);
	if (rc == PF_E_INPUT)
		return bad(rq, why);
	if (rc != PF_OK || (rc = claims(rq, host, out, &c)) != PF_OK ||
	    (rc = own_claims(rq, host, out)) != PF_OK)
		return rc;
	rc = pf_user_of(&pf_app(rq)->keys, c.iss, c.sub, &out->user);
	if (rc != PF_OK)
		return rc;
	/* The bucket is part of the id; a wrong one is another id. */
	if (out->sid.bucket != out->user.bucket)
		return pf_fail(rq, PF_INVALID_SESSION,
		    "the Session has ended or is not this client's and User's");
	return pf_spend_assertion(c.iss, c.jti, c.iat, &out->spend);
}

enum pf_rc
pf_browser_verify(struct pf_req *rq, const struct pf_joining *j,
    const struct pf_client **client)
{
	const char *why;
	enum pf_rc rc;

	rc = pf_assertion_verify(rq, &j->jws, client, &why);
	return rc == PF_E_AUTH ? bad(rq, why) : rc;
}
