/*
 * flight - one fetch of an agent's two documents, shared by all who wait.
 *
 * metadata document -> its jwks_uri -> the key set -> PostgreSQL and the
 * process's cache. The outbound thread only carries bytes; judging and storing
 * is done by workers. A flight is boarded first, then the fetch is claimed in
 * the database, then it takes off: so a claim is never held by who has no room
 * for the fetch.
 */
#ifndef PF_FLIGHT_H
#define PF_FLIGHT_H

#include "core/poppy/app.h"
#include "core/web/park.h"

/* Most requests that wait for one of them. */
#define PF_FLIGHT_WAITERS	64

struct pf_flight;

/* Is one for this client under way, or about to be? *known as it boarded. */
bool pf_flight_under_way(struct pf_proc *proc, struct pf_str client_id,
    bool *known);
/*
 * Take a place for one that wakes id at its end; known: places.h. *out is NULL
 * if one is there meanwhile, which was joined; else the caller must give *out
 * to one of the next two. PF_E_BUSY: no place; PF_E_MEM.
 */
PF_MUST enum pf_rc pf_flight_board(struct pf_proc *proc,
    const struct pf_settings *s, struct pf_str client_id,
    struct pf_str address, bool known, pf_parkid id, struct pf_flight **out);
/* Begin the fetch, which is claimed. PF_E_BUSY: it can't; the claim has been
 * given back. The flight is not the caller's any more either way. */
PF_MUST enum pf_rc pf_flight_go(struct pf_flight *f, struct pf_db *db,
    struct pf_arena *a);
/* The fetch is not needed or somebody else's: everybody who joined looks again,
 * the caller's own request too. */
void pf_flight_drop(struct pf_flight *f);
/* Wake id at its end. PF_E_ABSENT: none is under way here. PF_E_BUSY: too many
 * wait for it. */
PF_MUST enum pf_rc pf_flight_join(struct pf_proc *proc, struct pf_str client_id,
    pf_parkid id);

#endif
