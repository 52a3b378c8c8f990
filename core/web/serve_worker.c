#include "config.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/jose/crypt.h"
#include "core/web/serve_int.h"

#define FIELDS		12	/* of the log line */
#define PATH_MAX_LOG	256
#define SEGMENT_MAX_LOG	32

struct pf_arena *
pf_worker_arena(struct pf_serve *s)
{
	struct pf_arena *a = calloc(1, sizeof(*a));

	if (a != NULL && pf_arena_init(a, s->o.arena_first,
	    s->o.arena_cap) != PF_OK) {
		free(a);
		return NULL;
	}
	return a;
}

void
pf_worker_arena_free(struct pf_arena *a)
{
	if (a == NULL)
		return;
	pf_arena_free(a);
	free(a);
}

/* A long segment of a path may be a secret (a ticket, a link): only its length
 * is shown. */
static struct pf_str
path_for_log(struct pf_req *rq)
{
	struct pf_str rest = pf_str_head(rq->path, PATH_MAX_LOG), one;
	struct pf_buf b;
	bool first = true;

	if (rest.n == 0)
		return rest;
	pf_buf_init(&b, rq->arena, 2 * PATH_MAX_LOG);
	while (pf_str_cut(&rest, '/', &one)) {
		if (!first)
			pf_buf_char(&b, '/');
		first = false;
		if (one.n > SEGMENT_MAX_LOG)
			pf_buf_fmt(&b, "{%zu}", one.n);
		else
			pf_buf_add(&b, one);
	}
	return pf_buf_str(&b);
}

static void
log_request(struct pf_req *rq, int status, bool began)
{
	struct pf_field f[FIELDS] = {
		PF_F_STR("method", rq->method_name),
		PF_F_STR("path", path_for_log(rq)),
		PF_F_INT("status", status),
		PF_F_INT("us", pf_mono_us() - rq->began_us),
		PF_F_STR("remote", rq->remote_addr),
	};
	const struct pf_serve_opts *o = &rq->serve->o;
	size_t n = 5;

	if (!pf_log_wants(PF_LOG_INFO))
		return;
	if (rq->runs > 1)
		f[n++] = (struct pf_field)PF_F_INT("runs", rq->runs);
	if (began && o->ops->fields != NULL)
		n += o->ops->fields(o->ctx, rq, f + n, FIELDS - n);
	pf_log_fields(PF_LOG_INFO, "request", f, n < FIELDS ? n : FIELDS);
}

/* Send the reply, tell the log; what the reply points to is still there
 * then. */
static enum pf_sent
reply(struct pf_serve *s, struct pf_slot *sl, struct pf_req *rq, enum pf_rc rc)
{
	struct pf_resp *r = &rq->resp;
	struct pf_str head;

	if (rc == PF_PARKED || r->status == 0) {
		pf_resp_reset(rq);
		pf_fail_reply(rq, rc == PF_OK || rc == PF_PARKED ?
		    PF_E_BUG : rc);
	}
	if (pf_resp_block(rq, &head) != PF_OK) {
		/* No memory left to say it in: the arena's cap was reached. */
		r->status = 500;
		head = PF_LIT("Status: 500 Internal Server Error\r\n\r\n");
		r->no_body = true;
	}
	return pf_reply_send(s, sl, head, r->no_body ? PF_LIT("") : r->body,
	    true, false);
}

/* A request that has no run of its own to be answered by. */
static void
refuse(struct pf_worker *w, struct pf_slot *sl, struct pf_req *rq,
    enum pf_rc rc)
{
	enum pf_sent sent;

	pf_fail_reply(rq, rc);
	sent = reply(w->s, sl, rq, rc);
	log_request(rq, rq->resp.status, false);
	pf_reply_done(w->s, sl, sent);
}

/* The arena of a rerun is the slot's, of all else the worker's. */
static void
arena_done(struct pf_worker *w, struct pf_arena *a)
{
	pf_arena_reset(a);
	if (a == w->arena)
		return;
	if (w->spare == NULL)
		w->spare = a;
	else
		pf_worker_arena_free(a);
}

/* The request goes with the slot, for its next run. */
static void
park_rerun(struct pf_worker *w, struct pf_slot *sl, struct pf_req *rq)
{
	sl->rq = rq;
	sl->arena = rq->arena;
	if (w->arena == rq->arena) {
		w->arena = w->spare;
		w->spare = NULL;
	}
	pf_park_commit(w->s, sl);
}

static void
run(struct pf_worker *w, struct pf_slot *sl, struct pf_req *rq)
{
	const struct pf_serve_ops *ops = w->s->o.ops;
	struct pf_arena *a = rq->arena;
	enum pf_sent sent = SENT_DEAD;
	enum pf_rc rc;
	bool waits;

	rq->db = w->db;
	if (ops->begin != NULL)
		ops->begin(w->s->o.ctx, rq);
	rc = ops->handle(rq);
	waits = rc == PF_PARKED && sl->wait.want != WANT_NO_PARK;
	if (!waits) {
		pf_park_forget(w->s, sl);
		sent = reply(w->s, sl, rq, rc);
	}
	if (!waits || sl->wait.want == WANT_WAITER)
		log_request(rq, rq->resp.status, true);
	if (ops->end != NULL)
		ops->end(w->s->o.ctx, rq);
	if (waits && sl->wait.want == WANT_RERUN) {
		park_rerun(w, sl, rq);
		return;
	}
	if (waits)
		pf_park_commit(w->s, sl);
	else
		pf_reply_done(w->s, sl, sent);
	arena_done(w, a);
}

