/*
 * Account Tokens, sign-out, connected agents, tickets, and the end of all of it
 * by the shop.
 */
#include "config.h"

#include "tests/sql/signin.h"

#define OK	"ok poppy:read poppy:write 3600 false"
#define ROTATED	"ok poppy:read poppy:write 3600 true"
#define IN	"ok 1 (poppy:read poppy:write) true"
#define OUT	"ok - () false"

static void
refreshes(void)
{
	si_need("SELECT t.sign_in('s1', 'p1', 'in1')", "ok");
	si_refused("SELECT t.refresh('nix')", "dead - - -", "unknown");
	si_refused("SELECT t.refresh('p1', client => 2)", "dead - - -",
	    "another client's");
	si_refused("SELECT t.refresh('p1', bucket => 8)", "dead - - -",
	    "another bucket");
	si_refused("SELECT t.refresh('p1', version => 2)", "stale - - -",
	    "documents of another version");
	si_refused("SELECT t.refresh('p1', scopes => 'poppy:read admin')",
	    "scope - - -", "more than was granted");
	si_refused("SELECT t.refresh('p1', scopes => '')", "scope - - -",
	    "nothing");
	si_refused("SELECT t.refresh('p1', 's9')", "invalid_session - - -",
	    "an unknown Session");
	si_need("SELECT t.start('s2', usr => 'v')", "ok");
	si_refused("SELECT t.refresh('p1', 's2')", "invalid_session - - -",
	    "another User's");
	(void)si_is("SELECT t.refresh('p1', 's1', 'in2')", OK,
	    "for the Session");
	(void)si_use("in2", IN, "... signed in");
	(void)si_is("SELECT t.refresh('p1', 's1', 'in3', "
	    "scopes => 'poppy:read', spend => t.sid('j'))",
	    "ok poppy:read 3600 false", "narrower");
	(void)si_use("in3", "ok 1 (poppy:read) true", "... is so");
	si_refused("SELECT t.refresh('p1', 's1', spend => t.sid('j'))",
	    "replay - - -", "the same request again");
	si_need("SELECT t.start('s3')", "ok");
	(void)si_is("SELECT t.refresh('p1', 's3', 'in4')", OK,
	    "signs in a signed-out Session");
	(void)si_is("SELECT t.refresh('p1', token => 'in5', new_sid => 's4')",
	    OK, "a new Session");
	(void)si_use("in5", IN, "... signed in");
	tap_is(sql_number("SELECT count(*) FROM poppy.session s "
	    "JOIN poppy.session_grant USING (bucket, sid) WHERE account = '1' "
	    "AND user_key = t.h('u') AND s.sid IN (t.sid('s3'), t.sid('s4'))"),
	    2, "... of the User and the account");
	si_need("SELECT t.sign_in('s5', 'p5', account => '2')", "ok");
	si_refused("SELECT t.refresh('p1', 's5')", "account_mismatch - - -",
	    "a Session of another account");
	pg_sql("UPDATE poppy.client SET status = 'blocked'");
	si_refused("SELECT t.refresh('p1')", "blocked - - -",
	    "a blocked client");
	pg_sql("UPDATE poppy.client SET status = 'known'");
	pg_sql("UPDATE poppy.grants SET used_at = used_at - 86000; "
	    "UPDATE poppy.session SET used_at = used_at - 86000");
	si_need("SELECT t.refresh('p1')", OK);
	tap_is(sql_number("SELECT count(*) FROM poppy.grants WHERE account = "
	    "'1' AND used_at > poppy.now_at() - 50"), 0,
	    "its row is not written for each use");
	tap_is(sql_number("SELECT count(*) FROM poppy_api.connected_list('1') "
	    "WHERE used_at > poppy.now_at() - 50"), 1,
	    "... but the last one is known");
	pg_sql("UPDATE poppy.grants SET used_at = used_at - 1000");
	si_need("SELECT t.refresh('p1')", OK);
	tap_is(sql_number("SELECT count(*) FROM poppy.grants WHERE account = "
	    "'1' AND used_at > poppy.now_at() - 50 "
	    "AND expires_at <= created_at + 86400"), 1,
	    "... once a day it is, and gives no more time");
	pg_sql("UPDATE shop.customer SET status = 'disabled' WHERE id = 1");
	si_refused("SELECT t.refresh('p1')", "dead - - -",
	    "an account that was disabled meanwhile");
	pg_sql("UPDATE shop.customer SET status = 'ok' WHERE id = 1");
	(void)si_is("SELECT t.refresh('p1')", OK,
	    "... and enabled again: nothing was revoked");
	pg_sql("UPDATE poppy.grants SET account = '99' WHERE account = '1'");
	si_refused("SELECT t.refresh('p1')", "dead - - -",
	    "one that the shop has no more");
	pg_sql("UPDATE poppy.grants SET account = '1' WHERE account = '99'");
	pg_sql("UPDATE poppy.grants SET expires_at = 1 WHERE account = '2'");
	si_refused("SELECT t.refresh('p5')", "dead - - -", "over");
	si_need("SELECT t.sign_in('s6', 'p6', resource => 'https://api')",
	    "ok");
	si_refused("SELECT t.refresh('p6')", "target - - -",
	    "for a resource: not without it");
	si_refused("SELECT t.refresh('p6', resource => 'https://x')",
	    "target - - -", "... nor with another");
	(void)si_is("SELECT t.refresh('p6', resource => 'https://api')", OK,
	    "... with it");
	while (pf_now_at() % 60 > 50)
		(void)sleep(1);
	si_need("SELECT t.refresh('p1', per_address => 1)", OK);
	si_refused("SELECT t.refresh('p1', per_address => 1)",
	    "limit_address - - -", "one too many");
}

