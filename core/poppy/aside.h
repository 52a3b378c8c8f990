/*
 * aside - work that takes long is done on a few threads of its own, while the
 * request that wants it waits parked.
 *
 * The queue is bounded. What a task is given is copied, and wiped as soon as it
 * was used, or as soon as the peer has gone away: what nobody has begun then is
 * not begun.
 */
#ifndef PF_ASIDE_H
#define PF_ASIDE_H

#include "core/web/req.h"

#define PF_ASIDE_THREADS	16
#define PF_ASIDE_PARTS		5

struct pf_aside;

struct pf_aside_opts {
	unsigned threads;		/* 1 to PF_ASIDE_THREADS */
	unsigned queue_each;		/* how many wait for each of them */
	int nice;			/* how far they give way to others */
	int64_t patience_ms;		/* how long a request waits */
	const char *busy;		/* error_description of 503; kept */
};

struct pf_aside_task {
	/* Under it the request keeps the answer; a name of its own. */
	const char *name;
	/* On a thread of aside. Its result is the answer. */
	enum pf_rc (*run)(const struct pf_str part[PF_ASIDE_PARTS]);
};

PF_MUST enum pf_rc pf_aside_start(const struct pf_aside_opts *opts,
    struct pf_aside **out);
/* Ends the threads; what waits is forgotten. NULL is fine. */
void pf_aside_stop(struct pf_aside *p);

/*
 * PF_OK with the answer; PF_PARKED: return it, and the handler runs again;
 * PF_E_BUSY: too many wait, or it took too long; the reply (503, Retry-After)
 * is noted. One task of a name for each request: asked again, the answer is the
 * same, whatever else the handler waited for meanwhile.
 */
PF_MUST enum pf_rc pf_aside_ask(struct pf_req *rq, struct pf_aside *p,
    const struct pf_aside_task *task, const struct pf_str *part, size_t nparts,
    enum pf_rc *answer);

#endif
