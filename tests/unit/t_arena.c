#include "tests/unit/tap.h"

#include "core/base/arena.h"

#define TEXT	PF_LIT("0123456789")

static int order[4], norder;

static void
note(void *arg)
{
	order[norder++ % 4] = *(int *)arg;
}

static bool
zero(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != 0)
			return false;
	return true;
}

static void
test_alloc(void)
{
	struct pf_arena a;
	unsigned char *p, *q;
	bool aligned = true, clear = true;

	tap_need(pf_arena_init(&a, 256, 4096) == PF_OK, "an arena");
	for (size_t n = 0; n < 40; n++) {
		p = pf_arena_alloc(&a, n);
		tap_need(p != NULL, "small pieces");
		aligned = aligned && (uintptr_t)p % 16 == 0;
		clear = clear && zero(p, n);
		memset(p, 0xff, n);
	}
	tap_ok(aligned, "pieces are aligned for any type");
	tap_ok(clear, "pieces are zero");
	p = pf_arena_alloc(&a, 0);
	q = pf_arena_alloc(&a, 0);
	tap_ok(p != NULL && q != NULL && p != q, "no bytes are a piece, too");
	pf_arena_reset(&a);
	clear = true;
	while ((p = pf_arena_alloc(&a, 100)) != NULL) {
		clear = clear && zero(p, 100);
		memset(p, 0xff, 100);
	}
	tap_ok(clear, "still zero after a reset");
	tap_ok(a.used <= a.cap, "the cap holds");
	pf_arena_reset(&a);
	tap_is((long long)a.used, 256, "a reset keeps the first block alone");
	pf_arena_free(&a);
}

static void
test_limits(void)
{
	struct pf_arena a;
	struct pf_str none = PF_NOSTR;

	tap_need(pf_arena_init(&a, 128, 1024) == PF_OK, "an arena");
	tap_ok(pf_arena_alloc(&a, 1025) == NULL, "refused: over the cap");
	tap_ok(pf_arena_alloc(&a, SIZE_MAX) == NULL, "refused: SIZE_MAX");
	tap_ok(pf_arena_alloc(&a, SIZE_MAX - 8) == NULL, "refused: nearly");
	tap_ok(pf_arena_alloc(&a, SIZE_MAX / 2) == NULL, "refused: half");
	tap_is_str(pf_arena_copy(&a, pf_bytes("", SIZE_MAX)), none,
	    "refused: copy of SIZE_MAX");
	tap_ok(pf_arena_alloc(&a, 800) != NULL, "still usable after that");
	tap_ok(pf_arena_alloc(&a, 800) == NULL, "refused: all together");
	tap_ok(pf_arena_z(&a, PF_LIT("a\0b")) == NULL, "refused: NUL within");
	pf_arena_free(&a);
	tap_need(pf_arena_init(&a, 256, 1000) == PF_OK, "an arena");
	while (pf_arena_alloc(&a, 16) != NULL)
		;
	tap_is((long long)a.used, 1000, "an odd cap is used up and kept");
	pf_arena_free(&a);
	tap_ok(pf_arena_alloc(&a, 1) == NULL, "refused: freed");
	pf_arena_free(&a);
	pf_arena_reset(&a);
	tap_ok(a.first == NULL, "freeing twice does nothing");
	tap_is(pf_arena_init(&a, SIZE_MAX, SIZE_MAX), PF_E_MEM,
	    "refused: a first block of SIZE_MAX");
	pf_arena_free(&a);
	tap_is(pf_arena_init(&a, 4096, 64), PF_OK, "first over the cap");
	tap_ok(a.used <= 64, "is cut to the cap");
	pf_arena_free(&a);
}

static void
test_text(void)
{
	struct pf_arena a;
	struct pf_str s;
	char *z;

	tap_need(pf_arena_init(&a, 4096, 4096) == PF_OK, "an arena");
	s = pf_arena_copy(&a, TEXT);
	tap_is_str(s, TEXT, "a copy");
	tap_is(s.p[s.n], '\0', "has a NUL behind it");
	s = pf_arena_copy(&a, PF_NOSTR);
	tap_is_z(s, "", "a copy of nothing is given and empty");
	z = pf_arena_z(&a, TEXT);
	tap_is_z(pf_str(z), "0123456789", "as C string");
	tap_ok(pf_arena_grow(&a, z, 11, 2000), "the newest piece grows");
	tap_is_z(pf_str(z), "0123456789", "and keeps what it held");
	tap_ok(zero((unsigned char *)z + 11, 1989), "the rest is zero");
	tap_ok(!pf_arena_grow(&a, z, 2000, 8000), "but not past the block");
	(void)pf_arena_alloc(&a, 1);
	tap_ok(!pf_arena_grow(&a, z, 2000, 2001), "nor when it isn't newest");
	pf_arena_free(&a);
}

static void
test_defer(void)
{
	struct pf_arena a;
	int one = 1, two = 2, three = 3;

	tap_need(pf_arena_init(&a, 256, 256) == PF_OK, "an arena");
	tap_is(pf_arena_defer(&a, note, &one), PF_OK, "deferred");
	tap_is(pf_arena_defer(&a, note, &two), PF_OK, "another");
	tap_is(norder, 0, "not called yet");
	pf_arena_reset(&a);
	tap_is(norder, 2, "both called by the reset");
	tap_ok(order[0] == 2 && order[1] == 1, "last first");
	pf_arena_reset(&a);
	tap_is(norder, 2, "once only");
	while (pf_arena_alloc(&a, 1) != NULL)
		;
	tap_is(pf_arena_defer(&a, note, &three), PF_E_MEM, "no room");
	tap_ok(norder == 3 && order[2] == 3, "then it is called at once");
	pf_arena_free(&a);
	tap_is(norder, 3, "and not again");
}

int
main(void)
{
	test_alloc();
	test_limits();
	test_text();
	test_defer();
	return tap_done();
}
