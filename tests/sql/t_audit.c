/*
 * The audit: each refusal of the database leaves one row, which says what and
 * whose; nothing else does, and no row lasts for ever.
 */
#include "config.h"

#include "core/poppy/audit.h"
#include "tests/sql/sql.h"

static struct pf_db *auth, *guard;
static int64_t client;

static int64_t
count(const char *where)
{
	return sql_number("SELECT count(*) FROM poppy.audit WHERE %s", where);
}

/* Just one row since the last look, and it is like that. */
static void
row_is(const char *where, const char *why)
{
	tap_is(count("true"), 1, "%s: one row", why);
	tap_is(count(where), 1, "... %s", where);
	pg_sql("DELETE FROM poppy.audit");
}

static void
no_row(const char *why)
{
	tap_is(count("true"), 0, "%s: no row", why);
}

static const char *
start(struct sql_session *s)
{
	s->address = "192.0.2.1";
	return sql_call(auth, &sql_arena, s);
}

static const char *
use(struct sql_use *u)
{
	u->address = "192.0.2.2";
	return sql_ask(guard, &sql_arena, u);
}

#define WHOSE	" AND client_id = 'https://a.example/c' AND n = 1 AND " \
	"octet_length(user_key) = 32 AND login = "
#define AT_AUTH		WHOSE "'poppy_auth' AND address = '192.0.2.1'"
#define AT_GUARD	WHOSE "'poppy_guard' AND address = '192.0.2.2'"

static void
refusals(void)
{
	struct sql_session s = sql_session(client), t;
	struct sql_use u;

	(void)sql_is(start(&s), "ok", "a Session");
	u = sql_use(&s);
	(void)sql_is(use(&u), "ok", "its token");
	no_row("what is granted");
	(void)sql_is(use(&u), "replay", "a proof again");
	row_is("kind = 'replay' AND octet_length(sid) = 16 AND bucket = 7"
	    AT_GUARD, "a replayed proof");
	u = sql_use(&s);
	u.jkt = sql_bytes(99);
	(void)sql_is(use(&u), "key", "another key");
	row_is("kind = 'key' AND octet_length(sid) = 16" AT_GUARD,
	    "a proof of another key");
	u = sql_use(&s);
	u.token = sql_bytes(98);
	(void)sql_is(use(&u), "unknown", "no token of ours");
	no_row("it is counted by the program");

	(void)sql_is(start(&s), "replay", "all again");
	row_is("kind = 'replay' AND detail = 'proof'" AT_AUTH, "a proof");
	t = sql_session(client);
	t.spend[1] = s.spend[1];
	(void)sql_is(start(&t), "replay", "the client assertion again");
	row_is("kind = 'replay' AND detail = 'client_assertion'" AT_AUTH,
	    "a client assertion");
	t = sql_session(client);
	t.spend[2] = s.spend[2];
	(void)sql_is(start(&t), "replay", "the assertion again");
	row_is("kind = 'replay' AND detail = 'assertion'" AT_AUTH,
	    "an assertion");
	t = sql_session(client);
	t.renew = true;
	(void)sql_is(start(&t), "invalid_session", "no such Session");
	row_is("kind = 'invalid_session' AND octet_length(sid) = 16" AT_AUTH,
	    "a Session that is none");
	t = sql_session(client);
	t.version = 9;
	(void)sql_is(start(&t), "stale", "older documents");
	t = sql_session(client);
	t.iat[0] -= 9999;
	(void)sql_is(start(&t), "clock", "no live iat");
	no_row("what is nobody's fault");
	t = sql_session(client);
	t.per_address = 1;
	pg_sql("INSERT INTO poppy.limit_count SELECT "
	    "floor(date_part('epoch', now()) / 60) + i, 1, '192.0.2.1', 0, 9 "
	    "FROM generate_series(0, 1) i");
	(void)sql_is(start(&t), "limit_address", "a full address");
	row_is("kind = 'limit_address'" AT_AUTH, "a limit");
}