/* A request that the event thread won't have served. */
static enum pf_rc
refused(struct pf_req *rq, int status)
{
	switch (status) {
	case 413:
		return pf_fail(rq, PF_TOO_LARGE,
		    "a body may have up to %u bytes", rq->serve->max_body);
	case 431:
		return pf_fail(rq, PF_HEADERS_TOO_LARGE,
		    "all headers may have up to %u bytes in %u lines",
		    PF_GATE_MAX_PARAMS, PF_GATE_MAX_COUNT);
	case 400:
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "the request did not arrive in time");
	default:
		return pf_fail_retry(rq, PF_UNAVAILABLE, 1,
		    "too many large requests at once");
	}
}

static void
fresh(struct pf_worker *w, struct pf_slot *sl)
{
	struct pf_req *rq = pf_arena_alloc(w->arena, sizeof(*rq));
	enum pf_rc rc;

	if (rq == NULL) {
		pf_slot_end(w->s, sl);
		return;
	}
	rq->arena = w->arena;
	rq->serve = w->s;
	rq->began_us = pf_mono_us();
	rq->now_at = pf_now_at();
	rq->runs = 1;
	rq->wait = &sl->wait;
	pf_wait_init(&sl->wait, sl, w);
	pf_resp_init(rq);
	if (sl->refuse != 0)
		rc = refused(rq, sl->refuse);
	else
		rc = pf_parse_request(w->parse, sl, rq);
	pf_slot_drop_bytes(w->s, sl);
	if (rc == PF_OK) {
		run(w, sl, rq);
		return;
	}
	if (rc == PF_E_BUG)
		pf_slot_end(w->s, sl);
	else
		refuse(w, sl, rq, rc);
	arena_done(w, w->arena);
}

static void
rerun(struct pf_worker *w, struct pf_slot *sl)
{
	struct pf_req *rq = sl->rq;
	struct pf_arena *a = sl->arena;
	enum pf_rc rc;

	sl->rq = NULL;
	sl->arena = NULL;
	pf_park_forget(w->s, sl);
	pf_wait_init(&sl->wait, sl, w);
	rq->runs++;
	if (sl->wait.why != PF_WAKE_STOP) {
		run(w, sl, rq);
		return;
	}
	rc = pf_fail_retry(rq, PF_UNAVAILABLE, 1, "the program is stopping");
	refuse(w, sl, rq, rc);
	arena_done(w, a);
}

static void
run_slot(struct pf_worker *w, struct pf_slot *sl)
{
	if (sl->ops != NULL) {
		pf_park_run_waiter(w, sl);
		pf_arena_reset(w->arena);
	} else if (sl->rq != NULL) {
		rerun(w, sl);
	} else {
		fresh(w, sl);
	}
}

static void
run_job(struct pf_worker *w, struct pf_job *job)
{
	job->fn(job->arg, w->db, w->arena);
	pf_arena_reset(w->arena);
	free(job);
}

static void
run_tick(struct pf_worker *w)
{
	struct pf_serve *s = w->s;

	s->o.ops->tick(s->o.ctx, w->db, w->arena);
	pf_arena_reset(w->arena);
	pf_lock(s);
	s->tick_out = false;
	s->tick_at_ms = pf_mono_ms() + s->o.tick_ms;
	if (s->tick_at_ms < s->sleep_until_ms)
		pf_poke_l(s);
	pf_unlock(s);
}

/* A SIGHUP that came meanwhile wants what was written since. */
static void
run_reload(struct pf_worker *w)
{
	struct pf_serve *s = w->s;
	bool again;

	do {
		s->o.ops->reload(s->o.ctx);
		pf_lock(s);
		again = s->reload_again;
		s->reload_again = false;
		s->reload_out = again;
		pf_unlock(s);
	} while (again);
}

void
pf_worker_wake(struct pf_worker *w)
{
	if (w != NULL)
		sem_post(&w->wake);
}

static struct pf_work *
take_l(struct pf_serve *s)
{
	struct pf_work *work = s->head;
	struct pf_slot *sl;

	if (work == NULL)
		return NULL;
	s->head = work->next;
	if (s->head == NULL)
		s->tail = &s->head;
	if (work->kind == WORK_JOB)
		s->njobs--;
	if (work->kind == WORK_SLOT) {
		sl = (struct pf_slot *)(void *)work;
		sl->state = SLOT_RUNNING;
		sl->wait.why = sl->why;
		sl->woken = false;
		s->stats.requests += sl->ops == NULL && sl->rq == NULL;
	}
	return work;
}

/*
 * The next piece of work, or NULL at the end. Of the idle workers the one that
 * was busy last is woken first: its connection to PostgreSQL, the process there
 * and all caches are warm, while in turn they would all be cold.
 */
static struct pf_work *
next(struct pf_worker *w)
{
	struct pf_serve *s = w->s;
	struct pf_work *work;

	pf_lock(s);
	while ((work = take_l(s)) == NULL && !s->closed) {
		w->below = s->idle;
		s->idle = w;
		pf_unlock(s);
		/* Who wakes a worker has taken it off the stack. */
		while (sem_wait(&w->wake) != 0)
			;
		pf_lock(s);
	}
	pf_unlock(s);
	return work;
}

void *
pf_worker_main(void *arg)
{
	struct pf_worker *w = arg;
	struct pf_work *work;

	while ((work = next(w)) != NULL) {
		switch (work->kind) {
		case WORK_SLOT:
			run_slot(w, (struct pf_slot *)(void *)work);
			break;
		case WORK_JOB:
			run_job(w, (struct pf_job *)(void *)work);
			break;
		case WORK_TICK:
			run_tick(w);
			break;
		case WORK_RELOAD:
			run_reload(w);
			break;
		}
	}
	pf_crypt_thread_end();
	return NULL;
}
