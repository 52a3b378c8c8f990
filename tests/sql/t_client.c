/*
 * The cache of agents' documents: one fetch for all who ask, stale copies while
 * a host is away, failures that are remembered and bounded.
 */
#include "config.h"

#include "tests/sql/sql.h"

#define ID "https://agent.example/client"

static struct pf_db *db;

struct got {
	char outcome[16];
	int64_t client_no, version, fresh_s;
	bool copy;
	char failure[300];
};

static struct got
get(const char *id, bool claim, bool force)
{
	static const struct pf_stmt ST = {
		"client_get",
		"SELECT outcome, client_no, version, metadata, jwks, fresh_s, "
		"failure FROM poppy_api.client_get($1, $2, $3)"
	};
	const struct pf_param v[] = {
		PF_TEXT(pf_str(id)), PF_BOOL(claim), PF_BOOL(force)
	};
	struct got g = { { 0 }, 0, 0, 0, false, { 0 } };
	struct pf_row r;
	enum pf_rc rc;

	rc = pf_db_one(db, &sql_arena, &ST, v, PF_COUNT(v), &r);
	(void)snprintf(g.outcome, sizeof(g.outcome), "%s", pf_rc_name(rc));
	if (rc != PF_OK)
		return g;
	(void)snprintf(g.outcome, sizeof(g.outcome), "%.*s",
	    PF_STRF(pf_row_str(&r, 0)));
	g.client_no = pf_row_int(&r, 1);
	g.version = pf_row_int(&r, 2);
	g.copy = !pf_row_null(&r, 3) && !pf_row_null(&r, 4);
	g.fresh_s = pf_row_int(&r, 5);
	(void)snprintf(g.failure, sizeof(g.failure), "%.*s",
	    PF_STRF(pf_row_str(&r, 6)));
	return g;
}

static void
got_is(struct got g, const char *want, bool copy, const char *why)
{
	(void)sql_is(g.outcome, want, "%s", why);
	tap_is(g.copy, copy, "... %s copy", copy ? "with a" : "without a");
}

static int64_t
store(const char *id, const char *jwks, int fresh_s, int stale_s, char *outcome)
{
	static const struct pf_stmt ST = {
		"client_store",
		"SELECT outcome, version FROM "
		"poppy_api.client_store($1, '{}', $2, $3, $4)"
	};
	const struct pf_param v[] = {
		PF_TEXT(pf_str(id)), PF_TEXT(pf_str(jwks)), PF_INT4(fresh_s),
		PF_INT4(stale_s)
	};
	struct pf_row r;

	tap_need(pf_db_one(db, &sql_arena, &ST, v, PF_COUNT(v), &r) == PF_OK,
	    "client_store");
	(void)snprintf(outcome, 16, "%.*s", PF_STRF(pf_row_str(&r, 0)));
	return pf_row_int(&r, 1);
}

static struct got
fail_(const char *id, const char *why, bool transient, int retry_s)
{
	static const struct pf_stmt ST = {
		"client_fail",
		"SELECT outcome, client_no, version, metadata, jwks FROM "
		"poppy_api.client_fail($1, $2, $3, $4)"
	};
	const struct pf_param v[] = {
		PF_TEXT(pf_str(id)), PF_TEXT(pf_str(why)), PF_BOOL(transient),
		PF_INT4(retry_s)
	};
	struct got g = { { 0 }, 0, 0, 0, false, { 0 } };
	struct pf_row r;

	tap_need(pf_db_one(db, &sql_arena, &ST, v, PF_COUNT(v), &r) == PF_OK,
	    "client_fail");
	(void)snprintf(g.outcome, sizeof(g.outcome), "%.*s",
	    PF_STRF(pf_row_str(&r, 0)));
	g.version = pf_row_int(&r, 2);
	g.copy = !pf_row_null(&r, 3) && !pf_row_null(&r, 4);
	return g;
}

/* Let time pass for one client: all its times lie s earlier. */
static void
later(int s)
{
	char text[600];

	(void)snprintf(text, sizeof(text), "UPDATE poppy.client SET "
	    "fresh_until = fresh_until - %d, stale_until = stale_until - %d, "
	    "failed_until = failed_until - %d, "
	    "claimed_until = claimed_until - %d, "
	    "refetch_after = refetch_after - %d;"
	    "UPDATE poppy.client_failure SET failed_until = failed_until - %d,"
	    "claimed_until = claimed_until - %d", s, s, s, s, s, s, s);
	pg_sql(text);
}

