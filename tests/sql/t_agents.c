/*
 * What the operator says about agents: rules by client_id and host, registration,
 * and the cap on new client_ids.
 */
#include "config.h"

#include <pthread.h>

#include "tests/sql/sql.h"

static struct pf_db *db;

/* Defaults of a look at a client; a test bends what it is about. */
struct look {
	const char *id;
	bool claim, force, registration;
	int claim_s;
	int net;		/* -1: the client address is not counted */
	const char *domain;
	int per_net, per_domain, per_hour;
	/* what comes back */
	char outcome[16];
	bool allowed;
	int64_t retry_s, client_no, version;
};

static const struct pf_stmt GET = {
	"client_get",
	"SELECT outcome, client_no, version, allowed, retry_s "
	"FROM poppy_api.client_get($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
};

static const char *
look(struct pf_db *at, struct pf_arena *a, struct look *l)
{
	unsigned char net[16] = { (unsigned char)l->net };
	const struct pf_param v[] = {
		PF_TEXT(pf_str(l->id)), PF_BOOL(l->claim), PF_BOOL(l->force),
		PF_BOOL(l->registration),
		PF_INT4(l->claim_s != 0 ? l->claim_s : 8),
		PF_BYTES(net, sizeof(net)), PF_TEXT(pf_str(l->domain)),
		PF_INT4(l->per_net), PF_INT4(l->per_domain),
		l->per_hour != 0 ? PF_INT4(l->per_hour) : PF_NULLP
	};
	struct pf_row r;

	tap_need(pf_db_one(at, a, &GET, v, PF_COUNT(v), &r) == PF_OK,
	    "client_get");
	(void)snprintf(l->outcome, sizeof(l->outcome), "%.*s",
	    PF_STRF(pf_row_str(&r, 0)));
	l->client_no = pf_row_int(&r, 1);
	l->version = pf_row_int(&r, 2);
	l->allowed = pf_row_bool(&r, 3);
	l->retry_s = pf_row_int(&r, 4);
	return l->outcome;
}

static const char *
seen(const char *id, bool registration)
{
	static struct look l;

	l = (struct look){ .id = id, .registration = registration };
	return look(db, &sql_arena, &l);
}

/* How many clients a rule changed. */
static int64_t
rule(const char *pattern, const char *verdict)
{
	return sql_number("SELECT changed FROM poppy.client_rule_set('%s', "
	    "nullif('%s', ''))", pattern, verdict);
}

static void
drop_rules(void)
{
	pg_sql("SELECT poppy.client_rule_set(pattern, NULL) "
	    "FROM poppy.client_rule");
}

static const struct {
	const char *pattern, *id;
	bool meets;
} patterns[] = {
	{ "https://a.example/c", "https://a.example/c", true },
	{ "https://a.example/c", "https://a.example/C", false },
	{ "https://a.example/c", "https://a.example/c?x", false },
	{ "https://a.example/c", "https://a.example/c/d", false },
	{ "a.example", "https://a.example/c", true },
	{ "a.example", "https://A.EXAMPLE/c", true },
	{ "a.example", "https://a.example:8443/c", true },
	{ "a.example", "HTTPS://a.example?x", true },
	{ "a.example", "https://b.a.example/c", false },
	{ "a.example", "https://a.example.evil/c", false },
	{ "a.example", "https://xa.example/c", false },
	{ "a.example", "https://evil/a.example", false },
	{ "a.example", "https://evil/https://a.example/", false },
	{ "*.a.example", "https://b.a.example/c", true },
	{ "*.a.example", "https://c.b.A.example:1/c", true },
	{ "*.a.example", "https://a.example/c", false },
	{ "*.a.example", "https://xa.example/c", false },
	{ "*.a.example", "https://b.a.example.evil/c", false },
	{ "127.0.0.1", "https://127.0.0.1:8443/c", true },
	{ "[::1]", "https://[::1]:8443/c", true },
	{ "a_b.example", "https://axb.example/c", false },
	{ "*.a_b.example", "https://x.axb.example/c", false },
};

static void
matching(void)
{
	for (size_t i = 0; i < PF_COUNT(patterns); i++) {
		(void)rule(patterns[i].pattern, "block");
		(void)sql_is(seen(patterns[i].id, false), patterns[i].meets ?
		    "blocked" : "fetch", "%s %s %s", patterns[i].pattern,
		    patterns[i].meets ? "is" : "is not", patterns[i].id);
		drop_rules();
	}
}

