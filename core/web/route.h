/*
 * route - what each endpoint needs is data, checked in one place.
 *
 * A row says method, path, what the request must bring, which body it takes and
 * how big, and who answers. No handler repeats what its row states. Order of
 * the checks: path (400), row (404, or 405 with Allow), size (413), content
 * type (415), then the needs in the order of enum pf_need by the program's own
 * hook, then the handler. HEAD is served by GET's row.
 */
#ifndef PF_ROUTE_H
#define PF_ROUTE_H

#include "core/web/req.h"

enum pf_body {
	PF_NONE,		/* a body is ignored */
	PF_FORM,		/* application/x-www-form-urlencoded */
	PF_JSON			/* application/json */
};

/* Bits; what they mean is the business of core/poppy/principal.h. */
enum pf_need {
	PF_NEEDS_NOTHING = 0,
	PF_NEEDS_PROOF = 1 << 0,	/* Session Token and DPoP Proof */
	PF_NEEDS_BEARER = 1 << 1,	/* Session Token of this MCP url */
	PF_NEEDS_CLIENT = 1 << 2,	/* client assertion in the form */
	PF_NEEDS_TOKEN_PROOF = 1 << 3,	/* DPoP Proof of a token request */
	PF_NEEDS_LOGIN = 1 << 4,	/* poppy-auth's login session */
	PF_NEEDS_CSRF = 1 << 5,
	PF_NO_SESSION_COOKIE = 1 << 6,	/* 403 to an agent's browser */
	PF_OPEN = 1 << 7		/* for everybody: counted by address */
};

struct pf_route {
	enum pf_method method;
	/*
	 * Under the mount; "" is the mount itself. A segment {name} matches one
	 * non-empty segment and fills rq->var[] in order; a last segment
	 * {name...} matches the whole rest.
	 */
	const char *path;
	unsigned needs;			/* of enum pf_need */
	enum pf_body body;
	size_t max_body;		/* bytes; 0: 64 KiB */
	enum pf_rc (*handle)(struct pf_req *rq);
};

struct pf_routes {
	const struct pf_route *v;
	size_t n;
};
/* A group of rows under one mount path, such as "/poppy/oauth". */
struct pf_mount {
	struct pf_str path;		/* no slash at its end; "": root */
	const struct pf_routes *routes;
};

/*
 * Find the row, check it, run needs(rq, bits) and the handler. Any error is
 * left to the caller, who replies with pf_fail_reply(). Longer mounts win.
 */
PF_MUST enum pf_rc pf_route_run(struct pf_req *rq,
    const struct pf_mount *mounts, size_t nmounts,
    enum pf_rc (*needs)(struct pf_req *rq, unsigned bits));

#endif
