#include "config.h"

#include "tools/poppy-agent/fault.h"

#include <stdarg.h>
#include <string.h>

static const struct {
	const char *rule;
	const char *text;
} rules[] = {
	{ "R-3-1", "a Company serves poppy.json over HTTPS at its domain" },
	{ "R-3-3", "every redirect of poppy.json goes to an HTTPS URL" },
	{ "R-3.1-1", "protocol_version is major.minor, and a document of a "
	    "major version that the agent does not know is not used" },
	{ "R-3.1-2", "organization has a name and a domain" },
	{ "R-3.1-3", "organization.domain is the host that was asked, a "
	    "leading www. aside" },
	{ "R-3.1-5", "auth stands there when agent, apis or "
	    "web.browser_session_endpoint do" },
	{ "R-3.1-6", "auth.issuer is an HTTPS URL" },
	{ "R-3.1-9", "auth.mediated has endpoint, and fields with name, label "
	    "and secret" },
	{ "R-3.1-12", "at least one of agent, apis and web stands there" },
	{ "R-3.2-1", "the issuer publishes OAuth server metadata (RFC 8414)" },
	{ "R-3.2-3", "issuer in the metadata equals auth.issuer exactly" },
	{ "R-3.2-4", "poppy_domains lists every domain that names the issuer" },
	{ "R-3.2-6", "token_endpoint is in the metadata, an HTTPS URL" },
	{ "R-3.2-7", "revocation_endpoint is in the metadata, an HTTPS URL" },
	{ "R-3.2-8", "authorization_endpoint is in the metadata when "
	    "auth.direct is offered" },
	{ "R-3.2-9", "device_authorization_endpoint is in the metadata when "
	    "auth.device is offered" },
	{ "R-4-3", "a Session starts signed out" },
	{ "R-4.2-11", "the reply is JSON with Cache-Control: no-store" },
	{ "R-4.2-12", "the reply has an access_token, and token_type DPoP for "
	    "a request with a proof" },
	{ "R-4.2-13", "expires_in is greater than 0" },
	{ "R-4.2-15", "session_id is returned, the same after a renewal" },
	{ "R-4.2-16", "signed_in is returned, false for a new Session" },
	{ "R-4.2-17", "scope is a string, empty for a signed-out token" },
	{ "R-4.2-18", "a signed-out reply carries no Account Token" },
	{ "R-4.2-20", "a renewal gives a new token for the same Session" },
	{ "R-4.2-31", "rate_limited is 429 with Retry-After" },
	{ "R-4.2-32", "errors are OAuth error JSON" },
	{ "R-4.3-1", "API requests carry the Session Token with a proof" },
	{ "R-4.3-13", "use_dpop_nonce comes with a DPoP-Nonce, and a retry "
	    "with it succeeds" },
	{ "R-4.3-14", "failed proof checks name their error in "
	    "WWW-Authenticate: DPoP" },
	{ "R-4.3-27", "tokens never stand in a URL" },
	{ "R-4.3-28", "429 comes with a Retry-After, and the agent waits that "
	    "long" },
	{ "R-4.4-7", "no scope is granted beyond those asked for" },
	{ "R-4.4-10", "every sign-in gives an Account Token and a signed-in "
	    "Session Token" },
	{ "R-4.4-11", "refresh_token_expires_in is a number of seconds" },
	{ "R-4.4-12", "scope is what the User approved" },
	{ "R-4.5-7", "approval redirects with code, the same state, and iss" },
	{ "R-4.5-8", "iss in the redirect equals auth.issuer exactly" },
	{ "R-4.6-1", "a device authorization has device_code, user_code, "
	    "verification_uri and expires_in" },
	{ "R-4.6-10", "polls after expires_in get expired_token" },
	{ "R-4.7-4", "each reply of Mediated Sign-In has a status" },
	{ "R-4.7-5", "code_required has sign_in_id, code.sent_to and "
	    "expires_at" },
	{ "R-5-1", "browsers join only where web.browser_session_endpoint is "
	    "listed" },
	{ "R-5-12", "return_to is an HTTPS URL on the Company's own domain or "
	    "a subdomain" },
	{ "R-5-13", "a join that works is a 303 to return_to with a cookie" },
	{ "R-5-17", "the cookie is Secure and HttpOnly, and its SameSite is "
	    "Lax or None" },
	{ "R-6-2", "an openapi url leads to OpenAPI 3.0 or 3.1" },
	{ "R-6-9", "token errors are named in WWW-Authenticate" },
};

void
ag_fault_asked(struct ag_fault *f, const char *method, struct pf_str url)
{
	memset(f, 0, sizeof(*f));
	if (method != NULL)
		snprintf(f->asked, sizeof(f->asked), "%s %.*s", method,
		    PF_STRF(url));
}

enum pf_rc
ag_fault(struct ag_fault *f, enum pf_rc rc, const char *rule, const char *fmt,
    ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->got, sizeof(f->got), fmt, ap);
	va_end(ap);
	f->rule = rule;
	f->shown = false;
	return rc;
}

const char *
ag_rule_text(const char *rule)
{
	if (rule == NULL)
		return NULL;
	for (size_t i = 0; i < PF_COUNT(rules); i++)
		if (strcmp(rules[i].rule, rule) == 0)
			return rules[i].text;
	return NULL;
}
