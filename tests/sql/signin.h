/*
 * signin - a private PostgreSQL with customers, and calls of what
 * tests/sql/signin.sql has short ways for. Every answer is one text.
 */
#ifndef PF_TEST_SIGNIN_H
#define PF_TEST_SIGNIN_H

#include <pthread.h>
#include <stdio.h>

#include "tests/sql/sql.h"

static struct pf_db *auth, *guard, *bridge, *browser;
static char si_bridge[300], si_browser[300];

/* What may not change where nothing is to be written. */
#define SI_SPENT	"(SELECT count(*) FROM (SELECT FROM poppy.replay_0 "  \
    "UNION ALL SELECT FROM poppy.replay_1 UNION ALL SELECT FROM "	\
    "poppy.replay_2 UNION ALL SELECT FROM poppy.replay_3) r)"
#define SI_ROWS		"SELECT " SI_SPENT " + (SELECT count(*) FROM "	\
    "poppy.grants) + (SELECT count(*) FROM poppy.token) + (SELECT "	\
    "count(*) FROM poppy.session) + (SELECT coalesce(sum(tries), 0) FROM " \
    "poppy.code) + (SELECT count(*) FROM poppy.account_token)"

#define SI_TEXT	600

/* Statements are kept by their place in memory, and here each is another. */
static inline struct pf_db *
si_open(const char *conninfo)
{
	struct pf_db_opts o = {
		.conninfo = conninfo, .timeout_ms = 20000,
		/* PHP asks for no version. */
		.schema_min = conninfo == si_bridge ? 0 : PF_SCHEMA_MIN,
		.schema_max = conninfo == si_bridge ? 0 : PF_SCHEMA_MAX,
	};
	struct pf_db *db;

	tap_need(pf_db_new(&o, &db) == PF_OK, "pf_db_new");
	return db;
}

/* One text by one connection. */
static inline void
si_call(struct pf_db *db, const char *sql, char out[SI_TEXT])
{
	const struct pf_stmt st = { "signin", sql };
	struct pf_arena a;
	struct pf_row r;
	enum pf_rc rc;

	tap_need(pf_arena_init(&a, 4096, 1u << 20) == PF_OK, "arena");
	rc = pf_db_one(db, &a, &st, NULL, 0, &r);
	if (rc == PF_OK)
		(void)snprintf(out, SI_TEXT, "%.*s",
		    PF_STRF(pf_row_str(&r, 0)));
	else
		(void)snprintf(out, SI_TEXT, "%s: %s", pf_rc_name(rc),
		    pf_db_trouble(db));
	pf_arena_free(&a);
}

/* What poppy-auth is answered is want. */
static inline bool
si_is(const char *sql, const char *want, const char *why)
{
	char got[SI_TEXT];

	si_call(auth, sql, got);
	return tap_is_z(pf_str(got), want, "%s", why);
}

/* Answered so, and nothing is written but the audit. */
static inline void
si_refused(const char *sql, const char *want, const char *why)
{
	int64_t before = sql_number(SI_ROWS);

	(void)si_is(sql, want, why);
	tap_is(sql_number(SI_ROWS) - before, 0, "... and nothing is written");
}

/* What the shop's PHP is answered. */
static inline bool
si_shop(const char *sql, const char *want, const char *why)
{
	char got[SI_TEXT];

	si_call(bridge, sql, got);
	return tap_is_z(pf_str(got), want, "%s", why);
}

/* The same of poppy-guard, about a token by its word. */
static inline bool
si_use(const char *token, const char *want, const char *why)
{
	char sql[200], got[SI_TEXT];

	(void)snprintf(sql, sizeof(sql), "SELECT t.use('%s')", token);
	si_call(guard, sql, got);
	return tap_is_z(pf_str(got), want, "%s", why);
}

/* The same of any of them. */
static inline bool
si_by(struct pf_db *db, const char *sql, const char *want, const char *why)
{
	char got[SI_TEXT];

	si_call(db, sql, got);
	return tap_is_z(pf_str(got), want, "%s", why);
}

/* It must be so for the rest to mean something. */
static inline void
si_need(const char *sql, const char *want)
{
	char got[SI_TEXT];

	si_call(auth, sql, got);
	if (strcmp(got, want) != 0)
		tap_diag("%s", got);
	tap_need(strcmp(got, want) == 0, sql);
}