static void
rotations(void)
{
	si_need("SELECT t.sign_in('r1', 'a1', 'ra')", "ok");
	(void)si_is("SELECT t.refresh('a1', successor => 'a2')", ROTATED,
	    "exchanged");
	tap_is(sql_number("SELECT count(*) FROM poppy.account_token "
	    "WHERE hash = t.h('a2')"), 1, "... for its successor");
	(void)si_is("SELECT t.refresh('a1', successor => 'a2')", ROTATED,
	    "the old one is given the same again");
	(void)si_is("SELECT t.refresh('a1')", OK,
	    "... or works, where nothing rotates");
	(void)si_is("SELECT t.refresh('a1', successor => 'other')", ROTATED,
	    "another master key: another successor");
	(void)si_is("SELECT t.refresh('other')", OK, "... works");
	(void)si_is("SELECT t.refresh('a2', successor => 'a3')", ROTATED,
	    "the successor is exchanged");
	pg_sql("UPDATE poppy.account_token SET replaced_at = replaced_at - 61 "
	    "WHERE hash = t.h('a1')");
	(void)si_use("ra", IN, "all is well so far");
	(void)si_is("SELECT t.refresh('a1', successor => 'a2')",
	    "reused - - -", "the old one after its grace");
	(void)si_use("ra", OUT, "... revokes the grant");
	si_refused("SELECT t.refresh('a3')", "dead - - -",
	    "... the newest token is dead");
	si_refused("SELECT t.refresh('a1')", "dead - - -",
	    "... and so is the old one");
	tap_is(sql_number("SELECT count(*) FROM poppy.audit "
	    "WHERE kind = 'grant_reused' AND account = '1'"), 1,
	    "... in the audit");
	si_need("SELECT t.sign_in('r2', 'b1', 'rb')", "ok");
	si_need("SELECT t.refresh('b1', successor => 'b2', "
	    "spend => t.sid('b'))", ROTATED);
	pg_sql("UPDATE poppy.account_token SET replaced_at = replaced_at - 61 "
	    "WHERE hash = t.h('b1')");
	si_refused("SELECT t.refresh('b1', spend => t.sid('b'))",
	    "replay - - -", "a request said twice by the network");
	(void)si_use("rb", IN, "... revokes nothing");
}

