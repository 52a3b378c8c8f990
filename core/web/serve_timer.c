#include "config.h"

#include "core/web/serve_int.h"

/*
 * A binary heap, earliest first, from index 1; a slot knows its place, so that
 * a deadline can be moved or cleared in O(log n). The array has room for every
 * slot that exists (pf_slot_new() sees to it), so setting never fails.
 */

static void
put(struct pf_serve *s, size_t at, struct pf_slot *sl)
{
	s->heap[at] = sl;
	sl->heap_at = at;
}

static void
sift_up(struct pf_serve *s, size_t at, struct pf_slot *sl)
{
	while (at > 1 && s->heap[at / 2]->due_ms > sl->due_ms) {
		put(s, at, s->heap[at / 2]);
		at /= 2;
	}
	put(s, at, sl);
}

static void
sift_down(struct pf_serve *s, size_t at, struct pf_slot *sl)
{
	size_t kid;

	while ((kid = at * 2) <= s->nheap) {
		if (kid < s->nheap &&
		    s->heap[kid + 1]->due_ms < s->heap[kid]->due_ms)
			kid++;
		if (s->heap[kid]->due_ms >= sl->due_ms)
			break;
		put(s, at, s->heap[kid]);
		at = kid;
	}
	put(s, at, sl);
}

void
pf_timer_clear_l(struct pf_serve *s, struct pf_slot *sl)
{
	struct pf_slot *last;
	size_t at = sl->heap_at;

	if (at == 0)
		return;
	sl->heap_at = 0;
	last = s->heap[s->nheap--];
	if (last == sl)
		return;
	if (at > 1 && s->heap[at / 2]->due_ms > last->due_ms)
		sift_up(s, at, last);
	else
		sift_down(s, at, last);
}

void
pf_timer_set_l(struct pf_serve *s, struct pf_slot *sl, int64_t due_ms)
{
	pf_timer_clear_l(s, sl);
	sl->due_ms = due_ms;
	sift_up(s, ++s->nheap, sl);
	if (due_ms < s->sleep_until_ms)
		pf_poke_l(s);
}

struct pf_slot *
pf_timer_due_l(struct pf_serve *s, int64_t now_ms)
{
	struct pf_slot *sl;

	if (s->nheap == 0 || s->heap[1]->due_ms > now_ms)
		return NULL;
	sl = s->heap[1];
	pf_timer_clear_l(s, sl);
	return sl;
}
