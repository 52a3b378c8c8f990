#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/web/serve_int.h"

#define SPARE_FDS	200	/* for all that is not parked */
#define JOIN_S		2	/* for what did not end within STOP_MS */

static void
heard_nothing(void *ctx, struct pf_str payload)
{
	(void)ctx;
	(void)payload;
}

static void
lost_nothing(void *ctx)
{
	(void)ctx;
}

/* Defaults for what the program left at zero. */
static enum pf_rc
take_opts(struct pf_serve *s, const struct pf_serve_opts *opts)
{
	s->o = *opts;
	if (s->o.backlog == 0)
		s->o.backlog = 4096;
	if (s->o.arena_first == 0)
		s->o.arena_first = 32u << 10;
	if (s->o.arena_cap == 0)
		s->o.arena_cap = 8u << 20;
	if (s->o.max_body == 0)
		s->o.max_body = 1u << 20;
	if (s->o.workers < 1 || s->o.workers > 64 || s->o.ops == NULL ||
	    s->o.ops->handle == NULL || s->o.max_body > COLLECT_TOTAL / 2)
		return PF_E_BUG;
	s->max_body = (uint32_t)s->o.max_body;
	s->role = s->o.role == PF_AUTHORIZER ? PF_GATE_AUTHORIZER :
	    PF_GATE_RESPONDER;
	return PF_OK;
}

static enum pf_rc
init(struct pf_serve *s)
{
	s->ep = s->wakefd = s->sigfd = -1;
	s->tail = &s->head;
	s->tick.kind = WORK_TICK;
	s->reload.kind = WORK_RELOAD;
	s->tick_at_ms = pf_mono_ms() + s->o.tick_ms;
	s->chunk = calloc(MAX_SLOTS / SLOT_CHUNK, sizeof(struct pf_slot *));
	s->workers = calloc(s->o.workers, sizeof(*s->workers));
	if (s->chunk == NULL || s->workers == NULL)
		return PF_E_MEM;
	return PF_OK;
}

/* Each parked request holds a descriptor; the usual soft limit is 1,024. */
static void
raise_limit(const struct pf_serve *s)
{
	struct rlimit l;
	rlim_t need = (rlim_t)s->o.max_parked + SPARE_FDS, had;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= need)
		return;
	had = l.rlim_cur;
	l.rlim_cur = need < l.rlim_max ? need : l.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &l) < 0)
		l.rlim_cur = had;
	if (l.rlim_cur < need)
		PF_LOG(PF_LOG_WARN, "descriptors", PF_F_INT("may", l.rlim_cur),
		    PF_F_INT("needed", need),
		    PF_F_Z("hint", "raise LimitNOFILE"));
}

static enum pf_rc
open_notify(struct pf_serve *s)
{
	const struct pf_serve_ops *ops = s->o.ops;

	/* Kept by notify, not copied. */
	s->notify_ops.heard = ops->heard != NULL ? ops->heard : heard_nothing;
	s->notify_ops.lost = ops->lost != NULL ? ops->lost : lost_nothing;
	if (s->o.notify_conninfo == NULL)
		return PF_OK;
	return pf_notify_new(s->o.notify_conninfo, s->o.notify_channel,
	    &s->notify_ops, s->o.ctx, &s->notify);
}

static enum pf_rc
open_worker(struct pf_serve *s, struct pf_worker *w)
{
	enum pf_rc rc;

	w->s = s;
	sem_init(&w->wake, 0, 0);
	if ((w->arena = pf_worker_arena(s)) == NULL)
		return PF_E_MEM;
	if ((rc = pf_parse_new(&w->parse)) != PF_OK)
		return rc;
	if (s->o.db.conninfo != NULL &&
	    (rc = pf_db_new(&s->o.db, &w->db)) != PF_OK)
		return rc;
	if (pthread_create(&w->thread, NULL, pf_worker_main, w) != 0)
		return PF_E_MEM;
	w->started = true;
	return PF_OK;
}

static enum pf_rc
open_workers(struct pf_serve *s)
{
	enum pf_rc rc = PF_OK;

	while (rc == PF_OK && s->nworkers < s->o.workers)
		rc = open_worker(s, &s->workers[s->nworkers++]);
	return rc;
}

/* What waits in the queue is still done. A worker that does not come back has
 * all that it may touch still in use: then only the end of the process
 * helps. */