static void
revocations(void)
{
	static const struct pf_stmt ST = {
		"token_revoke",
		"SELECT outcome FROM poppy_api.token_revoke($1, $2, $3, 30, "
		"$4, $5, '192.0.2.1')"
	};
	struct sql_session s = sql_session(client);
	struct sql_bytes spend = sql_bytes(9000000);
	const struct pf_param v[] = {
		PF_INT8(client), PF_BYTES(spend.b, 16), PF_INT8(pf_now_at()),
		PF_INT4(s.bucket), PF_BYTES(s.token.b, 32)
	};
	struct pf_row r;

	tap_need(strcmp(start(&s), "ok") == 0, "a Session");
	tap_is(pf_db_one(auth, &sql_arena, &ST, v, PF_COUNT(v), &r), PF_OK,
	    "revoked");
	row_is("kind = 'token_revoked' AND octet_length(sid) = 16" AT_AUTH,
	    "a token revoked");
	tap_is(pf_db_one(auth, &sql_arena, &ST, v, PF_COUNT(v), &r), PF_OK,
	    "again");
	row_is("kind = 'replay' AND detail = 'client_assertion'",
	    "the assertion again");
	pg_sql("DELETE FROM poppy.replay_0; DELETE FROM poppy.replay_1; "
	    "DELETE FROM poppy.replay_2; DELETE FROM poppy.replay_3");
	tap_is(pf_db_one(auth, &sql_arena, &ST, v, PF_COUNT(v), &r), PF_OK,
	    "a token that is gone");
	no_row("nothing was revoked");
}

static void
clients(void)
{
	struct sql_session s = sql_session(client);
	struct sql_use u;

	pg_sql("DELETE FROM poppy.audit");
	(void)sql_client("https://new.example/c");
	row_is("kind = 'client_new' AND client_id = 'https://new.example/c' "
	    "AND client_no IS NOT NULL", "a new client");
	(void)sql_client("https://new.example/c");
	no_row("the same documents again");
	pg_sql("SELECT FROM poppy_api.client_store('https://new.example/c', "
	    "'{}', '{\"keys\":[1]}', 300, 300)");
	row_is("kind = 'client_changed' AND detail = 'version 2'",
	    "other documents");
	tap_need(strcmp(start(&s), "ok") == 0, "a Session");
	pg_sql("SELECT FROM poppy.client_rule_set('a.example', 'block')");
	tap_is(count("kind = 'rule_block' AND detail = 'a.example'"), 1,
	    "what the operator said");
	pg_sql("DELETE FROM poppy.audit WHERE kind = 'rule_block'");
	row_is("kind = 'client_blocked' AND login = 'postgres' AND "
	    "client_id = 'https://a.example/c'", "a client blocked");
	u = sql_use(&s);
	(void)sql_is(use(&u), "blocked", "its token");
	row_is("kind = 'blocked'" AT_GUARD, "a blocked client's call");
	s = sql_session(client);
	(void)sql_is(start(&s), "blocked", "its start");
	row_is("kind = 'blocked'" AT_AUTH, "a blocked client's start");
	pg_sql("SELECT FROM poppy.client_rule_set('a.example', 'allow')");
	tap_is(count("kind = 'rule_allow' AND detail = 'a.example'"), 1,
	    "what the operator said then");
	pg_sql("DELETE FROM poppy.audit WHERE kind = 'rule_allow'");
	row_is("kind = 'client_allowed'", "a client allowed");
	pg_sql("SELECT FROM poppy.client_forget('a.example')");
	tap_is(count("kind = 'rule_none' AND detail = 'a.example'"), 1,
	    "a rule dropped");
	tap_is(count("kind = 'client_known'"), 1, "... and its consequence");
	tap_is(count("kind = 'client_forgotten'"), 1, "a client forgotten");
}

/* What a program says: its answer, or 'bug'. */
static int64_t
added(const char *rows)
{
	static const struct pf_stmt ST = {
		"audit_add", "SELECT poppy_api.audit_add($1)"
	};
	const struct pf_param v = PF_TEXT(pf_str(rows));
	struct pf_row r;

	return pf_db_one(guard, &sql_arena, &ST, &v, 1, &r) == PF_OK ?
	    pf_row_int(&r, 0) : -1;
}

