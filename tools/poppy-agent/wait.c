#include "config.h"

#include "tools/poppy-agent/wait.h"

#include <time.h>

#include "core/base/clock.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/fresh.h"
#include "tools/poppy-agent/http.h"

#define WAITS_MAX	3

static struct pf_str
request_key(struct agent *ag, const char *method, struct pf_str url)
{
	struct pf_buf b;

	pf_buf_init(&b, &ag->arena, 4096);
	pf_buf_addz(&b, method);
	pf_buf_char(&b, ' ');
	pf_buf_add(&b, pf_str_head(url, pf_str_find(url, '?')));
	return pf_buf_str(&b);
}

static void
sleep_until(int64_t at)
{
	int64_t left;

	while ((left = at - pf_now_at()) > 0) {
		const struct timespec ts = { (time_t)left, 0 };

		nanosleep(&ts, NULL);
	}
}

static void
sit_out(struct agent *ag, struct pf_str request, int64_t until_at)
{
	int64_t seconds = until_at - pf_now_at();

	ag_show_note(&ag->show, "waited %lld s, as Retry-After asked",
	    (long long)seconds);
	ag_show_now(&ag->show, "waiting %lld s before %.*s, as Retry-After "
	    "asks", (long long)seconds, PF_STRF(request));
	sleep_until(until_at);
}

static enum pf_rc
too_long(struct agent *ag, int64_t until_at)
{
	struct pf_buf b;

	pf_buf_init(&b, &ag->arena, 64);
	pf_buf_rfc3339(&b, until_at);
	return ag_fault(&ag->fault, PF_E_LIMIT, NULL, "a Retry-After that "
	    "runs until %.*s, %lld s from now; longer than --max-wait, so "
	    "nothing is sent before that time", PF_STRF(pf_buf_str(&b)),
	    (long long)(until_at - pf_now_at()));
}

enum pf_rc
ag_wait_before(struct agent *ag, const char *method, struct pf_str url)
{
	struct pf_str key = request_key(ag, method, url);
	int64_t now_at = pf_now_at();

	for (const struct ag_hold *h = ag->st.holds; h != NULL; h = h->next) {
		if (!pf_str_eq(h->request, key) || h->until_at <= now_at)
			continue;
		if (h->until_at - now_at > ag->opt.max_wait) {
			ag_fault_asked(&ag->fault, method, url);
			return too_long(ag, h->until_at);
		}
		sit_out(ag, key, h->until_at);
		break;
	}
	return PF_OK;
}

static enum pf_rc
add_hold(struct agent *ag, void *arg)
{
	struct ag_hold *h = arg;

	h->next = ag->st.holds;
	ag->st.holds = h;
	return PF_OK;
}

/* Kept before anything is waited for: another run must not ask either. */
static enum pf_rc
hold(struct agent *ag, struct pf_str key, int64_t until_at)
{
	struct ag_hold *h = pf_arena_alloc(&ag->arena, sizeof(*h));

	if (h == NULL)
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no memory");
	h->request = key;
	h->until_at = until_at;
	return ag_state_change(ag, add_hold, h);
}

enum pf_rc
ag_wait_after(struct agent *ag, struct ag_patience *p, const char *method,
    struct pf_str url, const struct ag_reply *rp, bool *again)
{
	struct pf_str key = request_key(ag, method, url);
	struct pf_str value = ag_reply_field(rp, "retry-after", 0);
	int64_t now_at = pf_now_at(), seconds = 0;
	enum pf_rc rc;

	*again = false;
	if (rp->status != 429 && rp->status != 503)
		return PF_OK;
	rc = ag_retry_after(value, now_at, &seconds);
	if (rc != PF_OK && rp->status == 503)
		return PF_OK;
	if (rc != PF_OK)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.3-28",
		    "429 %s", rc == PF_E_ABSENT ? "without a Retry-After" :
		    "with a Retry-After that is no time");
	if (seconds > 0 &&
	    (rc = hold(ag, key, now_at + seconds)) != PF_OK)
		return rc;
	if (seconds > ag->opt.max_wait)
		return too_long(ag, now_at + seconds);
	if (++p->waits > WAITS_MAX)
		return ag_fault(&ag->fault, PF_E_LIMIT, NULL,
		    "status %d with Retry-After, %d times in a row",
		    rp->status, p->waits);
	/* A clock that ticks just after the reply would make it too early. */
	sit_out(ag, key, now_at + seconds + 1);
	*again = true;
	return PF_OK;
}
