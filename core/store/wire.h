/*
 * wire - parameters in PostgreSQL's binary formats. Used by db alone; knows
 * nothing of libpq.
 */
#ifndef PF_WIRE_H
#define PF_WIRE_H

#include "core/store/db.h"

/* Arrays as PQsendQueryParams() wants them; numbers are kept in raw. */
struct pf_wire {
	const char *v[PF_DB_PARAMS];
	int len[PF_DB_PARAMS];
	int format[PF_DB_PARAMS];
	unsigned char raw[PF_DB_PARAMS][8];
};

/* Lists are copied to the arena, all else is pointed to. PF_E_MEM, or PF_E_BUG
 * for more parameters than PF_DB_PARAMS. */
PF_MUST enum pf_rc pf_wire_put(struct pf_arena *a, const struct pf_param *v,
    size_t n, struct pf_wire *w);

#endif
