/*
 * What a request does to get a client; the fetch itself is flight.c.
 */
#include "core/poppy/fetch.h"

#include "core/base/clock.h"
#include "core/poppy/app.h"
#include "core/poppy/flight.h"
#include "core/web/park.h"

/* How long a request waits for a document in all, and between looks while
 * another process fetches. */
#define PATIENCE_MS	12000
#define LOOK_MS		200
/* How long keys that did not verify something are taken for the newest. */
#define SETTLED_MS	5000

static const struct pf_stmt CLIENT_GET = {
	"client_get",
	"SELECT outcome, client_no, version, jwks, fresh_s, failure"
	" FROM poppy_api.client_get($1, $2, $3)"
};
enum { OUTCOME, CLIENT_NO, VERSION, JWKS, FRESH_S, FAILURE };

static void
drop(void *client)
{
	pf_client_drop(client);
}

/* The request owns the reference from here on. */
static enum pf_rc
take(struct pf_req *rq, struct pf_client *c, const struct pf_client **out)
{
	enum pf_rc rc;

	if ((rc = pf_arena_defer(rq->arena, drop, c)) == PF_OK)
		*out = c;
	return rc;
}

static enum pf_rc
from_row(struct pf_req *rq, struct pf_str client_id, const struct pf_row *row,
    const struct pf_client **out)
{
	struct pf_client *c;
	const char *why = "";
	enum pf_rc rc;

	rc = pf_client_new(client_id, pf_row_int(row, CLIENT_NO),
	    pf_row_int(row, VERSION), pf_row_str(row, JWKS),
	    pf_row_int(row, FRESH_S), &c, &why);
	if (rc == PF_E_INPUT)
		return pf_fail(rq, PF_INVALID_CLIENT, "%s", why);
	if (rc != PF_OK)
		return rc;
	pf_client_cache_put(pf_app(rq)->proc->clients, c);
	return take(rq, c, out);
}

static enum pf_rc
too_busy(struct pf_req *rq)
{
	return pf_fail_retry(rq, PF_UNAVAILABLE, 2,
	    "too many client documents are being fetched");
}

/* Wait for the flight of this client, if there is one, or for another look. */
static enum pf_rc
wait_for(struct pf_req *rq, struct pf_str client_id, bool start)
{
	struct pf_proc *proc = pf_app(rq)->proc;
	pf_parkid id;
	enum pf_rc rc;

	if (rq->began_us + PATIENCE_MS * 1000 < pf_mono_us())
		return too_busy(rq);
	if (pf_park_rerun_begin(rq, &id) != PF_OK)
		return too_busy(rq);
	rc = start ? pf_flight_start(proc, &pf_app(rq)->set, client_id,
	    rq->remote_addr, id) :
	    pf_flight_join(proc, client_id, id);
	if (rc == PF_OK)
		return pf_park_rerun(rq, pf_mono_ms() + PATIENCE_MS);
	if (rc == PF_E_ABSENT)
		return pf_park_rerun(rq, pf_mono_ms() + LOOK_MS);
	pf_park_rerun_cancel(rq);
	return too_busy(rq);
}

static enum pf_rc
ask_database(struct pf_req *rq, struct pf_str client_id, bool force,
    const struct pf_client **out)
{
	const struct pf_param v[] = {
		PF_TEXT(client_id), PF_BOOL(true), PF_BOOL(force)
	};
	struct pf_row row;
	enum pf_rc rc;

	if (!pf_flight_room(pf_app(rq)->proc, client_id, rq->remote_addr))
		return too_busy(rq);
	rc = pf_db_one(rq->db, rq->arena, &CLIENT_GET, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	if (pf_row_is(&row, OUTCOME, "fresh"))
		return from_row(rq, client_id, &row, out);
	if (pf_row_is(&row, OUTCOME, "fetch"))
		return wait_for(rq, client_id, true);
	if (pf_row_is(&row, OUTCOME, "wait"))
		return wait_for(rq, client_id, false);
	if (pf_row_is(&row, OUTCOME, "blocked"))
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "this client is not accepted here");
	return pf_fail(rq, PF_INVALID_CLIENT, "%.*s",
	    PF_STRF(pf_row_str(&row, FAILURE)));
}

enum pf_rc
pf_client_load(struct pf_req *rq, struct pf_str client_id,
    const struct pf_client **out)
{
	struct pf_proc *proc = pf_app(rq)->proc;
	struct pf_client *c;

	if (!pf_client_id_ok(client_id))
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "client_id is no https URL with a path");
	if ((c = pf_client_cache_get(proc->clients, client_id)) != NULL)
		return take(rq, c, out);
	if (pf_flight_under_way(proc, client_id))
		return wait_for(rq, client_id, false);
	return ask_database(rq, client_id, false, out);
}

/*
 * What verified nothing may be an attacker's: the database is asked at most
 * every SETTLED_MS in each process, and it grants a fetch every 30 s.
 */
enum pf_rc
pf_client_reload(struct pf_req *rq, const struct pf_client *had,
    const struct pf_client **out)
{
	struct pf_client *c;
	enum pf_rc rc;

	if (pf_flight_under_way(pf_app(rq)->proc, had->client_id))
		return wait_for(rq, had->client_id, false);
	if (__atomic_load_n(&had->settled_until_ms, __ATOMIC_RELAXED) >
	    pf_mono_ms())
		return PF_E_ABSENT;
	rc = ask_database(rq, had->client_id, true, out);
	if (rc != PF_OK)
		return rc;
	c = pf_client_cache_get(pf_app(rq)->proc->clients, had->client_id);
	if (c != NULL) {
		__atomic_store_n(&c->settled_until_ms,
		    pf_mono_ms() + SETTLED_MS, __ATOMIC_RELAXED);
		pf_client_drop(c);
	}
	return (*out)->version != had->version ? PF_OK : PF_E_ABSENT;
}
