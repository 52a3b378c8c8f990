/*
 * guard - poppy-guard: which rule of the settings a request of the shop falls
 * under.
 */
#ifndef GUARD_H
#define GUARD_H

#include "core/poppy/app.h"

enum guard_match {
	GUARD_OUTSIDE,		/* no prefix covers the path */
	GUARD_NO_RULE,		/* a prefix does, none of its rules */
	GUARD_NO_METHOD,	/* rules name the path, none the method */
	GUARD_RULE
};

/*
 * The rule for a path that was decoded once, and a method, on a host (NULL:
 * none of ours). The longest prefix wins, then an MCP server's, then the first
 * rule. *rule is set for GUARD_RULE; for GUARD_NO_METHOD
 * *guarded is, so that the methods can be told.
 */
enum guard_match guard_find(const struct pf_settings *s,
    const struct pf_host *host, struct pf_str path, struct pf_str method,
    const struct pf_guarded **guarded, const struct pf_rule **rule);

/* The methods that rules allow for a path, "GET, POST", for Allow. */
void guard_methods(struct pf_buf *b, const struct pf_guarded *guarded,
    struct pf_str path);

#endif
