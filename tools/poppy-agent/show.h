/*
 * show - steps as they are told to people (colour on a terminal only) or, with
 * --json, as one JSON object a step.
 *
 * What came from the network is escaped before it reaches a terminal; secrets
 * are shortened here and nowhere else.
 */
#ifndef AG_SHOW_H
#define AG_SHOW_H

#include <stdio.h>

#include "core/base/buf.h"
#include "tools/poppy-agent/fault.h"

enum ag_line_kind {
	AG_LINE_REQUEST,	/* name: method, value: URL */
	AG_LINE_SENT,		/* a header, parameter or claim of it */
	AG_LINE_STATUS,		/* what came back */
	AG_LINE_RECEIVED,
	AG_LINE_FACT,		/* what the agent makes of it */
	AG_LINE_NOTE		/* worth a word, no failure */
};

struct ag_line {
	struct ag_line *next;
	enum ag_line_kind kind;
	struct pf_str name, value;
};

struct ag_show {
	FILE *out;		/* steps */
	FILE *faults;		/* faults, unless json */
	bool json, colour, verbose;
	bool numbered;		/* visit counts its steps */
	int number;
	struct pf_arena *arena;
	/* the step that is being told; name is NULL between steps */
	const char *name, *title;
	struct ag_line *first, *last;
	const char *skipped;	/* why the step was not done */
	bool aside;		/* told only if it fails, or by --verbose */
};

/* name is for --json, title for people; both are kept, not copied. */
void ag_step_begin(struct ag_show *sh, const char *name, const char *title);
void ag_show_request(struct ag_show *sh, const char *method, struct pf_str url);
void ag_show_sent(struct ag_show *sh, const char *name, struct pf_str value);
void ag_show_sent_secret(struct ag_show *sh, const char *name,
    struct pf_str value);
void ag_show_status(struct ag_show *sh, int status, const char *how);
void ag_show_received(struct ag_show *sh, struct pf_str name,
    struct pf_str value);
void ag_show_received_secret(struct ag_show *sh, struct pf_str name,
    struct pf_str value);
void ag_show_fact(struct ag_show *sh, const char *name, struct pf_str value);
void ag_show_fact_int(struct ag_show *sh, const char *name, int64_t value);
void ag_show_note(struct ag_show *sh, const char *fmt, ...) PF_PRINTF(2, 3);
/* At once, on standard error: the agent waits, a server is ready. */
void ag_show_now(const struct ag_show *sh, const char *fmt, ...)
    PF_PRINTF(2, 3);
/* Print the step; a rc that is not PF_OK prints the fault. Returns rc. */
enum pf_rc ag_step_end(struct ag_show *sh, enum pf_rc rc, struct ag_fault *f);
/* A fault outside any step. */
void ag_show_fault(const struct ag_show *sh, struct ag_fault *f);

/* "eyJhbG... (612 characters)"; of a text under 20 bytes only the length. */
void ag_shorten(struct pf_buf *b, struct pf_str secret);
/* Text as a terminal may see it: control characters, bidirectional overrides
 * and bytes that are not UTF-8 as \xNN; newline and tab stay if multiline. */
void ag_escape(struct pf_buf *b, struct pf_str s, bool multiline);

#endif
