/*
 * apis and guard belong together: which resource an API's tokens are for, and
 * which prefix of the guard asks for them (section 4.3; RFC 8707).
 */
#include "core/poppy/settings.h"

#include <string.h>

#include "core/web/url.h"

#define WELL_KNOWN	"/.well-known/oauth-protected-resource"

struct linking {
	const char *file;
	struct pf_arena *arena;
	struct pf_settings *s;
	struct pf_conf_fault *fault;
	struct pf_api *api;		/* copies that may be written to */
	struct pf_guarded *guard;
};

bool
pf_guarded_covers(const struct pf_guarded *g, struct pf_str path)
{
	return pf_str_ends(g->prefix, PF_LIT("/")) ?
	    pf_str_starts(path, g->prefix) : pf_str_eq(path, g->prefix);
}

const struct pf_api *
pf_settings_api(const struct pf_settings *s, struct pf_str resource)
{
	const struct pf_api *api = s->apis.v;

	for (size_t i = 0; resource.n != 0 && i < s->apis.n; i++)
		if (pf_str_eq(api[i].resource, resource))
			return &api[i];
	return NULL;
}

static enum pf_rc
copy(const struct linking *l, struct pf_list *list, size_t size, void *out)
{
	void *p;

	if (list->n == 0)
		return PF_OK;
	if ((p = pf_arena_alloc(l->arena, list->n * size)) == NULL)
		return PF_E_MEM;
	(void)memcpy(p, list->v, list->n * size);
	(void)memcpy(out, &p, sizeof(p));
	list->v = p;
	return PF_OK;
}

/* Where its metadata is: RFC 9728, 3.1. */
static enum pf_rc
metadata_url(const struct linking *l, struct pf_api *api)
{
	struct pf_buf b;

	pf_buf_init(&b, l->arena, 2048);
	pf_buf_add(&b, api->host->base);
	pf_buf_addz(&b, WELL_KNOWN);
	if (!pf_str_eqz(api->path, "/"))
		pf_buf_add(&b, api->path);
	return pf_buf_done(&b, &api->metadata_url);
}

/* An MCP server's tokens are for its url, and its metadata are on its host, so
 * that host must be one of ours. */
static enum pf_rc
link_mcp(const struct linking *l, struct pf_api *api)
{
	const struct pf_host *h = l->s->hosts.v;

	if (api->resource.n != 0)
		return pf_conf_refuse(l->fault, l->file, api->line,
		    "apis.resource", "of an mcp api is its url: leave it out");
	for (size_t i = 0; i < l->s->hosts.n && api->host == NULL; i++) {
		api->path = pf_str_from(api->url, h[i].base.n);
		if (pf_str_starts(api->url, h[i].base) &&
		    pf_str_starts(api->path, PF_LIT("/")))
			api->host = &h[i];
	}
	if (api->host == NULL)
		return pf_conf_refuse(l->fault, l->file, api->line, "apis.url",
		    "of an mcp api must be a path on one of the hosts");
	if (pf_str_has(api->path, '%') || pf_str_has(api->path, '?') ||
	    pf_path_check(api->path) != PF_OK)
		return pf_conf_refuse(l->fault, l->file, api->line, "apis.url",
		    "of an mcp api must have a plain path and no query");
	api->mcp = true;
	api->resource = api->url;
	return metadata_url(l, api);
}

/* No url twice; what is an MCP server's resource is nobody else's. */
static enum pf_rc
check_unique(const struct linking *l, size_t i)
{
	const struct pf_api *a = &l->api[i];

	for (size_t k = 0; k < i; k++) {
		const struct pf_api *b = &l->api[k];

		if (pf_str_eq(a->url, b->url))
			return pf_conf_refuse(l->fault, l->file, a->line,
			    "apis.url", "stands there twice");
		if ((a->mcp || b->mcp) && pf_str_eq(a->resource, b->resource))
			return pf_conf_refuse(l->fault, l->file, a->line,
			    "apis.resource", "is the url of an mcp api");
	}
	return PF_OK;
}

static enum pf_rc
link_api(const struct linking *l, size_t i)
{
	struct pf_api *api = &l->api[i];
	enum pf_rc rc;

	if (pf_str_eqz(api->type, "mcp") && (rc = link_mcp(l, api)) != PF_OK)
		return rc;
	return check_unique(l, i);
}

/* The entry that a prefix stands before; none for "openapi". */
static enum pf_rc
link_guarded(const struct linking *l, struct pf_guarded *g)
{
	if (pf_str_eqz(g->api, "openapi"))
		return PF_OK;
	for (size_t i = 0; i < l->s->apis.n && g->entry == NULL; i++)
		if (pf_str_eq(l->api[i].url, g->api))
			g->entry = &l->api[i];
	if (g->entry == NULL)
		return pf_conf_refuse(l->fault, l->file, g->line, "guard.api",
		    "must be \"openapi\" or the url of one of apis");
	if (g->entry->mcp && !pf_guarded_covers(g, g->entry->path))
		return pf_conf_refuse(l->fault, l->file, g->line,
		    "guard.prefix", "does not cover the url of its mcp api");
	return PF_OK;
}

/* What asks for tokens of its own stands behind somebody who checks them. */
static enum pf_rc
check_guarded(const struct linking *l, const struct pf_api *api)
{
	if (api->resource.n == 0)
		return PF_OK;
	for (size_t i = 0; i < l->s->guard.n; i++)
		if (l->guard[i].entry != NULL && pf_str_eq(
		    l->guard[i].entry->resource, api->resource))
			return PF_OK;
	return pf_conf_refuse(l->fault, l->file, api->line, "apis.url",
	    "no prefix of guard has this api: nobody would check its tokens");
}

enum pf_rc
pf_settings_link(const char *file, struct pf_arena *a, struct pf_settings *s,
    struct pf_conf_fault *fault)
{
	struct linking l = { file, a, s, fault, NULL, NULL };
	enum pf_rc rc;

	if ((rc = copy(&l, &s->apis, sizeof(*l.api), &l.api)) != PF_OK ||
	    (rc = copy(&l, &s->guard, sizeof(*l.guard), &l.guard)) != PF_OK)
		return rc;
	for (size_t i = 0; i < s->apis.n; i++) {
		if ((rc = link_api(&l, i)) != PF_OK)
			return rc;
		if (l.api[i].mcp && s->mcp.public_clients)
			s->mcp_public = true;
	}
	for (size_t i = 0; i < s->guard.n; i++)
		if ((rc = link_guarded(&l, &l.guard[i])) != PF_OK)
			return rc;
	for (size_t i = 0; i < s->apis.n; i++)
		if ((rc = check_guarded(&l, &l.api[i])) != PF_OK)
			return rc;
	return PF_OK;
}
