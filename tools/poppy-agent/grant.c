/*
 * What the token endpoint answers, judged; declared in token.h.
 */
#include "config.h"

#include "tools/poppy-agent/token.h"

#include "core/poppy/scope.h"

#define TOKEN_MAX	8192

static const struct { const char *code, *text; } errors[] = {
	{ "invalid_client", "the Company does not accept this client_id: "
	    "unregistered, blocked, or its metadata, keys or signature don't "
	    "check out; it must be able to fetch the client_id" },
	{ "invalid_grant", "what was to be exchanged is refused: expired, "
	    "reused, revoked or malformed; look at this machine's clock" },
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
	{ "unsupported_grant_type", "the Company does not offer this grant" },
	{ "access_denied", "the User declined" },
	{ "expired_token", "the User did not decide in time" },
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

static enum pf_rc
check_session_id(const struct pf_json *doc, struct pf_str session_id,
    struct ag_grant *g, struct ag_fault *f)
{
	if (pf_json_str(doc, "session_id", &g->session_id) != PF_OK ||
	    g->session_id.n == 0)
		return ag_fault(f, PF_E_UPSTREAM, "R-4.2-15",
		    "a reply without a session_id");
	if (pf_str_given(session_id) &&
	    !pf_str_eq(session_id, g->session_id))
		return ag_fault(f, PF_E_UPSTREAM, "R-4.2-20",
		    "session_id \"%.*s\" where \"%.*s\" was named",
		    PF_STRF(g->session_id), PF_STRF(session_id));
	return PF_OK;
}

/* Nothing beyond what was asked for (4.4). */
static bool
all_asked(struct pf_str scope, struct pf_str asked)
{
	struct pf_str rest = scope, one;

	while (pf_str_given(asked) && pf_str_cut(&rest, ' ', &one))
		if (!pf_scope_has(asked, one))
			return false;
	return true;
}

enum pf_rc
ag_grant_check_signed_in(const struct pf_json *doc, struct pf_str session_id,
    struct pf_str asked, struct ag_grant *g, struct ag_fault *f)
{
	enum pf_rc rc;

	if ((rc = check_token(doc, g, f)) != PF_OK ||
	    (rc = check_session_id(doc, session_id, g, f)) != PF_OK)
		return rc;
	if (pf_json_bool(doc, "signed_in", &g->signed_in) != PF_OK ||
	    !g->signed_in)
		return ag_fault(f, PF_E_UPSTREAM, "R-4.4-10",
		    "signed_in is not true after a sign-in");
	if (pf_json_str(doc, "scope", &g->scope) != PF_OK || g->scope.n == 0)
		return ag_fault(f, PF_E_UPSTREAM, "R-4.4-12",
		    "a sign-in without a scope");
	if (!all_asked(g->scope, asked))
		return ag_fault(f, PF_E_UPSTREAM, "R-4.4-7",
		    "scope \"%.*s\", but \"%.*s\" was asked for",
		    PF_STRF(g->scope), PF_STRF(asked));
	rc = pf_json_str(doc, "refresh_token", &g->account_token);
	if (rc == PF_E_ABSENT)
		g->account_token = PF_NOSTR;
	else if (rc != PF_OK || !fits_header(g->account_token))
		return ag_fault(f, PF_E_UPSTREAM, "R-4.4-10",
		    "a refresh_token that is no token");
	rc = pf_json_int(doc, "refresh_token_expires_in",
	    &g->account_expires_in);
	if (rc == PF_E_ABSENT)
		g->account_expires_in = 0;
	else if (rc != PF_OK || g->account_expires_in <= 0)
		return ag_fault(f, PF_E_UPSTREAM, "R-4.4-11",
		    "a refresh_token_expires_in that is no integer greater "
		    "than 0");
	return PF_OK;
}

enum pf_rc
ag_grant_check(const struct pf_json *doc, struct pf_str session_id,
    struct ag_grant *g, struct ag_fault *f)
{
	enum pf_rc rc;

	if ((rc = check_token(doc, g, f)) != PF_OK)
		return rc;
	if ((rc = check_session_id(doc, session_id, g, f)) != PF_OK)
		return rc;
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
