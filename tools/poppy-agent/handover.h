/*
 * handover - a page on this computer that is served once and hands a browser
 * what it posts to a Company.
 */
#ifndef AG_HANDOVER_H
#define AG_HANDOVER_H

#include "core/base/buf.h"

struct agent;
struct ag_joining;

/* The page of a form that posts assertion; nonce lets its script run. */
PF_MUST enum pf_rc ag_handover_page(struct pf_arena *a, struct pf_str action,
    struct pf_str assertion, struct pf_str nonce, struct pf_str *out);
/* What its Content-Security-Policy must say. A browser holds form-action
 * against redirects too, so it names the whole domain. */
PF_MUST enum pf_rc ag_handover_policy(struct pf_arena *a, struct pf_str domain,
    struct pf_str nonce, struct pf_str *out);

struct ag_handover {
	int fd;			/* listens on 127.0.0.1 */
	struct pf_str path;	/* nobody can guess it */
	struct pf_str url;
};
/* Fault set. */
PF_MUST enum pf_rc ag_handover_open(struct agent *ag, struct ag_handover *h);
/* Serve until the page was fetched, or the time is over (PF_E_ABSENT): the
 * assertion is made when it is asked for. Closes the socket. Fault set. */
PF_MUST enum pf_rc ag_handover_wait(struct agent *ag, struct ag_handover *h,
    const struct ag_joining *j, int seconds);

#endif
