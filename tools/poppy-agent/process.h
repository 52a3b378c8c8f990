/*
 * process - programs that the agent starts, and a folder for them that goes
 * with them. None outlives the agent.
 */
#ifndef AG_PROCESS_H
#define AG_PROCESS_H

#include <sys/types.h>

#include "core/base/pf.h"

struct agent;

struct ag_process {
	const char *const *argv;	/* argv[0] is looked for in PATH */
	const char *home;		/* its HOME, and its TMPDIR */
	int fd3, fd4;			/* its 3 and 4, or -1 */
};

/* From here on until _end() SIGINT, SIGTERM and SIGHUP only make
 * ag_process_stopped() true, and wake who waits by ag_process_poll(). */
void ag_process_begin(void);
void ag_process_end(void);
bool ag_process_stopped(void);
/* Until fd can be read. 1: it can; 0: time over, or stopped. */
int ag_process_poll(int fd, int64_t until_ms);

/* In a process group of its own; -1 if it can't be. */
pid_t ag_process_start(const struct ag_process *p);
/* Start, and wait for its end. True if it went well. */
bool ag_process_run(const struct ag_process *p);
/* End a process that is about to end, its group and what they left behind,
 * after patience_ms at the latest. */
void ag_process_reap(pid_t pid, int patience_ms);

/* A fresh folder that nobody else enters; in buf. */
bool ag_folder_make(char *buf, size_t size);
void ag_folder_remove(const char *name);

#endif
