/*
 * The discovery documents, written once from the settings: every URL in them is
 * configured, none comes from a request.
 */
#include "fcgi/auth/auth.h"

#include "core/jose/jwk.h"
#include "core/poppy/scope.h"

#define DOCUMENT_MAX	(256u << 10)
#define GRANT_SESSION	"urn:ietf:params:oauth:grant-type:jwt-bearer"
#define GRANT_DEVICE	"urn:ietf:params:oauth:grant-type:device_code"

static void
write_apis(struct pf_jw *w, const struct pf_settings *s)
{
	const struct pf_api *api = s->apis.v;

	if (s->apis.n == 0)
		return;
	pf_jw_open(w, "apis", '[');
	for (size_t i = 0; i < s->apis.n; i++) {
		pf_jw_open(w, NULL, '{');
		pf_jw_str(w, "type", api[i].type);
		pf_jw_str(w, "url", api[i].url);
		pf_jw_str(w, "description", api[i].description);
		if (api[i].resource.n != 0 && !api[i].mcp)
			pf_jw_str(w, "resource", api[i].resource);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
}

static void
write_scopes(struct pf_jw *w, const char *key, const struct pf_strs *scopes)
{
	pf_jw_open(w, key, '[');
	for (size_t i = 0; i < scopes->n; i++)
		pf_jw_str(w, NULL, scopes->v[i]);
	pf_jw_close(w, ']');
}

static void
write_type(struct pf_jw *w, const char *type, const struct pf_strs *scopes)
{
	if (scopes->n == 0)
		return;
	pf_jw_open(w, type, '{');
	write_scopes(w, "scopes", scopes);
	pf_jw_close(w, '}');
}

/* Section 4.7. */
static void
write_mediated(struct pf_jw *w, const struct pf_settings *s)
{
	const struct pf_mediated_field *f = s->mediated.fields.v;

	if (s->sign_in.mediated.n == 0)
		return;
	pf_jw_open(w, "mediated", '{');
	pf_jw_str(w, "endpoint", s->mediated_endpoint);
	write_scopes(w, "scopes", &s->sign_in.mediated);
	pf_jw_open(w, "fields", '[');
	for (size_t i = 0; i < s->mediated.fields.n; i++) {
		pf_jw_open(w, NULL, '{');
		pf_jw_str(w, "name", f[i].name);
		pf_jw_str(w, "label", f[i].label);
		pf_jw_bool(w, "secret", f[i].secret);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
	pf_jw_close(w, '}');
}

/* Sections 3.1 and 4.4. */
static void
write_auth(struct pf_jw *w, const struct pf_settings *s)
{
	const struct pf_custom_scope *c = s->sign_in.custom_scopes.v;

	pf_jw_open(w, "auth", '{');
	pf_jw_str(w, "issuer", s->issuer);
	write_type(w, "direct", &s->sign_in.direct);
	write_type(w, "device", &s->sign_in.device);
	write_mediated(w, s);
	if (s->sign_in.custom_scopes.n != 0)
		pf_jw_open(w, "custom_scopes", '{');
	for (size_t i = 0; i < s->sign_in.custom_scopes.n; i++)
		pf_jw_str(w, c[i].name.p, c[i].description);
	if (s->sign_in.custom_scopes.n != 0)
		pf_jw_close(w, '}');
	pf_jw_close(w, '}');
}

/* Does anything need the auth object? */
static bool
needs_auth(const struct pf_settings *s)
{
	return s->apis.n != 0 || s->browser.enabled ||
	    s->sign_in.direct.n != 0 || s->sign_in.device.n != 0 ||
	    s->sign_in.mediated.n != 0;
}

/* Section 5. */
static void
write_web(struct pf_jw *w, const struct pf_settings *s, struct pf_str domain)
{
	struct pf_str endpoint = pf_settings_browser_endpoint(s, domain);

	if (!s->web)
		return;
	pf_jw_open(w, "web", '{');
	if (pf_str_given(endpoint))
		pf_jw_str(w, "browser_session_endpoint", endpoint);
	pf_jw_close(w, '}');
}

/* Section 3.1. What we don't offer is left out. */
static enum pf_rc
write_poppy_json(struct pf_app *app, struct pf_str domain, struct pf_str *out)
{
	const struct pf_settings *s = &app->set;
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, &app->arena, DOCUMENT_MAX);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_strz(&w, "protocol_version", "0.1");
	pf_jw_open(&w, "organization", '{');
	pf_jw_str(&w, "name", s->organization.name);
	pf_jw_str(&w, "domain", domain);
	pf_jw_close(&w, '}');
	if (needs_auth(s))
		write_auth(&w, s);
	write_web(&w, s, domain);
	write_apis(&w, s);
	pf_jw_close(&w, '}');
	return pf_buf_done(&b, out);
}

static void
write_list(struct pf_jw *w, const char *key, struct pf_str words)
{
	struct pf_str rest = words, one;

	pf_jw_open(w, key, '[');
	while (pf_str_cut(&rest, ' ', &one))
		pf_jw_str(w, NULL, one);
	pf_jw_close(w, ']');
}

static void
write_endpoint_auth(struct pf_jw *w, const char *methods, const char *algs,
    bool also_none)
{
	write_list(w, methods, also_none ? PF_LIT("private_key_jwt none") :
	    PF_LIT("private_key_jwt"));
	write_list(w, algs, PF_LIT(PF_ALG_ALL));
}

/* RFC 8414, 2; RFC 7636; RFC 9207; RFC 8628, 4: what there is to sign in. */
static void
write_sign_in(struct pf_jw *w, const struct pf_settings *s)
{
	bool direct = s->sign_in.direct.n != 0;

	/* RFC 8414 demands the member; without an authorization endpoint there
	 * is no response type to name. */
	write_list(w, "response_types_supported",
	    direct ? PF_LIT("code") : PF_NOSTR);
	if (direct) {
		pf_jw_str(w, "authorization_endpoint",
		    s->authorization_endpoint);
		write_list(w, "response_modes_supported", PF_LIT("query"));
		write_list(w, "code_challenge_methods_supported",
		    PF_LIT("S256"));
		pf_jw_bool(w, "authorization_response_iss_parameter_supported",
		    true);
	}
	if (s->sign_in.device.n != 0)
		pf_jw_str(w, "device_authorization_endpoint",
		    s->device_endpoint);
}

static void
write_grant_types(struct pf_jw *w, const struct pf_settings *s)
{
	bool direct = s->sign_in.direct.n != 0;
	bool device = s->sign_in.device.n != 0;

	pf_jw_open(w, "grant_types_supported", '[');
	pf_jw_strz(w, NULL, GRANT_SESSION);
	if (direct)
		pf_jw_strz(w, NULL, "authorization_code");
	if (device)
		pf_jw_strz(w, NULL, GRANT_DEVICE);
	if (direct || device || s->sign_in.mediated.n != 0)
		pf_jw_strz(w, NULL, "refresh_token");
	pf_jw_close(w, ']');
}

/* Each scope that one of the types grants, once. */
static void
write_all_scopes(struct pf_jw *w, const struct pf_settings *s)
{
	const struct pf_strs *const types[] = {
		&s->sign_in.direct, &s->sign_in.device, &s->sign_in.mediated
	};
	char room[8192];
	struct pf_buf all;

	pf_buf_fixed(&all, room, sizeof(room));
	for (size_t i = 0; i < PF_COUNT(types); i++)
		for (size_t k = 0; k < types[i]->n; k++)
			pf_scope_add(&all, types[i]->v[k]);
	if (all.n != 0)
		write_list(w, "scopes_supported", pf_buf_str(&all));
}

static void
write_mcp_urls(struct pf_jw *w, const struct pf_settings *s)
{
	const struct pf_api *api = s->apis.v;
	bool any = false;

	for (size_t i = 0; i < s->apis.n; i++) {
		if (!api[i].mcp)
			continue;
		if (!any)
			pf_jw_open(w, "protected_resources", '[');
		any = true;
		pf_jw_str(w, NULL, api[i].url);
	}
	if (any)
		pf_jw_close(w, ']');
}

/* RFC 8414, 2; RFC 9449, 5.1; RFC 9728, 4; Client ID Metadata Document, 5. */
static enum pf_rc
write_metadata(struct pf_app *app, struct pf_str *out)
{
	const struct pf_settings *s = &app->set;
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, &app->arena, DOCUMENT_MAX);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "issuer", s->issuer);
	pf_jw_str(&w, "token_endpoint", s->token_endpoint);
	pf_jw_str(&w, "revocation_endpoint", s->revocation_endpoint);
	write_sign_in(&w, s);
	write_grant_types(&w, s);
	write_all_scopes(&w, s);
	/* Only the code flow knows clients without keys. */
	write_endpoint_auth(&w, "token_endpoint_auth_methods_supported",
	    "token_endpoint_auth_signing_alg_values_supported",
	    s->mcp_public && s->sign_in.direct.n != 0);
	write_endpoint_auth(&w, "revocation_endpoint_auth_methods_supported",
	    "revocation_endpoint_auth_signing_alg_values_supported", false);
	write_list(&w, "dpop_signing_alg_values_supported",
	    PF_LIT(PF_ALG_ALL));
	pf_jw_bool(&w, "client_id_metadata_document_supported", true);
	write_mcp_urls(&w, s);
	pf_jw_open(&w, "poppy_domains", '[');
	for (size_t i = 0; i < s->domains.n; i++)
		pf_jw_str(&w, NULL, s->domains.v[i]);
	pf_jw_close(&w, ']');
	pf_jw_close(&w, '}');
	return pf_buf_done(&b, out);
}

