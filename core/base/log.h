/*
 * log - one line of JSON on standard error for each thing worth telling.
 *
 *	{"at":"2026-11-30T19:40:00.123Z","level":"info","program":"poppy-auth",
 *	 "pid":7,"event":"request","status":200,...}
 *
 * Never a token, proof, password, body or User ID: secrets go in as
 * PF_F_SECRET, which shows {"bytes":43} alone. Fields are cut at 512 bytes;
 * control characters are escaped, so that a line is always one line. Any
 * thread; one write() each, of at most 4096 bytes; fields past that are counted
 * as "left_out".
 */
#ifndef PF_LOG_H
#define PF_LOG_H

#include "core/base/str.h"

enum pf_level { PF_LOG_ERROR, PF_LOG_WARN, PF_LOG_INFO, PF_LOG_DEBUG };

struct pf_field {
	const char *name;
	enum { PF_F_KIND_STR, PF_F_KIND_INT, PF_F_KIND_SECRET } kind;
	struct pf_str s;
	int64_t i;
};

#define PF_F_STR(k, v)	  { (k), PF_F_KIND_STR, (v), 0 }
#define PF_F_Z(k, v)	  { (k), PF_F_KIND_STR, pf_str(v), 0 }
#define PF_F_INT(k, v)	  { (k), PF_F_KIND_INT, { NULL, 0 }, (int64_t)(v) }
#define PF_F_SECRET(k, v) { (k), PF_F_KIND_SECRET, (v), 0 }

/* At start, before other threads. program is kept, not copied. Lines less
 * urgent than level are dropped. */
void pf_log_init(const char *program, enum pf_level level);
void pf_log_level(enum pf_level level);
PF_MUST enum pf_rc pf_log_level_parse(struct pf_str s, enum pf_level *out);
bool pf_log_wants(enum pf_level level);
void pf_log_fields(enum pf_level level, const char *event,
    const struct pf_field *f, size_t n);

/* At least one field; without any: pf_log_fields(level, event, NULL, 0).
 * PF_LOG(PF_LOG_WARN, "fetch", PF_F_STR("url", url), PF_F_INT("status", n)); */
#define PF_LOG(level, event, ...)					\
	do {								\
		if (pf_log_wants(level)) {				\
			const struct pf_field pf_log_f_[] = {		\
				__VA_ARGS__				\
			};						\
			pf_log_fields(level, event, pf_log_f_,		\
			    PF_COUNT(pf_log_f_));			\
		}							\
	} while (0)

#endif
