#include "tests/unit/tap.h"

#include "core/base/json.h"

/* More than any text here has, so that only the row's own fault counts. */
static const struct pf_json_limits wide = { 1 << 20, 32, 100000 };

static struct pf_arena arena;

#define T(s)	PF_LIT_INIT(s)

static const struct { const char *why; struct pf_str text; } bad[] = {
	/* What json-c 0.16 would let pass. */
	{ "a name twice", T("{\"a\":1,\"a\":1}") },
	{ "a name twice, spelled with an escape",
	    T("{\"a\":1,\"\\u0061\":2}") },
	{ "a name twice, both escaped", T("{\"\\u0061\":1,\"\\u0061\":2}") },
	{ "a name twice, upper and lower hexadecimal",
	    T("{\"\\u00e9\":1,\"\\u00E9\":2}") },
	{ "a name twice, UTF-8 and escape",
	    T("{\"\xc3\xa9\":1,\"\\u00e9\":2}") },
	{ "a name twice, pair and UTF-8",
	    T("{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2}") },
	{ "a name twice, three bytes",
	    T("{\"\xe2\x82\xac\":1,\"\\u20ac\":2}") },
	{ "a name twice, escaped slash", T("{\"a/b\":1,\"a\\/b\":2}") },
	{ "a name twice, line end", T("{\"\\n\":1,\"\\u000a\":2}") },
	{ "the empty name twice", T("{\"\":1,\"\":2}") },
	{ "a name twice, deep within",
	    T("[[{\"x\":{\"a\":1,\"b\":2,\"a\":3}}]]") },
	{ "a name twice, apart", T("{\"a\":{\"b\":[1]},\"c\":{},\"a\":0}") },
	{ "a long name twice", T("{\"abcdefghijklmnopq\":1,"
	    "\"abcdefghijklmnop\\u0071\":1}") },
	{ "NaN", T("[NaN]") },
	{ "nan", T("[nan]") },
	{ "Infinity", T("[Infinity]") },
	{ "-Infinity", T("[-Infinity]") },
	{ "single quotes", T("{'a':1}") },
	{ "single quotes, value", T("['a']") },
	{ "NUL in a name", T("{\"a\0b\":1}") },
	{ "NUL in a name, escaped", T("{\"a\\u0000b\":1}") },
	{ "NUL in a string", T("[\"a\0b\"]") },
	{ "NUL in a string, escaped", T("[\"\\u0000\"]") },
	{ "NUL behind", T("[1]\0") },
	{ "NUL before", T("\0[1]") },
	{ "NUL between", T("[1,\0 2]") },
	{ "NUL behind a backslash", T("[\"\\\0\"]") },
	{ "tab in a string", T("[\"\t\"]") },
	{ "line end in a string", T("[\"a\nb\"]") },
	{ "control 1F in a string", T("[\"\x1f\"]") },
	{ "control in a name", T("{\"\x01\":1}") },
	{ "True", T("[True]") },
	{ "TRUE", T("[TRUE]") },
	{ "Null", T("[Null]") },
	{ "a line comment", T("[1] // one") },
	{ "a comment", T("[1 /* one */]") },
	{ "a hash comment", T("[1] # one") },
	{ "a comma before ]", T("[1,]") },
	{ "a comma before }", T("{\"a\":1,}") },
	/* Surrogates and UTF-8. */
	{ "a lone high surrogate", T("[\"\\ud800\"]") },
	{ "a lone low surrogate", T("[\"\\udc00\"]") },
	{ "a high surrogate and text", T("[\"\\ud800abc\"]") },
	{ "a high surrogate and an escape", T("[\"\\ud800\\n\"]") },
	{ "two high surrogates", T("[\"\\ud800\\ud800\"]") },
	{ "high and no surrogate", T("[\"\\ud800\\u0041\"]") },
	{ "high and NUL", T("[\"\\ud800\\u0000\"]") },
	{ "low before high", T("[\"\\ude00\\ud83d\"]") },
	{ "two low surrogates", T("[\"\\udc00\\udc00\"]") },
	{ "half of the second", T("[\"\\ud83d\\ude\"]") },
	{ "a lone surrogate in a name", T("{\"\\udfff\":1}") },
	{ "a surrogate as UTF-8", T("[\"\xed\xa0\x80\"]") },
	{ "an overlong slash", T("[\"\xc0\xaf\"]") },
	{ "Latin-1", T("[\"\xe9\"]") },
	{ "UTF-8 cut by the quote", T("[\"\xe2\x82\"]") },
	{ "UTF-8 past U+10FFFF", T("[\"\xf4\xbf\xbf\xbf\"]") },
	{ "a byte order mark", T("\xef\xbb\xbf{}") },
	{ "UTF-16", T("[\0\"\0x\0\"\0]\0") },
	{ "UTF-8 outside of strings", T("[\xc3\xa9]") },
	{ "a no-break space", T("[\xc2\xa0]") },
	{ "U+2060 as space", T("[\xe2\x81\xa0]") },
	{ "form feed as space", T("[\f1]") },
	{ "vertical tab as space", T("[\v1]") },
	/* Escapes. */
	{ "\\x", T("[\"\\x00\"]") },
	{ "\\a", T("[\"\\a\"]") },
	{ "\\0", T("[\"\\0\"]") },
	{ "\\'", T("[\"\\'\"]") },
	{ "\\U", T("[\"\\U0041\"]") },
	{ "an escaped line end", T("[\"\\\n\"]") },
	{ "an escaped byte", T("[\"\\\xc3\xa9\"]") },
	{ "\\u with three digits", T("[\"\\u00A\"]") },
	{ "\\u with none", T("[\"\\u\"]") },
	{ "\\u with a foreign digit", T("[\"\\u00Ag\"]") },
	{ "\\u with a sign", T("[\"\\u+041\"]") },
	{ "\\u{}", T("[\"\\u{41}\"]") },
	/* Numbers. */
	{ "a leading zero", T("[012]") },
	{ "a leading zero, minus", T("[-012]") },
	{ "two zeros", T("[00]") },
	{ "plus", T("[+1]") },
	{ "two signs", T("[--1]") },
	{ "minus alone", T("[-]") },
	{ "minus and space", T("[- 1]") },
	{ "minus and a letter", T("[-a]") },
	{ "a point first", T("[.5]") },
	{ "a point first, minus", T("[-.5]") },
	{ "a point last", T("[1.]") },
	{ "a point before e", T("[1.e3]") },
	{ "two points", T("[1.2.3]") },
	{ "e alone", T("[1e]") },
	{ "e and plus alone", T("[1e+]") },
	{ "e and two signs", T("[1e+-2]") },
	{ "two exponents", T("[1e2e3]") },
	{ "a broken exponent", T("[1e2.5]") },
	{ "hexadecimal", T("[0x1]") },
	{ "octal", T("[0o7]") },
	{ "a letter behind", T("[1a]") },
	{ "a space within", T("[1 000]") },
	{ "an underscore within", T("[1_000]") },
	{ "wide digits", T("[\xef\xbc\x91]") },
	{ "2^63", T("[9223372036854775808]") },
	{ "-2^63-1", T("[-9223372036854775809]") },
	{ "2^64", T("[18446744073709551616]") },
	{ "forty digits", T("[1234567890123456789012345678901234567890]") },
	{ "1e400", T("[1e400]") },
	{ "-1e400", T("[-1e400]") },
	{ "1e309", T("[1e309]") },
	{ "0.001e312", T("[0.001e312]") },
	{ "1234.5e305", T("[1234.5e305]") },
	{ "1e99999999999999999999", T("[1e99999999999999999999]") },
	{ "1e18446744073709551617", T("[1e18446744073709551617]") },
	/* Structure. */
	{ "nothing", T("") },
	{ "only space", T(" \n") },
	{ "[ alone", T("[") },
	{ "{ alone", T("{") },
	{ "] alone", T("]") },
	{ "} alone", T("}") },
	{ "[ closed by }", T("[1}") },
	{ "{ closed by ]", T("{\"a\":1]") },
	{ "crossed", T("[{\"a\":1]}") },
	{ "an open array", T("[1") },
	{ "an open array, comma", T("[1,") },
	{ "an open object", T("{\"a\":1") },
	{ "an open object, name", T("{\"a\"") },
	{ "an open object, colon", T("{\"a\":") },
	{ "an open object, comma", T("{\"a\":1,") },
	{ "an open string", T("\"a") },
	{ "an open string, backslash", T("\"a\\") },
	{ "an open string, escape", T("\"a\\u00") },
	{ "a quote alone", T("\"") },
	{ "a comma first", T("[,1]") },
	{ "two commas", T("[1,,2]") },
	{ "a comma alone", T("[,]") },
	{ "no comma", T("[1 2]") },
	{ "no comma between strings", T("[\"a\" \"b\"]") },
	{ "no comma between members", T("{\"a\":1 \"b\":2}") },
	{ "a colon for a comma", T("[1:2]") },
	{ "a comma for a colon", T("{\"a\",1}") },
	{ "equals for a colon", T("{\"a\"=1}") },
	{ "two colons", T("{\"a\"::1}") },
	{ "no value", T("{\"a\":}") },
	{ "no value, comma", T("{\"a\":,\"b\":1}") },
	{ "no name", T("{:1}") },
	{ "a name without quotes", T("{a:1}") },
	{ "a number as name", T("{1:1}") },
	{ "null as name", T("{null:1}") },
	{ "a value as member", T("{1}") },
	{ "a string as member", T("{\"a\"}") },
	{ "a comma in an empty object", T("{,}") },
	{ "two values", T("{}{}") },
	{ "two numbers", T("1 2") },
	{ "] behind", T("[1]]") },
	{ "} behind", T("{}}") },
	{ "a comma behind", T("[1],") },
	{ "text behind", T("{} x") },
	{ "half of true", T("[tru]") },
	{ "half of null", T("nul") },
	{ "true and more", T("[truex]") },
	{ "nulll", T("nulll") },
	{ "undefined", T("[undefined]") },
	{ "a word", T("hello") },
	{ "a star", T("[*]") },
	{ "a backtick", T("`a`") },
	{ "angle brackets", T("<.>") },
	{ "a form", T("grant_type=a&scope=b") },
};

