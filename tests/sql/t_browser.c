/*
 * Browsers that join a Session, and what their cookies stand for: every outcome,
 * that anything but 'ok' spends and writes nothing, and that a cookie follows
 * its Session at once.
 */
#include "config.h"

#include "tests/sql/signin.h"

#define JOINED	"ok - 2592000 -"
#define OUT	"ok 1 - () false"
#define IN	"ok 1 1 (poppy:read poppy:write) true"
#define READ	"ok 1 1 (poppy:read) true"
#define ENDED	"ended - - - -"
#define UNKNOWN	"unknown - - - -"
#define BLOCKED	"blocked - - - -"

static void
joins(const char *sql, const char *why)
{
	(void)si_by(browser, sql, JOINED, why);
}

static void
cookie(const char *word, const char *want, const char *why)
{
	char sql[200];

	(void)snprintf(sql, sizeof(sql), "SELECT t.cookie('%s')", word);
	(void)si_by(guard, sql, want, why);
}

/* Refused so; nothing is spent, nothing joins, no Session moves. */
static void
refused(const char *sql, const char *want, const char *why)
{
	static const char sum[] = "SELECT " SI_SPENT " + (SELECT count(*) FROM "
	    "poppy.browser) + (SELECT coalesce(sum(used_at + ends_at), 0) "
	    "FROM poppy.session)::bigint";
	int64_t before = sql_number(sum);

	(void)si_by(browser, sql, want, why);
	tap_is(sql_number(sum) - before, 0, "... and nothing is written");
}

static int64_t
audits(const char *kind)
{
	return sql_number("SELECT count(*) FROM poppy.audit WHERE kind = '%s' "
	    "AND sid = t.sid('s')", kind);
}

static void
join_once(void)
{
	si_need("SELECT t.start('s')", "ok");
	pg_sql("UPDATE poppy.session SET used_at = used_at - 5000, "
	    "started_at = started_at - 5000, ends_at = ends_at - 5000");
	joins("SELECT t.join('s', 'c')", "a browser joins");
	tap_ok(sql_number("SELECT used_at FROM poppy.session") >=
	    pf_now_at() - 5, "... which counts as a use of the Session");
	tap_is(audits("browser_joined"), 1, "... and is in the audit");
	tap_is(sql_number("SELECT count(*) FROM poppy.browser "
	    "WHERE hash = sha256('c') AND bucket = 7"), 1,
	    "... the hash is kept, in the Session's bucket");
	cookie("c", OUT, "its cookie is a signed-out Session");
	(void)si_by(guard, "SELECT t.say(client_id, (sid = t.sid('s'))::text, "
	    "(user_key = t.h('u'))::text, client_name, grant_no::text) FROM "
	    "poppy_api.cookie_use(7, t.h('c'), 2592000, 15552000, NULL)",
	    "https://a.example/c true true - -", "... with all that it says");
	(void)si_by(browser, "SELECT t.join('s', 'c2', max_s => 6000)",
	    "ok - 1000 -", "no longer than the Session may be");
	cookie("c", UNKNOWN, "... and then the first cookie is dead");
	cookie("c2", OUT, "... and the second lives");
	joins("SELECT t.join('s', 'c3', per_session => 2)", "two may be");
	cookie("c2", OUT, "... so that both live");
	joins("SELECT t.join('s', 'c4', per_session => 2)", "a third");
	cookie("c2", UNKNOWN, "... takes the oldest's place");
	cookie("c3", OUT, "... and no other");
	joins("SELECT t.join('s', 'c5', per_session => 4)", "more may be");
	joins("SELECT t.join('s', 'c')", "one again");
	tap_is(sql_number("SELECT count(*) FROM poppy.browser"), 1,
	    "... and the others are gone");
	si_need("SELECT t.start('s2', bucket => 7)", "ok");
	joins("SELECT t.join('s2', 'd')", "another Session's browser");
	cookie("c", OUT, "... takes nobody else's place");
}

