/*
 * fetch - agents' documents: from the process, from PostgreSQL, from the agent.
 *
 * A fetch belongs to the process, not to the request that caused it: requests
 * for one client share it and wait parked, and none that goes away takes it
 * along. Over all processes the database hands a fetch to one at a time.
 */
#ifndef PF_FETCH_H
#define PF_FETCH_H

#include "core/poppy/client.h"
#include "core/web/req.h"

struct pf_flights;	/* fetches under way in this process */
PF_MUST enum pf_rc pf_flights_new(struct pf_flights **out);
/* After the outbound thread has ended. NULL is fine. */
void pf_flights_free(struct pf_flights *f);

/*
 * The client of that id, given back with the request's arena. PF_OK; PF_PARKED
 * (return it; the handler runs again); or an error noted with pf_fail():
 * invalid_client for documents that can't be had or don't check out and for
 * clients that the operator blocked or has not registered, rate_limited for one
 * new client too many, unavailable when too much is under way.
 */
PF_MUST enum pf_rc pf_client_load(struct pf_req *rq, struct pf_str client_id,
    const struct pf_client **out);
/*
 * Its keys did not verify something: ask its host again, unless that was done
 * in the last 30 s (over all processes). PF_OK with other keys; PF_E_ABSENT:
 * there are none, what had is all there is; PF_PARKED and errors as above.
 */
PF_MUST enum pf_rc pf_client_reload(struct pf_req *rq,
    const struct pf_client *had, const struct pf_client **out);

/*
 * What its metadata document says about it, as it was last fetched: for the
 * endpoints that show it to people. One more round trip, which those can bear.
 * invalid_client noted when the document is gone or is not one that the
 * settings accept any more.
 */
PF_MUST enum pf_rc pf_client_about(struct pf_req *rq,
    const struct pf_client *client, struct pf_client_doc *out);

/* Seconds of max-age in a Cache-Control value, clamped to 60 s and one day;
 * 60 for no-store and no-cache; otherwise_s if neither is said. */
int64_t pf_fetch_fresh_s(struct pf_str cache_control, int64_t otherwise_s);

#endif
