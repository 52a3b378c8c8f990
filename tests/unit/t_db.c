/*
 * db against a real PostgreSQL: parameters, rows, and every way in which a
 * server can be away.
 */
#include "config.h"

#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/pg.h"

#define TIMEOUT_MS	700

static struct pf_arena a;

static struct pf_db *
open_db(struct pf_db_opts o)
{
	struct pf_db *db;

	if (o.conninfo == NULL)
		o.conninfo = pg.conninfo;
	if (o.timeout_ms == 0)
		o.timeout_ms = 5000;
	o.quiet = true;
	tap_need(pf_db_new(&o, &db) == PF_OK, "pf_db_new");
	return db;
}

static enum pf_rc
one(struct pf_db *db, const struct pf_stmt *st, struct pf_row *r)
{
	return pf_db_one(db, &a, st, NULL, 0, r);
}

static int64_t
number(struct pf_db *db, const struct pf_stmt *st)
{
	struct pf_row r;

	return one(db, st, &r) == PF_OK ? pf_row_int(&r, 0) : -1;
}

static const struct pf_stmt ONE = { "one", "SELECT 1" };
static const struct pf_stmt PID = { "pid", "SELECT pg_backend_pid()" };
static const struct pf_stmt COUNT = { "count", "SELECT last_value FROM ran" };

/* Values there and back. */
static void
values(bool prepare)
{
	static const struct pf_stmt ECHO = {
		"echo",
		"SELECT $1::text, $2::bytea, $3::bigint, $4::int, $5::bool,"
		" $6::text, $7::text, $8::smallint, $9::text"
	};
	static const struct pf_stmt LISTS = {
		"lists",
		"SELECT array_to_string($1::bytea[], ' '),"
		" array_to_string($2::bigint[], ' '),"
		" cardinality($3::bytea[]), cardinality($4::bigint[])"
	};
	const struct pf_str bytes[] = {
		PF_LIT("\0\x01"), PF_LIT(""), PF_LIT("\xff")
	};
	const int64_t ints[] = { INT64_MIN, 0, INT64_MAX };
	const struct pf_param v[] = {
		PF_TEXT(PF_LIT("gr\xc3\xbc\xc3\x9f")),
		PF_BYTES("\0\xff\0", 3), PF_INT8(INT64_MIN), PF_INT4(-2),
		PF_BOOL(true), PF_TEXT(PF_NOSTR), PF_TEXT(PF_LIT("")),
		PF_NULLP, PF_NULLP
	};
	const struct pf_param lists[] = {
		PF_BYTES_LIST(bytes, 3), PF_INT8_LIST(ints, 3),
		PF_BYTES_LIST(NULL, 0), PF_INT8_LIST(NULL, 0)
	};
	struct pf_db *db = open_db((struct pf_db_opts){ .prepare = prepare });
	struct pf_row r;
	uint64_t trips;

	tap_diag("values, prepare %s", prepare ? "on" : "off");
	tap_is(pf_db_one(db, &a, &ECHO, v, PF_COUNT(v), &r), PF_OK, "echo");
	tap_is_z(pf_row_str(&r, 0), "gr\xc3\xbc\xc3\x9f", "text");
	tap_is_str(pf_row_bytes(&r, 1), pf_bytes("\0\xff\0", 3), "bytes");
	tap_ok(pf_row_int(&r, 2) == INT64_MIN, "bigint");
	tap_is(pf_row_int(&r, 3), -2, "int");
	tap_ok(pf_row_bool(&r, 4), "bool");
	tap_ok(pf_row_null(&r, 5), "text that is not given is NULL");
	tap_is_str(pf_row_str(&r, 5), PF_NOSTR, "... and comes back so");
	tap_is_str(pf_row_str(&r, 6), PF_LIT(""), "empty text is not NULL");
	tap_is(pf_row_int(&r, 7), 0, "NULL as a number");
	tap_ok(pf_row_is(&r, 6, "") && !pf_row_is(&r, 5, ""), "row_is");
	tap_ok(pf_row_null(&r, 99) && pf_row_null(&r, -1), "no such column");

	tap_is_str(pf_row_str(&r, 1), PF_NOSTR, "bytes are no text");
	tap_is_str(pf_row_bytes(&r, 0), PF_NOSTR, "text is no bytes");
	tap_is(pf_row_int(&r, 4), 0, "a bool is no number");
	tap_ok(!pf_row_bool(&r, 2), "a number is no bool");

	tap_is(pf_db_one(db, &a, &LISTS, lists, PF_COUNT(lists), &r), PF_OK,
	    "lists");
	tap_is_z(pf_row_str(&r, 0), "\\x0001 \\x \\xff", "bytea[]");
	tap_is_z(pf_row_str(&r, 1),
	    "-9223372036854775808 0 9223372036854775807", "bigint[]");
	tap_ok(pf_row_int(&r, 2) == 0 && pf_row_int(&r, 3) == 0 &&
	    !pf_row_null(&r, 2), "empty lists");

	trips = pf_db_trips(db);
	for (int i = 0; i < 3; i++)
		tap_is(pf_db_one(db, &a, &ECHO, v, PF_COUNT(v), &r), PF_OK,
		    "once more");
	tap_is((long long)(pf_db_trips(db) - trips), 3, "one trip a call");
	pf_db_free(db);
}

