#include "config.h"

#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/store/db.h"
#include "core/store/db_int.h"
#include "core/store/wire.h"

#define PREPARED_MAX	64
#define ROWS_MAX	100000
#define PAUSE_MIN_MS	100
#define PAUSE_MAX_MS	2000

struct pf_db {
	struct pf_db_opts o;
	PGconn *c;
	bool doomed;		/* the server said that it is going to close */
	bool scripted;
	bool down;		/* the trouble is in the log already */
	int64_t retry_ms;	/* not before this; pf_mono_ms() */
	int pause_ms;
	uint64_t trips;
	const struct pf_stmt *prepared[PREPARED_MAX];
	size_t nprepared;
	char trouble[320];
};

/*
 * What an error of the server means. AGAIN: it undid everything and the same
 * call may pass now. FRESH: it was refused before it ran, for what this
 * connection is or remembers. Anything not listed is a bug of ours.
 */
enum verdict { AGAIN, FRESH, BUSY, AWAY, BUG };
static const struct { const char *state; enum verdict is; } verdicts[] = {
	{ "40P01", AGAIN },	/* deadlock */
	{ "40001", AGAIN },	/* serialisation failure */
	{ "55P03", BUSY },	/* lock_timeout */
	{ "57014", BUSY },	/* statement_timeout */
	{ "26000", FRESH },	/* prepared statement gone: a pooler */
	{ "42P05", FRESH },	/* ... or somebody else's under our name */
	{ "0A000", FRESH },	/* plan from before a migration */
	{ "25006", AWAY },	/* read only: no primary any more */
	{ "08P01", BUG },	/* a parameter of the wrong width */
	{ "08", AWAY },		/* connection */
	{ "28", AWAY },		/* role or password */
	{ "3D000", AWAY },	/* no such database */
	{ "53", AWAY },		/* disk, memory, connections */
	{ "57", AWAY },		/* shutdown, crash, starting up */
	{ "58", AWAY },		/* the server's operating system */
};

static void complain(struct pf_db *, const char *, ...) PF_PRINTF(2, 3);

/* Keep why, on one line. */
static void
complain(struct pf_db *db, const char *fmt, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	(void)vsnprintf(db->trouble, sizeof(db->trouble), fmt, ap);
	va_end(ap);
	for (n = strlen(db->trouble); n > 0; n--)
		if (db->trouble[n - 1] != '\n')
			break;
	db->trouble[n] = '\0';
	for (char *p = db->trouble; *p != '\0'; p++)
		if (*p == '\n' || *p == '\t')
			*p = ' ';
}

static void
tell(const struct pf_db *db, enum pf_level level, const char *event)
{
	if (!db->o.quiet)
		PF_LOG(level, event, PF_F_Z("trouble", db->trouble));
}

static void
drop(struct pf_db *db)
{
	PQfinish(db->c);
	db->c = NULL;
	db->nprepared = 0;
	db->doomed = false;
}

/* The server is away: no call tries again before the pause is over. */
static enum pf_rc
away(struct pf_db *db)
{
	drop(db);
	if (pf_mono_ms() < db->retry_ms)
		return PF_E_DB;
	db->pause_ms = db->pause_ms == 0 ? PAUSE_MIN_MS : db->pause_ms * 2;
	if (db->pause_ms > db->o.pause_max_ms)
		db->pause_ms = db->o.pause_max_ms;
	db->retry_ms = pf_mono_ms() + db->pause_ms;
	if (!db->down)
		tell(db, PF_LOG_ERROR, "db_down");
	db->down = true;
	return PF_E_DB;
}

/* A notice that ends the connection, or nothing to us. */
static void
noticed(void *ctx, const PGresult *res)
{
	struct pf_db *db = ctx;
	const char *level;

	level = PQresultErrorField(res, PG_DIAG_SEVERITY_NONLOCALIZED);
	if (level != NULL &&
	    (strcmp(level, "FATAL") == 0 || strcmp(level, "PANIC") == 0))
		db->doomed = true;
}

