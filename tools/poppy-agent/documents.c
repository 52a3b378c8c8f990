#include "config.h"

#include "tools/poppy-agent/documents.h"

#include <stdarg.h>
#include <string.h>

#include "core/web/url.h"

#define MAJOR	0	/* the major version of the protocol that we speak */

static void
note(struct ag_company *c, const char *fmt, ...) PF_PRINTF(2, 3);

static void
note(struct ag_company *c, const char *fmt, ...)
{
	va_list ap;

	if (c->nnotes == AG_NOTES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(c->note[c->nnotes++], sizeof(c->note[0]), fmt, ap);
	va_end(ap);
}

static struct pf_str
lower(struct pf_arena *a, struct pf_str s)
{
	char *p = pf_arena_alloc(a, s.n + 1);

	if (p == NULL)
		return PF_NOSTR;
	for (size_t i = 0; i < s.n; i++)
		p[i] = pf_lower(s.p[i]);
	return pf_bytes(p, s.n);
}

static struct pf_str
join(struct pf_arena *a, struct pf_str x, struct pf_str y, struct pf_str z)
{
	struct pf_buf b;
	struct pf_str out = PF_NOSTR;

	pf_buf_init(&b, a, 8192);
	pf_buf_add(&b, x);
	pf_buf_add(&b, y);
	pf_buf_add(&b, z);
	if (pf_buf_done(&b, &out) != PF_OK)
		return PF_NOSTR;
	return out;
}

static struct pf_str
without_www(struct pf_str host)
{
	return pf_str_eq_nocase(pf_str_head(host, 4), PF_LIT("www.")) ?
	    pf_str_from(host, 4) : host;
}

enum pf_rc
ag_origin(struct pf_arena *a, struct pf_str url, struct pf_str *origin)
{
	struct pf_url u;
	struct pf_str host;
	char port[16] = "";

	if (!pf_str_given(url) || pf_url_parse(url, &u) != PF_OK ||
	    !pf_str_eq_nocase(u.scheme, PF_LIT("https")) || u.userinfo)
		return PF_E_INPUT;
	if (u.port != 443)
		snprintf(port, sizeof(port), ":%d", u.port);
	if (!pf_str_given(host = lower(a, u.host)))
		return PF_E_MEM;
	*origin = join(a, PF_LIT("https://"), host, pf_str(port));
	return pf_str_given(*origin) ? PF_OK : PF_E_MEM;
}

enum pf_rc
ag_wellknown_url(struct pf_arena *a, const char *asked, struct pf_str *url,
    struct pf_str *host, struct pf_str *key)
{
	struct pf_str origin, whole, given = pf_str(asked);
	struct pf_url u;
	enum pf_rc rc;

	if (pf_str_ends(given, PF_LIT(".")))	/* the root's dot */
		given = pf_str_head(given, given.n - 1);
	whole = join(a, PF_LIT("https://"), given, PF_NOSTR);
	if ((rc = ag_origin(a, whole, &origin)) != PF_OK)
		return rc;
	/* Nothing but host and port: what is left over would be a path. */
	if (pf_url_parse(whole, &u) != PF_OK || u.path.n > 0 ||
	    pf_str_given(u.query) || pf_str_given(u.fragment))
		return PF_E_INPUT;
	*url = join(a, origin, PF_LIT("/.well-known/poppy.json"), PF_NOSTR);
	*host = lower(a, u.host);
	*key = pf_str_from(origin, sizeof("https://") - 1);
	return pf_str_given(*url) && pf_str_given(*host) ? PF_OK : PF_E_MEM;
}

enum pf_rc
ag_metadata_url(struct pf_arena *a, struct pf_str issuer, struct pf_str *url)
{
	struct pf_str origin, path;
	struct pf_url u;
	enum pf_rc rc;

	if ((rc = ag_origin(a, issuer, &origin)) != PF_OK)
		return rc;
	if (pf_url_parse(issuer, &u) != PF_OK || pf_str_given(u.query) ||
	    pf_str_given(u.fragment))
		return PF_E_INPUT;
	path = u.path;
	if (pf_str_ends(path, PF_LIT("/")))
		path = pf_str_head(path, path.n - 1);
	*url = join(a, origin,
	    PF_LIT("/.well-known/oauth-authorization-server"), path);
	return pf_str_given(*url) ? PF_OK : PF_E_MEM;
}

static enum pf_rc
check_version(const struct pf_json *doc, struct ag_company *c,
    struct ag_fault *f)
{
	struct pf_str rest, major, minor;
	int64_t n;

	if (pf_json_str(doc, "protocol_version", &c->version) != PF_OK)
		return ag_fault(f, PF_E_UPSTREAM, "R-3.1-1",
		    "a document without a protocol_version (a string)");
	rest = c->version;
	if (!pf_str_cut(&rest, '.', &major) ||
	    !pf_str_cut(&rest, '.', &minor) || pf_str_given(rest) ||
	    pf_str_has(c->version, '-') ||
	    pf_str_int(major, 0, INT32_MAX, &n) != PF_OK ||
	    pf_str_int(minor, 0, INT32_MAX, &(int64_t){ 0 }) != PF_OK)
		return ag_fault(f, PF_E_UPSTREAM, "R-3.1-1",
		    "protocol_version \"%.*s\", which is not major.minor",
		    PF_STRF(c->version));
	if (n != MAJOR)
		return ag_fault(f, PF_E_UPSTREAM, "R-3.1-1",
		    "protocol_version \"%.*s\"; this agent speaks major "
		    "version %d alone", PF_STRF(c->version), MAJOR);
	return PF_OK;
}

static enum pf_rc
check_organization(const struct pf_json *doc, struct pf_str host,
    struct ag_company *c, struct ag_fault *f)
{
	const struct pf_json *o;

	if (pf_json_obj(doc, "organization", &o) != PF_OK ||
	    pf_json_str(o, "name", &c->name) != PF_OK || c->name.n == 0 ||
	    pf_json_str(o, "domain", &c->domain) != PF_OK || c->domain.n == 0)
		return ag_fault(f, PF_E_UPSTREAM, "R-3.1-2",
		    "an organization without a name and a domain");
	if (!pf_str_eq_nocase(without_www(c->domain), without_www(host)))
		return ag_fault(f, PF_E_UPSTREAM, "R-3.1-3",
		    "organization.domain \"%.*s\", but \"%.*s\" was asked",
		    PF_STRF(c->domain), PF_STRF(host));
	return PF_OK;
}

/* An HTTPS URL or PF_NOSTR with a note. */
static struct pf_str
endpoint(const struct pf_json *o, const char *key, const char *where,
    struct ag_company *c)
{
	struct pf_str s = PF_NOSTR;
	enum pf_rc rc = pf_json_str(o, key, &s);

	if (rc == PF_E_ABSENT)
		return PF_NOSTR;
	if (rc != PF_OK || !pf_url_is_https(s)) {
		note(c, "%s is no HTTPS URL: it is passed over", where);
		return PF_NOSTR;
	}
	return s;
}

/* Its first scope; PF_NOSTR if it has none. */
static struct pf_str
first_scope(const struct pf_json *type)
{
	const struct pf_json *list;
	struct pf_str s;

	return pf_json_arr(type, "scopes", &list) == PF_OK &&
	    pf_json_len(list) > 0 &&
	    pf_json_as_str(pf_json_at(list, 0), &s) == PF_OK ? s : PF_NOSTR;
}

static enum pf_rc
check_auth(const struct pf_json *doc, struct ag_company *c, bool needed,
    struct ag_fault *f)
{
	const struct pf_json *auth, *o;
	enum pf_rc rc = pf_json_obj(doc, "auth", &auth);

	if (rc == PF_E_ABSENT && !needed)
		return PF_OK;
	if (rc != PF_OK)
		return ag_fault(f, PF_E_UPSTREAM, "R-3.1-5",
		    "a document that offers more than a plain website, "
		    "without auth (an object)");
	if (pf_json_str(auth, "issuer", &c->issuer) != PF_OK ||
	    !pf_url_is_https(c->issuer))
		return ag_fault(f, PF_E_UPSTREAM, "R-3.1-6",
		    "an auth.issuer that is no HTTPS URL");
	c->direct = pf_json_obj(auth, "direct", &o) == PF_OK;
	c->direct_scope = c->direct ? first_scope(o) : PF_NOSTR;
	c->device = pf_json_obj(auth, "device", &o) == PF_OK;
	c->device_scope = c->device ? first_scope(o) : PF_NOSTR;
	c->mediated = pf_json_obj(auth, "mediated", &o) == PF_OK;
	if (!c->mediated)
		return PF_OK;
	c->mediated_endpoint = endpoint(o, "endpoint",
	    "auth.mediated.endpoint", c);
	if (pf_json_arr(o, "fields", &c->mediated_fields) != PF_OK)
		note(c, "auth.mediated has no fields");
	return PF_OK;
}

static void
read_apis(const struct pf_json *list, struct ag_company *c)
{
	for (size_t i = 0; i < pf_json_len(list); i++) {
		const struct pf_json *o = pf_json_at(list, i);
		struct ag_api api = { .type = PF_NOSTR };

		if (pf_json_str(o, "type", &api.type) != PF_OK) {
			note(c, "apis[%zu] has no type: it is passed over", i);
			continue;
		}
		/* Section 6: later versions may add types. */
		if (!pf_str_eqz(api.type, "openapi") &&
		    !pf_str_eqz(api.type, "mcp"))
			continue;
		api.url = endpoint(o, "url", "the url of an api", c);
		if (!pf_str_given(api.url))
			continue;
		if (pf_json_str(o, "description", &api.description) != PF_OK)
			note(c, "apis[%zu] has no description", i);
		if (pf_json_str(o, "resource", &api.resource) != PF_OK)
			api.resource = PF_NOSTR;
		if (c->napis < AG_APIS_MAX)
			c->api[c->napis++] = api;
	}
}

static void
read_chat(const struct pf_json *agent, struct ag_company *c)
{
	const struct pf_json *list, *o;
	struct pf_str type;

	if (pf_json_arr(agent, "protocols", &list) != PF_OK)
		return;
	for (size_t i = 0; i < pf_json_len(list); i++) {
		o = pf_json_at(list, i);
		if (pf_json_str(o, "type", &type) == PF_OK &&
		    pf_str_eqz(type, "poppy") &&
		    !pf_str_given(c->chat_endpoint))
			c->chat_endpoint = endpoint(o, "endpoint",
			    "the endpoint of agent.protocols", c);
	}
}

enum pf_rc
ag_poppy_check(const struct pf_json *doc, struct pf_str host,
    struct ag_company *c, struct ag_fault *f)
{
	const struct pf_json *agent, *apis, *web;
	bool has_agent, has_apis, has_web;
	enum pf_rc rc;

	if (!pf_json_is_obj(doc))
		return ag_fault(f, PF_E_UPSTREAM, "R-3-1",
		    "JSON that is no object");
	if ((rc = check_version(doc, c, f)) != PF_OK ||
	    (rc = check_organization(doc, host, c, f)) != PF_OK)
		return rc;
	has_agent = pf_json_obj(doc, "agent", &agent) == PF_OK;
	has_apis = pf_json_arr(doc, "apis", &apis) == PF_OK;
	has_web = pf_json_obj(doc, "web", &web) == PF_OK;
	if (!has_agent && !has_apis && !has_web)
		return ag_fault(f, PF_E_UPSTREAM, "R-3.1-12",
		    "a document with none of agent, apis and web");
	if (has_web)
		c->browser_endpoint = endpoint(web, "browser_session_endpoint",
		    "web.browser_session_endpoint", c);
	rc = check_auth(doc, c, has_agent || has_apis ||
	    (has_web && pf_json_has(web, "browser_session_endpoint")), f);
	if (rc != PF_OK)
		return rc;
	if (has_apis)
		read_apis(apis, c);
	if (has_agent)
		read_chat(agent, c);
	return PF_OK;
}

static enum pf_rc
need_endpoint(const struct pf_json *doc, const char *key, const char *rule,
    bool needed, struct pf_str *out, struct ag_fault *f)
{
	enum pf_rc rc = pf_json_str(doc, key, out);

	if (rc == PF_OK && pf_url_is_https(*out))
		return PF_OK;
	if (rc == PF_E_ABSENT && !needed) {
		*out = PF_NOSTR;
		return PF_OK;
	}
	return ag_fault(f, PF_E_UPSTREAM, rule, rc == PF_E_ABSENT ?
	    "metadata without %s" : "metadata whose %s is no HTTPS URL", key);
}

static bool
lists_domain(const struct pf_json *doc, struct pf_str domain)
{
	const struct pf_json *list;
	struct pf_str one;

	if (pf_json_arr(doc, "poppy_domains", &list) != PF_OK)
		return false;
	for (size_t i = 0; i < pf_json_len(list); i++)
		if (pf_json_as_str(pf_json_at(list, i), &one) == PF_OK &&
		    pf_str_eq_nocase(one, domain))
			return true;
	return false;
}

enum pf_rc
ag_metadata_check(const struct pf_json *doc, struct ag_company *c,
    struct ag_fault *f)
{
	struct pf_str issuer;
	enum pf_rc rc;

	if (!pf_json_is_obj(doc))
		return ag_fault(f, PF_E_UPSTREAM, "R-3.2-1",
		    "JSON that is no object");
	if (pf_json_str(doc, "issuer", &issuer) != PF_OK)
		return ag_fault(f, PF_E_UPSTREAM, "R-3.2-3",
		    "metadata without issuer");
	if (!pf_str_eq(issuer, c->issuer))
		return ag_fault(f, PF_E_UPSTREAM, "R-3.2-3",
		    "issuer \"%.*s\", but auth.issuer in poppy.json is "
		    "\"%.*s\"", PF_STRF(issuer), PF_STRF(c->issuer));
	if (!lists_domain(doc, c->domain))
		return ag_fault(f, PF_E_UPSTREAM, "R-3.2-4",
		    "poppy_domains without \"%.*s\": the issuer does not say "
		    "that the domain is its own", PF_STRF(c->domain));
	if ((rc = need_endpoint(doc, "token_endpoint", "R-3.2-6", true,
	    &c->token_endpoint, f)) != PF_OK ||
	    (rc = need_endpoint(doc, "revocation_endpoint", "R-3.2-7", true,
	    &c->revocation_endpoint, f)) != PF_OK ||
	    (rc = need_endpoint(doc, "authorization_endpoint", "R-3.2-8",
	    c->direct, &c->authorization_endpoint, f)) != PF_OK)
		return rc;
	return need_endpoint(doc, "device_authorization_endpoint", "R-3.2-9",
	    c->device, &c->device_endpoint, f);
}
