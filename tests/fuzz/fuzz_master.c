/*
 * The master key's file: what is read is written alike, and whatever step of a
 * rotation comes next, Users stay who they are.
 */
#include "config.h"

#include <string.h>

#include "core/poppy/master.h"
#include "tests/fuzz/fuzz.h"

static bool
same(const struct pf_master *a, const struct pf_master *b)
{
	return memcmp(a->now, b->now, PF_KEY_LEN) == 0 &&
	    memcmp(a->user, b->user, PF_KEY_LEN) == 0 &&
	    a->other_is == b->other_is && a->kept == b->kept &&
	    (a->other_is == 0 || memcmp(a->other, b->other, PF_KEY_LEN) == 0);
}

/* A step that comes next, written and read again. */
static void
take(struct pf_master *m, enum pf_rc (*step)(struct pf_master *m))
{
	unsigned char raw[PF_MASTER_MAX];
	struct pf_master was = *m, read;

	FUZZ_HOLDS(step(m) == PF_OK);
	FUZZ_HOLDS(memcmp(m->user, was.user, PF_KEY_LEN) == 0 && m->kept);
	FUZZ_HOLDS(pf_master_parse(raw, pf_master_write(m, raw), &read) ==
	    PF_OK);
	FUZZ_HOLDS(same(m, &read));
}

bool
fuzz_one(struct pf_str in)
{
	enum pf_rc (*const steps[])(struct pf_master *m) = {
		pf_master_begin, pf_master_switch, pf_master_finish
	};
	unsigned char raw[PF_MASTER_MAX];
	struct pf_master m = { .kept = false };
	size_t next;

	if (pf_master_parse(in.p, in.n, &m) != PF_OK)
		return false;
	FUZZ_HOLDS(pf_master_write(&m, raw) == in.n);
	FUZZ_HOLDS(memcmp(raw, in.p, in.n) == 0);
	next = m.other_is == 0 ? 0 : m.other_is == 'n' ? 1 : 2;
	for (size_t i = 0; i < PF_COUNT(steps); i++) {
		struct pf_master was = m;

		if (i == next)
			continue;
		FUZZ_HOLDS(steps[i](&m) == PF_E_CONFLICT);
		FUZZ_HOLDS(same(&m, &was));
	}
	for (size_t i = next; i < PF_COUNT(steps); i++)
		take(&m, steps[i]);
	FUZZ_HOLDS(m.other_is == 0);
	return true;
}
