/*
 * token - what the grants of the token endpoint share: what they give, and how
 * the reply says it. One file a grant: token_*.c.
 */
#ifndef AUTH_TOKEN_H
#define AUTH_TOKEN_H

#include "core/store/token.h"
#include "fcgi/auth/asking.h"

/* The grants; each answers, or notes its error. */
enum pf_rc auth_grant_session(struct auth_asking *q);
enum pf_rc auth_grant_code(struct auth_asking *q);
enum pf_rc auth_grant_device(struct auth_asking *q);
enum pf_rc auth_grant_refresh(struct auth_asking *q);

/* session_id, if one is named. What can't be one of ours is no Session:
 * invalid_session noted. */
PF_MUST enum pf_rc auth_named_session(struct auth_asking *q,
    struct pf_sid *out, bool *named);

/*
 * What a grant that signs a Session in brings along: which Session, and secrets
 * that the database gets as hashes. Wipe it.
 */
struct auth_signing {
	struct pf_sid sid;		/* named, else new */
	bool named;
	struct pf_token token, account;
	struct pf_tokenhash token_hash, account_hash;
};
/* A Session Token and an Account Token in the bucket, and a new Session unless
 * one is named. */
PF_MUST enum pf_rc auth_signing_new(struct auth_signing *s, unsigned bucket);
void auth_signing_wipe(struct auth_signing *s);
/* What a function that signs in returns first. */
enum { AUTH_SCOPES = AUTH_OWN, AUTH_EXPIRES_IN, AUTH_GRANT_EXPIRES_IN,
	AUTH_SIGNED };
/* Reply by its row. account is the Account Token to tell, or PF_NOSTR. */
PF_MUST enum pf_rc auth_signing_reply(struct auth_asking *q,
    const struct auth_signing *s, const struct pf_row *row,
    struct pf_str account);

/* The fields of section 4.4, or of 4.2 for a signed-out Session. */
struct auth_tokens {
	struct pf_str access;		/* the Session Token */
	bool bearer;
	int64_t expires_in;
	struct pf_str account;		/* the Account Token; PF_NOSTR: not told */
	int64_t account_expires_in;	/* seconds; 0: not told */
	struct pf_str scopes;
	struct pf_sid sid;
	bool signed_in;
};
/* Into an object that is open. */
void auth_write_tokens(struct pf_jw *w, const struct auth_tokens *t);
/* The whole reply. */
PF_MUST enum pf_rc auth_send_tokens(struct pf_req *rq,
    const struct auth_tokens *t);

#endif
