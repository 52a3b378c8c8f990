/*
 * Device Sign-In (4.6; RFC 8628): a link and a code for the User, and polls
 * until they have decided.
 */
#include "config.h"

#include "tools/poppy-agent/signin.h"

#include <time.h>

#include "core/base/clock.h"
#include "core/web/url.h"
#include "tools/poppy-agent/qr.h"

#define GRANT_TYPE	"urn:ietf:params:oauth:grant-type:device_code"
#define INTERVAL_S	5	/* RFC 8628, 3.5: if none is given, and each
				 * slow_down */
#define CODE_MAX	64

struct device {
	struct pf_str code, user_code, uri, complete;
	int64_t expires_in, interval;
};

static enum pf_rc
check(struct agent *ag, const struct pf_json *doc, struct device *d)
{
	if (pf_json_str(doc, "device_code", &d->code) != PF_OK ||
	    d->code.n == 0 || pf_json_str(doc, "user_code", &d->user_code) !=
	    PF_OK || d->user_code.n == 0 || d->user_code.n > CODE_MAX ||
	    pf_json_str(doc, "verification_uri", &d->uri) != PF_OK ||
	    !pf_url_is_https(d->uri) || pf_json_int(doc, "expires_in",
	    &d->expires_in) != PF_OK || d->expires_in <= 0)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.6-1",
		    "a reply without device_code, user_code, an https "
		    "verification_uri and expires_in");
	if (pf_json_int(doc, "interval", &d->interval) != PF_OK ||
	    d->interval <= 0)
		d->interval = INTERVAL_S;
	if (pf_json_str(doc, "verification_uri_complete", &d->complete) !=
	    PF_OK || !pf_url_is_https(d->complete))
		d->complete = PF_NOSTR;
	return PF_OK;
}

static enum pf_rc
start(struct agent *ag, const struct ag_signin *s, struct device *d)
{
	const struct ag_param param[] = { { "scope", s->scope, false } };
	const struct ag_token_ask ask = {
		s->company->device_endpoint, param, PF_COUNT(param), false,
		false
	};
	struct ag_token_answer answer;
	enum pf_rc rc;

	if ((rc = ag_token_ask(ag, s->user, &ask, &answer)) != PF_OK)
		return rc;
	if (answer.status != 200 || answer.doc == NULL)
		return ag_token_refused(ag, &answer);
	return check(ag, answer.doc, d);
}

/* For the person, at once, on standard error. */
static void
tell(struct agent *ag, const struct device *d)
{
	struct pf_str link = pf_str_given(d->complete) ? d->complete : d->uri;
	struct pf_buf b;

	pf_buf_init(&b, &ag->arena, 8192);
	pf_buf_addz(&b, "open ");
	ag_escape(&b, d->uri, false);
	pf_buf_addz(&b, " and enter ");
	ag_escape(&b, d->user_code, false);
	if (pf_str_given(d->complete)) {
		pf_buf_addz(&b, "\nor open ");
		ag_escape(&b, d->complete, false);
	}
	ag_show_now(&ag->show, "%.*s", PF_STRF(pf_buf_str(&b)));
	if (!ag->show.json)
		ag_qr_show(stderr, link);
	ag_show_fact(&ag->show, "link", link);
	ag_show_fact(&ag->show, "user code", d->user_code);
}

static void
pause_s(int64_t s)
{
	const struct timespec t = { .tv_sec = (time_t)s };

	(void)nanosleep(&t, NULL);
}

enum pf_rc
ag_signin_device(struct agent *ag, const struct ag_signin *s)
{
	struct ag_token_answer answer = { .doc = NULL };
	struct device d = { .code = PF_NOSTR };
	int64_t until_at;
	enum pf_rc rc;

	if ((rc = start(ag, s, &d)) != PF_OK)
		return rc;
	tell(ag, &d);
	until_at = pf_now_at() + d.expires_in;
	const struct ag_param param[] = {
		{ "grant_type", PF_LIT(GRANT_TYPE), false },
		{ "device_code", d.code, true },
		{ "session_id", s->session_id, false },
	};
	while (pf_now_at() <= until_at + d.interval) {
		pause_s(d.interval);
		rc = ag_signin_ask(ag, s, param, PF_COUNT(param), &answer);
		if (rc != PF_OK)
			return rc;
		if (answer.status == 200 && answer.doc != NULL)
			return ag_signin_take(ag, s, answer.doc);
		if (pf_str_eqz(answer.error, "slow_down"))
			d.interval += INTERVAL_S;
		else if (!pf_str_eqz(answer.error, "authorization_pending"))
			return ag_token_refused(ag, &answer);
	}
	return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.6-10",
	    "polls are still pending after expires_in");
}
