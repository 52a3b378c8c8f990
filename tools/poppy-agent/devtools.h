/*
 * devtools - Chrome's DevTools protocol over --remote-debugging-pipe: JSON
 * texts, each ended by a NUL, on descriptors 3 and 4 of the browser.
 */
#ifndef AG_DEVTOOLS_H
#define AG_DEVTOOLS_H

#include "core/base/json.h"

struct ag_devtools {
	int to, from;
	int64_t last_id;
	struct pf_str page;		/* the session of the page's target, or
					 * PF_NOSTR: the browser itself */
	/* params live until it returns */
	void (*on_event)(void *arg, struct pf_str method,
	    const struct pf_json *params);
	void *arg;
	struct pf_arena arena;		/* of one message */
	char *in;
	size_t n, size, skip;		/* skip bytes of in are done with */
};

PF_MUST enum pf_rc ag_devtools_init(struct ag_devtools *d, int to, int from);
void ag_devtools_free(struct ag_devtools *d);

/* params is a JSON object. PF_E_UPSTREAM: the browser has gone. */
PF_MUST enum pf_rc ag_devtools_send(struct ag_devtools *d, const char *method,
    struct pf_str params);
/* Send, and wait for the answer; events go to on_event meanwhile. *result lives
 * until the next message. PF_E_INPUT: an error came back; PF_E_ABSENT: time
 * over or interrupted; PF_E_UPSTREAM. */
PF_MUST enum pf_rc ag_devtools_call(struct ag_devtools *d, const char *method,
    struct pf_str params, int64_t until_ms, const struct pf_json **result);
/* One message; *id is 0 for an event, which has been handled then. */
PF_MUST enum pf_rc ag_devtools_next(struct ag_devtools *d, int64_t until_ms,
    int64_t *id, const struct pf_json **msg);

#endif