static const struct pf_str good[] = {
	T("{}"), T("[]"), T(" \t\r\n[ ] \r\n"), T("null"), T("true"), T("0"),
	T("-0"), T("\"\""), T("123"), T("1.5"), T("\"a\" "), T(" -12 "),
	T("[[],{},[[]]]"), T("{\"a\":{\"a\":{\"a\":1}}}"),
	T("[{\"a\":1},{\"a\":2}]"), T("{\"a\":1,\"A\":2,\"a \":3,\"\":4}"),
	T("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\"]"),
	T("[\"\\ud83d\\ude00\"]"), T("[\"\xf0\x9f\x98\x80\"]"),
	T("[\"\x7f\"]"), T("[\"\xef\xbf\xbf\"]"), T("[\"\xe2\x80\xa8\"]"),
	T("[0,-0,1,-1,10,0.0,-0.5,0e0,0e999,1e2,1E+2,1.25e-2]"),
	T("[9223372036854775807,-9223372036854775808]"),
	T("[1e307,-1e307,1e-400,0.00000000000000000001e320]"),
	T("[0.1000000000000000055511151231257827021181583404541015625]"),
};

/* Each is refused by the scan, and so never reaches json-c. */
static void
test_bad(void)
{
	struct pf_json_fault fault;
	const struct pf_json *v;

	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		fault = (struct pf_json_fault){ SIZE_MAX, NULL };
		tap_is(pf_json_scan(bad[i].text, &wide, &fault), PF_E_INPUT,
		    "refused: %s", bad[i].why);
		if (fault.why == NULL || fault.at > bad[i].text.n)
			tap_ok(false, "and says where and why");
		if (pf_json_parse(&arena, bad[i].text, &wide, &v, NULL) !=
		    PF_E_INPUT || v != NULL)
			tap_ok(false, "and isn't parsed");
	}
	pf_arena_reset(&arena);
}

