/*
 * park - requests that wait without a thread.
 *
 * Two ways. A *rerun* keeps the whole request: when woken, the handler runs
 * again from its start on a worker and finds what it waited for (an agent's
 * document, say). A *waiter* keeps a descriptor and a few bytes of the
 * handler's own, so that ten thousand cost about 2 MB: when woken, its
 * function writes the reply, a piece of it, or waits on. Either way nobody
 * touches the request between PF_PARKED and the wake, and a peer that goes
 * away frees its place.
 *
 * Deadlines are pf_mono_ms(). A wake that comes before the park is complete is
 * not lost: the handle exists from pf_park_*_begin() on, and waking it then
 * makes the park return at once.
 */
#ifndef PF_PARK_H
#define PF_PARK_H

#include "core/web/req.h"

typedef uint64_t pf_parkid;	/* slot and generation; never used twice */

enum pf_wake {
	PF_WAKE_EVENT,		/* pf_park_wake() */
	PF_WAKE_TIME,		/* the deadline came */
	PF_WAKE_STOP		/* the program ends: answer if you can */
};

/* Wake one; any thread; stale ids are ignored. */
void pf_park_wake(struct pf_serve *s, pf_parkid id);

/*
 * Rerun. begin() gives the id under which others may wake it; then the handler
 * returns pf_park_rerun(), which is PF_PARKED. The deadline wakes it too;
 * rq->runs tells how often it has run, and pf_park_woken() why. PF_E_BUSY when
 * max_parked is reached: answer 503.
 */
PF_MUST enum pf_rc pf_park_rerun_begin(struct pf_req *rq, pf_parkid *id);
PF_MUST enum pf_rc pf_park_rerun(struct pf_req *rq, int64_t deadline_ms);
/* Begun, but not needed after all. */
void pf_park_rerun_cancel(struct pf_req *rq);
enum pf_wake pf_park_woken(const struct pf_req *rq);

/*
 * Waiter. state (nstate bytes, at most 4,096) is copied. head, unless empty, is
 * sent now: CGI headers and the first bytes of a stream.
 */
struct pf_waiting;		/* one wake of a waiter, on a worker */
struct pf_waiter_ops {
	/*
	 * PF_OK: the reply is complete after what was written; PF_PARKED: wait
	 * on (after PF_WAKE_TIME with a new deadline; at PF_WAKE_STOP it is the
	 * end all the same). Anything else ends the connection. state may be
	 * changed in place.
	 */
	enum pf_rc (*wake)(struct pf_waiting *w, enum pf_wake why);
	/* The peer is gone or the wait is over: last call, any thread,
	 * short. */
	void (*gone)(void *ctx, void *state);
	void *ctx;
};
PF_MUST enum pf_rc pf_park_waiter_begin(struct pf_req *rq, pf_parkid *id);
PF_MUST enum pf_rc pf_park_waiter(struct pf_req *rq,
    const struct pf_waiter_ops *ops, const void *state, size_t nstate,
    struct pf_str head, int64_t deadline_ms);
void pf_park_waiter_cancel(struct pf_req *rq);

/* What wake() may use. */
void *pf_waiting_state(struct pf_waiting *w);
struct pf_arena *pf_waiting_arena(struct pf_waiting *w);
struct pf_db *pf_waiting_db(struct pf_waiting *w);
void pf_waiting_deadline(struct pf_waiting *w, int64_t deadline_ms);
/*
 * Bytes for the peer, sent in one piece when wake() returns; never blocks. The
 * last words (PF_OK) may take up to 30 s like any reply; of a stream that waits
 * on, what does not fit the socket's buffer drops the peer, who reconnects.
 * False: over 4 MiB in one wake; the peer is dropped.
 */
bool pf_waiting_write(struct pf_waiting *w, struct pf_str bytes);

#endif
