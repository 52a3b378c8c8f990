/*
 * doctor - an agent of our own visits the shop. Only for doctor*.c.
 */
#ifndef PF_CTL_DOCTOR_H
#define PF_CTL_DOCTOR_H

#include "tools/poppyctl/ctl.h"

/*
 * Run poppy-agent (argv[0], NULL at its end) and give each line that it prints
 * to on_line, without its end; root becomes Unix user poppy_auth for it, where
 * there is one. Signals that would end us end it, so that what was published
 * is taken away. Its exit status; -1 with *why if it could not be run or was
 * killed.
 */
int doctor_run(const char *const argv[],
    void (*on_line)(void *ctx, struct pf_str line), void *ctx,
    const char **why);
/* A folder of its own for the agent's state, and the end of it. NULL: errno. */
const char *doctor_folder(struct pf_arena *a);
void doctor_folder_remove(const char *folder);

/* What poppy-agent check says, for people, as JSON, or as it is. */
struct doctor_show {
	const struct ctl *c;
	struct pf_jw *json;	/* an array is open; NULL: lines */
	struct pf_str domain;	/* that is visited now */
	unsigned points, failed;	/* of all runs */
	bool planned;		/* the run came to its end */
	bool open;		/* details of the last point may follow */
};
void doctor_line(void *show, struct pf_str line);

#endif