static void
test_good(void)
{
	struct pf_json_fault fault = { 0, "" };
	const struct pf_json *v;
	enum pf_rc rc;

	for (size_t i = 0; i < PF_COUNT(good); i++) {
		rc = pf_json_parse(&arena, good[i], &wide, &v, &fault);
		if (!tap_is(rc, PF_OK, "good text %zu", i))
			tap_diag("at %zu: %s", fault.at, fault.why);
	}
	pf_arena_reset(&arena);
}

/* Every beginning of a text is refused, and without reading past it: each is
 * copied to memory of its own, where valgrind and ASan see a step too far. */
static void
test_cut_short(void)
{
	static const char text[] = "{\"a\":[1,-2.5e+3,true,null,{\"b\\u0041\":"
	    "\"\\ud83d\\ude00 \xf0\x9f\x98\x80\"}],\"c\":false}";
	size_t refused = 0;

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		char *copy = malloc(n + 1);

		tap_need(copy != NULL, "memory");
		memcpy(copy, text, n);
		copy = realloc(copy, n > 0 ? n : 1);
		tap_need(copy != NULL, "memory");
		refused += pf_json_scan(pf_bytes(copy, n), &wide, NULL) ==
		    PF_E_INPUT;
		free(copy);
	}
	tap_is((long long)refused, sizeof(text) - 1,
	    "every shorter text is refused");
	tap_is(pf_json_scan(PF_LIT("[\"\\ud83d\\ude00\"]"), &wide, NULL),
	    PF_OK, "a whole one isn't");
}

