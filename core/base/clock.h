/*
 * clock - the time. Names that end in _at are Unix seconds, in _ms
 * milliseconds.
 */
#ifndef PF_CLOCK_H
#define PF_CLOCK_H

#include "core/base/buf.h"

int64_t pf_now_at(void);	/* wall clock, Unix seconds */
int64_t pf_now_ms(void);	/* wall clock, Unix milliseconds */
int64_t pf_mono_ms(void);	/* never goes back; for deadlines */
int64_t pf_mono_us(void);
/* RFC 3339 in UTC, "2026-11-30T19:40:00Z". Before year 0 and after year 9999
 * there is no such text: the buffer fails. */
void pf_buf_rfc3339(struct pf_buf *b, int64_t at);
/* From milliseconds, "2026-11-30T19:40:00.123Z". */
void pf_buf_rfc3339_ms(struct pf_buf *b, int64_t ms);

#endif