/* Wait for the socket. False when the time is over. */
static bool
ready(struct pf_db *db, short events, int64_t deadline_ms)
{
	struct pollfd pfd;
	int64_t left;
	int n;

	pfd.fd = PQsocket(db->c);
	pfd.events = events;
	do {
		pfd.revents = 0;
		left = deadline_ms - pf_mono_ms();
		n = poll(&pfd, 1, left > 0 ? (int)left : 0);
	} while (n == -1 && errno == EINTR);
	return n != 0;
}

/* The connection broke; whether the server did what it was sent is unknown. */
static enum pf_rc
lost(struct pf_db *db)
{
	complain(db, "the connection to PostgreSQL broke: %s",
	    PQerrorMessage(db->c));
	tell(db, PF_LOG_WARN, "db_lost");
	drop(db);
	return PF_E_DB;
}

/*
 * Take what has come, up to the end of the answer: a COMMIT that fails says so
 * only behind the rows. *res is the last result, or the first error. True when
 * the end is reached.
 */
static bool
take(struct pf_db *db, PGresult **res)
{
	PGresult *next;

	while (!PQisBusy(db->c)) {
		if ((next = PQgetResult(db->c)) == NULL)
			return true;
		if (*res != NULL &&
		    PQresultStatus(*res) == PGRES_FATAL_ERROR) {
			PQclear(next);
			continue;
		}
		PQclear(*res);
		*res = next;
	}
	return false;
}

static enum pf_rc
collect(struct pf_db *db, int64_t deadline_ms, PGresult **res)
{
	enum pf_rc rc;
	int unsent;

	*res = NULL;
	for (;;) {
		if ((unsent = PQflush(db->c)) == -1) {
			rc = lost(db);
			break;
		}
		if (take(db, res)) {
			rc = *res != NULL ? PF_OK : lost(db);
			break;
		}
		if (!ready(db, unsent ? POLLIN | POLLOUT : POLLIN,
		    deadline_ms)) {
			complain(db, "PostgreSQL gave no answer in %d ms",
			    db->o.timeout_ms);
			rc = away(db);
			break;
		}
		if (!PQconsumeInput(db->c)) {
			rc = lost(db);
			break;
		}
	}
	if (rc != PF_OK) {
		PQclear(*res);
		*res = NULL;
	}
	return rc;
}

/* Ours in front are defaults, conninfo goes over them; the last is fixed. */
static PGconn *
begin_connect(const char *conninfo)
{
	static const char *const key[] = {
		"fallback_application_name", "connect_timeout", "keepalives",
		"keepalives_idle", "keepalives_interval", "keepalives_count",
		"tcp_user_timeout", "dbname", "client_encoding", NULL
	};
	const char *value[] = {
		program_invocation_short_name, "3", "1", "15", "5", "3",
		"5000", conninfo, "UTF8", NULL
	};

	return PQconnectStartParams(key, value, 1);
}

static enum pf_rc
finish_connect(struct pf_db *db, int64_t deadline_ms)
{
	PostgresPollingStatusType st = PGRES_POLLING_WRITING;

	if (db->c == NULL) {
		complain(db, "no memory for a connection");
		return away(db);
	}
	if (PQstatus(db->c) == CONNECTION_BAD)
		st = PGRES_POLLING_FAILED;
	while (st != PGRES_POLLING_OK) {
		if (st == PGRES_POLLING_FAILED) {
			complain(db, "can't connect to PostgreSQL: %s",
			    PQerrorMessage(db->c));
			return away(db);
		}
		if (!ready(db, st == PGRES_POLLING_READING ? POLLIN : POLLOUT,
		    deadline_ms)) {
			complain(db, "PostgreSQL took no connection in %d ms",
			    db->o.timeout_ms);
			return away(db);
		}
		st = PQconnectPoll(db->c);
	}
	(void)PQsetNoticeReceiver(db->c, noticed, db);
	(void)PQsetnonblocking(db->c, 1);
	return PF_OK;
}

