/*
 * route - see route.h.
 */
#include "core/web/route.h"
#include "core/web/url.h"

#define DEFAULT_MAX_BODY	(64u << 10)

static const char *const method_names[] = {
	[PF_GET] = "GET", [PF_HEAD] = "HEAD", [PF_POST] = "POST",
	[PF_PUT] = "PUT", [PF_PATCH] = "PATCH", [PF_DELETE] = "DELETE",
	[PF_OPTIONS] = "OPTIONS",
};

struct match {
	const struct pf_route *row;
	struct pf_str var[PF_REQ_VARS];
	unsigned allowed;		/* 1 << enum pf_method */
};

static bool
is_param(struct pf_str seg)
{
	return seg.n > 2 && seg.p[0] == '{' && seg.p[seg.n - 1] == '}';
}

/* "{name...}" takes the whole rest. */
static bool
is_rest(struct pf_str seg)
{
	return is_param(seg) && pf_str_ends(seg, PF_LIT("...}"));
}

/* "/a/b" gives "a", and "/b" remains. Only for text that begins with '/'. */
static struct pf_str
first_segment(struct pf_str *path)
{
	struct pf_str all = pf_str_from(*path, 1);
	size_t end = pf_str_find(all, '/');

	*path = pf_str_from(all, end);
	return pf_str_head(all, end);
}

static bool
path_fits(struct pf_str pattern, struct pf_str path,
    struct pf_str var[PF_REQ_VARS])
{
	struct pf_str want, have, whole;
	size_t nvar = 0;

	while (pattern.n > 0 && path.n > 0) {
		whole = pf_str_from(path, 1);
		want = first_segment(&pattern);
		have = first_segment(&path);
		if (!is_param(want)) {
			if (!pf_str_eq(want, have))
				return false;
			continue;
		}
		if (nvar == PF_REQ_VARS || have.n == 0)
			return false;
		var[nvar++] = is_rest(want) ? whole : have;
		if (is_rest(want))
			return pattern.n == 0;
	}
	return pattern.n == 0 && path.n == 0;
}

static void
match_rows(const struct pf_routes *routes, struct pf_str path,
    enum pf_method method, struct match *m)
{
	for (size_t i = 0; i < routes->n; i++) {
		const struct pf_route *row = &routes->v[i];
		struct pf_str var[PF_REQ_VARS] = { { NULL, 0 } };

		if (!path_fits(pf_str(row->path), path, var))
			continue;
		m->allowed |= 1u << row->method;
		if (m->row != NULL || row->method != method)
			continue;
		m->row = row;
		for (size_t k = 0; k < PF_REQ_VARS; k++)
			m->var[k] = var[k];
	}
}

static bool
under_mount(struct pf_str path, struct pf_str mount)
{
	return pf_str_starts(path, mount) &&
	    (path.n == mount.n || path.p[mount.n] == '/');
}

/* Several groups of rows may share the longest mount. */
static void
find(const struct pf_req *rq, const struct pf_mount *mounts, size_t nmounts,
    struct match *m)
{
	enum pf_method method = rq->method == PF_HEAD ? PF_GET : rq->method;
	size_t longest = 0;

	for (size_t i = 0; i < nmounts; i++)
		if (mounts[i].path.n > longest &&
		    under_mount(rq->path, mounts[i].path))
			longest = mounts[i].path.n;
	for (size_t i = 0; i < nmounts; i++)
		if (mounts[i].path.n == longest &&
		    under_mount(rq->path, mounts[i].path))
			match_rows(mounts[i].routes,
			    pf_str_from(rq->path, longest), method, m);
}

static void
put_allow(struct pf_req *rq, unsigned allowed)
{
	struct pf_buf b;

	allowed |= 1u << PF_OPTIONS;
	if ((allowed & 1u << PF_GET) != 0)
		allowed |= 1u << PF_HEAD;
	pf_buf_init(&b, rq->arena, 128);
	for (unsigned i = 0; i < PF_COUNT(method_names); i++) {
		if ((allowed & 1u << i) == 0)
			continue;
		if (b.n > 0)
			pf_buf_addz(&b, ", ");
		pf_buf_addz(&b, method_names[i]);
	}
	pf_resp_header(rq, "Allow", pf_buf_str(&b));
}

static bool
type_is(struct pf_str content_type, struct pf_str want)
{
	struct pf_str bare = pf_str_head(content_type,
	    pf_str_find(content_type, ';'));

	return pf_str_eq_nocase(pf_str_trim(bare), want);
}

/*
 * A request without body and type passes: whether there must be something is
 * for the handler to say, by name.
 */
static enum pf_rc
check_body(struct pf_req *rq, const struct pf_route *row)
{
	size_t max = row->max_body > 0 ? row->max_body : DEFAULT_MAX_BODY;
	struct pf_str want = row->body == PF_FORM ?
	    PF_LIT("application/x-www-form-urlencoded") :
	    PF_LIT("application/json");

	if (rq->body.n > max)
		return pf_fail(rq, PF_TOO_LARGE,
		    "The body may have at most %zu bytes.", max);
	if (row->body == PF_NONE ||
	    (rq->body.n == 0 && rq->content_type.n == 0))
		return PF_OK;
	if (!type_is(rq->content_type, want))
		return pf_fail(rq, PF_UNSUPPORTED_MEDIA_TYPE,
		    "Content-Type must be %.*s.", PF_STRF(want));
	return PF_OK;
}

enum pf_rc
pf_route_run(struct pf_req *rq, const struct pf_mount *mounts, size_t nmounts,
    enum pf_rc (*needs)(struct pf_req *rq, unsigned bits))
{
	struct match m = { 0 };
	enum pf_rc rc;

	if (pf_path_check(rq->path) != PF_OK)
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "The path is not written in a way that can be routed.");
	find(rq, mounts, nmounts, &m);
	if (m.allowed == 0)
		return pf_fail(rq, PF_NOT_FOUND, "There is nothing here.");
	if (m.row == NULL) {
		put_allow(rq, m.allowed);
		if (rq->method == PF_OPTIONS)
			return pf_resp_empty(rq, 204);
		return pf_fail(rq, PF_METHOD_NOT_ALLOWED,
		    "Allow names the methods that work here.");
	}
	rq->route = m.row;
	for (size_t k = 0; k < PF_REQ_VARS; k++)
		rq->var[k] = m.var[k];
	if ((rc = check_body(rq, m.row)) != PF_OK)
		return rc;
	if (needs != NULL && (rc = needs(rq, m.row->needs)) != PF_OK)
		return rc;
	return m.row->handle(rq);
}
