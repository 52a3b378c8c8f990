/*
 * session_start and token_use: every outcome, and that anything but 'ok'
 * spends and writes nothing.
 */
#include "config.h"

#include "tests/sql/sql.h"

static struct pf_db *auth, *guard;
static int64_t client, other;

static const char *
start(struct sql_session *s)
{
	return sql_call(auth, &sql_arena, s);
}

static const char *
use(struct sql_use *u)
{
	return sql_ask(guard, &sql_arena, u);
}

static int64_t
rows(void)
{
	return sql_number("SELECT (SELECT count(*) FROM poppy.session) + "
	    "(SELECT count(*) FROM poppy.token) + (SELECT count(*) FROM ("
	    "SELECT FROM poppy.replay_0 UNION ALL SELECT FROM poppy.replay_1 "
	    "UNION ALL SELECT FROM poppy.replay_2 "
	    "UNION ALL SELECT FROM poppy.replay_3) r)");
}

/* *s is refused with want, and leaves no trace. */
static void
refused(struct sql_session *s, const char *want, const char *why)
{
	int64_t before = rows();

	(void)sql_is(start(s), want, "start: %s", why);
	tap_is(rows() - before, 0, "... and nothing is written");
}

static void
use_refused(struct sql_use *u, const char *want, const char *why)
{
	int64_t before = rows();

	(void)sql_is(use(u), want, "use: %s", why);
	tap_is(rows() - before, 0, "... and nothing is written");
	tap_ok(!u->any, "... nor said");
}

static void
starts(void)
{
	struct sql_session s = sql_session(client), t;

	(void)sql_is(start(&s), "ok", "a Session starts");
	tap_is(s.expires_in, 3600, "expires_in");

	t = s;
	t.sid = sql_bytes(1);
	t.token = sql_bytes(2);
	refused(&t, "replay", "the same request again");
	tap_is(t.replayed, 1, "... the first jti is named");
	t.spend[0] = sql_bytes(3);
	refused(&t, "replay", "its second and third jti");
	tap_is(t.replayed, 2, "... the lowest is named");
	t.spend[1] = sql_bytes(4);
	refused(&t, "replay", "its third jti");
	tap_is(t.replayed, 3, "... which is named");
	t.spend[2] = sql_bytes(5);
	(void)sql_is(start(&t), "ok", "what was refused had spent nothing");

	t = sql_session(client);
	t.spend[2] = t.spend[0];
	refused(&t, "replay", "one jti twice in one request");
	tap_is(t.replayed, 3, "... its second place is named");

	t = sql_session(client);
	t.n = 1;
	t.token_s = 100;
	t.idle_s = 50;
	(void)sql_is(start(&t), "ok", "a Session shorter than its token");
	tap_is(t.expires_in, 50, "... cuts the token");
	t = sql_session(client);
	t.max_s = 40;
	(void)sql_is(start(&t), "ok", "... by max_s too");
	tap_is(t.expires_in, 40, "... cuts the token");
}

static void
start_refusals(void)
{
	struct sql_session s;

	s = sql_session(client);
	s.version = 2;
	refused(&s, "stale", "documents of another version");
	s = sql_session(client + 1000);
	refused(&s, "stale", "a client that is not there");
	s = sql_session(client);
	s.iat[1] = pf_now_at() - 800;
	refused(&s, "clock", "an iat too old for the memory");
	tap_ok(s.retry_s > 0, "... with a time to retry");
	s.iat[1] = pf_now_at() + 130;
	refused(&s, "clock", "an iat too far ahead");
	s.iat[1] = -1;
	refused(&s, "clock", "a negative iat");
	s.iat[1] = INT64_MAX;
	refused(&s, "clock", "an absurd iat");

	s = sql_session(client);
	s.n = 0;
	refused(&s, "bug", "no jti at all");
	s = sql_session(client);
	s.bucket = 4096;
	refused(&s, "bug", "no such bucket");
	s = sql_session(client);
	s.bearer = true;
	refused(&s, "bug", "a token bound to nothing");

	pg_sql("UPDATE poppy.client SET status = 'blocked' "
	    "WHERE client_id = 'https://a.example/c'");
	s = sql_session(client);
	refused(&s, "blocked", "a blocked client");
	s.version = 99;
	refused(&s, "blocked", "... whatever its version");
	pg_sql("UPDATE poppy.client SET status = 'known'");
}