static struct pf_str
nested(char open, char close, size_t depth)
{
	char *p = pf_arena_alloc(&arena, depth * 2);

	tap_need(p != NULL, "memory");
	memset(p, open, depth);
	memset(p + depth, close, depth);
	return pf_bytes(p, depth * 2);
}

static void
test_limits(void)
{
	struct pf_json_limits lim = pf_json_small;
	struct pf_json_fault fault;
	const struct pf_json *v;

	tap_is(pf_json_parse(&arena, nested('[', ']', 8), &pf_json_small, &v,
	    NULL), PF_OK, "eight levels");
	tap_is(pf_json_scan(nested('[', ']', 9), &pf_json_small, &fault),
	    PF_E_INPUT, "refused: nine levels");
	tap_is((long long)fault.at, 8, "at the ninth");
	tap_is(pf_json_parse(&arena, nested('[', ']', 32), &wide, &v, NULL),
	    PF_OK, "32 levels, also for json-c");
	lim.depth = 1000;
	tap_is(pf_json_scan(nested('[', ']', 33), &lim, NULL), PF_E_INPUT,
	    "refused: 33 levels, whatever the limit");
	tap_is(pf_json_scan(nested('[', ']', 5000), &wide, NULL), PF_E_INPUT,
	    "refused: 5000 levels");
	lim.depth = 0;
	tap_is(pf_json_scan(PF_LIT("1"), &lim, NULL), PF_OK,
	    "no level is enough for a number");
	tap_is(pf_json_scan(PF_LIT("[]"), &lim, NULL), PF_E_INPUT,
	    "refused: and not for an array");
	lim.depth = 1;
	tap_is(pf_json_scan(PF_LIT("{\"a\":1}"), &lim, NULL), PF_OK,
	    "one level is a flat object");
	tap_is(pf_json_scan(PF_LIT("{\"a\":{}}"), &lim, NULL), PF_E_INPUT,
	    "refused: an object within it");
	lim.values = 3;
	tap_is(pf_json_scan(PF_LIT("[1,2]"), &lim, NULL), PF_OK,
	    "three values");
	tap_is(pf_json_scan(PF_LIT("[1,2,3]"), &lim, NULL), PF_E_INPUT,
	    "refused: four values");
	lim.bytes = 5;
	tap_is(pf_json_scan(PF_LIT("[1,2] "), &lim, NULL), PF_E_INPUT,
	    "refused: too long by a space");
	tap_is(pf_json_scan(PF_LIT("[1,2]"), &lim, NULL), PF_OK, "not so");
	pf_arena_reset(&arena);
}

