/*
 * openapi - finding calls in an OpenAPI 3.0 or 3.1 description that can be made
 * without knowing the API: GET, with every required parameter given by an
 * example, a default or an enum of the description itself.
 */
#ifndef AG_OPENAPI_H
#define AG_OPENAPI_H

#include "core/base/json.h"
#include "tools/poppy-agent/fault.h"

#define AG_OPERATIONS_MAX	8

struct ag_operation {
	struct pf_str url;	/* complete, with query */
	struct pf_str summary;	/* or description, or PF_NOSTR */
	bool scoped;		/* its security names scopes */
};

struct ag_openapi {
	struct pf_str title;
	struct pf_str base;	/* servers[0].url, absolute, without / */
	struct ag_operation op[AG_OPERATIONS_MAX];
	size_t n;		/* those that need no scope come first */
	size_t skipped;		/* GET operations that can't be called so */
};

/* at is where the document was found: relative server URLs start there.
 * PF_E_UPSTREAM, fault set: not OpenAPI 3.0 or 3.1, or no usable server. */
PF_MUST enum pf_rc ag_openapi_read(struct pf_arena *a,
    const struct pf_json *doc, struct pf_str at, struct ag_openapi *out,
    struct ag_fault *f);

#endif
