/*
 * What the company publishes, fetched as an agent does, over TLS.
 */
#include "tools/poppyctl/check.h"

#include "core/web/url.h"

#define WELL_KNOWN	"/.well-known/"
#define REDIRECTS	3

static const struct pf_json_limits limits = { CTL_HTTP_MAX, 32, 100000 };

bool
ck_ask(struct check *k, const char *area, const struct ctl_ask *ask,
    struct ctl_reply *out)
{
	if (ctl_http_send(k->http, k->c->arena, ask, out) == PF_OK)
		return true;
	ck_say(k, CK_FAULT, area, "%.*s: no answer: %s", PF_STRF(ask->url),
	    out->why);
	return false;
}

const struct pf_json *
ck_get(struct check *k, const char *area, struct pf_str url)
{
	const struct ctl_ask ask = { .method = "GET", .url = url };
	const struct pf_json *json;
	struct pf_json_fault f;
	struct ctl_reply rp;

	if (!ck_ask(k, area, &ask, &rp))
		return NULL;
	if (rp.status != 200) {
		ck_say(k, CK_FAULT, area, "%.*s: status %d instead of 200: is "
		    "the path led to its program, and do host and base in "
		    "poppy.conf fit this URL?", PF_STRF(url), rp.status);
		return NULL;
	}
	if (pf_json_parse(k->c->arena, rp.body, &limits, &json, &f) != PF_OK ||
	    !pf_json_is_obj(json)) {
		ck_say(k, CK_FAULT, area, "%.*s: is no JSON object: another "
		    "program answers there", PF_STRF(url));
		return NULL;
	}
	return json;
}

/* A member must be this very text. */
static bool
member_is(struct check *k, struct pf_str url, const struct pf_json *obj,
    const char *name, struct pf_str want)
{
	struct pf_str got = PF_LIT("");

	if (pf_json_str(obj, name, &got) == PF_OK && pf_str_eq(got, want))
		return true;
	ck_say(k, CK_FAULT, "documents", "%.*s: %s is \"%.*s\" and must be "
	    "\"%.*s\": another program answers there, or one with other "
	    "settings; correct issuer, hosts or mounts and send SIGHUP",
	    PF_STRF(url), name, PF_STRF(got), PF_STRF(want));
	return false;
}

/* The URLs of apis are those of the settings, in their order. */
static bool
same_apis(struct check *k, struct pf_str url, const struct pf_json *doc)
{
	const struct pf_settings *s = &k->c->set;
	const struct pf_api *api = s->apis.v;
	const struct pf_json *list = NULL;
	struct pf_str got;

	(void)!pf_json_arr(doc, "apis", &list);
	if (pf_json_len(list) != s->apis.n) {
		ck_say(k, CK_FAULT, "documents", "%.*s: lists %zu APIs, "
		    "poppy.conf %zu: send poppy-auth SIGHUP", PF_STRF(url),
		    pf_json_len(list), s->apis.n);
		return false;
	}
	for (size_t i = 0; i < s->apis.n; i++)
		if (pf_json_str(pf_json_at(list, i), "url", &got) != PF_OK ||
		    !pf_str_eq(got, api[i].url)) {
			ck_say(k, CK_FAULT, "documents", "%.*s: the API %.*s "
			    "of poppy.conf is not there: send poppy-auth "
			    "SIGHUP", PF_STRF(url), PF_STRF(api[i].url));
			return false;
		}
	return true;
}

/* Section 5. */
static bool
same_web(struct check *k, struct pf_str url, const struct pf_json *doc,
    struct pf_str domain)
{
	struct pf_str want = pf_settings_browser_endpoint(&k->c->set, domain);
	const struct pf_json *web = NULL;

	(void)!pf_json_obj(doc, "web", &web);
	if (pf_str_given(want))
		return member_is(k, url, web, "browser_session_endpoint",
		    want);
	if (web == NULL || !pf_json_has(web, "browser_session_endpoint"))
		return true;
	ck_say(k, CK_FAULT, "documents", "%.*s: has a browser_session_endpoint "
	    "that poppy.conf has not: send poppy-auth SIGHUP", PF_STRF(url));
	return false;
}

/* Section 3.1. */
static void
judge_poppy_json(struct check *k, struct pf_str url, struct pf_str domain)
{
	const struct pf_settings *s = &k->c->set;
	const struct pf_json *doc, *org = NULL, *auth = NULL;

	if ((doc = ck_get(k, "documents", url)) == NULL)
		return;
	(void)!pf_json_obj(doc, "organization", &org);
	(void)!pf_json_obj(doc, "auth", &auth);
	if (!member_is(k, url, doc, "protocol_version", PF_LIT("0.1")) ||
	    !member_is(k, url, org, "domain", domain) ||
	    (s->apis.n != 0 &&
	    !member_is(k, url, auth, "issuer", s->issuer)) ||
	    !same_apis(k, url, doc) || !same_web(k, url, doc, domain))
		return;
	ck_say(k, CK_OK, "documents", "%.*s: names its domain, %zu APIs%s",
	    PF_STRF(url), s->apis.n,
	    s->apis.n != 0 ? " and the issuer" : "");
}

/* A domain that no host of ours serves itself redirects to one that does
 * (section 3). */
static void
follow_domain(struct check *k, struct pf_str domain)
{
	struct pf_str url = ck_join(k, PF_LIT("https://"), "", ck_join(k,
	    domain, WELL_KNOWN "poppy.json", PF_LIT("")));
	struct ctl_reply rp;

	for (int i = 0; i <= REDIRECTS; i++) {
		const struct ctl_ask ask = { .method = "GET", .url = url };

		if (!ck_ask(k, "documents", &ask, &rp))
			return;
		if (rp.status / 100 != 3 || !pf_url_is_https(rp.location))
			break;
		url = rp.location;
	}
	judge_poppy_json(k, url, domain);
}

