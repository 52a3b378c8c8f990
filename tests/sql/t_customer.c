/*
 * What is kept of customers: how long, what they are shown of it, that it goes
 * when it must, and what the operator sees and does.
 */
#include "config.h"

#include "tests/sql/signin.h"

#define CLEAN	"SELECT sum(others)::bigint FROM poppy_api.clean(100000, "	\
    "p_requests_s => 100, p_codes_s => 200, p_devices_s => 300, "	\
    "p_logins_s => 400)"

/* Each kind of row goes at its time, and not before. */
static void
retention(void)
{
	static const struct { const char *made, *table, *time; int keep; }
	    kind[] = {
		{ "SELECT t.authorize('a')", "sign_in_request", "expires_at",
		    100 },
		{ "SELECT t.shop_login('b')", "shop_login", "expires_at", 100 },
		{ "SELECT left(t.ask('c', 's1'), 2)", "mediated", "expires_at",
		    100 },
		{ "SELECT left(t.code('d'), 2)", "code", "expires_at", 200 },
		{ "SELECT t.device('e')", "device", "expires_at", 300 },
		{ "SELECT left(t.login('f', '1'), 2)", "login", "created_at",
		    400 },
	};
	char sql[300];

	si_need("SELECT t.start('s1')", "ok");
	for (size_t i = 0; i < PF_COUNT(kind); i++) {
		si_need(kind[i].made, "ok");
		for (int late = 0; late < 2; late++) {
			(void)snprintf(sql, sizeof(sql), "UPDATE poppy.%s SET "
			    "%s = poppy.now_at() - %d", kind[i].table,
			    kind[i].time, kind[i].keep + (late ? 1 : -60));
			pg_sql(sql);
			(void)sql_number(CLEAN);
			(void)snprintf(sql, sizeof(sql), "SELECT count(*) "
			    "FROM poppy.%s", kind[i].table);
			tap_is(sql_number("%s", sql), late ? 0 : 1, "%s: %s",
			    kind[i].table, late ? "... and goes" :
			    "stays a while");
		}
	}
}

static int64_t
clean_grants(void)
{
	int64_t n = 0;

	for (int i = 0; i < 64; i++)
		n += sql_number("SELECT grants FROM poppy_api.clean(100000, "
		    "p_grants_s => 1000)");
	return n;
}

static void
old_grants(void)
{
	si_need("SELECT t.sign_in('s2', 'p2') || t.sign_in('s3', 'p3') || "
	    "t.sign_in('s4', 'p4')", "okokok");
	pg_sql("UPDATE poppy.grants SET expires_at = poppy.now_at() - 500");
	tap_is(clean_grants(), 0, "grants that have just ended stay");
	pg_sql("UPDATE poppy.grants SET expires_at = poppy.now_at() - 1001 "
	    "WHERE grant_no = (SELECT grant_no FROM poppy.account_token WHERE "
	    "hash = t.h('p2')); UPDATE poppy.grants SET expires_at = "
	    "poppy.now_at() + 999, revoked_at = poppy.now_at() - 1001 WHERE "
	    "grant_no = (SELECT grant_no FROM poppy.account_token WHERE "
	    "hash = t.h('p3'))");
	tap_is(clean_grants(), 0, "... as long as a Session knows them");
	pg_sql("UPDATE poppy.session SET ends_at = 1");
	tap_is(sql_number("SELECT count(*) FROM poppy.session_grant"), 3,
	    "Sessions that were signed in");
	tap_is(clean_grants(), 0, "... go first");
	tap_is(sql_number("SELECT count(*) FROM poppy.session_grant"), 0,
	    "... with what they know");
	tap_is(clean_grants(), 2, "then the old grants, expired or revoked");
	tap_is(sql_number("SELECT count(*) FROM poppy.account_token"), 1,
	    "... with their Account Tokens");
	tap_is(sql_number("SELECT count(*) FROM poppy.grants"), 1,
	    "another stays");
}

