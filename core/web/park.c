#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "core/base/log.h"
#include "core/web/serve_int.h"

#define STATE_MAX	4096
#define GENERATIONS	((1ull << 40) - 1)
#define WRITE_MAX	PF_RESP_MAX

struct pf_waiting {
	struct pf_serve *s;
	struct pf_worker *worker;
	struct pf_slot *slot;
	struct pf_buf out;	/* written in this wake */
};

static uint32_t
id_slot(pf_parkid id)
{
	return (uint32_t)(id & (MAX_SLOTS - 1));
}

void
pf_wait_init(struct pf_wait *w, struct pf_slot *sl, struct pf_worker *worker)
{
	w->slot = sl;
	w->worker = worker;
	w->want = WANT_NO_PARK;
	w->dead = false;
	w->deadline_ms = 0;
}

static void
count_parked_l(struct pf_serve *s, const struct pf_slot *sl, int by)
{
	uint64_t *n = sl->ops != NULL ? &s->stats.waiting_now :
	    &s->stats.parked_now;

	*n += (uint64_t)(int64_t)by;
}

void
pf_park_take_l(struct pf_serve *s, struct pf_slot *sl)
{
	count_parked_l(s, sl, -1);
	pf_timer_clear_l(s, sl);
	sl->state = SLOT_RUNNING;
}

/*
 * Only the move out of PARKED, here or by the event thread for a peer that went
 * away, hands the slot to somebody: so it is run once for any number of wakes.
 */
void
pf_park_wake_l(struct pf_serve *s, struct pf_slot *sl, enum pf_wake why)
{
	sl->woken = true;
	sl->why = why;
	if (sl->state != SLOT_PARKED)
		return;
	pf_park_take_l(s, sl);
	sl->state = SLOT_QUEUED;
	pf_worker_wake(pf_push_l(s, &sl->work));
}

void
pf_park_wake(struct pf_serve *s, pf_parkid id)
{
	struct pf_slot *sl;

	pf_lock(s);
	sl = pf_slot_at_l(s, id_slot(id));
	if (sl != NULL && sl->begun && sl->park == id >> 24)
		pf_park_wake_l(s, sl, PF_WAKE_EVENT);
	pf_unlock(s);
}

static enum pf_rc
begin(struct pf_req *rq, pf_parkid *id)
{
	struct pf_slot *sl = rq->wait->slot;
	struct pf_serve *s = rq->serve;
	enum pf_rc rc = PF_E_BUSY;

	pf_lock(s);
	if (!sl->begun && s->parked < s->o.max_parked) {
		s->parked++;
		sl->begun = true;
		sl->woken = false;
		sl->park = (sl->park + 1) & GENERATIONS;
		*id = sl->park << 24 | sl->index;
		rc = PF_OK;
	}
	pf_unlock(s);
	return rc;
}

void
pf_park_forget(struct pf_serve *s, struct pf_slot *sl)
{
	pf_lock(s);
	if (sl->begun) {
		sl->begun = false;
		s->parked--;
	}
	sl->woken = false;
	pf_unlock(s);
}

enum pf_rc
pf_park_rerun_begin(struct pf_req *rq, pf_parkid *id)
{
	struct pf_worker *w = rq->wait->worker;

	/* The arena goes along, so the worker must have another one. */
	if (w->spare == NULL && (w->spare = pf_worker_arena(w->s)) == NULL)
		return PF_E_MEM;
	return begin(rq, id);
}

enum pf_rc
pf_park_rerun(struct pf_req *rq, int64_t deadline_ms)
{
	if (!rq->wait->slot->begun)
		return PF_E_BUG;
	rq->wait->want = WANT_RERUN;
	rq->wait->deadline_ms = deadline_ms;
	return PF_PARKED;
}

void
pf_park_rerun_cancel(struct pf_req *rq)
{
	pf_park_forget(rq->serve, rq->wait->slot);
}

enum pf_wake
pf_park_woken(const struct pf_req *rq)
{
	return rq->wait->why;
}

enum pf_rc
pf_park_waiter_begin(struct pf_req *rq, pf_parkid *id)
{
	return begin(rq, id);
}

void
pf_park_waiter_cancel(struct pf_req *rq)
{
	pf_park_forget(rq->serve, rq->wait->slot);
}

