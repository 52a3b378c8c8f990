/*
 * The table of a process, and what requests ask of it.
 */
#include "core/poppy/limit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/poppy/address.h"
#include "core/poppy/principal.h"

#define WAYS		4u	/* places in which a key may stand */
#define MINUTE_US	INT64_C(60000000)

/*
 * full_at is the time at which a bucket would be full again: one that is taken
 * moves it on by a minute divided by the limit. For what is shut, it is the
 * time at which it opens. A time that has passed says nothing, so the place is
 * free.
 */
struct place {
	unsigned char key[PF_LIMIT_KEY];
	enum pf_limit what;
	int64_t full_at;
};

struct pf_limiter {
	pthread_mutex_t lock;
	uint64_t seed[2];	/* nobody can aim at another's places */
	size_t sets;		/* a power of two */
	struct place *places;
};

enum pf_rc
pf_limiter_new(size_t places, struct pf_limiter **out)
{
	struct pf_limiter *l;
	enum pf_rc rc;

	if ((l = calloc(1, sizeof(*l))) == NULL)
		return PF_E_MEM;
	for (l->sets = 1; l->sets * WAYS < places; l->sets *= 2)
		continue;
	(void)pthread_mutex_init(&l->lock, NULL);
	l->places = calloc(l->sets, WAYS * sizeof(*l->places));
	rc = l->places == NULL ? PF_E_MEM : pf_random(l->seed, sizeof(l->seed));
	if (rc != PF_OK) {
		pf_limiter_free(l);
		return rc;
	}
	*out = l;
	return PF_OK;
}

void
pf_limiter_free(struct pf_limiter *l)
{
	if (l == NULL)
		return;
	(void)pthread_mutex_destroy(&l->lock);
	free(l->places);
	free(l);
}

static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static struct place *
set_of(const struct pf_limiter *l, enum pf_limit what,
    const unsigned char key[PF_LIMIT_KEY])
{
	uint64_t half[2], h;

	(void)memcpy(half, key, sizeof(half));
	h = mix(mix(half[0] ^ l->seed[0]) + (half[1] ^ l->seed[1]) + what);
	return l->places + (h & (l->sets - 1)) * WAYS;
}

/* Its place; make: the one that says least, if it has none. Under the lock. */
static struct place *
find_l(struct pf_limiter *l, enum pf_limit what,
    const unsigned char key[PF_LIMIT_KEY], bool make)
{
	struct place *p = set_of(l, what, key), *least = p;

	for (unsigned i = 0; i < WAYS; i++) {
		if (p[i].what == what && p[i].full_at != 0 &&
		    memcmp(p[i].key, key, PF_LIMIT_KEY) == 0)
			return &p[i];
		if (p[i].full_at < least->full_at)
			least = &p[i];
	}
	if (!make)
		return NULL;
	(void)memcpy(least->key, key, PF_LIMIT_KEY);
	least->what = what;
	least->full_at = 0;
	return least;
}

static int64_t
to_ms(int64_t us)
{
	return us <= 0 ? 0 : (us + 999) / 1000;
}

/* Microseconds until one can be taken; not above 0: now. */
static int64_t
lacking(int64_t full_at, int64_t each, int64_t now_us)
{
	return (full_at > now_us ? full_at : now_us) + each - now_us -
	    MINUTE_US;
}

int64_t
pf_limiter_take(struct pf_limiter *l, enum pf_limit what,
    const unsigned char key[PF_LIMIT_KEY], int64_t per_minute, int64_t now_us)
{
	int64_t each, wait;
	struct place *p;

	if (per_minute <= 0)
		return 0;
	each = MINUTE_US / per_minute;
	(void)pthread_mutex_lock(&l->lock);
	p = find_l(l, what, key, true);
	if ((wait = lacking(p->full_at, each, now_us)) <= 0)
		p->full_at = (p->full_at > now_us ? p->full_at : now_us) + each;
	(void)pthread_mutex_unlock(&l->lock);
	return to_ms(wait);
}

int64_t
pf_limiter_wait(struct pf_limiter *l, enum pf_limit what,
    const unsigned char key[PF_LIMIT_KEY], int64_t per_minute, int64_t now_us)
{
	const struct place *p;
	int64_t wait = 0;

	if (per_minute <= 0)
		return 0;
	(void)pthread_mutex_lock(&l->lock);
	if ((p = find_l(l, what, key, false)) != NULL)
		wait = lacking(p->full_at, MINUTE_US / per_minute, now_us);
	(void)pthread_mutex_unlock(&l->lock);
	return to_ms(wait);
}

void
pf_limiter_shut(struct pf_limiter *l, enum pf_limit what,
    const unsigned char key[PF_LIMIT_KEY], int64_t until_us)
{
	struct place *p;

	(void)pthread_mutex_lock(&l->lock);
	p = find_l(l, what, key, true);
	if (p->full_at < until_us)
		p->full_at = until_us;
	(void)pthread_mutex_unlock(&l->lock);
}

