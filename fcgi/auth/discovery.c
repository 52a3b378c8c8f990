/*
 * Sections 3, 3.2 and 6: which company this is, where its OAuth server is, and
 * which server an MCP client gets its tokens from.
 */
#include "fcgi/auth/auth.h"
#include "core/web/form.h"
#include "core/web/url.h"

static enum pf_rc
send_document(struct pf_req *rq, struct pf_str json)
{
	pf_resp_header(rq, "Access-Control-Allow-Origin", PF_LIT("*"));
	return pf_resp_cached(rq, "application/json", json,
	    auth_of(rq)->cache_control.p);
}

/* ?domain= of a company that redirects its well-known URL to us. */
static enum pf_rc
named_domain(struct pf_req *rq, struct pf_str *out)
{
	struct pf_form query;
	struct pf_str named;
	const char *why;
	enum pf_rc rc;

	*out = PF_NOSTR;
	if (!pf_str_given(rq->query))
		return PF_OK;
	if (pf_form_parse(rq->arena, rq->query, &query, &why) != PF_OK)
		return pf_fail(rq, PF_INVALID_REQUEST, "query: %s", why);
	rc = pf_form_get(&query, "domain", &named);
	if (rc == PF_E_ABSENT)
		return PF_OK;
	if (rc != PF_OK || pf_host_key(rq->arena, named, &named) != PF_OK)
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "domain must be one host name");
	if (pf_str_starts(named, PF_LIT("www.")))
		named = pf_str_from(named, 4);
	*out = named;
	return PF_OK;
}

enum pf_rc
auth_poppy_json(struct pf_req *rq)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_host *h = pf_settings_host(s, rq->host);
	struct pf_str domain;
	enum pf_rc rc;

	if (h == NULL)
		return pf_fail(rq, PF_NOT_FOUND, "no host of this company");
	if ((rc = named_domain(rq, &domain)) != PF_OK)
		return rc;
	if (!pf_str_given(domain))
		domain = h->domain;
	for (size_t i = 0; i < s->domains.n; i++)
		if (pf_str_eq(s->domains.v[i], domain))
			return send_document(rq,
			    auth_of(rq)->documents.v[i]);
	return pf_fail(rq, PF_NOT_FOUND, "no poppy.json for this domain");
}

/*
 * The document answers at the URL that RFC 8414, 3.1 makes of the issuer, and
 * at the appended form, on the issuer's host alone, by any of its names.
 */
static bool
is_issuer_url(const struct pf_req *rq)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_host *h = pf_settings_host(s, rq->host);
	struct pf_str path = s->issuer_path, named = rq->var[0];

	if (s->issuer.n == 0 || h == NULL ||
	    !pf_str_eq(h->base, s->issuer_host->base))
		return false;
	if (pf_str_given(named))
		return path.n != 0 && pf_str_eq(named, pf_str_from(path, 1));
	return path.n == 0 || pf_str_starts(rq->path, path);
}

enum pf_rc
auth_metadata(struct pf_req *rq)
{
	if (!is_issuer_url(rq))
		return pf_fail(rq, PF_NOT_FOUND, "no such issuer");
	return send_document(rq, auth_of(rq)->metadata);
}

/*
 * RFC 9728, 3.1: the path of an MCP server's url stands behind the well-known
 * name on the url's own host. Several names may lead to that host.
 */
enum pf_rc
auth_resource(struct pf_req *rq)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_host *h = pf_settings_host(s, rq->host);
	const struct pf_strs *docs = &auth_of(rq)->resources;
	const struct pf_api *api = s->apis.v;
	struct pf_str path;

	for (size_t i = 0; h != NULL && i < docs->n; i++) {
		path = pf_str_from(api[i].path, 1);
		if (api[i].mcp && pf_str_eq(api[i].host->base, h->base) &&
		    pf_str_eq(path, rq->var[0]))
			return send_document(rq, docs->v[i]);
	}
	return pf_fail(rq, PF_NOT_FOUND, "no such protected resource");
}
