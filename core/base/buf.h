/*
 * buf - text that is being built, in an arena, with a cap.
 *
 * A failure sticks: callers append without looking and ask once, at the end.
 * An append that would pass the cap adds nothing at all.
 */
#ifndef PF_BUF_H
#define PF_BUF_H

#include <stdarg.h>

#include "core/base/arena.h"

struct pf_buf {
	struct pf_arena *arena;		/* NULL: p never moves */
	char *p;
	size_t n;
	size_t size;
	size_t max;
	bool failed;
};

void pf_buf_init(struct pf_buf *b, struct pf_arena *a, size_t max);
/* In memory of the caller, for where no arena is. */
void pf_buf_fixed(struct pf_buf *b, char *p, size_t size);
void pf_buf_add(struct pf_buf *b, struct pf_str s);
void pf_buf_addz(struct pf_buf *b, const char *z);
void pf_buf_char(struct pf_buf *b, char c);
void pf_buf_int(struct pf_buf *b, int64_t v);
void pf_buf_b64url(struct pf_buf *b, const void *p, size_t n);
void pf_buf_hex(struct pf_buf *b, const void *p, size_t n);
void pf_buf_fmt(struct pf_buf *b, const char *fmt, ...) PF_PRINTF(2, 3);

/* What has been built so far; valid until the next append. */
struct pf_str pf_buf_str(const struct pf_buf *b);
/* PF_OK and the text, or PF_E_MEM if any append failed. */
PF_MUST enum pf_rc pf_buf_done(const struct pf_buf *b, struct pf_str *out);

#endif