static void
closest(void)
{
	(void)rule("*.example", "block");
	(void)rule("*.b.example", "allow");
	(void)rule("x.b.example", "block");
	(void)rule("https://x.b.example/c", "allow");
	(void)sql_is(seen("https://a.example/c", false), "blocked", "parent");
	(void)sql_is(seen("https://a.b.example/c", true), "fetch",
	    "the longer parent");
	(void)sql_is(seen("https://x.b.example/d", false), "blocked",
	    "the host before its parents");
	(void)sql_is(seen("https://x.b.example/c", true), "fetch",
	    "the client_id before its host");
	(void)rule("https://x.b.example/c", "");
	(void)sql_is(seen("https://x.b.example/c", false), "blocked",
	    "a rule that was taken away");
	drop_rules();
}

/* Rules reach known clients, their tokens and what processes keep. */
static void
known(void)
{
	int64_t client = sql_client("https://k.example/c"), version;
	struct sql_session s = sql_session(client);
	struct pf_db *guard = sql_open(sql_guard);
	struct sql_use u;

	(void)sql_client("https://other.example/c");
	s.version = sql_number("SELECT version FROM poppy.client "
	    "WHERE client_no = %lld", (long long)client);
	(void)sql_is(sql_call(db, &sql_arena, &s), "ok", "a Session");
	u = sql_use(&s);
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "ok", "its token");
	tap_is(rule("k.example", "block"), 1, "one client is blocked");
	tap_is(rule("k.example", "block"), 0, "... once");
	u = sql_use(&s);
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "blocked",
	    "its token is dead at the next call");
	s = sql_session(client);
	(void)sql_is(sql_call(db, &sql_arena, &s), "blocked",
	    "a start with what a process kept");
	(void)sql_is(seen("https://k.example/c", false), "blocked", "a look");
	(void)sql_is(seen("https://other.example/c", false), "fresh",
	    "others don't care");

	tap_is(rule("k.example", ""), 1, "unblocked");
	version = sql_number("SELECT version FROM poppy.client "
	    "WHERE client_no = %lld", (long long)client);
	s.version = version - 1;
	(void)sql_is(sql_call(db, &sql_arena, &s), "stale",
	    "what a process kept from before is stale");
	s.version = version;
	(void)sql_is(sql_call(db, &sql_arena, &s), "ok", "it is in again");
	pf_db_free(guard);
}

static void
registration(void)
{
	struct look l = { .id = "https://r.example/c", .registration = true,
		.claim = true };

	(void)sql_is(look(db, &sql_arena, &l), "unregistered",
	    "nobody allowed it");
	tap_is(sql_number("SELECT count(*) FROM poppy.client_failure "
	    "WHERE client_id = 'https://r.example/c'"), 0, "... no claim");
	(void)sql_is(seen("https://other.example/c", true), "unregistered",
	    "a known one, too");
	(void)rule("r.example", "allow");
	(void)sql_is(look(db, &sql_arena, &l), "fetch", "allowed: fetched");
	tap_ok(l.allowed, "... and it says so");
	(void)sql_client("https://r.example/c");
	(void)sql_is(look(db, &sql_arena, &l), "fresh", "stored");
	tap_ok(l.allowed, "... is allowed");
	tap_is(rule("r.example", ""), 1, "no longer allowed");
	(void)sql_is(look(db, &sql_arena, &l), "unregistered", "... out");
	l.registration = false;
	(void)sql_is(look(db, &sql_arena, &l), "fresh",
	    "without registration it is in");
	drop_rules();
}

static void
forget(void)
{
	int64_t before, client = sql_client("https://f.example/c");

	before = sql_number("SELECT version FROM poppy.client "
	    "WHERE client_no = %lld", (long long)client);
	(void)rule("f.example", "allow");
	tap_is(sql_number("SELECT changed FROM poppy.client_forget('f.example')"),
	    1, "one client is forgotten");
	tap_is(sql_number("SELECT count(*) FROM poppy.client_rule"), 0,
	    "... and its rule");
	(void)sql_is(seen("https://f.example/c", false), "fetch",
	    "its documents are fetched anew");
	tap_ok(sql_number("SELECT version FROM poppy.client WHERE client_no = "
	    "%lld AND jwks IS NULL", (long long)client) > before,
	    "what processes kept of it is stale");
	tap_is(sql_number("SELECT client_no FROM poppy_api.client_store("
	    "'https://f.example/c', '{}', '{}', 300, 300)"), client,
	    "it is the same client afterwards");
	(void)sql_is(seen("https://other.example/c", false), "fresh",
	    "others stay");
	(void)sql_number("SELECT 1 FROM poppy_api.client_fail("
	    "'https://g.example/c', 'x', false, 60)");
	tap_is(sql_number("SELECT changed FROM poppy.client_forget("
	    "'https://g.example/c')"), 1, "a failure is forgotten");
	(void)sql_is(seen("https://g.example/c", false), "fetch", "... so");
}