static void
join_refusals(void)
{
	refused("SELECT t.join('s', 'x', version => 2)", "stale - - -",
	    "documents of another version");
	refused("SELECT t.join('s', 'x', client => 999)", "stale - - -",
	    "a client that is not there");
	refused("SELECT t.join('no', 'x')", "invalid_session - - -",
	    "an unknown Session");
	refused("SELECT t.join('s', 'x', bucket => 8)",
	    "invalid_session - - -", "another bucket");
	refused("SELECT t.join('s', 'x', bucket => 4096)",
	    "invalid_session - - -", "no bucket at all");
	refused("SELECT t.join('s', 'x', usr => 'v')",
	    "invalid_session - - -", "another User");
	refused("SELECT t.join('s', 'x', client => 2)",
	    "invalid_session - - -", "another client");
	tap_is(audits("invalid_session"), 4, "all are in the audit");
	refused("SELECT t.join(NULL, 'x')", "invalid_session - - -",
	    "no Session");
	refused("SELECT t.join('s', 'x', idle_s => 0)",
	    "invalid_session - - -", "idle too long");
	refused("SELECT t.join('s', 'x', max_s => 100)",
	    "invalid_session - - -", "too old");
	refused("SELECT t.join('s', 'x', iat => t.now() - 800)",
	    "clock - - 1", "an iat too old for the memory");
	refused("SELECT t.join('s', 'x', iat => t.now() + 130)",
	    "clock - - 1", "an iat too far ahead");
	joins("SELECT t.join('s', 'once', spend => t.sid('jti'))",
	    "an assertion");
	refused("SELECT t.join('s', 'x', spend => t.sid('jti'))",
	    "replay 1 - -", "... again");
	refused("SELECT t.join('s2', 'x', spend => t.sid('jti'))",
	    "replay 1 - -", "... for another Session");
	tap_is(audits("replay"), 1, "... is in the audit");
	cookie("once", OUT, "... and the first one's cookie lives");
	refused("SELECT t.join('no', 'x', spend => t.sid('jti'))",
	    "invalid_session - - -", "... spent is asked last");
	pg_sql("UPDATE poppy.session SET ended_at = used_at "
	    "WHERE sid = t.sid('s2')");
	refused("SELECT t.join('s2', 'x')", "invalid_session - - -",
	    "a Session that was ended");
	pg_sql("UPDATE poppy.client SET status = 'blocked' "
	    "WHERE client_no = 1");
	refused("SELECT t.join('s', 'x')", "blocked - - -", "a blocked client");
	refused("SELECT t.join('s', 'x', version => 9)", "blocked - - -",
	    "... by any documents");
	pg_sql("UPDATE poppy.client SET status = 'known', version = 1");
	pg_sql("UPDATE poppy.replay_epoch SET since = t.now()");
	refused("SELECT t.join('s', 'x')", "epoch - - 1",
	    "a replay memory that is too young");
	pg_sql("UPDATE poppy.replay_epoch SET since = 0");
}

/* What no program of ours sends. */
static void
join_faults(void)
{
	static const struct { const char *what, *arg; } of[] = {
		{ "no User", "usr => NULL" },
		{ "no cookie at all", "per_session => 0" },
		{ "an unknown number of cookies", "per_session => NULL" },
		{ "fewer than none", "per_session => -1" },
		{ "nothing to spend", "spend => NULL" },
		{ "a key of another size", "spend => '\\x00'" },
		{ "no iat", "iat => NULL" },
		{ "a bucket out of range", "bucket => 99999" },
		{ "no lifetime", "idle_s => NULL" },
	};
	char sql[200], got[SI_TEXT];
	int64_t before = sql_number("SELECT count(*) FROM poppy.browser");

	for (size_t i = 0; i < PF_COUNT(of); i++) {
		(void)snprintf(sql, sizeof(sql),
		    "SELECT t.join('s', 'f', %s)", of[i].arg);
		si_call(browser, sql, got);
		tap_ok(strncmp(got, "ok", 2) != 0, "%s: %.60s", of[i].what,
		    got);
	}
	si_call(browser, "SELECT t.join('s', NULL)", got);
	tap_ok(strncmp(got, "ok", 2) != 0, "no cookie's hash: %.60s", got);
	tap_is(sql_number("SELECT count(*) FROM poppy.browser") - before, 0,
	    "none of them joined");
	cookie("once", OUT, "... nor took the place of one that did");
}

