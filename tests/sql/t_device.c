/*
 * Device Sign-In in the database: codes, guesses, polls, and what they give.
 */
#include "config.h"

#include "tests/sql/signin.h"

#define OK	"ok poppy:read poppy:write 3600 86400"
#define SHOWN	"ok https://a.example/c An agent - poppy:read poppy:write"

static void
starts(void)
{
	(void)si_is("SELECT t.device('d1')", "ok", "a request");
	si_refused("SELECT t.device('d2')", "taken", "the user_code is in use");
	si_refused("SELECT t.device('d2', 'X', version => 2)", "stale",
	    "documents of another version");
	(void)si_is("SELECT t.device('d2', 'CCCCCCCC', spend => t.sid('j'))",
	    "ok", "another user_code");
	(void)si_is("SELECT t.device('d3', 'DDDDDDDD', spend => t.sid('j'))",
	    "replay", "the same assertion again");
	tap_is(sql_number("SELECT count(*) FROM poppy.device"), 2,
	    "... makes none");
	while (pf_now_at() % 60 > 50)
		(void)sleep(1);
	(void)si_is("SELECT t.device('d4', 'FFFFFFFF', per_address => 1) || "
	    "t.device('d5', 'GGGGGGGG', per_address => 1)", "oklimit_address",
	    "requests of an address are counted");
	tap_is(sql_number("SELECT count(*) FROM poppy.device"), 3,
	    "... and one too many makes none");
	pg_sql("UPDATE poppy.client SET status = 'blocked'");
	(void)si_is("SELECT t.device('d6', 'HHHHHHHH')", "blocked",
	    "a blocked client");
	pg_sql("UPDATE poppy.client SET status = 'known'");
}

static void
shows(void)
{
	(void)si_is("SELECT t.device_decide()", "absent - -",
	    "nobody has seen it");
	(void)si_is("SELECT t.device_show()", SHOWN, "shown");
	(void)si_is("SELECT t.device_show('BBBBBBBB')", "absent - - - -",
	    "unknown");
	(void)si_is("SELECT t.device_decide(account => '2')", "absent - -",
	    "an account that has not seen it");
	(void)si_is("SELECT t.device_show(account => '2')", SHOWN,
	    "it sees it, last");
	(void)si_is("SELECT t.device_decide()", "absent - -",
	    "so the first one can't decide");
	(void)si_is("SELECT t.device_show(account => '3')", SHOWN,
	    "a disabled account");
	(void)si_is("SELECT t.device_decide(account => '3')",
	    "refused - disabled", "... can't approve");
	si_need("SELECT t.device('e1', 'JJJJJJJJ', seconds => 0)", "ok");
	(void)si_is("SELECT t.device_show('JJJJJJJJ')", "absent - - - -",
	    "expired");
}

static void
guesses(void)
{
	while (pf_now_at() % 900 > 885)
		(void)sleep(1);
	for (int i = 0; i < 3; i++)
		si_need("SELECT t.device_show('BBBBBBBB', guesses => 3)",
		    "absent - - - -");
	(void)si_is("SELECT t.device_show(guesses => 3)", "limit - - - -",
	    "after three misses a right one is not told");
	(void)si_is("SELECT t.device_show(guesses => 3, address => 'b')",
	    "limit - - - -", "... from elsewhere");
	(void)si_is("SELECT t.device_show(guesses => 3, account => '2')",
	    "limit - - - -", "... by another account");
	(void)si_is("SELECT t.device_show(guesses => 3, account => '2', "
	    "address => 'c')", SHOWN, "others are not touched");
	for (int i = 0; i < 5; i++)
		si_need("SELECT t.device_show(guesses => 3, account => '2', "
		    "address => 'c')", SHOWN);
	(void)si_is("SELECT t.device_show(guesses => 3, account => '2', "
	    "address => 'c')", SHOWN, "hits don't count");
	pg_sql("DELETE FROM poppy.limit_count");
}

static void
polls(void)
{
	si_need("SELECT t.start('s1') || t.device('p1', 'KKKKKKKK')", "okok");
	si_refused("SELECT t.poll('nix', 's1')", "dead - - -", "unknown");
	si_refused("SELECT t.poll('p1', 's1', client => 2)", "dead - - -",
	    "another client's");
	si_refused("SELECT t.poll('p1', 's2')", "invalid_session - - -",
	    "no such Session");
	si_refused("SELECT t.poll('p1', 's1', version => 2)", "stale - - -",
	    "documents of another version");
	(void)si_is("SELECT t.poll('p1', 's1', spend => t.sid('p'))",
	    "pending - - -", "the first poll is never early");
	si_refused("SELECT t.poll('p1', 's1', spend => t.sid('p'))",
	    "replay - - -", "... and has spent what it brought");
	(void)si_is("SELECT t.poll('p1', 's1')", "slow_down - - -", "early");
	pg_sql("UPDATE poppy.device SET polled_at = polled_at - 9");
	(void)si_is("SELECT t.poll('p1', 's1')", "slow_down - - -",
	    "now it is ten seconds");
	pg_sql("UPDATE poppy.device SET polled_at = polled_at - 15");
	(void)si_is("SELECT t.poll('p1', 's1')", "pending - - -",
	    "and now fifteen");
	si_need("SELECT split_part(t.device_show('KKKKKKKK'), ' ', 1)", "ok");
	(void)si_is("SELECT t.device_decide('KKKKKKKK', scopes => "
	    "'poppy:write admin')", "ok true ok", "approved, in part");
	(void)si_is("SELECT t.device_decide('KKKKKKKK', approve => false)",
	    "absent - -", "... once");
	(void)si_is("SELECT t.device_show('KKKKKKKK')", "absent - - - -",
	    "... and not shown again");
	si_refused("SELECT t.poll('p1', 's2')", "invalid_session - - -",
	    "the Session is judged before it is given");
	(void)si_is("SELECT t.poll('p1', 's1', token => 'in')",
	    "ok poppy:write 3600 86400", "an early poll is answered");
	(void)si_use("in", "ok 1 (poppy:write) true", "... signed in");
	si_refused("SELECT t.poll('p1', 's1')", "dead - - -", "used");
	(void)si_use("in", "ok 1 (poppy:write) true",
	    "... which takes nothing back");
}

