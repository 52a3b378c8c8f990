/*
 * The buckets of a process: their pace, what is shut, what is forgotten.
 */
#include "config.h"

#include <pthread.h>

#include "core/poppy/limit.h"
#include "tests/unit/tap.h"

#define S	INT64_C(1000000)
#define T0	(1000 * S)

static struct pf_limiter *
table(size_t places)
{
	struct pf_limiter *l;

	tap_need(pf_limiter_new(places, &l) == PF_OK, "a table");
	return l;
}

struct key { unsigned char b[PF_LIMIT_KEY]; };

static struct key
key(unsigned n)
{
	struct key k = { { 0 } };

	(void)memcpy(k.b, &n, sizeof(n));
	return k;
}

/* How many of n are granted. */
static int
grab(struct pf_limiter *l, struct key k, int64_t per_minute, int64_t at, int n)
{
	int got = 0;

	for (int i = 0; i < n; i++)
		got += pf_limiter_take(l, PF_LIMIT_REFUSED, k.b, per_minute,
		    at) == 0;
	return got;
}

static void
buckets(void)
{
	struct pf_limiter *l = table(64);
	struct key a = key(1), b = key(2);

	tap_is(pf_limiter_wait(l, PF_LIMIT_REFUSED, a.b, 60, T0), 0,
	    "nothing is known of an address");
	tap_is(grab(l, a, 60, T0, 100), 60, "a full bucket");
	tap_is(pf_limiter_wait(l, PF_LIMIT_REFUSED, a.b, 60, T0), 1000,
	    "it says how long to wait");
	tap_is(grab(l, b, 60, T0, 1), 1, "another address is not touched");
	tap_is(pf_limiter_take(l, PF_LIMIT_CALLS, a.b, 60, T0), 0,
	    "nor another use of the key");
	tap_is(grab(l, a, 60, T0 + S / 2, 5), 0, "half a second later");
	tap_is(pf_limiter_wait(l, PF_LIMIT_REFUSED, a.b, 60, T0 + S / 2), 500,
	    "... half of the wait");
	tap_is(grab(l, a, 60, T0 + S, 5), 1, "one a second");
	tap_is(grab(l, a, 60, T0 + 11 * S, 50), 10, "ten in ten");
	tap_is(grab(l, a, 60, T0 + 600 * S, 100), 60,
	    "never more than it holds");
	tap_is(grab(l, a, 60, T0 + 599 * S, 5), 0,
	    "a clock that steps back gives nothing");
	tap_is(grab(l, b, 1, T0 + 700 * S, 3), 1, "one a minute");
	tap_is(pf_limiter_wait(l, PF_LIMIT_REFUSED, b.b, 1, T0 + 700 * S),
	    60000, "... and the next in a minute");
	tap_is(grab(l, b, 0, T0, 1000), 1000, "0 is no limit");
	tap_is(pf_limiter_wait(l, PF_LIMIT_REFUSED, b.b, 0, T0), 0,
	    "... for those who ask, either");
	tap_is(grab(l, key(3), 10000000, T0, 1000), 1000, "a very wide one");
	pf_limiter_free(l);
}

static void
shut(void)
{
	struct pf_limiter *l = table(64);
	struct key a = key(1);

	tap_is(pf_limiter_shut_for(l, PF_LIMIT_TOKEN, a.b, T0), 0, "open");
	pf_limiter_shut(l, PF_LIMIT_TOKEN, a.b, T0 + 30 * S);
	tap_is(pf_limiter_shut_for(l, PF_LIMIT_TOKEN, a.b, T0), 30000, "shut");
	pf_limiter_shut(l, PF_LIMIT_TOKEN, a.b, T0 + 10 * S);
	tap_is(pf_limiter_shut_for(l, PF_LIMIT_TOKEN, a.b, T0), 30000,
	    "never shorter than it was");
	tap_is(pf_limiter_shut_for(l, PF_LIMIT_REVOKE, a.b, T0), 0,
	    "only for this");
	tap_is(pf_limiter_shut_for(l, PF_LIMIT_TOKEN, key(2).b, T0), 0,
	    "only for this one");
	tap_is(pf_limiter_shut_for(l, PF_LIMIT_TOKEN, a.b, T0 + 30 * S - 1), 1,
	    "to the end");
	tap_is(pf_limiter_shut_for(l, PF_LIMIT_TOKEN, a.b, T0 + 30 * S), 0,
	    "open again");
	pf_limiter_free(l);
}

/* Strangers without number push out each other, not who is being limited. */
static void
bounded(void)
{
	struct pf_limiter *l = table(256);
	struct key bad = key(0xffffffff);

	tap_is(grab(l, bad, 120, T0, 200), 120, "somebody is limited");
	for (unsigned i = 0; i < 100000; i++)
		(void)grab(l, key(i), 120, T0, 1);
	tap_is(grab(l, bad, 120, T0, 200), 0,
	    "... and still is after 100,000 others");
	pf_limiter_free(l);
}

static struct pf_limiter *shared;

static void *
taker(void *arg)
{
	int *got = arg;

	*got = grab(shared, key(7), 500, T0, 1000);
	return NULL;
}

static void
threads(void)
{
	int got[4] = { 0 }, sum = 0;
	pthread_t t[4];

	shared = table(64);
	for (int i = 0; i < 4; i++)
		tap_need(pthread_create(&t[i], NULL, taker, &got[i]) == 0,
		    "a thread");
	for (int i = 0; i < 4; i++) {
		(void)pthread_join(t[i], NULL);
		sum += got[i];
	}
	tap_is(sum, 500, "four threads share one bucket exactly");
	pf_limiter_free(shared);
}

int
main(void)
{
	buckets();
	shut();
	bounded();
	threads();
	return tap_done();
}
