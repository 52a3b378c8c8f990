/*
 * Carts of Sessions: what a change does, what it can't, and that two at once
 * both count.
 */
#include "config.h"

#include "core/store/token.h"
#include "tests/sql/signin.h"

#define EMPTY	"0 [] []"

static void
change(const char *args, const char *want, const char *why)
{
	char sql[500];

	(void)snprintf(sql, sizeof(sql), "SELECT t.change('s', %s)", args);
	(void)si_by(bridge, sql, want, why);
}

static void
cart(const char *sid, const char *want, const char *why)
{
	char sql[200];

	(void)snprintf(sql, sizeof(sql), "SELECT t.cart('%s')", sid);
	(void)si_by(bridge, sql, want, why);
}

#define LINE(sku, n)	"{\"sku\": \"" sku "\", \"options\": \"\", "	\
    "\"quantity\": " #n "}"

static void
changes(void)
{
	cart("s", EMPTY, "a Session without a cart");
	change("'[{\"sku\": \"a\", \"delta\": 2}]'", "ok 1", "two of a");
	cart("s", "1 [" LINE("a", 2) "] []", "... are there");
	change("'[{\"sku\": \"b\", \"delta\": 1}, {\"sku\": \"a\", "
	    "\"delta\": 3}]'", "ok 2", "one of b and three of a more");
	cart("s", "2 [" LINE("a", 5) ", " LINE("b", 1) "] []",
	    "... in the order in which they came");
	change("'[{\"sku\": \"a\", \"options\": \"red\", \"delta\": 1}]'",
	    "ok 3", "a with an option");
	cart("s", "3 [" LINE("a", 5) ", " LINE("b", 1) ", {\"sku\": \"a\", "
	    "\"options\": \"red\", \"quantity\": 1}] []",
	    "... is a line of its own");
	change("'[{\"sku\": \"a\", \"delta\": -4}, {\"sku\": \"b\", "
	    "\"remove\": true}, {\"sku\": \"a\", \"options\": \"red\", "
	    "\"delta\": -7}]'", "ok 4", "less of one, none of two");
	cart("s", "4 [" LINE("a", 1) "] []", "... and so it is");
	change("'[{\"sku\": \"a\", \"delta\": -1}, {\"sku\": \"a\", "
	    "\"delta\": 2}]'", "ok 5", "in turn");
	cart("s", "5 [" LINE("a", 2) "] []", "... the last one is right");
	change("'[{\"sku\": \"no\", \"remove\": true}, {\"sku\": \"neither\", "
	    "\"delta\": -1}, {\"sku\": \"none\", \"delta\": 0}]'", "ok 6",
	    "less of what is not there");
	cart("s", "6 [" LINE("a", 2) "] []", "... is nothing");
	change("NULL, '[\"TEN\", \"x\"]'", "ok 7", "coupons");
	change("'[{\"sku\": \"a\", \"remove\": true}]'", "ok 8",
	    "the last line goes");
	cart("s", "8 [] [\"TEN\", \"x\"]", "... and coupons stay");
	change("'[]', '[]'", "ok 9", "no coupons");
	cart("s", "9 [] []", "... and they are gone");
	change("NULL, 'null'", "ok 10", "null is as nothing said");
	cart("o", EMPTY, "another Session's cart has none of it");
}

static void
full(void)
{
	change("'[{\"sku\": \"a\", \"delta\": 9999}]'", "ok 11", "9,999");
	change("'[{\"sku\": \"b\", \"delta\": 1}, {\"sku\": \"a\", "
	    "\"delta\": 1}]', '[\"x\"]'", "full -", "one more is too many");
	cart("s", "11 [" LINE("a", 9999) "] []", "... and nothing is done");
	change("'[{\"sku\": \"b\", \"delta\": 99999999999999999999}]'",
	    "full -", "far too many");
	change("'[{\"sku\": \"a\", \"delta\": -99999999999999999999}]'",
	    "ok 12", "far less than none");
	change("(SELECT jsonb_agg(jsonb_build_object('sku', 'l' || i, 'delta',"
	    " 1)) FROM generate_series(1, 200) i)", "ok 13", "200 lines");
	(void)si_by(bridge, "SELECT t.add('s', 'more')", "full -",
	    "one line more");
	(void)si_by(bridge, "SELECT t.add('s', 'l7')", "ok 14",
	    "one more of a line");
	change("'[{\"sku\": \"more\", \"delta\": 1}, {\"sku\": \"l1\", "
	    "\"remove\": true}]'", "ok 15", "one for another");
	change("NULL, (SELECT jsonb_agg(i) FROM generate_series(1, 20) i)",
	    "ok 16", "20 coupons");
	change("NULL, (SELECT jsonb_agg(i) FROM generate_series(1, 21) i)",
	    "full -", "21 coupons");
	tap_is(sql_number("SELECT count(*) FROM poppy.cart_line"), 200,
	    "200 are there");
	tap_is(sql_number("SELECT cardinality(coupons) FROM poppy.cart "
	    "WHERE sid = t.sid('s')"), 20, "with 20 coupons");
}

