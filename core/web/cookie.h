/*
 * cookie - the Cookie header (RFC 6265, 4.2) and Set-Cookie.
 */
#ifndef PF_COOKIE_H
#define PF_COOKIE_H

#include "core/base/buf.h"

/* The cookie of an agent's browser that has joined a Session (section 5). */
#define PF_SESSION_COOKIE	"__Host-poppy"

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

#endif
