/*
 * session, renew, status: the Sessions of one User.
 */
#include "config.h"

#include <string.h>

#include "core/base/clock.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/discover.h"
#include "tools/poppy-agent/session.h"
#include "tools/poppy-agent/token.h"

enum pf_rc
ag_session_start(struct agent *ag, const struct ag_company *c,
    struct pf_str *id)
{
	enum pf_rc rc;

	ag_step_begin(&ag->show, "session", "Start a Session");
	rc = ag_token_get(ag, c, PF_NOSTR, id);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

enum pf_rc
ag_session_renew(struct agent *ag, const struct ag_company *c,
    struct pf_str *id)
{
	enum pf_rc rc;

	ag_step_begin(&ag->show, "renew", "Renew the Session");
	rc = ag_token_get(ag, c, *id, id);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

static enum pf_rc
discover(struct agent *ag, struct ag_company **c)
{
	enum pf_rc rc;

	ag_step_begin(&ag->show, "discover", "Discovery");
	ag->show.aside = true;
	rc = ag_discover(ag, ag->opt.arg[0], true, c);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

enum pf_rc
ag_cmd_session(struct agent *ag)
{
	struct ag_company *c;
	struct pf_str id;
	enum pf_rc rc;

	if ((rc = discover(ag, &c)) != PF_OK)
		return rc;
	return ag_session_start(ag, c, &id);
}

enum pf_rc
ag_cmd_renew(struct agent *ag)
{
	struct ag_company *c;
	struct ag_session *s;
	struct pf_str id;
	enum pf_rc rc;

	if ((rc = discover(ag, &c)) != PF_OK)
		return rc;
	s = ag_state_session(ag, c->issuer, pf_str(ag->opt.session));
	if (s == NULL) {
		ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
		return ag_fault(&ag->fault, PF_E_ABSENT, NULL,
		    "no such Session with %.*s: start one with "
		    "\"poppy-agent session %s\"", PF_STRF(c->issuer),
		    ag->opt.arg[0]);
	}
	id = s->id;
	if ((rc = ag_session_renew(ag, c, &id)) != PF_E_CONFLICT)
		return rc;
	ag_show_now(&ag->show, "the Session has ended: starting a new one");
	return ag_session_start(ag, c, &id);
}

static void
show_accounts(struct agent *ag, const struct ag_user *u)
{
	struct pf_buf b;

	for (const struct ag_account *a = u->accounts; a != NULL;
	    a = a->next) {
		pf_buf_init(&b, &ag->arena, 8192);
		pf_buf_add(&b, a->scope);
		if (a->expires_at != 0) {
			pf_buf_addz(&b, ", until ");
			pf_buf_rfc3339(&b, a->expires_at);
		}
		ag_show_fact(&ag->show, "Account Token", pf_buf_str(&b));
	}
}

static void
show_user(struct agent *ag, const struct ag_user *u)
{
	struct pf_buf b;

	pf_buf_init(&b, &ag->arena, 64);
	ag_shorten(&b, u->id);
	ag_show_fact(&ag->show, "User", u->user);
	ag_show_fact(&ag->show, "User ID", pf_buf_str(&b));
	for (const struct ag_session *s = u->sessions; s != NULL;
	    s = s->next) {
		pf_buf_init(&b, &ag->arena, 128);
		pf_buf_addz(&b, s->signed_in ? "signed in, " : "signed out, ");
		if (s->expires_at == 0) {
			/* As a sign-out leaves it. */
			pf_buf_addz(&b, "token renewed at its next use");
		} else {
			pf_buf_addz(&b, s->expires_at > pf_now_at() ?
			    "token until " : "token expired ");
			pf_buf_rfc3339(&b, s->expires_at);
		}
		ag_show_fact(&ag->show, pf_arena_z(&ag->arena, s->id),
		    pf_buf_str(&b));
	}
	show_accounts(ag, u);
}

/* What the state holds, without a word to anybody. */
enum pf_rc
ag_cmd_status(struct agent *ag)
{
	ag_step_begin(&ag->show, "status", "This agent");
	ag_show_fact(&ag->show, "state", pf_str(ag->opt.state));
	ag_show_fact(&ag->show, "client_id", ag->st.client_id.n > 0 ?
	    ag->st.client_id : PF_LIT("none yet"));
	if (ag_step_end(&ag->show, PF_OK, &ag->fault) != PF_OK)
		return PF_E_BUG;
	for (const struct ag_user *u = ag->st.users; u != NULL; u = u->next) {
		ag_step_begin(&ag->show, "company",
		    pf_arena_z(&ag->arena, u->issuer));
		ag_show_fact(&ag->show, "issuer", u->issuer);
		show_user(ag, u);
		if (ag_step_end(&ag->show, PF_OK, &ag->fault) != PF_OK)
			return PF_E_BUG;
	}
	return PF_OK;
}
