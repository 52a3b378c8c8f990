/* The gate before libfcgi: what is a whole, sound request, and what is not. */
#include "config.h"

#include "core/web/gate.h"
#include "tests/unit/fcgi.h"
#include "tests/unit/tap.h"

#define MAX_BODY	1000

static enum pf_gate_rc
feed(struct pf_gate *g, unsigned role, const struct fc *m, size_t step)
{
	enum pf_gate_rc rc = PF_GATE_MORE;
	size_t n;

	pf_gate_init(g, role, MAX_BODY);
	for (size_t at = 0; at < m->n && rc == PF_GATE_MORE; at += n) {
		n = m->n - at < step ? m->n - at : step;
		rc = pf_gate_feed(g, m->p + at, n);
	}
	return rc;
}

/* The same result in one piece, byte by byte, and in sevens. */
static void
is(const struct fc *m, unsigned role, enum pf_gate_rc want, const char *why)
{
	struct pf_gate g;

	tap_is(feed(&g, role, m, m->n + 1), want, "%s", why);
	tap_is(feed(&g, role, m, 1), want, "%s, byte by byte", why);
	tap_is(feed(&g, role, m, 7), want, "%s, in sevens", why);
}

static void
good(void)
{
	struct fc m = { 0 };
	struct pf_gate g;

	fc_request(&m, &(struct fc_ask){ .uri = "/", .keep = true,
	    .body = PF_LIT("0123456789") });
	is(&m, PF_GATE_RESPONDER, PF_GATE_COMPLETE, "a request");
	(void)feed(&g, PF_GATE_RESPONDER, &m, m.n);
	tap_ok(g.keep && g.id == 1 && g.body == 10 && g.body_end,
	    "what the gate found");
	tap_is((long long)g.used, (long long)m.n, "and where it ended");
	for (size_t i = 1; i < m.n; i++) {
		struct fc part = m;

		part.n = i;
		if (feed(&g, PF_GATE_RESPONDER, &part, i) != PF_GATE_MORE)
			tap_ok(false, "%zu bytes of it are not all", i);
	}
	tap_ok(true, "no part of it is complete");
	fc_free(&m);

	fc_begin(&m, 258, FC_RESPONDER, false);
	fc_record(&m, FC_PARAMS, 258, "\1\1A", 3, 5);
	fc_record(&m, FC_PARAMS, 258, "b\1", 2, 255);
	fc_record(&m, FC_PARAMS, 258, "\0C", 2, 0);
	fc_record(&m, FC_PARAMS, 258, "", 0, 0);
	fc_record(&m, FC_STDIN, 258, "x", 1, 7);
	fc_record(&m, FC_STDIN, 258, "", 0, 8);
	is(&m, PF_GATE_RESPONDER, PF_GATE_COMPLETE,
	    "pairs over records, padding where it may be");
	(void)feed(&g, PF_GATE_RESPONDER, &m, m.n);
	tap_ok(g.id == 258 && g.tail == 8, "its id and its last padding");
	fc_free(&m);
}

/* libfcgi would take this padding for records. */
static void
padding(void)
{
	static const unsigned char b[8] = { 0, FC_RESPONDER };
	struct fc m = { 0 };

	fc_record(&m, FC_BEGIN, 1, b, 8, 1);
	fc_record(&m, FC_PARAMS, 1, "", 0, 0);
	fc_record(&m, FC_STDIN, 1, "", 0, 0);
	is(&m, PF_GATE_RESPONDER, PF_GATE_BAD, "padding behind BEGIN");
	m.n = 0;
	fc_begin(&m, 1, FC_RESPONDER, false);
	fc_record(&m, FC_PARAMS, 1, "", 0, 255);
	fc_record(&m, FC_STDIN, 1, "", 0, 0);
	is(&m, PF_GATE_RESPONDER, PF_GATE_BAD, "padding behind PARAMS");
	fc_free(&m);
}

