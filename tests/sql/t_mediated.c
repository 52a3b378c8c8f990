/*
 * Mediated Sign-In in the database: what counts as unusual, limits, one-time
 * codes.
 */
#include "config.h"

#include "tests/sql/signin.h"

#define OK	"ok poppy:read 3600 86400 ok"

static void
early(void)
{
	while (pf_now_at() % 900 > 880)
		(void)sleep(1);
}

static void
begins(void)
{
	early();
	(void)si_is("SELECT t.mediated('nobody')", "unknown - true", "nobody");
	(void)si_is("SELECT t.mediated('twice')", "unknown - true",
	    "two accounts'");
	(void)si_is("SELECT t.mediated('di')", "ok 4 true",
	    "an account not to be used: its password is still checked");
	(void)si_is("SELECT t.mediated('ann')", "ok 1 true",
	    "the first time is unusual");
	si_need("SELECT t.start('s1')", "ok");
	(void)si_is("SELECT t.finish('s1', token => 'in')", OK, "signed in");
	(void)si_use("in", "ok 1 (poppy:read) true", "... really");
	(void)si_is("SELECT t.mediated('ann')", "ok 1 false",
	    "the same client at the same address is not unusual");
	si_need("SELECT t.finish('s1')", OK);
	(void)si_is("SELECT t.mediated('ann', client => 2)", "ok 1 true",
	    "another client is");
	si_need("SELECT t.start('s2', client => 2)", "ok");
	si_need("SELECT t.finish('s2', client => 2)", OK);
	(void)si_is("SELECT t.mediated('ann', address => 'away')", "ok 1 true",
	    "another address is");
	/* that one was never finished: a failure */
	(void)si_is("SELECT t.mediated('ann')", "ok 1 true",
	    "after a failure it is");
	si_need("SELECT t.finish('s1')", OK);
	pg_sql("UPDATE poppy.limit_count SET minute = minute - 1440 "
	    "WHERE kind = 11");
	(void)si_is("SELECT t.mediated('ann')", "ok 1 true", "... tomorrow");
	si_need("SELECT t.finish('s1')", OK);
	pg_sql("UPDATE poppy.limit_count SET minute = minute - 1440 "
	    "WHERE kind = 11");
	(void)si_is("SELECT t.mediated('ann')", "ok 1 false",
	    "... not the day after");
	si_need("SELECT t.finish('s1')", OK);
}

/* A client that was shut out may still know the password. */
static void
shut_out(void)
{
	pg_sql("UPDATE poppy.grants SET created_at = created_at - 60");
	si_need("SELECT (t.disconnect(client => 1)::int > 0)::text", "true");
	(void)si_is("SELECT t.mediated('ann')", "ok 1 true",
	    "one that the customer has disconnected is unusual");
	si_need("SELECT t.finish('s1', pat => 'out')", OK);
	(void)si_is("SELECT t.mediated('ann')", "ok 1 false",
	    "... until it was let in again");
	si_need("SELECT t.revoke('out')", "ok");
	si_need("SELECT t.finish('s1')", OK);
	pg_sql("UPDATE poppy.grants SET created_at = created_at - 60 "
	    "WHERE revoked_at IS NULL OR revoked_why = 'signed_out'");
	pg_sql("DELETE FROM poppy.grants WHERE revoked_why = 'disconnected' "
	    "OR revoked_at IS NULL");
	(void)si_is("SELECT t.mediated('ann')", "ok 1 false",
	    "one that has signed out itself comes back");
	si_need("SELECT t.finish('s1')", OK);
	si_need("SELECT (t.disconnect(client => 1)::int > 0)::text", "true");
	(void)si_is("SELECT t.mediated('ann')", "ok 1 true",
	    "... but not once another of its grants was disconnected");
	si_need("SELECT t.finish('s1')", OK);
}

static void
finishes(void)
{
	si_need("SELECT t.start('s3')", "ok");
	si_refused("SELECT t.finish('s3', account => '3')",
	    "refused - - - disabled", "a disabled account");
	si_refused("SELECT t.finish('s3', account => '4')",
	    "refused - - - privileged", "a privileged one");
	si_refused("SELECT t.finish('s9')", "invalid_session - - - ok",
	    "no such Session");
	si_refused("SELECT t.finish('s3', client => 2)",
	    "invalid_session - - - ok", "another client's");
	si_refused("SELECT t.finish('s1', account => '2')",
	    "account_mismatch - - - ok", "another account's");
	pg_sql("UPDATE poppy.session SET ended_at = 1 WHERE sid = t.sid('s3')");
	si_refused("SELECT t.finish('s3')", "invalid_session - - - ok",
	    "an ended one");
	tap_is(sql_number("SELECT count(*) FROM poppy.grants WHERE kind <> "
	    "'mediated' OR address_key IS NULL"), 0, "grants know their kind");
}

