/*
 * token - the token endpoint: Sessions are started and renewed here (4.2).
 */
#ifndef AG_TOKEN_H
#define AG_TOKEN_H

#include "core/base/json.h"
#include "tools/poppy-agent/documents.h"

struct agent;
struct ag_user;

struct ag_grant {
	struct pf_str token;		/* the Session Token */
	struct pf_str scope, session_id;
	int64_t expires_in;
	bool signed_in;
	/* of a sign-in */
	struct pf_str account_token;	/* PF_NOSTR if none was given */
	int64_t account_expires_in;	/* 0: not said */
};

/*
 * Judge a 200 reply to a JWT bearer request. session_id is what was renewed, or
 * PF_NOSTR for a start. PF_E_UPSTREAM with the fault set.
 */
PF_MUST enum pf_rc ag_grant_check(const struct pf_json *doc,
    struct pf_str session_id, struct ag_grant *out, struct ag_fault *f);

/*
 * Judge what a sign-in or the use of an Account Token gave (4.4, 4.8).
 * session_id is the Session that was named, or PF_NOSTR; asked are the scopes
 * that were asked for (PF_NOSTR: any). PF_E_UPSTREAM with the fault set.
 */
PF_MUST enum pf_rc ag_grant_check_signed_in(const struct pf_json *doc,
    struct pf_str session_id, struct pf_str asked, struct ag_grant *out,
    struct ag_fault *f);

/* What an error code of the token endpoint means, in a few words. */
const char *ag_token_error_text(struct pf_str code);

/*
 * Start a Session (session_id PF_NOSTR) or renew one, and keep what came back.
 * *id is the Session's. PF_E_CONFLICT: invalid_session, the Session is
 * forgotten, start a new one. Fault set.
 */
PF_MUST enum pf_rc ag_token_get(struct agent *ag, const struct ag_company *c,
    struct pf_str session_id, struct pf_str *id);

/* --- any request of a form with client assertion, as the rest is made --- */

struct ag_param {
	const char *name;
	struct pf_str value;
	bool secret;
};

struct ag_token_ask {
	struct pf_str url;		/* the endpoint, and aud */
	const struct ag_param *param;	/* grant_type and what belongs to it */
	size_t nparams;
	bool proof;			/* with a DPoP Proof */
	bool assertion;			/* with a Session assertion */
};

/* What came back: the status, and the body if it is an object. */
struct ag_token_answer {
	int status;
	const struct pf_json *doc;	/* or NULL */
	struct pf_str error;		/* its "error", or PF_NOSTR */
	struct pf_str caching;		/* Cache-Control */
};

/* Send until there is an answer to act on: fresh assertions and proof each
 * time, one retry for a nonce, and Retry-After waited out while it is short.
 * PF_OK for any answer. Fault set. */
PF_MUST enum pf_rc ag_token_ask(struct agent *ag, struct ag_user *u,
    const struct ag_token_ask *ask, struct ag_token_answer *out);
/* Fault and rc for an answer that is not what was asked for: PF_E_CONFLICT for
 * invalid_session, PF_E_AUTH for other OAuth errors, PF_E_UPSTREAM. */
PF_MUST enum pf_rc ag_token_refused(struct agent *ag,
    const struct ag_token_answer *answer);
/* Keep a Session that was given, first in its User's list; account is the id
 * of the Account Token it is signed in with, or PF_NOSTR. Then show it. */
PF_MUST enum pf_rc ag_token_keep(struct agent *ag, struct pf_str issuer,
    const struct ag_grant *g, struct pf_str account);

#endif
