#include "config.h"

#include "tools/poppy-agent/live.h"

#include "core/base/clock.h"
#include "tools/poppy-agent/account.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/token.h"

/* A token with less than this to live would expire on its way. */
#define MARGIN_SECONDS	5

/* With its Account Token while it has one that is taken (4.8): else the Session
 * goes on signed out. PF_E_ABSENT: it has none. */
static enum pf_rc
renew_signed_in(struct agent *ag, const struct ag_company *c,
    struct pf_str *session)
{
	struct pf_str issuer = c->issuer;
	const struct ag_session *s = ag_state_session(ag, issuer, *session);
	enum pf_rc rc;

	if (s == NULL || !pf_str_given(s->account) ||
	    ag_state_account(ag, issuer, s->account) == NULL)
		return PF_E_ABSENT;
	rc = ag_account_use(ag, c, s->account, s->id, PF_NOSTR, session);
	if (rc != PF_E_AUTH)
		return rc;
	ag_show_note(&ag->show, "the Account Token is no longer taken: the "
	    "Session goes on signed out");
	return PF_E_ABSENT;
}

enum pf_rc
ag_live_renew(struct agent *ag, const struct ag_company *c,
    struct pf_str *session)
{
	enum pf_rc rc = renew_signed_in(ag, c, session);

	if (rc == PF_E_ABSENT)
		rc = ag_token_get(ag, c, *session, session);
	if (rc != PF_E_CONFLICT)
		return rc;
	ag_show_note(&ag->show, "the Session has ended: a new one is started");
	return ag_token_get(ag, c, PF_NOSTR, session);
}

enum pf_rc
ag_live_session(struct agent *ag, const struct ag_company *c,
    struct pf_str *session, struct ag_session **out)
{
	struct pf_str issuer = c->issuer;
	struct ag_session *s;
	enum pf_rc rc;

	/* Another run may have renewed it: only the newest token counts. */
	if ((rc = ag_state_load(ag)) != PF_OK)
		return rc;
	s = ag_state_session(ag, issuer, *session);
	if (s == NULL) {
		rc = ag_token_get(ag, c, PF_NOSTR, session);
		if (rc != PF_OK)
			return rc;
	} else if (s->expires_at - MARGIN_SECONDS <= pf_now_at()) {
		*session = s->id;
		ag_show_note(&ag->show, "the Session Token has expired: it is "
		    "renewed");
		if ((rc = ag_live_renew(ag, c, session)) != PF_OK)
			return rc;
	}
	*out = ag_state_session(ag, issuer, *session);
	if (*out == NULL)
		return ag_fault(&ag->fault, PF_E_CONFLICT, NULL,
		    "the Session has gone from the state file");
	*session = (*out)->id;
	return PF_OK;
}
