/*
 * pages_say - the pages that say why something can't be done, all in one table.
 */
#ifndef PF_PAGES_SAY_H
#define PF_PAGES_SAY_H

#include "core/poppy/pages.h"

enum pf_say {
	PF_SAY_BAD_CLIENT,	/* unknown, unreadable, not who it says */
	PF_SAY_NO_CLIENT,	/* its documents can't be had just now */
	PF_SAY_BLOCKED,
	PF_SAY_BAD_REDIRECT,
	PF_SAY_BAD_REQUEST,
	PF_SAY_ENDED,		/* the request: too old, or decided */
	PF_SAY_OTHER_ACCOUNT,
	PF_SAY_AGENT,		/* the browser of a Session */
	PF_SAY_PRIVILEGED,
	PF_SAY_DISABLED,
	PF_SAY_UNVERIFIED,
	PF_SAY_LIMIT,
	PF_SAY_BUSY,
	PF_SAY_STALE_FORM,	/* CSRF: no cookie, another login */
	PF_SAY_TICKET,		/* dead, or of another browser */
	PF_SAY_ABSENT,
	PF_SAY_METHOD,
	PF_SAY_TOO_LARGE,
	PF_SAY_FAULT,
	PF_SAY_SIGNED_OUT,
	PF_SAY_LEFT,		/* to come back as somebody else */
	PF_SAY_NOT_ME,		/* the shop's session is another's */
	PF_SAY_COUNT
};

int pf_say_status(enum pf_say what);
/*
 * Send it, with its status. next is where its link leads, PF_NOSTR for none,
 * and next_text a PF_T() of what the link says, or NULL.
 */
PF_MUST enum pf_rc pf_pages_say(struct pf_req *rq, const struct pf_pages *p,
    enum pf_say what, struct pf_str next, const char *next_text);
/* What to say of an account whose status in poppy_shop.customer is not ok. */
enum pf_say pf_say_of_status(struct pf_str status);

#endif
