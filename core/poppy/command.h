/*
 * command - run a program of the operator's, without a shell.
 */
#ifndef PF_COMMAND_H
#define PF_COMMAND_H

#include "core/base/str.h"

/*
 * Run argv[0], a path, with input on its standard input, and wait for it. It
 * has a process group of its own, which is killed after timeout_ms; an
 * environment of PATH and LANG alone; no descriptors of ours; what it writes
 * goes to /dev/null. Blocks: not for workers.
 *
 * PF_OK: it ended with status 0. PF_E_UPSTREAM with *why, a constant, and
 * *status (-1 if it has none): anything else.
 */
PF_MUST enum pf_rc pf_command_run(char *const argv[], struct pf_str input,
    int timeout_ms, int *status, const char **why);

#endif
