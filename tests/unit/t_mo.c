/* Message catalogues broken in every way, and whose language is whose. */
#include "config.h"

#include "core/web/lang.h"
#include "tests/unit/tap.h"

/* A catalogue as msgfmt writes it, made here so that it can be made wrong. */
struct entry { const char *id, *text; };

static unsigned char file[4096];
static size_t size;

static void
put(size_t at, uint32_t v)
{
	memcpy(file + at, &v, sizeof(v));
}

static size_t
put_text(size_t entry, size_t at, const char *z)
{
	put(entry, (uint32_t)strlen(z));
	put(entry + 4, (uint32_t)at);
	memcpy(file + at, z, strlen(z) + 1);
	return at + strlen(z) + 1;
}

static struct pf_str
make(const struct entry *e, size_t n)
{
	size_t at = 28 + 16 * n;

	memset(file, 0, sizeof(file));
	put(0, 0x950412de);
	put(8, (uint32_t)n);
	put(12, 28);
	put(16, (uint32_t)(28 + 8 * n));
	for (size_t i = 0; i < n; i++) {
		at = put_text(28 + 8 * i, at, e[i].id);
		at = put_text(28 + 8 * (n + i), at, e[i].text);
	}
	size = at;
	return pf_bytes(file, size);
}

#define HEAD	{ "", "Content-Type: text/plain; charset=UTF-8\n" }
static const struct entry plain[] = {
	HEAD, { "DIRECTION", "ltr" }, { "Hello {a}", "Hallo {a}" },
	{ "LANGUAGE", "Deutsch" }, { "empty", "" }, { "z", "Ende" },
};

static void
swap_all(void)
{
	uint32_t v;

	for (size_t at = 0; at < 28 + 16 * PF_COUNT(plain); at += 4) {
		memcpy(&v, file + at, sizeof(v));
		put(at, __builtin_bswap32(v));
	}
}

static void
test_good(void)
{
	struct pf_mo mo;
	const char *why;
	struct pf_str f;

	f = make(plain, PF_COUNT(plain));
	for (int swapped = 0; swapped < 2; swapped++) {
		if (swapped)
			swap_all();
		tap_is(pf_mo_open(f, &mo, &why), PF_OK, "opened: %s",
		    swapped ? "of the other byte order" : "of ours");
		tap_is_z(pf_mo_text(&mo, PF_LIT("Hello {a}")), "Hallo {a}",
		    "in the middle");
		tap_is_z(pf_mo_text(&mo, PF_LIT("DIRECTION")), "ltr", "near "
		    "the first");
		tap_is_z(pf_mo_text(&mo, PF_LIT("z")), "Ende", "the last");
		tap_ok(!pf_str_given(pf_mo_text(&mo, PF_LIT("empty"))),
		    "not translated");
		tap_ok(!pf_str_given(pf_mo_text(&mo, PF_LIT("Hello"))),
		    "not there: shorter");
		tap_ok(!pf_str_given(pf_mo_text(&mo, PF_LIT("zz"))),
		    "not there: behind the last");
	}
}

static void
refused(struct pf_str f, const char *what)
{
	const char *why = NULL;
	struct pf_mo mo;

	tap_is(pf_mo_open(f, &mo, &why), PF_E_INPUT, "refused: %s", what);
	tap_ok(why != NULL && *why != '\0', "why: %s", why);
}

static const struct { const char *why; size_t at; uint32_t v; } numbers[] = {
	{ "no magic", 0, 0 },
	{ "a revision to come", 4, 0x10000 },
	{ "too many messages", 8, PF_MO_MAX + 1 },
	{ "more messages than the file holds", 8, 500 },
	{ "2^32-1 messages", 8, UINT32_MAX },
	{ "ids in the header", 12, 4 },
	{ "ids behind the end", 12, 5000 },
	{ "ids at the end of numbers", 12, UINT32_MAX },
	{ "texts behind the end", 16, 5000 },
	{ "texts at the end of numbers", 16, UINT32_MAX - 7 },
	{ "an id that is too long", 28, 5000 },
	{ "an id of the longest length", 28, UINT32_MAX },
	{ "an id that lies outside", 28 + 4, 5000 },
	{ "an id at the end of numbers", 28 + 4, UINT32_MAX },
	{ "an id without its NUL", 28 + 8, 3 },
	{ "a text that lies outside", 28 + 8 * 6 + 4, 100000 },
};

static void
test_bad(void)
{
	static const struct entry unsorted[] = {
		HEAD, { "b", "1" }, { "a", "2" }
	};
	static const struct entry twice[] = {
		HEAD, { "a", "1" }, { "a", "2" }
	};
	static const struct entry latin[] = {
		{ "", "Content-Type: text/plain; charset=ISO-8859-1\n" }
	};
	static const struct entry bytes[] = { HEAD, { "a", "\xe9" } };
	static const struct entry headless[] = { { "a", "b" } };

	for (size_t i = 0; i < PF_COUNT(numbers); i++) {
		struct pf_str f = make(plain, PF_COUNT(plain));

		put(numbers[i].at, numbers[i].v);
		refused(f, numbers[i].why);
	}
	refused(PF_NOSTR, "nothing");
	refused(pf_str_head(make(plain, PF_COUNT(plain)), 27), "27 bytes");
	refused(pf_str_head(make(plain, PF_COUNT(plain)), 100), "cut short");
	refused(pf_str_head(make(plain, PF_COUNT(plain)), size - 1),
	    "the last NUL is missing");
	refused(make(plain, 0), "no message at all");
	refused(make(unsorted, 3), "not sorted");
	refused(make(twice, 3), "the same id twice");
	refused(make(latin, 1), "another charset");
	refused(make(headless, 1), "no header");
	refused(make(bytes, 2), "bytes that are not UTF-8");
}