static const char *
fresh_id(void)
{
	static char id[32][32];
	static int n;

	tap_need(n < 32, "room for one more id");
	(void)snprintf(id[n], sizeof(id[n]), "https://n%d.example/c", n);
	return id[n++];
}

/* One more new client_id from a network, on a domain; its documents are good
 * unless that is refused. */
static struct look
one_more(int net, const char *domain)
{
	struct look l = { .id = fresh_id(), .claim = true, .net = net,
		.domain = domain, .per_net = 3, .per_domain = 5,
		.per_hour = 8 };

	if (strcmp(look(db, &sql_arena, &l), "fetch") == 0)
		tap_need(sql_number("SELECT client_no FROM "
		    "poppy_api.client_store('%s', '{}', '{}', 300, 300, NULL, "
		    "NULL, '%s')", l.id, domain) > 0, "client_store");
	return l;
}

static int64_t
counted(const char *kind)
{
	return sql_number("SELECT coalesce(sum(n), 0) FROM poppy.client_new "
	    "WHERE kind = '%s'", kind);
}

/* Names that strangers invent on a domain, without any document there. */
static void
inventions(void)
{
	struct look l;

	for (int net = 50; net < 60; net++) {
		l = (struct look){ .id = fresh_id(), .claim = true, .net = net,
			.domain = "a", .per_net = 3, .per_domain = 5,
			.per_hour = 8 };
		(void)sql_is(look(db, &sql_arena, &l), "fetch",
		    "an invention from network %d", net);
	}
	tap_is(counted("domain"), 0, "they close no domain");
	tap_is(counted("all"), 0, "... and not the company");
	pg_sql("TRUNCATE poppy.client_new");
}

static void
caps(void)
{
	struct look l, other = { .claim = false, .net = 9, .domain = "z",
		.per_net = 3, .per_domain = 5, .per_hour = 8 };

	inventions();
	for (int i = 0; i < 3; i++) {
		l = one_more(1, "a");
		(void)sql_is(l.outcome, "fetch", "address 1, number %d", i + 1);
	}
	l = one_more(1, "a");
	(void)sql_is(l.outcome, "capped", "address 1 has had its three");
	tap_ok(l.retry_s > 0 && l.retry_s <= 3600, "... till the hour is over");
	(void)one_more(1, "b");
	tap_is(counted("domain"), 3, "who is refused counts nowhere");
	tap_is(counted("all"), 3, "... not in all either");
	l.claim = false;
	(void)sql_is(look(db, &sql_arena, &l), "capped", "so says a look");
	for (int i = 0; i < 2; i++) {
		l = one_more(2, "a");
		(void)sql_is(l.outcome, "fetch", "domain a, number %d", i + 4);
	}
	l = one_more(2, "a");
	(void)sql_is(l.outcome, "capped", "domain a has had its five");
	l = one_more(2, "b");
	(void)sql_is(l.outcome, "fetch", "... domain b has not");
	(void)one_more(3, "b");
	(void)sql_is(one_more(3, "c").outcome, "fetch", "number eight in all");
	(void)sql_is(one_more(4, "d").outcome, "capped", "number nine in all");

	other.id = l.id;
	(void)sql_is(look(db, &sql_arena, &other), "fresh",
	    "an id that was counted is new no more");
	other.id = "https://other.example/c";
	(void)sql_is(look(db, &sql_arena, &other), "fresh",
	    "known clients are not touched");
	pg_sql("UPDATE poppy.client SET fresh_until = 0, stale_until = 0");
	(void)sql_is(look(db, &sql_arena, &other), "fetch",
	    "... also when their copy is too old");
	(void)rule("*.example", "allow");
	(void)sql_is(one_more(1, "a").outcome, "fetch",
	    "nor are those that the operator allowed");
	drop_rules();
	pg_sql("UPDATE poppy.client_new SET hour = hour - 1");
	(void)sql_is(one_more(1, "a").outcome, "fetch", "the next hour");
	tap_is(counted("net"), 1, "counted from one");
	tap_is(sql_number("SELECT count(*) FROM poppy.client_new"), 3,
	    "what is over is gone");
}

