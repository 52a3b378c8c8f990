/*
 * flight - one fetch of an agent's two documents, shared by all who wait for it.
 *
 * metadata document -> its jwks_uri -> the key set -> PostgreSQL and the
 * process's cache. The outbound thread only carries bytes; judging and storing
 * is done by workers.
 */
#ifndef PF_FLIGHT_H
#define PF_FLIGHT_H

#include "core/poppy/app.h"
#include "core/web/park.h"

/* Most that are under way: in all, for one host, for one client address. */
#define PF_FLIGHTS_MAX		32
#define PF_FLIGHTS_HOST		2
#define PF_FLIGHTS_ADDRESS	4
/* Most requests that wait for one of them. */
#define PF_FLIGHT_WAITERS	64

/* May one more begin, for this client and on behalf of this address? */
bool pf_flight_room(struct pf_proc *proc, struct pf_str client_id,
    struct pf_str address);
bool pf_flight_under_way(struct pf_proc *proc, struct pf_str client_id);
/* Begin one that wakes id at its end, or join it if it has begun meanwhile.
 * PF_E_BUSY: no room. */
PF_MUST enum pf_rc pf_flight_start(struct pf_proc *proc,
    const struct pf_settings *s, struct pf_str client_id, struct pf_str address,
    pf_parkid id);
/* PF_E_ABSENT: none is under way here. PF_E_BUSY: too many wait for it. */
PF_MUST enum pf_rc pf_flight_join(struct pf_proc *proc, struct pf_str client_id,
    pf_parkid id);

#endif
