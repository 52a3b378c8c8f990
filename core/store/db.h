/*
 * db - PostgreSQL: one call is one function of poppy_api, one round trip.
 *
 * A pf_db belongs to one worker thread and holds at most one connection, made
 * when first needed. While the server is away calls fail at once (PF_E_DB), and
 * a new connection is tried after a pause that grows from 100 ms to 2 s; a
 * connection that proves dead before the statement was sent is replaced and the
 * call sent once more. A deadlock or serialisation failure is retried once, then
 * PF_E_BUSY. No session state but prepared statements, and not even those with
 * prepare off (PgBouncer in transaction mode).
 */
#ifndef PF_DB_H
#define PF_DB_H

#include "core/base/arena.h"

struct pf_db;

struct pf_db_opts {
	const char *conninfo;	/* libpq's; kept, not copied */
	bool prepare;
	int timeout_ms;		/* one call, connecting included */
	int schema_min, schema_max;	/* what this program can work with: at each
				 * new connection poppy_api.schema_version() is
				 * asked; outside of it every call is PF_E_DB and
				 * pf_db_trouble() names both */
};

PF_MUST enum pf_rc pf_db_new(const struct pf_db_opts *opts, struct pf_db **out);
void pf_db_free(struct pf_db *db);
/* Why the last call was PF_E_DB, in a sentence without secrets; "" if it was
 * not. */
const char *pf_db_trouble(const struct pf_db *db);
/* Round trips made since pf_db_new(), connecting not counted; for tests. */
uint64_t pf_db_trips(const struct pf_db *db);

/* A statement; name is that of the prepared statement and of the log. */
struct pf_stmt {
	const char *name;
	const char *sql;
};

enum pf_ptype { PF_P_NULL, PF_P_TEXT, PF_P_BYTES, PF_P_INT8, PF_P_INT4, PF_P_BOOL };
struct pf_param {
	enum pf_ptype type;
	struct pf_str s;
	int64_t i;
};
/* Text that is not given (PF_NOSTR) goes as NULL. */
#define PF_TEXT(v)	((struct pf_param){ PF_P_TEXT, (v), 0 })
#define PF_BYTES(p, n)	((struct pf_param){ PF_P_BYTES, pf_bytes((p), (n)), 0 })
#define PF_INT8(v)	((struct pf_param){ PF_P_INT8, { NULL, 0 }, (int64_t)(v) })
#define PF_INT4(v)	((struct pf_param){ PF_P_INT4, { NULL, 0 }, (int64_t)(v) })
#define PF_BOOL(v)	((struct pf_param){ PF_P_BOOL, { NULL, 0 }, (v) ? 1 : 0 })
#define PF_NULLP	((struct pf_param){ PF_P_NULL, { NULL, 0 }, 0 })

struct pf_rows;		/* owned by the arena of the call */
struct pf_row {
	const struct pf_rows *rows;
	int at;
};

/*
 * Call and expect exactly one row. PF_E_DB, PF_E_BUSY, PF_E_MEM; PF_E_BUG for an
 * error that the function must not raise (logged with its SQLSTATE) or another
 * number of rows.
 */
PF_MUST enum pf_rc pf_db_one(struct pf_db *db, struct pf_arena *a,
    const struct pf_stmt *st, const struct pf_param *v, size_t n,
    struct pf_row *out);
/* Any number of rows, up to 100,000. */
PF_MUST enum pf_rc pf_db_many(struct pf_db *db, struct pf_arena *a,
    const struct pf_stmt *st, const struct pf_param *v, size_t n,
    const struct pf_rows **out, size_t *nrows);
struct pf_row pf_rows_at(const struct pf_rows *rows, size_t i);

/* Columns by number. A wrong type is a bug and gives the empty value, logged.
 * NULL gives PF_NOSTR, 0, false. */
bool pf_row_null(const struct pf_row *r, int col);
struct pf_str pf_row_str(const struct pf_row *r, int col);	/* text */
struct pf_str pf_row_bytes(const struct pf_row *r, int col);	/* bytea */
int64_t pf_row_int(const struct pf_row *r, int col);	/* int2, int4, int8 */
bool pf_row_bool(const struct pf_row *r, int col);
bool pf_row_is(const struct pf_row *r, int col, const char *text);

#endif
