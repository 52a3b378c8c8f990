#include "tests/unit/tap.h"

static void
test_views(void)
{
	struct pf_str s = PF_LIT("Key: value "), none = PF_NOSTR;

	tap_ok(!pf_str_given(pf_str(NULL)), "NULL is not given");
	tap_ok(pf_str_given(PF_LIT("")), "an empty literal is given");
	tap_ok(pf_str_eq(none, PF_LIT("")), "both are equal as bytes");
	tap_ok(!pf_str_eqz(PF_LIT("a\0b"), "a"), "NUL is a byte like others");
	tap_ok(!pf_str_eq(PF_LIT("a"), PF_LIT("A")), "case counts");
	tap_ok(pf_str_eq_nocase(PF_LIT("DPoP"), PF_LIT("dpop")), "no case");
	tap_ok(!pf_str_eq_nocase(PF_LIT("@"), PF_LIT("`")),
	    "only letters have two cases");
	tap_ok(!pf_str_eq_nocase(PF_LIT("\xc4"), PF_LIT("\xe4")),
	    "only ASCII letters");
	tap_ok(pf_str_starts(s, PF_LIT("Key")), "starts");
	tap_ok(!pf_str_starts(PF_LIT("Ke"), PF_LIT("Key")), "too short");
	tap_ok(pf_str_ends(s, PF_LIT("value ")), "ends");
	tap_ok(!pf_str_ends(PF_LIT("e "), PF_LIT("ue ")), "too short");
	tap_ok(pf_str_ends(none, none), "nothing ends in nothing");
	tap_is((long long)pf_str_find(s, ':'), 3, "find");
	tap_is((long long)pf_str_find(s, '!'), (long long)s.n, "not found");
	tap_ok(!pf_str_has(none, 'a'), "nothing has nothing");
	tap_is_z(pf_str_from(s, 5), "value ", "from");
	tap_is_z(pf_str_from(s, 500), "", "from behind the end");
	tap_is_str(pf_str_from(none, 1), none, "from nothing");
	tap_is_z(pf_str_head(s, 3), "Key", "head");
	tap_is_str(pf_str_head(s, 500), s, "head behind the end");
	tap_is_z(pf_str_trim(PF_LIT(" \ta b\t ")), "a b", "trim");
	tap_is_z(pf_str_trim(PF_LIT(" \t ")), "", "trim to nothing");
	tap_is_z(pf_str_trim(PF_LIT("\na\v")), "\na\v",
	    "line ends are no white space of a header");
}

static void
test_cut(void)
{
	static const struct {
		const char *text;
		int n;
		const char *piece[4];
	} row[] = {
		{ "a,,b", 3, { "a", "", "b" } },
		{ "", 1, { "" } },
		{ ",", 2, { "", "" } },
		{ "a", 1, { "a" } },
		{ "a,", 2, { "a", "" } },
	};
	struct pf_str rest, one;
	int n;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		rest = pf_str(row[i].text);
		for (n = 0; pf_str_cut(&rest, ',', &one) && n < 4; n++)
			tap_is_z(one, row[i].piece[n], "\"%s\" piece %d",
			    row[i].text, n);
		tap_is(n, row[i].n, "\"%s\" pieces", row[i].text);
	}
	rest = PF_NOSTR;
	tap_ok(!pf_str_cut(&rest, ',', &one), "nothing has no piece");
}

static void
test_int(void)
{
	static const struct { const char *why; struct pf_str text; } bad[] = {
		{ "empty", PF_LIT_INIT("") },
		{ "not given", { NULL, 0 } },
		{ "only a sign", PF_LIT_INIT("-") },
		{ "plus", PF_LIT_INIT("+1") },
		{ "two signs", PF_LIT_INIT("--1") },
		{ "space before", PF_LIT_INIT(" 1") },
		{ "space behind", PF_LIT_INIT("1 ") },
		{ "line end", PF_LIT_INIT("1\n") },
		{ "NUL behind", PF_LIT_INIT("1\0") },
		{ "fraction", PF_LIT_INIT("1.0") },
		{ "exponent", PF_LIT_INIT("1e3") },
		{ "hexadecimal", PF_LIT_INIT("0x1") },
		{ "a letter", PF_LIT_INIT("1a") },
		{ "other digits", PF_LIT_INIT("\xd9\xa1") },
		{ "2^63", PF_LIT_INIT("9223372036854775808") },
		{ "-2^63-1", PF_LIT_INIT("-9223372036854775809") },
		{ "2^64", PF_LIT_INIT("18446744073709551616") },
		{ "2^64+1", PF_LIT_INIT("18446744073709551617") },
	};
	int64_t v = 42;

	for (size_t i = 0; i < PF_COUNT(bad); i++)
		tap_is(pf_str_int(bad[i].text, INT64_MIN, INT64_MAX, &v),
		    PF_E_INPUT, "refused: %s", bad[i].why);
	tap_is(pf_str_int(PF_LIT("10"), 11, 20, &v), PF_E_INPUT, "too small");
	tap_is(pf_str_int(PF_LIT("21"), 11, 20, &v), PF_E_INPUT, "too large");
	tap_is(v, 42, "a refusal leaves the result alone");

	tap_is(pf_str_int(PF_LIT("9223372036854775807"), 0, INT64_MAX, &v),
	    PF_OK, "2^63-1");
	tap_ok(v == INT64_MAX, "and exact");
	tap_is(pf_str_int(PF_LIT("-9223372036854775808"), INT64_MIN, 0, &v),
	    PF_OK, "-2^63");
	tap_ok(v == INT64_MIN, "and exact");
	tap_is(pf_str_int(PF_LIT("007"), 0, 9, &v), PF_OK, "leading zeros");
	tap_is(v, 7, "are decimal");
}