static void
renewals(void)
{
	struct sql_session s = sql_session(client), t;
	struct sql_use u;

	s.bucket = 4095;
	(void)sql_is(start(&s), "ok", "a Session");
	t = sql_session(client);
	t.bucket = s.bucket;
	t.sid = s.sid;
	t.renew = true;
	(void)sql_is(start(&t), "ok", "renewed");
	u = sql_use(&s);
	(void)sql_is(use(&u), "ok", "the earlier token is still good");
	u = sql_use(&t);
	(void)sql_is(use(&u), "ok", "and the new one");
	tap_is(sql_number("SELECT count(*) FROM poppy.session "
	    "WHERE bucket = 4095"), 1, "it is one Session");

	t = sql_session(client);
	t.bucket = s.bucket;
	t.renew = true;
	refused(&t, "invalid_session", "unknown");
	t.sid = s.sid;
	t.bucket = 4094;
	refused(&t, "invalid_session", "another bucket");
	t.bucket = s.bucket;
	t.user = sql_bytes(99);
	refused(&t, "invalid_session", "another User");
	t.user = s.user;
	t.client_no = other;
	refused(&t, "invalid_session", "another client");
	t.client_no = client;
	t.spend[1] = s.spend[0];
	refused(&t, "replay", "a replay is told before the Session");
	t = sql_session(client);
	t.bucket = s.bucket;
	t.sid = s.sid;
	t.renew = true;

	pg_sql("UPDATE poppy.session SET started_at = started_at - 1000, "
	    "used_at = used_at - 1000 WHERE bucket = 4095");
	t.idle_s = 1000;
	refused(&t, "invalid_session", "idle too long");
	t.idle_s = IDLE_S;
	t.max_s = 1000;
	refused(&t, "invalid_session", "too old");
	t.max_s = 1010;
	(void)sql_is(start(&t), "ok", "a last renewal");
	tap_ok(t.expires_in > 0 && t.expires_in <= 10,
	    "... never outlives the Session: %lld s", (long long)t.expires_in);
	tap_ok(sql_number("SELECT used_at FROM poppy.session "
	    "WHERE bucket = 4095") >= pf_now_at() - 5, "used_at moved");

	pg_sql("UPDATE poppy.session SET ended_at = used_at "
	    "WHERE bucket = 4095");
	t = sql_session(client);
	t.bucket = s.bucket;
	t.sid = s.sid;
	t.renew = true;
	refused(&t, "invalid_session", "ended");
	u = sql_use(&s);
	use_refused(&u, "ended", "a token of an ended Session");
}

/* Without a proof there are two things to spend, and there is a resource. */
static void
bearer_starts(void)
{
	struct sql_session s = sql_session(client), t;

	s.bearer = true;
	s.n = 2;
	refused(&s, pf_rc_name(PF_E_BUG), "Bearer for no resource");
	s.resource = "https://mcp.example/";
	(void)sql_is(start(&s), "ok", "... for one, and nothing was spent");
	for (size_t i = 0; i < 2; i++) {
		t = sql_session(client);
		t.spend[i] = s.spend[i];
		t.bearer = true;
		t.n = 2;
		t.resource = s.resource;
		refused(&t, "replay", "spent before");
		tap_is(t.replayed, (int64_t)i + 1, "... and which");
		t.bearer = false;
		t.n = 3;
		refused(&t, "replay", "... nor with a proof");
	}
	t = sql_session(client);
	t.sid = s.sid;
	t.renew = true;
	(void)sql_is(start(&t), "ok", "a DPoP token for its Session");
	tap_is(sql_number("SELECT count(*) FROM poppy.token b JOIN poppy.token d"
	    " USING (bucket, sid) WHERE b.jkt IS NULL AND b.resource IS NOT NULL"
	    " AND d.jkt IS NOT NULL AND d.resource IS NULL"), 1,
	    "both are there, each of its kind");
}