/* What isn't of the form is an error and changes nothing. */
static void
faults(void)
{
	static const char *const of[] = {
		"'{}'", "'\"x\"'", "'1'", "'[1]'", "'[\"x\"]'", "'[null]'",
		"'[[]]'", "'[{}]'",
		"'[{\"sku\": \"f\"}]'",
		"'[{\"sku\": \"\", \"delta\": 1}]'",
		"'[{\"sku\": null, \"delta\": 1}]'",
		"'[{\"delta\": 1}]'",
		"'[{\"sku\": \"f\", \"delta\": 1.5}]'",
		"'[{\"sku\": \"f\", \"delta\": \"x\"}]'",
		"'[{\"sku\": \"f\", \"delta\": null}]'",
		"'[{\"sku\": \"f\", \"delta\": {}}]'",
		"'[{\"sku\": \"f\", \"remove\": false}]'",
		"'[{\"sku\": \"f\", \"remove\": \"maybe\"}]'",
		"'[{\"sku\": \"f\", \"delta\": 1, \"remove\": true}]'",
		"jsonb_build_array(jsonb_build_object('sku', "
		    "repeat('x', 201), 'delta', 1))",
		"jsonb_build_array(jsonb_build_object('sku', 'f', 'options', "
		    "repeat('x', 1001), 'delta', 1))",
		"'[{\"sku\": \"l7\", \"delta\": 1}, {\"sku\": 7}]'",
		"(SELECT jsonb_agg(jsonb_build_object('sku', 'l7', 'delta', "
		    "1)) FROM generate_series(1, 1001))",
		"NULL, '{}'", "NULL, '\"x\"'", "NULL, '[null]'",
		"NULL, '[\"\"]'",
		"NULL, jsonb_build_array(repeat('x', 101))",
		"NULL, jsonb_build_array((SELECT string_agg(md5(i::text), '') "
		    "FROM generate_series(1, 400) i))",
	};
	char sql[300], got[SI_TEXT], before[SI_TEXT];
	static const char sum[] = "SELECT md5(t.cart('s'))";

	si_call(bridge, sum, before);
	for (size_t i = 0; i < PF_COUNT(of); i++) {
		(void)snprintf(sql, sizeof(sql), "SELECT t.change('s', %s)",
		    of[i]);
		si_call(bridge, sql, got);
		tap_ok(strncmp(got, "ok", 2) != 0 &&
		    strncmp(got, "full", 4) != 0 &&
		    strncmp(got, "ended", 5) != 0, "%.60s: %.50s", of[i], got);
	}
	(void)si_by(bridge, sum, before, "none of them changed anything");
}