/* Whether this program can work with the functions that are there. */
static enum pf_rc
check_schema(struct pf_db *db, int64_t deadline_ms)
{
	PGresult *res;
	long v, oldest;

	if (db->o.schema_max == 0)
		return PF_OK;
	if (!PQsendQuery(db->c, "SELECT poppy_api.schema_version(),"
	    " poppy_api.schema_oldest()")) {
		complain(db, "can't ask PostgreSQL: %s", PQerrorMessage(db->c));
		return away(db);
	}
	if (collect(db, deadline_ms, &res) != PF_OK)
		return away(db);
	if (PQresultStatus(res) != PGRES_TUPLES_OK || PQntuples(res) != 1) {
		complain(db, "the database has no usable schema of poppy "
		    "(poppyctl db install): %s", PQresultErrorMessage(res));
		PQclear(res);
		return away(db);
	}
	v = strtol(PQgetvalue(res, 0, 0), NULL, 10);
	oldest = strtol(PQgetvalue(res, 0, 1), NULL, 10);
	PQclear(res);
	if (v >= db->o.schema_min && oldest <= db->o.schema_max)
		return PF_OK;
	complain(db, "the database has schema version %ld and serves programs "
	    "from %ld on; this program works with %d to %d", v, oldest,
	    db->o.schema_min, db->o.schema_max);
	return away(db);
}

/* An idle connection on which the server has ended its side. */
static bool
is_dead(struct pf_db *db)
{
	/* A last word may come before the end: a crash says a mere WARNING. */
	while (ready(db, POLLIN, 0)) {
		if (!PQconsumeInput(db->c))
			return true;
		(void)PQisBusy(db->c);	/* parses, so noticed() hears it */
	}
	return db->doomed || PQstatus(db->c) != CONNECTION_OK;
}

/* After this db->c is a connection that was alive a moment ago. */
static enum pf_rc
connected(struct pf_db *db, int64_t deadline_ms)
{
	enum pf_rc rc;

	if (db->c != NULL && !is_dead(db))
		return PF_OK;
	drop(db);
	if (db->scripted) {
		complain(db, "the connection to PostgreSQL broke");
		return PF_E_DB;
	}
	if (pf_mono_ms() < db->retry_ms)
		return PF_E_DB;		/* the trouble of last time stands */
	db->c = begin_connect(db->o.conninfo);
	if ((rc = finish_connect(db, deadline_ms)) != PF_OK ||
	    (rc = check_schema(db, deadline_ms)) != PF_OK)
		return rc;
	db->trouble[0] = '\0';
	if (db->down)
		tell(db, PF_LOG_INFO, "db_up");
	db->down = false;
	db->pause_ms = 0;
	return PF_OK;
}

static enum verdict
judge(const PGresult *res)
{
	const char *state;

	state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	if (state == NULL)	/* libpq's own: the connection is gone */
		return AWAY;
	for (size_t i = 0; i < PF_COUNT(verdicts); i++)
		if (strncmp(state, verdicts[i].state,
		    strlen(verdicts[i].state)) == 0)
			return verdicts[i].is;
	return BUG;
}

/* Keep the server's words; they hold no values but those of our functions. */
static void
quote_error(struct pf_db *db, const char *what, const PGresult *res)
{
	const char *state, *text;

	state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	text = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
	complain(db, "%s: %s %s", what, state == NULL ? "-" : state,
	    text == NULL ? PQresultErrorMessage(res) : text);
}

static bool
is_prepared(const struct pf_db *db, const struct pf_stmt *st)
{
	for (size_t i = 0; i < db->nprepared; i++)
		if (db->prepared[i] == st)
			return true;
	return false;
}

