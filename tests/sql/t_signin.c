/*
 * Direct Sign-In in the database: the request, logins, consent, the code and
 * what it gives.
 */
#include "config.h"

#include "tests/sql/signin.h"

#define OK	"ok poppy:read poppy:write 3600 86400"

static void
requests(void)
{
	(void)si_is("SELECT t.authorize('r1')", "ok", "a request");
	(void)si_is("SELECT t.authorize('r2', client => 99)", "blocked",
	    "of a client that is not there");
	pg_sql("UPDATE poppy.client SET status = 'blocked' "
	    "WHERE client_no = 2");
	(void)si_is("SELECT t.authorize('r2', client => 2)", "blocked",
	    "of one that is blocked");
	pg_sql("UPDATE poppy.client SET status = 'known'");
	(void)si_is("SELECT t.show('nix')", "absent - - -", "unknown");
	(void)si_is("SELECT t.decide('r1', 'c')", "absent - - - -",
	    "nobody has seen it");
	(void)si_is("SELECT t.show('r1')", "ok https://a.example/c "
	    "https://back poppy:read poppy:write", "shown");
	(void)si_is("SELECT t.show('r1')", "ok https://a.example/c "
	    "https://back poppy:read poppy:write", "... again");
	(void)si_is("SELECT t.show('r1', account => '2')",
	    "other_account - - -", "another account can't see it");
	(void)si_is("SELECT t.decide('r1', 'c', account => '2')",
	    "other_account - - - -", "... nor decide");
	(void)si_is("SELECT t.decide('r1', 'c1', scopes => 'admin "
	    "poppy:write poppy:write')", "ok https://back st true ok",
	    "approved, with more than was asked");
	tap_is(sql_number("SELECT count(*) FROM poppy.code "
	    "WHERE scopes = 'poppy:write' AND account = '1'"), 1,
	    "... gives what was asked and ticked");
	(void)si_is("SELECT t.decide('r1', 'c2')", "absent - - - -",
	    "decided once");
	(void)si_is("SELECT t.show('r1')", "absent - - -",
	    "... and not shown again");

	si_need("SELECT t.authorize('r3')", "ok");
	si_need("SELECT split_part(t.show('r3'), ' ', 1)", "ok");
	(void)si_is("SELECT t.decide('r3', 'c3', scopes => 'poppy:admin')",
	    "ok https://back st false -", "no scope is left: declined");
	si_need("SELECT t.authorize('r4')", "ok");
	si_need("SELECT split_part(t.show('r4'), ' ', 1)", "ok");
	(void)si_is("SELECT t.decide('r4', 'c4', approve => false)",
	    "ok https://back st false -", "declined");
	(void)si_is("SELECT t.decide('r4', 'c4')", "absent - - - -",
	    "... can't be approved");
	tap_is(sql_number("SELECT count(*) FROM poppy.code"), 1,
	    "... and neither gives a code");
	si_need("SELECT t.authorize('r5', seconds => 0)", "ok");
	(void)si_is("SELECT t.show('r5')", "absent - - -", "expired");
	si_need("SELECT t.authorize('r6')", "ok");
	si_need("SELECT split_part(t.show('r6', account => '3'), ' ', 1)",
	    "ok");
	(void)si_is("SELECT t.decide('r6', 'c6', account => '3')",
	    "refused - - - disabled", "by an account that is disabled");
	pg_sql("UPDATE poppy.client SET status = 'blocked'");
	(void)si_is("SELECT t.show('r6', account => '3')", "absent - - -",
	    "its client was blocked");
	pg_sql("UPDATE poppy.client SET status = 'known'");

	while (pf_now_at() % 60 > 50)
		(void)sleep(1);
	(void)si_is("SELECT t.authorize('r8', per_address => 1) || "
	    "t.authorize('r9', per_address => 1)", "oklimit",
	    "no more of them this minute");
}

