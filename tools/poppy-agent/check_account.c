/*
 * Sign-in as a customer does it (--login): what is granted, used and taken back
 * (4.4 to 4.9).
 */
#include "config.h"

#include <time.h>

#include "core/poppy/scope.h"
#include "core/web/form.h"
#include "tools/poppy-agent/check_person.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/token.h"

#define CODE_GRANT	"authorization_code"
#define DEVICE_GRANT	"urn:ietf:params:oauth:grant-type:device_code"

struct account {
	struct ck *ck;
	struct ck_person person;
	struct ag_client client;
	struct ag_grant grant;		/* of the sign-in */
	struct pf_str signed_out;	/* a token from before it */
};

static enum pf_rc
ask(struct ck *ck, struct pf_str url, const struct ag_param *param, size_t n,
    bool proof, struct ck_reply *rp)
{
	const struct ag_token_ask a = { url, param, n, proof, false };

	return ck_ask(ck, &a, rp);
}

/* The call that needs the account, with a token. */
static enum pf_rc
call(struct account *x, struct pf_str token, struct ck_reply *rp)
{
	struct ck *ck = x->ck;
	struct pf_str before = ck->token, proof;
	enum pf_rc rc;

	ck->token = token;
	if ((rc = ck_sign_call(ck, ck->scoped_url, NULL, &proof)) == PF_OK)
		rc = ck_call(ck, ck->scoped_url, ck_dpop(ck, token), proof, rp);
	ck->token = before;
	return rc;
}

static void
expect_call(struct account *x, struct pf_str token, const char *error,
    const char *rows, const char *what)
{
	struct ck_reply rp = { .body = NULL };
	enum pf_rc rc;

	if (!pf_str_given(x->ck->scoped_url))
		return;
	rc = call(x, token, &rp);
	/* What the API says of its parameters is its own affair, and it may
	 * want a scope that no sign-in grants. */
	ck_point(x->ck, rc, rc == PF_OK && (error == NULL ?
	    rp.http.status != 401 &&
	    !pf_str_eqz(rp.challenge, "sign_in_required") :
	    pf_str_eqz(rp.challenge, error)), rows, what, &rp);
}

/* Through login and consent; the answer that comes back for the agent. */
static enum pf_rc
authorize(struct account *x, bool approve, struct pf_form *back)
{
	struct pf_str url, to, s;
	struct ck *ck = x->ck;
	const char *why;
	enum pf_rc rc;

	if ((rc = ck_authorize_url(ck, x->client.redirect_uri, NULL, NULL,
	    &url)) != PF_OK ||
	    (rc = ck_person_open(&x->person, url)) != PF_OK ||
	    (rc = ck_person_login(&x->person)) != PF_OK ||
	    (rc = ck_person_decide(&x->person, approve, 0)) != PF_OK)
		return rc;
	to = x->person.away;
	if (!pf_str_starts(to, x->client.redirect_uri) ||
	    to.n <= x->client.redirect_uri.n || pf_form_parse(&ck->ag->arena,
	    pf_str_from(to, x->client.redirect_uri.n + 1), back, &why) !=
	    PF_OK || pf_form_get(back, "iss", &s) != PF_OK ||
	    !pf_str_eq(s, ck->company->issuer))
		return ag_fault(&ck->ag->fault, PF_E_UPSTREAM, "R-4.5-7",
		    "no redirect to the agent with iss");
	return PF_OK;
}

static enum pf_rc
redeem(struct account *x, struct pf_str code, const char *verifier,
    struct ck_reply *rp)
{
	const struct ag_param param[] = {
		{ "grant_type", PF_LIT(CODE_GRANT), false },
		{ "code", code, true },
		{ "redirect_uri", x->client.redirect_uri, false },
		{ "code_verifier", pf_str(verifier), true },
		{ "session_id", x->ck->session_id, false },
	};

	return ask(x->ck, x->ck->company->token_endpoint, param,
	    PF_COUNT(param), true, rp);
}

static bool
signed_in(struct account *x, const struct ck_reply *rp, struct pf_str sid,
    struct ag_grant *g)
{
	return rp->http.status == 200 && rp->body != NULL &&
	    ag_grant_check_signed_in(rp->body, sid, PF_NOSTR, g,
	    &x->ck->ag->fault) == PF_OK;
}

static void
declined(struct account *x)
{
	struct pf_str error = PF_NOSTR;
	struct pf_form back;
	enum pf_rc rc;

	rc = authorize(x, false, &back);
	ck_point(x->ck, rc, rc == PF_OK &&
	    pf_form_get(&back, "error", &error) == PF_OK &&
	    pf_str_eqz(error, "access_denied"), "R-4.5-9",
	    "declined: the agent is told", NULL);
}

/* The rest needs what this gives. */
static bool
approved(struct account *x)
{
	struct ck_reply rp = { .body = NULL };
	struct pf_str code = PF_NOSTR;
	struct pf_form back;
	enum pf_rc rc;
	bool good;

	rc = authorize(x, true, &back);
	good = rc == PF_OK && pf_form_get(&back, "code", &code) == PF_OK;
	ck_point(x->ck, rc, good, "R-4.5-6,R-4.5-7,R-4.5-8",
	    "approved: a code comes back", NULL);
	if (!good)
		return false;
	rc = redeem(x, code, "wrong-verifier-wrong-verifier-wrong-verifier-1",
	    &rp);
	ck_point(x->ck, rc, rc == PF_OK && rp.http.status == 400 &&
	    pf_str_eqz(rp.error, "invalid_grant"), "R-4.5-12",
	    "the code with another verifier", &rp);
	rc = redeem(x, code, CK_VERIFIER, &rp);
	good = rc == PF_OK && signed_in(x, &rp, x->ck->session_id, &x->grant);
	ck_point(x->ck, rc, good && pf_str_given(x->grant.account_token),
	    "R-4.5-15,R-4.4-10", "the code signs the Session in", &rp);
	return good && pf_str_given(x->grant.account_token);
}