static void
ends(void)
{
	si_need("SELECT t.device('q1', 'LLLLLLLL') || "
	    "t.device('q2', 'MMMMMMMM') || t.device('q3', 'NNNNNNNN') || "
	    "t.device('q4', 'PPPPPPPP') || t.device('q5', 'QQQQQQQQ')",
	    "okokokokok");
	si_need("SELECT split_part(t.device_show('LLLLLLLL'), ' ', 1) || "
	    "split_part(t.device_show('MMMMMMMM'), ' ', 1) || "
	    "split_part(t.device_show('NNNNNNNN'), ' ', 1) || "
	    "split_part(t.device_show('PPPPPPPP', account => '2'), ' ', 1)",
	    "okokokok");
	(void)si_is("SELECT t.device_decide('LLLLLLLL', approve => false)",
	    "ok false -", "declined");
	(void)si_is("SELECT t.poll('q1', 's1', spend => t.sid('q'))",
	    "denied - - -", "... says so");
	si_refused("SELECT t.poll('q1', 's1', spend => t.sid('q'))",
	    "replay - - -", "... and has spent what it brought");
	(void)si_is("SELECT t.device_decide('MMMMMMMM', scopes => 'admin')",
	    "ok false -", "no scope left: declined");
	si_need("SELECT t.device_decide('NNNNNNNN') || "
	    "t.device_decide('PPPPPPPP', account => '2')",
	    "ok true okok true ok");
	si_refused("SELECT t.poll('q4', 's1')", "account_mismatch - - -",
	    "another account than the Session's");
	pg_sql("UPDATE shop.customer SET status = 'disabled' WHERE id = 1");
	si_refused("SELECT t.poll('q3', 's1')", "dead - - -",
	    "the account was disabled meanwhile");
	pg_sql("UPDATE shop.customer SET status = 'ok' WHERE id = 1");
	pg_sql("UPDATE poppy.device SET expires_at = 1");
	(void)si_is("SELECT t.poll('q3', 's1')", "expired - - -",
	    "approved, and fetched too late");
	(void)si_is("SELECT t.poll('q5', 's1')", "expired - - -",
	    "not decided in time");
}

static void
races(void)
{
	si_need("SELECT t.device('r1', 'RRRRRRRR') || "
	    "t.device('r2', 'SSSSSSSS') || t.start('x1') || t.start('x2')",
	    "okokokok");
	si_need("SELECT split_part(t.device_show('RRRRRRRR'), ' ', 1)", "ok");
	si_race("SELECT t.device_decide('RRRRRRRR')", "ok true ok",
	    "SELECT t.device_decide('RRRRRRRR', approve => false)",
	    "absent - -", "approved and declined at once");
	si_race("SELECT t.poll('r1', 'x1')", OK, "SELECT t.poll('r1', 'x2')",
	    "dead - - -", "one code fetched twice at once");
	si_need("SELECT split_part(t.device_show('SSSSSSSS'), ' ', 1)", "ok");
	si_race("SELECT t.device_decide('SSSSSSSS')", "ok true ok",
	    "SELECT t.poll('r2', 'x1')", OK, "approved while it is asked for");
}

/* Whoever is at the page while the shop ends everything is not asked again. */
static void
shop_ends(void)
{
	si_need("SELECT t.device('v1', 'VVVVVVVV')", "ok");
	si_need("SELECT t.device_show('VVVVVVVV', '2')",
	    "ok https://a.example/c An agent - poppy:read poppy:write");
	pg_sql("SELECT poppy_api.customer_end('2', 'password changed')");
	(void)si_is("SELECT t.device_decide('VVVVVVVV', '2')", "absent - -",
	    "an account that the shop has ended decides nothing");
	(void)si_is("SELECT left(t.device_show('VVVVVVVV', '2'), 2)", "ok",
	    "... before it has logged in again and seen it");
}

int
main(void)
{
	si_start();
	starts();
	shows();
	guesses();
	polls();
	ends();
	shop_ends();
	races();
	return si_done();
}