static void
authorizer(void)
{
	struct fc_ask a = { .uri = "/", .role = FC_AUTHORIZER,
	    .no_stdin = true };
	struct fc m = { 0 };

	fc_request(&m, &a);
	is(&m, PF_GATE_AUTHORIZER, PF_GATE_COMPLETE, "without STDIN");
	is(&m, PF_GATE_RESPONDER, PF_GATE_BAD, "at a responder");
	m.n = 0;
	fc_record(&m, FC_STDIN, 1, "", 0, 0);
	fc_request(&m, &a);
	is(&m, PF_GATE_AUTHORIZER, PF_GATE_COMPLETE, "behind a stray STDIN");
	m.n = 0;
	fc_record(&m, FC_STDIN, 1, "", 0, 0);
	fc_record(&m, FC_STDIN, 1, "", 0, 0);
	fc_request(&m, &a);
	is(&m, PF_GATE_AUTHORIZER, PF_GATE_BAD, "behind two of them");
	m.n = 0;
	fc_begin(&m, 1, FC_AUTHORIZER, false);
	fc_record(&m, FC_PARAMS, 1, "", 0, 0);
	fc_record(&m, FC_STDIN, 1, "x", 1, 0);
	tap_is(feed(&(struct pf_gate){ 0 }, PF_GATE_AUTHORIZER, &m, m.n),
	    PF_GATE_BAD, "with a body");
	m.n = 0;
	fc_request(&m, &(struct fc_ask){ .uri = "/" });
	is(&m, PF_GATE_AUTHORIZER, PF_GATE_BAD, "a responder's");
	fc_free(&m);
}

/* Records one by one: { type, id, content, length }. */
static const struct {
	const char *why;
	struct { int type, id; struct pf_str s; } v[5];
} bad[] = {
	{ "PARAMS first", { { FC_PARAMS, 1, PF_LIT_INIT("") } } },
	{ "STDIN first", { { FC_STDIN, 1, PF_LIT_INIT("") } } },
	{ "END_REQUEST", { { FC_END, 1, PF_LIT_INIT("\0\0\0\0\0\0\0\0") } } },
	{ "GET_VALUES", { { 9, 0, PF_LIT_INIT("\1\0A") } } },
	{ "an unknown type", { { 12, 1, PF_LIT_INIT("") } } },
	{ "BEGIN with id 0",
	    { { FC_BEGIN, 0, PF_LIT_INIT("\0\1\0\0\0\0\0\0") } } },
	{ "BEGIN too short",
	    { { FC_BEGIN, 1, PF_LIT_INIT("\0\1\0\0\0\0\0") } } },
	{ "BEGIN too long",
	    { { FC_BEGIN, 1, PF_LIT_INIT("\0\1\0\0\0\0\0\0\0") } } },
	{ "FILTER", { { FC_BEGIN, 1, PF_LIT_INIT("\0\3\0\0\0\0\0\0") } } },
	{ "role 257", { { FC_BEGIN, 1, PF_LIT_INIT("\1\1\0\0\0\0\0\0") } } },
#define BEGIN	{ FC_BEGIN, 1, PF_LIT_INIT("\0\1\0\0\0\0\0\0") }
#define PAIR	{ FC_PARAMS, 1, PF_LIT_INIT("\1\1AB") }
#define PARAMS0	{ FC_PARAMS, 1, PF_LIT_INIT("") }
	{ "two BEGIN", { BEGIN, BEGIN } },
	{ "BEGIN of another", { BEGIN, { FC_BEGIN, 2,
	    PF_LIT_INIT("\0\1\0\0\0\0\0\0") } } },
	{ "PARAMS of another", { BEGIN, { FC_PARAMS, 2, PF_LIT_INIT("") } } },
	{ "STDIN before PARAMS end", { BEGIN, PAIR,
	    { FC_STDIN, 1, PF_LIT_INIT("") } } },
	{ "ABORT_REQUEST", { BEGIN, PAIR, { FC_ABORT, 1, PF_LIT_INIT("") } } },
	{ "ABORT_REQUEST in the body", { BEGIN, PAIR, PARAMS0,
	    { FC_ABORT, 1, PF_LIT_INIT("") } } },
	{ "PARAMS in the body", { BEGIN, PARAMS0, PAIR } },
	{ "DATA", { BEGIN, PARAMS0, { 8, 1, PF_LIT_INIT("x") } } },
	{ "STDIN of another", { BEGIN, PARAMS0,
	    { FC_STDIN, 513, PF_LIT_INIT("x") } } },
	{ "a management record within", { BEGIN, PARAMS0,
	    { 9, 0, PF_LIT_INIT("") } } },
	{ "a name cut off", { BEGIN, { FC_PARAMS, 1, PF_LIT_INIT("\2\1A") },
	    PARAMS0 } },
	{ "a value cut off", { BEGIN, { FC_PARAMS, 1,
	    PF_LIT_INIT("\1\2Ab") }, PARAMS0 } },
	{ "a length cut off", { BEGIN, { FC_PARAMS, 1,
	    PF_LIT_INIT("\1\x80\0\0") }, PARAMS0 } },
	{ "a lone length", { BEGIN, { FC_PARAMS, 1, PF_LIT_INIT("\1") },
	    PARAMS0 } },
	{ "an empty name", { BEGIN, { FC_PARAMS, 1, PF_LIT_INIT("\0\1x") } } },
	{ "'=' in a name", { BEGIN, { FC_PARAMS, 1,
	    PF_LIT_INIT("\3\1A=BC") } } },
	{ "a blank in a name", { BEGIN, { FC_PARAMS, 1,
	    PF_LIT_INIT("\2\1A BC") } } },
	{ "a NUL in a name", { BEGIN, { FC_PARAMS, 1,
	    PF_LIT_INIT("\2\1A\0C") } } },
	{ "a byte over 127 in a name", { BEGIN, { FC_PARAMS, 1,
	    PF_LIT_INIT("\1\1\xc3" "C") } } },
	{ "a NUL in a value", { BEGIN, { FC_PARAMS, 1,
	    PF_LIT_INIT("\1\3Aa\0b") } } },
};