static void
uses(void)
{
	struct sql_session s = sql_session(client), b = sql_session(client);
	struct sql_use u, v;

	b.bearer = true;
	b.resource = "https://mcp.example/";
	tap_need(strcmp(start(&s), "ok") == 0 && strcmp(start(&b), "ok") == 0,
	    "two tokens");
	u = sql_use(&s);
	(void)sql_is(use(&u), "ok", "a token");
	tap_is(u.client_no, client, "client_no");
	(void)sql_is(u.client_id, "https://a.example/c", "client_id");
	tap_ok(!u.signed_in, "signed out");
	use_refused(&u, "replay", "the same proof again");
	u.request_id = "r1";
	use_refused(&u, "replay", "... as if it were a second ask");

	u = sql_use(&s);
	u.request_id = "r2";
	(void)sql_is(use(&u), "ok", "a request with an id");
	(void)sql_is(use(&u), "ok", "its second ask");
	v = u;
	v.request_id = "r3";
	use_refused(&v, "replay", "another request with that proof");
	v.request_id = NULL;
	use_refused(&v, "replay", "one without an id");
	v = u;
	v.iat--;
	use_refused(&v, "replay", "the same jti with another iat");

	u = sql_use(&s);
	u.token = sql_bytes(77);
	use_refused(&u, "unknown", "no such token");
	u = sql_use(&s);
	u.bucket++;
	use_refused(&u, "unknown", "another bucket");
	u = sql_use(&s);
	u.bucket = 4096 + s.bucket;
	use_refused(&u, "unknown", "a bucket out of range");
	u = sql_use(&s);
	u.jkt = sql_bytes(78);
	use_refused(&u, "key", "another key");
	u = sql_use(&s);
	u.bearer = true;
	use_refused(&u, "scheme", "no proof for a DPoP token");
	u = sql_use(&b);
	(void)sql_is(use(&u), "ok", "a Bearer token");
	(void)sql_is(use(&u), "ok", "... spends nothing");
	(void)sql_is(u.resource, "https://mcp.example/", "... its resource");
	u = sql_use(&b);
	u.bearer = false;
	use_refused(&u, "scheme", "a proof for a Bearer token");
	u = sql_use(&s);
	u.iat = pf_now_at() - 800;
	use_refused(&u, "clock", "an iat too old for the memory");

	u = sql_use(&s);
	u.idle_s = 0;
	use_refused(&u, "ended", "idle too long");
	u = sql_use(&s);
	u.max_s = 0;
	use_refused(&u, "ended", "too old");
	pg_sql("UPDATE poppy.client SET status = 'blocked'");
	u = sql_use(&s);
	use_refused(&u, "blocked", "the client was blocked");
	pg_sql("UPDATE poppy.client SET status = 'known'");
	(void)sql_is(use(&u), "ok", "unblocked, and the proof was not spent");
	pg_sql("UPDATE poppy.token SET expires_at = issued_at");
	u = sql_use(&s);
	use_refused(&u, "expired", "an expired token");
	pg_sql("DELETE FROM poppy.session");
	pg_sql("UPDATE poppy.token SET expires_at = issued_at + 3600");
	u = sql_use(&s);
	use_refused(&u, "ended", "its Session is gone");
}

/* By documents of this version; 0 is a program that doesn't say. */
static const char *
take_back(int64_t client_no, int64_t version, const struct sql_bytes *spend,
    const struct sql_session *s)
{
	static const struct pf_stmt ST = {
		"token_revoke",
		"SELECT outcome FROM poppy_api.token_revoke($1, $2, $3, $4, "
		"$5, $6, p_client_version => $7)"
	};
	const struct pf_param v[] = {
		PF_INT8(client_no), PF_BYTES(spend->b, 16),
		PF_INT8(pf_now_at()), PF_INT4(30),
		s == NULL ? PF_NULLP : PF_INT4(s->bucket),
		s == NULL ? PF_NULLP : PF_BYTES(s->token.b, 32),
		version == 0 ? PF_NULLP : PF_INT8(version)
	};
	struct pf_row r;
	enum pf_rc rc;

	rc = pf_db_one(auth, &sql_arena, &ST, v, PF_COUNT(v), &r);
	return rc == PF_OK ? pf_row_str(&r, 0).p : pf_rc_name(rc);
}

