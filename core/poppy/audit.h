/*
 * audit - what the company can look up later about attacks and refusals.
 *
 * What the database decides it also writes down, in the same transaction
 * (sql/functions/audit.sql). What is refused before that is counted here, by
 * error and address, and written as one row each every few seconds, so that a
 * flood costs no transaction of its own. No row holds a token, a proof, an
 * assertion or a User ID.
 */
#ifndef PF_AUDIT_H
#define PF_AUDIT_H

#include "core/poppy/app.h"

#define PF_AUDIT_PLACES	128	/* kinds of refusals between two flushes */

struct pf_audit;
PF_MUST enum pf_rc pf_audit_new(struct pf_audit **out);
void pf_audit_free(struct pf_audit *au);	/* NULL is fine */

/*
 * The address of a request as the audit shows it: plain, or "hmac:" and a keyed
 * hash, by the setting audit.addresses; PF_NOSTR if it is not known.
 */
struct pf_str pf_audit_address(const struct pf_req *rq);

/* Count the refusal that is noted on the request. Any thread. */
void pf_audit_refused(struct pf_audit *au, const struct pf_req *rq);
/* The same in parts. Beyond PF_AUDIT_PLACES different ones it is counted among
 * "others". detail and address are copied, and cut at 120 and 45 bytes. */
void pf_audit_count(struct pf_audit *au, struct pf_str detail,
    struct pf_str address, int64_t n);
/* Write what has been counted and begin anew. If that fails it stays counted;
 * where it is not known whether it failed, it may be counted twice. */
PF_MUST enum pf_rc pf_audit_flush(struct pf_audit *au, struct pf_db *db,
    struct pf_arena *a);

#endif