static void
limits(void)
{
	joins("SELECT t.join('s', 'l1', per_address => 2)", "limits: one");
	joins("SELECT t.join('s', 'l2', per_address => 2)", "... two");
	refused("SELECT t.join('s', 'l3', per_address => 2)",
	    "limit_address - - 1", "... and one too many of an address");
	cookie("l2", OUT, "... takes nobody's place");
	joins("SELECT t.join('s', 'l4', per_client => 1)",
	    "the client's first");
	refused("SELECT t.join('s', 'l5', per_client => 1)",
	    "limit_client - - 1", "... and its second");
	tap_is(sql_number("SELECT count(*) FROM poppy.limit_count "
	    "WHERE kind NOT IN (12, 13)"), 0, "counted apart from all else");
	joins("SELECT t.join('s', 'c')", "no limit");
}

static void
looks(void)
{
	static const struct { const char *args, *want, *why; } of[] = {
		{ "'s'", "true", "a live Session" },
		{ "'no'", "false", "an unknown one" },
		{ "NULL", "false", "none" },
		{ "'s', usr => 'v'", "false", "another User's" },
		{ "'s', usr => NULL", "false", "nobody's" },
		{ "'s', 'https://b.example/c'", "false", "another client's" },
		{ "'s', 'https://a.example/C'", "false", "in other letters" },
		{ "'s', 'https://z.example/c'", "false", "an unknown client" },
		{ "'s', NULL", "false", "no client" },
		{ "'s', bucket => 8", "false", "another bucket" },
		{ "'s', idle_s => 0", "false", "idle too long" },
		{ "'s', max_s => 0", "false", "too old" },
		{ "'s2'", "false", "one that was ended" },
	};
	char sql[200];

	for (size_t i = 0; i < PF_COUNT(of); i++) {
		(void)snprintf(sql, sizeof(sql), "SELECT t.look(%s)",
		    of[i].args);
		(void)si_by(browser, sql, of[i].want, of[i].why);
	}
	pg_sql("UPDATE poppy.client SET status = 'blocked' "
	    "WHERE client_no = 1");
	(void)si_by(browser, "SELECT t.look('s')", "false",
	    "of a blocked client");
	pg_sql("UPDATE poppy.client SET status = 'known', version = 1");
}

/* Signed in and out by grants while the browser keeps its cookie. */
static void
follows(void)
{
	si_need("SELECT t.sign_in('s', 'g1')", "ok");
	cookie("c", IN, "signed in");
	(void)si_by(guard, "SELECT (grant_no = (SELECT max(grant_no) FROM "
	    "poppy_api.cookie_use(7, t.h('c'), 99999, 999999, NULL)))::text "
	    "FROM poppy_api.cookie_use(7, t.h('c'), 99999, 999999, NULL)",
	    "true", "... with its grant's number");
	si_need("SELECT split_part(t.refresh('g1', 's', scopes => "
	    "'poppy:read'), ' ', 1)", "ok");
	cookie("c", IN, "a narrowed token narrows no page");
	si_need("SELECT t.sign_in('s', 'g2', scopes => 'poppy:read')", "ok");
	cookie("c", READ, "the newest grant decides, though it has less");
	si_need("SELECT split_part(t.refresh('g1', 's'), ' ', 1)", "ok");
	cookie("c", READ, "... whatever older ones are used for");
	si_need("SELECT t.revoke('g2')", "ok");
	cookie("c", IN, "it is revoked: the one before decides");
	si_need("SELECT t.sign_in('s', 'g3', resource => 'https://m/')",
	    "ok");
	cookie("c", IN, "a grant for one service alone is none for pages");
	pg_sql("UPDATE poppy.grants SET expires_at = t.now() "
	    "WHERE resource IS NULL");
	cookie("c", OUT, "the last one is over: signed out");
	si_need("SELECT t.sign_in('s', 'g4')", "ok");
	cookie("c", IN, "signed in again");
	si_need("SELECT t.sign_in('other', 'g5', scopes => 'poppy:read')",
	    "ok");
	cookie("c", IN, "another Session's grant is not this one's");
	si_need("SELECT t.revoke('g4')", "ok");
	cookie("c", OUT, "signed out at once");
	si_need("SELECT t.sign_in('s', 'g6')", "ok");
	(void)si_shop("SELECT n::text FROM poppy_api.customer_end('1', 'x')",
	    "4", "the shop ends all of a customer's sign-ins");
	cookie("c", OUT, "... and the browser is signed out");
}

