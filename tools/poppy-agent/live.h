/*
 * live - the Session that a request goes with: started, renewed or taken as it
 * is.
 */
#ifndef AG_LIVE_H
#define AG_LIVE_H

#include "tools/poppy-agent/documents.h"

struct agent;
struct ag_session;

/* The Session *session of the state (PF_NOSTR: the newest), renewed if its
 * token is about to expire, started if there is none. *session is its id. Fault
 * set. */
PF_MUST enum pf_rc ag_live_session(struct agent *ag,
    const struct ag_company *c, struct pf_str *session,
    struct ag_session **out);
/* Renew it, with its Account Token if it has one; or start anew where it has
 * ended (4.2). Fault set. */
PF_MUST enum pf_rc ag_live_renew(struct agent *ag, const struct ag_company *c,
    struct pf_str *session);

#endif