/* One row or more of everything about an account. */
static void
everything(const char *account, const char *mark)
{
	char sql[600];

	(void)snprintf(sql, sizeof(sql), "SELECT t.sign_in('%s1', '%sp', "
	    "'%st', account => '%s') || t.authorize('%sr') || "
	    "left(t.show('%sr', '%s'), 2) || left(t.code('%sc', '%s'), 2) || "
	    "t.device('%sd', '%s') || left(t.device_show('%s', '%s'), 2) || "
	    "left(t.login('%sl', '%s'), 2) || "
	    "left(t.ask('%sm', '%s1', account => '%s'), 2) || "
	    "t.shop_login('%sx')", mark, mark, mark, account, mark, mark,
	    account, mark, account, mark, mark, mark, account, mark, account,
	    mark, mark, account, mark);
	si_need(sql, "okokokokokokokokok");
	(void)snprintf(sql, sizeof(sql), "SELECT t.put('%sx', 'k', '%s')",
	    mark, account);
	(void)si_shop(sql, "ok", "a ticket");
}

static int64_t
named(const char *account)
{
	return sql_number("SELECT (SELECT count(*) FROM poppy.grants WHERE "
	    "account = '%s') + (SELECT count(*) FROM poppy.session WHERE "
	    "account = '%s') + (SELECT count(*) FROM poppy.login WHERE "
	    "account = '%s') + (SELECT count(*) FROM poppy.code WHERE "
	    "account = '%s') + (SELECT count(*) FROM poppy.device WHERE "
	    "account = '%s') + (SELECT count(*) FROM poppy.mediated WHERE "
	    "account = '%s') + (SELECT count(*) FROM poppy.shop_login WHERE "
	    "account = '%s') + (SELECT count(*) FROM poppy.sign_in_request "
	    "WHERE account = '%s') + (SELECT count(*) FROM poppy.audit WHERE "
	    "account = '%s')", account, account, account, account, account,
	    account, account, account, account);
}

static void
exports(void)
{
	char got[SI_TEXT];

	pg_sql("TRUNCATE poppy.grants, poppy.session, poppy.session_grant, "
	    "poppy.account_token, poppy.token, poppy.code, poppy.device, "
	    "poppy.login, poppy.mediated, poppy.shop_login, "
	    "poppy.sign_in_request, poppy.audit");
	everything("1", "A");
	everything("2", "B");
	(void)si_shop("SELECT (SELECT string_agg(k || CASE "
	    "jsonb_typeof(v) WHEN 'array' THEN jsonb_array_length(v)::text "
	    "ELSE '' END, ' ' ORDER BY k) FROM jsonb_each(e) j (k, v)) "
	    "FROM poppy_api.customer_export('1') e",
	    "account audit2 exported_at grants1 logins1 requests8 sessions1",
	    "an export has everything of one account");
	(void)si_shop("SELECT e->'grants'->0->>'client_id' FROM "
	    "poppy_api.customer_export('1') e", "https://a.example/c",
	    "... and names the agents");
	(void)si_shop("SELECT (e->'grants')::text FROM "
	    "poppy_api.customer_export('9') e", "[]", "nothing of nobody");
	si_call(bridge, "SELECT (strpos(e::text, encode(t.h('At'), 'hex')) + "
	    "strpos(e::text, encode(t.h('Ap'), 'hex')) + strpos(e::text, "
	    "encode(t.h('Al'), 'hex')) + strpos(e::text, encode(t.h('u'), "
	    "'hex')) + strpos(e::text, encode(t.sid('A1'), 'hex')))::text "
	    "FROM poppy_api.customer_export('1') e", got);
	(void)sql_is(got, "0", "no hash is in it, nor a User");
}

static void
erasures(void)
{
	int64_t others = named("2");

	tap_ok(named("1") > 8, "there is something to erase");
	(void)si_shop("SELECT t.say(grants::text, sessions::text, "
	    "logins::text, requests::text, audits::text) FROM "
	    "poppy_api.customer_erase('1')", "1 1 1 8 4", "erased");
	tap_is(named("1"), 0, "nothing names the account any more");
	tap_is(named("2"), others, "another's is all there");
	tap_is(sql_number("SELECT (SELECT count(*) FROM poppy.token) * 100 + "
	    "(SELECT count(*) FROM poppy.account_token) * 10 + "
	    "(SELECT count(*) FROM poppy.session_grant)"), 211,
	    "tokens went with it");
	(void)si_use("At", "unknown - - -", "... so they are unknown");
	tap_is(sql_number("SELECT count(*) FROM poppy.audit WHERE "
	    "account ~ '^erased:[0-9a-f]{32}$'"), 4, "the audit keeps a hash");
	tap_is(sql_number("SELECT count(DISTINCT account) FROM poppy.audit "
	    "WHERE account LIKE 'erased:%%'"), 1, "... one for the account");
	(void)si_shop("SELECT grants::text FROM poppy_api.customer_erase('1')",
	    "0", "erased again");
	tap_is(sql_number("SELECT count(DISTINCT account) FROM poppy.audit "
	    "WHERE account LIKE 'erased:%%'"), 2,
	    "... which nobody can tell from another");
}