static const struct { const char *why; struct entry e[4]; } bad_langs[] = {
	{ "a name that the text has not", { HEAD, { "DIRECTION", "ltr" },
	    { "Hello {a}", "Hallo {b}" }, { "LANGUAGE", "x" } } },
	{ "no direction", { HEAD, { "A", "B" }, { "LANGUAGE", "x" },
	    { "b", "" } } },
	{ "a direction of its own", { HEAD, { "DIRECTION", "up" },
	    { "LANGUAGE", "x" }, { "b", "" } } },
	{ "no name", { HEAD, { "DIRECTION", "rtl" }, { "a", "b" },
	    { "b", "" } } },
};

static void
test_add(void)
{
	static const char *const codes[] = {
		"", "d", "DE", "de_AT", "d/", "../de", "de;q=1", "de ",
		"1a", "abcdefghijklmnopq"
	};
	struct pf_langs l;
	const char *why;

	pf_langs_init(&l);
	for (size_t i = 0; i < PF_COUNT(bad_langs); i++)
		tap_is(pf_langs_add(&l, PF_LIT("xx"), make(bad_langs[i].e, 4),
		    &why), PF_E_INPUT, "refused: %s", bad_langs[i].why);
	make(plain, PF_COUNT(plain));
	for (size_t i = 0; i < PF_COUNT(codes); i++)
		tap_is(pf_langs_add(&l, pf_str(codes[i]),
		    pf_bytes(file, size), &why), PF_E_INPUT,
		    "refused as a code: '%s'", codes[i]);
	tap_is((long long)l.n, 1, "English alone");
	tap_is(pf_langs_add(&l, PF_LIT("de"), pf_bytes(file, size), &why),
	    PF_OK, "added");
	tap_is(pf_langs_add(&l, PF_LIT("de"), pf_bytes(file, size), &why),
	    PF_OK, "put in its place");
	tap_is((long long)l.n, 2, "two");
	tap_is_z(l.v[1].name, "Deutsch", "its name");
	tap_is_z(pf_lang_text(&l.v[1], PF_LIT("Hello {a}")), "Hallo {a}",
	    "translated");
	tap_is_z(pf_lang_text(&l.v[1], PF_LIT("What?")), "What?",
	    "not translated");
	tap_is_z(pf_lang_text(&l.v[0], PF_LIT("z")), "z", "English");
	while (l.n < PF_LANGS_MAX)
		l.v[l.n++].code = PF_LIT("yy");
	tap_is(pf_langs_add(&l, PF_LIT("fr"), pf_bytes(file, size), &why),
	    PF_E_INPUT, "refused: one more than may be");
}

/* Offered: en, de, pt, pt-br, ja. */
static const struct { const char *header, *want; } picks[] = {
	{ NULL, "en" }, { "", "en" }, { "*", "en" }, { "nl", "en" },
	{ "de", "de" }, { "DE", "de" }, { "de-AT", "de" },
	{ "de-Latn-AT-1996", "de" }, { "pt-BR", "pt-br" },
	{ "pt-PT", "pt" }, { "nl, de", "de" },
	{ "en;q=0.5, de;q=0.8", "de" }, { "de;q=0.5,ja", "ja" },
	{ "de;q=0.5, ja;q=0.5", "de" }, { "ja ; q=0.9 , de; q=0.899", "ja" },
	{ "de;q=0, ja;q=0.001", "ja" }, { "de;q=0", "en" },
	{ "*, de;q=0.9", "en" }, { "*;q=0.1, de;q=0.2", "de" },
	{ "de;q=2", "en" }, { "de;q=1.5", "en" }, { "de;q=-1", "en" },
	{ "de;q=0.0001", "en" }, { "de;q=", "en" }, { "de;q=a", "en" },
	{ "de;q=1.000, ja", "de" }, { "de;Q=1", "de" }, { "de;x=1", "en" },
	{ ",,,de,,", "de" }, { "de-", "de" }, { "-de", "en" }, { "-", "en" },
	{ "d", "en" }, { "deu", "en" }, { ";q=1", "en" },
};

static void
test_pick(void)
{
	static const char *const codes[] = { "de", "pt", "pt-br", "ja" };
	struct pf_str long_one;
	static char many[4000];
	struct pf_langs l;

	pf_langs_init(&l);
	for (size_t i = 0; i < PF_COUNT(codes); i++)
		l.v[l.n++].code = pf_str(codes[i]);
	for (size_t i = 0; i < PF_COUNT(picks); i++)
		tap_is_z(pf_langs_pick(&l, pf_str(picks[i].header))->code,
		    picks[i].want, "Accept-Language: %s",
		    picks[i].header != NULL ? picks[i].header : "(none)");
	memset(many, ',', sizeof(many));
	memcpy(many + sizeof(many) - 2, "de", 2);
	long_one = pf_bytes(many, sizeof(many));
	tap_is_z(pf_langs_pick(&l, long_one)->code, "en",
	    "a header of 4,000 ranges: the first ones count");
	tap_ok(pf_langs_get(&l, PF_LIT("JA")) != NULL, "by its code");
	tap_ok(pf_langs_get(&l, PF_LIT("j")) == NULL, "no such code");
}

int
main(void)
{
	test_good();
	test_bad();
	test_add();
	test_pick();
	return tap_done();
}
