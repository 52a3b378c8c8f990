/*
 * serve - the listening socket of "serve".
 */
#ifndef AG_SERVE_H
#define AG_SERVE_H

#include "core/base/pf.h"

struct agent;

/* Listen where --listen says; non-blocking. Fault set. */
PF_MUST enum pf_rc ag_listen(struct agent *ag, int *fd);

#endif