/* POPPY_SESSION's text, and whatever else may stand there. */
static void
names(void)
{
	static const char *const of[] = {
		"NULL", "''", "'ses_'", "'ses_AH'", "t.text('s') || 'A'",
		"left(t.text('s'), 27)", "upper(t.text('s'))",
		"'x' || t.text('s')", "t.text('s') || chr(10)",
		"' ' || t.text('s')",
		"replace(t.text('s'), 'ses_AH', 'ses_AI')",
		"replace(t.text('s'), 'ses_AH', 'ses_A+')",
		"replace(t.text('s'), 'ses_', 'sat_')",
		"left(t.text('s'), 27) || 'B'", "left(t.text('s'), 27) || '='",
		"t.text('no')", "repeat('x', 100000)",
	};
	char sql[200], text[200];

	for (size_t i = 0; i < PF_COUNT(of); i++) {
		(void)snprintf(sql, sizeof(sql), "SELECT t.say(version::text, "
		    "lines::text, coupons::text) FROM poppy_api.cart_read(%s)",
		    of[i]);
		(void)si_by(bridge, sql, EMPTY, of[i]);
		(void)snprintf(sql, sizeof(sql), "SELECT t.say(outcome, "
		    "version::text) FROM poppy_api.cart_change(%s, '[{\"sku\":"
		    " \"n\", \"delta\": 1}]', NULL)", of[i]);
		(void)si_by(bridge, sql, "ended -", "... and no change");
	}
	for (unsigned b = 0; b < 4096; b += 455) {
		struct pf_sid s = { .bucket = b };

		for (size_t i = 0; i < sizeof(s.raw); i++)
			s.raw[i] = (unsigned char)(b * 7 + i * 31 + 250);
		pf_sid_text(&s, text);
		tap_is(sql_number("SELECT p.bucket + 10000 * (p.sid = "
		    "decode((SELECT string_agg(lpad(to_hex((%u * 7 + i * 31 + "
		    "250) %% 256), 2, '0'), '' ORDER BY i) FROM "
		    "generate_series(0, 15) i), 'hex'))::int FROM "
		    "poppy.sid_parse('%s') p", b, text), 10000 + b,
		    "%s is read as it was written", text);
	}
}

static void
ends(void)
{
	(void)si_by(bridge, "SELECT t.add('o', 'a')", "ok 1", "a cart");
	pg_sql("UPDATE poppy.session SET ended_at = t.now() "
	    "WHERE sid = t.sid('o')");
	(void)si_by(bridge, "SELECT t.add('o', 'a')", "ended -",
	    "... of a Session that was ended");
	cart("o", EMPTY, "... shows nothing");
	pg_sql("UPDATE poppy.session SET ended_at = NULL, ends_at = t.now() "
	    "WHERE sid = t.sid('o')");
	(void)si_by(bridge, "SELECT t.add('o', 'a')", "ended -",
	    "... that is over");
	cart("o", EMPTY, "... nothing either");
	pg_sql("UPDATE poppy.session SET ends_at = t.now() - 90000 "
	    "WHERE sid = t.sid('o')");
	for (int i = 0; i < 64; i++)
		(void)sql_number("SELECT sessions FROM "
		    "poppy_api.clean(100000)");
	tap_is(sql_number("SELECT (SELECT count(*) FROM poppy.cart WHERE sid = "
	    "t.sid('o')) + (SELECT count(*) FROM poppy.cart_line WHERE sid = "
	    "t.sid('o'))"), 0, "... and goes with it");
	tap_is(sql_number("SELECT count(*) FROM poppy.cart_line "
	    "WHERE sid = t.sid('s')"), 200, "... and no other");
}

/* Of a customer: shown, and forgotten. */
static void
customer(void)
{
	si_need("SELECT t.sign_in('m', 'pm', account => '2')", "ok");
	(void)si_by(browser, "SELECT left(t.join('m', 'm'), 2)", "ok",
	    "a customer's browser");
	(void)si_by(bridge, "SELECT t.change('m', '[{\"sku\": \"a\", "
	    "\"delta\": 3}]', '[\"TEN\"]')", "ok 1", "... and cart");
	(void)si_shop("SELECT t.say(j -> 'sessions' -> 0 ->> 'cart', j -> "
	    "'sessions' -> 0 ->> 'coupons', jsonb_array_length(j -> "
	    "'sessions' -> 0 -> 'browsers_joined_at')::text) "
	    "FROM poppy_api.customer_export('2') j",
	    "[" LINE("a", 3) "] [\"TEN\"] 1", "... are exported");
	(void)si_shop("SELECT (j::text LIKE '%' || encode(t.h('m'), 'hex') || "
	    "'%')::text FROM poppy_api.customer_export('2') j", "false",
	    "... without the cookie's hash");
	(void)si_shop("SELECT sessions::text FROM "
	    "poppy_api.customer_erase('2')", "1", "... and erased");
	tap_is(sql_number("SELECT (SELECT count(*) FROM poppy.cart WHERE sid = "
	    "t.sid('m')) + (SELECT count(*) FROM poppy.cart_line WHERE sid = "
	    "t.sid('m')) + (SELECT count(*) FROM poppy.browser WHERE sid = "
	    "t.sid('m'))"), 0, "... wholly");
}

