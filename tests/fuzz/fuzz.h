/*
 * fuzz - what the fuzz targets share.
 *
 * A target is one file with fuzz_one(), which gives bytes to a parser and
 * checks what must hold of the result whatever came in. It is built twice: with
 * a main that replays tests/fuzz/corpus/NAME in make check, and, by
 * --enable-fuzzing, for libFuzzer (tests/fuzz/run).
 */
#ifndef PF_FUZZ_H
#define PF_FUZZ_H

#include "core/base/arena.h"

/*
 * Were these bytes accepted? A file of the corpus says by its name what must
 * come out: good-*, bad-*, or any other for either.
 */
bool fuzz_one(struct pf_str in);

/* fuzz_one() with all that it needs around it. */
bool fuzz_run(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Empty at the begin of each fuzz_one(). */
extern struct pf_arena fuzz_arena;
/* The moment at which all proofs and assertions of the corpora are judged. */
#define FUZZ_NOW	1790000000

/* What holds for any input; else the program ends, which is a finding. */
#define FUZZ_HOLDS(what) do {						\
	if (!(what))							\
		fuzz_broken(#what, __FILE__, __LINE__);			\
} while (0)
void fuzz_broken(const char *what, const char *file, int line)
    __attribute__((noreturn));

/* Does part lie within whole? */
bool fuzz_within(struct pf_str part, struct pf_str whole);

#endif
