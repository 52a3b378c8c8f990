/*
 * Limits over all connections: exact for an address, at the border of a minute,
 * and what is over the limit leaves nothing behind but the count.
 */
#include "config.h"

#include <pthread.h>

#include "tests/sql/sql.h"

static struct pf_db *auth, *guard;
static int64_t client, other;

/* Away from the end of a minute, so that it stays this one for a while. */
static void
early(void)
{
	while (pf_now_at() % 60 > 50)
		(void)sleep(1);
}

static struct sql_session
from(const char *address, int per_address)
{
	struct sql_session s = sql_session(client);

	s.address = address;
	s.per_address = per_address;
	return s;
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

static void
of_an_address(void)
{
	struct sql_session s;
	int64_t before;

	early();
	for (int i = 0; i < 5; i++) {
		s = from("a", 5);
		(void)sql_is(sql_call(auth, &sql_arena, &s), "ok", "%d of 5",
		    i + 1);
	}
	before = rows();
	for (int i = 0; i < 3; i++) {
		s = from("a", 5);
		(void)sql_is(sql_call(auth, &sql_arena, &s), "limit_address",
		    "one too many");
		tap_ok(s.retry_s >= 1 && s.retry_s <= 60,
		    "... retry in %lld s, with the minute",
		    (long long)s.retry_s);
		tap_is(s.expires_in, 0, "... and nothing is given");
	}
	tap_is(rows() - before, 0, "... nor spent nor written");
	s.per_address = 100;
	(void)sql_is(sql_call(auth, &sql_arena, &s), "ok",
	    "the same request passes where there is room");
	s = from("b", 5);
	(void)sql_is(sql_call(auth, &sql_arena, &s), "ok",
	    "another address is not touched");
	s = from("a", 0);
	(void)sql_is(sql_call(auth, &sql_arena, &s), "ok", "0 is no limit");
	s = from(NULL, 5);
	(void)sql_is(sql_call(auth, &sql_arena, &s), "bug",
	    "a caller that names no address doesn't pass");
}

static void
of_a_minute(void)
{
	struct sql_session s = from("a", 5);

	early();
	pg_sql("UPDATE poppy.limit_count SET minute = minute - 1");
	(void)sql_is(sql_call(auth, &sql_arena, &s), "ok",
	    "a new minute begins anew");
	pg_sql("UPDATE poppy.limit_count SET minute = minute + 1, key = 'z' "
	    "WHERE key = 'a' AND n > 5");
	s = from("z", 5);
	(void)sql_is(sql_call(auth, &sql_arena, &s), "limit_address",
	    "... the count of this one is what counts");
	tap_need(strcmp(s.outcome, "limit_address") == 0, "a full address");
	tap_ok(s.retry_s <= 60 - pf_now_at() % 60 + 1,
	    "... until it ends, in %lld s", (long long)s.retry_s);
}

/* A renewal that is over the limit leaves the Session as it was. */
static void
of_renewals(void)
{
	struct sql_session s = from("r", 2), t;
	struct sql_use u;
	int64_t used, ends;

	early();
	tap_need(strcmp(sql_call(auth, &sql_arena, &s), "ok") == 0,
	    "a Session");
	pg_sql("UPDATE poppy.session SET used_at = used_at - 100, "
	    "ends_at = ends_at - 100");
	used = sql_number("SELECT sum(used_at)::bigint FROM poppy.session");
	ends = sql_number("SELECT sum(ends_at)::bigint FROM poppy.session");
	pg_sql("UPDATE poppy.limit_count SET n = 2 WHERE key = 'r'");
	t = from("r", 2);
	t.sid = s.sid;
	t.renew = true;
	(void)sql_is(sql_call(auth, &sql_arena, &t), "limit_address",
	    "a renewal too many");
	tap_is(sql_number("SELECT sum(used_at)::bigint FROM poppy.session"),
	    used, "... is no use of the Session");
	tap_is(sql_number("SELECT sum(ends_at)::bigint FROM poppy.session"),
	    ends, "... and doesn't lengthen it");
	u = sql_use(&s);
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "ok",
	    "... whose token is as good as before");
	u = sql_use(&t);
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "unknown",
	    "... and which has no other");
}

static void
of_a_client(void)
{
	struct sql_session s;
	int ok = 0;

	early();
	for (int i = 0; i < 60; i++) {
		s = from("c", 0);
		s.per_client = 32;
		ok += strcmp(sql_call(auth, &sql_arena, &s), "ok") == 0;
	}
	tap_is(ok, 32, "a client, one after the other: exact");
	(void)sql_is(s.outcome, "limit_client", "... and it is told");
	s = sql_session(other);
	s.per_client = 32;
	(void)sql_is(sql_call(auth, &sql_arena, &s), "ok",
	    "another client is not touched");
	pg_sql("DELETE FROM poppy.limit_count");
	ok = 0;
	for (int i = 0; i < 10; i++) {
		s = from("c", 0);
		s.per_client = 3;
		ok += strcmp(sql_call(auth, &sql_arena, &s), "ok") == 0;
	}
	tap_is(ok, 3, "a narrow limit");
}

struct racer {
	pthread_t thread;
	struct sql_session s[40];
	int ok, over, else_;
};

