/*
 * kept - what a request keeps over its reruns, under a name for each.
 *
 * A handler that waits runs again from its start. What it must find again then
 * (the answer it waited for, the row it has inserted) it keeps here; rq->kept
 * is the list, and nothing else uses it.
 */
#ifndef PF_KEPT_H
#define PF_KEPT_H

#include "core/web/req.h"

/* What was kept under that name (compared by its address); NULL if nothing. */
void *pf_kept_find(const struct pf_req *rq, const char *name);
/* Keep it till the request ends. PF_E_MEM. */
PF_MUST enum pf_rc pf_kept_add(struct pf_req *rq, const char *name,
    void *thing);

#endif
