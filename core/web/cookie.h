/*
 * cookie - the Cookie header (RFC 6265, 4.2) and Set-Cookie.
 */
#ifndef PF_COOKIE_H
#define PF_COOKIE_H

#include "core/base/buf.h"

/*
 * The value of the cookie of that name (exact, with case). PF_E_ABSENT: none;
 * PF_E_CONFLICT: more than one with different values, so nobody can shadow ours
 * from a sibling host; PF_E_INPUT: a value that no cookie may have, such as a
 * quoted one.
 */
PF_MUST enum pf_rc pf_cookie_get(struct pf_str header, const char *name,
    struct pf_str *out);

/*
 * Does the header name it anywhere, with or without a value? For what must be
 * shut to it: some servers join two Cookie fields by a comma (RFC 9110, 5.3),
 * behind which pf_cookie_get() sees no other cookie.
 */
bool pf_cookie_named(struct pf_str header, const char *name);

/* A cookie that we set: for all paths, from https alone, out of reach of
 * scripts, and not sent with what other sites load (SameSite=Lax). */
struct pf_cookie {
	struct pf_str name, value;
	struct pf_str domain;	/* "" or PF_NOSTR: host-only */
	int64_t max_age;	/* seconds, at least 1 */
};

/*
 * The value of its Set-Cookie (RFC 6265, 4.1). PF_E_BUG if a browser would
 * refuse it or read something else: a name or value of other bytes than those
 * of a cookie, a domain with what no host name has, __Host- with a domain, or
 * no time to live.
 */
PF_MUST enum pf_rc pf_cookie_write(struct pf_buf *b,
    const struct pf_cookie *c);

#endif
