/*
 * wwwauth - reading WWW-Authenticate (RFC 9110, 11.6.1) as far as tokens need.
 */
#ifndef AG_WWWAUTH_H
#define AG_WWWAUTH_H

#include "core/base/arena.h"

struct ag_challenge {
	struct pf_str error;	/* PF_NOSTR where it isn't given */
	struct pf_str description;
	struct pf_str scope;
	struct pf_str algs;
};

/*
 * Look for a challenge of this scheme (without case) in one header value, which
 * may hold several. PF_E_ABSENT: none of it; PF_E_INPUT: the header can't be
 * read. Values are unquoted, in the arena.
 */
PF_MUST enum pf_rc ag_challenge_parse(struct pf_arena *a, struct pf_str header,
    const char *scheme, struct ag_challenge *out);

#endif