static void
races(void)
{
	char got[2][SI_TEXT];
	int right = 0;

	si_need("SELECT t.start('r')", "ok");
	si_race_by(si_bridge, "SELECT t.add('r', 'a')", "ok 1", si_bridge,
	    "SELECT t.add('r', 'a', 2)", "ok 2",
	    "the first two changes at once");
	cart("r", "2 [" LINE("a", 3) "] []", "... both count");
	si_race_by(si_bridge, "SELECT t.add('r', 'a', -3)", "ok 3", si_bridge,
	    "SELECT t.add('r', 'a', 2)", "ok 4", "the last goes, some come");
	cart("r", "4 [" LINE("a", 2) "] []", "... and are there");
	si_race_by(si_bridge, "SELECT t.change('r', (SELECT jsonb_agg("
	    "jsonb_build_object('sku', i, 'delta', 1)) FROM "
	    "generate_series(1, 199) i))", "ok 5", si_bridge,
	    "SELECT t.add('r', 'one')", "full -", "filled by the other");
	for (int i = 0; i < 20; i++) {
		si_both_by(si_bridge, "SELECT left(t.change('r', '[{\"sku\": "
		    "\"a\", \"delta\": 1}, {\"sku\": \"1\", \"delta\": 1}]'),"
		    " 2)", si_bridge, "SELECT left(t.change('r', '[{\"sku\": "
		    "\"1\", \"delta\": 1}, {\"sku\": \"a\", \"delta\": 1}]'),"
		    " 2)", got);
		right += strcmp(got[0], "ok") == 0 && strcmp(got[1], "ok") == 0;
	}
	tap_is(right, 20, "the same lines in another order, and nobody waits "
	    "for each other");
	tap_is(sql_number("SELECT sum(quantity)::bigint FROM poppy.cart_line "
	    "WHERE sid = t.sid('r') AND sku IN ('a', '1')"), 2 + 1 + 80,
	    "... and all count");
	si_race_by(pg.conninfo, "WITH t AS (DELETE FROM poppy.session "
	    "WHERE sid = t.sid('r') RETURNING 1) SELECT 'gone'", "gone",
	    si_bridge, "SELECT t.add('r', 'z', -1)", "ended -",
	    "the Session goes, then a change");
	pg_sql("DELETE FROM poppy.session WHERE sid <> t.sid('s')");
	si_need("SELECT t.start('w')", "ok");
	si_race_by(si_bridge, "SELECT t.add('w', 'a')", "ok 1", pg.conninfo,
	    "WITH t AS (DELETE FROM poppy.session WHERE sid = t.sid('w') "
	    "RETURNING 1) SELECT 'gone'", "gone",
	    "a change, then the Session goes");
}

/* A page's look at the Session, and its use by a token, wait for no cart. */
static void
no_waiting(void)
{
	struct pf_db *holder = si_open(si_bridge);
	char got[SI_TEXT];

	si_need("SELECT t.start('v')", "ok");
	tap_need(pf_db_script(holder, "BEGIN") == PF_OK, "BEGIN");
	si_call(holder, "SELECT t.add('v', 'a')", got);
	(void)sql_is(got, "ok 1", "a change that lasts");
	(void)si_is("SELECT t.start('v', renew => true)", "ok",
	    "... keeps nobody from using the Session");
	(void)si_by(browser, "SELECT left(t.join('v', 'v'), 2)", "ok",
	    "... nor from joining it");
	cart("v", EMPTY, "... nor from reading the cart");
	tap_need(pf_db_script(holder, "COMMIT") == PF_OK, "COMMIT");
	cart("v", "1 [" LINE("a", 1) "] []", "... which is then there");
	pf_db_free(holder);
}

int
main(void)
{
	si_start();
	si_need("SELECT t.start('s') || t.start('o')", "okok");
	changes();
	full();
	faults();
	names();
	ends();
	customer();
	races();
	no_waiting();
	return si_done();
}
