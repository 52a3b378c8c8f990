/*
 * Replay memory: slot borders, races of two connections, rotation, and what a
 * crash of the server leaves.
 */
#include "config.h"

#include <pthread.h>

#include "tests/sql/sql.h"

#define ROUNDS	200

static int64_t client;

/*
 * Two iats of one live window on both sides of a slot border. The window is a
 * little shorter than a slot, so now and then there is no border in it.
 */
static int64_t
border(void)
{
	int64_t now, at;

	for (;;) {
		now = pf_now_at();
		at = (now + 110) / 900 * 900;
		if (at > now - 745)
			return at;
		(void)sleep(1);
	}
}

/* One of two that do the same at the same moment. */
struct racer {
	pthread_barrier_t *gate;
	struct pf_db *db;
	struct sql_session *s;
	struct sql_use *u;
};

static void *
race(void *arg)
{
	struct racer *r = arg;
	struct pf_arena a;

	if (pf_arena_init(&a, 8192, 1u << 20) != PF_OK)
		return NULL;
	(void)pthread_barrier_wait(r->gate);
	if (r->s != NULL)
		(void)sql_call(r->db, &a, r->s);
	else
		(void)sql_ask(r->db, &a, r->u);
	pf_arena_free(&a);
	return NULL;
}

static void
both(struct racer r[2])
{
	pthread_barrier_t gate;
	pthread_t t[2];

	tap_need(pthread_barrier_init(&gate, NULL, 2) == 0, "barrier");
	for (int i = 0; i < 2; i++) {
		r[i].gate = &gate;
		tap_need(pthread_create(&t[i], NULL, race, &r[i]) == 0,
		    "thread");
	}
	for (int i = 0; i < 2; i++)
		(void)pthread_join(t[i], NULL);
	(void)pthread_barrier_destroy(&gate);
}

/* 1: just one 'ok', the other 'replay'. */
static int
fair(const char *x, const char *y)
{
	return (strcmp(x, "ok") == 0 && strcmp(y, "replay") == 0) ||
	    (strcmp(y, "ok") == 0 && strcmp(x, "replay") == 0);
}

static void
race_uses(const char *why, bool across)
{
	struct racer r[2] = { { 0 }, { 0 } };
	struct sql_session s = sql_session(client);
	struct sql_use u[2];
	struct pf_db *auth = sql_open(sql_auth);
	int good = 0;

	(void)sql_is(sql_call(auth, &sql_arena, &s), "ok", "a token");
	pf_db_free(auth);
	r[0].db = sql_open(sql_guard);
	r[1].db = sql_open(sql_guard);
	for (int i = 0; i < ROUNDS; i++) {
		u[0] = sql_use(&s);
		if (across)
			u[0].iat = border();
		u[1] = u[0];
		if (across)
			u[1].iat--;
		r[0].u = &u[i % 2];
		r[1].u = &u[1 - i % 2];
		both(r);
		good += fair(u[0].outcome, u[1].outcome);
	}
	tap_is(good, ROUNDS, "%s: one wins, %d times", why, ROUNDS);
	pf_db_free(r[0].db);
	pf_db_free(r[1].db);
}

/* All jtis the same, given in another order: no deadlock, one winner. */
static void
race_starts(void)
{
	struct racer r[2] = { { 0 }, { 0 } };
	struct sql_session s[2];
	int good = 0;

	r[0].db = sql_open(sql_auth);
	r[1].db = sql_open(sql_auth);
	for (int i = 0; i < ROUNDS; i++) {
		s[0] = sql_session(client);
		s[1] = sql_session(client);
		for (int k = 0; k < 3; k++) {
			s[1].spend[k] = s[0].spend[2 - k];
			s[0].iat[k] = border() - (k & 1);
			s[1].iat[k] = border() - 1 + (k & 1);
		}
		r[0].s = &s[0];
		r[1].s = &s[1];
		both(r);
		good += fair(s[0].outcome, s[1].outcome);
	}
	tap_is(good, ROUNDS, "starts with the same jtis: one wins, %d times",
	    ROUNDS);
	pf_db_free(r[0].db);
	pf_db_free(r[1].db);
}

static void
across(void)
{
	struct sql_session s = sql_session(client);
	struct sql_use u, v;
	struct pf_db *auth = sql_open(sql_auth), *guard = sql_open(sql_guard);

	(void)sql_is(sql_call(auth, &sql_arena, &s), "ok", "a token");
	u = sql_use(&s);
	u.iat = border();
	v = u;
	v.iat--;
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "ok", "above a border");
	(void)sql_is(sql_ask(guard, &sql_arena, &v), "replay", "then below");
	u = sql_use(&s);
	u.iat = border() - 1;
	v = u;
	v.iat++;
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "ok", "below a border");
	(void)sql_is(sql_ask(guard, &sql_arena, &v), "replay", "then above");
	pf_db_free(auth);
	pf_db_free(guard);
}