/* Calls that can't be right. */
static void
refused(void)
{
	static const struct { const char *why; struct pf_stmt st; } bad[] = {
		{ "no row", { "b0", "SELECT 1 WHERE false" } },
		{ "two rows", { "b1", "SELECT 1 UNION ALL SELECT 2" } },
		{ "no such function", { "b2", "SELECT nix()" } },
		{ "no SQL", { "b3", "SELEC" } },
		{ "a function that raises", { "b4", "SELECT raise('P0001')" } },
		{ "nothing to return", { "b5", "SET work_mem = 1024" } },
		{ "a COMMIT that fails", { "b6",
		    "INSERT INTO late VALUES (1) RETURNING x" } },
	};
	static const struct pf_stmt TEXT = { "text", "SELECT $1::text" };
	static const struct pf_stmt BIG = { "big", "SELECT $1::bigint" };
	const struct pf_param nul = PF_TEXT(PF_LIT("a\0b"));
	const struct pf_param notutf8 = PF_TEXT(PF_LIT("\xff"));
	const struct pf_param narrow = PF_INT4(1);
	struct pf_param many[PF_DB_PARAMS + 1] = { { 0 } };
	struct pf_db *db = open_db((struct pf_db_opts){ .prepare = true });
	struct pf_row r;

	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		tap_is(one(db, &bad[i].st, &r), PF_E_BUG, "refused: %s",
		    bad[i].why);
		tap_ok(pf_db_trouble(db)[0] != '\0', "... and says why: %s",
		    pf_db_trouble(db));
	}
	tap_is(pf_db_one(db, &a, &TEXT, &nul, 1, &r), PF_E_BUG, "NUL in text");
	tap_is(pf_db_one(db, &a, &TEXT, &notutf8, 1, &r), PF_E_BUG,
	    "text that is no UTF-8");
	tap_is(pf_db_one(db, &a, &BIG, &narrow, 1, &r), PF_E_BUG,
	    "an int where the function wants a bigint");
	tap_is(pf_db_one(db, &a, &ONE, many, PF_COUNT(many), &r), PF_E_BUG,
	    "too many parameters");
	tap_is(number(db, &ONE), 1, "the connection is as good as before");
	tap_is_z(pf_str(pf_db_trouble(db)), "", "no trouble any more");
	pf_db_free(db);
}

static void
again(void)
{
	static const struct pf_stmt ONCE = {
		"once", "SELECT fail_first('40P01')"
	};
	static const struct pf_stmt SER = {
		"ser", "SELECT fail_first('40001')"
	};
	static const struct pf_stmt DEAD = { "dead", "SELECT raise('40P01')" };
	static const struct pf_stmt LOCK = { "lock", "SELECT raise('55P03')" };
	static const struct pf_stmt LATE = { "late", "SELECT raise('57014')" };
	static const struct pf_stmt FULL = { "full", "SELECT raise('53100')" };
	struct pf_db *db = open_db((struct pf_db_opts){ .prepare = true });
	struct pf_row r;
	int64_t before;

	pg_sql("SELECT setval('ran', 1)");
	tap_is(one(db, &ONCE, &r), PF_OK, "a deadlock is retried");
	pg_sql("SELECT setval('ran', 1)");
	tap_is(one(db, &SER, &r), PF_OK, "a serialisation failure too");
	before = number(db, &COUNT);
	tap_is(one(db, &DEAD, &r), PF_E_BUSY, "two deadlocks: busy");
	tap_is(number(db, &COUNT) - before, 2, "... after two tries");
	tap_is(one(db, &LOCK, &r), PF_E_BUSY, "lock_timeout: busy");
	tap_is(number(db, &COUNT) - before, 3, "... after one try");
	tap_is(one(db, &LATE, &r), PF_E_BUSY, "statement_timeout: busy");
	tap_is(one(db, &FULL, &r), PF_E_DB, "disk full: the database's");
	tap_is(number(db, &ONE), 1, "and on it goes");
	pf_db_free(db);
}

