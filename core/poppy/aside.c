#include "config.h"

#include "core/poppy/aside.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/jose/crypt.h"
#include "core/poppy/kept.h"
#include "core/web/park.h"

#define RETRY_S		3

enum stage { WAITS, RUNS, DONE };

/* It is the request's until its arena is reset, and the threads' until it is
 * done. */
struct job {
	struct job *next;		/* in the queue */
	struct pf_aside *aside;
	unsigned refs;
	enum stage stage;
	enum pf_rc answer;
	const struct pf_aside_task *task;
	struct pf_serve *serve;
	pf_parkid id;
	struct pf_str part[PF_ASIDE_PARTS];	/* in text */
	size_t n;
	char text[];
};

struct pf_aside {
	pthread_mutex_t lock;		/* for what follows, and all jobs */
	pthread_cond_t more;
	struct job *first, *last;
	unsigned waiting, refs;
	bool stopping;

	struct pf_aside_opts o;
	unsigned nthreads;
	pthread_t thread[PF_ASIDE_THREADS];
};

/* A request may outlive the threads, and its job needs the lock. */
static void
aside_drop(struct pf_aside *p)
{
	bool last;

	(void)pthread_mutex_lock(&p->lock);
	last = --p->refs == 0;
	(void)pthread_mutex_unlock(&p->lock);
	if (!last)
		return;
	(void)pthread_mutex_destroy(&p->lock);
	(void)pthread_cond_destroy(&p->more);
	free(p);
}

static void
job_drop(struct job *job)
{
	struct pf_aside *p = job->aside;
	bool last;

	(void)pthread_mutex_lock(&p->lock);
	last = --job->refs == 0;
	(void)pthread_mutex_unlock(&p->lock);
	if (!last)
		return;
	pf_wipe(job->text, job->n);
	free(job);
	aside_drop(p);
}

/* False if it was not in the queue. */
static bool
unlink_l(struct pf_aside *p, struct job *job)
{
	struct job **at = &p->first, *before = NULL;

	for (; *at != NULL && *at != job; at = &(*at)->next)
		before = *at;
	if (*at == NULL)
		return false;
	*at = job->next;
	if (p->last == job)
		p->last = before;
	p->waiting--;
	return true;
}

/* The request is over, or its peer went away. */
static void
request_gone(void *arg)
{
	struct job *job = arg;
	struct pf_aside *p = job->aside;
	bool waited;

	(void)pthread_mutex_lock(&p->lock);
	waited = unlink_l(p, job);
	(void)pthread_mutex_unlock(&p->lock);
	if (waited)
		job_drop(job);
	job_drop(job);
}

/* NULL: the threads end. */
static struct job *
take(struct pf_aside *p)
{
	struct job *job = NULL;

	(void)pthread_mutex_lock(&p->lock);
	while (!p->stopping && p->first == NULL)
		(void)pthread_cond_wait(&p->more, &p->lock);
	if (!p->stopping) {
		job = p->first;
		(void)unlink_l(p, job);
		job->stage = RUNS;
	}
	(void)pthread_mutex_unlock(&p->lock);
	return job;
}

static void
finish(struct pf_aside *p, struct job *job, enum pf_rc answer)
{
	(void)pthread_mutex_lock(&p->lock);
	pf_wipe(job->text, job->n);
	job->answer = answer;
	job->stage = DONE;
	(void)pthread_mutex_unlock(&p->lock);
	/* Of a request that went away the id is stale. */
	pf_park_wake(job->serve, job->id);
	job_drop(job);
}

