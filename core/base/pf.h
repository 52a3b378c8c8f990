/*
 * pf - what every file of the project shares: results and a few macros.
 */
#ifndef PF_H
#define PF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Every function that can fail says with this whose fault it is. The protocol
 * error that goes out (invalid_grant, ...) is a value beside it: see
 * core/web/challenge.h.
 */
enum pf_rc {
	PF_OK = 0,
	PF_PARKED,	/* no error: the request waits, nobody may touch it */
	/* the client's fault */
	PF_E_INPUT,	/* malformed, too long, out of range */
	PF_E_AUTH,	/* who asks is not proved */
	PF_E_FORBID,	/* proved, and not allowed */
	PF_E_ABSENT,	/* no such thing */
	PF_E_CONFLICT,	/* the thing's state does not allow it */
	PF_E_LIMIT,	/* too much, too often */
	/* ours */
	PF_E_BUSY,	/* full; try again soon */
	PF_E_DB,	/* PostgreSQL can't be asked */
	PF_E_UPSTREAM,	/* another host did not answer as it must */
	PF_E_MEM,	/* no memory, or a cap of ours reached */
	PF_E_BUG	/* can't happen */
};

/* "ok", "input", "auth", ...: for logs and tests. Never NULL. */
const char *pf_rc_name(enum pf_rc rc);

#define PF_MUST		__attribute__((warn_unused_result))
#define PF_PRINTF(f, a)	__attribute__((format(printf, f, a)))
#define PF_COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define PF_UNUSED	__attribute__((unused))

#endif
