#include "core/poppy/client.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/poppy/label.h"
#include "core/web/url.h"

bool
pf_client_id_ok(struct pf_str client_id)
{
	struct pf_url u;

	return client_id.n <= PF_CLIENT_ID_MAX &&
	    pf_url_is_https(client_id) &&
	    pf_url_parse(client_id, &u) == PF_OK &&
	    u.path.n > 0 && pf_path_check(u.path) == PF_OK;
}

/* https, on the client's host or below it at a label boundary. */
static bool
on_host(struct pf_str url, struct pf_str host)
{
	struct pf_url u;

	return pf_url_is_https(url) && pf_url_parse(url, &u) == PF_OK &&
	    pf_host_within(u.host, host);
}

static enum pf_rc
check_redirects(const struct pf_json *doc, struct pf_str host, const char **why)
{
	const struct pf_json *list;
	enum pf_rc rc;
	struct pf_str s;

	rc = pf_json_arr(doc, "redirect_uris", &list);
	if (rc == PF_E_ABSENT)
		return PF_OK;
	*why = "redirect_uris is no list of https URLs on its own host";
	if (rc != PF_OK)
		return rc;
	for (size_t i = 0; i < pf_json_len(list); i++)
		if (pf_json_as_str(pf_json_at(list, i), &s) != PF_OK ||
		    !on_host(s, host))
			return PF_E_INPUT;
	return PF_OK;
}

static enum pf_rc
check_method(const struct pf_json *doc, const char **why)
{
	struct pf_str s;
	enum pf_rc rc;

	rc = pf_json_str(doc, "token_endpoint_auth_method", &s);
	if (rc == PF_E_ABSENT)
		return PF_OK;
	*why = "token_endpoint_auth_method is not private_key_jwt";
	if (rc != PF_OK || !pf_str_eqz(s, "private_key_jwt"))
		return PF_E_INPUT;
	return PF_OK;
}

/* What it says about itself for people: nothing here makes it invalid. */
static enum pf_rc
about_itself(struct pf_arena *a, const struct pf_json *doc,
    struct pf_client_doc *out)
{
	struct pf_str s;

	out->name = out->logo_uri = PF_NOSTR;
	if (pf_json_str(doc, "logo_uri", &s) == PF_OK && pf_url_is_https(s))
		out->logo_uri = s;
	if (pf_json_str(doc, "client_name", &s) != PF_OK)
		return PF_OK;
	return pf_label(a, s, &out->name);
}

enum pf_rc
pf_client_doc(struct pf_arena *a, struct pf_str client_id, struct pf_str text,
    struct pf_client_doc *out, const char **why)
{
	const struct pf_json *doc;
	struct pf_url u;
	struct pf_str s;
	enum pf_rc rc;

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
	*why = "jwks_uri is missing or not https on its own host";
	if (pf_json_str(doc, "jwks_uri", &out->jwks_uri) != PF_OK ||
	    !on_host(out->jwks_uri, u.host))
		return PF_E_INPUT;
	if ((rc = check_redirects(doc, u.host, why)) != PF_OK ||
	    (rc = check_method(doc, why)) != PF_OK)
		return rc;
	return about_itself(a, doc, out);
}

enum pf_rc
pf_client_new(struct pf_str client_id, int64_t no, int64_t version,
    bool allowed, struct pf_str jwks, int64_t fresh_s, struct pf_client **out,
    const char **why)
{
	struct pf_client *c;
	enum pf_rc rc;
	char *id;

	*why = "no memory";
	if ((c = calloc(1, sizeof(*c) + client_id.n)) == NULL)
		return PF_E_MEM;
	if ((rc = pf_jwks_parse(jwks, &c->keys, why)) != PF_OK) {
		free(c);
		return rc;
	}
	id = (char *)(c + 1);
	(void)memcpy(id, client_id.p, client_id.n);
	c->client_id = pf_bytes(id, client_id.n);
	c->no = no;
	c->version = version;
	c->allowed = allowed;
	c->fresh_until_ms = pf_mono_ms() + fresh_s * 1000;
	c->refs = 1;
	*out = c;
	return PF_OK;
}

void
pf_client_drop(struct pf_client *c)
{
	if (c == NULL ||
	    __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	pf_keyset_free(&c->keys);
	free(c);
}