/*
 * Two connections: the first has done its part and not committed; the second
 * must wait for it, if it has to, and then sees what the first has done.
 */
struct si_second {
	struct pf_db *db;
	const char *sql;
	char got[SI_TEXT];
};

static inline void *
si_second(void *arg)
{
	struct si_second *s = arg;

	si_call(s->db, s->sql, s->got);
	return NULL;
}

static inline bool
si_waits(void)
{
	for (int i = 0; i < 500; i++) {
		if (sql_number("SELECT count(*) FROM pg_stat_activity "
		    "WHERE wait_event_type = 'Lock' AND query LIKE '%%t.%%'")
		    > 0)
			return true;
		(void)usleep(10000);
	}
	return false;
}

static inline void
si_race_by(const char *by_one, const char *one, const char *want_one,
    const char *by_two, const char *two, const char *want_two, const char *why)
{
	struct pf_db *first = si_open(by_one);
	struct si_second s = { .db = si_open(by_two), .sql = two };
	char got[SI_TEXT];
	pthread_t thread;

	tap_need(pf_db_script(first, "BEGIN") == PF_OK, "BEGIN");
	si_call(first, one, got);
	(void)sql_is(got, want_one, "%s: the first", why);
	tap_need(pthread_create(&thread, NULL, si_second, &s) == 0, "thread");
	tap_ok(si_waits(), "... the second waits for it");
	tap_need(pf_db_script(first, "COMMIT") == PF_OK, "COMMIT");
	(void)pthread_join(thread, NULL);
	(void)sql_is(s.got, want_two, "... and then");
	pf_db_free(first);
	pf_db_free(s.db);
}

static inline void
si_race(const char *one, const char *want_one, const char *two,
    const char *want_two, const char *why)
{
	si_race_by(sql_auth, one, want_one, sql_auth, two, want_two, why);
}

/* The same with nobody holding still: both at once, from one start. */
static inline void
si_both_by(const char *by_one, const char *one, const char *by_two,
    const char *two, char got[2][SI_TEXT])
{
	struct si_second s[2] = {
		{ .db = si_open(by_one), .sql = one },
		{ .db = si_open(by_two), .sql = two }
	};
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		si_call(s[i].db, "SELECT 'connected'", s[i].got);
	for (int i = 0; i < 2; i++)
		tap_need(pthread_create(&thread[i], NULL, si_second, &s[i]) ==
		    0, "thread");
	for (int i = 0; i < 2; i++) {
		(void)pthread_join(thread[i], NULL);
		(void)memcpy(got[i], s[i].got, SI_TEXT);
		pf_db_free(s[i].db);
	}
}

static inline void
si_both(const char *one, const char *two, char got[2][SI_TEXT])
{
	si_both_by(sql_auth, one, sql_auth, two, got);
}

static inline void
si_start(void)
{
	static char text[1u << 16];
	char path[300];
	size_t n;
	FILE *f;

	sql_start();
	(void)snprintf(path, sizeof(path), "%s/tests/sql/signin.sql",
	    sql_env("top_srcdir"));
	f = fopen(path, "r");
	tap_need(f != NULL, path);
	n = fread(text, 1, sizeof(text) - 1, f);
	(void)fclose(f);
	tap_need(n > 0 && n < sizeof(text) - 1, "signin.sql");
	pg_sql(text);
	tap_need(sql_client("https://a.example/c") == 1 &&
	    sql_client("https://b.example/c") == 2, "two clients");
	auth = si_open(sql_auth);
	guard = si_open(sql_guard);
	(void)snprintf(si_bridge, sizeof(si_bridge), "%s user=poppy_bridge",
	    pg.conninfo);
	bridge = si_open(si_bridge);
	(void)snprintf(si_browser, sizeof(si_browser), "%s user=poppy_browser",
	    pg.conninfo);
	browser = si_open(si_browser);
}

static inline int
si_done(void)
{
	pf_db_free(auth);
	pf_db_free(guard);
	pf_db_free(bridge);
	pf_db_free(browser);
	pf_arena_free(&sql_arena);
	return tap_done();
}

#endif