static void
unseen(void)
{
	char longest[2100], outcome[16];
	struct got g;

	got_is(get(ID, false, false), "fetch", false,
	    "never seen, only looked");
	got_is(get(ID, true, false), "fetch", false, "the first one fetches");
	got_is(get(ID, true, false), "wait", false, "the second waits");
	got_is(get(ID, false, false), "wait", false, "so it looks, too");
	got_is(get(ID, true, true), "wait", false, "force changes nothing");
	later(8);
	got_is(get(ID, true, false), "fetch", false,
	    "a claim that nobody kept is free after 8 s");
	got_is(fail_(ID, "404", false, 60), "failed", false, "it failed");
	g = get(ID, true, true);
	got_is(g, "failed", false, "the failure is remembered");
	(void)sql_is(g.failure, "404", "... and why");
	later(60);
	got_is(get(ID, true, false), "fetch", false, "after retry_s anew");
	tap_is(store(ID, "k1", 300, 600, outcome), 1, "stored: version 1");
	(void)sql_is(outcome, "ok", "stored");
	tap_is(sql_number("SELECT count(*) FROM poppy.client_failure"), 0,
	    "no failure is left");

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	g = get(longest, true, false);
	got_is(g, "failed", false, "a client_id over 2048 bytes");
	got_is(fail_(longest, "x", false, 60), "failed", false, "... fails");
	tap_is(sql_number("SELECT count(*) FROM poppy.client_failure"), 0,
	    "... and takes no row");
}

static void
copies(void)
{
	char outcome[16];
	struct got g;

	g = get(ID, true, false);
	got_is(g, "fresh", true, "a fresh copy");
	tap_ok(g.fresh_s > 290 && g.fresh_s <= 300, "fresh_s");
	tap_is(store(ID, "k1", 300, 600, outcome), 1,
	    "the same documents: the same version");
	tap_is(store(ID, "k2", 300, 600, outcome), 2, "other keys: the next");
	tap_is(store(ID, "k2", 1, 600, outcome), 2, "no freshness under 60 s");
	tap_ok(get(ID, false, false).fresh_s >= 59, "... but 60");
	(void)store(ID, "k2", 1 << 30, 1 << 30, outcome);
	tap_ok(get(ID, false, false).fresh_s <= 86400, "none over a day");

	/* Refetch on suspicion. */
	got_is(get(ID, false, true), "fetch", true, "force, only looked");
	got_is(get(ID, false, true), "fetch", true, "... claims nothing");
	got_is(get(ID, true, true), "fetch", true, "force: granted");
	got_is(get(ID, false, true), "wait", true, "... who looks sees it");
	got_is(get(ID, true, true), "wait", true, "... once: others wait");
	later(29);
	got_is(get(ID, true, true), "fresh", true, "... in 30 s");
	later(1);
	got_is(get(ID, true, true), "fetch", true, "then again");
	got_is(fail_(ID, "timeout", true, 60), "stale", true,
	    "a refetch that failed harms nobody");
	got_is(get(ID, true, false), "fresh", true, "... the copy is fresh");
}

static void
stale(void)
{
	char outcome[16];
	struct got g;

	(void)store(ID, "k2", 300, 600, outcome);
	later(301);
	got_is(get(ID, true, false), "fetch", true, "stale: one fetches");
	got_is(get(ID, true, false), "wait", true, "the others have the copy");
	later(8);
	got_is(get(ID, true, false), "fetch", true, "the claim lasts 8 s");
	got_is(fail_(ID, "timeout", true, 60), "stale", true,
	    "the host is away: the copy serves");
	g = get(ID, true, false);
	got_is(g, "fresh", true, "... for all, till the next try");
	tap_ok(g.fresh_s > 50 && g.fresh_s <= 60, "... in %lld s",
	    (long long)g.fresh_s);
	later(600);
	got_is(get(ID, true, false), "fetch", false, "too old to serve");
	g = fail_(ID, "timeout", true, 60);
	got_is(g, "failed", false, "the host is still away");
	got_is(get(ID, true, false), "failed", false, "... and that is known");

	(void)store(ID, "k2", 300, 600, outcome);
	got_is(get(ID, true, true), "fetch", true, "forced while fresh");
	got_is(fail_(ID, "404", false, 60), "stale", true,
	    "a 404 leaves a fresh copy");
	later(301);
	got_is(get(ID, true, false), "fetch", false, "... till it expires");
	got_is(fail_(ID, "timeout", true, 60), "failed", false,
	    "... and no network error revives it");
}

