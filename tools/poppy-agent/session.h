/*
 * session - the two steps that get a Session Token, told as steps.
 */
#ifndef AG_SESSION_H
#define AG_SESSION_H

#include "tools/poppy-agent/documents.h"

struct agent;

PF_MUST enum pf_rc ag_session_start(struct agent *ag,
    const struct ag_company *c, struct pf_str *id);
/* PF_E_CONFLICT: the Session has ended, start a new one. */
PF_MUST enum pf_rc ag_session_renew(struct agent *ag,
    const struct ag_company *c, struct pf_str *id);

#endif