/* Each scope once that a rule before this API asks for. */
static void
collect_scopes(struct pf_buf *b, const struct pf_settings *s,
    const struct pf_api *api)
{
	const struct pf_guarded *g = s->guard.v;

	for (size_t i = 0; i < s->guard.n; i++) {
		const struct pf_rule *r = g[i].rules.v;

		if (g[i].entry != api)
			continue;
		for (size_t k = 0; k < g[i].rules.n; k++)
			for (size_t m = 0; m < r[k].scopes.n; m++)
				pf_scope_add(b, r[k].scopes.v[m]);
	}
}

/* RFC 9728, 2. */
static enum pf_rc
write_resource(struct pf_app *app, const struct pf_api *api, struct pf_str *out)
{
	struct pf_buf b, scopes;
	struct pf_jw w;

	pf_buf_init(&scopes, &app->arena, DOCUMENT_MAX);
	collect_scopes(&scopes, &app->set, api);
	pf_buf_init(&b, &app->arena, DOCUMENT_MAX);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "resource", api->resource);
	write_list(&w, "authorization_servers", app->set.issuer);
	write_list(&w, "bearer_methods_supported", PF_LIT("header"));
	if (scopes.n != 0)
		write_list(&w, "scopes_supported", pf_buf_str(&scopes));
	pf_jw_str(&w, "resource_name", api->description);
	pf_jw_close(&w, '}');
	return scopes.failed ? PF_E_MEM : pf_buf_done(&b, out);
}

