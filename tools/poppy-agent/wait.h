/*
 * wait - Retry-After (protocol 4.3, "Rate limits"; RFC 9110, 10.2.3): waited
 * out when it is short, kept for later runs when it is long.
 */
#ifndef AG_WAIT_H
#define AG_WAIT_H

#include "core/base/str.h"

struct agent;
struct ag_reply;

/* How often one request has waited; begin with { 0 }. */
struct ag_patience {
	int waits;
};

/* Before sending: a hold of an earlier run is waited out, or PF_E_LIMIT with
 * the fault saying until when. */
PF_MUST enum pf_rc ag_wait_before(struct agent *ag, const char *method,
    struct pf_str url);
/*
 * After a reply. *again: it was 429 (or 503) with a Retry-After, the time has
 * passed, and the request may be sent anew (with fresh proofs). PF_E_LIMIT: the
 * time is too long; it is remembered. PF_E_UPSTREAM: 429 without Retry-After.
 */
PF_MUST enum pf_rc ag_wait_after(struct agent *ag, struct ag_patience *p,
    const char *method, struct pf_str url, const struct ag_reply *rp,
    bool *again);

#endif
