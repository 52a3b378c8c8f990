/*
 * What a request does to get a client; the fetch itself is flight.c.
 */
#include "core/poppy/fetch.h"

#include "core/base/clock.h"
#include "core/poppy/app.h"
#include "core/poppy/domain.h"
#include "core/poppy/flight.h"
#include "core/poppy/places.h"
#include "core/web/park.h"
#include "core/web/url.h"

/* How long a request waits for a document in all, and between looks while
 * another process fetches. */
#define PATIENCE_MS	12000
#define LOOK_MS		200	/* doubled up to three times */
/* Most requests that wait on behalf of nobody known; half of all that may wait
 * in a process, so that these can't keep known clients from it. */
#define STRANGERS_MAX	512u
/* How long keys that did not verify something are taken for the newest. */
#define SETTLED_MS	5000

static const struct pf_stmt CLIENT_GET = {
	"client_get",
	"SELECT outcome, client_no, version, jwks, fresh_s, failure, allowed,"
	" retry_s"
	" FROM poppy_api.client_get($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
};
enum {
	OUTCOME, CLIENT_NO, VERSION, JWKS, FRESH_S, FAILURE, ALLOWED, RETRY_S
};

/* How much longer a claim lasts than the fetch may: judging and storing. */
#define CLAIM_MORE_S	3

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
	    pf_row_int(row, VERSION), pf_row_bool(row, ALLOWED),
	    pf_row_str(row, JWKS), pf_row_int(row, FRESH_S), &c, &why);
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

static void
stranger_gone(void *strangers)
{
	unsigned *n = strangers;

	(void)__atomic_sub_fetch(n, 1, __ATOMIC_RELAXED);
}

/* Count a request that waits for what a stranger wanted, once, till it ends. */
static enum pf_rc
count_stranger(struct pf_req *rq)
{
	unsigned *n = &pf_app(rq)->proc->strangers;

	if (rq->runs > 1)
		return PF_OK;
	if (__atomic_add_fetch(n, 1, __ATOMIC_RELAXED) > STRANGERS_MAX) {
		stranger_gone(n);
		return PF_E_BUSY;
	}
	return pf_arena_defer(rq->arena, stranger_gone, n);
}

/* May this request wait, and as what? known: of places.h. */
static enum pf_rc
begin_wait(struct pf_req *rq, bool known, pf_parkid *id)
{
	if (rq->began_us + PATIENCE_MS * 1000 < pf_mono_us() ||
	    (!known && count_stranger(rq) != PF_OK) ||
	    pf_park_rerun_begin(rq, id) != PF_OK)
		return too_busy(rq);
	return PF_OK;
}

static enum pf_rc
wait_for_flight(struct pf_req *rq)
{
	return pf_park_rerun(rq, pf_mono_ms() + PATIENCE_MS);
}

/*
 * Wait for the flight of this client here; if there is none (another process
 * has it) or too many wait for it, for another look, less and less often.
 */
static enum pf_rc
wait_for(struct pf_req *rq, struct pf_str client_id, bool known)
{
	unsigned looks = rq->runs < 4 ? rq->runs - 1 : 3;
	pf_parkid id;
	enum pf_rc rc;

	if ((rc = begin_wait(rq, known, &id)) != PF_OK)
		return rc;
	if (pf_flight_join(pf_app(rq)->proc, client_id, id) == PF_OK)
		return wait_for_flight(rq);
	return pf_park_rerun(rq, pf_mono_ms() + (LOOK_MS << looks));
}

static enum pf_rc
client_get(struct pf_req *rq, struct pf_str client_id, bool claim, bool force,
    struct pf_row *row)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	struct pf_net_key net;
	struct pf_str domain;
	struct pf_url u;
	enum pf_rc rc;

	if (pf_url_parse(client_id, &u) != PF_OK)
		return PF_E_BUG;
	if ((rc = pf_domain_of(rq->arena, u.host, &domain)) != PF_OK)
		return rc;
	pf_net_key(rq->remote_addr, &net);
	const struct pf_param v[] = {
		PF_TEXT(client_id), PF_BOOL(claim), PF_BOOL(force),
		PF_BOOL(s->agents.registration),
		PF_INT4(s->agents.timeout_ms / 1000 + CLAIM_MORE_S),
		PF_BYTES(net.b, sizeof(net.b)), PF_TEXT(domain),
		PF_INT4(s->agents.new_per_address),
		PF_INT4(s->agents.new_per_domain),
		PF_INT4(s->agents.new_per_hour)
	};
	return pf_db_one(rq->db, rq->arena, &CLIENT_GET, v, PF_COUNT(v), row);
}

