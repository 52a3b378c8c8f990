#include "core/base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
/* A gap behind every piece, so that an overrun is seen by the sanitizer. */
#define GAP	16
#define HIDE(p, n)	__asan_poison_memory_region((p), (n))
#define SHOW(p, n)	__asan_unpoison_memory_region((p), (n))
#else
#define GAP	0
#define HIDE(p, n)	((void)(p), (void)(n))
#define SHOW(p, n)	((void)(p), (void)(n))
#endif

#define ALIGN	alignof(max_align_t)

/*
 * Bytes behind 'used' are zero at all times: blocks come from calloc() and what
 * was used is wiped when it is given back. So pf_arena_alloc() clears nothing.
 */
struct pf_arena_block {
	struct pf_arena_block *next;
	size_t size;
	size_t used;
	alignas(max_align_t) unsigned char data[];
};

struct pf_arena_defer {
	struct pf_arena_defer *next;
	void (*fn)(void *);
	void *arg;
};

/* n, and up to the next multiple of ALIGN; 0 on overflow. */
static size_t
rounded(size_t n)
{
	size_t sum;

	if (n == 0)
		n = 1;
	if (__builtin_add_overflow(n, ALIGN - 1 + GAP, &sum))
		return 0;
	return sum & ~(ALIGN - 1);
}

static struct pf_arena_block *
block_new(size_t size)
{
	struct pf_arena_block *b;
	size_t all;

	if (__builtin_add_overflow(size, sizeof(*b), &all) ||
	    (b = calloc(1, all)) == NULL)
		return NULL;
	b->size = size;
	HIDE(b->data, size);
	return b;
}

static void
block_clear(struct pf_arena_block *b)
{
	SHOW(b->data, b->used);
	pf_wipe(b->data, b->used);
	HIDE(b->data, b->used);
	b->used = 0;
}

static void
block_free(struct pf_arena_block *b)
{
	block_clear(b);
	SHOW(b->data, b->size);
	free(b);
}

enum pf_rc
pf_arena_init(struct pf_arena *a, size_t first, size_t cap)
{
	*a = (struct pf_arena){ .cap = cap };
	first &= ~(ALIGN - 1);
	if (first > cap)
		first = cap & ~(ALIGN - 1);
	if ((a->first = block_new(first)) == NULL)
		return PF_E_MEM;
	a->last = a->first;
	a->used = first;
	return PF_OK;
}

/* Another block, as large as all before it: few of them, whatever is asked. */
static bool
extend(struct pf_arena *a, size_t need)
{
	struct pf_arena_block *b;
	size_t left = a->cap - a->used, size = a->used;

	if (a->last == NULL || need > left)
		return false;
	if (size < need)
		size = need;
	if (size > left)
		size = left;
	if ((b = block_new(size)) == NULL)
		return false;
	a->last->next = b;
	a->last = b;
	a->used += size;
	return true;
}

void *
pf_arena_alloc(struct pf_arena *a, size_t n)
{
	struct pf_arena_block *b = a->last;
	size_t need = rounded(n);
	void *p;

	if (need == 0)
		return NULL;
	if (b == NULL || need > b->size - b->used) {
		if (!extend(a, need))
			return NULL;
		b = a->last;
	}
	p = b->data + b->used;
	b->used += need;
	SHOW(p, n);
	return p;
}

bool
pf_arena_grow(struct pf_arena *a, void *p, size_t from, size_t to)
{
	struct pf_arena_block *b = a->last;
	size_t old = rounded(from), new = rounded(to);

	if (b == NULL || new < old || old > b->used ||
	    (unsigned char *)p != b->data + (b->used - old) ||
	    new - old > b->size - b->used)
		return false;
	b->used += new - old;
	SHOW(p, to);
	return true;
}

struct pf_str
pf_arena_copy(struct pf_arena *a, struct pf_str s)
{
	char *p;

	if (s.n == SIZE_MAX || (p = pf_arena_alloc(a, s.n + 1)) == NULL)
		return PF_NOSTR;
	if (s.n > 0)
		memcpy(p, s.p, s.n);
	return (struct pf_str){ p, s.n };
}

char *
pf_arena_z(struct pf_arena *a, struct pf_str s)
{
	char *p;

	if (pf_str_has(s, '\0') || s.n == SIZE_MAX ||
	    (p = pf_arena_alloc(a, s.n + 1)) == NULL)
		return NULL;
	if (s.n > 0)
		memcpy(p, s.p, s.n);
	return p;
}

enum pf_rc
pf_arena_defer(struct pf_arena *a, void (*fn)(void *), void *arg)
{
	struct pf_arena_defer *d;

	if ((d = pf_arena_alloc(a, sizeof(*d))) == NULL) {
		fn(arg);
		return PF_E_MEM;
	}
	*d = (struct pf_arena_defer){ a->defers, fn, arg };
	a->defers = d;
	return PF_OK;
}

/* What was deferred may still allocate, even defer: its turn comes, too. */
static void
run_deferred(struct pf_arena *a)
{
	struct pf_arena_defer *d;

	while ((d = a->defers) != NULL) {
		a->defers = d->next;
		d->fn(d->arg);
	}
}

void
pf_arena_reset(struct pf_arena *a)
{
	struct pf_arena_block *b, *next;

	if (a->first == NULL)
		return;
	run_deferred(a);
	for (b = a->first->next; b != NULL; b = next) {
		next = b->next;
		block_free(b);
	}
	a->first->next = NULL;
	block_clear(a->first);
	a->last = a->first;
	a->used = a->first->size;
}

void
pf_arena_free(struct pf_arena *a)
{
	if (a->first != NULL) {
		pf_arena_reset(a);
		block_free(a->first);
	}
	*a = (struct pf_arena){ 0 };
}
