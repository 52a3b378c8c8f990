/*
 * scope - lists of scopes as OAuth writes them (RFC 6749, 3.3): tokens of
 * visible ASCII without '"' and '\', one space between them.
 */
#ifndef PF_SCOPE_H
#define PF_SCOPE_H

#include "core/base/buf.h"
#include "core/base/conf.h"

/* Is this one scope token? */
bool pf_scope_token(struct pf_str s);
/* Is one among the scopes of the list? */
bool pf_scope_has(struct pf_str list, struct pf_str one);
/* Are all of wanted among the scopes of the list? */
bool pf_scope_has_all(struct pf_str list, const struct pf_strs *wanted);
/* Add one to the list in b, unless it is there. */
void pf_scope_add(struct pf_buf *b, struct pf_str one);
/*
 * The scope parameter of a sign-in: each of them once, in its order, or
 * PF_E_INPUT if it is empty, is written otherwise than above, or names one that
 * is not among allowed (section 4.4).
 */
PF_MUST enum pf_rc pf_scope_wanted(struct pf_arena *a, struct pf_str text,
    const struct pf_strs *allowed, struct pf_str *out);
/* Those of the list that stand in to as well; "" if none does. .p is NULL
 * without memory. */
struct pf_str pf_scope_cut(struct pf_arena *a, struct pf_str list,
    struct pf_str to);
/* The list written with single spaces, in the arena. .p is NULL without
 * memory. */
struct pf_str pf_scope_join(struct pf_arena *a, const struct pf_strs *scopes);

#endif