static void
bad_records(void)
{
	struct fc m = { 0 };
	struct pf_gate g;

	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		m.n = 0;
		for (size_t k = 0; k < 5 && bad[i].v[k].type != 0; k++)
			fc_record(&m, bad[i].v[k].type, bad[i].v[k].id,
			    bad[i].v[k].s.p, bad[i].v[k].s.n, 0);
		tap_is(feed(&g, PF_GATE_RESPONDER, &m, m.n), PF_GATE_BAD,
		    "refused: %s", bad[i].why);
		tap_ok(feed(&g, PF_GATE_RESPONDER, &m, 1) == PF_GATE_BAD &&
		    g.why != NULL, "refused with a reason, byte by byte: %s",
		    bad[i].why);
	}
	m.n = 0;
	fc_request(&m, &(struct fc_ask){ .uri = "/" });
	fc_request(&m, &(struct fc_ask){ .uri = "/" });
	tap_is(feed(&g, PF_GATE_RESPONDER, &m, m.n), PF_GATE_BAD,
	    "refused: a second request behind it");
	m.n = 0;
	fc_request(&m, &(struct fc_ask){ .uri = "/" });
	fc_raw(&m, "\1", 1);
	tap_is(feed(&g, PF_GATE_RESPONDER, &m, m.n), PF_GATE_MORE,
	    "with a byte behind it, it is never complete");
	m.p[0] = 2;
	is(&m, PF_GATE_RESPONDER, PF_GATE_BAD, "version 2");
	fc_free(&m);
}

/* CVE-2025-23016 and its like: lengths that are no lengths. */
static void
lengths(void)
{
	static const struct pf_str v[] = {
		PF_LIT_INIT("\xff\xff\xff\xff\xff\xff\xff\xff"),
		PF_LIT_INIT("\xff\xff\xff\xff\1"),
		PF_LIT_INIT("\1\xff\xff\xff\xff"),
		PF_LIT_INIT("\x80\1\0\1\1"),
		PF_LIT_INIT("\1\x80\1\0\1"),
	};
	struct fc m = { 0 };

	for (size_t i = 0; i < PF_COUNT(v); i++) {
		m.n = 0;
		fc_begin(&m, 1, FC_RESPONDER, false);
		fc_record(&m, FC_PARAMS, 1, v[i].p, v[i].n, 0);
		is(&m, PF_GATE_RESPONDER, PF_GATE_LARGE_PARAMS,
		    "a wild length");
	}
	fc_free(&m);
}

