/*
 * Clients by client_id: chained hash buckets, and one list in order of use.
 */
#include "core/poppy/client.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/random.h"

#define KEYS_EACH	4	/* on average */

struct entry {
	struct pf_client *client;
	struct entry *chain;		/* of its bucket */
	struct entry *newer, *older;	/* by use */
};

struct pf_client_cache {
	pthread_mutex_t lock;
	struct entry **bucket;
	size_t nbuckets;		/* a power of two */
	struct entry *newest, *oldest;
	size_t n, max;
	size_t keys;			/* of all of them: what takes memory */
	uint64_t seed;			/* so that nobody can aim at a bucket */
};

static size_t
slot(const struct pf_client_cache *cc, struct pf_str id)
{
	uint64_t h = cc->seed;

	for (size_t i = 0; i < id.n; i++) {
		h ^= (unsigned char)id.p[i];
		h *= 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return (size_t)h & (cc->nbuckets - 1);
}

static struct entry **
find(struct pf_client_cache *cc, struct pf_str id)
{
	struct entry **at = &cc->bucket[slot(cc, id)];

	while (*at != NULL && !pf_str_eq((*at)->client->client_id, id))
		at = &(*at)->chain;
	return at;
}

static void
unlink_use(struct pf_client_cache *cc, struct entry *e)
{
	if (e->newer != NULL)
		e->newer->older = e->older;
	else
		cc->newest = e->older;
	if (e->older != NULL)
		e->older->newer = e->newer;
	else
		cc->oldest = e->newer;
	e->newer = e->older = NULL;
}

static void
link_newest(struct pf_client_cache *cc, struct entry *e)
{
	e->older = cc->newest;
	e->newer = NULL;
	if (cc->newest != NULL)
		cc->newest->newer = e;
	else
		cc->oldest = e;
	cc->newest = e;
}

static void
drop_at(struct pf_client_cache *cc, struct entry **at)
{
	struct entry *e = *at;

	*at = e->chain;
	unlink_use(cc, e);
	cc->keys -= e->client->keys.n;
	pf_client_drop(e->client);
	free(e);
	cc->n--;
}

enum pf_rc
pf_client_cache_new(size_t max, struct pf_client_cache **out)
{
	struct pf_client_cache *cc;
	enum pf_rc rc;

	if ((cc = calloc(1, sizeof(*cc))) == NULL)
		return PF_E_MEM;
	cc->max = max;
	for (cc->nbuckets = 16; cc->nbuckets < max; cc->nbuckets *= 2)
		;
	cc->bucket = calloc(cc->nbuckets, sizeof(*cc->bucket));
	rc = cc->bucket == NULL ? PF_E_MEM :
	    pf_random(&cc->seed, sizeof(cc->seed));
	if (rc != PF_OK) {
		free(cc->bucket);
		free(cc);
		return rc;
	}
	(void)pthread_mutex_init(&cc->lock, NULL);
	*out = cc;
	return PF_OK;
}

void
pf_client_cache_free(struct pf_client_cache *cc)
{
	if (cc == NULL)
		return;
	while (cc->oldest != NULL)
		drop_at(cc, find(cc, cc->oldest->client->client_id));
	(void)pthread_mutex_destroy(&cc->lock);
	free(cc->bucket);
	free(cc);
}

struct pf_client *
pf_client_cache_get(struct pf_client_cache *cc, struct pf_str client_id)
{
	struct pf_client *c = NULL;
	struct entry *e;

	(void)pthread_mutex_lock(&cc->lock);
	e = *find(cc, client_id);
	if (e != NULL && e->client->fresh_until_ms > pf_mono_ms()) {
		unlink_use(cc, e);
		link_newest(cc, e);
		c = e->client;
		(void)__atomic_add_fetch(&c->refs, 1, __ATOMIC_ACQ_REL);
	}
	(void)pthread_mutex_unlock(&cc->lock);
	return c;
}

/* Of two the one with the higher version is newer, while it is fresh: what was
 * read from the database before a fetch may come here after it. */
static bool
is_older(const struct pf_client *c, const struct entry *e)
{
	return e != NULL && c->version < e->client->version &&
	    e->client->fresh_until_ms > pf_mono_ms();
}

/* One client may have twenty keys, so they are counted too. */
static bool
has_room(const struct pf_client_cache *cc, const struct pf_client *c)
{
	return cc->n == 0 || (cc->n < cc->max &&
	    cc->keys + c->keys.n <= KEYS_EACH * cc->max);
}

static void
put_l(struct pf_client_cache *cc, struct entry *e)
{
	struct entry **at = find(cc, e->client->client_id);

	if (*at != NULL)
		drop_at(cc, at);
	while (!has_room(cc, e->client))
		drop_at(cc, find(cc, cc->oldest->client->client_id));
	at = &cc->bucket[slot(cc, e->client->client_id)];
	e->chain = *at;
	*at = e;
	link_newest(cc, e);
	cc->n++;
	cc->keys += e->client->keys.n;
}

void
pf_client_cache_put(struct pf_client_cache *cc, struct pf_client *c)
{
	struct entry *e;

	if ((e = calloc(1, sizeof(*e))) == NULL)
		return;		/* a cache may forget */
	e->client = c;
	(void)pthread_mutex_lock(&cc->lock);
	if (is_older(c, *find(cc, c->client_id))) {
		free(e);
	} else {
		(void)__atomic_add_fetch(&c->refs, 1, __ATOMIC_ACQ_REL);
		put_l(cc, e);
	}
	(void)pthread_mutex_unlock(&cc->lock);
}

void
pf_client_cache_forget(struct pf_client_cache *cc, struct pf_str client_id)
{
	struct entry **at;

	(void)pthread_mutex_lock(&cc->lock);
	at = find(cc, client_id);
	if (*at != NULL)
		drop_at(cc, at);
	(void)pthread_mutex_unlock(&cc->lock);
}