static void *
race(void *arg)
{
	struct pf_db *db = sql_open(sql_auth);
	struct racer *r = arg;
	struct pf_arena a;
	const char *out;

	if (pf_arena_init(&a, 8192, 1u << 20) != PF_OK)
		return NULL;
	for (int i = 0; i < 40; i++) {
		out = sql_call(db, &a, &r->s[i]);
		if (strcmp(out, "ok") == 0)
			r->ok++;
		else if (strcmp(out, "limit_address") == 0)
			r->over++;
		else
			r->else_++;
		pf_arena_reset(&a);
	}
	pf_arena_free(&a);
	pf_db_free(db);
	return NULL;
}

/* Four connections at once, for one address and one client. */
static void
races(int per_address, int per_client, int least, int most, const char *why)
{
	static struct racer r[4];
	int64_t before, minute;
	int ok = 0, odd = 0;

	(void)memset(r, 0, sizeof(r));
	early();
	minute = pf_now_at() / 60;
	before = rows();
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 40; k++) {
			r[i].s[k] = from("race", per_address);
			r[i].s[k].per_client = per_client;
		}
		tap_need(pthread_create(&r[i].thread, NULL, race, &r[i]) == 0,
		    "thread");
	}
	for (int i = 0; i < 4; i++) {
		(void)pthread_join(r[i].thread, NULL);
		ok += r[i].ok;
		odd += r[i].else_;
	}
	tap_need(pf_now_at() / 60 == minute, "all in one minute");
	tap_ok(ok >= least && ok <= most, "%s: %d pass", why, ok);
	tap_is(rows() - before, 5 * ok, "... and nothing else is written");
	if (per_address > 0)
		tap_is(odd, 0, "... all others are told");
}

static const char *
take_back(int64_t client_no, struct sql_bytes spend,
    const struct sql_session *s, int64_t *retry_s)
{
	static const struct pf_stmt ST = {
		"token_revoke",
		"SELECT outcome, retry_s FROM poppy_api.token_revoke("
		"$1, $2, $3, 30, $4, $5, 'rev', 'rev', 2, 0)"
	};
	const struct pf_param v[] = {
		PF_INT8(client_no), PF_BYTES(spend.b, 16),
		PF_INT8(pf_now_at()), PF_INT4(s->bucket),
		PF_BYTES(s->token.b, 32)
	};
	struct pf_row r;
	enum pf_rc rc;

	rc = pf_db_one(auth, &sql_arena, &ST, v, PF_COUNT(v), &r);
	*retry_s = rc == PF_OK ? pf_row_int(&r, 1) : -1;
	return rc == PF_OK ? pf_row_str(&r, 0).p : pf_rc_name(rc);
}

static void
of_revocations(void)
{
	struct sql_session s = from("rev", 100);
	struct sql_use u;
	int64_t retry_s;

	early();
	tap_need(strcmp(sql_call(auth, &sql_arena, &s), "ok") == 0,
	    "a Session");
	for (uint64_t i = 0; i < 2; i++)
		(void)sql_is(take_back(other, sql_bytes(9000000 + i), &s,
		    &retry_s), "ok", "a revocation");
	(void)sql_is(take_back(client, sql_bytes(9000002), &s, &retry_s),
	    "limit_address", "one too many");
	tap_ok(retry_s >= 1 && retry_s <= 60, "... with a time to retry");
	u = sql_use(&s);
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "ok",
	    "... the token lives");
	pg_sql("DELETE FROM poppy.limit_count WHERE key = 'rev' AND kind = 3");
	(void)sql_is(take_back(client, sql_bytes(9000002), &s, &retry_s), "ok",
	    "... and the assertion was not spent");
	u = sql_use(&s);
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "unknown",
	    "the token is gone");
}

static void
cleaned(void)
{
	int64_t minute = pf_now_at() / 60;

	pg_sql("DELETE FROM poppy.limit_count; INSERT INTO poppy.limit_count "
	    "SELECT floor(date_part('epoch', now()) / 60) - i, 1, 'k', 0, 1 "
	    "FROM generate_series(0, 9) i");
	(void)sql_number("SELECT tokens FROM poppy_api.clean(10)");
	tap_is(sql_number("SELECT count(*) FROM poppy.limit_count WHERE "
	    "minute < %lld", (long long)minute - 1), 0, "old counts go");
	tap_ok(sql_number("SELECT count(*) FROM poppy.limit_count") >= 2,
	    "those of this minute and the last stay");
}

int
main(void)
{
	sql_start();
	client = sql_client("https://a.example/c");
	other = sql_client("https://b.example/c");
	auth = sql_open(sql_auth);
	guard = sql_open(sql_guard);
	of_an_address();
	of_a_minute();
	of_renewals();
	of_a_client();
	races(50, 0, 50, 50, "50 of an address, four connections at once");
	pg_sql("DELETE FROM poppy.limit_count");
	races(0, 100, 100, 100, "100 of a client, four connections at once");
	pg_sql("DELETE FROM poppy.limit_count; INSERT INTO poppy.limit_count "
	    "SELECT floor(date_part('epoch', now()) / 60) + m, 2, "
	    "int8send(client_no), i, 62 FROM generate_series(0, 15) i, "
	    "generate_series(0, 1) m, poppy.client "
	    "WHERE client_id = 'https://a.example/c'");
	races(0, 1024, 32, 35, "the last 32 of 1,024 of a client");
	of_revocations();
	cleaned();
	pf_db_free(auth);
	pf_db_free(guard);
	pf_arena_free(&sql_arena);
	return tap_done();
}
