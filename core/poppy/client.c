#include "core/poppy/client.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
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
	rc = jwks.n == 0 ? PF_OK : pf_jwks_parse(jwks, &c->keys, why);
	if (rc != PF_OK) {
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
