/*
 * pages - what "serve" publishes, made from the state file and made again when
 * that has changed, so that rotated keys appear without a restart.
 */
#ifndef AG_PAGES_H
#define AG_PAGES_H

#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/httpd.h"

#define AG_PAGES	2

struct ag_pages;

/* c and opt must live as long as the pages. PF_E_MEM. */
PF_MUST enum pf_rc ag_pages_new(const struct ag_options *opt,
    const struct ag_client *c, struct ag_pages **out);
void ag_pages_free(struct ag_pages *p);	/* NULL is fine */

/* The pages as they are now, copied into the arena. Any thread. */
PF_MUST enum pf_rc ag_pages_copy(struct ag_pages *p, struct pf_arena *a,
    struct ag_page page[AG_PAGES]);

#endif
