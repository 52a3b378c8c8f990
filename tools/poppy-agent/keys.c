#include "config.h"

#include "tools/poppy-agent/keys.h"

#include <string.h>

#include "core/base/clock.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/client.h"

bool
ag_key_published(const struct ag_key *k, int64_t now_at)
{
	return k->retired_at == 0 ||
	    k->retired_at + AG_KEY_SHOWN_SECONDS > now_at;
}

static void
free_key(void *k)
{
	pf_key_free(k);
}

/* kid = thumbprint (RFC 7638): the same key never has two names. */
static enum pf_rc
make_key(struct agent *ag, enum pf_alg alg, struct ag_key *k)
{
	struct pf_buf b;
	enum pf_rc rc;

	if ((rc = pf_key_generate(alg, &k->key)) != PF_OK ||
	    (rc = pf_arena_defer(&ag->arena, free_key, k->key)) != PF_OK)
		return rc;
	pf_buf_init(&b, &ag->arena, 64);
	pf_buf_b64url(&b, pf_key_thumbprint(k->key), PF_SHA256_LEN);
	k->alg = alg;
	k->made_at = pf_now_at();
	return pf_buf_done(&b, &k->kid);
}

enum pf_rc
ag_key_add(struct agent *ag)
{
	enum pf_alg alg = ag->opt.alg == NULL ? PF_ES256 :
	    pf_alg_parse(pf_str(ag->opt.alg));
	struct ag_key *k = pf_arena_alloc(&ag->arena, sizeof(*k));
	enum pf_rc rc;

	ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
	if (alg == PF_ALG_NONE)
		return ag_fault(&ag->fault, PF_E_INPUT, NULL,
		    "--alg must be one of %s", PF_ALG_ALL);
	if (k == NULL || (rc = make_key(ag, alg, k)) != PF_OK)
		return ag_fault(&ag->fault, k == NULL ? PF_E_MEM : rc, NULL,
		    "no key could be made");
	for (struct ag_key **o = &ag->st.keys; *o != NULL;) {
		if ((*o)->retired_at == 0)
			(*o)->retired_at = k->made_at;
		if (ag_key_published(*o, k->made_at))
			o = &(*o)->next;
		else
			*o = (*o)->next;
	}
	k->next = ag->st.keys;
	ag->st.keys = k;
	return PF_OK;
}

static void
show_client(struct agent *ag, bool changed)
{
	const struct ag_key *k = ag_signing_key(&ag->st);

	ag_show_fact(&ag->show, "state", pf_str(ag->opt.state));
	if (ag->st.client_id.n > 0)
		ag_show_fact(&ag->show, "client_id", ag->st.client_id);
	ag_show_fact(&ag->show, "client_name", ag->st.name);
	if (k != NULL) {
		ag_show_fact(&ag->show, "alg", pf_str(pf_alg_name(k->alg)));
		ag_show_fact(&ag->show, "kid", k->kid);
	}
	if (changed)
		ag_show_note(&ag->show, "another client_id than before: the "
		    "old one's Sessions are forgotten");
}

enum pf_rc
ag_cmd_init(struct agent *ag)
{
	bool changed = false;
	enum pf_rc rc;

	ag_step_begin(&ag->show, "init", "The agent's identity");
	rc = ag_client_setup(ag, &changed);
	if (rc == PF_OK)
		show_client(ag, changed);
	return ag_step_end(&ag->show, rc, &ag->fault);
}

static enum pf_rc
rotate(struct agent *ag, void *arg)
{
	(void)arg;
	return ag_key_add(ag);
}

static void
list_keys(struct agent *ag)
{
	int64_t now_at = pf_now_at();

	for (const struct ag_key *k = ag->st.keys; k != NULL; k = k->next) {
		struct pf_buf b;

		pf_buf_init(&b, &ag->arena, 128);
		pf_buf_fmt(&b, "%s, made ", pf_alg_name(k->alg));
		pf_buf_rfc3339(&b, k->made_at);
		pf_buf_addz(&b, k->retired_at == 0 ? ", signs" :
		    ag_key_published(k, now_at) ? ", retired, still published" :
		    ", retired");
		ag_show_fact(&ag->show, pf_arena_z(&ag->arena, k->kid),
		    pf_buf_str(&b));
	}
}

/* keys [list|rotate|jwks] */
enum pf_rc
ag_cmd_keys(struct agent *ag)
{
	const char *what = ag->opt.narg > 0 ? ag->opt.arg[0] : "list";
	struct pf_str jwks;
	enum pf_rc rc = PF_OK;

	if (strcmp(what, "jwks") == 0) {
		if ((rc = ag_client_jwks(&ag->arena, ag->st.keys, pf_now_at(),
		    &jwks)) == PF_OK)
			printf("%.*s", PF_STRF(jwks));
		return rc;
	}
	ag_step_begin(&ag->show, "keys", "The agent's signing keys");
	if (strcmp(what, "rotate") == 0)
		rc = ag_state_change(ag, rotate, NULL);
	else if (strcmp(what, "list") != 0)
		rc = ag_fault(&ag->fault, PF_E_INPUT, NULL,
		    "keys takes list, rotate or jwks, not \"%s\"", what);
	if (rc == PF_OK)
		list_keys(ag);
	return ag_step_end(&ag->show, rc, &ag->fault);
}
