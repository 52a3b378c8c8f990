/*
 * Which work is usual at this shop. A few kinds of it are counted; where all
 * places are taken the rarest gives way. Halving all counts lets the old kind be
 * forgotten where a shop moves to another.
 */
#include <pthread.h>
#include <string.h>

#include "core/poppy/password_in.h"

#define PLACES		8
#define COUNT_MAX	1024
#define START_COST	12		/* of bcrypt; PHP's own from 8.4 on */

static struct {
	pthread_mutex_t lock;
	struct pf_pw_work work[PLACES];
	unsigned count[PLACES];		/* 0: free */
} seen = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Its place, or the one to be given to it. */
static size_t
place_l(const struct pf_pw_work *w)
{
	size_t rarest = 0;

	for (size_t i = 0; i < PLACES; i++) {
		if (seen.count[i] != 0 &&
		    memcmp(&seen.work[i], w, sizeof(*w)) == 0)
			return i;
		if (seen.count[i] < seen.count[rarest])
			rarest = i;
	}
	seen.work[rarest] = *w;
	seen.count[rarest] = 0;
	return rarest;
}

void
pf_pw_cost_note(const struct pf_pw_work *w)
{
	(void)pthread_mutex_lock(&seen.lock);
	if (++seen.count[place_l(w)] > COUNT_MAX)
		for (size_t i = 0; i < PLACES; i++)
			seen.count[i] = (seen.count[i] + 1) / 2;
	(void)pthread_mutex_unlock(&seen.lock);
}

void
pf_pw_cost_usual(struct pf_pw_work *out)
{
	size_t most = 0;

	(void)pthread_mutex_lock(&seen.lock);
	for (size_t i = 1; i < PLACES; i++)
		if (seen.count[i] > seen.count[most])
			most = i;
	*out = seen.work[most];
	if (seen.count[most] == 0)
		*out = (struct pf_pw_work){
			.family = PF_PW_BCRYPT, .cost = START_COST
		};
	(void)pthread_mutex_unlock(&seen.lock);
}
