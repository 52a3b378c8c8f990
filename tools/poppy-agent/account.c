#include "config.h"

#include "tools/poppy-agent/account.h"

#include "core/base/clock.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/sign.h"

/* One change of what is kept about a User's accounts. */
struct change {
	struct pf_str issuer, id;
	struct pf_str token, scope;	/* of a new one */
	int64_t expires_in;
};

static struct ag_account **
find(struct ag_user *u, struct pf_str id)
{
	struct ag_account **a = &u->accounts;

	while (*a != NULL && !pf_str_eq((*a)->id, id))
		a = &(*a)->next;
	return a;
}

static enum pf_rc
add(struct agent *ag, void *arg)
{
	const struct change *c = arg;
	struct ag_user *u = ag_state_user(ag, c->issuer);
	struct ag_account *a = pf_arena_alloc(&ag->arena, sizeof(*a));

	if (u == NULL || a == NULL)
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no memory");
	a->id = c->id;
	a->token = c->token;
	a->scope = c->scope;
	a->given_at = pf_now_at();
	if (c->expires_in != 0 && __builtin_add_overflow(a->given_at,
	    c->expires_in, &a->expires_at))
		a->expires_at = INT64_MAX;
	a->next = u->accounts;
	u->accounts = a;
	return PF_OK;
}

/* Its Sessions are signed out from now on; their ids stay. */
static enum pf_rc
forget(struct agent *ag, void *arg)
{
	const struct change *c = arg;
	struct ag_user *u = ag_state_user(ag, c->issuer);
	struct ag_account **a;

	if (u == NULL)
		return PF_OK;
	a = find(u, c->id);
	if (*a != NULL)
		*a = (*a)->next;
	for (struct ag_session *s = u->sessions; s != NULL; s = s->next)
		if (pf_str_eq(s->account, c->id)) {
			s->account = PF_NOSTR;
			s->expires_at = 0;	/* renewed before its next use */
			s->signed_in = false;
		}
	return PF_OK;
}

/* A rotated one takes the old one's place (4.8). */
static enum pf_rc
rotate(struct agent *ag, void *arg)
{
	const struct change *c = arg;
	struct ag_user *u = ag_state_user(ag, c->issuer);
	struct ag_account *a = u != NULL ? *find(u, c->id) : NULL;

	if (a != NULL)
		a->token = c->token;
	return PF_OK;
}

static enum pf_rc
missing(struct agent *ag, const struct ag_company *c)
{
	ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
	return ag_fault(&ag->fault, PF_E_ABSENT, NULL,
	    "no Account Token of %.*s: sign in first", PF_STRF(c->issuer));
}

static void
show(struct agent *ag, const struct ag_grant *g)
{
	ag_show_fact(&ag->show, "scope", g->scope);
	if (g->account_expires_in > 0)
		ag_show_fact_int(&ag->show, "Account Token for s",
		    g->account_expires_in);
}

enum pf_rc
ag_account_take(struct agent *ag, const struct ag_company *c,
    const struct ag_grant *g)
{
	const struct ag_session *s = ag_state_session(ag, c->issuer,
	    g->session_id);
	struct pf_str old = s != NULL ? s->account : PF_NOSTR;
	struct change kept = {
		c->issuer, PF_NOSTR, g->account_token, g->scope,
		g->account_expires_in
	};
	enum pf_rc rc;

	if (!pf_str_given(g->account_token))
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.4-10",
		    "a sign-in without an Account Token (refresh_token)");
	if ((rc = ag_random_id(&ag->arena, "", &kept.id)) != PF_OK)
		return ag_fault(&ag->fault, rc, NULL, "no randomness");
	show(ag, g);
	if ((rc = ag_state_change(ag, add, &kept)) != PF_OK ||
	    (rc = ag_token_keep(ag, c->issuer, g, kept.id)) != PF_OK)
		return rc;
	if (!pf_str_given(old) ||
	    ag_state_account(ag, c->issuer, old) == NULL)
		return PF_OK;
	ag_show_note(&ag->show, "the Account Token that this one replaces is "
	    "revoked");
	return ag_account_revoke(ag, c, old);
}

