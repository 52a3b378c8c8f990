/*
 * headless - a browser without a window joins the Session, and tells what page
 * it got to.
 */
#ifndef AG_HEADLESS_H
#define AG_HEADLESS_H

#include "tools/poppy-agent/browser.h"

struct agent;

/* Shows where it landed; *text is what can be read there, if asked for by
 * --text. PF_OK only if the browser joined and the page is no error. Fault
 * set. */
PF_MUST enum pf_rc ag_headless(struct agent *ag, const struct ag_joining *j,
    struct pf_str *text);

#endif
