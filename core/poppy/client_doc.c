/*
 * What a client's metadata document says.
 */
#include "core/poppy/client.h"

#include "core/poppy/label.h"
#include "core/web/url.h"

/* https, on the client's host or below it at a label boundary. */
static bool
on_host(struct pf_str url, struct pf_str host)
{
	struct pf_url u;

	return pf_url_is_https(url) && pf_url_parse(url, &u) == PF_OK &&
	    pf_host_within(u.host, host);
}

/* An app's own port on the customer's computer (RFC 8252, 7.3). */
static bool
on_loopback(struct pf_str url, struct pf_url *u)
{
	static const char *const hosts[] = { "127.0.0.1", "[::1]", "localhost" };

	if (pf_url_parse(url, u) != PF_OK || !pf_str_eqz(u->scheme, "http") ||
	    u->userinfo || pf_str_given(u->fragment))
		return false;
	for (size_t i = 0; i < PF_COUNT(hosts); i++)
		if (pf_str_eqz(u->host, hosts[i]))
			return true;
	return false;
}

static enum pf_rc
read_redirects(struct pf_arena *a, const struct pf_json *doc,
    struct pf_str host, struct pf_client_doc *out, const char **why)
{
	const struct pf_json *list;
	struct pf_str *uris;
	struct pf_url u;
	enum pf_rc rc;

	rc = pf_json_arr(doc, "redirect_uris", &list);
	if (rc == PF_E_ABSENT)
		return PF_OK;
	*why = "redirect_uris is no list of https URLs on its own host";
	if (rc != PF_OK)
		return rc;
	uris = pf_arena_alloc(a, pf_json_len(list) * sizeof(*uris));
	if (uris == NULL)
		return PF_E_MEM;
	for (size_t i = 0; i < pf_json_len(list); i++)
		if (pf_json_as_str(pf_json_at(list, i), &uris[i]) != PF_OK ||
		    !(on_host(uris[i], host) ||
		    (out->is_public && on_loopback(uris[i], &u))))
			return PF_E_INPUT;
	out->redirect_uris = (struct pf_strs){ uris, pf_json_len(list) };
	return PF_OK;
}

static enum pf_rc
check_method(const struct pf_json *doc, bool public_ok,
    struct pf_client_doc *out, const char **why)
{
	struct pf_str s;
	enum pf_rc rc;

	rc = pf_json_str(doc, "token_endpoint_auth_method", &s);
	if (rc == PF_E_ABSENT)
		return PF_OK;
	*why = "token_endpoint_auth_method is not private_key_jwt";
	if (rc != PF_OK)
		return rc;
	out->is_public = public_ok && pf_str_eqz(s, "none");
	return out->is_public || pf_str_eqz(s, "private_key_jwt") ? PF_OK :
	    PF_E_INPUT;
}

/* Who has no key authenticates with none: whatever it lists is not looked
 * at. */
static enum pf_rc
check_keys(const struct pf_json *doc, struct pf_str host,
    struct pf_client_doc *out, const char **why)
{
	if (out->is_public)
		return PF_OK;
	*why = "jwks_uri is missing or not https on its own host";
	if (pf_json_str(doc, "jwks_uri", &out->jwks_uri) != PF_OK ||
	    !on_host(out->jwks_uri, host))
		return PF_E_INPUT;
	return PF_OK;
}

/* What it says about itself for people: nothing here makes it invalid. */
static enum pf_rc
about_itself(struct pf_arena *a, const struct pf_json *doc,
    struct pf_client_doc *out)
{
	struct pf_str s;

	if (pf_json_str(doc, "logo_uri", &s) == PF_OK && pf_url_is_https(s))
		out->logo_uri = s;
	if (pf_json_str(doc, "client_name", &s) != PF_OK)
		return PF_OK;
	return pf_label(a, s, &out->name);
}

enum pf_rc
pf_client_doc(struct pf_arena *a, struct pf_str client_id, struct pf_str text,
    bool public_ok, struct pf_client_doc *out, const char **why)
{
	const struct pf_json *doc;
	struct pf_url u;
	struct pf_str s;
	enum pf_rc rc;

	*out = (struct pf_client_doc){ .jwks_uri = PF_NOSTR };
	*why = "client metadata is no JSON object";
	if (pf_url_parse(client_id, &u) != PF_OK)
		return PF_E_INPUT;
	rc = pf_json_parse(a, text, &pf_json_large, &doc, NULL);
	if (rc != PF_OK)
		return rc;
	*why = "client_id in the metadata is not the URL it came from";
	if (pf_json_str(doc, "client_id", &s) != PF_OK ||
	    !pf_str_eq(s, client_id))
		return PF_E_INPUT;
	if ((rc = check_method(doc, public_ok, out, why)) != PF_OK ||
	    (rc = check_keys(doc, u.host, out, why)) != PF_OK ||
	    (rc = read_redirects(a, doc, u.host, out, why)) != PF_OK)
		return rc;
	return about_itself(a, doc, out);
}

/* The same but for the port, which an app can't know before it runs. */
static bool
same_loopback(struct pf_str registered, const struct pf_url *asked)
{
	struct pf_url u;

	return on_loopback(registered, &u) && pf_str_eq(u.host, asked->host) &&
	    pf_str_eq(u.path, asked->path) &&
	    pf_str_given(u.query) == pf_str_given(asked->query) &&
	    pf_str_eq(u.query, asked->query);
}

bool
pf_client_redirect(const struct pf_client_doc *doc, struct pf_str uri, bool mcp)
{
	struct pf_url u;
	bool loopback = on_loopback(uri, &u);

	if (loopback && !mcp)
		return false;
	for (size_t i = 0; i < doc->redirect_uris.n; i++)
		if (pf_str_eq(doc->redirect_uris.v[i], uri) || (loopback &&
		    same_loopback(doc->redirect_uris.v[i], &u)))
			return true;
	return false;
}
