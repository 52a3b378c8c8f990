/*
 * why - refusing with a reason, within core/jose.
 */
#ifndef PF_WHY_H
#define PF_WHY_H

#include "core/base/pf.h"

/* reason is a constant, or text in the arena of the request. */
static inline enum pf_rc
pf_refuse(const char **why, const char *reason)
{
	*why = reason;
	return PF_E_INPUT;
}

#endif