/* Rows in all four tables: only the two that nobody can need are emptied. */
static void
rotates(void)
{
	int64_t live = 0, now, n;
	int kept = 0, wanted = 0;

	pg_sql("TRUNCATE poppy.replay_0, poppy.replay_1, poppy.replay_2, "
	    "poppy.replay_3;"
	    "INSERT INTO poppy.replay_0 VALUES (decode(md5('0'),'hex'), 0);"
	    "INSERT INTO poppy.replay_1 VALUES (decode(md5('1'),'hex'), 0);"
	    "INSERT INTO poppy.replay_2 VALUES (decode(md5('2'),'hex'), 0);"
	    "INSERT INTO poppy.replay_3 VALUES (decode(md5('3'),'hex'), 0)");
	now = pf_now_at();
	for (int64_t i = (now - 760) / 900; i <= (now + 120) / 900 + 1; i++)
		live |= 1 << (i % 4);
	n = sql_number("SELECT emptied FROM poppy_api.replay_rotate()");
	for (int i = 0; i < 4; i++) {
		wanted += (int)((live >> i) & 1);
		kept += sql_number("SELECT count(*) FROM poppy.replay_%d", i) ==
		    ((live >> i) & 1);
	}
	tap_is(kept, 4, "live and coming slots stay, the others are emptied");
	tap_is(n, 4 - wanted, "and it says how many");
	tap_is(sql_number("SELECT emptied FROM poppy_api.replay_rotate()"), 0,
	    "a second time there is nothing to do");

	/* Somebody holds a table that is due: no waiting, no error. */
	pg_sql("INSERT INTO poppy.replay_0 VALUES (decode(md5('0'),'hex'), 0) "
	    "ON CONFLICT DO NOTHING; INSERT INTO poppy.replay_1 VALUES "
	    "(decode(md5('0'),'hex'), 0) ON CONFLICT DO NOTHING; "
	    "INSERT INTO poppy.replay_2 VALUES (decode(md5('0'),'hex'), 0) "
	    "ON CONFLICT DO NOTHING; INSERT INTO poppy.replay_3 VALUES "
	    "(decode(md5('0'),'hex'), 0) ON CONFLICT DO NOTHING");
	struct pf_db *holder = sql_open(pg.conninfo);
	tap_is(pf_db_script(holder, "BEGIN; LOCK TABLE poppy.replay_0, "
	    "poppy.replay_1, poppy.replay_2, poppy.replay_3 "
	    "IN ACCESS SHARE MODE"), PF_OK, "tables are held");
	now = pf_mono_ms();
	tap_is(sql_number("SELECT emptied FROM poppy_api.replay_rotate()"), 0,
	    "nothing is emptied then");
	tap_ok(pf_mono_ms() - now < 2000, "... after %lld ms",
	    (long long)(pf_mono_ms() - now));
	pf_db_free(holder);
}

/* Until WAL is flushed, what was committed asynchronously is not on disk. */
static int64_t
flushed(void)
{
	return sql_number("SELECT "
	    "(pg_current_wal_flush_lsn() - '0/0')::bigint");
}

static int
moves(int64_t *before)
{
	int64_t now = flushed();
	int moved = now != *before;

	*before = now;
	return moved;
}

/* A crash: Sessions may be lost, agents' documents not, replay memory is. */
static void
crash(void)
{
	struct sql_session s, kept;
	struct sql_use u, old;
	struct pf_db *auth, *guard;
	int64_t at;

	pg_sql("ALTER SYSTEM SET wal_writer_delay = '10s'");
	pg_sql("ALTER SYSTEM SET autovacuum = off");
	tap_need(pg_cluster("stop", "fast") == 0 &&
	    pg_cluster("start", "") == 0, "restart");
	auth = sql_open(sql_auth);
	guard = sql_open(sql_guard);
	kept = sql_session(client);
	(void)sql_is(sql_call(auth, &sql_arena, &kept), "ok", "a Session");
	old = sql_use(&kept);
	(void)sql_is(sql_ask(guard, &sql_arena, &old), "ok", "a proof spent");
	/* Durable, and so is all that was before. */
	at = flushed();
	(void)sql_client("https://durable.example/c");
	tap_ok(moves(&at), "client_store is on disk when it returns");
	s = sql_session(client);
	(void)sql_is(sql_call(auth, &sql_arena, &s), "ok", "a Session more");
	tap_ok(!moves(&at), "session_start does not wait for the disk");
	u = sql_use(&s);
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "ok", "its token works");
	tap_ok(!moves(&at), "nor does token_use");
	tap_need(pg_cluster("stop", "immediate") == 0 &&
	    pg_cluster("start", "") == 0, "crash");

	tap_is(sql_number("SELECT count(*) FROM poppy.client "
	    "WHERE client_id = 'https://durable.example/c'"), 1,
	    "the durable is there");
	tap_is(sql_number("SELECT count(*) FROM poppy.replay_epoch"), 0,
	    "the memory is empty, and knows");
	(void)usleep(150000);
	(void)sql_is(sql_ask(guard, &sql_arena, &old), "epoch",
	    "a proof from before the crash, spent or not");
	tap_ok(old.retry_s > 0 && old.retry_s <= 12, "... retry in %lld s",
	    (long long)old.retry_s);
	s = sql_session(client);
	(void)sql_is(sql_call(auth, &sql_arena, &s), "epoch", "a start too");
	tap_ok(s.retry_s > 0 && s.retry_s <= 32, "... retry in %lld s",
	    (long long)s.retry_s);
	for (int i = 0; i < 3; i++)
		s.iat[i] = pf_now_at() + 32;
	(void)sql_is(sql_call(auth, &sql_arena, &s), "ok",
	    "what was signed later passes");
	u = sql_use(&s);
	u.iat = pf_now_at() + 12;
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "ok", "a proof as well");
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "replay", "... once");
	pf_db_free(auth);
	pf_db_free(guard);
}

int
main(void)
{
	sql_start();
	client = sql_client("https://a.example/c");
	across();
	race_uses("the same proof at once", false);
	race_uses("the same jti on both sides of a border", true);
	race_starts();
	rotates();
	crash();
	pf_arena_free(&sql_arena);
	return tap_done();
}
