/*
 * random - bytes nobody can guess, from getrandom(2).
 */
#ifndef PF_RANDOM_H
#define PF_RANDOM_H

#include "core/base/pf.h"

/* PF_E_BUG only if the system has no randomness; out is zeroed then. */
PF_MUST enum pf_rc pf_random(void *out, size_t n);

#endif