/* The flight has its place: claim the fetch and take off. Whoever was faster
 * has it, and this request looks again. */
static enum pf_rc
claim_and_go(struct pf_req *rq, struct pf_flight *f, struct pf_str client_id,
    bool force)
{
	struct pf_row row;
	enum pf_rc rc;

	rc = client_get(rq, client_id, true, force, &row);
	if (rc == PF_OK && pf_row_is(&row, OUTCOME, "fetch"))
		return pf_flight_go(f, rq->db, rq->arena) == PF_OK ? PF_OK :
		    too_busy(rq);
	pf_flight_drop(f);
	return rc;
}

static enum pf_rc
fetch(struct pf_req *rq, struct pf_str client_id, bool force, bool known)
{
	struct pf_flight *f;
	pf_parkid id;
	enum pf_rc rc;

	if ((rc = begin_wait(rq, known, &id)) != PF_OK)
		return rc;
	rc = pf_flight_board(pf_app(rq)->proc, &pf_app(rq)->set, client_id,
	    rq->remote_addr, known, id, &f);
	if (rc == PF_E_BUSY)
		rc = too_busy(rq);
	else if (f != NULL)
		rc = claim_and_go(rq, f, client_id, force);
	if (rc == PF_OK)
		return wait_for_flight(rq);
	pf_park_rerun_cancel(rq);
	return rc;
}

/* Why there is neither a copy nor a fetch. */
static enum pf_rc
refuse(struct pf_req *rq, const struct pf_row *row)
{
	if (pf_row_is(row, OUTCOME, "blocked"))
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "this client is not accepted here");
	if (pf_row_is(row, OUTCOME, "unregistered"))
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "agents must be registered with this company first");
	if (pf_row_is(row, OUTCOME, "capped"))
		return pf_fail_retry(rq, PF_RATE_LIMITED,
		    (int)pf_row_int(row, RETRY_S),
		    "too many new clients in this hour");
	/* Whoever mends a document should know why nothing changes yet. */
	return pf_fail(rq, PF_INVALID_CLIENT, "%.*s (remembered for %lld s)",
	    PF_STRF(pf_row_str(row, FAILURE)),
	    (long long)pf_app(rq)->set.agents.retry_seconds);
}

/* First a look that claims nothing: a claim is for who can fetch at once. */
static enum pf_rc
ask_database(struct pf_req *rq, struct pf_str client_id, bool force,
    const struct pf_client **out)
{
	struct pf_row row;
	enum pf_rc rc;
	bool known;

	rc = client_get(rq, client_id, false, force, &row);
	if (rc != PF_OK)
		return rc;
	known = !force && !pf_row_null(&row, CLIENT_NO);
	if (pf_row_is(&row, OUTCOME, "fresh"))
		return from_row(rq, client_id, &row, out);
	if (pf_row_is(&row, OUTCOME, "fetch"))
		return fetch(rq, client_id, force, known);
	if (pf_row_is(&row, OUTCOME, "wait"))
		return wait_for(rq, client_id, known);
	return refuse(rq, &row);
}

/* One that may be used as it is. In registration mode that takes the operator's
 * word, which a copy from before may not have. */
static struct pf_client *
cached(struct pf_req *rq, struct pf_str client_id)
{
	const struct pf_app *app = pf_app(rq);
	struct pf_client *c;

	c = pf_client_cache_get(app->proc->clients, client_id);
	if (c == NULL || c->allowed || !app->set.agents.registration)
		return c;
	pf_client_drop(c);
	return NULL;
}

enum pf_rc
pf_client_load(struct pf_req *rq, struct pf_str client_id,
    const struct pf_client **out)
{
	struct pf_proc *proc = pf_app(rq)->proc;
	struct pf_client *c;
	bool known;

	if (!pf_client_id_ok(client_id))
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "client_id is no https URL with a path");
	if ((c = cached(rq, client_id)) != NULL)
		return take(rq, c, out);
	if (pf_flight_under_way(proc, client_id, &known))
		return wait_for(rq, client_id, known);
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
	bool known;

	if (pf_flight_under_way(pf_app(rq)->proc, had->client_id, &known))
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
