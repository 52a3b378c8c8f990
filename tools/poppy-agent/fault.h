/*
 * fault - what went wrong, told so that one can act on it: what was asked, what
 * came back, and which requirement that breaks.
 */
#ifndef AG_FAULT_H
#define AG_FAULT_H

#include <stdio.h>

#include "core/base/str.h"

struct ag_fault {
	char asked[512];	/* "POST https://...", or empty */
	char got[768];		/* may hold bytes of strangers: print escaped */
	const char *rule;	/* "R-3.1-3", "RFC 9449, 8", or NULL */
	bool shown;
};

/* Forget the last fault; the next one was met while asking this. */
void ag_fault_asked(struct ag_fault *f, const char *method, struct pf_str url);
/* Note a fault and return rc, to be returned on. rule is a constant or NULL. */
enum pf_rc ag_fault(struct ag_fault *f, enum pf_rc rc, const char *rule,
    const char *fmt, ...) PF_PRINTF(4, 5);
/* The requirement behind a rule in a few words, or NULL if it has none here. */
const char *ag_rule_text(const char *rule);

#endif