static void
limits(void)
{
	early();
	pg_sql("DELETE FROM poppy.limit_count");
	for (int i = 0; i < 2; i++)
		si_need("SELECT split_part(t.mediated('bob', 2, 9, 9), ' ', 1)",
		    "ok");
	(void)si_is("SELECT t.mediated('bob', 2, 9, 9, 'away')", "limit - -",
	    "a login that has had its failures");
	(void)si_is("SELECT t.login_begin('bob', 2, 9)", "limit - - -",
	    "... on our pages, too");
	(void)si_is("SELECT split_part(t.mediated('cy', 2, 9, 3, 'away'), "
	    "' ', 1)", "ok", "another one");
	(void)si_is("SELECT t.mediated('ed', 2, 9, 3, 'away')", "limit - -",
	    "a client that has had them");
	(void)si_is("SELECT split_part(t.mediated('ed', 2, 9, 3, 'away', "
	    "client => 2), ' ', 1)", "ok", "another client has not");
	(void)si_is("SELECT t.mediated('ann', 2, 3, 9, 'away')", "limit - -",
	    "an address that has had them");
	si_need("SELECT t.start('s5')", "ok");
	si_need("SELECT t.finish('s5', login => 'bob', account => '2')", OK);
	(void)si_is("SELECT split_part(t.mediated('bob', 2, 9, 9), ' ', 1)",
	    "ok", "who was right gets it back");
	(void)si_is("SELECT t.mediated('bob', 2, 9, 9)", "limit - -",
	    "... one");
}

static void
codes(void)
{
	si_need("SELECT t.start('c1') || t.start('c2')", "okok");
	(void)si_is("SELECT t.ask('i1', 'c1')", "ok ok", "a code is asked for");
	(void)si_is("SELECT t.ask('i2', 'c1', account => '5')",
	    "refused unverified", "... not by an unverified account");
	(void)si_is("SELECT t.ask('i2', 'c9')", "invalid_session ok",
	    "... nor in no Session");
	(void)si_is("SELECT t.ask('i2', 's1', account => '2')",
	    "account_mismatch ok", "... nor in another account's");
	si_refused("SELECT t.try('nix', 'c1')", "absent - - - -", "unknown");
	si_refused("SELECT t.try('i1', 'c2')", "absent - - - -",
	    "another Session");
	si_refused("SELECT t.try('i1', 'c1', bucket => 8)", "absent - - - -",
	    "another bucket");
	(void)si_is("SELECT t.try('i1', 'c1', '000000')",
	    "code_required phone ending in 71 - - -", "wrong");
	(void)si_is("SELECT t.try('i1', 'c1', NULL)",
	    "code_required phone ending in 71 - - -", "none");
	(void)si_is("SELECT t.try('i1', 'c1', token => 'ct')",
	    "ok - poppy:read 3600 86400", "right");
	(void)si_use("ct", "ok 1 (poppy:read) true", "... signed in");
	si_refused("SELECT t.try('i1', 'c1')", "absent - - - -", "... once");

	early();
	pg_sql("DELETE FROM poppy.limit_count WHERE kind = 7");
	si_need("SELECT t.ask('i3', 'c1')", "ok ok");
	for (int i = 0; i < 2; i++)
		si_need("SELECT split_part(t.try('i3', 'c1', 'x'), ' ', 1)",
		    "code_required");
	(void)si_is("SELECT t.try('i3', 'c1', 'x')", "failed - - - -",
	    "the third wrong one");
	tap_is(sql_number("SELECT n FROM poppy.limit_count WHERE kind = 7 "
	    "AND key = t.h('login ann')"), 3,
	    "each is a failure of the login name");
	si_refused("SELECT t.try('i3', 'c1')", "failed - - - -",
	    "... and the right one comes too late");
	si_need("SELECT t.ask('i4', 'c1') || t.ask('i5', 'c1')", "ok okok ok");
	si_refused("SELECT t.try('i4', 'c1')", "failed - - - -",
	    "a later sign-in takes its place");
	pg_sql("UPDATE shop.customer SET status = 'disabled' WHERE id = 1");
	si_refused("SELECT t.try('i5', 'c1')", "failed - - - -",
	    "the account was disabled meanwhile");
	pg_sql("UPDATE shop.customer SET status = 'ok' WHERE id = 1");
	si_need("SELECT t.ask('i6', 'c1', seconds => 0)", "ok ok");
	si_refused("SELECT t.try('i6', 'c1')", "expired - - - -", "too late");
	si_need("SELECT t.ask('i7', 'c1')", "ok ok");
	(void)si_shop("SELECT (n > 0)::text FROM poppy_api.customer_end('1', "
	    "'x')", "true", "the shop ends the account's sign-ins");
	si_refused("SELECT t.try('i7', 'c1')", "failed - - - -",
	    "... with what waits for a code");
}

static void
races(void)
{
	si_need("SELECT t.start('x1') || t.start('x2')", "okok");
	si_need("SELECT t.ask('r1', 'x1')", "ok ok");
	si_race("SELECT t.try('r1', 'x1')", "ok - poppy:read 3600 86400",
	    "SELECT t.try('r1', 'x1')", "absent - - - -",
	    "one code twice at once");
	si_need("SELECT t.ask('r2', 'x1', tries => 1)", "ok ok");
	si_race("SELECT t.try('r2', 'x1', 'x')", "failed - - - -",
	    "SELECT t.try('r2', 'x1')", "failed - - - -",
	    "the last try and another at once");
	si_race("SELECT t.finish('x2')", OK,
	    "SELECT t.finish('x2', account => '2')",
	    "account_mismatch - - - ok", "two accounts on one Session");
}

int
main(void)
{
	si_start();
	begins();
	shut_out();
	finishes();
	limits();
	codes();
	races();
	return si_done();
}
