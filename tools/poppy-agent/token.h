/*
 * token - the token endpoint: Sessions are started and renewed here (4.2).
 */
#ifndef AG_TOKEN_H
#define AG_TOKEN_H

#include "core/base/json.h"
#include "tools/poppy-agent/documents.h"

struct agent;

struct ag_grant {
	struct pf_str token;		/* the Session Token */
	struct pf_str scope, session_id;
	int64_t expires_in;
	bool signed_in;
};

/*
 * Judge a 200 reply to a JWT bearer request. session_id is what was renewed, or
 * PF_NOSTR for a start. PF_E_UPSTREAM with the fault set.
 */
PF_MUST enum pf_rc ag_grant_check(const struct pf_json *doc,
    struct pf_str session_id, struct ag_grant *out, struct ag_fault *f);

/* What an error code of the token endpoint means, in a few words. */
const char *ag_token_error_text(struct pf_str code);

/*
 * Start a Session (session_id PF_NOSTR) or renew one, and keep what came back.
 * *id is the Session's. PF_E_CONFLICT: invalid_session, the Session is
 * forgotten, start a new one. Fault set.
 */
PF_MUST enum pf_rc ag_token_get(struct agent *ag, const struct ag_company *c,
    struct pf_str session_id, struct pf_str *id);

#endif