static void
counted(void)
{
	struct pf_str many;
	struct pf_buf b;

	pg_sql("DELETE FROM poppy.audit");
	tap_is(added("[{\"detail\":\"invalid_request: x\",\"address\":"
	    "\"192.0.2.3\",\"n\":12}]"), 1, "a kind of refusals");
	row_is("kind = 'refused' AND n = 12 AND login = 'poppy_guard' AND "
	    "address = '192.0.2.3' AND detail = 'invalid_request: x' AND "
	    "client_no IS NULL", "what was counted");
	tap_is(added("[{\"detail\":\"x\",\"n\":1}]"), 1, "without an address");
	pg_sql("DELETE FROM poppy.audit");
	tap_is(added("[]"), 0, "nothing");
	tap_is(added("[{\"detail\":\"x\",\"n\":0}]"), 0, "none of them");
	tap_is(added("[{\"detail\":\"x\",\"n\":-5}]"), 0, "fewer than none");
	tap_is(added("no JSON"), -1, "what is no JSON");
	tap_is(added("{}"), -1, "what is no list");
	no_row("what says nothing");
	pf_buf_init(&b, &sql_arena, 1u << 20);
	for (int i = 0; i < 300; i++)
		pf_buf_fmt(&b, "%s{\"detail\":\"%0*d\",\"n\":1}",
		    i == 0 ? "[" : ",", 999, i);
	pf_buf_addz(&b, "]");
	tap_need(pf_buf_done(&b, &many) == PF_OK, "a long list");
	tap_is(added(many.p), 200, "at most 200 of them");
	tap_is(count("octet_length(detail) = 200"), 200, "... cut");
}

/* What a process counts between two flushes. */
static void
of_a_process(void)
{
	struct pf_db *dead = sql_open(pg.other);
	struct pf_audit *au;
	char text[40];

	pg_sql("DELETE FROM poppy.audit");
	tap_need(pf_audit_new(&au) == PF_OK, "memory");
	tap_is(pf_audit_flush(au, dead, &sql_arena), PF_OK,
	    "nothing counted, nothing asked");
	pf_audit_count(au, PF_LIT("x"), PF_LIT("192.0.2.1"), 1);
	pf_audit_count(au, PF_LIT("x"), PF_LIT("192.0.2.1"), 2);
	pf_audit_count(au, PF_LIT("x"), PF_LIT("192.0.2.10"), 1);
	pf_audit_count(au, PF_LIT("x"), PF_NOSTR, 1);
	pf_audit_count(au, PF_LIT(""), PF_NOSTR, 1);
	pf_audit_count(au, PF_LIT("y"), PF_LIT("192.0.2.1"), 0);
	tap_is(pf_audit_flush(au, dead, &sql_arena), PF_E_DB,
	    "a database that is away");
	tap_is(pf_audit_flush(au, auth, &sql_arena), PF_OK, "it is back");
	tap_is(count("true"), 3, "a row for each detail and address");
	tap_is(count("n = 3 AND address = '192.0.2.1'"), 1, "... added up");
	tap_is(count("n = 1 AND address IS NULL"), 1, "... or without one");
	tap_is(pf_audit_flush(au, auth, &sql_arena), PF_OK, "again");
	tap_is(count("true"), 3, "... adds nothing");
	pg_sql("DELETE FROM poppy.audit");
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(text, sizeof(text), "kind %d", i);
		pf_audit_count(au, pf_str(text), PF_LIT("2001:db8::1"), 2);
	}
	pf_audit_count(au, PF_LIT("kind 0"), PF_LIT("2001:db8::1"), 1);
	tap_is(pf_audit_flush(au, auth, &sql_arena), PF_OK, "a flood of kinds");
	tap_is(count("true"), PF_AUDIT_PLACES + 1, "is a few rows");
	tap_is(sql_number("SELECT sum(n)::bigint FROM poppy.audit"), 2001,
	    "... of which none is lost");
	tap_is(count("detail = 'others' AND address IS NULL"), 1,
	    "... most are others");
	pf_audit_free(au);
	pf_db_free(dead);
}

static void
retention(void)
{
	pg_sql("DELETE FROM poppy.audit; INSERT INTO poppy.audit (at, kind) "
	    "SELECT date_part('epoch', now())::bigint - (30 - i) * 86400 - 100,"
	    " 'x' FROM generate_series(0, 30) i");
	tap_is(sql_number("SELECT audits FROM poppy_api.clean(3, "
	    "10 * 86400)"), 3, "as many as it may");
	tap_is(sql_number("SELECT audits FROM poppy_api.clean(1000, "
	    "10 * 86400)"), 18, "all that is over");
	tap_is(count("true"), 10, "the younger ones stay");
	tap_is(sql_number("SELECT audits FROM poppy_api.clean(1000, "
	    "10 * 86400)"), 0, "nothing is left to do");
}

int
main(void)
{
	sql_start();
	client = sql_client("https://a.example/c");
	auth = sql_open(sql_auth);
	guard = sql_open(sql_guard);
	pg_sql("DELETE FROM poppy.audit");
	refusals();
	revocations();
	clients();
	counted();
	of_a_process();
	retention();
	pf_db_free(auth);
	pf_db_free(guard);
	pf_arena_free(&sql_arena);
	return tap_done();
}
