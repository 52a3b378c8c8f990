#include "core/poppy/flight.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/poppy/client.h"
#include "core/poppy/domain.h"
#include "core/poppy/fetch.h"
#include "core/poppy/places.h"
#include "core/web/outbound.h"
#include "core/web/url.h"

enum stage { METADATA, KEYS };

struct pf_flight {
	struct pf_proc *proc;
	enum stage stage;
	struct pf_str client_id;	/* all strings are the flight's own */
	struct pf_place place;		/* its host is part of client_id */
	struct pf_str metadata, name, logo_uri;
	int64_t fresh_s;		/* so far: the shortest max-age */
	int64_t deadline_ms;		/* of both documents together */
	size_t max_bytes;
	int64_t fresh_default_s, stale_s, retry_s;
	bool public_ok;			/* clients without keys are welcome */
	/* The last answer. */
	enum pf_outbound_fault fault;
	int status;
	struct pf_str body;
	int64_t said_fresh_s;
	/* Who waits; under the lock of pf_flights. */
	pf_parkid waiter[PF_FLIGHT_WAITERS];
	size_t nwaiters;
};

struct pf_flights {
	pthread_mutex_t lock;
	struct pf_flight *v[PF_PLACES];
	const struct pf_place *taken[PF_PLACES];
};

static const struct pf_stmt CLIENT_STORE = {
	"client_store",
	"SELECT outcome, client_no, version, allowed"
	" FROM poppy_api.client_store($1, $2, $3, $4, $5, $6, $7, $8)"
};
enum { OUTCOME, CLIENT_NO, VERSION, ALLOWED };
static const struct pf_stmt CLIENT_FAIL = {
	"client_fail",
	"SELECT outcome FROM poppy_api.client_fail($1, $2, $3, $4)"
};

enum pf_rc
pf_flights_new(struct pf_flights **out)
{
	if ((*out = calloc(1, sizeof(**out))) == NULL)
		return PF_E_MEM;
	(void)pthread_mutex_init(&(*out)->lock, NULL);
	return PF_OK;
}

static void
flight_free(struct pf_flight *f)
{
	free((void *)(uintptr_t)f->client_id.p);
	free((void *)(uintptr_t)f->metadata.p);
	free((void *)(uintptr_t)f->name.p);
	free((void *)(uintptr_t)f->logo_uri.p);
	free((void *)(uintptr_t)f->body.p);
	free(f);
}

void
pf_flights_free(struct pf_flights *fs)
{
	if (fs == NULL)
		return;
	for (size_t i = 0; i < PF_PLACES; i++)
		if (fs->v[i] != NULL)
			flight_free(fs->v[i]);
	(void)pthread_mutex_destroy(&fs->lock);
	free(fs);
}

/* {NULL, 0} when memory ran out, and for what is not given. */
static struct pf_str
keep(struct pf_str s)
{
	char *p;

	if (!pf_str_given(s) || (p = malloc(s.n + 1)) == NULL)
		return PF_NOSTR;
	if (s.n != 0)
		(void)memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return pf_bytes(p, s.n);
}

static struct pf_flight *
find(struct pf_flights *fs, struct pf_str client_id)
{
	for (size_t i = 0; i < PF_PLACES; i++)
		if (fs->v[i] != NULL &&
		    pf_str_eq(fs->v[i]->client_id, client_id))
			return fs->v[i];
	return NULL;
}

static struct pf_str
host_of(struct pf_str url)
{
	struct pf_url u;

	return pf_url_parse(url, &u) == PF_OK ? u.host : PF_NOSTR;
}

bool
pf_flight_under_way(struct pf_proc *proc, struct pf_str client_id, bool *known)
{
	const struct pf_flight *f;

	(void)pthread_mutex_lock(&proc->flights->lock);
	f = find(proc->flights, client_id);
	*known = f != NULL && f->place.known;
	(void)pthread_mutex_unlock(&proc->flights->lock);
	return f != NULL;
}

/* Under the lock. */
static enum pf_rc
join(struct pf_flight *f, pf_parkid id)
{
	if (f == NULL)
		return PF_E_ABSENT;
	if (f->nwaiters == PF_FLIGHT_WAITERS)
		return PF_E_BUSY;
	f->waiter[f->nwaiters++] = id;
	return PF_OK;
}

enum pf_rc
pf_flight_join(struct pf_proc *proc, struct pf_str client_id, pf_parkid id)
{
	enum pf_rc rc;

	(void)pthread_mutex_lock(&proc->flights->lock);
	rc = join(find(proc->flights, client_id), id);
	(void)pthread_mutex_unlock(&proc->flights->lock);
	return rc;
}

/* Everybody looks again: the database and the cache know how it went. */
static void
end(struct pf_flight *f)
{
	struct pf_flights *fs = f->proc->flights;

	(void)pthread_mutex_lock(&fs->lock);
	for (size_t i = 0; i < PF_PLACES; i++)
		if (fs->v[i] == f) {
			fs->v[i] = NULL;
			fs->taken[i] = NULL;
		}
	(void)pthread_mutex_unlock(&fs->lock);
	for (size_t i = 0; i < f->nwaiters; i++)
		pf_park_wake(f->proc->serve, f->waiter[i]);
	flight_free(f);
}