static enum pf_rc
refresh(struct account *x, struct pf_str sid, const char *scope,
    struct ck_reply *rp)
{
	const struct ag_param param[] = {
		{ "grant_type", PF_LIT("refresh_token"), false },
		{ "refresh_token", x->grant.account_token, true },
		{ "session_id", sid, false },
		{ "scope", pf_str(scope), false },
	};

	return ask(x->ck, x->ck->company->token_endpoint, param,
	    PF_COUNT(param), true, rp);
}

static void
refreshes(struct account *x)
{
	struct ck_reply rp = { .body = NULL };
	struct ag_grant g = { .token = PF_NOSTR };
	enum pf_rc rc;

	rc = refresh(x, x->ck->session_id, NULL, &rp);
	ck_point(x->ck, rc, rc == PF_OK &&
	    signed_in(x, &rp, x->ck->session_id, &g), "R-4.8-1",
	    "the Account Token, for the Session", &rp);
	rc = refresh(x, PF_NOSTR, NULL, &rp);
	ck_point(x->ck, rc, rc == PF_OK && signed_in(x, &rp, PF_NOSTR, &g) &&
	    !pf_str_eq(g.session_id, x->ck->session_id), "R-4.8-2",
	    "... and for a new one", &rp);
	rc = refresh(x, PF_NOSTR, "poppy-agent:no-such-scope", &rp);
	ck_point(x->ck, rc, rc == PF_OK && rp.http.status == 400 &&
	    pf_str_eqz(rp.error, "invalid_scope"), "R-4.8-9",
	    "a scope that was not granted", &rp);
	expect_call(x, x->grant.account_token, "invalid_token", "R-4.8-4",
	    "the Account Token at an API");
}

static void
signed_out(struct account *x)
{
	const struct ag_param param[] = {
		{ "token", x->grant.account_token, true },
	};
	struct ck_reply rp = { .body = NULL };
	enum pf_rc rc;

	rc = ask(x->ck, x->ck->company->revocation_endpoint, param, 1, false,
	    &rp);
	ck_point(x->ck, rc, rc == PF_OK && rp.http.status == 200, "R-4.9-1",
	    "the Account Token is revoked", &rp);
	rc = refresh(x, x->ck->session_id, NULL, &rp);
	ck_point(x->ck, rc, rc == PF_OK && rp.http.status == 400 &&
	    pf_str_eqz(rp.error, "invalid_grant"), "R-4.9-3,R-4.8-12",
	    "it works no more", &rp);
	expect_call(x, x->grant.token, "sign_in_required", "R-4.9-4,R-4.9-6",
	    "nor does the access, from the next call on");
}

static void
direct(struct account *x)
{
	declined(x);
	if (!approved(x))
		return;
	expect_call(x, x->grant.token, NULL, "R-4.4-3",
	    "a call that needs the account");
	expect_call(x, x->signed_out, "sign_in_required", "R-4.4-16",
	    "a token from before the sign-in stays signed out");
	refreshes(x);
	signed_out(x);
}

/* A device request that this person approves by its link. */
static void
device(struct account *x)
{
	struct ck *ck = x->ck;
	const struct ag_param scope[] = {
		{ "scope", ck->company->device_scope, false }
	};
	struct timespec t = { .tv_sec = 6 };
	struct pf_str code = PF_NOSTR, link = PF_NOSTR;
	struct ck_reply rp = { .body = NULL };
	struct ag_grant g = { .token = PF_NOSTR };
	enum pf_rc rc;

	rc = ask(ck, ck->company->device_endpoint, scope, 1, false, &rp);
	if (rc != PF_OK || rp.body == NULL ||
	    pf_json_str(rp.body, "device_code", &code) != PF_OK ||
	    pf_json_str(rp.body, "verification_uri_complete", &link) != PF_OK)
		return;
	if ((rc = ck_person_open(&x->person, link)) == PF_OK &&
	    (rc = ck_person_login(&x->person)) == PF_OK)
		rc = ck_person_decide(&x->person, true, 0);
	ck_point(ck, rc, rc == PF_OK && x->person.page.status == 200,
	    "R-4.6-4", "a device request is approved by its link", NULL);
	const struct ag_param poll[] = {
		{ "grant_type", PF_LIT(DEVICE_GRANT), false },
		{ "device_code", code, true },
		{ "session_id", ck->session_id, false },
	};
	(void)nanosleep(&t, NULL);
	rc = ask(ck, ck->company->token_endpoint, poll, PF_COUNT(poll), true,
	    &rp);
	ck_point(ck, rc, rc == PF_OK && signed_in(x, &rp, ck->session_id, &g),
	    "R-4.6-8", "the next poll signs the Session in", &rp);
	x->grant = g;
	if (pf_str_given(g.account_token))
		signed_out(x);
}

void
ck_account(struct ck *ck)
{
	const struct ag_company *c = ck->company;
	struct account x = {
		.ck = ck, .person = { .ck = ck }, .signed_out = ck->token,
	};
	const char *why = "";

	if (!pf_str_given(ck->login) || ag_client_urls(&ck->ag->arena,
	    ck->ag->st.client_id, &x.client, &why) != PF_OK)
		return;
	if (c->direct && pf_str_given(c->authorization_endpoint))
		direct(&x);
	if (c->device && pf_str_given(c->device_endpoint) &&
	    pf_str_given(c->authorization_endpoint))
		device(&x);
}