/* PF_OK with *res NULL: prepared. With *res set: the server's error. */
static enum pf_rc
prepare(struct pf_db *db, const struct pf_stmt *st, int64_t deadline_ms,
    PGresult **res)
{
	enum pf_rc rc;

	*res = NULL;
	if (is_prepared(db, st))
		return PF_OK;
	db->trips++;
	if (!PQsendPrepare(db->c, st->name, st->sql, 0, NULL)) {
		complain(db, "can't ask PostgreSQL: %s", PQerrorMessage(db->c));
		drop(db);
		return PF_E_DB;
	}
	if ((rc = collect(db, deadline_ms, res)) != PF_OK)
		return rc;
	if (PQresultStatus(*res) != PGRES_COMMAND_OK)
		return PF_OK;
	PQclear(*res);
	*res = NULL;
	db->prepared[db->nprepared++] = st;
	return PF_OK;
}

/* One attempt. PF_OK with the server's last word in *res. */
static enum pf_rc
ask(struct pf_db *db, const struct pf_stmt *st, const struct pf_wire *w, int n,
    int64_t deadline_ms, PGresult **res)
{
	bool named = db->o.prepare &&
	    (db->nprepared < PREPARED_MAX || is_prepared(db, st));
	enum pf_rc rc;
	int sent;

	if (named && ((rc = prepare(db, st, deadline_ms, res)) != PF_OK ||
	    *res != NULL))
		return rc;
	db->trips++;
	if (named)
		sent = PQsendQueryPrepared(db->c, st->name, n, w->v, w->len,
		    w->format, 1);
	else
		sent = PQsendQueryParams(db->c, st->sql, n, NULL, w->v, w->len,
		    w->format, 1);
	if (!sent) {
		complain(db, "can't ask PostgreSQL: %s", PQerrorMessage(db->c));
		drop(db);
		return PF_E_DB;
	}
	return collect(db, deadline_ms, res);
}

/* Ask, and once more where the first time surely did nothing. */
static enum pf_rc
ask_twice(struct pf_db *db, const struct pf_stmt *st, const struct pf_wire *w,
    int n, PGresult **res)
{
	int64_t deadline_ms = pf_mono_ms() + db->o.timeout_ms;
	enum verdict is = BUG;
	enum pf_rc rc;

	for (int turn = 0; turn < 2; turn++) {
		if ((rc = connected(db, deadline_ms)) != PF_OK ||
		    (rc = ask(db, st, w, n, deadline_ms, res)) != PF_OK)
			return rc;
		if (PQresultStatus(*res) != PGRES_FATAL_ERROR)
			return PF_OK;
		is = judge(*res);
		quote_error(db, st->name, *res);
		PQclear(*res);
		*res = NULL;
		if (is == AWAY || is == FRESH)
			drop(db);
		if (is != AGAIN && is != FRESH)
			break;
	}
	tell(db, PF_LOG_ERROR, "db_error");
	if (is == BUG)
		return PF_E_BUG;
	return is == AWAY || is == FRESH ? PF_E_DB : PF_E_BUSY;
}

static void
clear_result(void *res)
{
	PQclear(res);
}

enum pf_rc
pf_db_many(struct pf_db *db, struct pf_arena *a, const struct pf_stmt *st,
    const struct pf_param *v, size_t n, const struct pf_rows **out,
    size_t *nrows)
{
	struct pf_rows *rows;
	struct pf_wire w;
	enum pf_rc rc;

	if (db->c != NULL)
		db->trouble[0] = '\0';
	if ((rc = pf_wire_put(a, v, n, &w)) != PF_OK)
		return rc;
	if ((rows = pf_arena_alloc(a, sizeof(*rows))) == NULL)
		return PF_E_MEM;
	if ((rc = ask_twice(db, st, &w, (int)n, &rows->res)) != PF_OK)
		return rc;
	db->trouble[0] = '\0';
	if ((rc = pf_arena_defer(a, clear_result, rows->res)) != PF_OK)
		return rc;
	*out = rows;
	*nrows = (size_t)PQntuples(rows->res);
	if (PQresultStatus(rows->res) == PGRES_TUPLES_OK && *nrows <= ROWS_MAX)
		return PF_OK;
	complain(db, "%s: no rows, or too many", st->name);
	tell(db, PF_LOG_ERROR, "db_error");
	return PF_E_BUG;
}

