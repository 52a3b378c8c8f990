/*
 * fresh - dates and ages in HTTP headers: how long a document is fresh (RFC
 * 9111, section 4.2) and how long to stay away (RFC 9110, 10.2.3).
 */
#ifndef AG_FRESH_H
#define AG_FRESH_H

#include "core/base/str.h"

struct ag_caching {
	struct pf_str cache_control, age, expires, date;
};

struct ag_fresh {
	bool store;		/* it may be kept at all */
	int64_t seconds;	/* fresh for so long; 0: ask before each use */
};

/* A private cache: s-maxage counts for nothing. No guessing without headers.
 * At most a day, whatever they say. */
struct ag_fresh ag_fresh(const struct ag_caching *c, int64_t now_at);

/* IMF-fixdate only ("Sun, 06 Nov 1994 08:49:37 GMT"). PF_E_INPUT. */
PF_MUST enum pf_rc ag_http_date(struct pf_str s, int64_t *at);

/* Seconds or a date, as seconds from now; a date of the past is 0. PF_E_ABSENT
 * when value is not given, PF_E_INPUT when it is neither. */
PF_MUST enum pf_rc ag_retry_after(struct pf_str value, int64_t now_at,
    int64_t *seconds);

#endif
