/*
 * mediated - Mediated Sign-In (section 4.7): an agent brings the credentials of
 * its User. What they are is looked at, and kept, logged and said nowhere.
 */
#ifndef AUTH_MEDIATED_H
#define AUTH_MEDIATED_H

#include "core/poppy/limit.h"
#include "core/store/db.h"
#include "fcgi/auth/token.h"

/* A sign-in on its way, kept while its request waits (kept.h): what was counted
 * and what was made, each once. */
struct auth_mediation {
	struct pf_str scopes;
	unsigned char login_key[PF_LIMIT_KEY];
	unsigned char address_key[PF_LIMIT_KEY];
	struct pf_row found;		/* of mediated_begin() */
	struct pf_token id;		/* "sgn_", once a code was made */
	char code[8];			/* digits and NUL */
};
/* Columns of found. */
enum {
	AUTH_MED_OUTCOME, AUTH_MED_RETRY_S, AUTH_MED_ACCOUNT, AUTH_MED_EMAIL,
	AUTH_MED_PHONE, AUTH_MED_HASH, AUTH_MED_KIND, AUTH_MED_STATUS,
	AUTH_MED_UNUSUAL
};

/* mediated.c: what a database function that ends a sign-in says besides "ok",
 * in that column of its row. */
PF_MUST enum pf_rc auth_mediated_refuse(struct pf_req *rq,
    const struct pf_row *row, int outcome);

/* mediated_code.c: send a code and answer code_required. PF_PARKED; "failed"
 * where there is nobody to send it to. */
PF_MUST enum pf_rc auth_mediated_ask(struct pf_req *rq,
    struct auth_mediation *m);
/* What the database keeps of a code: nobody guesses it without the id. */
PF_MUST enum pf_rc auth_mediated_code_hash(struct pf_str id,
    struct pf_str code, unsigned char out[PF_SHA256_LEN]);

/* mediated_reply.c; all of them are 200 and JSON that nobody keeps. */
/* "failed" or "expired". */
PF_MUST enum pf_rc auth_mediated_status(struct pf_req *rq, const char *status);
/* A failed attempt, which the audit counts. */
PF_MUST enum pf_rc auth_mediated_failed(struct pf_req *rq);
PF_MUST enum pf_rc auth_mediated_required(struct pf_req *rq, struct pf_str id,
    struct pf_str sent_to, int64_t expires_at);
/* Columns of a row that signs in, from first on: scopes, expires_in,
 * grant_expires_in. */
PF_MUST enum pf_rc auth_mediated_complete(struct pf_req *rq,
    const struct auth_signing *s, const struct pf_row *row, int first);

#endif