static void *
run(void *arg)
{
	struct pf_aside *p = arg;
	struct job *job;

	/* Of this thread alone, as Linux has it. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), p->o.nice);
	while ((job = take(p)) != NULL)
		finish(p, job, job->task->run(job->part));
	pf_crypt_thread_end();
	return NULL;
}

enum pf_rc
pf_aside_start(const struct pf_aside_opts *opts, struct pf_aside **out)
{
	struct pf_aside *p;

	if (opts->threads < 1 || opts->threads > PF_ASIDE_THREADS)
		return PF_E_INPUT;
	if ((p = calloc(1, sizeof(*p))) == NULL)
		return PF_E_MEM;
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_cond_init(&p->more, NULL);
	p->refs = 1;
	p->o = *opts;
	for (; p->nthreads < opts->threads; p->nthreads++)
		if (pthread_create(&p->thread[p->nthreads], NULL, run, p) !=
		    0) {
			pf_aside_stop(p);
			return PF_E_MEM;
		}
	*out = p;
	return PF_OK;
}

void
pf_aside_stop(struct pf_aside *p)
{
	struct job *job;

	if (p == NULL)
		return;
	(void)pthread_mutex_lock(&p->lock);
	p->stopping = true;
	(void)pthread_cond_broadcast(&p->more);
	(void)pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->nthreads; i++)
		(void)pthread_join(p->thread[i], NULL);
	while ((job = p->first) != NULL) {
		(void)pthread_mutex_lock(&p->lock);
		(void)unlink_l(p, job);
		(void)pthread_mutex_unlock(&p->lock);
		job_drop(job);
	}
	aside_drop(p);
}

static struct job *
job_new(struct pf_aside *p, const struct pf_aside_task *task,
    const struct pf_str *part, size_t nparts)
{
	struct job *job;
	size_t n = 0;

	for (size_t i = 0; i < nparts; i++)
		n += part[i].n;
	if ((job = calloc(1, sizeof(*job) + n)) == NULL)
		return NULL;
	for (size_t i = 0; i < nparts; i++) {
		job->part[i] = pf_bytes(job->text + job->n, part[i].n);
		if (part[i].n != 0)
			(void)memcpy(job->text + job->n, part[i].p, part[i].n);
		job->n += part[i].n;
	}
	job->aside = p;
	job->task = task;
	job->refs = 1;
	(void)pthread_mutex_lock(&p->lock);
	p->refs++;
	(void)pthread_mutex_unlock(&p->lock);
	return job;
}

static enum pf_rc
enqueue(struct pf_aside *p, struct job *job)
{
	enum pf_rc rc = PF_E_BUSY;

	(void)pthread_mutex_lock(&p->lock);
	if (!p->stopping && p->waiting < p->o.queue_each * p->nthreads) {
		if (p->last != NULL)
			p->last->next = job;
		else
			p->first = job;
		p->last = job;
		p->waiting++;
		job->refs++;
		(void)pthread_cond_signal(&p->more);
		rc = PF_OK;
	}
	(void)pthread_mutex_unlock(&p->lock);
	return rc;
}

static enum pf_rc
begin(struct pf_req *rq, struct pf_aside *p, struct job *job)
{
	enum pf_rc rc;

	/* From here on the arena frees it, and at once if it can't. */
	if ((rc = pf_arena_defer(rq->arena, request_gone, job)) != PF_OK ||
	    (rc = pf_kept_add(rq, job->task->name, job)) != PF_OK ||
	    (rc = pf_park_rerun_begin(rq, &job->id)) != PF_OK)
		return rc;
	job->serve = rq->serve;
	if ((rc = enqueue(p, job)) == PF_OK)
		return pf_park_rerun(rq, pf_mono_ms() + p->o.patience_ms);
	pf_park_rerun_cancel(rq);
	return rc;
}

/* Not done, and yet it runs again: its time is over, or the program ends. */
static enum pf_rc
look(struct job *job, enum pf_rc *answer)
{
	bool done;

	(void)pthread_mutex_lock(&job->aside->lock);
	done = job->stage == DONE;
	*answer = job->answer;
	(void)pthread_mutex_unlock(&job->aside->lock);
	return done ? PF_OK : PF_E_BUSY;
}

enum pf_rc
pf_aside_ask(struct pf_req *rq, struct pf_aside *p,
    const struct pf_aside_task *task, const struct pf_str *part, size_t nparts,
    enum pf_rc *answer)
{
	struct job *job = pf_kept_find(rq, task->name);
	enum pf_rc rc;

	*answer = PF_E_BUG;
	if (p == NULL || nparts > PF_ASIDE_PARTS)
		return PF_E_BUG;
	if (job != NULL)
		rc = look(job, answer);
	else if ((job = job_new(p, task, part, nparts)) != NULL)
		rc = begin(rq, p, job);
	else
		rc = PF_E_MEM;
	return rc != PF_E_BUSY ? rc : pf_fail_retry(rq, PF_UNAVAILABLE, RETRY_S,
	    "%s", p->o.busy);
}