static void
sign_outs(void)
{
	si_need("SELECT t.sign_in('o1', 'c1', 'oa')", "ok");
	si_need("SELECT t.sign_in('o1', 'c2', 'ob')", "ok");
	si_need("SELECT t.sign_in('o2', 'c3', 'oc')", "ok");
	(void)si_is("SELECT t.revoke('nix')", "ok", "unknown: the same answer");
	(void)si_is("SELECT t.revoke('c1', client => 2)", "ok", "foreign");
	(void)si_is("SELECT t.revoke(NULL)", "ok", "none");
	(void)si_is("SELECT t.revoke('c1', version => 2)", "stale",
	    "documents of another version");
	(void)si_use("oa", IN, "... have no effect");
	(void)si_is("SELECT t.revoke('c1', spend => t.sid('c'))", "ok",
	    "signed out");
	(void)si_use("oa", OUT, "... its token at once");
	(void)si_use("ob", IN,
	    "the Session stays signed in by its other grant");
	(void)si_use("oc", IN, "another Session is not touched");
	si_refused("SELECT t.refresh('c1')", "dead - - -", "the token is dead");
	(void)si_is("SELECT t.refresh('c2', 'o1')", OK, "the other one is not");
	(void)si_is("SELECT t.revoke('c2', spend => t.sid('c'))", "replay",
	    "a replay signs nobody out");
	(void)si_is("SELECT t.revoke('c1')", "ok", "twice");
	tap_is(sql_number("SELECT count(*) FROM poppy.audit "
	    "WHERE kind = 'signed_out'"), 1, "... in the audit once");
	(void)si_is("SELECT t.start('o1', token => 'od', renew => true)", "ok",
	    "the Session goes on");
	(void)si_use("od", OUT, "... signed out");
	while (pf_now_at() % 60 > 50)
		(void)sleep(1);
	(void)si_is("SELECT t.revoke('nix', per_address => 1) || "
	    "t.revoke('c2', per_address => 1)", "oklimit_address",
	    "one too many");
	(void)si_use("ob", IN, "... does nothing");
	si_need("SELECT t.refresh('c3', successor => 'c4')", ROTATED);
	(void)si_is("SELECT t.revoke('c3')", "ok",
	    "a token that has its successor");
	(void)si_use("oc", OUT, "... signs out as well");
}

static void
connected(void)
{
	pg_sql("UPDATE poppy.grants SET revoked_at = 1");
	(void)si_is("SELECT t.connected()", "none", "nobody is connected");
	si_need("SELECT t.sign_in('k1', 'd1', 'ka') || "
	    "t.sign_in('k2', 'd2', scopes => 'poppy:read') || "
	    "t.sign_in('k3', 'd3', account => '2') || "
	    "t.sign_in('k4', 'd4', client => 2)", "okokokok");
	(void)si_is("SELECT t.connected()", "1 https://a.example/c direct "
	    "poppy:read poppy:write 2, 2 https://b.example/c direct "
	    "poppy:read poppy:write 1", "an agent is one row");
	pg_sql("UPDATE poppy.grants SET client_no = 98 WHERE client_no = 2");
	(void)si_is("SELECT t.connected()", "1 https://a.example/c direct "
	    "poppy:read poppy:write 2", "nor one that nobody knows any more");
	pg_sql("UPDATE poppy.grants SET client_no = 2 WHERE client_no = 98");
	(void)si_is("SELECT t.disconnect('1', 99)", "0", "an unknown one");
	(void)si_is("SELECT t.disconnect('9', 1)", "0", "nobody's");
	(void)si_is("SELECT t.disconnect('1', 1)", "2", "disconnected");
	(void)si_use("ka", OUT, "... at the next request");
	si_refused("SELECT t.refresh('d2')", "dead - - -",
	    "... and its tokens are dead");
	(void)si_is("SELECT t.refresh('d3')", OK, "another account is not");
	(void)si_is("SELECT t.refresh('d4', client => 2)", OK,
	    "nor another client");
	(void)si_is("SELECT t.connected()", "2 https://b.example/c direct "
	    "poppy:read poppy:write 2", "... gone from the list");
	si_need("SELECT t.code('ck') || t.code('cl', account => '2') || "
	    "t.device('cd', 'TTTTTTTT')", "ok https://back st true okok "
	    "https://back st true okok");
	si_need("SELECT split_part(t.device_show('TTTTTTTT'), ' ', 1) || "
	    "t.device_decide('TTTTTTTT')", "okok true ok");
	(void)si_is("SELECT t.disconnect('1')", "1", "all of them");
	(void)si_is("SELECT t.connected()", "none", "... are gone");
	si_refused("SELECT t.redeem('ck', 'k1')", "dead - - -",
	    "and a code that was still to be fetched");
	(void)si_is("SELECT t.poll('cd', 'k1')", "denied - - -",
	    "... and a device's");
	(void)si_is("SELECT split_part(t.redeem('cl', 'k3'), ' ', 1)", "ok",
	    "... not another account's");
}

