/*
 * label - what a stranger calls itself, made fit for one line of a page or a
 * terminal. Still to be escaped by who shows it.
 */
#ifndef PF_LABEL_H
#define PF_LABEL_H

#include "core/base/arena.h"

#define PF_LABEL_CHARS	80	/* characters, at most four bytes each */

/*
 * Without control, bidirectional, zero-width and other invisible characters, so
 * that it can't run out of its place, turn its neighbours round, or look like
 * another name while it isn't; runs of white space are one space, runs of more
 * than three combining marks are cut, and so is what is longer than
 * PF_LABEL_CHARS. PF_NOSTR if nothing visible is left, or for what is not
 * UTF-8. PF_E_MEM.
 */
PF_MUST enum pf_rc pf_label(struct pf_arena *a, struct pf_str raw,
    struct pf_str *out);

#endif