/* Twenty thousand names: found out, and in time that nobody notices. */
static void
test_many_names(void)
{
	struct pf_arena a;
	struct pf_buf b;
	struct pf_str text;

	tap_need(pf_arena_init(&a, 1 << 20, 1 << 22) == PF_OK, "an arena");
	pf_buf_init(&b, &a, 1 << 20);
	pf_buf_char(&b, '{');
	for (int i = 0; i < 19998; i++)
		pf_buf_fmt(&b, "\"n%d\":%d,", i, i);
	pf_buf_addz(&b, "\"last\":0}");
	tap_need(pf_buf_done(&b, &text) == PF_OK, "a long text");
	tap_is(pf_json_scan(text, &pf_json_large, NULL), PF_OK,
	    "as many members as the limit allows");
	b.n -= strlen("\"last\":0}");
	pf_buf_addz(&b, "\"n7\":0}");
	tap_need(pf_buf_done(&b, &text) == PF_OK, "a long text");
	tap_is(pf_json_scan(text, &pf_json_large, NULL), PF_E_INPUT,
	    "refused: the last is there already");
	pf_arena_free(&a);
}

static void
test_faults(void)
{
	struct pf_json_fault f;

	tap_is(pf_json_scan(PF_LIT("{\"a\":1,\"a\":2}"), &wide, &f),
	    PF_E_INPUT, "refused");
	tap_is((long long)f.at, 7, "where the second name begins");
	tap_is_z(pf_str(f.why), "a member's name stands there twice", "why");
	tap_is(pf_json_scan(PF_LIT("[1] x"), &wide, &f), PF_E_INPUT,
	    "refused");
	tap_is((long long)f.at, 4, "at what follows");
	tap_is_z(pf_str(f.why), "something follows the value", "why");
	tap_is(pf_json_scan(PF_LIT(""), &wide, NULL), PF_E_INPUT,
	    "without a place for the fault, too");
}

#define OBJ	"{\"s\":\"2\",\"e\":\"\",\"i\":2,\"m\":-9223372036854775808," \
	"\"M\":9223372036854775807,\"d\":1.0,\"x\":1e3,\"h\":1e300,\"z\":-0," \
	"\"t\":true,\"f\":false,\"n\":null,\"o\":{\"k\":\"v\"}," \
	"\"a\":[\"x\",2,null],\"u\":\"\\ud83d\\ude00\\n\"}"