static void
tickets(void)
{
	si_need("SELECT t.shop_login('t1') || t.shop_login('t2') || "
	    "t.shop_login('t3', seconds => 0)", "okokok");
	(void)si_shop("SELECT t.put('nix', 'k')", "absent",
	    "no such request");
	(void)si_shop("SELECT t.put('t3', 'k')", "absent", "expired");
	(void)si_shop("SELECT t.put('t1', 'k', '')", "absent", "nobody");
	(void)si_shop("SELECT t.put('t1', NULL)", "absent", "no ticket");
	(void)si_is("SELECT t.spend('t1', 'k')", "dead - - - -",
	    "there is none yet");
	(void)si_shop("SELECT t.put('t1', 'k0')", "ok", "a ticket");
	(void)si_shop("SELECT t.put('t1', 'k1')", "ok", "another");
	(void)si_is("SELECT t.spend('t1', 'k0')", "dead - - - -",
	    "... in its place");
	(void)si_is("SELECT t.spend('t2', 'k1')", "dead - - - -",
	    "for another request");
	(void)si_is("SELECT t.spend('t1', 'k1', browser => 'b')",
	    "dead - - - -", "in another browser");
	(void)si_is("SELECT t.spend('t1', 'k1')", "ok 1 ANN agents ok",
	    "spent");
	(void)si_is("SELECT t.spend('t1', 'k1')", "dead - - - -", "... once");
	(void)si_shop("SELECT t.put('t1', 'k2')", "absent",
	    "the request is over");
	(void)si_shop("SELECT t.put('t2', 'k3', '4')", "ok",
	    "for an account not to be used");
	(void)si_is("SELECT t.spend('t2', 'k3')",
	    "refused - - agents privileged", "... refused");
	(void)si_is("SELECT t.spend('t2', 'k3')", "dead - - - -",
	    "... and spent");
	si_need("SELECT t.shop_login('t4')", "ok");
	si_need("SELECT t.shop_login('t5')", "ok");
	(void)si_shop("SELECT t.put('t4', 'k4')", "ok", "a ticket");
	pg_sql("UPDATE poppy.shop_login SET ticket_until = ticket_until - 60 "
	    "WHERE hash = t.h('t4')");
	(void)si_is("SELECT t.spend('t4', 'k4')", "dead - - - -",
	    "60 s later");
	(void)si_shop("SELECT t.put('t5', 'k5')", "ok", "a ticket");
	si_race("SELECT t.spend('t5', 'k5')", "ok 1 ANN agents ok",
	    "SELECT t.spend('t5', 'k5')", "dead - - - -", "spent twice at once");
}

