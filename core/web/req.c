#include "config.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/web/serve_int.h"
#include "core/web/url.h"

/* What is read that has no field of its own. */
struct extra {
	struct pf_str host, poppy_host, redirected;
};

#define FIELD(f)	offsetof(struct pf_req, f), false
#define EXTRA(f)	offsetof(struct extra, f), true

/*
 * Each of these decides something, so each may stand there once only: a second
 * one is a header spelled with underscores (D_PoP, X_Forwarded_For) that the
 * web server maps to the same name as the real one.
 */
static const struct {
	struct pf_str name;
	size_t at;
	bool extra;
} vars[] = {
	{ PF_LIT_INIT("REQUEST_METHOD"), FIELD(method_name) },
	{ PF_LIT_INIT("REQUEST_URI"), FIELD(uri) },
	{ PF_LIT_INIT("REMOTE_ADDR"), FIELD(remote_addr) },
	{ PF_LIT_INIT("REMOTE_PORT"), FIELD(remote_port) },
	{ PF_LIT_INIT("CONTENT_TYPE"), FIELD(content_type) },
	{ PF_LIT_INIT("HTTP_AUTHORIZATION"), FIELD(authorization) },
	{ PF_LIT_INIT("REDIRECT_HTTP_AUTHORIZATION"), EXTRA(redirected) },
	{ PF_LIT_INIT("HTTP_DPOP"), FIELD(dpop) },
	{ PF_LIT_INIT("HTTP_HOST"), EXTRA(host) },
	{ PF_LIT_INIT("POPPY_HOST"), EXTRA(poppy_host) },
	{ PF_LIT_INIT("POPPY_GATE"), FIELD(gate) },
	{ PF_LIT_INIT("UNIQUE_ID"), FIELD(unique_id) },
	{ PF_LIT_INIT("HTTP_COOKIE"), FIELD(cookie) },
	{ PF_LIT_INIT("HTTP_ORIGIN"), FIELD(origin) },
	{ PF_LIT_INIT("HTTP_ACCEPT"), FIELD(accept) },
	{ PF_LIT_INIT("HTTP_ACCEPT_LANGUAGE"), FIELD(accept_language) },
	{ PF_LIT_INIT("HTTP_IF_NONE_MATCH"), FIELD(if_none_match) },
	{ PF_LIT_INIT("HTTP_IDEMPOTENCY_KEY"), FIELD(idempotency_key) },
	{ PF_LIT_INIT("HTTP_LAST_EVENT_ID"), FIELD(last_event_id) },
	{ PF_LIT_INIT("HTTP_X_FORWARDED_FOR"), FIELD(forwarded_for) },
};

static const struct {
	struct pf_str name;
	enum pf_method method;
} methods[] = {
	{ PF_LIT_INIT("GET"), PF_GET },
	{ PF_LIT_INIT("HEAD"), PF_HEAD },
	{ PF_LIT_INIT("POST"), PF_POST },
	{ PF_LIT_INIT("PUT"), PF_PUT },
	{ PF_LIT_INIT("PATCH"), PF_PATCH },
	{ PF_LIT_INIT("DELETE"), PF_DELETE },
	{ PF_LIT_INIT("OPTIONS"), PF_OPTIONS },
};

static struct pf_str *
field(struct pf_req *rq, struct extra *x, size_t i)
{
	char *base = vars[i].extra ? (char *)x : (char *)rq;

	return (struct pf_str *)(void *)(base + vars[i].at);
}

static size_t
var_index(struct pf_str name)
{
	size_t i;

	for (i = 0; i < PF_COUNT(vars); i++)
		if (name.n == vars[i].name.n &&
		    memcmp(name.p, vars[i].name.p, name.n) == 0)
			break;
	return i;
}

/* Point the fields at their values in libfcgi's memory. */
static enum pf_rc
find(struct pf_req *rq, struct extra *x, char **envp)
{
	struct pf_str all, name, *to;
	size_t i;

	for (; *envp != NULL; envp++) {
		all = pf_str(*envp);
		name = pf_str_head(all, pf_str_find(all, '='));
		if (name.n == all.n || (i = var_index(name)) == PF_COUNT(vars))
			continue;
		to = field(rq, x, i);
		if (pf_str_given(*to))
			return pf_fail(rq, PF_INVALID_REQUEST,
			    "a header came twice, spelled with - and _");
		*to = pf_str_from(all, name.n + 1);
	}
	return PF_OK;
}

/* Move all values to the arena, in one piece; each gets a NUL behind it. */
static enum pf_rc
copy(struct pf_req *rq, struct extra *x)
{
	struct pf_str *v;
	size_t n = 0;
	char *to;

	for (size_t i = 0; i < PF_COUNT(vars); i++)
		n += field(rq, x, i)->n + 1;
	if ((to = pf_arena_alloc(rq->arena, n)) == NULL)
		return PF_E_MEM;
	for (size_t i = 0; i < PF_COUNT(vars); i++) {
		v = field(rq, x, i);
		if (!pf_str_given(*v))
			continue;
		memcpy(to, v->p, v->n);
		v->p = to;
		to += v->n + 1;
	}
	return PF_OK;
}

static void
forget(struct pf_req *rq, struct extra *x)
{
	for (size_t i = 0; i < PF_COUNT(vars); i++)
		*field(rq, x, i) = PF_NOSTR;
}

static enum pf_method
method_of(struct pf_str name)
{
	for (size_t i = 0; i < PF_COUNT(methods); i++)
		if (pf_str_eq(name, methods[i].name))
			return methods[i].method;
	return PF_METHOD_OTHER;
}

static void
split_uri(struct pf_req *rq)
{
	size_t n = pf_str_find(rq->uri, '?');

	rq->path = pf_str_head(rq->uri, n);
	if (n < rq->uri.n)
		rq->query = pf_str_from(rq->uri, n + 1);
}

enum pf_rc
pf_req_read(struct pf_req *rq, char **envp)
{
	struct extra x = { PF_NOSTR, PF_NOSTR, PF_NOSTR };
	enum pf_rc rc;

	if ((rc = find(rq, &x, envp)) != PF_OK ||
	    (rc = copy(rq, &x)) != PF_OK) {
		/* Nothing may point into memory that is about to go. */
		forget(rq, &x);
		return rc;
	}
	/* A rewrite in front leaves an empty one and the real one renamed. */
	if (rq->authorization.n == 0 && pf_str_given(x.redirected))
		rq->authorization = x.redirected;
	if (pf_host_key(rq->arena, pf_str_given(x.poppy_host) ? x.poppy_host :
	    x.host, &rq->host) != PF_OK)
		rq->host = PF_NOSTR;
	rq->method = method_of(rq->method_name);
	split_uri(rq);
	if (!pf_str_given(rq->uri) || !pf_str_given(rq->method_name))
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "REQUEST_URI and REQUEST_METHOD are missing");
	return PF_OK;
}

enum pf_rc
pf_req_check_length(struct pf_req *rq, struct pf_str length)
{
	int64_t n;

	if (length.n == 0)
		return PF_OK;
	if (pf_str_int(length, 0, INT64_MAX, &n) != PF_OK ||
	    (uint64_t)n < rq->body.n)
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "the body is not as long as Content-Length says");
	/* The web server counts what a client sends, so it is not the client's
	 * fault: mod_proxy asks another process once more when the first one
	 * dies, and has the body no longer. */
	if ((uint64_t)n > rq->body.n)
		return pf_fail_retry(rq, PF_UNAVAILABLE, 1,
		    "the body was lost on its way here: send it again");
	return PF_OK;
}