static void
limits(void)
{
	struct fc m = { 0 }, pairs = { 0 };
	static char big[70000];
	struct pf_gate g;

	fc_request(&m, &(struct fc_ask){ .uri = "/",
	    .body = pf_bytes(big, MAX_BODY) });
	is(&m, PF_GATE_RESPONDER, PF_GATE_COMPLETE, "the largest body");
	m.n = 0;
	fc_request(&m, &(struct fc_ask){ .uri = "/",
	    .body = pf_bytes(big, MAX_BODY + 1) });
	is(&m, PF_GATE_RESPONDER, PF_GATE_LARGE_BODY, "one byte more");
	tap_ok(feed(&g, PF_GATE_RESPONDER, &m, m.n) == PF_GATE_LARGE_BODY &&
	    g.id == 1, "and it can be answered");
	pf_gate_init(&g, PF_GATE_RESPONDER, MAX_BODY);
	g.forgive = true;
	tap_is(pf_gate_feed(&g, m.p, m.n), PF_GATE_COMPLETE,
	    "forgiven, its end is found");

	m.n = 0;
	for (unsigned i = 0; i <= PF_GATE_MAX_COUNT; i++)
		fc_pairz(&pairs, "N", "");
	fc_begin(&m, 1, FC_RESPONDER, false);
	fc_stream(&m, FC_PARAMS, 1, pf_bytes(pairs.p, pairs.n), 65535);
	is(&m, PF_GATE_RESPONDER, PF_GATE_LARGE_PARAMS, "1,001 variables");
	m.n = pairs.n = 0;
	memset(big, 'x', sizeof(big));
	for (int i = 0; i < 7; i++)
		fc_pair(&pairs, PF_LIT("N"), pf_bytes(big, 10000));
	fc_begin(&m, 1, FC_RESPONDER, false);
	fc_stream(&m, FC_PARAMS, 1, pf_bytes(pairs.p, pairs.n), 8000);
	is(&m, PF_GATE_RESPONDER, PF_GATE_LARGE_PARAMS, "70,000 bytes of them");
	fc_free(&m);
	fc_free(&pairs);
}

/* A request with some bytes changed: whatever the gate says, it says the same
 * in pieces, and it never counts more than it was given. */
static void
noise(void)
{
	struct fc m = { 0 }, x = { 0 };
	struct pf_gate a, b;
	uint32_t r = 12345;
	int differ = 0, over = 0, seen[5] = { 0 };

	fc_request(&m, &(struct fc_ask){ .uri = "/", .body = PF_LIT("body"),
	    .name = "HTTP_COOKIE", .value = "a=b" });
	for (int i = 0; i < 20000; i++) {
		enum pf_gate_rc whole, parts;

		x.n = 0;
		fc_raw(&x, m.p, m.n);
		for (int k = 0; k < 1 + i % 3; k++) {
			r = r * 1664525 + 1013904223;
			x.p[(r >> 8) % x.n] = (unsigned char)(r >> 24);
		}
		whole = feed(&a, PF_GATE_RESPONDER, &x, x.n);
		parts = feed(&b, PF_GATE_RESPONDER, &x, 1 + r % 11);
		seen[whole]++;
		/* LARGE may be said before a later byte is found bad. */
		differ += whole != parts && parts != PF_GATE_LARGE_BODY &&
		    parts != PF_GATE_LARGE_PARAMS;
		over += a.used > x.n || a.params + a.body > x.n;
	}
	tap_is(differ, 0, "20,000 mutations: the same in one piece and many");
	tap_is(over, 0, "never more than was given");
	tap_ok(seen[PF_GATE_BAD] > 1000 && seen[PF_GATE_MORE] > 100 &&
	    seen[PF_GATE_COMPLETE] > 100 && seen[PF_GATE_LARGE_PARAMS] > 10,
	    "all outcomes were met");
	fc_free(&m);
	fc_free(&x);
}

int
main(void)
{
	good();
	padding();
	authorizer();
	bad_records();
	lengths();
	limits();
	noise();
	return tap_done();
}