static void
logins(void)
{
	static const struct { const char *id, *status; } bad[] = {
		{ "3", "refused disabled" }, { "4", "refused privileged" },
		{ "5", "refused unverified" }, { "6", "refused disabled" },
		{ "77", "refused absent" }, { "", "refused absent" },
	};
	char sql[100];

	(void)si_is("SELECT t.login_begin('ann')", "ok 1 $2y$ann ok",
	    "a login");
	(void)si_is("SELECT t.login_begin('nobody')", "unknown - - -",
	    "nobody's");
	(void)si_is("SELECT t.login_begin('twice')", "unknown - - -",
	    "two accounts'");
	(void)si_is("SELECT t.login_begin('di')", "ok 4 $2y$di privileged",
	    "one not to be used: its password is still checked");
	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		(void)snprintf(sql, sizeof(sql), "SELECT t.login('x', '%s')",
		    bad[i].id);
		(void)si_is(sql, bad[i].status, "no login session");
	}
	tap_is(sql_number("SELECT count(*) FROM poppy.login"), 0,
	    "... really none");
	(void)si_is("SELECT t.login('l1', '1')", "ok ok", "logged in");
	(void)si_is("SELECT t.login_use('l1')", "ok 1 ann ANN ok de",
	    "... and used");
	(void)si_is("SELECT t.login_use('l2')", "none - - - - -", "unknown");
	(void)si_is("SELECT t.login_use('l1', idle_s => 0)",
	    "none - - - - -", "idle too long");
	(void)si_is("SELECT t.login('l3', '2', old => 'l1')", "ok ok",
	    "another login in its place");
	(void)si_is("SELECT t.login_use('l1')", "none - - - - -",
	    "... ends it");
	pg_sql("UPDATE poppy.login SET used_at = used_at - 800");
	(void)si_is("SELECT t.login_use('l3')", "ok 2 bob BOB ok de",
	    "idle, but not for too long");
	tap_is(sql_number("SELECT count(*) FROM poppy.login "
	    "WHERE used_at > poppy.now_at() - 5"), 1, "... counts anew");
	pg_sql("UPDATE shop.customer SET login = 'nameless' WHERE id = 2");
	(void)si_is("SELECT t.login_use('l3')", "ok 2 nameless nameless ok de",
	    "who has no name is shown by the login");
	pg_sql("UPDATE shop.customer SET login = repeat('b', 1000) "
	    "WHERE id = 2");
	(void)si_is("SELECT length(t.login_use('l3'))::text", "1212",
	    "a name that fills pages is cut");
	pg_sql("UPDATE shop.customer SET login = 'bob' WHERE id = 2");
	pg_sql("UPDATE shop.customer SET status = 'disabled' WHERE id = 2");
	(void)si_is("SELECT t.login_use('l3')", "none - - - disabled de",
	    "the account was disabled meanwhile");
	pg_sql("UPDATE shop.customer SET status = 'ok' WHERE id = 2");
	(void)si_is("SELECT t.login_use('l3')", "none - - - - -",
	    "... which ends it for good");
	si_need("SELECT t.login('l4', '1')", "ok ok");
	(void)si_is("SELECT 'x' || poppy_api.login_end(t.h('l4'))::text", "x",
	    "logged out");
	(void)si_is("SELECT t.login_use('l4')", "none - - - - -", "... is out");
}

/* Away from the end of a quarter of an hour, so that it stays this one. */
static void
early(void)
{
	while (pf_now_at() % 900 > 890)
		(void)sleep(1);
}

static void
login_limits(void)
{
	early();
	for (int i = 0; i < 3; i++)
		si_need("SELECT t.login_begin('bob', 3, 100)",
		    "ok 2 $2y$bob ok");
	(void)si_is("SELECT t.login_begin('bob', 3, 100)", "limit - - -",
	    "a login name that has had its failures");
	(void)si_is("SELECT t.login_begin('bob', 3, 100, 'elsewhere')",
	    "limit - - -", "... from anywhere");
	(void)si_is("SELECT t.login_begin('ann', 3, 100)", "ok 1 $2y$ann ok",
	    "another one has not");
	(void)si_is("SELECT t.login('l5', '1', login => 'ann')", "ok ok",
	    "who was right");
	tap_is(sql_number("SELECT n FROM poppy.limit_count WHERE kind = 7 "
	    "AND key = t.h('login ann')"), 0, "... gets it back");
	tap_is(sql_number("SELECT n FROM poppy.limit_count WHERE kind = 6 "
	    "AND key = t.h('address')"), 4, "... for the address, too");
	(void)si_is("SELECT t.login_begin('cy', 3, 4)", "limit - - -",
	    "an address that has had its failures");
	tap_is(sql_number("SELECT count(*) FROM poppy.limit_count "
	    "WHERE kind = 7 AND key = t.h('login cy')"), 0,
	    "... has none left for another name");
	pg_sql("UPDATE poppy.limit_count SET minute = minute - 15");
	(void)si_is("SELECT t.login_begin('bob', 3, 4)", "ok 2 $2y$bob ok",
	    "a quarter later");
}

