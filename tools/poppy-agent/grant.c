/*
 * What the token endpoint answers, judged; declared in token.h.
 */
#include "config.h"

#include "tools/poppy-agent/token.h"

#define TOKEN_MAX	8192

static const struct { const char *code, *text; } errors[] = {
	{ "invalid_client", "the Company does not accept this client_id: "
	    "unregistered, blocked, or its metadata, keys or signature don't "
	    "check out; it must be able to fetch the client_id" },
	{ "invalid_grant", "the Session assertion is refused: expired, "
	    "reused or malformed; look at this machine's clock" },
	{ "invalid_session", "the Session has ended, or is another agent's or "
	    "User's" },
	{ "account_mismatch", "the Session is signed in to another account" },
	{ "invalid_dpop_proof", "the DPoP Proof is refused; look at this "
	    "machine's clock" },
	{ "use_dpop_nonce", "a nonce is required, and the one it gave was not "
	    "taken" },
	{ "rate_limited", "too many requests of this client_id" },
	{ "invalid_request", "the request is malformed" },
	{ "invalid_scope", "a scope was asked that can't be had" },
	{ "unsupported_grant_type", "the Company does not start Sessions with "
	    "the JWT bearer grant" },
	{ "temporarily_unavailable", "the Company can't serve just now" },
};

const char *
ag_token_error_text(struct pf_str code)
{
	for (size_t i = 0; i < PF_COUNT(errors); i++)
		if (pf_str_eqz(code, errors[i].code))
			return errors[i].text;
	return "a code that this agent does not know";
}

/* It goes into a header: visible ASCII without spaces (RFC 6750, 2.1). */
static bool
fits_header(struct pf_str token)
{
	for (size_t i = 0; i < token.n; i++)
		if (token.p[i] <= ' ' || token.p[i] > '~')
			return false;
	return token.n > 0 && token.n <= TOKEN_MAX;
}

static enum pf_rc
check_token(const struct pf_json *doc, struct ag_grant *g, struct ag_fault *f)
{
	struct pf_str type;

	if (pf_json_str(doc, "access_token", &g->token) != PF_OK ||
	    !fits_header(g->token))
		return ag_fault(f, PF_E_UPSTREAM, "R-4.2-12",
		    "a reply without an access_token that can stand in a "
		    "header");
	if (pf_json_str(doc, "token_type", &type) != PF_OK ||
	    !pf_str_eq_nocase(type, PF_LIT("DPoP")))
		return ag_fault(f, PF_E_UPSTREAM, "R-4.2-12",
		    "a token that is not of token_type DPoP, for a request "
		    "with a proof");
	if (pf_json_int(doc, "expires_in", &g->expires_in) != PF_OK ||
	    g->expires_in <= 0)
		return ag_fault(f, PF_E_UPSTREAM, "R-4.2-13",
		    "an expires_in that is no integer greater than 0");
	return PF_OK;
}

enum pf_rc
ag_grant_check(const struct pf_json *doc, struct pf_str session_id,
    struct ag_grant *g, struct ag_fault *f)
{
	enum pf_rc rc;

	if ((rc = check_token(doc, g, f)) != PF_OK)
		return rc;
	if (pf_json_str(doc, "session_id", &g->session_id) != PF_OK ||
	    g->session_id.n == 0)
		return ag_fault(f, PF_E_UPSTREAM, "R-4.2-15",
		    "a reply without a session_id");
	if (pf_str_given(session_id) &&
	    !pf_str_eq(session_id, g->session_id))
		return ag_fault(f, PF_E_UPSTREAM, "R-4.2-20",
		    "session_id \"%.*s\" for a renewal of \"%.*s\"",
		    PF_STRF(g->session_id), PF_STRF(session_id));
	if (pf_json_bool(doc, "signed_in", &g->signed_in) != PF_OK ||
	    g->signed_in)
		return ag_fault(f, PF_E_UPSTREAM, "R-4.2-16",
		    "signed_in is not false, for a token that no account "
		    "was used for");
	if (pf_json_str(doc, "scope", &g->scope) != PF_OK || g->scope.n > 0)
		return ag_fault(f, PF_E_UPSTREAM, "R-4.2-17",
		    "scope is not the empty string, for a signed-out token");
	if (pf_json_has(doc, "refresh_token"))
		return ag_fault(f, PF_E_UPSTREAM, "R-4.2-18",
		    "a refresh_token, for a signed-out token");
	return PF_OK;
}
