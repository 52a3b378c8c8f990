/*
 * What poppy-agent shows: secrets shortened, nothing that steers a terminal.
 */
#include "config.h"

#include "tests/unit/tap.h"
#include "tools/poppy-agent/show.h"

static struct pf_arena arena;

static const struct { const char *why; struct pf_str in, out; } escapes[] = {
	{ "plain text", PF_LIT_INIT("a b~"), PF_LIT_INIT("a b~") },
	{ "UTF-8", PF_LIT_INIT("K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x90\x9f"),
	    PF_LIT_INIT("K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x90\x9f") },
	{ "nothing", PF_LIT_INIT(""), PF_LIT_INIT("") },
	{ "escape", PF_LIT_INIT("\033[31m"), PF_LIT_INIT("\\x1b[31m") },
	{ "NUL", PF_LIT_INIT("a\0b"), PF_LIT_INIT("a\\x00b") },
	{ "DEL", PF_LIT_INIT("\x7f"), PF_LIT_INIT("\\x7f") },
	{ "newline", PF_LIT_INIT("a\nb\tc\rd"),
	    PF_LIT_INIT("a\\x0ab\\x09c\\x0dd") },
	{ "C1 control CSI", PF_LIT_INIT("\xc2\x9b" "31m"),
	    PF_LIT_INIT("\\xc2\\x9b31m") },
	{ "no-break space, which is none", PF_LIT_INIT("\xc2\xa0"),
	    PF_LIT_INIT("\xc2\xa0") },
	{ "right-to-left override", PF_LIT_INIT("\xe2\x80\xaegpj"),
	    PF_LIT_INIT("\\xe2\\x80\\xaegpj") },
	{ "isolate", PF_LIT_INIT("\xe2\x81\xa7"),
	    PF_LIT_INIT("\\xe2\\x81\\xa7") },
	{ "line separator", PF_LIT_INIT("\xe2\x80\xa8"),
	    PF_LIT_INIT("\\xe2\\x80\\xa8") },
	{ "ellipsis, which is none", PF_LIT_INIT("\xe2\x80\xa6"),
	    PF_LIT_INIT("\xe2\x80\xa6") },
	{ "a lone continuation byte", PF_LIT_INIT("\x80x"),
	    PF_LIT_INIT("\\x80x") },
	{ "a cut sequence", PF_LIT_INIT("\xe2\x82"),
	    PF_LIT_INIT("\\xe2\\x82") },
	{ "an overlong slash", PF_LIT_INIT("\xc0\xaf"),
	    PF_LIT_INIT("\\xc0\\xaf") },
	{ "a surrogate", PF_LIT_INIT("\xed\xa0\x80"),
	    PF_LIT_INIT("\\xed\\xa0\\x80") },
};

static struct pf_str
escaped(struct pf_str s, bool multiline)
{
	struct pf_buf b;

	pf_buf_init(&b, &arena, 4096);
	pf_buf_addz(&b, "");
	ag_escape(&b, s, multiline);
	return pf_buf_str(&b);
}

static struct pf_str
shortened(struct pf_str s)
{
	struct pf_buf b;

	pf_buf_init(&b, &arena, 4096);
	ag_shorten(&b, s);
	return pf_buf_str(&b);
}

int
main(void)
{
	struct pf_str got;

	tap_need(pf_arena_init(&arena, 4096, 1 << 20) == PF_OK, "memory");
	for (size_t i = 0; i < PF_COUNT(escapes); i++) {
		got = escaped(escapes[i].in, false);
		tap_ok(pf_str_eq(got, escapes[i].out), "escape: %s",
		    escapes[i].why);
	}
	tap_is_z(escaped(PF_LIT("a\nb\tc\rd"), true), "a\nb\tc\\x0dd",
	    "newline and tab stay where lines may be");
	tap_is_z(shortened(PF_LIT("pst_abcdefghijklmnopq")),
	    "pst_ab\xe2\x80\xa6 (21 characters)", "a token");
	tap_is_z(shortened(PF_LIT("pst_abcdefghijklmnop")),
	    "pst_ab\xe2\x80\xa6 (20 characters)", "20 characters");
	tap_is_z(shortened(PF_LIT("pst_abcdefghijklmno")),
	    "(19 characters)", "19 characters: length only");
	tap_is_z(shortened(PF_LIT("hunter2")), "(7 characters)",
	    "a short secret: length only");
	tap_is_z(shortened(PF_LIT("")), "(0 characters)", "an empty one");
	tap_is_z(shortened(PF_LIT("\033[31mabcdefghijklmnopq")),
	    "\\x1b[31ma\xe2\x80\xa6 (22 characters)",
	    "a secret with an escape character");
	pf_arena_free(&arena);
	return tap_done();
}