static void
dead_cookies(void)
{
	cookie("never", UNKNOWN, "a cookie that nobody was given");
	(void)si_by(guard, "SELECT t.cookie('c', 8)", UNKNOWN,
	    "another bucket");
	(void)si_by(guard, "SELECT t.cookie('c', 4096 + 7)", UNKNOWN,
	    "a bucket out of range");
	(void)si_by(guard, "SELECT t.cookie(NULL)", UNKNOWN, "no cookie");
	(void)si_by(guard, "SELECT t.cookie('c', NULL)", UNKNOWN, "no bucket");
	(void)si_by(guard, "SELECT t.cookie('c', idle_s => 0)", ENDED,
	    "idle too long");
	(void)si_by(guard, "SELECT t.cookie('c', max_s => 0)", ENDED,
	    "too old");
	(void)si_by(guard, "SELECT t.cookie('c', NULL, NULL, NULL)", UNKNOWN,
	    "nothing at all");
	(void)si_by(guard, "SELECT t.cookie('c', idle_s => NULL)", ENDED,
	    "no lifetime");
	pg_sql("UPDATE poppy.client SET status = 'blocked' "
	    "WHERE client_no = 1");
	cookie("c", BLOCKED, "the client was blocked");
	tap_is(sql_number("SELECT count(*) FROM poppy.audit WHERE kind = "
	    "'blocked' AND detail = 'cookie' AND sid = t.sid('s')"), 1,
	    "... which is in the audit");
	pg_sql("UPDATE poppy.client SET status = 'known', version = 1");
	cookie("c", OUT, "... and unblocked");
	pg_sql("UPDATE poppy.session SET ended_at = t.now() "
	    "WHERE sid = t.sid('s')");
	cookie("c", ENDED, "the Session was ended");
	pg_sql("UPDATE poppy.session SET ended_at = NULL");
	si_need("SELECT t.sign_in('s', 'e1')", "ok");
	(void)si_shop("SELECT sessions::text FROM "
	    "poppy_api.customer_erase('1')", "2", "the customer is erased");
	cookie("c", UNKNOWN, "... with the cookies of those Sessions");
	tap_is(sql_number("SELECT count(*) FROM poppy.browser "
	    "WHERE sid = t.sid('s')"), 0, "... really");
}

/* Pages keep a Session alive, and write so once an hour. */
static void
last_use(void)
{
	si_need("SELECT t.start('k') || t.start('k2')", "okok");
	pg_sql("UPDATE poppy.session SET used_at = 1 "
	    "WHERE sid = t.sid('k2')");
	joins("SELECT t.join('k', 'k')", "a Session");
	pg_sql("UPDATE poppy.session SET used_at = used_at - 3500, "
	    "ends_at = ends_at - 3500 WHERE sid = t.sid('k')");
	cookie("k", OUT, "used less than an hour ago");
	tap_ok(sql_number("SELECT used_at FROM poppy.session "
	    "WHERE sid = t.sid('k')") <= pf_now_at() - 3500,
	    "... writes nothing");
	pg_sql("UPDATE poppy.session SET used_at = used_at - 200, "
	    "ends_at = ends_at - 200 WHERE sid = t.sid('k')");
	(void)si_by(guard, "SELECT t.cookie('k', idle_s => 60)", ENDED,
	    "over by these settings");
	tap_ok(sql_number("SELECT used_at FROM poppy.session "
	    "WHERE sid = t.sid('k')") <= pf_now_at() - 3600,
	    "... writes nothing either");
	cookie("k", OUT, "used more than an hour ago");
	tap_ok(sql_number("SELECT used_at FROM poppy.session "
	    "WHERE sid = t.sid('k')") >= pf_now_at() - 5, "... writes it");
	tap_is(sql_number("SELECT used_at FROM poppy.session "
	    "WHERE sid = t.sid('k2')"), 1, "... and nobody else's");
	tap_ok(sql_number("SELECT ends_at - used_at FROM poppy.session "
	    "WHERE sid = t.sid('k')") == IDLE_S, "... and when it ends");
	pg_sql("UPDATE poppy.session SET used_at = used_at - 400, "
	    "ends_at = ends_at - 400 WHERE sid = t.sid('k')");
	(void)si_by(guard, "SELECT t.cookie('k', idle_s => 600)", OUT,
	    "a Session that ends soon");
	tap_ok(sql_number("SELECT used_at FROM poppy.session "
	    "WHERE sid = t.sid('k')") >= pf_now_at() - 5,
	    "... is kept alive in time");
	cookie("k", OUT, "its lifetime is the usual one again");
}

