#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/web/serve_int.h"

void
pf_lock(struct pf_serve *s)
{
	pthread_mutex_lock(&s->lock);
}

void
pf_unlock(struct pf_serve *s)
{
	pthread_mutex_unlock(&s->lock);
}

void
pf_poke_l(struct pf_serve *s)
{
	const uint64_t one = 1;

	if (s->poked || pthread_equal(pthread_self(), s->event_thread))
		return;
	s->poked = true;
	/* It can't fail but for a counter at its end, which wakes as well. */
	if (write(s->wakefd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		PF_LOG(PF_LOG_ERROR, "eventfd", PF_F_INT("errno", errno));
}

/* Room for the deadline of every slot, those of a further chunk included. */
static bool
heap_fits_l(struct pf_serve *s)
{
	size_t max = (s->nchunks + 1) * SLOT_CHUNK + 1;
	struct pf_slot **heap;

	heap = reallocarray(s->heap, max, sizeof(struct pf_slot *));
	if (heap == NULL)
		return false;
	s->heap = heap;
	return true;
}

/* Slots never move: the event thread and workers keep pointers to them. */
static bool
grow_l(struct pf_serve *s)
{
	struct pf_slot *chunk;

	if (s->nchunks == MAX_SLOTS / SLOT_CHUNK || !heap_fits_l(s) ||
	    (chunk = calloc(SLOT_CHUNK, sizeof(*chunk))) == NULL)
		return false;
	for (size_t i = SLOT_CHUNK; i-- > 0;) {
		chunk[i].work.kind = WORK_SLOT;
		chunk[i].index = (uint32_t)(s->nchunks * SLOT_CHUNK + i);
		chunk[i].fd = -1;
		chunk[i].free_next = s->free;
		s->free = &chunk[i];
	}
	s->chunk[s->nchunks++] = chunk;
	return true;
}

struct pf_slot *
pf_slot_new(struct pf_serve *s, int fd)
{
	struct pf_slot *sl = NULL;

	pf_lock(s);
	s->stats.accepted++;
	if (s->free != NULL || grow_l(s)) {
		sl = s->free;
		s->free = sl->free_next;
		s->used++;
		sl->fd = fd;
		sl->state = SLOT_GATE;
	}
	pf_unlock(s);
	if (sl != NULL)
		pf_gate_init(&sl->gate, s->role, s->max_body);
	return sl;
}

struct pf_slot *
pf_slot_at_l(struct pf_serve *s, uint32_t index)
{
	if (index / SLOT_CHUNK >= s->nchunks)
		return NULL;
	return &s->chunk[index / SLOT_CHUNK][index % SLOT_CHUNK];
}

void
pf_slot_drop_bytes(struct pf_serve *s, struct pf_slot *sl)
{
	if (sl->bytes == NULL)
		return;
	/* Bodies and replies hold tokens. */
	pf_wipe(sl->bytes, sl->size);
	free(sl->bytes);
	pf_lock(s);
	*sl->charged -= sl->size;
	pf_unlock(s);
	sl->bytes = NULL;
	sl->nbytes = sl->size = sl->sent = 0;
}

bool
pf_slot_room(struct pf_serve *s, struct pf_slot *sl, size_t size,
    size_t *total, size_t max)
{
	size_t had = sl->nbytes;
	char *bytes;
	bool fits;

	pf_lock(s);
	fits = size <= max - *total;
	if (fits)
		*total += size;
	pf_unlock(s);
	if (!fits)
		return false;
	if ((bytes = malloc(size)) == NULL) {
		pf_lock(s);
		*total -= size;
		pf_unlock(s);
		return false;
	}
	if (had > 0)
		memcpy(bytes, sl->bytes, had);
	pf_slot_drop_bytes(s, sl);
	sl->bytes = bytes;
	sl->nbytes = had;
	sl->size = size;
	sl->charged = total;
	return true;
}

static void
free_l(struct pf_serve *s, struct pf_slot *sl)
{
	pf_timer_clear_l(s, sl);
	if (sl->begun) {
		sl->begun = false;
		s->parked--;
	}
	sl->state = SLOT_FREE;
	sl->arm++;
	sl->polled = sl->reused = sl->woken = sl->rest = false;
	sl->refuse = 0;
	sl->looks = 0;
	sl->free_next = s->free;
	s->free = sl;
	s->used--;
	if (s->stopping)
		pf_poke_l(s);
}

void
pf_slot_end(struct pf_serve *s, struct pf_slot *sl)
{
	if (sl->ops != NULL) {
		if (sl->ops->gone != NULL)
			sl->ops->gone(sl->ops->ctx, sl->state_copy);
		free(sl->state_copy);
		sl->ops = NULL;
		sl->state_copy = NULL;
	}
	if (sl->arena != NULL) {
		pf_arena_free(sl->arena);
		free(sl->arena);
		sl->arena = NULL;
		sl->rq = NULL;
	}
	pf_slot_drop_bytes(s, sl);
	if (sl->fd >= 0)
		close(sl->fd);
	sl->fd = -1;
	pf_lock(s);
	free_l(s, sl);
	pf_unlock(s);
}

bool
pf_slot_watch_l(struct pf_serve *s, struct pf_slot *sl, enum slot_state state,
    uint32_t events, int64_t due_ms)
{
	struct epoll_event ev = { .events = events };

	sl->arm++;
	ev.data.u64 = (uint64_t)sl->arm << 32 | sl->index;
	if (epoll_ctl(s->ep, sl->polled ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
	    sl->fd, &ev) < 0) {
		PF_LOG(PF_LOG_ERROR, "epoll", PF_F_INT("errno", errno));
		return false;
	}
	sl->polled = true;
	sl->state = state;
	if (due_ms != 0)
		pf_timer_set_l(s, sl, due_ms);
	else
		pf_timer_clear_l(s, sl);
	return true;
}

void
pf_slot_watch(struct pf_serve *s, struct pf_slot *sl, enum slot_state state,
    uint32_t events, int64_t due_ms)
{
	bool ok;

	pf_lock(s);
	ok = pf_slot_watch_l(s, sl, state, events, due_ms);
	pf_unlock(s);
	if (!ok)
		pf_slot_end(s, sl);
}

void
pf_slot_again(struct pf_serve *s, struct pf_slot *sl)
{
	bool ok;

	pf_gate_init(&sl->gate, s->role, s->max_body);
	sl->reused = true;
	sl->rest = false;
	sl->refuse = 0;
	sl->looks = 0;
	pf_lock(s);
	ok = !s->stopping && pf_slot_watch_l(s, sl, SLOT_GATE, GATE_EVENTS, 0);
	pf_unlock(s);
	if (!ok)
		pf_slot_end(s, sl);
}

struct pf_worker *
pf_push_l(struct pf_serve *s, struct pf_work *w)
{
	struct pf_worker *first = s->idle;

	w->next = NULL;
	*s->tail = w;
	s->tail = &w->next;
	if (first != NULL)
		s->idle = first->below;
	return first;
}

void
pf_slot_push(struct pf_serve *s, struct pf_slot *sl)
{
	struct pf_worker *w;

	sl->id = sl->gate.id;
	sl->keep = sl->gate.keep;
	pf_lock(s);
	pf_timer_clear_l(s, sl);
	sl->state = SLOT_QUEUED;
	w = pf_push_l(s, &sl->work);
	pf_unlock(s);
	/* Out of the lock: the one it wakes need not wait for us. */
	pf_worker_wake(w);
}