static bool
lists(const struct pf_json *list, struct pf_str text)
{
	struct pf_str one;

	for (size_t i = 0; i < pf_json_len(list); i++)
		if (pf_json_as_str(pf_json_at(list, i), &one) == PF_OK &&
		    pf_str_eq(one, text))
			return true;
	return false;
}

/* An endpoint answers a form that says nothing with an OAuth error. */
static bool
endpoint_answers(struct check *k, struct pf_str url)
{
	const struct ctl_ask ask = {
		.method = "POST", .url = url, .form = PF_LIT("x=")
	};
	const struct pf_json *json = NULL;
	struct ctl_reply rp;

	if (!ck_ask(k, "documents", &ask, &rp))
		return false;
	if ((rp.status == 400 || rp.status == 401 || rp.status == 429) &&
	    pf_json_parse(k->c->arena, rp.body, &limits, &json, NULL) ==
	    PF_OK && pf_json_has(json, "error"))
		return true;
	ck_say(k, CK_FAULT, "documents", "%.*s: status %d and no OAuth error: "
	    "is the path led to poppy-auth, and does it run?", PF_STRF(url),
	    rp.status);
	return false;
}

/* What the types of sign-in that are on need among the OAuth endpoints. */
static bool
signs_in(struct check *k, struct pf_str url, const struct pf_json *doc)
{
	const struct pf_settings *s = &k->c->set;

	if (s->sign_in.direct.n != 0 && !member_is(k, url, doc,
	    "authorization_endpoint", s->authorization_endpoint))
		return false;
	return s->sign_in.device.n == 0 || (member_is(k, url, doc,
	    "device_authorization_endpoint", s->device_endpoint) &&
	    endpoint_answers(k, s->device_endpoint));
}

/* Section 3.2; RFC 8414, 3. */
static void
judge_metadata(struct check *k)
{
	const struct pf_settings *s = &k->c->set;
	const struct pf_json *doc, *domains = NULL;
	struct pf_str url = ck_join(k, s->issuer_host->base,
	    WELL_KNOWN "oauth-authorization-server", s->issuer_path);

	if ((doc = ck_get(k, "documents", url)) == NULL ||
	    !member_is(k, url, doc, "issuer", s->issuer) ||
	    !member_is(k, url, doc, "token_endpoint", s->token_endpoint) ||
	    !member_is(k, url, doc, "revocation_endpoint",
	    s->revocation_endpoint))
		return;
	(void)!pf_json_arr(doc, "poppy_domains", &domains);
	for (size_t i = 0; i < s->domains.n; i++)
		if (!lists(domains, s->domains.v[i])) {
			ck_say(k, CK_FAULT, "documents", "%.*s: poppy_domains "
			    "lacks %.*s: send poppy-auth SIGHUP",
			    PF_STRF(url), PF_STRF(s->domains.v[i]));
			return;
		}
	if (!endpoint_answers(k, s->token_endpoint) ||
	    !endpoint_answers(k, s->revocation_endpoint) ||
	    !signs_in(k, url, doc))
		return;
	ck_say(k, CK_OK, "documents", "%.*s: the issuer byte for byte, %zu "
	    "domains, its endpoints answer", PF_STRF(url), s->domains.n);
}

static void
judge_openapi(struct check *k, struct pf_str url)
{
	const struct pf_json *doc = ck_get(k, "documents", url);

	if (doc == NULL)
		return;
	if (pf_json_has(doc, "openapi"))
		ck_say(k, CK_OK, "documents", "%.*s: is an OpenAPI document",
		    PF_STRF(url));
	else
		ck_say(k, CK_FAULT, "documents", "%.*s: is no OpenAPI document "
		    "(no member openapi): correct apis", PF_STRF(url));
}

/* RFC 9728, 3.3: the metadata of an MCP server name it and our issuer. */
static void
judge_resource(struct check *k, const struct pf_api *api)
{
	const struct pf_json *doc, *servers = NULL;

	if ((doc = ck_get(k, "documents", api->metadata_url)) == NULL ||
	    !member_is(k, api->metadata_url, doc, "resource", api->url))
		return;
	(void)!pf_json_arr(doc, "authorization_servers", &servers);
	if (lists(servers, k->c->set.issuer))
		ck_say(k, CK_OK, "documents", "%.*s: the MCP server and the "
		    "issuer byte for byte", PF_STRF(api->metadata_url));
	else
		ck_say(k, CK_FAULT, "documents", "%.*s: authorization_servers "
		    "lacks the issuer %.*s: send poppy-auth SIGHUP",
		    PF_STRF(api->metadata_url), PF_STRF(k->c->set.issuer));
}

void
ck_documents(struct check *k)
{
	const struct pf_settings *s = &k->c->set;
	const struct pf_host *h = s->hosts.v;
	const struct pf_api *api = s->apis.v;

	for (size_t i = 0; i < s->hosts.n; i++)
		if (h[i].domain.n != 0)
			judge_poppy_json(k, ck_join(k, h[i].base,
			    WELL_KNOWN "poppy.json", PF_LIT("")), h[i].domain);
	for (size_t i = 0; i < s->domains.n; i++)
		if (pf_settings_host(s, s->domains.v[i]) == NULL)
			follow_domain(k, s->domains.v[i]);
	if (s->issuer.n != 0)
		judge_metadata(k);
	for (size_t i = 0; i < s->apis.n; i++) {
		if (api[i].mcp)
			judge_resource(k, &api[i]);
		else
			judge_openapi(k, api[i].url);
	}
}