/* A connection that ends, at the worst moments. */
static void
broken(bool prepare)
{
	static const struct pf_stmt SUICIDE = {
		"suicide", "SELECT nextval('ran'), "
		"pg_terminate_backend(pg_backend_pid()), pg_sleep(5)"
	};
	static const struct pf_stmt FORGET = { "forget", "SELECT forget()" };
	struct pf_db *db = open_db((struct pf_db_opts){ .prepare = prepare });
	struct pf_row r;
	char text[128];
	int64_t pid, before;

	tap_diag("broken connections, prepare %s", prepare ? "on" : "off");
	pid = number(db, &PID);
	(void)snprintf(text, sizeof(text),
	    "SELECT pg_terminate_backend(%lld, 5000)", (long long)pid);
	pg_sql(text);
	tap_ok((before = number(db, &PID)) > 0 && before != pid,
	    "ended between calls: the next one has a new connection");

	before = number(db, &COUNT);
	tap_is(one(db, &SUICIDE, &r), PF_E_DB, "ended within a call");
	tap_is(number(db, &COUNT) - before, 1, "... which is not sent again");

	tap_is(one(db, &FORGET, &r), PF_OK, "prepared statements are gone");
	tap_is(number(db, &ONE), 1, "... and made anew");
	pf_db_free(db);
}

static void
killed(void)
{
	static const struct pf_stmt SLEEP = {
		"sleep", "SELECT nextval('ran'), pg_sleep(3)"
	};
	struct pf_db *db = open_db((struct pf_db_opts){ .prepare = true });
	struct pf_row r;
	int64_t pid = number(db, &PID), at;
	pid_t child;
	int tries = 0;

	if ((child = fork()) == 0) {
		(void)usleep(300000);
		_exit(kill((pid_t)pid, SIGKILL) == 0 ? 0 : 1);
	}
	at = pf_mono_ms();
	tap_is(one(db, &SLEEP, &r), PF_E_DB, "kill -9 within a call: %s",
	    pf_db_trouble(db));
	tap_ok(pf_mono_ms() - at < 2000, "... is seen at once");
	(void)waitpid(child, NULL, 0);
	while (number(db, &ONE) != 1 && tries++ < 100)
		(void)usleep(100000);
	tap_ok(tries < 100, "works again after %d tries", tries);

	/* When one is killed all are thrown out, and the server recovers. */
	pid = number(db, &PID);
	(void)kill((pid_t)pid, SIGKILL);
	for (tries = 0; number(db, &ONE) != 1 && tries < 100; tries++)
		(void)usleep(100000);
	tap_ok(tries < 100, "kill -9 between calls: works after %d", tries);
	pf_db_free(db);
}

/* A server that says nothing must not hold a worker. */
static void
silent(void)
{
	static const struct pf_stmt TEXT = {
		"length", "SELECT length($1::text)"
	};
	struct pf_db *db = open_db((struct pf_db_opts){
	    .prepare = true, .timeout_ms = TIMEOUT_MS });
	struct pf_param big;
	struct pf_row r;
	int64_t pid = number(db, &PID), at;
	char *p;

	tap_need((p = malloc(8u << 20)) != NULL, "memory");
	memset(p, 'x', 8u << 20);
	big = PF_TEXT(pf_bytes(p, 8u << 20));
	tap_is(pf_db_one(db, &a, &TEXT, &big, 1, &r), PF_OK, "8 MiB of text");
	(void)kill((pid_t)pid, SIGSTOP);
	at = pf_mono_ms();
	tap_is(pf_db_one(db, &a, &TEXT, &big, 1, &r), PF_E_DB,
	    "stopped while we send: %s", pf_db_trouble(db));
	at = pf_mono_ms() - at;
	tap_ok(at >= TIMEOUT_MS && at < TIMEOUT_MS + 1500,
	    "... the call ends after %lld ms", (long long)at);
	at = pf_mono_ms();
	tap_is(one(db, &ONE, &r), PF_E_DB, "in the pause nothing is tried");
	tap_ok(pf_mono_ms() - at < 300, "... and nobody waits");
	(void)kill((pid_t)pid, SIGCONT);
	(void)usleep(150000);
	tap_is(number(db, &ONE), 1, "after the pause it works");

	pid = number(db, &PID);
	(void)kill((pid_t)pid, SIGSTOP);
	tap_is(one(db, &ONE, &r), PF_E_DB, "stopped while we wait: %s",
	    pf_db_trouble(db));
	(void)kill((pid_t)pid, SIGCONT);
	free(p);
	pf_db_free(db);
}