/* A claim that is given back, since its holder had no room for the fetch. */
static void
given_back(void)
{
	char outcome[16];

	got_is(get("https://n.example/a", true, false), "fetch", false, "new");
	got_is(fail_("https://n.example/a", "x", true, 0), "failed", false,
	    "given back");
	got_is(get("https://n.example/a", true, false), "wait", false,
	    "... no failure is held against it");
	later(2);
	got_is(get("https://n.example/a", true, false), "fetch", false,
	    "... and after 2 s somebody else may fetch");
	got_is(fail_("https://m.example/a", "x", true, 0), "failed", false,
	    "one that nobody claimed");
	got_is(get("https://m.example/a", true, false), "fetch", false,
	    "... stays unseen");
	(void)store(ID, "k2", 300, 600, outcome);
	got_is(get(ID, true, true), "fetch", true, "forced while fresh");
	got_is(fail_(ID, "x", true, 0), "stale", true, "given back");
	later(2);
	got_is(get(ID, true, true), "fetch", true,
	    "... force may be asked for again");
	(void)store(ID, "k2", 300, 600, outcome);
	later(301);
	got_is(get(ID, true, false), "fetch", true, "stale: one fetches");
	got_is(fail_(ID, "x", false, 0), "stale", true, "given back");
	later(2);
	got_is(get(ID, true, false), "fetch", true,
	    "... the copy is neither fresh nor failed");
	pg_sql("DELETE FROM poppy.client_failure");
}

static void
blocked(void)
{
	char outcome[16];

	(void)store(ID, "k2", 300, 600, outcome);
	pg_sql("UPDATE poppy.client SET status = 'blocked'");
	got_is(get(ID, true, true), "blocked", false, "blocked");
	(void)store(ID, "k3", 300, 600, outcome);
	(void)sql_is(outcome, "blocked", "nothing is stored");
	got_is(fail_(ID, "x", true, 60), "failed", false, "nothing serves");
	pg_sql("UPDATE poppy.client SET status = 'known'");
	got_is(get(ID, true, false), "fresh", true, "unblocked: as before");
}

/* How many went of those not fetched for so long. */
static int64_t
cleaned(int days)
{
	struct pf_param v[] = { PF_INT4(10), PF_INT8(days * 86400) };
	static const struct pf_stmt ST = {
		"clean_clients", "SELECT poppy_api.clean_clients($1, $2)"
	};
	struct pf_row r;

	tap_need(pf_db_one(db, &sql_arena, &ST, v, PF_COUNT(v), &r) == PF_OK,
	    "clean_clients");
	return pf_row_int(&r, 0);
}

static bool
there(const char *name)
{
	return sql_number("SELECT count(*) FROM poppy.client WHERE client_id "
	    "= 'https://old.example/%s'", name) == 1;
}

