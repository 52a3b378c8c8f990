/*
 * req - one request, as far as its environment counts.
 *
 * Only what is listed here is read from the web server: REQUEST_URI, method,
 * peer, content, and the named headers. PATH_INFO, SCRIPT_NAME and SERVER_NAME
 * decide nothing. A header that the web server passed twice under one name (a
 * dashed and an underscored spelling) and that matters for security is refused.
 */
#ifndef PF_REQ_H
#define PF_REQ_H

#include "core/web/resp.h"
#include "core/web/challenge.h"

enum pf_method {
	PF_GET, PF_HEAD, PF_POST, PF_PUT, PF_PATCH, PF_DELETE, PF_OPTIONS,
	PF_METHOD_OTHER
};

struct pf_db;
struct pf_route;
struct pf_serve;
struct pf_principal;
struct pf_wait;

#define PF_REQ_VARS	4

struct pf_req {
	struct pf_arena *arena;
	struct pf_db *db;		/* this worker's */
	struct pf_serve *serve;
	const void *app;		/* the program's own: settings */
	const struct pf_route *route;	/* once found */
	struct pf_principal *who;	/* once known: core/poppy/principal.h */

	enum pf_method method;
	struct pf_str method_name;
	struct pf_str uri;		/* REQUEST_URI, raw */
	struct pf_str path;		/* its path, raw, not yet checked */
	struct pf_str query;		/* PF_NOSTR without '?' */
	struct pf_str host;		/* POPPY_HOST if the include sets it,
					 * else Host; a key (pf_host_key);
					 * PF_NOSTR if it is no host */
	struct pf_str remote_addr;	/* as the web server says */
	struct pf_str remote_port;
	struct pf_str content_type;
	struct pf_str body;		/* "" if none */

	struct pf_str authorization;	/* HTTP_AUTHORIZATION, or
					 * REDIRECT_HTTP_AUTHORIZATION */
	struct pf_str dpop;
	struct pf_str cookie;
	struct pf_str origin;
	struct pf_str accept;
	struct pf_str accept_language;
	struct pf_str if_none_match;
	struct pf_str idempotency_key;
	struct pf_str last_event_id;
	struct pf_str forwarded_for;	/* X-Forwarded-For; counts only behind a
					 * proxy named in the settings */
	struct pf_str gate;		/* POPPY_GATE, set by the include */
	struct pf_str unique_id;	/* UNIQUE_ID of Apache */

	struct pf_str var[PF_REQ_VARS];	/* {..} of the route, raw */
	int64_t now_at;			/* when it was read; Unix seconds */
	int64_t began_us;		/* pf_mono_us() */
	uint64_t db_trips;		/* pf_db_trips() before this run */

	struct pf_resp resp;
	enum pf_err err;		/* pf_fail() */
	struct pf_str err_text;
	struct pf_str err_scope;
	int retry_after;
	const char *scheme;		/* of challenges: "DPoP" or "Bearer" */
	struct pf_str resource_metadata;	/* RFC 9728: a URL, of Bearer
					 * challenges */
	bool token_endpoint;		/* proof errors are 400 here */
	bool judged;			/* refused by the database, which has
					 * written it down */

	struct pf_wait *wait;		/* the runtime's own */
	unsigned runs;			/* 1 the first time, 2 after a park */
	void *kept;			/* a handler's own, over reruns */
};

#endif