static void
redeems(void)
{
	si_need("SELECT t.start('s1', token => 'out')", "ok");
	si_need("SELECT t.code('k1')", "ok https://back st true ok");
	si_refused("SELECT t.redeem('k1', 's1', version => 2)", "stale - - -",
	    "documents of another version");
	si_refused("SELECT t.redeem('nix', 's1')", "dead - - -", "unknown");
	si_refused("SELECT t.redeem('k1', 's1', client => 2)", "dead - - -",
	    "another client's");
	si_refused("SELECT t.redeem('k1', 's1', redirect => 'https://back/')",
	    "dead - - -", "another redirect_uri");
	si_refused("SELECT t.redeem('k1', 's2')", "invalid_session - - -",
	    "an unknown Session");
	si_refused("SELECT t.redeem('k1', 's1', bucket => 8)",
	    "invalid_session - - -", "... of another bucket");
	si_refused("SELECT t.redeem('k1', NULL)", "no_session - - -",
	    "no Session");
	si_refused("SELECT t.redeem('k1', 's2', verifier => 'x')",
	    "invalid_session - - -", "the Session is judged before the verifier");
	(void)si_is("SELECT t.redeem('k1', 's1', token => 'in', pat => 'p1')",
	    OK, "signed in");
	(void)si_use("in", "ok 1 (poppy:read poppy:write) true",
	    "... and its token says so");
	(void)si_use("out", "ok - () false", "... the earlier one does not");
	(void)si_is("SELECT t.start('s1', token => 'out2', renew => true)",
	    "ok", "renewed by an assertion");
	(void)si_use("out2", "ok - () false", "... is signed out");
	(void)si_use("in", "ok 1 (poppy:read poppy:write) true",
	    "... and leaves the sign-in alone");
	tap_is(sql_number("SELECT count(*) FROM poppy.account_token a "
	    "JOIN poppy.grants g USING (bucket, grant_no) "
	    "WHERE a.hash = t.h('p1') AND g.account = '1' "
	    "AND g.kind = 'direct' AND g.user_key = t.h('u')"), 1,
	    "the Account Token is there");

	si_refused("SELECT t.redeem('k1', 's1', verifier => 'x')", "dead - - -",
	    "again, without the verifier: nobody is signed out");
	(void)si_use("in", "ok 1 (poppy:read poppy:write) true", "... really");
	(void)si_is("SELECT t.redeem('k1', 's1')", "reused - - -",
	    "again, with it");
	(void)si_use("in", "ok - () false", "... takes back what it gave");
	(void)si_is("SELECT t.redeem('k1', 's1')", "reused - - -",
	    "... and once more is the same");
	tap_is(sql_number("SELECT count(*) FROM poppy.audit "
	    "WHERE kind = 'code_reused' AND account = '1'"), 1,
	    "... in the audit once");
}

/* A network that says one request twice signs nobody out. */
static void
replays(void)
{
	si_need("SELECT t.start('s3')", "ok");
	si_need("SELECT t.code('k3')", "ok https://back st true ok");
	(void)si_is("SELECT t.redeem('k3', 's3', token => 'in3', "
	    "spend => t.sid('j3'))", OK, "signed in");
	si_refused("SELECT t.redeem('k3', 's3', spend => t.sid('j3'))",
	    "replay - - -", "the same request again");
	(void)si_use("in3", "ok 1 (poppy:read poppy:write) true",
	    "... is no reuse");
}