static void
failed(struct pf_flight *f, struct pf_db *db, struct pf_arena *a,
    const char *why, bool transient)
{
	const struct pf_param v[] = {
		PF_TEXT(f->client_id), PF_TEXT(pf_str(why)),
		PF_BOOL(transient), PF_INT4(f->retry_s)
	};
	struct pf_row row;
	enum pf_rc rc;

	rc = pf_db_one(db, a, &CLIENT_FAIL, v, PF_COUNT(v), &row);
	PF_LOG(PF_LOG_INFO, "client_fetch", PF_F_STR("client_id", f->client_id),
	    PF_F_Z("outcome", "failed"), PF_F_Z("why", why),
	    PF_F_INT("status", f->status), PF_F_Z("kept", pf_rc_name(rc)));
	end(f);
}

/*
 * What we have no room for is not the client's failure: the claim is given
 * back, and the next one to look may fetch. If that fails, it runs out by
 * itself.
 */
static void
give_back(struct pf_flight *f, struct pf_db *db, struct pf_arena *a)
{
	const struct pf_param v[] = {
		PF_TEXT(f->client_id), PF_NULLP, PF_BOOL(true), PF_INT4(0)
	};
	struct pf_row row;
	enum pf_rc rc;

	rc = pf_db_one(db, a, &CLIENT_FAIL, v, PF_COUNT(v), &row);
	PF_LOG(PF_LOG_WARN, "client_fetch", PF_F_STR("client_id", f->client_id),
	    PF_F_Z("outcome", "no room"), PF_F_Z("kept", pf_rc_name(rc)));
	end(f);
}

/* The answer is whole and good, or why not; *transient: a stale copy may
 * serve. */
static const char *
unusable(const struct pf_flight *f, bool *transient)
{
	*transient = f->fault == PF_OUT_NETWORK || f->fault == PF_OUT_TIMEOUT ||
	    (f->fault == PF_OUT_OK && f->status >= 500);
	switch (f->fault) {
	case PF_OUT_OK:
		break;
	case PF_OUT_REFUSED:
		return "the document's URL has an address or port that is not "
		    "fetched from";
	case PF_OUT_TOO_LARGE:
		return "the document is too large";
	case PF_OUT_TIMEOUT:
		return "the document did not come in time";
	case PF_OUT_NETWORK:
		return "the document's host can't be reached, or its "
		    "certificate isn't trusted";
	}
	if (f->status >= 300 && f->status < 400)
		return "the document's URL redirects";
	return f->status == 200 ? NULL : "the document's URL has no document";
}

/* Whose domain a new client_id is counted for; PF_NOSTR counts nothing. */
static struct pf_str
domain_of(const struct pf_flight *f, struct pf_arena *a)
{
	struct pf_str domain;
	struct pf_url u;

	return pf_url_parse(f->client_id, &u) == PF_OK &&
	    pf_domain_of(a, u.host, &domain) == PF_OK ? domain : PF_NOSTR;
}

static void
store(struct pf_flight *f, struct pf_db *db, struct pf_arena *a)
{
	const struct pf_param v[] = {
		PF_TEXT(f->client_id), PF_TEXT(f->metadata), PF_TEXT(f->body),
		PF_INT4(f->fresh_s), PF_INT4(f->stale_s), PF_TEXT(f->name),
		PF_TEXT(f->logo_uri), PF_TEXT(domain_of(f, a))
	};
	struct pf_client *c;
	const char *why;
	struct pf_row row;
	enum pf_rc rc;

	rc = pf_db_one(db, a, &CLIENT_STORE, v, PF_COUNT(v), &row);
	if (rc == PF_OK && pf_row_is(&row, OUTCOME, "ok") &&
	    pf_client_new(f->client_id, pf_row_int(&row, CLIENT_NO),
	    pf_row_int(&row, VERSION), pf_row_bool(&row, ALLOWED), f->body,
	    f->fresh_s, &c, &why) == PF_OK) {
		pf_client_cache_put(f->proc->clients, c);
		pf_client_drop(c);
	}
	PF_LOG(PF_LOG_INFO, "client_fetch", PF_F_STR("client_id", f->client_id),
	    PF_F_Z("outcome", pf_rc_name(rc)), PF_F_INT("fresh_s", f->fresh_s));
	end(f);
}

static void landed(void *ctx, const struct pf_outbound_reply *reply);

static enum pf_rc
take_off(struct pf_flight *f, struct pf_str url)
{
	int64_t left = f->deadline_ms - pf_mono_ms();
	struct pf_outbound_get get = {
		.url = url,
		.max_bytes = f->max_bytes,
		.timeout_ms = left > 1 ? (int)left : 1,
		.accept = "application/json",
	};

	return pf_outbound_fetch(f->proc->outbound, &get, landed, f);
}

