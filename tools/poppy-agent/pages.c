#include "config.h"

#include "tools/poppy-agent/pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/clock.h"

#define BODY_MAX	65536
#define ARENA_CAP	(256u << 20)
/* A retired key leaves the set by time alone, without a change of the file. */
#define REREAD_MS	60000

struct ag_pages {
	const struct ag_options *opt;
	const struct ag_client *client;
	pthread_mutex_t lock;		/* over all that follows */
	char body[AG_PAGES][BODY_MAX];
	size_t n[AG_PAGES];
	struct stat read_from;
	int64_t read_ms;
};

enum pf_rc
ag_pages_new(const struct ag_options *opt, const struct ag_client *c,
    struct ag_pages **out)
{
	struct ag_pages *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return PF_E_MEM;
	p->opt = opt;
	p->client = c;
	pthread_mutex_init(&p->lock, NULL);
	*out = p;
	return PF_OK;
}

void
ag_pages_free(struct ag_pages *p)
{
	if (p == NULL)
		return;
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static void
set_page(struct ag_pages *p, size_t i, struct pf_str body)
{
	p->n[i] = body.n < BODY_MAX ? body.n : BODY_MAX;
	memcpy(p->body[i], body.p, p->n[i]);
}

static enum pf_rc
make(struct ag_pages *p, struct agent *ag)
{
	struct pf_str metadata, jwks;
	enum pf_rc rc;

	if ((rc = ag_state_load(ag)) != PF_OK ||
	    (rc = ag_client_ready(ag)) != PF_OK ||
	    (rc = ag_client_metadata(&ag->arena, p->client, ag->st.name,
	    &metadata)) != PF_OK || (rc = ag_client_jwks(&ag->arena,
	    ag->st.keys, pf_now_at(), &jwks)) != PF_OK)
		return rc;
	set_page(p, 0, metadata);
	set_page(p, 1, jwks);
	return PF_OK;
}

/* In memory of its own, which goes again: a server lives long. A state file
 * that can't be read leaves the last pages standing. */
static void
make_again(struct ag_pages *p)
{
	struct agent *ag = calloc(1, sizeof(*ag));

	if (ag == NULL || pf_arena_init(&ag->arena, 65536, ARENA_CAP) !=
	    PF_OK) {
		free(ag);
		return;
	}
	ag->opt = *p->opt;
	if (make(p, ag) != PF_OK)
		fprintf(stderr, "poppy-agent: %s\n", ag->fault.got);
	pf_arena_free(&ag->arena);
	free(ag);
}

static bool
same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void
refresh(struct ag_pages *p)
{
	struct stat st;

	memset(&st, 0, sizeof(st));
	if (stat(p->opt->state, &st) != 0)
		return;
	if (same_file(&st, &p->read_from) &&
	    pf_mono_ms() - p->read_ms < REREAD_MS)
		return;
	p->read_from = st;
	p->read_ms = pf_mono_ms();
	make_again(p);
}

enum pf_rc
ag_pages_copy(struct ag_pages *p, struct pf_arena *a,
    struct ag_page page[AG_PAGES])
{
	bool good = true;

	page[0] = (struct ag_page){ p->client->id_path,
	    PF_LIT("application/json"), PF_NOSTR };
	page[1] = (struct ag_page){ p->client->jwks_path,
	    PF_LIT("application/jwk-set+json"), PF_NOSTR };
	pthread_mutex_lock(&p->lock);
	refresh(p);
	for (size_t i = 0; i < AG_PAGES; i++) {
		page[i].body = pf_arena_copy(a, pf_bytes(p->body[i], p->n[i]));
		good = good && pf_str_given(page[i].body);
	}
	pthread_mutex_unlock(&p->lock);
	return good ? PF_OK : PF_E_MEM;
}