static void
revokes(void)
{
	struct sql_session s = sql_session(client), t = sql_session(client);
	struct sql_bytes spend[7];
	struct sql_use u;

	for (uint64_t i = 0; i < 7; i++)
		spend[i] = sql_bytes(5000000 + i);
	t.sid = s.sid;
	t.renew = true;
	tap_need(strcmp(start(&s), "ok") == 0 && strcmp(start(&t), "ok") == 0,
	    "two tokens of a Session");
	(void)sql_is(take_back(other, 1, &spend[0], &s), "ok",
	    "another client's token: the same answer");
	u = sql_use(&s);
	(void)sql_is(use(&u), "ok", "... without effect");
	(void)sql_is(take_back(other, 1, &spend[0], NULL), "replay",
	    "... but the assertion is spent");
	(void)sql_is(take_back(client, 1, &spend[0], &s), "replay",
	    "a replay revokes nothing");
	u = sql_use(&s);
	(void)sql_is(use(&u), "ok", "... really not");
	(void)sql_is(take_back(client, 2, &spend[1], &s), "stale",
	    "by documents of another version");
	(void)sql_is(take_back(client + 1000, 1, &spend[1], &s), "stale",
	    "by those of a client that is not there");
	pg_sql("UPDATE poppy.client SET status = 'blocked'");
	(void)sql_is(take_back(client, 1, &spend[1], &s), "blocked",
	    "a blocked client");
	(void)sql_is(take_back(client, 2, &spend[1], &s), "blocked",
	    "... by any documents");
	pg_sql("UPDATE poppy.client SET status = 'known'");
	u = sql_use(&s);
	(void)sql_is(use(&u), "ok", "... revoke nothing, and spend nothing:");
	(void)sql_is(take_back(client, 1, &spend[1], NULL), "ok",
	    "what can't be a token");
	(void)sql_is(take_back(client, 1, &spend[2], &s), "ok", "revoked");
	u = sql_use(&s);
	use_refused(&u, "unknown", "a revoked token");
	u = sql_use(&t);
	(void)sql_is(use(&u), "ok", "the Session's other token is not");
	(void)sql_is(take_back(client + 1000, 0, &spend[3], &t), "blocked",
	    "a program that names no version: a client that is not there");
	u = sql_use(&t);
	(void)sql_is(use(&u), "ok", "... revokes nothing");
	(void)sql_is(take_back(client, 0, &spend[4], &t), "ok",
	    "... one that is");
	u = sql_use(&t);
	use_refused(&u, "unknown", "... revokes");
}

/* clean() goes around all buckets and leaves what lives. */
static void
cleans(void)
{
	struct sql_session s = sql_session(client);
	int64_t tokens = 0, sessions = 0;

	pg_sql("DELETE FROM poppy.session; DELETE FROM poppy.token;"
	    "INSERT INTO poppy.session (bucket, sid, client_no, user_key, "
	    "started_at, used_at, ends_at, ended_at) SELECT b, "
	    "substr(sha256(b::text::bytea), 1, 16), 1, sha256('u'), 0, 0, "
	    "CASE WHEN b % 2 = 0 THEN 0 ELSE 9999999999 END, "
	    "CASE WHEN b % 4 = 1 THEN 0 END FROM generate_series(0, 4095) b;"
	    "INSERT INTO poppy.token (bucket, hash, sid, jkt, issued_at, "
	    "expires_at) SELECT b, sha256(b::text::bytea), '', sha256('k'), 0, "
	    "0 FROM generate_series(0, 4095) b");
	tap_need(strcmp(start(&s), "ok") == 0, "a Session that lives");
	for (int i = 0; i < 70; i++) {
		tokens += sql_number("SELECT tokens FROM "
		    "poppy_api.clean(100000)");
		if (i == 0)
			tap_is(tokens, 64, "a call sees 64 buckets");
	}
	tap_is(tokens, 4096, "all expired tokens go");
	sessions = sql_number("SELECT count(*) FROM poppy.session");
	tap_is(sessions, 1024 + 1, "ended Sessions go, the others stay");
	tap_is(sql_number("SELECT count(*) FROM poppy.token"), 1,
	    "a live token stays");
	tap_is(sql_number("SELECT tokens FROM poppy_api.clean(0)"), 0,
	    "a small limit ends early");
}

int
main(void)
{
	sql_start();
	client = sql_client("https://a.example/c");
	other = sql_client("https://b.example/c");
	auth = sql_open(sql_auth);
	guard = sql_open(sql_guard);
	starts();
	start_refusals();
	renewals();
	revokes();
	bearer_starts();
	uses();
	cleans();
	pf_db_free(auth);
	pf_db_free(guard);
	pf_arena_free(&sql_arena);
	return tap_done();
}
