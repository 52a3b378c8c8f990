#include "core/poppy/assertion_in.h"

#include "core/poppy/app.h"
#include "core/poppy/fetch.h"

#define ASSERTION_TYPE \
	"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
enum pf_rc
pf_assertion_verify(struct pf_req *rq, const struct pf_jws *jws,
    const struct pf_client **client, const char **why)
{
	enum pf_rc rc, was;

	if ((was = pf_jws_verify_set(jws, &(*client)->keys)) == PF_OK)
		return PF_OK;
	rc = pf_client_reload(rq, *client, client);
	if (rc == PF_OK)
		was = pf_jws_verify_set(jws, &(*client)->keys);
	else if (rc != PF_E_ABSENT)
		return rc;
	if (was == PF_OK)
		return PF_OK;
	*why = was != PF_E_ABSENT ? "the signature is not by its published key" :
	    pf_str_given(jws->kid) ? "no published key has its kid" :
	    "no published key fits its alg";
	return PF_E_AUTH;
}

struct pf_jwt_rules
pf_assertion_rules(const struct pf_req *rq)
{
	const struct pf_settings *s = &pf_app(rq)->set;

	return (struct pf_jwt_rules){
		.now_at = rq->now_at,
		.skew = s->assertions.skew_seconds,
		.max_life = s->assertions.max_seconds,
		.jti_max = PF_JTI_MAX,
	};
}

/* The form's own words about the client: type, assertion, client_id. */
static enum pf_rc
client_fields(struct pf_req *rq, const struct pf_form *f,
    struct pf_str *assertion, struct pf_str *client_id)
{
	struct pf_str type;

	if (pf_form_get(f, "client_assertion_type", &type) != PF_OK ||
	    !pf_str_eqz(type, ASSERTION_TYPE))
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "client_assertion_type must be " ASSERTION_TYPE);
	if (pf_form_get(f, "client_assertion", assertion) != PF_OK)
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "client_assertion missing");
	if (pf_form_get(f, "client_id", client_id) != PF_OK)
		*client_id = PF_NOSTR;
	return PF_OK;
}

/* Everything about a client assertion but its signature. */
static enum pf_rc
client_claims(struct pf_req *rq, const struct pf_jws *jws,
    struct pf_str endpoint, struct pf_str client_id, struct pf_claims *c)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_str aud[] = { s->token_endpoint, s->issuer, endpoint };
	struct pf_jwt_rules r = pf_assertion_rules(rq);
	const char *why;

	r.aud = aud;
	r.naud = PF_COUNT(aud);
	r.jti_min = PF_JTI_CLIENT;
	if (pf_jwt_check(jws, &r, c, &why) != PF_OK)
		return pf_fail(rq, PF_INVALID_CLIENT, "client_assertion: %s",
		    why);
	if (!pf_str_eq(c->iss, c->sub))
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "client_assertion: iss and sub differ");
	if (pf_str_given(client_id) && !pf_str_eq(c->iss, client_id))
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "client_assertion: iss is not client_id");
	return PF_OK;
}

enum pf_rc
pf_authenticate(struct pf_req *rq, const struct pf_form *f,
    struct pf_str endpoint, struct pf_authn *out)
{
	struct pf_str assertion, client_id;
	struct pf_claims c;
	struct pf_jws jws;
	const char *why;
	enum pf_rc rc;

	if ((rc = client_fields(rq, f, &assertion, &client_id)) != PF_OK)
		return rc;
	rc = pf_jws_parse(rq->arena, assertion, false, &jws, &why);
	if (rc == PF_E_INPUT)
		return pf_fail(rq, PF_INVALID_CLIENT, "client_assertion: %s",
		    why);
	if (rc != PF_OK)
		return rc;
	if ((rc = client_claims(rq, &jws, endpoint, client_id, &c)) != PF_OK)
		return rc;
	if ((rc = pf_client_load(rq, c.iss, &out->client)) != PF_OK)
		return rc;
	rc = pf_assertion_verify(rq, &jws, &out->client, &why);
	if (rc == PF_E_AUTH)
		return pf_fail(rq, PF_INVALID_CLIENT, "client_assertion: %s",
		    why);
	if (rc != PF_OK)
		return rc;
	return pf_spend_assertion(c.iss, c.jti, c.iat, &out->spend);
}

static enum pf_rc
session_claims(struct pf_req *rq, const struct pf_jws *jws,
    const struct pf_authn *who, struct pf_claims *c)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	struct pf_jwt_rules r = pf_assertion_rules(rq);
	const char *why;

	r.aud = &s->token_endpoint;
	r.naud = 1;
	r.aud_single = true;
	r.jti_min = PF_JTI_USER;
	if (pf_jwt_check(jws, &r, c, &why) != PF_OK)
		return pf_fail(rq, PF_INVALID_GRANT, "assertion: %s", why);
	if (!pf_str_eq(c->iss, who->client->client_id))
		return pf_fail(rq, PF_INVALID_GRANT,
		    "assertion: iss is not the authenticated client");
	if (c->sub.n == 0)
		return pf_fail(rq, PF_INVALID_GRANT, "assertion: sub is empty");
	/* Else a client assertion would do as a Session assertion. */
	if (pf_str_eq(c->sub, c->iss))
		return pf_fail(rq, PF_INVALID_GRANT,
		    "assertion: sub is the client, not a User");
	return PF_OK;
}

enum pf_rc
pf_session_assertion(struct pf_req *rq, const struct pf_form *f,
    const struct pf_authn *who, struct pf_claims *out, struct pf_spend *spend)
{
	const struct pf_client *client = who->client;
	struct pf_str assertion;
	struct pf_jws jws;
	const char *why;
	enum pf_rc rc;

	if (pf_form_get(f, "assertion", &assertion) != PF_OK)
		return pf_fail(rq, PF_INVALID_GRANT, "assertion missing");
	rc = pf_jws_parse(rq->arena, assertion, false, &jws, &why);
	if (rc == PF_E_INPUT)
		return pf_fail(rq, PF_INVALID_GRANT, "assertion: %s", why);
	if (rc != PF_OK)
		return rc;
	if ((rc = session_claims(rq, &jws, who, out)) != PF_OK)
		return rc;
	rc = pf_assertion_verify(rq, &jws, &client, &why);
	if (rc == PF_E_AUTH)
		return pf_fail(rq, PF_INVALID_GRANT, "assertion: %s", why);
	if (rc != PF_OK)
		return rc;
	return pf_spend_assertion(out->iss, out->jti, out->iat, spend);
}
