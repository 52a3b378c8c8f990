/*
 * chromium - a browser without a window that the agent controls: a fresh
 * profile, gone with it.
 */
#ifndef AG_CHROMIUM_H
#define AG_CHROMIUM_H

#include <limits.h>
#include <sys/types.h>

#include "tools/poppy-agent/devtools.h"

struct agent;

struct ag_chromium {
	pid_t pid;
	char home[PATH_MAX];	/* the profile is in it */
	struct ag_devtools tools;
};

/* Start it, trusting the authorities of --ca besides those that it knows. Fault
 * set. Whatever this returns, ag_chromium_stop() follows. */
PF_MUST enum pf_rc ag_chromium_start(struct agent *ag, struct ag_chromium *c);
void ag_chromium_stop(struct ag_chromium *c);

#endif