static void
verifiers(void)
{
	char sql[200];

	si_need("SELECT t.start('s4')", "ok");
	si_need("SELECT t.code('k4') || t.code('k5')",
	    "ok https://back st true okok https://back st true ok");
	for (int i = 0; i < 5; i++) {
		(void)snprintf(sql, sizeof(sql), "SELECT t.redeem('k4', 's4', "
		    "verifier => 'x', spend => t.sid('v%d'))", i);
		(void)si_is(sql, "verifier - - -", "a wrong verifier");
		si_refused(sql, i < 4 ? "replay - - -" : "dead - - -",
		    "... said again");
	}
	si_refused("SELECT t.redeem('k4', 's4')", "dead - - -",
	    "the fifth has killed the code");
	(void)si_is("SELECT t.redeem('k5', 's4', verifier => 'x')",
	    "verifier - - -", "wrong once");
	(void)si_is("SELECT t.redeem('k5', 's4')", OK, "then right");
	si_need("SELECT t.code('k6', seconds => 0)",
	    "ok https://back st true ok");
	si_refused("SELECT t.redeem('k6', 's4')", "dead - - -", "expired");
	si_need("SELECT t.code('k7')", "ok https://back st true ok");
	pg_sql("UPDATE shop.customer SET status = 'disabled' WHERE id = 1");
	si_refused("SELECT t.redeem('k7', 's4')", "dead - - -",
	    "the account was disabled meanwhile");
	pg_sql("UPDATE shop.customer SET status = 'ok' WHERE id = 1");
	pg_sql("UPDATE poppy.client SET status = 'blocked'");
	si_refused("SELECT t.redeem('k7', 's4')", "blocked - - -",
	    "the client was blocked");
	pg_sql("UPDATE poppy.client SET status = 'known'");
	si_refused("SELECT t.redeem('k7', 's4', spend => NULL)", "bug: "
	    "signin: P0001 one to three keys, each with its iat",
	    "a caller that forgets to spend");
}

static void
accounts(void)
{
	si_need("SELECT t.start('s8') || t.start('s9')", "okok");
	si_need("SELECT t.code('a1') || t.code('a2', account => '2')",
	    "ok https://back st true okok https://back st true ok");
	si_need("SELECT t.redeem('a1', 's8')", OK);
	si_refused("SELECT t.redeem('a2', 's8')", "account_mismatch - - -",
	    "another account on a signed-in Session");
	(void)si_is("SELECT t.redeem('a2', 's9')", OK, "... has its own");
	pg_sql("UPDATE poppy.grants SET revoked_at = 1 WHERE account = '1'");
	si_need("SELECT t.code('a3', account => '2')",
	    "ok https://back st true ok");
	si_refused("SELECT t.redeem('a3', 's8')", "account_mismatch - - -",
	    "... also after sign-out");
	si_need("SELECT t.code('a4')", "ok https://back st true ok");
	(void)si_is("SELECT t.redeem('a4', 's8', token => 'again')", OK,
	    "the same account signs in again");
	(void)si_use("again", "ok 1 (poppy:read poppy:write) true",
	    "... is in");
	pg_sql("UPDATE poppy.grants SET expires_at = 1 WHERE account = '1'");
	(void)si_use("again", "ok - () false", "its grant is over");

	si_need("SELECT t.code('a5', sid => 's8')",
	    "ok https://back st true ok");
	si_need("SELECT t.start('s10')", "ok");
	si_refused("SELECT t.redeem('a5', 's10')", "invalid_session - - -",
	    "a request for another Session");
	(void)si_is("SELECT t.redeem('a5', 's8')", OK, "... for this one");
	si_need("SELECT t.code('a6')", "ok https://back st true ok");
	pg_sql("UPDATE poppy.session SET ended_at = 1 WHERE sid = t.sid('s10')");
	si_refused("SELECT t.redeem('a6', 's10')", "invalid_session - - -",
	    "an ended Session");
}

/* Clients that know nothing of Sessions. */
static void
mcp(void)
{
	si_need("SELECT t.code('m1', resource => 'https://mcp', usr => 'mu') ||"
	    " t.code('m2', resource => 'https://mcp', usr => 'mu')",
	    "ok https://back st true okok https://back st true ok");
	si_refused("SELECT t.redeem('m1', NULL, bearer => true)", "target - - -",
	    "no resource");
	si_refused("SELECT t.redeem('m1', NULL, resource => 'https://x', "
	    "bearer => true)", "target - - -", "another resource");
	(void)si_is("SELECT t.redeem('m1', NULL, resource => 'https://mcp', "
	    "bearer => true, pat => 'mp', token => 'mt', new_sid => 'ms')", OK,
	    "a new Session");
	tap_is(sql_number("SELECT count(*) FROM poppy.session s JOIN "
	    "poppy.grants g USING (bucket, user_key) WHERE s.sid = t.sid('ms') "
	    "AND s.user_key = t.h('mu') AND s.account = '1' AND g.resource = "
	    "'https://mcp'"), 1, "... of the User of the request");
	si_need("SELECT t.use('mt', bearer => true)",
	    "ok 1 (poppy:read poppy:write) true");
	(void)si_is("SELECT t.redeem('m2', NULL, resource => 'https://mcp', "
	    "bearer => true, pat => NULL, token => 'mt2', spend => NULL)",
	    "ok poppy:read poppy:write 3600 3600",
	    "a public client has nothing to spend, nor an Account Token");
	si_need("SELECT t.use('mt2', bearer => true)",
	    "ok 1 (poppy:read poppy:write) true");
	(void)si_is("SELECT t.redeem('m2', NULL, resource => 'https://mcp', "
	    "bearer => true, pat => NULL, spend => NULL)", "reused - - -",
	    "... and reuses no code");
	si_need("SELECT t.use('mt2', bearer => true)", "ok - () false");
	si_need("SELECT t.code('m3', resource => 'https://mcp')",
	    "ok https://back st true ok");
	si_refused("SELECT t.redeem('m3', NULL, resource => 'https://mcp', "
	    "bearer => true)", "no_session - - -", "no User in the request");
	si_need("SELECT t.start('s91')", "ok");
	si_need("SELECT t.code('m4', resource => 'https://mcp', usr => 'mu', "
	    "sid => 's91')", "ok https://back st true ok");
	si_refused("SELECT t.redeem('m4', NULL, resource => 'https://mcp', "
	    "bearer => true)", "no_session - - -",
	    "a request for a Session, redeemed without");
}

