/*
 * Sign-in as far as nobody signs in: what each of its endpoints must refuse
 * (4.4 to 4.9).
 */
#include "config.h"

#include <time.h>

#include "core/web/form.h"
#include "core/web/url.h"
#include "tools/poppy-agent/check.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/token.h"

#define URL_MAX		8192
#define DEVICE_GRANT	"urn:ietf:params:oauth:grant-type:device_code"
#define CHALLENGE	"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
#define STATE		"poppy-agent-check"
#define UNKNOWN_SCOPE	"poppy-agent:no-such-scope"

/* --- the authorization endpoint, by GET --- */

static const struct {
	const char *rows, *what;
	const char *name, *value;	/* the mistake; value NULL: left out */
	const char *error;		/* NULL: an error page, no redirect */
} authorize_rows[] = {
	{ "R-4.5-3", "authorization for another redirect_uri", "redirect_uri",
	    "https://other.example/callback", NULL },
	{ "R-4.5-3", "authorization without a redirect_uri", "redirect_uri",
	    NULL, NULL },
	{ "R-4.5-4", "authorization without a client_id", "client_id", NULL,
	    NULL },
	{ "R-4.5-4", "authorization for a client_id that is no URL",
	    "client_id", "nobody", NULL },
	{ "R-4.5-2,R-4.5-8", "authorization without PKCE", "code_challenge",
	    NULL, "invalid_request" },
	{ "R-4.5-2", "authorization with plain PKCE", "code_challenge_method",
	    "plain", "invalid_request" },
	{ "R-4.5-2", "authorization with a short challenge", "code_challenge",
	    "abc", "invalid_request" },
	{ "R-4.5-10,R-4.4-8", "authorization without scope", "scope", NULL,
	    "invalid_scope" },
	{ "R-4.5-10,R-4.4-9", "authorization for an unknown scope", "scope",
	    UNKNOWN_SCOPE, "invalid_scope" },
	{ "R-4.5-1", "authorization for a token instead of a code",
	    "response_type", "token", "unsupported_response_type" },
};

enum pf_rc
ck_authorize_url(struct ck *ck, struct pf_str redirect, const char *name,
    const char *value, struct pf_str *out)
{
	const struct { const char *name; struct pf_str value; } param[] = {
		{ "response_type", PF_LIT("code") },
		{ "client_id", ck->ag->st.client_id },
		{ "redirect_uri", redirect },
		{ "scope", ck->company->direct_scope },
		{ "state", PF_LIT(STATE) },
		{ "code_challenge", PF_LIT(CHALLENGE) },
		{ "code_challenge_method", PF_LIT("S256") },
	};
	struct pf_buf b;
	char mark = '?';

	pf_buf_init(&b, &ck->ag->arena, URL_MAX);
	pf_buf_add(&b, ck->company->authorization_endpoint);
	for (size_t i = 0; i < PF_COUNT(param); i++) {
		bool bent = name != NULL &&
		    pf_str_eqz(pf_str(name), param[i].name);

		if (bent && value == NULL)
			continue;
		pf_buf_char(&b, mark);
		pf_buf_addz(&b, param[i].name);
		pf_buf_char(&b, '=');
		pf_url_escape(&b, bent ? pf_str(value) : param[i].value);
		mark = '&';
	}
	return pf_buf_done(&b, out);
}

/* Does Location lead to the redirect_uri, with this error, state and iss? */
static bool
told_agent(struct ck *ck, const struct ck_reply *rp, struct pf_str redirect,
    const char *error)
{
	struct pf_str to = ag_reply_field(&rp->http, "location", 0), s;
	struct pf_form f;
	const char *why;

	if (rp->http.status < 300 || rp->http.status > 399 ||
	    !pf_str_starts(to, redirect) || to.n <= redirect.n ||
	    to.p[redirect.n] != '?' || pf_form_parse(&ck->ag->arena,
	    pf_str_from(to, redirect.n + 1), &f, &why) != PF_OK)
		return false;
	return pf_form_get(&f, "error", &s) == PF_OK && pf_str_eqz(s, error) &&
	    pf_form_get(&f, "state", &s) == PF_OK && pf_str_eqz(s, STATE) &&
	    pf_form_get(&f, "iss", &s) == PF_OK &&
	    pf_str_eq(s, ck->company->issuer);
}

static bool
error_page(const struct ck_reply *rp)
{
	return rp->http.status >= 400 && rp->http.status < 500 &&
	    !pf_str_given(ag_reply_field(&rp->http, "location", 0));
}

