#include "core/poppy/kept.h"

struct kept {
	struct kept *next;
	const char *name;
	void *thing;
};

void *
pf_kept_find(const struct pf_req *rq, const char *name)
{
	for (const struct kept *k = rq->kept; k != NULL; k = k->next)
		if (k->name == name)
			return k->thing;
	return NULL;
}

enum pf_rc
pf_kept_add(struct pf_req *rq, const char *name, void *thing)
{
	struct kept *k;

	if ((k = pf_arena_alloc(rq->arena, sizeof(*k))) == NULL)
		return PF_E_MEM;
	*k = (struct kept){ rq->kept, name, thing };
	rq->kept = k;
	return PF_OK;
}