/* Another Account Token came with it: that one counts from now on. */
static enum pf_rc
take_rotated(struct agent *ag, const struct ag_company *c, struct pf_str id,
    const struct ag_grant *g)
{
	struct change c2 = {
		c->issuer, id, g->account_token, PF_NOSTR, 0
	};

	if (!pf_str_given(g->account_token))
		return PF_OK;
	ag_show_note(&ag->show, "the Account Token was replaced by a new one");
	return ag_state_change(ag, rotate, &c2);
}

static enum pf_rc
used(struct agent *ag, const struct ag_company *c, struct pf_str id,
    struct pf_str session_id, struct pf_str scope,
    const struct ag_token_answer *answer, struct pf_str *session)
{
	struct ag_grant g = { .account_token = PF_NOSTR };
	enum pf_rc rc;

	if ((rc = ag_grant_check_signed_in(answer->doc, session_id, scope, &g,
	    &ag->fault)) != PF_OK ||
	    (rc = take_rotated(ag, c, id, &g)) != PF_OK)
		return rc;
	show(ag, &g);
	*session = g.session_id;
	return ag_token_keep(ag, c->issuer, &g, id);
}

enum pf_rc
ag_account_use(struct agent *ag, const struct ag_company *c, struct pf_str id,
    struct pf_str session_id, struct pf_str scope, struct pf_str *session)
{
	const struct ag_account *a = ag_state_account(ag, c->issuer, id);
	struct ag_token_answer answer;
	struct change gone = { c->issuer, PF_NOSTR, PF_NOSTR, PF_NOSTR, 0 };
	struct ag_user *u;
	enum pf_rc rc;

	if (a == NULL)
		return missing(ag, c);
	gone.id = a->id;
	const struct ag_param param[] = {
		{ "grant_type", PF_LIT("refresh_token"), false },
		{ "refresh_token", a->token, true },
		{ "session_id", session_id, false },
		{ "scope", scope, false },
	};
	const struct ag_token_ask ask = {
		c->token_endpoint, param, PF_COUNT(param), true, false
	};
	if (!pf_str_given(scope))
		scope = a->scope;
	if ((rc = ag_client_ready(ag)) != PF_OK ||
	    (rc = ag_user_at(ag, c->issuer, &u)) != PF_OK ||
	    (rc = ag_token_ask(ag, u, &ask, &answer)) != PF_OK)
		return rc;
	if (answer.status == 200 && answer.doc != NULL)
		return used(ag, c, gone.id, session_id, scope, &answer,
		    session);
	rc = ag_token_refused(ag, &answer);
	if (pf_str_eqz(answer.error, "invalid_grant") &&
	    ag_state_change(ag, forget, &gone) != PF_OK)
		return PF_E_UPSTREAM;
	return rc;
}

enum pf_rc
ag_account_revoke(struct agent *ag, const struct ag_company *c,
    struct pf_str id)
{
	const struct ag_account *a = ag_state_account(ag, c->issuer, id);
	struct ag_token_answer answer;
	struct ag_user *u;
	enum pf_rc rc;

	if (a == NULL)
		return missing(ag, c);
	const struct ag_param param[] = {
		{ "token", a->token, true },
		{ "token_type_hint", PF_LIT("refresh_token"), false },
	};
	const struct ag_token_ask ask = {
		c->revocation_endpoint, param, PF_COUNT(param), false, false
	};
	struct change gone = { c->issuer, a->id, PF_NOSTR, PF_NOSTR, 0 };

	if ((rc = ag_client_ready(ag)) != PF_OK ||
	    (rc = ag_user_at(ag, c->issuer, &u)) != PF_OK ||
	    (rc = ag_token_ask(ag, u, &ask, &answer)) != PF_OK)
		return rc;
	/* RFC 7009, 2.2: 200 whatever there was to revoke. */
	if (answer.status != 200)
		return ag_token_refused(ag, &answer);
	return ag_state_change(ag, forget, &gone);
}