static void
join_workers(struct pf_serve *s)
{
	struct timespec until;

	pf_lock(s);
	s->closed = true;
	for (struct pf_worker *w = s->idle; w != NULL; w = w->below)
		pf_worker_wake(w);
	s->idle = NULL;
	pf_unlock(s);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_S;
	for (unsigned i = 0; i < s->nworkers; i++) {
		if (!s->workers[i].started)
			continue;
		if (pthread_timedjoin_np(s->workers[i].thread, NULL,
		    &until) != 0) {
			PF_LOG(PF_LOG_ERROR, "stop", PF_F_Z("why",
			    "a request does not end; it is cut off"));
			_exit(1);
		}
	}
}

static void
close_workers(struct pf_serve *s)
{
	struct pf_worker *w;

	join_workers(s);
	for (unsigned i = 0; i < s->nworkers; i++) {
		w = &s->workers[i];
		if (w->db != NULL)
			pf_db_free(w->db);
		pf_parse_free(w->parse);
		pf_worker_arena_free(w->arena);
		pf_worker_arena_free(w->spare);
		sem_destroy(&w->wake);
	}
}

static void
close_slots(struct pf_serve *s)
{
	for (size_t i = 0; i < s->nchunks * SLOT_CHUNK; i++)
		if (s->chunk[i / SLOT_CHUNK][i % SLOT_CHUNK].state !=
		    SLOT_FREE)
			pf_slot_end(s, pf_slot_at_l(s, (uint32_t)i));
	for (size_t i = 0; i < s->nchunks; i++)
		free(s->chunk[i]);
	free(s->chunk);
	free(s->heap);
}

static void
log_end(struct pf_serve *s)
{
	struct pf_serve_stats st;

	pf_serve_stats(s, &st);
	PF_LOG(PF_LOG_INFO, "end", PF_F_INT("accepted", st.accepted),
	    PF_F_INT("requests", st.requests),
	    PF_F_INT("refused", st.refused),
	    PF_F_INT("uploads", st.uploads));
}

/* Everything from the sockets to the loop; what was opened is closed by the
 * caller, in whatever state this leaves it. */
static enum pf_rc
serve(struct pf_serve *s, bool *started)
{
	const struct pf_serve_ops *ops = s->o.ops;
	enum pf_rc rc;

	raise_limit(s);
	if ((rc = pf_parse_init()) != PF_OK ||
	    (rc = pf_listen_open(s)) != PF_OK ||
	    (rc = pf_event_open(s)) != PF_OK ||
	    (rc = open_notify(s)) != PF_OK)
		return rc;
	if (ops->start != NULL && (rc = ops->start(s->o.ctx, s)) != PF_OK)
		return rc;
	*started = true;
	if ((rc = open_workers(s)) != PF_OK)
		return rc;
	PF_LOG(PF_LOG_INFO, "start", PF_F_INT("sockets", s->nlis),
	    PF_F_INT("workers", s->nworkers));
	pf_event_loop(s);
	return PF_OK;
}

enum pf_rc
pf_serve_run(const struct pf_serve_opts *opts)
{
	struct pf_serve s;
	bool started = false;
	enum pf_rc rc;

	memset(&s, 0, sizeof(s));
	if ((rc = take_opts(&s, opts)) != PF_OK)
		return rc;
	pthread_mutex_init(&s.lock, NULL);
	if ((rc = init(&s)) == PF_OK)
		rc = serve(&s, &started);
	close_workers(&s);
	if (started && s.o.ops->stop != NULL)
		s.o.ops->stop(s.o.ctx);
	if (s.chunk != NULL)
		close_slots(&s);
	if (s.notify != NULL)
		pf_notify_free(s.notify);
	if (rc == PF_OK)
		log_end(&s);
	pf_listen_close(&s);
	pf_event_close(&s);
	free(s.workers);
	pthread_mutex_destroy(&s.lock);
	return rc;
}

enum pf_rc
pf_serve_job(struct pf_serve *s,
    void (*fn)(void *arg, struct pf_db *db, struct pf_arena *a), void *arg)
{
	struct pf_job *job = malloc(sizeof(*job));
	bool taken;

	if (job == NULL)
		return PF_E_BUSY;
	job->work.kind = WORK_JOB;
	job->fn = fn;
	job->arg = arg;
	pf_lock(s);
	taken = !s->closed && s->njobs < MAX_JOBS;
	if (taken) {
		s->njobs++;
		pf_worker_wake(pf_push_l(s, &job->work));
	}
	pf_unlock(s);
	if (taken)
		return PF_OK;
	free(job);
	return PF_E_BUSY;
}

void
pf_serve_stop(struct pf_serve *s)
{
	pf_lock(s);
	s->stop_wanted = true;
	pf_poke_l(s);
	pf_unlock(s);
}

void
pf_serve_stats(struct pf_serve *s, struct pf_serve_stats *out)
{
	pf_lock(s);
	*out = s->stats;
	pf_unlock(s);
}
