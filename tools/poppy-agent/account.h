/*
 * account - Account Tokens: what a sign-in gives, kept and used (4.8, 4.9).
 */
#ifndef AG_ACCOUNT_H
#define AG_ACCOUNT_H

#include "tools/poppy-agent/token.h"

/*
 * Keep what a sign-in of this Session gave, judged before by
 * ag_grant_check_signed_in(): the Session, and the Account Token in place of
 * the one that the Session had, which is revoked at the Company (4.4). Fault
 * set.
 */
PF_MUST enum pf_rc ag_account_take(struct agent *ag,
    const struct ag_company *c, const struct ag_grant *g);

/*
 * Use an Account Token (id PF_NOSTR: the newest): for a Session, or with
 * session_id PF_NOSTR for a new one. scope PF_NOSTR: all it has. *session is
 * the Session's. PF_E_ABSENT: there is none here. PF_E_AUTH: it has ended, and
 * is forgotten. PF_E_CONFLICT: invalid_session. Fault set.
 */
PF_MUST enum pf_rc ag_account_use(struct agent *ag, const struct ag_company *c,
    struct pf_str id, struct pf_str session_id, struct pf_str scope,
    struct pf_str *session);

/* Revoke one at the Company and forget it here; its Sessions go on signed
 * out. Fault set. */
PF_MUST enum pf_rc ag_account_revoke(struct agent *ag,
    const struct ag_company *c, struct pf_str id);

#endif