static size_t
sockets(void)
{
	struct dirent *e;
	char to[64], path[300];
	size_t n = 0;
	ssize_t len;
	DIR *d = opendir("/proc/self/fd");

	tap_need(d != NULL, "/proc/self/fd");
	while ((e = readdir(d)) != NULL) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%s",
		    e->d_name);
		len = readlink(path, to, sizeof(to) - 1);
		if (len > 7 && memcmp(to, "socket:", 7) == 0)
			n++;
	}
	(void)closedir(d);
	return n;
}

/* A listener that takes connections and closes them, in a child. */
static pid_t
slammer(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), c;
	pid_t child;

	(void)snprintf(un.sun_path, sizeof(un.sun_path), "%s/.s.PGSQL.5434",
	    pg.dir);
	tap_need(bind(fd, (struct sockaddr *)&un, sizeof(un)) == 0 &&
	    listen(fd, 64) == 0, "listener");
	if ((child = fork()) == 0) {
		while ((c = accept(fd, NULL, NULL)) != -1)
			(void)close(c);
		_exit(0);
	}
	(void)close(fd);
	return child;
}

static void
failing(const char *why, struct pf_db_opts o, int times)
{
	struct pf_db *db;
	struct pf_row r;
	size_t before = sockets(), most = 0, n;
	int bad = 0;

	o.pause_max_ms = 1;
	db = open_db(o);
	for (int i = 0; i < times; i++) {
		if (one(db, &ONE, &r) != PF_E_DB ||
		    pf_db_trouble(db)[0] == '\0')
			bad++;
		n = sockets() - before;
		most = n > most ? n : most;
		(void)usleep(2000);
	}
	tap_is(bad, 0, "%d times %s: %s", times, why, pf_db_trouble(db));
	tap_ok(most <= 1, "... %zu sockets at most", most);
	pf_db_free(db);
	pf_arena_reset(&a);
}

static void
reconnects(void)
{
	char nobody[400], slam[256], nodb[400];
	pid_t child = slammer();

	(void)snprintf(nobody, sizeof(nobody), "%s user=nobody_here",
	    pg.conninfo);
	(void)snprintf(nodb, sizeof(nodb), "%s dbname=nix", pg.conninfo);
	(void)snprintf(slam, sizeof(slam), "host=%s port=5434", pg.dir);
	failing("refused", (struct pf_db_opts){ .conninfo = pg.other }, 300);
	failing("closed at once", (struct pf_db_opts){ .conninfo = slam }, 300);
	failing("unknown role", (struct pf_db_opts){ .conninfo = nobody }, 200);
	failing("unknown database", (struct pf_db_opts){ .conninfo = nodb },
	    100);
	failing("no schema", (struct pf_db_opts){
	    .schema_min = 1, .schema_max = 1 }, 100);
	failing("nonsense", (struct pf_db_opts){ .conninfo = "nix=1" }, 10);
	(void)kill(child, SIGTERM);
	(void)waitpid(child, NULL, 0);
}

