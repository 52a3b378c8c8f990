#include "config.h"

#include "tools/poppy-agent/browser.h"

#include "core/base/clock.h"
#include "core/web/url.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/call.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/sign.h"

enum pf_rc
ag_browser_check(struct agent *ag, const struct ag_joining *j)
{
	const struct ag_company *c = j->company;
	struct pf_url u;
	enum pf_rc rc;

	if ((rc = ag_call_check(ag, j->return_to)) != PF_OK)
		return rc;
	if (pf_url_parse(j->return_to, &u) != PF_OK ||
	    !pf_host_within(u.host, c->domain))
		return ag_fault(&ag->fault, PF_E_INPUT, "R-5-12",
		    "\"%.*s\" is not on %.*s or below it: nothing is sent",
		    PF_STRF(j->return_to), PF_STRF(c->domain));
	if (!pf_str_given(c->browser_endpoint))
		return ag_fault(&ag->fault, PF_E_ABSENT, "R-5-1",
		    "%.*s has no web.browser_session_endpoint: its pages are "
		    "browsed as any signed-out visitor does, so open the URL "
		    "itself", PF_STRF(c->asked));
	return PF_OK;
}

enum pf_rc
ag_browser_assert(struct agent *ag, const struct ag_joining *j,
    struct pf_str *assertion)
{
	const struct ag_user *u = ag_state_user(ag, j->company->issuer);
	const struct ag_key *key = ag_signing_key(&ag->st);
	struct ag_browser_for want = {
		.iss = ag->st.client_id, .aud = j->company->browser_endpoint,
		.session_id = j->session, .return_to = j->return_to,
		.now_at = pf_now_at(),
	};
	enum pf_rc rc;

	if (u == NULL || key == NULL)
		return PF_E_BUG;
	want.sub = u->id;
	rc = ag_sign_browser(&ag->arena, key, &want, assertion);
	if (rc != PF_OK)
		return ag_fault(&ag->fault, rc, NULL,
		    "no browser assertion could be made");
	ag_show_request(&ag->show, "POST", want.aud);
	ag_show_sent_secret(&ag->show, "assertion", *assertion);
	ag_show_sent(&ag->show, "assertion.iss", want.iss);
	ag_show_sent_secret(&ag->show, "assertion.sub", want.sub);
	ag_show_sent(&ag->show, "assertion.aud", want.aud);
	ag_show_sent(&ag->show, "assertion.session_id", want.session_id);
	ag_show_sent(&ag->show, "assertion.return_to", want.return_to);
	return PF_OK;
}