static void
judge_metadata(struct pf_flight *f, struct pf_db *db, struct pf_arena *a)
{
	struct pf_client_doc doc;
	const char *why;

	if (pf_client_doc(a, f->client_id, f->body, f->public_ok, &doc, &why)
	    != PF_OK) {
		failed(f, db, a, why, false);
		return;
	}
	f->metadata = f->body;
	f->body = PF_NOSTR;
	f->name = keep(doc.name);
	f->logo_uri = keep(doc.logo_uri);
	f->fresh_s = f->said_fresh_s;
	f->stage = KEYS;
	if (doc.is_public) {
		f->body = keep(PF_LIT(""));
		store(f, db, a);
	} else if (take_off(f, doc.jwks_uri) != PF_OK)
		give_back(f, db, a);
}

static void
judge_keys(struct pf_flight *f, struct pf_db *db, struct pf_arena *a)
{
	struct pf_keyset keys;
	const char *why;

	if (pf_jwks_parse(f->body, &keys, &why) != PF_OK) {
		failed(f, db, a, why, false);
		return;
	}
	pf_keyset_free(&keys);
	if (f->said_fresh_s < f->fresh_s)
		f->fresh_s = f->said_fresh_s;
	store(f, db, a);
}

/* On a worker. */
static void
judge(void *arg, struct pf_db *db, struct pf_arena *a)
{
	struct pf_flight *f = arg;
	const char *why;
	bool transient;

	if ((why = unusable(f, &transient)) != NULL)
		failed(f, db, a, why, transient);
	else if (f->stage == METADATA)
		judge_metadata(f, db, a);
	else
		judge_keys(f, db, a);
}

/* On the outbound thread. */
static void
landed(void *ctx, const struct pf_outbound_reply *reply)
{
	struct pf_flight *f = ctx;

	if (reply->fault != PF_OUT_OK)
		PF_LOG(PF_LOG_INFO, "client_fetch",
		    PF_F_STR("client_id", f->client_id),
		    PF_F_Z("detail", reply->why));
	f->fault = reply->fault;
	f->status = reply->status;
	f->said_fresh_s = pf_fetch_fresh_s(reply->cache_control,
	    f->fresh_default_s);
	if (reply->fault == PF_OUT_OK) {
		f->body = keep(reply->body);
		if (!pf_str_given(f->body))
			f->fault = PF_OUT_NETWORK;
	}
	/* On a full queue the claim in the database runs out by itself. */
	if (pf_serve_job(f->proc->serve, judge, f) != PF_OK)
		end(f);
}

static struct pf_flight *
flight_new(struct pf_proc *proc, const struct pf_settings *s,
    struct pf_str client_id)
{
	struct pf_flight *f;

	if ((f = calloc(1, sizeof(*f))) == NULL)
		return NULL;
	f->proc = proc;
	f->client_id = keep(client_id);
	f->place.host = host_of(f->client_id);
	f->deadline_ms = pf_mono_ms() + s->agents.timeout_ms;
	f->max_bytes = (size_t)s->agents.max_bytes;
	f->fresh_default_s = s->agents.fresh_seconds;
	f->stale_s = s->agents.stale_seconds;
	f->retry_s = s->agents.retry_seconds;
	f->public_ok = s->mcp_public;
	if (pf_str_given(f->client_id))
		return f;
	flight_free(f);
	return NULL;
}

/* Under the lock: put it into its place. */
static enum pf_rc
board(struct pf_flights *fs, struct pf_flight *f, pf_parkid id)
{
	size_t at = pf_places_find(fs->taken, &f->place);

	if (at == PF_PLACES)
		return PF_E_BUSY;
	fs->v[at] = f;
	fs->taken[at] = &f->place;
	return join(f, id);
}

enum pf_rc
pf_flight_board(struct pf_proc *proc, const struct pf_settings *s,
    struct pf_str client_id, struct pf_str address, bool known, pf_parkid id,
    struct pf_flight **out)
{
	struct pf_flights *fs = proc->flights;
	struct pf_flight *f, *other;
	enum pf_rc rc;

	*out = NULL;
	if ((f = flight_new(proc, s, client_id)) == NULL)
		return PF_E_MEM;
	f->place.known = known;
	pf_net_key(address, &f->place.net);
	(void)pthread_mutex_lock(&fs->lock);
	other = find(fs, client_id);
	rc = other != NULL ? join(other, id) : board(fs, f, id);
	(void)pthread_mutex_unlock(&fs->lock);
	if (rc == PF_OK && other == NULL)
		*out = f;
	else
		flight_free(f);
	return rc;
}

enum pf_rc
pf_flight_go(struct pf_flight *f, struct pf_db *db, struct pf_arena *a)
{
	if (take_off(f, f->client_id) == PF_OK)
		return PF_OK;
	give_back(f, db, a);
	return PF_E_BUSY;
}

void
pf_flight_drop(struct pf_flight *f)
{
	end(f);
}
