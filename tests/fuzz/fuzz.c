/*
 * fuzz - see fuzz.h.
 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "core/jose/crypt.h"

struct pf_arena fuzz_arena;

void
fuzz_broken(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

bool
fuzz_within(struct pf_str part, struct pf_str whole)
{
	return part.p >= whole.p && part.n <= whole.n &&
	    (size_t)(part.p - whole.p) <= whole.n - part.n;
}

static void
begin(void)
{
	static bool begun;

	if (begun)
		return;
	begun = true;
	/* What is refused is logged, and would hide what is found. */
	pf_log_level(PF_LOG_ERROR);
	FUZZ_HOLDS(pf_crypt_init() == PF_OK);
	FUZZ_HOLDS(pf_arena_init(&fuzz_arena, 65536, 8 << 20) == PF_OK);
}

bool
fuzz_run(const uint8_t *data, size_t size)
{
	bool good;

	begin();
	good = fuzz_one(pf_bytes(data, size));
	pf_arena_reset(&fuzz_arena);
	return good;
}

/* libFuzzer reserves all results but 0. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)fuzz_run(data, size);
	return 0;
}
