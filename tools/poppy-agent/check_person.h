/*
 * person - a test customer at the Company's pages, without a browser: cookies,
 * redirects and forms. Only for check*.c.
 */
#ifndef AG_CHECK_PERSON_H
#define AG_CHECK_PERSON_H

#include "tools/poppy-agent/check.h"
#include "tools/poppy-agent/html.h"

#define CK_COOKIES_MAX	8

struct ck_person {
	struct ck *ck;
	struct { struct pf_str name, value; } cookie[CK_COOKIES_MAX];
	size_t ncookies;
	struct pf_str url;		/* where the last page is */
	struct ag_reply page;
	struct pf_str away;		/* a redirect that leads elsewhere, or
					 * PF_NOSTR; it is not followed */
};

/* Open a page; redirects that stay with its origin are followed. Fault set. */
PF_MUST enum pf_rc ck_person_open(struct ck_person *p, struct pf_str url);
/* Log in with the customer of --login, if the page asks for it. PF_E_ABSENT,
 * fault set, if the page is neither that nor one that asks for a decision. */
PF_MUST enum pf_rc ck_person_login(struct ck_person *p);
/* Decide on the page that asks: approve all scopes but the first "without" of
 * them, or decline. Fault set. */
PF_MUST enum pf_rc ck_person_decide(struct ck_person *p, bool approve,
    size_t without);

#endif