/* What is over is cleaned away with its Session, and nothing else is. */
static void
cleans(void)
{
	si_need("SELECT t.start('z')", "ok");
	joins("SELECT t.join('z', 'z')", "a Session that will be over");
	pg_sql("UPDATE poppy.session SET ended_at = t.now() - 90000 "
	    "WHERE sid = t.sid('z')");
	for (int i = 0; i < 64; i++)
		(void)sql_number("SELECT sessions FROM "
		    "poppy_api.clean(100000)");
	tap_is(sql_number("SELECT count(*) FROM poppy.browser "
	    "WHERE sid = t.sid('z')"), 0, "its cookie went with it");
	cookie("k", OUT, "... and no other");
}

static void
races(void)
{
	char one[200], got[2][SI_TEXT];
	int right = 0;

	si_need("SELECT t.start('r')", "ok");
	si_race_by(si_browser, "SELECT t.join('r', 'r1', spend => "
	    "t.sid('one'))", JOINED, si_browser, "SELECT t.join('r', 'r2', "
	    "spend => t.sid('one'))", "replay 1 - -",
	    "the same assertion twice at once");
	cookie("r1", OUT, "... one has joined");
	cookie("r2", UNKNOWN, "... the other has not");
	si_race_by(si_browser, "SELECT t.join('r', 'r3')", JOINED, si_browser,
	    "SELECT t.join('r', 'r4')", JOINED, "two join at once");
	cookie("r3", UNKNOWN, "... and one of them stays");
	cookie("r4", OUT, "... the later one");
	si_race_by(pg.conninfo, "WITH t AS (UPDATE poppy.session SET ended_at "
	    "= t.now() WHERE sid = t.sid('r') RETURNING 1) SELECT 'ended'",
	    "ended", si_browser, "SELECT t.join('r', 'r5')",
	    "invalid_session - - -", "ended while one joins");
	cookie("r4", ENDED, "... no cookie of it lives");
	cookie("r5", UNKNOWN, "... and none was given");
	si_need("SELECT t.start('q')", "ok");
	si_race_by(si_browser, "SELECT t.join('q', 'q1')", JOINED, pg.conninfo,
	    "WITH t AS (UPDATE poppy.session SET ended_at = t.now() "
	    "WHERE sid = t.sid('q') RETURNING 1) SELECT 'ended'", "ended",
	    "one joins, and then it is ended");
	cookie("q1", ENDED, "... so its cookie is dead");
	for (int i = 0; i < 20; i++) {
		(void)snprintf(one, sizeof(one), "SELECT t.start('b%d')", i);
		si_need(one, "ok");
		(void)snprintf(one, sizeof(one), "SELECT t.join('b%d', 'x%d', "
		    "spend => t.sid('j%d'))", i, i, i);
		si_both_by(si_browser, one, si_browser, one, got);
		right += (strcmp(got[0], JOINED) == 0 &&
		    strcmp(got[1], "replay 1 - -") == 0) ||
		    (strcmp(got[1], JOINED) == 0 &&
		    strcmp(got[0], "replay 1 - -") == 0);
	}
	tap_is(right, 20, "two workers, one assertion: one wins each time");
}

/* The agent is blocked between a worker's look and its join. */
static void
blocks(void)
{
	si_need("SELECT t.start('bl')", "ok");
	joins("SELECT t.join('bl', 'bl')", "a browser");
	(void)si_by(browser, "SELECT t.look('bl')", "true", "a look");
	(void)sql_number("SELECT changed FROM "
	    "poppy.client_rule_set('a.example', 'block')");
	(void)si_by(browser, "SELECT t.join('bl', 'bl2')", "blocked - - -",
	    "... then blocked: no joining");
	cookie("bl", BLOCKED, "... and no cookie of it counts");
	(void)sql_number("SELECT changed FROM "
	    "poppy.client_rule_set('a.example', NULL)");
	cookie("bl", OUT, "... until it is unblocked");
}

