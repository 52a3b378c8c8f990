/*
 * browser - how a browser joins a Session (section 5): what is asked before
 * anything is sent, and the assertion that it posts.
 */
#ifndef AG_BROWSER_H
#define AG_BROWSER_H

#include "tools/poppy-agent/documents.h"

struct agent;

/* What a browser is to join, and the page that it opens then. */
struct ag_joining {
	const struct ag_company *company;
	struct pf_str session;
	struct pf_str return_to;
};

/* Does the Company let browsers join, and may return_to be asked for: HTTPS on
 * organization.domain or below, no token in it? Fault set. */
PF_MUST enum pf_rc ag_browser_check(struct agent *ag,
    const struct ag_joining *j);
/* An assertion of this moment, for one POST; shown as sent. Fault set. */
PF_MUST enum pf_rc ag_browser_assert(struct agent *ag,
    const struct ag_joining *j, struct pf_str *assertion);

#endif