/* Reading a member with the wrong function never gives a value. */
static void
test_types(const struct pf_json *v)
{
	static const struct { const char *key; char type; } row[] = {
		{ "s", 's' }, { "e", 's' }, { "i", 'i' }, { "d", 'd' },
		{ "x", 'd' }, { "h", 'd' }, { "t", 'b' }, { "f", 'b' },
		{ "o", 'o' }, { "a", 'a' }, { "n", '-' }, { "?", '-' },
	};
	const struct pf_json *sub;
	struct pf_str s;
	int64_t i;
	double d;
	bool b;

	for (size_t k = 0; k < PF_COUNT(row); k++) {
		const char *key = row[k].key;
		char type = row[k].type;
		enum pf_rc other = type == '-' ? PF_E_ABSENT : PF_E_INPUT;

		tap_is(pf_json_str(v, key, &s), type == 's' ? PF_OK : other,
		    "%s as a string", key);
		tap_is(pf_json_int(v, key, &i), type == 'i' ? PF_OK : other,
		    "%s as an integer", key);
		tap_is(pf_json_num(v, key, &d), type == 'i' || type == 'd' ?
		    PF_OK : other, "%s as a number", key);
		tap_is(pf_json_bool(v, key, &b), type == 'b' ? PF_OK : other,
		    "%s as a boolean", key);
		tap_is(pf_json_obj(v, key, &sub), type == 'o' ? PF_OK : other,
		    "%s as an object", key);
		tap_is(pf_json_arr(v, key, &sub), type == 'a' ? PF_OK : other,
		    "%s as an array", key);
		tap_is(pf_json_has(v, key), key[0] != '?', "%s stands there",
		    key);
	}
}

static void
test_values(const struct pf_json *v)
{
	const struct pf_json *sub;
	struct pf_str s;
	int64_t i;
	double d;
	bool b;

	tap_ok(pf_json_str(v, "e", &s) == PF_OK && pf_str_given(s) &&
	    s.n == 0, "an empty string is given");
	tap_ok(pf_json_str(v, "u", &s) == PF_OK &&
	    pf_str_eqz(s, "\xf0\x9f\x98\x80\n"), "escapes are resolved");
	tap_ok(pf_json_int(v, "m", &i) == PF_OK && i == INT64_MIN, "-2^63");
	tap_ok(pf_json_int(v, "M", &i) == PF_OK && i == INT64_MAX, "2^63-1");
	tap_ok(pf_json_int(v, "z", &i) == PF_OK && i == 0,
	    "-0 is the integer 0");
	tap_ok(pf_json_num(v, "h", &d) == PF_OK && d > 9e299 && d < 2e300,
	    "1e300");
	tap_ok(pf_json_bool(v, "f", &b) == PF_OK && !b, "false");
	tap_ok(pf_json_arr(v, "a", &sub) == PF_OK && pf_json_len(sub) == 3 &&
	    pf_json_as_str(pf_json_at(sub, 0), &s) == PF_OK &&
	    pf_str_eqz(s, "x"), "an element");
	tap_is(pf_json_as_str(pf_json_at(sub, 1), &s), PF_E_INPUT,
	    "refused: 2 as a string");
	tap_is(pf_json_as_str(pf_json_at(sub, 2), &s), PF_E_INPUT,
	    "refused: null as a string");
	tap_ok(pf_json_at(sub, 3) == NULL && pf_json_at(v, 0) == NULL,
	    "no element behind the end, none in an object");
	tap_is((long long)pf_json_len(v), 0, "an object has no elements");
	tap_is(pf_json_str(sub, "x", &s), PF_E_INPUT,
	    "refused: a member of an array");
	tap_is(pf_json_str(NULL, "x", &s), PF_E_INPUT,
	    "refused: a member of null");
}

static enum pf_rc
stop_at_i(void *ctx, struct pf_str key, const struct pf_json *v)
{
	(void)v;
	++*(int *)ctx;
	return pf_str_eqz(key, "i") ? PF_E_LIMIT : PF_OK;
}