int64_t
pf_limiter_shut_for(struct pf_limiter *l, enum pf_limit what,
    const unsigned char key[PF_LIMIT_KEY], int64_t now_us)
{
	const struct place *p;
	int64_t left = 0;

	(void)pthread_mutex_lock(&l->lock);
	if ((p = find_l(l, what, key, false)) != NULL)
		left = p->full_at - now_us;
	(void)pthread_mutex_unlock(&l->lock);
	return to_ms(left);
}

static struct pf_limiter *
limiter(const struct pf_req *rq)
{
	return pf_app(rq)->proc->limits;
}

static enum pf_rc
judge(struct pf_req *rq, int64_t wait_ms, const char *whose)
{
	if (wait_ms <= 0)
		return PF_OK;
	return pf_fail_retry(rq, PF_RATE_LIMITED, (int)((wait_ms + 999) / 1000),
	    "too many requests of this %s", whose);
}

void
pf_limit_address(const struct pf_req *rq, unsigned char key[PF_LIMIT_KEY])
{
	struct pf_address a;

	/* Those whose address is not known share one bucket. */
	if (pf_address_read(rq->remote_addr, &a) != PF_OK)
		(void)memset(&a, 0, sizeof(a));
	pf_address_key(&a, key);
}

enum pf_rc
pf_limit_before(struct pf_req *rq, enum pf_limit what)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	unsigned char key[PF_LIMIT_KEY];
	int64_t now_us = pf_mono_us(), wait;
	enum pf_rc rc;

	pf_limit_address(rq, key);
	wait = pf_limiter_wait(limiter(rq), PF_LIMIT_REFUSED, key,
	    s->limits.refused_per_address, now_us);
	if ((rc = judge(rq, wait, "address")) != PF_OK ||
	    what == PF_LIMIT_REFUSED)
		return rc;
	return judge(rq, pf_limiter_shut_for(limiter(rq), what, key, now_us),
	    "address");
}

enum pf_rc
pf_limit_open(struct pf_req *rq)
{
	unsigned char key[PF_LIMIT_KEY];

	pf_limit_address(rq, key);
	return judge(rq, pf_limiter_take(limiter(rq), PF_LIMIT_OPEN, key,
	    pf_app(rq)->set.limits.open_per_address, pf_mono_us()), "address");
}

/* A client's number as a key. */
static void
client_key(int64_t client_no, unsigned char key[PF_LIMIT_KEY])
{
	(void)memset(key, 0, PF_LIMIT_KEY);
	(void)memcpy(key, &client_no, sizeof(client_no));
}

enum pf_rc
pf_limit_client(struct pf_req *rq, int64_t client_no)
{
	unsigned char key[PF_LIMIT_KEY];

	client_key(client_no, key);
	return judge(rq, pf_limiter_shut_for(limiter(rq), PF_LIMIT_CLIENT, key,
	    pf_mono_us()), "client");
}

enum pf_rc
pf_limit_full(struct pf_req *rq, enum pf_limit what, int64_t client_no,
    bool by_client, int64_t retry_s)
{
	unsigned char key[PF_LIMIT_KEY];

	if (retry_s < 1 || retry_s > 60)
		retry_s = 60;
	if (by_client)
		client_key(client_no, key);
	else
		pf_limit_address(rq, key);
	pf_limiter_shut(limiter(rq), by_client ? PF_LIMIT_CLIENT : what, key,
	    pf_mono_us() + retry_s * 1000000);
	return judge(rq, retry_s * 1000, by_client ? "client" : "address");
}

void
pf_limit_refused(struct pf_req *rq)
{
	unsigned char key[PF_LIMIT_KEY];

	pf_limit_address(rq, key);
	(void)pf_limiter_take(limiter(rq), PF_LIMIT_REFUSED, key,
	    pf_app(rq)->set.limits.refused_per_address, pf_mono_us());
}

enum pf_rc
pf_limit_bearer(struct pf_req *rq, const struct pf_tokenhash *token)
{
	return judge(rq, pf_limiter_shut_for(limiter(rq), PF_LIMIT_BEARER,
	    token->b, pf_mono_us()), "Session");
}

enum pf_rc
pf_limit_call(struct pf_req *rq, const struct pf_tokenhash *token)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	int64_t now_us = pf_mono_us(), wait;
	unsigned char key[PF_LIMIT_KEY];

	wait = pf_limiter_take(limiter(rq), PF_LIMIT_CALLS, rq->who->sid.raw,
	    s->limits.calls_per_session, now_us);
	if (wait > 0) {
		pf_limiter_shut(limiter(rq), PF_LIMIT_BEARER, token->b,
		    now_us + wait * 1000);
		return judge(rq, wait, "Session");
	}
	client_key(rq->who->client_no, key);
	return judge(rq, pf_limiter_take(limiter(rq), PF_LIMIT_CLIENT_CALLS,
	    key, s->limits.calls_per_client, now_us), "client");
}