static void
operators(void)
{
	int64_t no = sql_number("SELECT grant_no FROM poppy.grants");

	tap_is(sql_number("SELECT count(*) FROM poppy.grants_list(NULL, NULL, "
	    "false, 10) WHERE login = 'bob' AND state = 'live' AND grant_no = "
	    "%lld", (long long)no), 1, "the operator sees grants");
	tap_is(sql_number("SELECT count(*) FROM poppy.grants_list('1', NULL, "
	    "true, 10)"), 0, "... of an account");
	tap_is(sql_number("SELECT count(*) FROM poppy.grants_list('2', "
	    "'https://b.example/c', true, 10)"), 0, "... of a client");
	tap_is(sql_number("SELECT poppy.grant_revoke(%lld)::int",
	    (long long)no), 1, "... and revokes one");
	(void)si_use("Bt", "ok - () false", "... at the next request");
	tap_is(sql_number("SELECT poppy.grant_revoke(%lld)::int",
	    (long long)no), 0, "... once");
	tap_is(sql_number("SELECT poppy.grant_revoke(-1)::int"), 0,
	    "... one that there is not");
	tap_is(sql_number("SELECT count(*) FROM poppy.grants_list(NULL, NULL, "
	    "false, 10)"), 0, "what is over is not listed");
	tap_is(sql_number("SELECT count(*) FROM poppy.grants_list('2', NULL, "
	    "true, 10) WHERE state = 'grant_revoked'"), 1,
	    "... unless asked for");
}

/* Every statement finds its rows by an index, whatever the tables hold: with
 * enable_seqscan off only one that can't would read a table as a whole. The
 * row of replay_epoch is the only one there is. */
static void
plans(void)
{
	static const char *const calls[] = {
		"t.sign_in('v1', 'vp', 'vt')", "t.refresh('vp')",
		"t.refresh('vp', 'v1', successor => 'vq')", "t.connected()",
		"t.device('vd', 'WWWWWWWW')", "t.device_show('WWWWWWWW')",
		"t.device_decide('WWWWWWWW')", "t.poll('vd', 'v1')",
		"t.login_begin('ann', 9, 9)", "t.login('vl', '1', 'ann', 'x')",
		"t.login_use('vl')", "t.shop_login('vx')", "t.spend('vx', 'k')",
		"t.mediated('ann', 9, 9, 9)", "t.finish('v1')",
		"t.ask('vi', 'v1')", "t.try('vi', 'v1', 'z')",
		"t.try('vi', 'v1')", "t.use('vt')", "t.revoke('vp')",
		"t.disconnect('1', 1)",
		"poppy_api.login_end(t.h('vl'))::text",
		"(SELECT others::text FROM poppy_api.clean(1000))",
	};
	char sql[200], got[SI_TEXT];

	pg_sql("SELECT pg_stat_reset()");
	for (size_t i = 0; i < PF_COUNT(calls); i++) {
		(void)snprintf(sql, sizeof(sql), "SELECT %s || "
		    "pg_stat_force_next_flush()::text", calls[i]);
		si_call(auth, sql, got);
	}
	si_call(bridge, "SELECT t.put('vx', 'k')", got);
	si_call(bridge, "SELECT n::text FROM poppy_api.customer_end('1', '')",
	    got);
	si_call(bridge, "SELECT poppy_api.customer_export('1')::text || ''",
	    got);
	si_call(bridge, "SELECT grants::text || "
	    "pg_stat_force_next_flush()::text FROM "
	    "poppy_api.customer_erase('1')", got);
	tap_ok(sql_number("SELECT sum(idx_scan)::bigint FROM "
	    "pg_stat_user_tables WHERE schemaname = 'poppy'") > 50,
	    "scans are counted");
	si_call(bridge, "SELECT 'connected'", got);
	tap_is(sql_number("SELECT count(*) FROM pg_stat_user_tables WHERE "
	    "schemaname IN ('poppy', 'shop') AND seq_scan > 0 "
	    "AND relname <> 'replay_epoch'"), 0, "... by index, all of them");
}

int
main(void)
{
	si_start();
	retention();
	old_grants();
	exports();
	erasures();
	operators();
	plans();
	return si_done();
}
