/*
 * outbound_resolve - names to addresses, on a few threads.
 *
 * getaddrinfo() blocks for as long as a name server likes, and a stranger
 * chooses the name server: so each look-up has a thread, nobody waits for one
 * whose fetch has run out of time, and no thread is ever joined.
 */
#include "config.h"

#include <sys/types.h>
#include <netinet/in.h>

#include <netdb.h>
#include <resolv.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/web/outbound_in.h"

struct pf_lookup {
	struct pf_lookup *next;
	enum { QUEUED, RUNNING, ENDED, DROPPED } state;
	struct addrinfo *found;
	char host[256];
};

struct pf_resolver {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct pf_lookup *queue;	/* oldest first */
	unsigned queued, idle, threads, max;
	unsigned refs;			/* threads, and the owner */
	bool stopping;
	void (*ready)(void *ctx);
	void *ctx;
};

enum pf_rc
pf_outbound_thread(void *(*run)(void *), void *arg, pthread_t *id)
{
	sigset_t all, old;
	pthread_t t;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&t, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err != 0)
		return PF_E_MEM;
	if (id != NULL)
		*id = t;
	else
		pthread_detach(t);
	return PF_OK;
}

static void
lookup_free(struct pf_lookup *l)
{
	if (l->found != NULL)
		freeaddrinfo(l->found);
	free(l);
}

/* With the lock held, which it gives back. */
static void
unref(struct pf_resolver *r)
{
	bool last = --r->refs == 0;

	pthread_mutex_unlock(&r->lock);
	if (!last)
		return;
	pthread_cond_destroy(&r->work);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/*
 * All addresses, of both families. The settings are this thread's own: two
 * tries of two seconds, since a fetch has five, and no search list, since a
 * stranger's name is never one of our network's.
 */
static struct addrinfo *
resolve(const char *host)
{
	struct addrinfo hints = { 0 }, *found = NULL;

	if (res_init() == 0) {
		_res.retrans = 2;
		_res.retry = 2;
		_res.options &= ~(unsigned long)(RES_DEFNAMES | RES_DNSRCH);
	}
	hints.ai_family = AF_UNSPEC;
	hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(host, NULL, &hints, &found) != 0)
		return NULL;
	return found;
}

static void
serve_one(struct pf_resolver *r)
{
	struct pf_lookup *l = r->queue;
	struct addrinfo *found;

	r->queue = l->next;
	r->queued--;
	l->state = RUNNING;
	pthread_mutex_unlock(&r->lock);
	found = resolve(l->host);
	pthread_mutex_lock(&r->lock);
	l->found = found;
	if (l->state == DROPPED) {
		lookup_free(l);
		return;
	}
	l->state = ENDED;
	r->ready(r->ctx);
}

static void *
run(void *arg)
{
	struct pf_resolver *r = arg;

	pthread_mutex_lock(&r->lock);
	while (!r->stopping) {
		if (r->queue != NULL) {
			serve_one(r);
			continue;
		}
		r->idle++;
		pthread_cond_wait(&r->work, &r->lock);
		r->idle--;
	}
	r->threads--;
	unref(r);
	return NULL;
}

enum pf_rc
pf_resolver_start(unsigned max, void (*ready)(void *ctx), void *ctx,
    struct pf_resolver **out)
{
	struct pf_resolver *r = calloc(1, sizeof(*r));

	*out = r;
	if (r == NULL)
		return PF_E_MEM;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->work, NULL);
	r->max = max;
	r->refs = 1;
	r->ready = ready;
	r->ctx = ctx;
	return PF_OK;
}

void
pf_resolver_stop(struct pf_resolver *r)
{
	pthread_mutex_lock(&r->lock);
	r->stopping = true;
	pthread_cond_broadcast(&r->work);
	unref(r);
}

/* One more thread if all are busy; enough if there is any at all. */
static enum pf_rc
staff(struct pf_resolver *r)
{
	if (r->queued < r->idle || r->threads == r->max)
		return PF_OK;
	if (pf_outbound_thread(run, r, NULL) == PF_OK) {
		r->threads++;
		r->refs++;
	}
	return r->threads > 0 ? PF_OK : PF_E_MEM;
}

enum pf_rc
pf_resolver_ask(struct pf_resolver *r, const char *host,
    struct pf_lookup **out)
{
	struct pf_lookup *l = NULL, **at;
	enum pf_rc rc = PF_E_MEM;

	*out = NULL;
	if (strlen(host) >= sizeof(l->host) ||
	    (l = calloc(1, sizeof(*l))) == NULL)
		return PF_E_MEM;
	strcpy(l->host, host);
	pthread_mutex_lock(&r->lock);
	if ((rc = staff(r)) == PF_OK) {
		for (at = &r->queue; *at != NULL; at = &(*at)->next)
			;
		*at = l;
		r->queued++;
		pthread_cond_signal(&r->work);
		*out = l;
	}
	pthread_mutex_unlock(&r->lock);
	if (rc != PF_OK)
		free(l);
	return rc;
}

bool
pf_resolver_ended(struct pf_resolver *r, struct pf_lookup *l,
    const struct addrinfo **found)
{
	bool ended;

	pthread_mutex_lock(&r->lock);
	ended = l->state == ENDED;
	*found = ended ? l->found : NULL;
	pthread_mutex_unlock(&r->lock);
	return ended;
}

void
pf_resolver_drop(struct pf_resolver *r, struct pf_lookup *l)
{
	struct pf_lookup **at;

	if (l == NULL)
		return;
	pthread_mutex_lock(&r->lock);
	if (l->state == QUEUED) {
		for (at = &r->queue; *at != l; at = &(*at)->next)
			;
		*at = l->next;
		r->queued--;
	}
	if (l->state == RUNNING)
		l->state = DROPPED;
	else
		lookup_free(l);
	pthread_mutex_unlock(&r->lock);
}