static void
customer_ends(void)
{
	si_need("SELECT t.sign_in('m1', 'e1', 'ea') || "
	    "t.sign_in('m2', 'e2', 'eb', account => '2')", "okok");
	si_need("SELECT t.login('l1', '1') || t.login('l2', '2')",
	    "ok okok ok");
	si_need("SELECT t.authorize('q1') || t.shop_login('q2')", "okok");
	si_need("SELECT split_part(t.show('q1'), ' ', 1)", "ok");
	(void)si_shop("SELECT t.put('q2', 'kk')", "ok", "a ticket");
	(void)si_shop("SELECT n::text FROM poppy_api.customer_end('1', "
	    "'password')", "1", "the shop ends all of an account");
	(void)si_use("ea", OUT, "... its agents");
	(void)si_is("SELECT split_part(t.login_use('l1'), ' ', 1)", "none",
	    "... its login sessions");
	(void)si_is("SELECT t.decide('q1', 'qc')", "absent - - - -",
	    "... its open requests");
	(void)si_is("SELECT t.spend('q2', 'kk')", "dead - - - -",
	    "... its tickets");
	(void)si_use("eb", "ok 2 (poppy:read poppy:write) true",
	    "not another account's");
	(void)si_is("SELECT split_part(t.login_use('l2'), ' ', 1)", "ok",
	    "... nor its login session");
	tap_is(sql_number("SELECT count(*) FROM poppy.audit WHERE kind = "
	    "'customer_ended' AND account = '1' AND detail = 'password' "
	    "AND login = 'poppy_bridge'"), 1, "... in the audit");
	(void)si_shop("SELECT n::text FROM poppy_api.customer_end('1', "
	    "'again')", "0", "there is nothing more");
}

static void
races(void)
{
	char got[2][SI_TEXT], one[200], two[200];
	int right = 0;

	pg_sql("UPDATE poppy.grants SET revoked_at = 1 "
	    "WHERE revoked_at IS NULL");
	si_need("SELECT t.sign_in('x1', 'f1') || t.sign_in('x2', 'f2', 'xf') ||"
	    " t.sign_in('x3', 'f3') || t.sign_in('x4', 'f4') || "
	    "t.sign_in('x5', 'f5')", "okokokokok");
	si_race("SELECT t.revoke('f1')", "ok", "SELECT t.refresh('f1', 'x1')",
	    "dead - - -", "revoked, then refreshed");
	si_race("SELECT t.refresh('f2', 'x2', 'xr')", OK,
	    "SELECT t.revoke('f2')", "ok", "refreshed, then revoked");
	(void)si_use("xr", OUT, "... its token counts as signed out");
	si_race("SELECT t.refresh('f3', successor => 'g3')", ROTATED,
	    "SELECT t.refresh('f3', successor => 'g3')", ROTATED,
	    "exchanged twice at once");
	tap_is(sql_number("SELECT count(*) FROM poppy.account_token "
	    "WHERE hash = t.h('g3')"), 1, "... for one successor");
	pg_sql("UPDATE poppy.account_token SET replaced_at = replaced_at - 61 "
	    "WHERE hash = t.h('f3')");
	si_race("SELECT t.refresh('g3', successor => 'h3')", ROTATED,
	    "SELECT t.refresh('f3', successor => 'g3')", "reused - - -",
	    "exchanged while the old one is used again");
	si_refused("SELECT t.refresh('h3')", "dead - - -",
	    "... which revokes the newest, too");
	si_race("SELECT t.disconnect('1', 1)", "2",
	    "SELECT t.refresh('f4', 'x4')", "dead - - -",
	    "disconnected, then refreshed");
	si_need("SELECT t.code('xc')", "ok https://back st true ok");
	si_race("SELECT split_part(t.redeem('xc', 'x1', 'xd'), ' ', 1)", "ok",
	    "SELECT t.disconnect('1', 1)", "1",
	    "a code is fetched, then the agent disconnected");
	(void)si_use("xd", OUT, "... so what it gave is over");
	si_need("SELECT t.code('xe')", "ok https://back st true ok");
	si_race("SELECT t.disconnect('1', 1)", "0",
	    "SELECT t.redeem('xe', 'x1')", "dead - - -",
	    "the agent is disconnected, then a code fetched");
	for (int i = 0; i < 20; i++) {
		(void)snprintf(one, sizeof(one), "SELECT t.sign_in('y%d', "
		    "'ya%d') || t.sign_in('y%d', 'yb%d')", i, i, i, i);
		si_need(one, "okok");
		(void)snprintf(one, sizeof(one),
		    "SELECT t.refresh('ya%d', 'y%d')", i, i);
		if (i % 2 == 0)
			(void)snprintf(two, sizeof(two),
			    "SELECT t.disconnect('1', 1)");
		else
			(void)snprintf(two, sizeof(two),
			    "SELECT t.revoke('yb%d')", i);
		si_both(one, two, got);
		right += (strcmp(got[0], OK) == 0 ||
		    (i % 2 == 0 && strcmp(got[0], "dead - - -") == 0)) &&
		    (strcmp(got[1], "ok") == 0 || strtol(got[1], NULL, 10) > 0);
	}
	tap_is(right, 20, "nobody waits for each other");
}

