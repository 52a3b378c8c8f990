#include "core/web/cookie.h"
#include "core/web/form.h"
#include "tests/unit/tap.h"

static struct pf_arena arena;

static void
test_good(void)
{
	struct pf_form f;
	struct pf_str v;
	const char *why;

	tap_is(pf_form_parse(&arena, PF_LIT("a=1+2&b=%C3%A9%26&&c&d=&e=x=y"),
	    &f, &why), PF_OK, "a form");
	tap_is((long long)f.n, 5, "empty pieces are passed over");
	tap_is(pf_form_get(&f, "a", &v), PF_OK, "a is there");
	tap_is_z(v, "1 2", "+ is a space");
	tap_is(pf_form_get(&f, "b", &v), PF_OK, "b is there");
	tap_is_z(v, "\xc3\xa9&", "percent decoded");
	tap_is(pf_form_get(&f, "c", &v), PF_OK, "c is there");
	tap_is_z(v, "", "a name alone has an empty value");
	tap_is(pf_form_get(&f, "d", &v), PF_OK, "d is there");
	tap_is_z(v, "", "an empty value is given");
	tap_is(pf_form_get(&f, "e", &v), PF_OK, "e is there");
	tap_is_z(v, "x=y", "only the first = separates");
	tap_is(pf_form_get(&f, "A", &v), PF_E_ABSENT, "names have case");
	tap_is_z(v, NULL, "absent is not given");
	tap_is_z(pf_form_repeated(&f), NULL, "none is repeated");
	tap_is(pf_form_parse(&arena, PF_LIT(""), &f, &why), PF_OK, "empty");
	tap_is((long long)f.n, 0, "no fields");
	tap_is(pf_form_parse(&arena, PF_NOSTR, &f, &why), PF_OK, "no query");
	tap_is((long long)f.n, 0, "no fields there either");
}

static void
test_repeated(void)
{
	static const char *const text[] = {
		"a=1&b=2&a=3", "a=1&a=1", "a=1&%61=2", "a&a=", "a=1&b=&a",
	};
	struct pf_form f;
	struct pf_str v;
	const char *why;

	for (size_t i = 0; i < PF_COUNT(text); i++) {
		tap_is(pf_form_parse(&arena, pf_str(text[i]), &f, &why),
		    PF_OK, "parses: %s", text[i]);
		tap_is(pf_form_get(&f, "a", &v), PF_E_CONFLICT, "twice: %s",
		    text[i]);
		tap_is_z(v, NULL, "no value: %s", text[i]);
		tap_is_z(pf_form_repeated(&f), "a", "named: %s", text[i]);
	}
}

static void
test_bad(void)
{
	static const struct { const char *why; struct pf_str text; } bad[] = {
		{ "% at the end", PF_LIT_INIT("a=%") },
		{ "% and one digit", PF_LIT_INIT("a=%4") },
		{ "% and no hex", PF_LIT_INIT("a=%zz") },
		{ "% cut by &", PF_LIT_INIT("a=%4&1=b") },
		{ "bad % in the name", PF_LIT_INIT("%a=1") },
		{ "%00", PF_LIT_INIT("a=x%00y") },
		{ "%00 in the name", PF_LIT_INIT("a%00b=1") },
		{ "NUL", PF_LIT_INIT("a=x\0y") },
		{ "a lone byte", PF_LIT_INIT("a=%ff") },
		{ "overlong slash", PF_LIT_INIT("a=%c0%af") },
		{ "surrogate", PF_LIT_INIT("a=%ed%a0%80") },
		{ "cut UTF-8", PF_LIT_INIT("a=%e2%82&b=1") },
		{ "raw invalid UTF-8", PF_LIT_INIT("a=\xfe") },
	};
	struct pf_form f;
	const char *why;

	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		tap_is(pf_form_parse(&arena, bad[i].text, &f, &why),
		    PF_E_INPUT, "refused: %s", bad[i].why);
		tap_ok(why != NULL, "with a reason: %s", bad[i].why);
	}
}

static void
test_many(void)
{
	char text[PF_FORM_MAX * 4 + 5] = "";
	struct pf_form f;
	const char *why;

	for (size_t i = 0; i < PF_FORM_MAX; i++)
		memcpy(text + i * 4, "a=1&", 5);
	tap_is(pf_form_parse(&arena, pf_str(text), &f, &why), PF_OK,
	    "as many as fit");
	tap_is((long long)f.n, PF_FORM_MAX, "all there");
	strcat(text, "b=1");
	tap_is(pf_form_parse(&arena, pf_str(text), &f, &why), PF_E_INPUT,
	    "one more");
	tap_is_z(pf_str(why), "it has too many fields", "says so");
}

