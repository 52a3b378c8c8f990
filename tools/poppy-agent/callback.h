/*
 * callback - the agent's redirect_uri (4.5): what the User's browser brings
 * back goes to the sign-in that waits for it, through the state file.
 */
#ifndef AG_CALLBACK_H
#define AG_CALLBACK_H

#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/httpd.h"

/* Answer the browser; opt are those of "serve". Any thread. Returns the
 * status. */
int ag_callback(const struct agent *serving, const struct ag_ask *ask,
    struct pf_buf *out);

#endif