enum pf_rc
pf_db_one(struct pf_db *db, struct pf_arena *a, const struct pf_stmt *st,
    const struct pf_param *v, size_t n, struct pf_row *out)
{
	const struct pf_rows *rows;
	size_t nrows;
	enum pf_rc rc;

	if ((rc = pf_db_many(db, a, st, v, n, &rows, &nrows)) != PF_OK)
		return rc;
	*out = pf_rows_at(rows, 0);
	if (nrows == 1)
		return PF_OK;
	complain(db, "%s: %zu rows instead of one", st->name, nrows);
	tell(db, PF_LOG_ERROR, "db_error");
	return PF_E_BUG;
}

/* The line of a script that the server's error points to; 0 if to none. */
static int
error_line(const char *text, const PGresult *res)
{
	const char *pos;
	long n;
	int line = 1;

	pos = PQresultErrorField(res, PG_DIAG_STATEMENT_POSITION);
	if (pos == NULL)
		return 0;
	n = strtol(pos, NULL, 10);
	for (; *text != '\0' && n > 1; text++) {
		if (*text == '\n')
			line++;
		if (((unsigned char)*text & 0xc0) != 0x80)
			n--;	/* positions count characters */
	}
	return line;
}

enum pf_rc
pf_db_script(struct pf_db *db, const char *text)
{
	int64_t deadline_ms = pf_mono_ms() + db->o.timeout_ms;
	PGresult *res;
	enum pf_rc rc;
	char what[32];

	if ((rc = connected(db, deadline_ms)) != PF_OK)
		return rc;
	db->scripted = true;
	db->trips++;
	if (!PQsendQuery(db->c, text)) {
		complain(db, "can't ask PostgreSQL: %s", PQerrorMessage(db->c));
		return PF_E_DB;
	}
	if ((rc = collect(db, deadline_ms, &res)) != PF_OK)
		return rc;
	if (PQresultStatus(res) == PGRES_FATAL_ERROR) {
		(void)snprintf(what, sizeof(what), "line %d",
		    error_line(text, res));
		quote_error(db, what, res);
		rc = PF_E_BUG;
	}
	PQclear(res);
	return rc;
}

enum pf_rc
pf_db_new(const struct pf_db_opts *opts, struct pf_db **out)
{
	if ((*out = calloc(1, sizeof(**out))) == NULL)
		return PF_E_MEM;
	(*out)->o = *opts;
	if (opts->pause_max_ms == 0)
		(*out)->o.pause_max_ms = PAUSE_MAX_MS;
	return PF_OK;
}

void
pf_db_free(struct pf_db *db)
{
	if (db == NULL)
		return;
	drop(db);
	free(db);
}

const char *
pf_db_trouble(const struct pf_db *db)
{
	return db->trouble;
}

uint64_t
pf_db_trips(const struct pf_db *db)
{
	return db->trips;
}

const char *
pf_db_conninfo_fault(const char *conninfo)
{
	PQconninfoOption *o, *all;
	const char *why = NULL;

	/* A URI can't have "user=..." appended. */
	if (strstr(conninfo, "://") != NULL)
		return "must be keywords such as host=... dbname=..., no URI";
	if ((all = PQconninfoParse(conninfo, NULL)) == NULL)
		return "is no connection string of libpq";
	for (o = all; o->keyword != NULL; o++)
		if (o->val != NULL && (strcmp(o->keyword, "user") == 0 ||
		    strcmp(o->keyword, "password") == 0))
			why = "must be without user and password: each "
			    "program adds its own role";
	PQconninfoFree(all);
	return why;
}
