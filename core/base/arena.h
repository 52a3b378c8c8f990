/*
 * arena - the memory of one request (or one load of the settings).
 *
 * Nothing is freed alone; pf_arena_reset() gives all back, zeroed, and runs
 * what was deferred, last first. One thread at a time.
 */
#ifndef PF_ARENA_H
#define PF_ARENA_H

#include "core/base/str.h"

struct pf_arena_block;
struct pf_arena_defer;

struct pf_arena {
	struct pf_arena_block *first;	/* kept over a reset */
	struct pf_arena_block *last;
	struct pf_arena_defer *defers;
	size_t used;
	size_t cap;			/* all blocks together, bytes */
};

/* The first block has 'first' bytes; never more than cap in all. PF_E_MEM. */
PF_MUST enum pf_rc pf_arena_init(struct pf_arena *a, size_t first, size_t cap);
/* Zeroed and aligned for any type; NULL past the cap. n may be 0. */
void *pf_arena_alloc(struct pf_arena *a, size_t n);
/* Make the newest piece longer where it lies; false if it isn't the newest or
 * the block is full. Nothing has changed then. */
bool pf_arena_grow(struct pf_arena *a, void *p, size_t from, size_t to);
/* Copies; .p is NULL only when memory ran out. The copy has a NUL behind it,
 * which is not counted in n. */
struct pf_str pf_arena_copy(struct pf_arena *a, struct pf_str s);
/* The same as a C string; NULL past the cap or when s holds a NUL. */
char *pf_arena_z(struct pf_arena *a, struct pf_str s);
/* fn(arg) runs at reset. PF_E_MEM: it was not taken, and fn was called now. */
PF_MUST enum pf_rc pf_arena_defer(struct pf_arena *a, void (*fn)(void *),
    void *arg);
void pf_arena_reset(struct pf_arena *a);
void pf_arena_free(struct pf_arena *a);

#endif
