/*
 * What each endpoint of poppy-auth needs.
 */
#include "fcgi/auth/auth.h"

#define WELL_KNOWN	"/.well-known"
#define FORM_MAX	(32u << 10)

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
	{ PF_POST, "/revoke", PF_NEEDS_NOTHING, PF_FORM, FORM_MAX,
	    auth_revoke },
};
const struct pf_routes auth_oauth_routes = { oauth, PF_COUNT(oauth) };

static const struct pf_route doctor[] = {
	{ PF_GET, "/{file}", PF_OPEN, PF_NONE, 0, auth_doctor },
};
const struct pf_routes auth_doctor_routes = { doctor, PF_COUNT(doctor) };