/* One has done its part and not committed: a page neither waits for it nor
 * sees it, and sees it from the commit on. */
static void
pages_meanwhile(void)
{
	static const struct { const char *role, *call, *got, *before, *after,
	    *why; } of[] = {
		{ sql_auth, "SELECT t.revoke('po')", "ok", IN, OUT,
		    "its agent signs out" },
		{ sql_auth, "SELECT t.sign_in('po', 'po2', scopes => "
		    "'poppy:read')", "ok", OUT, READ, "it signs in" },
		{ sql_auth, "SELECT t.disconnect()", "1", READ, OUT,
		    "the customer disconnects it" },
		{ pg.conninfo, "SELECT changed::text FROM "
		    "poppy.client_rule_set('a.example', 'block')", "1", OUT,
		    BLOCKED, "the operator blocks it" },
		{ pg.conninfo, "SELECT changed::text FROM "
		    "poppy.client_rule_set('a.example', NULL)", "1", BLOCKED,
		    OUT, "... and unblocks it" },
		{ si_browser, "SELECT t.join('po', 'po2')", JOINED, OUT,
		    UNKNOWN, "another browser joins" },
	};

	pg_sql("UPDATE poppy.grants SET revoked_at = 1; "
	    "UPDATE poppy.client SET version = 1");
	si_need("SELECT t.sign_in('po', 'po')", "ok");
	joins("SELECT t.join('po', 'po')", "a browser of a signed-in Session");
	for (size_t i = 0; i < PF_COUNT(of); i++) {
		struct pf_db *db = si_open(of[i].role);
		char got[SI_TEXT];

		tap_need(pf_db_script(db, "BEGIN") == PF_OK, "BEGIN");
		si_call(db, of[i].call, got);
		(void)sql_is(got, of[i].got, "%s", of[i].why);
		cookie("po", of[i].before, "... a page before that is done");
		tap_need(pf_db_script(db, "COMMIT") == PF_OK, "COMMIT");
		cookie("po", of[i].after, "... and after");
		pf_db_free(db);
		pg_sql("UPDATE poppy.client SET version = 1");
	}
}

/* The agent is blocked by somebody who has not committed when it joins. */
static void
blocked_meanwhile(void)
{
	struct pf_db *db = si_open(pg.conninfo);
	char got[SI_TEXT];

	tap_need(pf_db_script(db, "BEGIN") == PF_OK, "BEGIN");
	si_call(db, "SELECT changed::text FROM "
	    "poppy.client_rule_set('a.example', 'block')", got);
	joins("SELECT t.join('po', 'po3')", "joined just before a block");
	tap_need(pf_db_script(db, "COMMIT") == PF_OK, "COMMIT");
	cookie("po3", BLOCKED, "... is of no use");
	pf_db_free(db);
	(void)sql_number("SELECT changed FROM "
	    "poppy.client_rule_set('a.example', NULL)");
	pg_sql("UPDATE poppy.client SET version = 1");
}

/* What may be lost in a crash, and what must not. */
static void
durability(void)
{
	(void)si_by(browser, "SELECT left(t.join('po', 'po4'), 2) || ' ' || "
	    "current_setting('synchronous_commit')", "ok off",
	    "joining waits for no disk");
	(void)si_by(guard, "SELECT left(t.cookie('po4'), 2) || ' ' || "
	    "current_setting('synchronous_commit')", "ok off",
	    "nor do pages");
	(void)si_by(bridge, "SELECT left(t.add('po', 'a'), 2) || ' ' || "
	    "current_setting('synchronous_commit')", "ok on",
	    "a cart does");
}

int
main(void)
{
	si_start();
	join_once();
	join_refusals();
	join_faults();
	limits();
	looks();
	follows();
	dead_cookies();
	last_use();
	cleans();
	races();
	blocks();
	pages_meanwhile();
	blocked_meanwhile();
	durability();
	return si_done();
}
