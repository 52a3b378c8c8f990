/*
 * password_pool - passwords are checked on a few threads of their own.
 *
 * A check takes a quarter of a second of a processor; on the workers a storm of
 * logins would keep everybody else waiting. So it is done aside (aside.h), by
 * threads that give way to the others: the request waits parked, its handler
 * runs again from the start, asks again, and gets the answer.
 */
#ifndef PF_PASSWORD_POOL_H
#define PF_PASSWORD_POOL_H

#include "core/web/req.h"

struct pf_password_pool;

struct pf_password_pool_opts {
	unsigned threads;		/* 1 to 16 */
	/* The shop's own salt, beside each hash of kind prestashop that has
	 * none; copied. "": there is none. */
	struct pf_str salt;
};

PF_MUST enum pf_rc pf_password_pool_start(
    const struct pf_password_pool_opts *opts, struct pf_password_pool **out);
/* Ends the threads; checks that wait are forgotten. NULL is fine. */
void pf_password_pool_stop(struct pf_password_pool *p);

/*
 * PF_OK: *answer is PF_OK or PF_E_AUTH; a hash that can't be used was logged
 * and is PF_E_AUTH too. PF_PARKED: return it. PF_E_BUSY: too many wait, or it
 * took too long; the reply (503, Retry-After) is noted. A hash of PF_NOSTR or ""
 * is that of nobody: the same work, then PF_E_AUTH.
 *
 * One check a request: asked again, the answer is the same, whatever else the
 * handler waited for meanwhile. rq->kept is shared by core/poppy/kept.h.
 */
PF_MUST enum pf_rc pf_password_ask(struct pf_req *rq,
    struct pf_password_pool *p, struct pf_str kind, struct pf_str hash,
    struct pf_str password, enum pf_rc *answer);

#endif