enum pf_rc
pf_park_waiter(struct pf_req *rq, const struct pf_waiter_ops *ops,
    const void *state, size_t nstate, struct pf_str head, int64_t deadline_ms)
{
	struct pf_slot *sl = rq->wait->slot;
	void *copy;

	if (nstate > STATE_MAX || !sl->begun)
		return PF_E_BUG;
	if ((copy = malloc(nstate > 0 ? nstate : 1)) == NULL)
		return PF_E_MEM;
	if (nstate > 0)
		memcpy(copy, state, nstate);
	sl->ops = ops;
	sl->state_copy = copy;
	rq->wait->want = WANT_WAITER;
	rq->wait->deadline_ms = deadline_ms;
	rq->wait->dead = head.n > 0 && pf_reply_send(rq->serve, sl, head,
	    PF_LIT(""), false, true) != SENT_ALL;
	return PF_PARKED;
}

/*
 * Under the lock the park is armed, or, if a wake came since begin(), run at
 * once: there is no moment in between for a wake to be lost.
 */
static bool
commit_l(struct pf_serve *s, struct pf_slot *sl, int64_t deadline_ms)
{
	if (s->stopping && !sl->woken) {
		sl->woken = true;
		sl->why = PF_WAKE_STOP;
	}
	if (sl->woken) {
		sl->state = SLOT_QUEUED;
		pf_worker_wake(pf_push_l(s, &sl->work));
		return true;
	}
	if (!pf_slot_watch_l(s, sl, SLOT_PARKED, ONCE_IN, deadline_ms))
		return false;
	count_parked_l(s, sl, 1);
	return true;
}

void
pf_park_commit(struct pf_serve *s, struct pf_slot *sl)
{
	bool ok;

	if (sl->wait.dead) {
		pf_slot_end(s, sl);
		return;
	}
	pf_lock(s);
	ok = commit_l(s, sl, sl->wait.deadline_ms);
	pf_unlock(s);
	if (!ok)
		pf_slot_end(s, sl);
}

void *
pf_waiting_state(struct pf_waiting *w)
{
	return w->slot->state_copy;
}

struct pf_arena *
pf_waiting_arena(struct pf_waiting *w)
{
	return w->worker->arena;
}

struct pf_db *
pf_waiting_db(struct pf_waiting *w)
{
	return w->worker->db;
}

void
pf_waiting_deadline(struct pf_waiting *w, int64_t deadline_ms)
{
	w->slot->wait.deadline_ms = deadline_ms;
}

/* Kept until the wake is over, so that the last words and the end of the
 * request go out in one piece. */
bool
pf_waiting_write(struct pf_waiting *w, struct pf_str bytes)
{
	pf_buf_add(&w->out, bytes);
	return !w->out.failed;
}

/* Tell the waiter that it is over; what is left of the slot is a connection. */
static void
waiter_over(struct pf_serve *s, struct pf_slot *sl)
{
	if (sl->ops->gone != NULL)
		sl->ops->gone(sl->ops->ctx, sl->state_copy);
	free(sl->state_copy);
	sl->ops = NULL;
	sl->state_copy = NULL;
	pf_park_forget(s, sl);
}

void
pf_park_run_waiter(struct pf_worker *w, struct pf_slot *sl)
{
	struct pf_waiting waiting = { .s = w->s, .worker = w, .slot = sl };
	enum pf_wake why = sl->wait.why;
	enum pf_sent sent;
	enum pf_rc rc;
	bool end;

	pf_buf_init(&waiting.out, w->arena, WRITE_MAX);
	if (why == PF_WAKE_TIME)
		sl->wait.deadline_ms = 0;
	rc = sl->ops->wake(&waiting, why);
	/* Without a new deadline it would wait for ever. */
	end = rc == PF_OK || (rc == PF_PARKED && (why == PF_WAKE_STOP ||
	    sl->wait.deadline_ms == 0));
	sent = waiting.out.failed || (!end && rc != PF_PARKED) ? SENT_DEAD :
	    pf_reply_send(w->s, sl, pf_buf_str(&waiting.out), PF_LIT(""), end,
	    !end);
	if (end || sent != SENT_ALL) {
		waiter_over(w->s, sl);
		pf_reply_done(w->s, sl, sent);
		return;
	}
	pf_park_commit(w->s, sl);
}