/* What may be lost in a crash, and what must not: as the call leaves it for the
 * commit that follows. */
static void
durability(void)
{
	static const struct { const char *call, *want; } of[] = {
		{ "t.authorize('da')", "ok off" },
		{ "left(t.show('da'), 2)", "ok off" },
		{ "left(t.decide('da', 'dc'), 2)", "ok on" },
		{ "t.start('ds')", "ok off" },
		{ "left(t.redeem('dc', 'ds', verifier => 'x'), 8)",
		    "verifier on" },
		{ "left(t.redeem('dc', 'ds', pat => 'dp'), 2)", "ok on" },
		{ "left(t.refresh('dp'), 2)", "ok off" },
		{ "left(t.refresh('dp', 'ds'), 2)", "ok off" },
		{ "left(t.refresh('dp', successor => 'dq'), 2)", "ok on" },
		{ "left(t.refresh('dp', grace_s => -9), 6)", "reused on" },
		{ "left(t.redeem('dc', 'ds'), 6)", "reused on" },
		{ "left(t.login('dl', '1'), 2)", "ok off" },
		{ "left(t.login_use('dl'), 2)", "ok off" },
		{ "t.device('dd', 'VVVVVVVV')", "ok off" },
		{ "left(t.poll('dd', 'ds'), 7)", "pending off" },
		{ "left(t.device_show('VVVVVVVV'), 2)", "ok off" },
		{ "left(t.device_decide('VVVVVVVV'), 2)", "ok on" },
		{ "left(t.poll('dd', 'ds', pat => 'dr'), 2)", "ok on" },
		{ "t.revoke('dr')", "ok on" },
		{ "left(t.disconnect(), 0)", " on" },
		{ "t.shop_login('dx')", "ok off" },
		{ "left(t.spend('dx', 'dk'), 4)", "dead on" },
		{ "left(t.finish('ds'), 2)", "ok on" },
		{ "left(t.ask('di', 'ds'), 2)", "ok off" },
		{ "left(t.try('di', 'ds', 'x'), 13)", "code_required on" },
		{ "left(t.try('di', 'ds'), 2)", "ok on" },
		{ "coalesce(poppy_api.login_end(t.h('dl'))::text, 'ok')",
		    " on" },
	};
	char sql[200];

	for (size_t i = 0; i < PF_COUNT(of); i++) {
		(void)snprintf(sql, sizeof(sql), "SELECT %s || ' ' || "
		    "current_setting('synchronous_commit')", of[i].call);
		(void)si_is(sql, of[i].want, of[i].call);
	}
	(void)si_shop("SELECT left(n::text, 0) || "
	    "current_setting('synchronous_commit') "
	    "FROM poppy_api.customer_end('1', 'x')", "on", "customer_end");
	(void)si_shop("SELECT requests || ' ' || "
	    "current_setting('synchronous_commit') FROM "
	    "poppy_api.customer_erase('99')", "0 on", "customer_erase");
}

int
main(void)
{
	si_start();
	refreshes();
	rotations();
	sign_outs();
	connected();
	tickets();
	customer_ends();
	races();
	durability();
	return si_done();
}