static void
test_cookie(void)
{
	static const struct {
		const char *header, *want;
		enum pf_rc rc;
	} row[] = {
		{ "__Host-x=abc", "abc", PF_OK },
		{ "a=b; __Host-x=abc; c=d", "abc", PF_OK },
		{ "a=b;__Host-x=abc;c", "abc", PF_OK },
		{ "\t__Host-x=abc \t", "abc", PF_OK },
		{ "__Host-x=a=b==", "a=b==", PF_OK },
		{ "__Host-x=", "", PF_OK },
		{ "__Host-x=abc; __Host-x=abc", "abc", PF_OK },
		{ "; ;;__Host-x=abc;", "abc", PF_OK },
		{ "__Host-x=abc; __Host-x=abd", NULL, PF_E_CONFLICT },
		{ "__Host-x=; __Host-x=abc", NULL, PF_E_CONFLICT },
		{ "__Host-x=abc; a=b; __Host-x=", NULL, PF_E_CONFLICT },
		{ "", NULL, PF_E_ABSENT },
		{ "__Host-x", NULL, PF_E_ABSENT },
		{ "__host-x=abc", NULL, PF_E_ABSENT },
		{ "__Host-x =abc", NULL, PF_E_ABSENT },
		{ "__Host-xx=abc", NULL, PF_E_ABSENT },
		{ "x__Host-x=abc", NULL, PF_E_ABSENT },
		{ "a=__Host-x=abc", NULL, PF_E_ABSENT },
		{ "=__Host-x=abc", NULL, PF_E_ABSENT },
		{ "a=1, __Host-x=abc", NULL, PF_E_ABSENT },
		{ "__Host-x=\"abc\"", NULL, PF_E_INPUT },
		{ "__Host-x=a b", NULL, PF_E_INPUT },
		{ "__Host-x= abc", NULL, PF_E_INPUT },
		{ "__Host-x=abc, __Host-x=abd", NULL, PF_E_INPUT },
		{ "__Host-x=a\\b", NULL, PF_E_INPUT },
		{ "__Host-x=\xc3\xa9", NULL, PF_E_INPUT },
		{ "__Host-x=a\x01", NULL, PF_E_INPUT },
	};
	static const struct {
		const char *header;
		bool is;
	} named[] = {
		{ "__Host-x[a]=1", true }, { "a=1; __Host-x[]=", true },
		{ "__Host-x=abc", true }, { "__Host-x", true },
		{ "__Host-x=", true }, { "a=b; __Host-x=abc", true },
		{ "a=1, __Host-x=abc", true }, { "a=1,__Host-x", true },
		{ "a=b;\t__Host-x =c", true }, { "__Host-x-y=1;__Host-x", true },
		{ "", false }, { "__Host-", false }, { "__Host-x-login=a", false },
		{ "__Host-xx", false }, { "a__Host-x=b", false },
		{ "a=__Host-x", false }, { "__host-x=abc", false },
	};
	struct pf_str v;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		tap_is(pf_cookie_get(pf_str(row[i].header), "__Host-x", &v),
		    row[i].rc, "cookie row %zu", i);
		tap_is_z(v, row[i].want, "value of row %zu", i);
	}
	for (size_t i = 0; i < PF_COUNT(named); i++)
		tap_ok(pf_cookie_named(pf_str(named[i].header), "__Host-x") ==
		    named[i].is, "named: '%s'", named[i].header);
	tap_ok(!pf_cookie_named(PF_NOSTR, "__Host-x"), "named: no header");
	tap_is(pf_cookie_get(PF_NOSTR, "a", &v), PF_E_ABSENT, "no header");
	tap_is(pf_cookie_get(PF_LIT("a=x\0y"), "a", &v), PF_E_INPUT, "NUL");
}

int
main(void)
{
	tap_need(pf_arena_init(&arena, 4096, 1 << 20) == PF_OK, "an arena");
	test_good();
	test_repeated();
	test_bad();
	test_many();
	test_cookie();
	pf_arena_free(&arena);
	return tap_done();
}