static void
test_utf8(void)
{
	static const struct { const char *why; struct pf_str text; } bad[] = {
		{ "NUL", PF_LIT_INIT("a\0b") },
		{ "NUL among eight", PF_LIT_INIT("abcd\0efgh") },
		{ "a tail alone", PF_LIT_INIT("a\x80") },
		{ "two bytes cut", PF_LIT_INIT("a\xc3") },
		{ "three bytes cut", PF_LIT_INIT("\xe2\x82") },
		{ "four bytes cut", PF_LIT_INIT("\xf0\x9f\x98") },
		{ "overlong slash C0", PF_LIT_INIT("\xc0\xaf") },
		{ "overlong C1", PF_LIT_INIT("\xc1\xbf") },
		{ "overlong three", PF_LIT_INIT("\xe0\x80\xaf") },
		{ "overlong three, last", PF_LIT_INIT("\xe0\x9f\xbf") },
		{ "overlong four", PF_LIT_INIT("\xf0\x80\x80\xaf") },
		{ "overlong four, last", PF_LIT_INIT("\xf0\x8f\xbf\xbf") },
		{ "overlong NUL", PF_LIT_INIT("\xc0\x80") },
		{ "surrogate D800", PF_LIT_INIT("\xed\xa0\x80") },
		{ "surrogate DFFF", PF_LIT_INIT("\xed\xbf\xbf") },
		{ "CESU-8 pair", PF_LIT_INIT("\xed\xa0\xbd\xed\xb8\x80") },
		{ "past U+10FFFF", PF_LIT_INIT("\xf4\x90\x80\x80") },
		{ "F5", PF_LIT_INIT("\xf5\x80\x80\x80") },
		{ "FE", PF_LIT_INIT("\xfe") },
		{ "FF", PF_LIT_INIT("\xff") },
		{ "five bytes", PF_LIT_INIT("\xf8\x88\x80\x80\x80") },
		{ "third byte no tail", PF_LIT_INIT("\xe2\x82\x41") },
		{ "fourth byte no tail", PF_LIT_INIT("\xf0\x9f\x98\x41") },
		{ "Latin-1", PF_LIT_INIT("M\xfcnchen und so weiter") },
		{ "late in a word", PF_LIT_INIT("abcdefg\x80") },
	};
	static const struct pf_str good[] = {
		PF_LIT_INIT(""), PF_LIT_INIT("abcdefgh"),
		PF_LIT_INIT("\x01\x7f\x01\x7f\x01\x7f\x01\x7f"),
		PF_LIT_INIT("M\xc3\xbcnchen"), PF_LIT_INIT("\xe2\x82\xac"),
		PF_LIT_INIT("\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf"),
		PF_LIT_INIT("\xed\x9f\xbf\xee\x80\x80"),
		PF_LIT_INIT("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
	};

	for (size_t i = 0; i < PF_COUNT(bad); i++)
		tap_ok(!pf_utf8_valid(bad[i].text), "UTF-8 refused: %s",
		    bad[i].why);
	for (size_t i = 0; i < PF_COUNT(good); i++)
		tap_ok(pf_utf8_valid(good[i]), "UTF-8 number %zu", i);
	tap_ok(pf_utf8_valid(PF_NOSTR), "nothing is UTF-8");
}

static void
test_b64url(void)
{
	/* RFC 4648, section 10, without its padding. */
	static const struct { struct pf_str raw, text; } vector[] = {
		{ PF_LIT_INIT(""), PF_LIT_INIT("") },
		{ PF_LIT_INIT("f"), PF_LIT_INIT("Zg") },
		{ PF_LIT_INIT("fo"), PF_LIT_INIT("Zm8") },
		{ PF_LIT_INIT("foo"), PF_LIT_INIT("Zm9v") },
		{ PF_LIT_INIT("foob"), PF_LIT_INIT("Zm9vYg") },
		{ PF_LIT_INIT("fooba"), PF_LIT_INIT("Zm9vYmE") },
		{ PF_LIT_INIT("foobar"), PF_LIT_INIT("Zm9vYmFy") },
		/* RFC 7515, appendix C. */
		{ PF_LIT_INIT("\x03\xec\xff\xe0\xc1"), PF_LIT_INIT("A-z_4ME") },
	};
	static const struct { const char *why; struct pf_str text; } bad[] = {
		{ "padding", PF_LIT_INIT("Zg==") },
		{ "one pad", PF_LIT_INIT("Zm8=") },
		{ "length 1", PF_LIT_INIT("Z") },
		{ "length 5", PF_LIT_INIT("Zm9vZ") },
		{ "plus", PF_LIT_INIT("A+z_4ME") },
		{ "slash", PF_LIT_INIT("A-z/4ME") },
		{ "space", PF_LIT_INIT("Zm9v ") },
		{ "line end", PF_LIT_INIT("Zm9vYmE\n") },
		{ "line end within", PF_LIT_INIT("Zm\n9v") },
		{ "NUL", PF_LIT_INIT("Zm9\0") },
		{ "NUL in the tail", PF_LIT_INIT("Z\0") },
		{ "a byte over 127", PF_LIT_INIT("Zm9\xc3") },
		{ "four stray bits", PF_LIT_INIT("Zh") },
		{ "highest stray bit of four", PF_LIT_INIT("Zo") },
		{ "two stray bits", PF_LIT_INIT("Zm9vYmF") },
		{ "a dot", PF_LIT_INIT("Zm9.") },
	};
	unsigned char raw[64];
	char text[64];
	size_t n;

	for (size_t i = 0; i < PF_COUNT(vector); i++) {
		n = pf_b64url_encode(vector[i].raw.p, vector[i].raw.n, text);
		tap_is_str(pf_bytes(text, n), vector[i].text, "encode %zu", i);
		tap_is((long long)PF_B64URL_LEN(vector[i].raw.n), (long long)n,
		    "its length");
		tap_is(pf_b64url_decode(vector[i].text, raw, sizeof(raw), &n),
		    PF_OK, "decode %zu", i);
		tap_is_str(pf_bytes(raw, n), vector[i].raw, "to the same");
	}
	for (size_t i = 0; i < PF_COUNT(bad); i++)
		tap_is(pf_b64url_decode(bad[i].text, raw, sizeof(raw), &n),
		    PF_E_INPUT, "base64url refused: %s", bad[i].why);
	for (size_t len = 1; len < 9; len += 4)
		tap_is(pf_b64url_decode(pf_bytes("AAAAAAAAAAAA", len), raw,
		    sizeof(raw), &n), PF_E_INPUT,
		    "refused: %zu characters, whatever follows them", len);
	tap_is(pf_b64url_decode(PF_LIT("Zm9vYmFy"), raw, 5, &n), PF_E_INPUT,
	    "longer than the cap");
	tap_is(pf_b64url_decode(PF_LIT("Zm9vYmFy"), raw, 6, &n), PF_OK,
	    "exactly the cap");
}

/* Each byte value alone: only the 64 of the alphabet may pass. */
static void
test_b64url_alphabet(void)
{
	int passed = 0, agree = 0;

	for (int c = 0; c < 256; c++) {
		char text[4] = { 'A', 'A', 'A', (char)c };
		unsigned char raw[3];
		size_t n;
		bool good;

		good = pf_b64url_decode(pf_bytes(text, 4), raw, 3, &n) == PF_OK;
		passed += good;
		agree += good == pf_is_b64url((char)c);
	}
	tap_is(passed, 64, "64 characters decode");
	tap_is(agree, 256, "pf_is_b64url() says the same");
}

static void
test_secrets(void)
{
	char a[] = "secret", b[] = "secret";

	tap_ok(pf_equal_ct(a, b, 6), "equal");
	b[5] = 'T';
	tap_ok(!pf_equal_ct(a, b, 6), "last byte differs");
	tap_ok(pf_equal_ct(a, b, 5), "it is not looked at");
	b[0] = 'S';
	tap_ok(!pf_equal_ct(a, b, 1), "first byte differs");
	tap_ok(pf_equal_ct(NULL, NULL, 0), "nothing is equal");
	pf_wipe(a, sizeof(a));
	tap_is(a[0] | a[3] | a[5], 0, "wiped");
	pf_wipe(NULL, 0);
}

int
main(void)
{
	test_views();
	test_cut();
	test_int();
	test_utf8();
	test_b64url();
	test_b64url_alphabet();
	test_secrets();
	return tap_done();
}
