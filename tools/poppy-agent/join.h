/*
 * join - a browser joins a Session (section 5) as one would without showing
 * pages: the form posted, the redirect followed with the cookie.
 */
#ifndef AG_JOIN_H
#define AG_JOIN_H

#include "tools/poppy-agent/browser.h"
#include "tools/poppy-agent/http.h"

/* A Set-Cookie field (RFC 6265, 5.2). */
struct ag_cookie {
	struct pf_str name, value;
	struct pf_str path, domain, same_site;	/* PF_NOSTR if not given */
	bool secure, http_only;
};

/* PF_E_INPUT: it is none. */
PF_MUST enum pf_rc ag_cookie_read(struct pf_str field, struct ag_cookie *out);
/* What section 5 wants of the cookie of a Session, or why it isn't so. */
const char *ag_cookie_fault(const struct ag_cookie *c);

/* The body of the POST. */
PF_MUST enum pf_rc ag_join_form(struct pf_arena *a, struct pf_str assertion,
    struct pf_str *body);
/* Is it what section 5 wants of a join that worked? *cookie is the Session's
 * then. Fault set. */
PF_MUST enum pf_rc ag_join_check(struct agent *ag, const struct ag_reply *rp,
    struct pf_str return_to, struct ag_cookie *cookie);
/* Join and open return_to; shown as sent and received. PF_OK if it joined and
 * any page came: what page is shown. Fault set. */
PF_MUST enum pf_rc ag_join(struct agent *ag, const struct ag_joining *j);

#endif