/* Agents that don't come back go, unless something still names them. */
static void
cleans(void)
{
	char outcome[16];

	pg_sql("INSERT INTO poppy.client (client_id, fetched_at, first_at, "
	    "status, allowed, version) SELECT 'https://old.example/' || n, "
	    "poppy.now_at() - d * 86400, 0, s, a, 1 FROM (VALUES "
	    "('gone', 401, 'known', false), ('back', 399, 'known', false), "
	    "('block', 999, 'blocked', false), ('allow', 999, 'known', true), "
	    "('session', 999, 'known', false), ('ended', 999, 'known', false)"
	    ") v (n, d, s, a)");
	pg_sql("INSERT INTO poppy.client (client_id, first_at) VALUES "
	    "('https://old.example/new', poppy.now_at() - 399 * 86400)");
	pg_sql("INSERT INTO poppy.session (bucket, sid, client_no, user_key, "
	    "started_at, used_at, ends_at, ended_at) SELECT 7, "
	    "substr(sha256(client_id::bytea), 1, 16), client_no, "
	    "sha256('u'), 0, 0, 9999999999, CASE WHEN client_id LIKE '%ended' "
	    "THEN 0 END FROM poppy.client WHERE client_id LIKE '%/session' OR "
	    "client_id LIKE '%/ended'");
	tap_is(cleaned(1000), 0, "none is as old as that");
	tap_is(cleaned(400), 1, "one that came back never");
	tap_ok(!there("gone"), "... is gone");
	tap_ok(there("back"), "one that was here a little later stays");
	tap_ok(there("new"), "one that was never fetched counts from its start");
	tap_ok(there("block") && there("allow"), "so do those of a rule");
	tap_ok(there("session"), "one with a Session");
	tap_ok(there("ended"), "... and one whose Session's row is still there");
	pg_sql("DELETE FROM poppy.session WHERE ended_at = 0");
	tap_is(cleaned(400), 1, "until clean() has taken that");
	tap_ok(!there("ended"), "... then it goes");
	(void)store("https://old.example/gone", "k", 300, 600, outcome);
	(void)sql_is(outcome, "ok", "who comes back after all is known again");
	tap_ok(there("gone"), "... as a new one");

	pg_sql("INSERT INTO poppy.client (client_id) SELECT "
	    "'https://many.example/' || i FROM generate_series(1, 12) i");
	tap_is(cleaned(0), 10, "a call is bounded");
	tap_is(cleaned(0), 2 + 2, "... the next goes on");
	tap_ok(!there("back") && !there("new"), "... with younger ones");
	tap_ok(there("gone"), "who was here this week never goes");
	pg_sql("INSERT INTO poppy.doctor SELECT id, client_id, '', '', t FROM ("
	    "SELECT i, repeat(i::text, 22) AS id, 'https://old.example/poppy/"
	    "doctor/' || repeat(i::text, 22) || '.json' AS client_id, "
	    "i * 9999999999 AS t FROM generate_series(0, 1) i) d;"
	    "INSERT INTO poppy.client (client_id, allowed) "
	    "SELECT client_id, true FROM poppy.doctor");
	tap_is(cleaned(400), 0, "agents of poppyctl doctor");
	tap_is(sql_number("SELECT count(*) FROM poppy.client c JOIN "
	    "poppy.doctor d USING (client_id) WHERE expires_at > 0"), 1,
	    "... stay for their hour");
	tap_is(sql_number("SELECT count(*) FROM poppy.client WHERE client_id "
	    "LIKE '%%/poppy/doctor/%%'"), 1, "... and go then");
	pg_sql("DELETE FROM poppy.doctor; DELETE FROM poppy.session; "
	    "DELETE FROM poppy.client WHERE client_id LIKE '%.example/%' AND "
	    "client_id <> '" ID "'");
}

/* Two at once: one works, the other leaves it to that. */
static void
cleans_alone(void)
{
	struct pf_db *su = sql_open(pg.conninfo);
	static const struct pf_stmt LOCK = {
		"lock", "SELECT 1 FROM (SELECT pg_advisory_lock(20480, 3)) l"
	};
	struct pf_row r;

	pg_sql("INSERT INTO poppy.client (client_id) VALUES "
	    "('https://old.example/a')");
	tap_need(pf_db_one(su, &sql_arena, &LOCK, NULL, 0, &r) == PF_OK,
	    "lock");
	tap_is(cleaned(400), 0, "another one is at it");
	pf_db_free(su);
	for (int i = 0; i < 100 && there("a"); i++) {
		(void)cleaned(400);
		(void)usleep(10000);
	}
	tap_ok(!there("a"), "... and when it is done");
}

/* Anybody can invent client_ids; only so many are remembered. */
static void
bounded(void)
{
	pg_sql("DO $$ BEGIN FOR i IN 1..10100 LOOP "
	    "PERFORM poppy_api.client_get('https://' || i, true, false); "
	    "END LOOP; END $$");
	tap_is(sql_number("SELECT count(*) FROM poppy.client_failure"), 10000,
	    "10,000 failures at most");
	got_is(get("https://1", true, false), "fetch", false,
	    "the oldest went");
	got_is(get("https://10100", true, false), "wait", false,
	    "the youngest stayed");
	tap_is(sql_number("SELECT count(*) FROM poppy.client"), 1,
	    "known clients are not touched");
}

int
main(void)
{
	sql_start();
	db = sql_open(sql_auth);
	unseen();
	copies();
	stale();
	given_back();
	blocked();
	cleans();
	cleans_alone();
	bounded();
	pf_db_free(db);
	pf_arena_free(&sql_arena);
	return tap_done();
}
