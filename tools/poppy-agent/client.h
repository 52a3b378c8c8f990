/*
 * client - who the agent is: what it publishes (4.1), its keys, its Users.
 */
#ifndef AG_CLIENT_H
#define AG_CLIENT_H

#include "tools/poppy-agent/state.h"

struct ag_client {
	struct pf_str id, origin;
	struct pf_str id_path, jwks_path, redirect_path;
	struct pf_str jwks_uri, redirect_uri;
};

/*
 * The URLs that go with a client_id: jwks.json and oauth/callback beside the
 * document. PF_E_INPUT with *why: no https URL, no path, a query or fragment,
 * userinfo, or a document that would stand where jwks.json does.
 */
PF_MUST enum pf_rc ag_client_urls(struct pf_arena *a, struct pf_str client_id,
    struct ag_client *out, const char **why);
PF_MUST enum pf_rc ag_client_metadata(struct pf_arena *a,
    const struct ag_client *c, struct pf_str name, struct pf_str *out);
/* The public halves of all keys that still count at now_at. */
PF_MUST enum pf_rc ag_client_jwks(struct pf_arena *a, const struct ag_key *keys,
    int64_t now_at, struct pf_str *out);

/* The key that signs, or NULL. */
const struct ag_key *ag_signing_key(const struct ag_state *st);

/*
 * Make the state that of this client: set client_id and name where given, make
 * a signing key if there is none. Another client_id than before ends what was
 * the old client's: its Sessions. *changed_client tells. Fault set.
 */
PF_MUST enum pf_rc ag_client_setup(struct agent *ag, bool *changed_client);
/* The User at this issuer, with a fresh User ID and DPoP key if new here. */
PF_MUST enum pf_rc ag_user_at(struct agent *ag, struct pf_str issuer,
    struct ag_user **out);
/* Fault set unless there is a client_id and a signing key. */
PF_MUST enum pf_rc ag_client_ready(struct agent *ag);

#endif
