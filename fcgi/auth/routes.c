/*
 * What each endpoint of poppy-auth needs.
 */
#include "fcgi/auth/auth.h"

#define WELL_KNOWN	"/.well-known"
#define FORM_MAX	(32u << 10)
#define JSON_MAX	(32u << 10)
/* What people see: shut to the browser of an agent. */
#define PAGE		(PF_OPEN | PF_NO_SESSION_COOKIE)

static const struct pf_route root[] = {
	{ PF_GET, WELL_KNOWN "/poppy.json",
	    PF_OPEN, PF_NONE, 0, auth_poppy_json },
	{ PF_GET, WELL_KNOWN "/oauth-authorization-server",
	    PF_OPEN, PF_NONE, 0, auth_metadata },
	{ PF_GET, WELL_KNOWN "/oauth-authorization-server/{issuer...}",
	    PF_OPEN, PF_NONE, 0, auth_metadata },
	{ PF_GET, WELL_KNOWN "/oauth-protected-resource",
	    PF_OPEN, PF_NONE, 0, auth_resource },
	{ PF_GET, WELL_KNOWN "/oauth-protected-resource/{path...}",
	    PF_OPEN, PF_NONE, 0, auth_resource },
};
const struct pf_routes auth_root_routes = { root, PF_COUNT(root) };

/* The same document at the appended form, for clients that know no other. */
static const struct pf_route issuer[] = {
	{ PF_GET, WELL_KNOWN "/oauth-authorization-server",
	    PF_OPEN, PF_NONE, 0, auth_metadata },
};
const struct pf_routes auth_issuer_routes = { issuer, PF_COUNT(issuer) };

/* Clients prove themselves inside the form, so the order of the checks is the
 * handlers' own. */
static const struct pf_route oauth[] = {
	{ PF_POST, "/token", PF_NEEDS_NOTHING, PF_FORM, FORM_MAX, auth_token },
	{ PF_POST, "/device", PF_NEEDS_NOTHING, PF_FORM, FORM_MAX,
	    auth_device },
	{ PF_POST, "/revoke", PF_NEEDS_NOTHING, PF_FORM, FORM_MAX,
	    auth_revoke },
	{ PF_GET, "/authorize", PAGE, PF_NONE, 0,
	    auth_authorize },
	{ PF_POST, "/authorize", PAGE, PF_FORM, FORM_MAX,
	    auth_authorize },
};
const struct pf_routes auth_oauth_routes = { oauth, PF_COUNT(oauth) };

static const struct pf_route pages[] = {
	{ PF_GET, "/login", PAGE, PF_NONE, 0, auth_login },
	{ PF_POST, "/login", PAGE, PF_FORM, FORM_MAX, auth_login_sent },
	{ PF_POST, "/login/ticket", PAGE, PF_FORM, FORM_MAX, auth_ticket },
	{ PF_POST, "/logout", PAGE, PF_FORM, FORM_MAX, auth_logout },
	{ PF_GET, "/consent/{request}", PAGE, PF_NONE, 0, auth_consent },
	{ PF_POST, "/consent/{request}", PAGE, PF_FORM, FORM_MAX,
	    auth_consent_answer },
	{ PF_GET, "/device", PAGE, PF_NONE, 0, auth_device_page },
	{ PF_POST, "/device", PAGE, PF_FORM, FORM_MAX, auth_device_answer },
	{ PF_GET, "/agents", PAGE, PF_NONE, 0, auth_agents },
	{ PF_POST, "/agents", PAGE, PF_FORM, FORM_MAX, auth_agents_sent },
	{ PF_GET, "/style.css", PF_OPEN, PF_NONE, 0, auth_style },
};
const struct pf_routes auth_pages_routes = { pages, PF_COUNT(pages) };

static const struct pf_route mediated[] = {
	{ PF_POST, "/sign-in", PF_NEEDS_PROOF, PF_JSON, JSON_MAX,
	    auth_mediated },
	{ PF_POST, "/sign-in/{id}", PF_NEEDS_PROOF, PF_JSON, JSON_MAX,
	    auth_mediated_code },
};
const struct pf_routes auth_mediated_routes = { mediated, PF_COUNT(mediated) };

static const struct pf_route doctor[] = {
	{ PF_GET, "/{file}", PF_OPEN, PF_NONE, 0, auth_doctor },
};
const struct pf_routes auth_doctor_routes = { doctor, PF_COUNT(doctor) };