static void
bad_authorizations(struct ck *ck, struct pf_str redirect)
{
	for (size_t i = 0; i < PF_COUNT(authorize_rows); i++) {
		const char *error = authorize_rows[i].error;
		struct ck_reply rp = { .body = NULL };
		struct pf_str url;
		enum pf_rc rc;

		rc = ck_authorize_url(ck, redirect, authorize_rows[i].name,
		    authorize_rows[i].value, &url);
		if (rc == PF_OK)
			rc = ck_call(ck, url, PF_NOSTR, PF_NOSTR, &rp);
		ck_point(ck, rc, rc == PF_OK && (error == NULL ?
		    error_page(&rp) : told_agent(ck, &rp, redirect, error)),
		    authorize_rows[i].rows, authorize_rows[i].what, &rp);
	}
}

/* The page that a sound request ends at: on the Company's own host, and not to
 * be framed. */
static void
good_authorization(struct ck *ck, struct pf_str redirect)
{
	struct ck_reply rp = { .body = NULL };
	struct pf_str url, to;
	enum pf_rc rc;
	int hops = 0;

	rc = ck_authorize_url(ck, redirect, NULL, NULL, &url);
	while (rc == PF_OK && hops++ < 5) {
		rc = ck_call(ck, url, PF_NOSTR, PF_NOSTR, &rp);
		to = ag_reply_field(&rp.http, "location", 0);
		if (rc != PF_OK || rp.http.status < 300 ||
		    rp.http.status > 399 || !pf_str_given(to))
			break;
		rc = ag_url_resolve(&ck->ag->arena, url, to, &url);
	}
	ck_point(ck, rc, rc == PF_OK && rp.http.status == 200 &&
	    !pf_str_starts(url, redirect), "R-4.5-1",
	    "a sound authorization request is shown a page", &rp);
	ck_point(ck, PF_OK, pf_str_given(ag_reply_field(&rp.http,
	    "x-frame-options", 0)), "R-4.5-5",
	    "that page can't be framed", &rp);
}

/* --- forms with client assertion --- */

enum pf_rc
ck_ask(struct ck *ck, const struct ag_token_ask *a, struct ck_reply *rp)
{
	struct ag_user u = { .id = ck->user_id, .dpop = ck->dpop };
	struct ag_token_answer answer;
	enum pf_rc rc;

	*rp = (struct ck_reply){ .body = NULL };
	if ((rc = ag_token_ask(ck->ag, &u, a, &answer)) != PF_OK)
		return rc;
	rp->http.status = answer.status;
	rp->body = answer.doc;
	rp->error = answer.error;
	return PF_OK;
}

static void
expect(struct ck *ck, const struct ag_token_ask *a, int status,
    const char *error, const char *rows, const char *what)
{
	struct ck_reply rp;
	enum pf_rc rc = ck_ask(ck, a, &rp);

	ck_point(ck, rc, rc == PF_OK && rp.http.status == status &&
	    (error == NULL || pf_str_eqz(rp.error, error)), rows, what, &rp);
}

/* A type that discovery does not name does not work, either. */
static void
not_offered(struct ck *ck, const char *grant, const char *rows,
    const char *what)
{
	const struct ag_param param[] = {
		{ "grant_type", pf_str(grant), false },
	};

	expect(ck, &(struct ag_token_ask){ ck->company->token_endpoint, param,
	    PF_COUNT(param), true, false }, 400, "unsupported_grant_type",
	    rows, what);
}

static void
bad_codes(struct ck *ck, struct pf_str redirect)
{
	const struct ag_param all[] = {
		{ "grant_type", PF_LIT("authorization_code"), false },
		{ "code", PF_LIT("made-up"), false },
		{ "redirect_uri", redirect, false },
		{ "code_verifier", PF_LIT(CK_VERIFIER), false },
		{ "session_id", ck->session_id, false },
	};
	struct ag_token_ask a = {
		ck->company->token_endpoint, all, PF_COUNT(all), true, false
	};

	expect(ck, &a, 400, "invalid_grant", "R-4.5-12,R-4.5-14",
	    "a made-up code");
	a.nparams--;
	expect(ck, &a, 400, "invalid_request", "R-4.5-11",
	    "a code without a Session");
}

static void
direct(struct ck *ck)
{
	const struct ag_company *c = ck->company;
	struct ag_client client;
	const char *why;

	if (!c->direct || !pf_str_given(c->authorization_endpoint)) {
		not_offered(ck, "authorization_code", "R-3.1-7",
		    "no Direct Sign-In, and none of its grant");
		return;
	}
	if (ag_client_urls(&ck->ag->arena, ck->ag->st.client_id, &client,
	    &why) != PF_OK)
		return;
	bad_authorizations(ck, client.redirect_uri);
	good_authorization(ck, client.redirect_uri);
	bad_codes(ck, client.redirect_uri);
}

