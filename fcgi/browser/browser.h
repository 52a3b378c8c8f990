/*
 * browser - what the files of poppy-browser share.
 */
#ifndef BROWSER_H
#define BROWSER_H

#include "core/poppy/app.h"
#include "core/poppy/pages.h"
#include "core/web/route.h"

struct browser {
	const struct pf_pages *pages;
	struct pf_mount mount;
};

static inline const struct browser *
browser_of(const struct pf_req *rq)
{
	return pf_app(rq)->own;
}

/* The POST by which a browser joins a Session (section 5). PF_OK, PF_PARKED, or
 * an error, noted. */
PF_MUST enum pf_rc browser_join(struct pf_req *rq);

#endif
