#include "config.h"

#include "tools/poppy-agent/callback.h"

#include <stdlib.h>

#include "core/web/form.h"

#define ARENA_CAP	(256u << 20)

struct landing {
	struct pf_str state, query;
};

/* Only for a state that a sign-in of ours waits for, and once: a stranger's
 * request changes nothing. */
static enum pf_rc
put(struct agent *ag, void *arg)
{
	const struct landing *l = arg;
	struct ag_pending *p = ag_state_pending(ag, l->state);

	if (p == NULL || pf_str_given(p->query))
		return ag_fault(&ag->fault, PF_E_ABSENT, NULL,
		    "no sign-in waits for this state");
	p->query = l->query;
	return PF_OK;
}

static enum pf_rc
land(struct agent *ag, struct pf_str query)
{
	struct landing l = { PF_NOSTR, query };
	const struct ag_pending *p;
	struct pf_form f;
	const char *why;
	enum pf_rc rc;

	if ((rc = pf_form_parse(&ag->arena, query, &f, &why)) != PF_OK ||
	    (rc = pf_form_get(&f, "state", &l.state)) != PF_OK)
		return rc;
	/* Looked up without the lock first, so that nobody can make us write. */
	if ((rc = ag_state_load(ag)) != PF_OK)
		return rc;
	p = ag_state_pending(ag, l.state);
	return p == NULL ? PF_E_ABSENT : ag_state_change(ag, put, &l);
}

int
ag_callback(const struct agent *serving, const struct ag_ask *ask,
    struct pf_buf *out)
{
	struct agent *ag = calloc(1, sizeof(*ag));
	enum pf_rc rc;

	if (ag == NULL || pf_arena_init(&ag->arena, 65536, ARENA_CAP) !=
	    PF_OK) {
		free(ag);
		return ag_httpd_say(out, 400, ask, "no memory");
	}
	ag->opt = serving->opt;
	rc = land(ag, ask->query);
	pf_arena_free(&ag->arena);
	free(ag);
	return rc == PF_OK ? ag_httpd_say(out, 200, ask,
	    "Thank you. You can close this page and go back to your agent.") :
	    ag_httpd_say(out, 400, ask,
	    "This agent is not waiting for a sign-in like this.");
}