static void
schema(void)
{
	struct pf_db_opts o = {
		.schema_min = 3, .schema_max = 4, .pause_max_ms = 1
	};
	struct pf_db *db;

	pg_sql("CREATE SCHEMA poppy_api; CREATE FUNCTION "
	    "poppy_api.schema_version() RETURNS int LANGUAGE sql RETURN 2; "
	    "CREATE FUNCTION "
	    "poppy_api.schema_oldest() RETURNS int LANGUAGE sql RETURN 1");
	db = open_db(o);
	tap_is(number(db, &ONE), -1, "schema too old");
	tap_ok(strstr(pf_db_trouble(db), "version 2") != NULL &&
	    strstr(pf_db_trouble(db), "3 to 4") != NULL, "... both named: %s",
	    pf_db_trouble(db));
	pg_sql("CREATE OR REPLACE FUNCTION poppy_api.schema_version() "
	    "RETURNS int LANGUAGE sql RETURN 9; "
	    "CREATE OR REPLACE FUNCTION poppy_api.schema_oldest() "
	    "RETURNS int LANGUAGE sql RETURN 5");
	(void)usleep(2000);
	tap_is(number(db, &ONE), -1, "schema too new: %s", pf_db_trouble(db));
	pg_sql("CREATE OR REPLACE FUNCTION poppy_api.schema_oldest() "
	    "RETURNS int LANGUAGE sql RETURN 4");
	(void)usleep(2000);
	tap_is(number(db, &ONE), 1, "a newer one that serves old programs, "
	    "without a restart");
	pf_db_free(db);
}

static void
script(void)
{
	struct pf_db *db = open_db((struct pf_db_opts){ 0 });

	tap_is(pf_db_script(db, "CREATE TABLE s1 (x int);\nSELECT 1;"), PF_OK,
	    "a script");
	tap_is(pf_db_script(db,
	    "CREATE TABLE s2 (x int);\nSELECT '\xc3\xbc';\nSELEC"), PF_E_BUG,
	    "a script with a fault");
	tap_ok(strncmp(pf_db_trouble(db), "line 3: 42601", 13) == 0,
	    "... and its place: %s", pf_db_trouble(db));
	tap_is(pf_db_script(db, "CREATE TABLE s2 (x int)"), PF_OK,
	    "... did nothing");
	tap_ok(pf_db_script(db, "SELECT pg_terminate_backend("
	    "pg_backend_pid()); SELECT pg_sleep(5)") != PF_OK,
	    "a script that loses its connection");
	tap_is(pf_db_script(db, "SELECT 1"), PF_E_DB,
	    "what a script has set up is never silently lost");
	tap_is(number(db, &ONE), -1, "... nor for a call");
	pf_db_free(db);
}

static void
stopped(void)
{
	struct pf_db *db = open_db((struct pf_db_opts){ .prepare = true });
	int64_t at;
	int tries;

	tap_is(number(db, &ONE), 1, "before");
	tap_need(pg_cluster("stop", "immediate") == 0 &&
	    pg_cluster("start", "") == 0, "crash");
	tap_is(number(db, &ONE), 1, "crashed between calls: nobody notices");
	tap_need(pg_cluster("stop", "fast") == 0, "stop");
	at = pf_mono_ms();
	tap_is(number(db, &ONE), -1, "server stopped: %s", pf_db_trouble(db));
	tap_is(number(db, &ONE), -1, "still");
	tap_ok(pf_mono_ms() - at < 2000, "... and nobody waits");
	tap_need(pg_cluster("start", "") == 0, "start");
	for (tries = 0; number(db, &ONE) != 1 && tries < 40; tries++)
		(void)usleep(100000);
	tap_ok(tries < 40, "started: works after %d00 ms", tries);
	pf_db_free(db);
}

int
main(void)
{
	tap_need(pf_arena_init(&a, 1u << 16, 64u << 20) == PF_OK, "arena");
	pg_start();
	pg_sql("CREATE SEQUENCE ran;"
	    "CREATE FUNCTION raise(t text) RETURNS int LANGUAGE plpgsql AS $$"
	    "BEGIN PERFORM nextval('ran'); RAISE USING ERRCODE = t;"
	    "END $$;"
	    "CREATE FUNCTION fail_first(t text) RETURNS int LANGUAGE plpgsql "
	    "AS $$ BEGIN IF nextval('ran') < 3 THEN RAISE USING "
	    "ERRCODE = t; END IF; RETURN 1; END $$;"
	    "CREATE FUNCTION forget() RETURNS int LANGUAGE plpgsql AS $$ BEGIN "
	    "EXECUTE 'DEALLOCATE ALL'; RETURN 1; END $$;"
	    "CREATE TABLE late (x int REFERENCES late (y) "
	    "DEFERRABLE INITIALLY DEFERRED, y int UNIQUE)");
	values(true);
	values(false);
	refused();
	again();
	broken(true);
	broken(false);
	killed();
	silent();
	reconnects();
	schema();
	script();
	stopped();
	pf_arena_free(&a);
	return tap_done();
}
