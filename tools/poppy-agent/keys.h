/*
 * keys - the agent's signing keys.
 */
#ifndef AG_KEYS_H
#define AG_KEYS_H

#include "tools/poppy-agent/state.h"

/* Companies may keep a key set for a day: so long a retired key is shown. */
#define AG_KEY_SHOWN_SECONDS	86400

bool ag_key_published(const struct ag_key *k, int64_t now_at);
/* Within ag_state_change(): a new key of --alg (ES256 if not given) signs from
 * now on, the old one is retired; keys retired long ago go. Fault set. */
PF_MUST enum pf_rc ag_key_add(struct agent *ag);

#endif