static void
poll_device(struct ck *ck, const struct ck_reply *begun)
{
	struct pf_str code = PF_NOSTR, link = PF_NOSTR;
	struct timespec t = { .tv_sec = 5 };
	struct ck_reply rp;
	int64_t interval;

	if (pf_json_str(begun->body, "device_code", &code) != PF_OK)
		return;
	const struct ag_param all[] = {
		{ "grant_type", PF_LIT(DEVICE_GRANT), false },
		{ "device_code", code, true },
		{ "session_id", ck->session_id, false },
	};
	struct ag_token_ask a = {
		ck->company->token_endpoint, all, PF_COUNT(all), true, false
	};

	expect(ck, &a, 400, "authorization_pending", "R-4.6-6",
	    "a poll before the User has decided");
	expect(ck, &a, 400, "slow_down", "R-4.6-7", "a poll too soon");
	a.proof = false;
	expect(ck, &a, 400, "invalid_dpop_proof", "R-4.6-12",
	    "a poll without a proof");
	a.proof = true;
	if (pf_json_str(begun->body, "verification_uri_complete", &link) !=
	    PF_OK || ck_call(ck, link, PF_NOSTR, PF_NOSTR, &rp) != PF_OK)
		return;
	if (pf_json_int(begun->body, "interval", &interval) == PF_OK &&
	    interval > 0 && interval <= 60)
		t.tv_sec = (time_t)interval;
	t.tv_sec += 5;		/* RFC 8628, 3.5: for the slow_down */
	(void)nanosleep(&t, NULL);
	expect(ck, &a, 400, "authorization_pending", "R-4.6-5",
	    "opening the link approves nothing");
}

static void
device(struct ck *ck)
{
	const struct ag_company *c = ck->company;
	const struct ag_param scope[] = { { "scope", c->device_scope, false } };
	const struct ag_param unknown[] = {
		{ "scope", PF_LIT(UNKNOWN_SCOPE), false }
	};
	const struct ag_param made_up[] = {
		{ "grant_type", PF_LIT(DEVICE_GRANT), false },
		{ "device_code", PF_LIT("made-up"), false },
		{ "session_id", ck->session_id, false },
	};
	struct ck_reply rp;
	struct pf_str s;
	enum pf_rc rc;

	if (!c->device || !pf_str_given(c->device_endpoint)) {
		not_offered(ck, DEVICE_GRANT, "R-3.1-8",
		    "no Device Sign-In, and none of its grant");
		return;
	}
	expect(ck, &(struct ag_token_ask){ c->device_endpoint, scope, 0, false,
	    false }, 400, "invalid_scope", "R-4.6-3,R-4.4-8",
	    "a device request without scope");
	expect(ck, &(struct ag_token_ask){ c->device_endpoint, unknown, 1,
	    false, false }, 400, "invalid_scope", "R-4.6-3,R-4.4-9",
	    "a device request for an unknown scope");
	expect(ck, &(struct ag_token_ask){ c->token_endpoint, made_up,
	    PF_COUNT(made_up), true, false }, 400, "invalid_grant", "R-4.6-11",
	    "a made-up device_code");
	rc = ck_ask(ck, &(struct ag_token_ask){ c->device_endpoint, scope, 1,
	    false, false }, &rp);
	ck_point(ck, rc, rc == PF_OK && rp.http.status == 200 &&
	    pf_json_str(rp.body, "user_code", &s) == PF_OK && s.n != 0 &&
	    pf_json_str(rp.body, "verification_uri", &s) == PF_OK &&
	    pf_url_is_https(s), "R-4.6-1", "a device request", &rp);
	if (rc == PF_OK && rp.body != NULL)
		poll_device(ck, &rp);
}

static void
account_tokens(struct ck *ck)
{
	const struct ag_param all[] = {
		{ "grant_type", PF_LIT("refresh_token"), false },
		{ "refresh_token", PF_LIT("made-up"), false },
	};
	const struct ag_param revoke[] = {
		{ "token", PF_LIT("made-up"), false },
	};

	expect(ck, &(struct ag_token_ask){ ck->company->token_endpoint, all,
	    PF_COUNT(all), true, false }, 400, "invalid_grant", "R-4.8-12",
	    "a made-up Account Token");
	expect(ck, &(struct ag_token_ask){ ck->company->revocation_endpoint,
	    revoke, PF_COUNT(revoke), false, false }, 200, NULL, "R-4.9-8",
	    "revoking a token that nobody knows");
}

static void
mediated(struct ck *ck)
{
	struct pf_str url = ck->company->mediated_endpoint;
	struct ck_reply rp = { .body = NULL };
	enum pf_rc rc;

	if (!ck->company->mediated || !pf_str_given(url))
		return;
	rc = ck_call(ck, url, PF_NOSTR, PF_NOSTR, &rp);
	ck_point(ck, rc, rc == PF_OK && rp.http.status == 405, "R-4.7-1",
	    "the mediated endpoint asked by GET", &rp);
}

void
ck_signin(struct ck *ck)
{
	const struct ag_company *c = ck->company;

	direct(ck);
	device(ck);
	mediated(ck);
	if (c->direct || c->device || c->mediated)
		account_tokens(ck);
	else
		not_offered(ck, "refresh_token", "R-3.1-10",
		    "no sign-in, and no Account Tokens");
}