struct racer {
	struct pf_db *db;
	struct pf_arena arena;
	struct look look;
	pthread_barrier_t *gate;
};

static void *
race(void *arg)
{
	struct racer *r = arg;

	(void)pthread_barrier_wait(r->gate);
	(void)look(r->db, &r->arena, &r->look);
	return NULL;
}

/* Two connections and one place left; also for one client_id. */
static void
races(bool same)
{
	struct racer r[2];
	pthread_barrier_t gate;
	pthread_t t[2];
	char id[2][64];
	int both = 0, one = 0;

	tap_need(pthread_barrier_init(&gate, NULL, 2) == 0, "barrier");
	for (int i = 0; i < 2; i++) {
		r[i].db = sql_open(sql_auth);
		r[i].gate = &gate;
		tap_need(pf_arena_init(&r[i].arena, 1u << 16, 16u << 20) ==
		    PF_OK, "arena");
	}
	for (int n = 0; n < 50; n++) {
		pg_sql("TRUNCATE poppy.client_new, poppy.client_failure");
		for (int i = 0; i < 2; i++) {
			(void)snprintf(id[i], sizeof(id[i]),
			    "https://race.example/%d/%d", n, same ? 0 : i);
			r[i].look = (struct look){ .id = id[i], .claim = true,
				.net = 1, .domain = "race.example",
				.per_net = same ? 9 : 1, .per_domain = 9,
				.per_hour = 9 };
			tap_need(pthread_create(&t[i], NULL, race, &r[i]) == 0,
			    "thread");
		}
		for (int i = 0; i < 2; i++)
			(void)pthread_join(t[i], NULL);
		both += strcmp(r[0].look.outcome, "fetch") == 0 &&
		    strcmp(r[1].look.outcome, "fetch") == 0;
		one += (strcmp(r[0].look.outcome, "fetch") == 0) !=
		    (strcmp(r[1].look.outcome, "fetch") == 0);
	}
	tap_is(both, 0, "never both of two at once: %s",
	    same ? "one client_id" : "one place");
	tap_is(one, 50, "... always one");
	for (int i = 0; i < 2; i++) {
		pf_db_free(r[i].db);
		pf_arena_free(&r[i].arena);
	}
	(void)pthread_barrier_destroy(&gate);
}

/* A client that is stored while its host is being blocked ends up blocked. */
static void
block_and_store(void)
{
	static const struct pf_stmt STORE = {
		"store", "SELECT outcome FROM poppy_api.client_store("
		"'https://bs.example/c', '{}', '{}', 300, 300)"
	};
	struct pf_db_opts o = {
		.conninfo = pg.conninfo, .timeout_ms = 10000, .quiet = true
	};
	struct pf_db *writer, *blocker;
	struct pf_row r;

	tap_need(pf_db_new(&o, &writer) == PF_OK &&
	    pf_db_new(&o, &blocker) == PF_OK, "pf_db_new");
	tap_need(pf_db_script(writer, "BEGIN") == PF_OK &&
	    pf_db_one(writer, &sql_arena, &STORE, NULL, 0, &r) == PF_OK,
	    "a store that has not committed");
	tap_ok(pf_db_script(blocker, "SET lock_timeout = '300ms';"
	    "SELECT poppy.client_rule_set('bs.example', 'block')") != PF_OK,
	    "a block waits for it");
	tap_need(pf_db_script(writer, "COMMIT") == PF_OK, "commit");
	tap_ok(pf_db_script(blocker,
	    "SELECT poppy.client_rule_set('bs.example', 'block')") == PF_OK,
	    "then it goes through");
	(void)sql_is(seen("https://bs.example/c", false), "blocked",
	    "... and has seen the client");
	tap_is(sql_number("SELECT count(*) FROM poppy_api.client_store("
	    "'https://bs.example/d', '{}', '{}', 300, 300) s "
	    "WHERE s.outcome = 'blocked'"), 1, "a later one sees the rule");
	pf_db_free(writer);
	pf_db_free(blocker);
}

int
main(void)
{
	sql_start();
	db = sql_open(sql_auth);
	matching();
	closest();
	known();
	registration();
	forget();
	caps();
	races(true);
	races(false);
	block_and_store();
	pf_db_free(db);
	pf_arena_free(&sql_arena);
	return tap_done();
}
