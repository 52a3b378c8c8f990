/*
 * sql - the functions of poppy_api called as the programs call them, on a
 * private PostgreSQL that poppyctl has installed.
 */
#ifndef PF_TEST_SQL_H
#define PF_TEST_SQL_H

#include <stdarg.h>

#include <sys/wait.h>

#include "core/poppy/app.h"
#include "tests/unit/pg.h"

#define IDLE_S	2592000
#define MAX_S	15552000

static struct pf_arena sql_arena;
static char sql_auth[300], sql_guard[300];

static inline const char *
sql_env(const char *name)
{
	const char *v = getenv(name);

	return v == NULL ? "." : v;
}

/* poppyctl with these arguments; its exit status. */
static inline int PF_PRINTF(1, 2)
sql_ctl(const char *fmt, ...)
{
	char args[600], cmd[1400];
	va_list ap;
	int st;

	va_start(ap, fmt);
	(void)vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	(void)snprintf(cmd, sizeof(cmd), "'%s/tools/poppyctl/poppyctl' "
	    "--conninfo '%s' %s >/dev/null", sql_env("top_builddir"),
	    pg.conninfo, args);
	st = system(cmd);
	return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

static inline void
sql_start(void)
{
	tap_need(pf_arena_init(&sql_arena, 1u << 16, 64u << 20) == PF_OK,
	    "arena");
	pg_start();
	tap_need(sql_ctl("--sql '%s/sql' db install", sql_env("top_srcdir")) ==
	    0, "poppyctl db install");
	(void)snprintf(sql_auth, sizeof(sql_auth), "%s user=poppy_auth",
	    pg.conninfo);
	(void)snprintf(sql_guard, sizeof(sql_guard), "%s user=poppy_guard",
	    pg.conninfo);
}

static inline struct pf_db *
sql_open(const char *conninfo)
{
	struct pf_db_opts o = {
		.conninfo = conninfo, .prepare = true, .timeout_ms = 10000,
		.schema_min = conninfo == pg.conninfo ? 0 : PF_SCHEMA_MIN,
		.schema_max = conninfo == pg.conninfo ? 0 : PF_SCHEMA_MAX,
		.pause_max_ms = 100,
	};
	struct pf_db *db;

	tap_need(pf_db_new(&o, &db) == PF_OK, "pf_db_new");
	return db;
}

/* One number by the superuser; it must be there. */
static inline int64_t PF_PRINTF(1, 2)
sql_number(const char *fmt, ...)
{
	char text[1000];
	struct pf_stmt st = { "number", text };
	struct pf_db *db = sql_open(pg.conninfo);
	struct pf_row r;
	va_list ap;
	int64_t v;
	enum pf_rc rc;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if ((rc = pf_db_one(db, &sql_arena, &st, NULL, 0, &r)) != PF_OK)
		tap_diag("%s", pf_db_trouble(db));
	tap_need(rc == PF_OK, text);
	v = pf_row_int(&r, 0);
	pf_db_free(db);
	return v;
}

/* n bytes that are another text for every seed. */
struct sql_bytes { unsigned char b[32]; };
static inline struct sql_bytes
sql_bytes(uint64_t seed)
{
	struct sql_bytes v;

	for (size_t i = 0; i < sizeof(v.b); i++)
		v.b[i] = (unsigned char)(i < 8 ? seed >> (56 - 8 * i) :
		    0xa0 + i);
	return v;
}

/* A call of session_start; sql_session() fills in what passes. */
struct sql_session {
	int64_t client_no, version;
	int bucket;
	struct sql_bytes user, sid, token, jkt;
	bool renew, bearer;
	const char *resource;
	int token_s;
	int64_t idle_s, max_s;
	size_t n;
	struct sql_bytes spend[3];
	int64_t iat[3];
	int future_s;
	const char *address;	/* also what limits count by, if there are any */
	int per_address, per_client;
	/* what comes back */
	char outcome[32];
	int64_t replayed, expires_in, retry_s;
};

static inline struct sql_session
sql_session(int64_t client_no)
{
	static uint64_t seed = 1000;
	struct sql_session s = {
		.client_no = client_no, .version = 1, .bucket = 7,
		.token_s = 3600, .idle_s = IDLE_S, .max_s = MAX_S, .n = 3,
		.future_s = 30,
	};

	s.user = sql_bytes(1);
	s.jkt = sql_bytes(2);
	s.sid = sql_bytes(seed++);
	s.token = sql_bytes(seed++);
	for (size_t i = 0; i < 3; i++) {
		s.spend[i] = sql_bytes(seed++);
		s.iat[i] = pf_now_at();
	}
	return s;
}

static const struct pf_stmt SQL_SESSION_START = {
	"session_start",
	"SELECT outcome, replayed, sid, expires_in, retry_s FROM "
	"poppy_api.session_start($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
	"$11, $12, $13, $14, $15, $16, $17, $18, $19)"
};

static inline const char *
sql_call(struct pf_db *db, struct pf_arena *a, struct sql_session *s)
{
	struct pf_str spend[3];
	struct pf_row r;
	enum pf_rc rc;

	for (size_t i = 0; i < 3; i++)
		spend[i] = pf_bytes(s->spend[i].b, 16);
	const struct pf_param v[] = {
		PF_INT8(s->client_no), PF_INT8(s->version), PF_INT4(s->bucket),
		PF_BYTES(s->user.b, 32),
		s->renew ? PF_BYTES(s->sid.b, 16) : PF_NULLP,
		PF_BYTES(s->sid.b, 16), PF_BYTES(s->token.b, 32),
		PF_INT4(s->token_s), PF_INT8(s->idle_s), PF_INT8(s->max_s),
		s->bearer ? PF_NULLP : PF_BYTES(s->jkt.b, 32),
		PF_TEXT(pf_str(s->resource)), PF_BYTES_LIST(spend, s->n),
		PF_INT8_LIST(s->iat, s->n), PF_INT4(s->future_s),
		PF_TEXT(pf_str(s->address)),
		PF_BYTES(s->address,
		    s->address == NULL ? 0 : strlen(s->address)),
		PF_INT4(s->per_address), PF_INT4(s->per_client)
	};
	rc = pf_db_one(db, a, &SQL_SESSION_START, v, PF_COUNT(v), &r);
	if (rc != PF_OK) {
		(void)snprintf(s->outcome, sizeof(s->outcome), "%s",
		    pf_rc_name(rc));
		return s->outcome;
	}
	(void)snprintf(s->outcome, sizeof(s->outcome), "%.*s",
	    PF_STRF(pf_row_str(&r, 0)));
	s->replayed = pf_row_int(&r, 1);
	s->expires_in = pf_row_int(&r, 3);
	s->retry_s = pf_row_int(&r, 4);
	return s->outcome;
}

/* A call of token_use for the token of a sql_session. */
struct sql_use {
	int bucket;
	struct sql_bytes token, jkt, spend;
	bool bearer;
	int64_t iat;
	int future_s;
	const char *request_id;
	int64_t idle_s, max_s;
	const char *address;
	/* what comes back */
	char outcome[32];
	int64_t client_no, retry_s;
	char client_id[64], resource[64];
	bool signed_in, any;	/* any: something but outcome and retry_s */
};

static inline struct sql_use
sql_use(const struct sql_session *s)
{
	static uint64_t seed = 1000000;
	struct sql_use u = {
		.bucket = s->bucket, .token = s->token, .jkt = s->jkt,
		.bearer = s->bearer, .future_s = 10, .idle_s = IDLE_S,
		.max_s = MAX_S,
	};

	u.spend = sql_bytes(seed++);
	u.iat = pf_now_at();
	return u;
}

static const struct pf_stmt SQL_TOKEN_USE = {
	"token_use",
	"SELECT outcome, client_no, client_id, user_key, sid, account, scopes,"
	" signed_in, resource, retry_s"
	" FROM poppy_api.token_use($1, $2, $3, $4, $5, $6, $7, $8, $9,"
	" $10)"
};

static inline const char *
sql_ask(struct pf_db *db, struct pf_arena *a, struct sql_use *u)
{
	const struct pf_param v[] = {
		PF_INT4(u->bucket), PF_BYTES(u->token.b, 32),
		u->bearer ? PF_NULLP : PF_BYTES(u->jkt.b, 32),
		u->bearer ? PF_NULLP : PF_BYTES(u->spend.b, 16),
		u->bearer ? PF_NULLP : PF_INT8(u->iat), PF_INT4(u->future_s),
		PF_TEXT(pf_str(u->request_id)), PF_INT8(u->idle_s),
		PF_INT8(u->max_s), PF_TEXT(pf_str(u->address))
	};
	struct pf_row r;
	enum pf_rc rc;

	rc = pf_db_one(db, a, &SQL_TOKEN_USE, v, PF_COUNT(v), &r);
	if (rc != PF_OK) {
		(void)snprintf(u->outcome, sizeof(u->outcome), "%s",
		    pf_rc_name(rc));
		return u->outcome;
	}
	(void)snprintf(u->outcome, sizeof(u->outcome), "%.*s",
	    PF_STRF(pf_row_str(&r, 0)));
	u->client_no = pf_row_int(&r, 1);
	(void)snprintf(u->client_id, sizeof(u->client_id), "%.*s",
	    PF_STRF(pf_row_str(&r, 2)));
	(void)snprintf(u->resource, sizeof(u->resource), "%.*s",
	    PF_STRF(pf_row_str(&r, 8)));
	u->signed_in = pf_row_bool(&r, 7);
	u->retry_s = pf_row_int(&r, 9);
	u->any = false;
	for (int i = 1; i < 9; i++)
		u->any |= !pf_row_null(&r, i);
	return u->outcome;
}

/* Outcomes compared as text, so that a failure shows both. */
static inline bool PF_PRINTF(3, 4)
sql_is(const char *got, const char *want, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return tap_is_z(pf_str(got), want, "%s", text);
}

/* A client with documents, as client_store leaves it. */
static inline int64_t
sql_client(const char *client_id)
{
	return sql_number("SELECT client_no FROM poppy_api.client_store('%s', "
	    "'{}', '{\"keys\":[]}', 300, 300)", client_id);
}

#endif
