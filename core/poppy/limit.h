/*
 * limit - how often somebody may ask.
 *
 * What must hold over all workers is counted by the database, in the call that
 * decides (sql/functions/limit.sql). This file is what each process does by
 * itself, at the price of a look into a table:
 *	- requests that are refused empty a bucket of their address, so that a
 *	  flood of bad signatures is answered before anything is verified
 *	- what the database said is full isn't asked for again in that minute
 *	- calls of one Session, or of all of one client, empty a bucket of theirs
 *	- what anybody may ask without a token empties a bucket of the address
 * The table is bounded: whoever has used the least of a bucket is forgotten
 * first, which forgives.
 */
#ifndef PF_LIMIT_H
#define PF_LIMIT_H

#include "core/poppy/app.h"
#include "core/store/token.h"

#define PF_LIMIT_KEY	16

/* Whose, and what for. */
enum pf_limit {
	PF_LIMIT_REFUSED,	/* address: bucket of refusals */
	PF_LIMIT_TOKEN,		/* address: token requests are full */
	PF_LIMIT_REVOKE,	/* address: revocations are */
	PF_LIMIT_JOIN,		/* address: joins of browsers are */
	PF_LIMIT_CLIENT,	/* client: its token requests are */
	PF_LIMIT_BEARER,	/* token: its Session's calls are */
	PF_LIMIT_CALLS,		/* Session: bucket of calls */
	PF_LIMIT_CLIENT_CALLS,	/* client: bucket of calls */
	PF_LIMIT_OPEN		/* address: bucket of what anybody may ask */
};

/* --- the table; any thread --- */

struct pf_limiter;
PF_MUST enum pf_rc pf_limiter_new(size_t places, struct pf_limiter **out);
void pf_limiter_free(struct pf_limiter *l);	/* NULL is fine */

/*
 * A bucket holds per_minute and fills at that pace. Take one: 0, or the
 * milliseconds until there is one again, and nothing is taken. per_minute 0 is
 * no limit.
 */
int64_t pf_limiter_take(struct pf_limiter *l, enum pf_limit what,
    const unsigned char key[PF_LIMIT_KEY], int64_t per_minute, int64_t now_us);
/* The same without taking. */
int64_t pf_limiter_wait(struct pf_limiter *l, enum pf_limit what,
    const unsigned char key[PF_LIMIT_KEY], int64_t per_minute, int64_t now_us);
/* Shut something until then, and how many milliseconds it still is. */
void pf_limiter_shut(struct pf_limiter *l, enum pf_limit what,
    const unsigned char key[PF_LIMIT_KEY], int64_t until_us);
int64_t pf_limiter_shut_for(struct pf_limiter *l, enum pf_limit what,
    const unsigned char key[PF_LIMIT_KEY], int64_t now_us);

/* --- for requests; PF_OK, or rate_limited noted with Retry-After --- */

/* What limits count this request's address by. */
void pf_limit_address(const struct pf_req *rq,
    unsigned char key[PF_LIMIT_KEY]);
/* Before anything is verified. what: PF_LIMIT_REFUSED, or PF_LIMIT_TOKEN,
 * _REVOKE or _JOIN, which include it. */
PF_MUST enum pf_rc pf_limit_before(struct pf_req *rq, enum pf_limit what);
/* For what anybody may ask: takes from the address's bucket. */
PF_MUST enum pf_rc pf_limit_open(struct pf_req *rq);
/* Before the database is asked on behalf of an authenticated client. */
PF_MUST enum pf_rc pf_limit_client(struct pf_req *rq, int64_t client_no);
/* The database says that the address (what: _TOKEN, _REVOKE, _JOIN) or,
 * by_client, the client is full: never PF_OK. */
PF_MUST enum pf_rc pf_limit_full(struct pf_req *rq, enum pf_limit what,
    int64_t client_no, bool by_client, int64_t retry_s);
/* A request was refused: it takes from its address's bucket. */
void pf_limit_refused(struct pf_req *rq);

/* A call with a token: before the database, and once it is known whose. */
PF_MUST enum pf_rc pf_limit_bearer(struct pf_req *rq,
    const struct pf_tokenhash *token);
PF_MUST enum pf_rc pf_limit_call(struct pf_req *rq,
    const struct pf_tokenhash *token);

#endif
