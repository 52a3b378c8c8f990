#include "config.h"

#include "tools/poppy-agent/client.h"

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/web/url.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/documents.h"
#include "tools/poppy-agent/keys.h"
#include "tools/poppy-agent/sign.h"

#define DEFAULT_NAME	"Poppy Agent"
#define URL_MAX		2048

static enum pf_rc
beside(struct pf_arena *a, struct pf_str head, struct pf_str dir,
    const char *name, struct pf_str *out)
{
	struct pf_buf b;

	pf_buf_init(&b, a, URL_MAX);
	pf_buf_add(&b, head);
	pf_buf_add(&b, dir);
	pf_buf_addz(&b, name);
	return pf_buf_done(&b, out);
}

enum pf_rc
ag_client_urls(struct pf_arena *a, struct pf_str client_id,
    struct ag_client *out, const char **why)
{
	struct pf_url u;
	struct pf_str dir;
	size_t slash;
	enum pf_rc rc;

	*why = "is no https URL";
	if (ag_origin(a, client_id, &out->origin) != PF_OK ||
	    pf_url_parse(client_id, &u) != PF_OK)
		return PF_E_INPUT;
	*why = "needs a path, without query, fragment or dot segments";
	if (u.path.n < 2 || pf_str_given(u.query) ||
	    pf_str_given(u.fragment) || pf_path_check(u.path) != PF_OK)
		return PF_E_INPUT;
	for (slash = u.path.n; u.path.p[slash - 1] != '/';)
		slash--;
	dir = pf_str_head(u.path, slash);
	out->id = client_id;
	out->id_path = u.path;
	*why = "is too long";
	if ((rc = beside(a, PF_NOSTR, dir, "jwks.json", &out->jwks_path)) !=
	    PF_OK || (rc = beside(a, PF_NOSTR, dir, "oauth/callback",
	    &out->redirect_path)) != PF_OK || (rc = beside(a, out->origin, dir, "jwks.json",
	    &out->jwks_uri)) != PF_OK || (rc = beside(a, out->origin, dir,
	    "oauth/callback", &out->redirect_uri)) != PF_OK)
		return rc;
	*why = "stands where the keys (jwks.json) must stand";
	return pf_str_eq(out->id_path, out->jwks_path) ? PF_E_INPUT : PF_OK;
}

enum pf_rc
ag_client_metadata(struct pf_arena *a, const struct ag_client *c,
    struct pf_str name, struct pf_str *out)
{
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, a, 16384);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "client_id", c->id);
	pf_jw_str(&w, "client_name", name);
	pf_jw_str(&w, "jwks_uri", c->jwks_uri);
	pf_jw_open(&w, "redirect_uris", '[');
	pf_jw_str(&w, NULL, c->redirect_uri);
	pf_jw_close(&w, ']');
	pf_jw_strz(&w, "token_endpoint_auth_method", "private_key_jwt");
	pf_jw_close(&w, '}');
	pf_buf_char(&b, '\n');
	return pf_buf_done(&b, out);
}

enum pf_rc
ag_client_jwks(struct pf_arena *a, const struct ag_key *keys, int64_t now_at,
    struct pf_str *out)
{
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, a, 65536);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_open(&w, "keys", '[');
	for (const struct ag_key *k = keys; k != NULL; k = k->next) {
		if (!ag_key_published(k, now_at))
			continue;
		pf_jw_raw(&w, NULL, PF_LIT(""));
		pf_key_write(&b, k->key, k->kid, false);
	}
	pf_jw_close(&w, ']');
	pf_jw_close(&w, '}');
	pf_buf_char(&b, '\n');
	return pf_buf_done(&b, out);
}

const struct ag_key *
ag_signing_key(const struct ag_state *st)
{
	for (const struct ag_key *k = st->keys; k != NULL; k = k->next)
		if (k->retired_at == 0)
			return k;
	return NULL;
}

enum pf_rc
ag_client_ready(struct agent *ag)
{
	if (ag->st.client_id.n > 0 && ag_signing_key(&ag->st) != NULL)
		return PF_OK;
	ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
	return ag_fault(&ag->fault, PF_E_ABSENT, NULL,
	    "this agent has no client_id yet: run "
	    "\"poppy-agent init --client-id URL\" first");
}

struct setup { struct pf_str client_id; bool changed; };

static enum pf_rc
setup(struct agent *ag, void *arg)
{
	struct setup *s = arg;
	struct ag_state *st = &ag->st;

	if (pf_str_given(s->client_id) &&
	    !pf_str_eq(s->client_id, st->client_id)) {
		s->changed = st->client_id.n > 0;
		st->client_id = s->client_id;
		for (struct ag_user *u = st->users; u != NULL; u = u->next)
			u->sessions = NULL, u->accounts = NULL;
	}
	if (ag->opt.name != NULL)
		st->name = pf_str(ag->opt.name);
	else if (st->name.n == 0)
		st->name = PF_LIT(DEFAULT_NAME);
	return ag_signing_key(st) != NULL ? PF_OK : ag_key_add(ag);
}

enum pf_rc
ag_client_setup(struct agent *ag, bool *changed_client)
{
	struct setup s = { pf_str(ag->opt.client_id), false };
	struct ag_client c;
	const char *why;
	enum pf_rc rc;

	if (pf_str_given(s.client_id) && (rc = ag_client_urls(&ag->arena,
	    s.client_id, &c, &why)) != PF_OK) {
		ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
		return ag_fault(&ag->fault, rc, NULL, "--client-id %s",
		    why);
	}
	rc = ag_state_change(ag, setup, &s);
	*changed_client = s.changed;
	return rc;
}

static void
free_key(void *k)
{
	pf_key_free(k);
}

/* Nothing of the User goes into the ID (4.2): it is drawn. */
static enum pf_rc
add_user(struct agent *ag, void *arg)
{
	const struct pf_str *issuer = arg;
	struct ag_user *u;
	enum pf_rc rc;

	/* Another agent may have been here since we looked. */
	if (ag_state_user(ag, *issuer) != NULL)
		return PF_OK;
	if ((u = pf_arena_alloc(&ag->arena, sizeof(*u))) == NULL)
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no memory");
	u->user = pf_str(ag->opt.user);
	u->issuer = *issuer;
	if ((rc = ag_random_id(&ag->arena, "usr_", &u->id)) != PF_OK ||
	    (rc = pf_key_generate(PF_ES256, &u->dpop)) != PF_OK ||
	    (rc = pf_arena_defer(&ag->arena, free_key, u->dpop)) != PF_OK)
		return ag_fault(&ag->fault, rc, NULL,
		    "no User ID or DPoP key could be made");
	u->next = ag->st.users;
	ag->st.users = u;
	return PF_OK;
}

enum pf_rc
ag_user_at(struct agent *ag, struct pf_str issuer, struct ag_user **out)
{
	enum pf_rc rc;

	if ((*out = ag_state_user(ag, issuer)) != NULL)
		return PF_OK;
	if ((rc = ag_state_change(ag, add_user, &issuer)) != PF_OK)
		return rc;
	*out = ag_state_user(ag, issuer);
	return *out != NULL ? PF_OK : PF_E_BUG;
}