static void
test_read(void)
{
	const struct pf_json *v;
	struct pf_buf b;
	int seen = 0;

	tap_need(pf_json_parse(&arena, PF_LIT(OBJ), &wide, &v, NULL) == PF_OK,
	    "the object");
	test_types(v);
	test_values(v);
	tap_is(pf_json_each(v, stop_at_i, &seen), PF_E_LIMIT,
	    "each stops when told to");
	tap_is(seen, 3, "in the order of the text");
	tap_is(pf_json_each(NULL, stop_at_i, &seen), PF_E_INPUT,
	    "refused: the members of null");
	pf_buf_init(&b, &arena, 4096);
	pf_json_write(&b, v);
	tap_is_z(pf_buf_str(&b), "{\"s\":\"2\",\"e\":\"\",\"i\":2,"
	    "\"m\":-9223372036854775808,\"M\":9223372036854775807,\"d\":1.0,"
	    "\"x\":1000.0,\"h\":1e+300,\"z\":0,\"t\":true,\"f\":false,"
	    "\"n\":null,\"o\":{\"k\":\"v\"},\"a\":[\"x\",2,null],"
	    "\"u\":\"\xf0\x9f\x98\x80\\n\"}", "written again");
	pf_arena_reset(&arena);
}

static void
test_quote(void)
{
	static const struct { struct pf_str raw; const char *want; } row[] = {
		{ T(""), "\"\"" },
		{ { NULL, 0 }, "null" },
		{ T("a\"b\\c/"), "\"a\\\"b\\\\c/\"" },
		{ T("\n\r\t\b\x01\x1f\x7f"),
		    "\"\\n\\r\\t\\u0008\\u0001\\u001f\\u007f\"" },
		{ T("a\0b"), "\"a\\u0000b\"" },
		{ T("\xc2\x85\xc2\x9b\xc2\xa0"),
		    "\"\\u0085\\u009b\xc2\xa0\"" },
		{ T("\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9"),
		    "\"\xe2\x80\xa7\\u2028\\u2029\"" },
		{ T("\xff\xc3"), "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ T("\xed\xa0\x80" "a"),
		    "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" "a\"" },
		{ T("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\"" },
	};
	struct pf_buf b;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		pf_buf_init(&b, &arena, 256);
		pf_json_quote(&b, row[i].raw);
		tap_is_z(pf_buf_str(&b), row[i].want, "quoted %zu", i);
		tap_is(pf_json_scan(pf_buf_str(&b), &wide, NULL),
		    strstr(row[i].want, "\\u0000") == NULL ? PF_OK :
		    PF_E_INPUT, "and read back");
	}
	pf_arena_reset(&arena);
}

static void
test_writer(void)
{
	struct pf_buf b;
	struct pf_jw w;
	struct pf_str out;

	pf_buf_init(&b, &arena, 256);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "scope", PF_LIT(""));
	pf_jw_open(&w, "list", '[');
	pf_jw_open(&w, NULL, '[');
	pf_jw_close(&w, ']');
	pf_jw_int(&w, NULL, INT64_MIN);
	pf_jw_null(&w, NULL);
	pf_jw_close(&w, ']');
	pf_jw_bool(&w, "yes", true);
	pf_jw_bool(&w, "no", false);
	pf_jw_strz(&w, "none", NULL);
	pf_jw_raw(&w, "raw", PF_LIT("[1]"));
	pf_jw_close(&w, '}');
	tap_is(pf_buf_done(&b, &out), PF_OK, "written");
	tap_is_z(out, "{\"scope\":\"\",\"list\":[[],-9223372036854775808,null],"
	    "\"yes\":true,\"no\":false,\"none\":null,\"raw\":[1]}",
	    "with its commas");
	pf_buf_init(&b, &arena, 10);
	w = pf_jw(&b);
	pf_jw_str(&w, NULL, PF_LIT("longer than ten"));
	tap_is(pf_buf_done(&b, &out), PF_E_MEM, "the buffer's cap holds");
	pf_arena_reset(&arena);
}

int
main(void)
{
	tap_need(pf_arena_init(&arena, 16384, 262144) == PF_OK, "an arena");
	test_bad();
	test_good();
	test_cut_short();
	test_limits();
	test_many_names();
	test_faults();
	test_read();
	test_quote();
	test_writer();
	pf_arena_free(&arena);
	return tap_done();
}
