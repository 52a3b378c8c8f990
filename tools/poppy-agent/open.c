/*
 * open DOMAIN URL: a browser that the agent controls joins the Session and
 * opens a page (section 5).
 */
#include "config.h"

#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/browser.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/discover.h"
#include "tools/poppy-agent/handover.h"
#include "tools/poppy-agent/headless.h"
#include "tools/poppy-agent/live.h"

#define WAIT_SECONDS	60
#define TEXT_MAX	(8u << 20)

static enum pf_rc
prepare(struct agent *ag, struct ag_joining *j)
{
	struct ag_company *c = NULL;
	enum pf_rc rc;

	ag_step_begin(&ag->show, "discover", "Discovery");
	ag->show.aside = true;
	if ((rc = ag_client_ready(ag)) == PF_OK)
		rc = ag_discover(ag, ag->opt.arg[0], true, &c);
	j->company = c;
	if (rc == PF_OK)
		rc = ag_browser_check(ag, j);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

static enum pf_rc
live(struct agent *ag, struct ag_joining *j)
{
	struct ag_session *s = NULL;
	enum pf_rc rc;

	ag_step_begin(&ag->show, "session", "The Session");
	rc = ag_live_session(ag, j->company, &j->session, &s);
	/* One that was got just now has been shown. */
	if (rc == PF_OK && ag->show.first == NULL) {
		ag_show_fact(&ag->show, "Session", j->session);
		ag_show_fact(&ag->show, "state", s->signed_in ?
		    PF_LIT("signed in") : PF_LIT("signed out"));
	}
	return ag_step_end(&ag->show, rc, &ag->fault);
}

static enum pf_rc
hand_over(struct agent *ag, const struct ag_joining *j)
{
	struct ag_handover h;
	enum pf_rc rc;

	ag_step_begin(&ag->show, "open", "A browser joins the Session");
	if ((rc = ag_handover_open(ag, &h)) == PF_OK) {
		ag_show_now(&ag->show, "within %d seconds, open this once in a "
		    "browser that the agent controls, never in the User's own "
		    "browser:", WAIT_SECONDS);
		printf("%.*s\n", PF_STRF(h.url));
		(void)fflush(stdout);
		rc = ag_handover_wait(ag, &h, j, WAIT_SECONDS);
	}
	if (rc == PF_OK)
		ag_show_note(&ag->show, "the page was fetched; whether the "
		    "join worked, the browser shows");
	return ag_step_end(&ag->show, rc, &ag->fault);
}

static enum pf_rc
drive(struct agent *ag, const struct ag_joining *j)
{
	struct pf_str text;
	struct pf_buf b;
	enum pf_rc rc;

	ag->show.out = stdout;
	ag_step_begin(&ag->show, "open", "A browser joins the Session");
	rc = ag_step_end(&ag->show, ag_headless(ag, j, &text), &ag->fault);
	if (!pf_str_given(text) || ag->show.json)
		return rc;
	pf_buf_init(&b, &ag->arena, TEXT_MAX);
	ag_escape(&b, text, true);
	printf("%.*s\n", PF_STRF(pf_buf_str(&b)));
	return rc;
}

enum pf_rc
ag_cmd_open(struct agent *ag)
{
	struct ag_joining j = {
		.session = pf_str(ag->opt.session),
		.return_to = pf_str(ag->opt.arg[1]),
	};
	enum pf_rc rc;

	ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
	if (ag->opt.text && !ag->opt.headless)
		return ag_fault(&ag->fault, PF_E_INPUT, NULL,
		    "--text goes with --headless");
	/* Standard output is the URL's, or the page's. */
	ag->show.out = stderr;
	if ((rc = prepare(ag, &j)) != PF_OK || (rc = live(ag, &j)) != PF_OK)
		return rc;
	return ag->opt.headless ? drive(ag, &j) : hand_over(ag, &j);
}
