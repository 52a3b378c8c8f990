/*
 * db - PostgreSQL: one call is one function of poppy_api, one round trip.
 *
 * A pf_db belongs to one worker thread and holds at most one connection, made
 * when first needed. While the server is away calls fail at once (PF_E_DB), and
 * a new connection is tried after a pause that grows from 100 ms to 2 s. A
 * connection that proves dead before the statement was sent is replaced first.
 * What was sent and not answered is never sent again: it may have been done,
 * and spending a jti twice refuses an honest agent. Its caller gets PF_E_DB. A
 * deadlock or serialisation failure, which undid everything, is retried once,
 * then PF_E_BUSY. No session state but prepared statements, and not even those
 * with prepare off (PgBouncer in transaction mode).
 */
#ifndef PF_DB_H
#define PF_DB_H

#include "core/base/arena.h"

struct pf_db;

struct pf_db_opts {
	const char *conninfo;	/* libpq's; kept, not copied */
	bool prepare;
	int timeout_ms;		/* one call, connecting included */
	/* What this program knows: at each new connection
	 * poppy_api.schema_version() must be at least schema_min, and
	 * schema_oldest(), the version of the oldest programs that the database
	 * still serves, at most schema_max. Otherwise every call is PF_E_DB and
	 * pf_db_trouble() names all. schema_max 0: not asked (poppyctl). */
	int schema_min, schema_max;
	int pause_max_ms;	/* longest pause between tries; 0: 2000 */
	bool quiet;		/* log nothing: the caller does */
};

/* NULL if this can be a conninfo to which a program adds its own user: libpq's
 * keywords, not a URI, without user and password. Else why not, a constant. */
const char *pf_db_conninfo_fault(const char *conninfo);

PF_MUST enum pf_rc pf_db_new(const struct pf_db_opts *opts, struct pf_db **out);
void pf_db_free(struct pf_db *db);
/* Why the last call failed, in a sentence without secrets; "" if it did not. */
const char *pf_db_trouble(const struct pf_db *db);
/* Round trips made since pf_db_new(), connecting not counted; for tests. The
 * first use of a statement on a connection costs one more, to prepare it. */
uint64_t pf_db_trips(const struct pf_db *db);

/* A statement; name is that of the prepared statement and of the log. */
struct pf_stmt {
	const char *name;
	const char *sql;
};

enum pf_ptype {
	PF_P_NULL, PF_P_TEXT, PF_P_BYTES, PF_P_INT8, PF_P_INT4, PF_P_BOOL,
	PF_P_BYTES_LIST, PF_P_INT8_LIST
};
struct pf_param {
	enum pf_ptype type;
	struct pf_str s;
	int64_t i;
	const void *list;
};
/*
 * Parameters go in binary, so the type must be the function's own: PF_INT4 for
 * int, PF_INT8 for bigint. Text or bytes that are not given (NULL pointer) go
 * as NULL. The lists are a bytea[] of n struct pf_str and a bigint[] of n
 * int64_t; like all views they must live until the call returns.
 */
#define PF_TEXT(v)	((struct pf_param){ PF_P_TEXT, (v), 0, NULL })
#define PF_BYTES(p, n)							\
	((struct pf_param){ PF_P_BYTES, pf_bytes((p), (n)), 0, NULL })
#define PF_INT8(v)							\
	((struct pf_param){ PF_P_INT8, { NULL, 0 }, (int64_t)(v), NULL })
#define PF_INT4(v)							\
	((struct pf_param){ PF_P_INT4, { NULL, 0 }, (int64_t)(v), NULL })
#define PF_BOOL(v)							\
	((struct pf_param){ PF_P_BOOL, { NULL, 0 }, (v) ? 1 : 0, NULL })
#define PF_NULLP	((struct pf_param){ PF_P_NULL, { NULL, 0 }, 0, NULL })
#define PF_BYTES_LIST(v, n)						\
	((struct pf_param){ PF_P_BYTES_LIST, { NULL, 0 }, (int64_t)(n), (v) })
#define PF_INT8_LIST(v, n)						\
	((struct pf_param){ PF_P_INT8_LIST, { NULL, 0 }, (int64_t)(n), (v) })

#define PF_DB_PARAMS	32	/* of one call */

struct pf_rows;		/* owned by the arena of the call */
struct pf_row {
	const struct pf_rows *rows;
	int at;
};

/*
 * Call and expect exactly one row. PF_E_DB; PF_E_BUSY: deadlock, lock or
 * statement timeout; PF_E_MEM; PF_E_BUG for an error that the function must not
 * raise (logged with its SQLSTATE) or another number of rows.
 */
PF_MUST enum pf_rc pf_db_one(struct pf_db *db, struct pf_arena *a,
    const struct pf_stmt *st, const struct pf_param *v, size_t n,
    struct pf_row *out);
/* Any number of rows, up to 100,000. */
PF_MUST enum pf_rc pf_db_many(struct pf_db *db, struct pf_arena *a,
    const struct pf_stmt *st, const struct pf_param *v, size_t n,
    const struct pf_rows **out, size_t *nrows);
struct pf_row pf_rows_at(const struct pf_rows *rows, size_t i);

/*
 * Run a script of several statements, as poppyctl does to install; without a
 * BEGIN of its own it is one transaction. PF_E_DB, or PF_E_BUG with the
 * server's message and the line of the script in pf_db_trouble(). A pf_db that
 * has run a script never connects anew: its locks and transactions would be
 * gone.
 */
PF_MUST enum pf_rc pf_db_script(struct pf_db *db, const char *text);

/* Columns by number. A wrong type is a bug and gives the empty value, logged.
 * NULL gives PF_NOSTR, 0, false. */
bool pf_row_null(const struct pf_row *r, int col);
struct pf_str pf_row_str(const struct pf_row *r, int col);	/* text */
struct pf_str pf_row_bytes(const struct pf_row *r, int col);	/* bytea */
int64_t pf_row_int(const struct pf_row *r, int col);	/* int2, int4, int8 */
bool pf_row_bool(const struct pf_row *r, int col);
bool pf_row_is(const struct pf_row *r, int col, const char *text);

#endif