static void
limits(void)
{
	while (pf_now_at() % 60 > 50)
		(void)sleep(1);
	si_need("SELECT t.start('s11')", "ok");
	si_need("SELECT t.code('n1')", "ok https://back st true ok");
	(void)si_is("SELECT t.redeem('n1', 's11', per_address => 1, "
	    "verifier => 'x')", "verifier - - -", "one request");
	si_refused("SELECT t.redeem('n1', 's11', per_address => 1)",
	    "limit_address - - -", "one too many");
	si_need("SELECT t.redeem('n1', 's11', per_client => 1)", OK);
	si_need("SELECT t.code('n2')", "ok https://back st true ok");
	si_refused("SELECT t.redeem('n2', 's11', per_client => 1)",
	    "limit_client - - -", "... of the client");
}

static void
races(void)
{
	char got[2][SI_TEXT], one[200], two[200];
	int fair = 0;

	si_need("SELECT t.start('x1') || t.start('x2') || t.start('x3')",
	    "okokok");
	si_need("SELECT t.code('y1')", "ok https://back st true ok");
	si_race("SELECT t.redeem('y1', 'x1', token => 'xt')", OK,
	    "SELECT t.redeem('y1', 'x2')", "reused - - -",
	    "one code twice at once");
	(void)si_use("xt", "ok - () false", "... takes back what it gave");
	si_need("SELECT t.code('y2') || t.code('y3', account => '2')",
	    "ok https://back st true okok https://back st true ok");
	si_race("SELECT t.redeem('y2', 'x3')", OK,
	    "SELECT t.redeem('y3', 'x3')", "account_mismatch - - -",
	    "two accounts on one Session");
	si_need("SELECT t.authorize('z1')", "ok");
	si_need("SELECT split_part(t.show('z1'), ' ', 1)", "ok");
	si_race("SELECT t.decide('z1', 'z', approve => false)",
	    "ok https://back st false -", "SELECT t.decide('z1', 'z')",
	    "absent - - - -", "declined and approved at once");
	si_need("SELECT t.authorize('z2')", "ok");
	si_race("SELECT split_part(t.show('z2', account => '2'), ' ', 1)", "ok",
	    "SELECT split_part(t.show('z2'), ' ', 1)", "other_account",
	    "two accounts see one request");
	for (int i = 0; i < 10; i++) {
		(void)snprintf(one, sizeof(one), "SELECT t.code('w%d')", i);
		si_need(one, "ok https://back st true ok");
		(void)snprintf(one, sizeof(one),
		    "SELECT t.redeem('w%d', 'x1', token => 'wa%d')", i, i);
		(void)snprintf(two, sizeof(two),
		    "SELECT t.redeem('w%d', 'x1', token => 'wb%d')", i, i);
		si_both(one, two, got);
		fair += (strcmp(got[0], OK) == 0 &&
		    strcmp(got[1], "reused - - -") == 0) ||
		    (strcmp(got[1], OK) == 0 &&
		    strcmp(got[0], "reused - - -") == 0);
	}
	tap_is(fair, 10, "whoever is first, the other is told");
}

int
main(void)
{
	si_start();
	requests();
	logins();
	login_limits();
	redeems();
	replays();
	verifiers();
	accounts();
	mcp();
	limits();
	races();
	return si_done();
}
