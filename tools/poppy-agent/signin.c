/*
 * signin, refresh, signout: access to the User's account (4.4 to 4.9).
 */
#include "config.h"

#include "tools/poppy-agent/signin.h"

#include "tools/poppy-agent/account.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/discover.h"
#include "tools/poppy-agent/session.h"

static bool
has_direct(const struct ag_company *c)
{
	return c->direct && pf_str_given(c->authorization_endpoint);
}

static bool
has_device(const struct ag_company *c)
{
	return c->device && pf_str_given(c->device_endpoint);
}

static bool
has_mediated(const struct ag_company *c)
{
	return c->mediated && pf_str_given(c->mediated_endpoint);
}

static const struct {
	const char *name, *title;
	bool (*offered)(const struct ag_company *c);
	enum pf_rc (*run)(struct agent *ag, const struct ag_signin *s);
} types[] = {
	{ "direct", "Direct Sign-In", has_direct, ag_signin_direct },
	{ "device", "Device Sign-In", has_device, ag_signin_device },
	{ "mediated", "Mediated Sign-In", has_mediated, ag_signin_mediated },
};

static enum pf_rc
refuse(struct agent *ag, enum pf_rc rc, const char *what)
{
	ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
	return ag_fault(&ag->fault, rc, NULL, "%s", what);
}

static enum pf_rc
discover(struct agent *ag, const char *domain, struct ag_company **c)
{
	enum pf_rc rc;

	ag_step_begin(&ag->show, "discover", "Discovery");
	ag->show.aside = true;
	rc = ag_discover(ag, domain, true, c);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

enum pf_rc
ag_signin_ask(struct agent *ag, const struct ag_signin *s,
    const struct ag_param *param, size_t n, struct ag_token_answer *answer)
{
	const struct ag_token_ask ask = {
		s->company->token_endpoint, param, n, true, false
	};

	return ag_token_ask(ag, s->user, &ask, answer);
}

enum pf_rc
ag_signin_take(struct agent *ag, const struct ag_signin *s,
    const struct pf_json *doc)
{
	struct ag_grant g = { .account_token = PF_NOSTR };
	enum pf_rc rc;

	rc = ag_grant_check_signed_in(doc, s->session_id, s->scope, &g,
	    &ag->fault);
	return rc != PF_OK ? rc : ag_account_take(ag, s->company, &g);
}

/* The Session that is named, the newest, or a new one. */
static enum pf_rc
find_session(struct agent *ag, const struct ag_company *c, struct pf_str *id)
{
	const struct ag_session *s;

	s = ag_state_session(ag, c->issuer, pf_str(ag->opt.session));
	if (s == NULL && ag->opt.session != NULL)
		return refuse(ag, PF_E_ABSENT, "no such Session here");
	if (s == NULL)
		return ag_session_start(ag, c, id);
	*id = s->id;
	return PF_OK;
}

static enum pf_rc
sign_in(struct agent *ag, size_t type)
{
	struct ag_signin s = { .scope = pf_str(ag->opt.scope) };
	struct ag_company *c;
	enum pf_rc rc;

	if (ag->opt.scope == NULL)
		return refuse(ag, PF_E_INPUT, "say what for: --scope "
		    "\"poppy:read poppy:write\", or less");
	if ((rc = ag_client_ready(ag)) != PF_OK ||
	    (rc = discover(ag, ag->opt.arg[1], &c)) != PF_OK)
		return rc;
	if (!types[type].offered(c))
		return refuse(ag, PF_E_ABSENT,
		    "the Company does not offer this type of sign-in");
	if ((rc = find_session(ag, c, &s.session_id)) != PF_OK ||
	    (rc = ag_user_at(ag, c->issuer, &s.user)) != PF_OK)
		return rc;
	s.company = c;
	ag_step_begin(&ag->show, "signin", types[type].title);
	rc = types[type].run(ag, &s);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

enum pf_rc
ag_cmd_signin(struct agent *ag)
{
	for (size_t i = 0; i < PF_COUNT(types); i++)
		if (pf_str_eqz(pf_str(ag->opt.arg[0]), types[i].name))
			return sign_in(ag, i);
	return refuse(ag, PF_E_INPUT, "sign in how? direct, device or "
	    "mediated");
}

/* A new signed-in Session, or with --session that one signed in (4.8). */
enum pf_rc
ag_cmd_refresh(struct agent *ag)
{
	struct pf_str id;
	struct ag_company *c;
	enum pf_rc rc;

	if ((rc = discover(ag, ag->opt.arg[0], &c)) != PF_OK)
		return rc;
	ag_step_begin(&ag->show, "refresh", "Use the Account Token");
	rc = ag_account_use(ag, c, PF_NOSTR, pf_str(ag->opt.session),
	    pf_str(ag->opt.scope), &id);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

/* Every Account Token of this User at the Company; no trace of the account
 * stays here (4.9). */
enum pf_rc
ag_cmd_signout(struct agent *ag)
{
	struct ag_company *c;
	enum pf_rc rc;
	int n = 0;

	if ((rc = discover(ag, ag->opt.arg[0], &c)) != PF_OK)
		return rc;
	ag_step_begin(&ag->show, "signout", "Sign out");
	do
		rc = ag_account_revoke(ag, c, PF_NOSTR);
	while (rc == PF_OK && ++n < 1000 &&
	    ag_state_account(ag, c->issuer, PF_NOSTR) != NULL);
	if (rc == PF_OK)
		ag_show_fact_int(&ag->show, "Account Tokens revoked", n);
	return ag_step_end(&ag->show, rc, &ag->fault);
}