/* One for each MCP server, at its place in apis. */
static enum pf_rc
write_resources(struct pf_app *app, struct auth *auth)
{
	const struct pf_list *apis = &app->set.apis;
	const struct pf_api *api = apis->v;
	struct pf_str *doc;
	enum pf_rc rc;

	if (apis->n == 0)
		return PF_OK;
	doc = pf_arena_alloc(&app->arena, apis->n * sizeof(*doc));
	if (doc == NULL)
		return PF_E_MEM;
	for (size_t i = 0; i < apis->n; i++) {
		doc[i] = PF_NOSTR;
		if (api[i].mcp &&
		    (rc = write_resource(app, &api[i], &doc[i])) != PF_OK)
			return rc;
	}
	auth->resources = (struct pf_strs){ doc, apis->n };
	return PF_OK;
}

enum pf_rc
auth_write_documents(struct pf_app *app, struct auth *auth)
{
	const struct pf_strs *domains = &app->set.domains;
	struct pf_str *doc;
	struct pf_buf b;
	enum pf_rc rc;

	doc = pf_arena_alloc(&app->arena, domains->n * sizeof(*doc));
	if (doc == NULL)
		return PF_E_MEM;
	for (size_t i = 0; i < domains->n; i++) {
		rc = write_poppy_json(app, domains->v[i], &doc[i]);
		if (rc != PF_OK)
			return rc;
	}
	auth->documents = (struct pf_strs){ doc, domains->n };
	pf_buf_init(&b, &app->arena, 64);
	pf_buf_fmt(&b, "public, max-age=%lld",
	    (long long)app->set.discovery_seconds);
	if ((rc = pf_buf_done(&b, &auth->cache_control)) != PF_OK)
		return rc;
	if (app->set.issuer.n == 0)
		return PF_OK;
	rc = write_metadata(app, &auth->metadata);
	return rc != PF_OK ? rc : write_resources(app, auth);
}
