#include "config.h"

#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/json.h"
#include "core/base/log.h"

#define PLANTED	"pst_AbPLANTEDPLANTEDPLANTEDPLANTEDPLANTEDPLANTEDPLA"

static struct pf_arena arena;
static int from, saved_stderr;
static char line[16384];

/* What one call wrote to standard error; empty if nothing. */
static struct pf_str
written(enum pf_level level, const char *event, const struct pf_field *f,
    size_t n)
{
	ssize_t got;

	pf_log_fields(level, event, f, n);
	got = read(from, line, sizeof(line));
	return pf_bytes(line, got < 0 ? 0 : (size_t)got);
}

/* One line, at most 4096 bytes, strict JSON. */
static const struct pf_json *
well_formed(struct pf_str s, const char *what)
{
	struct pf_json_fault fault = { 0, "" };
	const struct pf_json *v = NULL;

	tap_ok(s.n > 0 && s.n <= 4096 && pf_str_find(s, '\n') == s.n - 1 &&
	    !pf_str_has(s, '\r') && !pf_str_has(s, '\033'),
	    "one line: %s", what);
	if (!tap_is(pf_json_parse(&arena, s, &pf_json_small, &v, &fault),
	    PF_OK, "strict JSON: %s", what))
		tap_diag("at %zu: %s", fault.at, fault.why);
	return v;
}

static void
test_line(void)
{
	const struct pf_field f[] = {
		PF_F_STR("url", PF_LIT("https://a.example/\"x\\")),
		PF_F_INT("status", -200),
		PF_F_STR("none", PF_NOSTR),
		PF_F_Z("z", "text"),
	};
	const struct pf_json *v;
	struct pf_str s;
	int64_t i;

	errno = 42;
	s = written(PF_LOG_INFO, "request", f, PF_COUNT(f));
	tap_is(errno, 42, "errno is left alone");
	v = well_formed(s, "a plain one");
	tap_ok(pf_json_str(v, "event", &s) == PF_OK &&
	    pf_str_eqz(s, "request"), "event");
	tap_ok(pf_json_str(v, "level", &s) == PF_OK && pf_str_eqz(s, "info"),
	    "level");
	tap_ok(pf_json_str(v, "program", &s) == PF_OK &&
	    pf_str_eqz(s, "t_log"), "program");
	tap_ok(pf_json_str(v, "at", &s) == PF_OK && s.n == 24, "time");
	tap_ok(pf_json_int(v, "pid", &i) == PF_OK && i == getpid(), "pid");
	tap_ok(pf_json_str(v, "url", &s) == PF_OK &&
	    pf_str_eqz(s, "https://a.example/\"x\\"), "text");
	tap_ok(pf_json_int(v, "status", &i) == PF_OK && i == -200, "number");
	tap_ok(pf_json_has(v, "none") &&
	    pf_json_str(v, "none", &s) == PF_E_ABSENT, "not given is null");
	(void)well_formed(written(PF_LOG_ERROR, "bare", NULL, 0), "no field");
}

static void
test_secrets(void)
{
	const struct pf_field f[] = {
		PF_F_SECRET("token", PF_LIT(PLANTED)),
		PF_F_SECRET("none", PF_NOSTR),
	};
	const struct pf_json *v, *o;
	struct pf_str s;
	int64_t i;

	s = written(PF_LOG_ERROR, "refused", f, PF_COUNT(f));
	tap_ok(memmem(s.p, s.n, "PLANTED", 7) == NULL,
	    "a secret is not in the line");
	tap_ok(memmem(s.p, s.n, "pst_", 4) == NULL, "nor its beginning");
	v = well_formed(s, "with a secret");
	tap_ok(pf_json_obj(v, "token", &o) == PF_OK &&
	    pf_json_int(o, "bytes", &i) == PF_OK &&
	    i == (int64_t)strlen(PLANTED), "its length is");
}

static void
test_hostile(void)
{
	static const struct { const char *why; struct pf_str text; } row[] = {
		{ "line ends", PF_LIT_INIT("a\r\n{\"level\":\"error\"}\n") },
		{ "a quote and a brace", PF_LIT_INIT("\"}\n{\"x\":\"") },
		{ "terminal commands",
		    PF_LIT_INIT("\033[2J\x9b" "2J\xc2\x9b") },
		{ "Unicode line ends", PF_LIT_INIT("\xe2\x80\xa8\xc2\x85") },
		{ "invalid UTF-8",
		    PF_LIT_INIT("\xff\xfe\xc0\xaf\xed\xa0\x80") },
		{ "half a character", PF_LIT_INIT("\xe2\x82") },
		{ "backslash last", PF_LIT_INIT("\\") },
		{ "delete", PF_LIT_INIT("\x7f\b") },
	};
	struct pf_str s;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		const struct pf_field f[] = { PF_F_STR("v", row[i].text) };

		s = written(PF_LOG_WARN, "hostile", f, 1);
		(void)well_formed(s, row[i].why);
		tap_ok(memmem(s.p, s.n, "\xe2\x80\xa8", 3) == NULL &&
		    memmem(s.p, s.n, "\xc2\x9b", 2) == NULL &&
		    memmem(s.p, s.n, "\xc2\x85", 2) == NULL,
		    "no C1 control, no U+2028: %s", row[i].why);
	}
	{
		const struct pf_field f[] = { PF_F_STR("v", PF_LIT("a\0b")) };

		s = written(PF_LOG_WARN, "hostile", f, 1);
		tap_ok(memmem(s.p, s.n, "a\\u0000b", 8) != NULL,
		    "NUL is escaped");
	}
}

static void
test_cut(void)
{
	char text[600];
	struct pf_field f[30];
	const struct pf_json *v;
	struct pf_str s;

	memset(text, 'a', sizeof(text));
	f[0] = (struct pf_field)PF_F_STR("v", pf_bytes(text, sizeof(text)));
	v = well_formed(written(PF_LOG_INFO, "cut", f, 1), "600 bytes");
	tap_ok(pf_json_str(v, "v", &s) == PF_OK && s.n == 512,
	    "cut at 512 bytes");
	/* U+20AC lies over the border in all three ways. */
	for (size_t at = 509; at < 513; at++) {
		memset(text, 'a', sizeof(text));
		memcpy(text + at, "\xe2\x82\xac", 3);
		v = well_formed(written(PF_LOG_INFO, "cut", f, 1),
		    "a character at the border");
		tap_ok(pf_json_str(v, "v", &s) == PF_OK &&
		    s.n == (at == 509 || at == 512 ? 512 : at) &&
		    !pf_str_ends(s, PF_LIT("\xbd")), "whole or not at all");
	}
	memset(text, 0x80, sizeof(text));
	v = well_formed(written(PF_LOG_INFO, "cut", f, 1), "only tails");
	tap_ok(pf_json_str(v, "v", &s) == PF_OK && s.n == 3 * (512 - 3),
	    "no search for a character's beginning past three bytes");
	memset(text, 1, sizeof(text));
	for (size_t i = 0; i < PF_COUNT(f); i++)
		f[i] = (struct pf_field)PF_F_STR("v",
		    pf_bytes(text, sizeof(text)));
	for (size_t i = 0; i < PF_COUNT(f) - 1; i++)
		f[i].name = i == 0 ? "first" : "more";
	f[29] = (struct pf_field)PF_F_INT("last", 7);
	/* Names come twice here, so that not our parser but the text counts. */
	s = written(PF_LOG_INFO, "full", f, PF_COUNT(f));
	tap_ok(s.n <= 4096 && s.p[s.n - 1] == '\n' && s.p[s.n - 2] == '}' &&
	    pf_str_find(s, '\n') == s.n - 1, "a full line has its end");
	tap_ok(memmem(s.p, s.n, "\"left_out\":28", 13) != NULL,
	    "and says how many fields it lacks");
	tap_ok(memmem(s.p, s.n, "\"last\":7", 8) != NULL,
	    "a short one behind them still fits");
}

/* Whatever room is left for the last field, the line has its end. */
static void
test_border(void)
{
	static const char *const names[] = {
		"a", "b", "c", "d", "e", "f", "g", "h"
	};
	struct pf_field f[8];
	char text[512];
	size_t whole = 0, longest = 0;

	memset(text, 'x', sizeof(text));
	for (size_t n = 0; n <= sizeof(text); n++) {
		const struct pf_json *v;
		struct pf_str s;

		for (size_t i = 0; i < PF_COUNT(f); i++)
			f[i] = (struct pf_field)PF_F_STR(names[i],
			    pf_bytes(text, i == 7 ? n : sizeof(text)));
		s = written(PF_LOG_INFO, "border", f, PF_COUNT(f));
		whole += s.n <= 4096 && pf_json_parse(&arena, s,
		    &pf_json_small, &v, NULL) == PF_OK;
		if (s.n > longest)
			longest = s.n;
		pf_arena_reset(&arena);
	}
	tap_is((long long)whole, 513, "every line is whole");
	tap_ok(longest > 4000, "and the border was met");
}

static void
test_levels(void)
{
	enum pf_level level = PF_LOG_ERROR;

	pf_log_level(PF_LOG_WARN);
	tap_is((long long)written(PF_LOG_INFO, "no", NULL, 0).n, 0,
	    "less urgent lines are dropped");
	tap_ok(!pf_log_wants(PF_LOG_DEBUG) && pf_log_wants(PF_LOG_WARN),
	    "and asked for first");
	tap_ok(written(PF_LOG_WARN, "yes", NULL, 0).n > 0, "others not");
	tap_is(pf_log_level_parse(PF_LIT("debug"), &level), PF_OK, "by name");
	tap_is(level, PF_LOG_DEBUG, "debug");
	tap_is(pf_log_level_parse(PF_LIT("Debug"), &level), PF_E_INPUT,
	    "refused: case");
	tap_is(pf_log_level_parse(PF_LIT(""), &level), PF_E_INPUT,
	    "refused: empty");
	tap_is(pf_log_level_parse(PF_LIT("3"), &level), PF_E_INPUT,
	    "refused: a number");
}

/* A reader that doesn't read must not hold up who logs. */
static void
test_full_pipe(void)
{
	static char text[512];
	const struct pf_field f[] = {
		PF_F_STR("v", pf_bytes(text, sizeof(text)))
	};

	memset(text, 'x', sizeof(text));
	fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 500; i++)
		pf_log_fields(PF_LOG_ERROR, "flood", f, 1);
	errno = 42;
	pf_log_fields(PF_LOG_ERROR, "flood", f, 1);
	tap_is(errno, 42, "a full pipe drops lines and leaves errno alone");
	while (read(from, line, sizeof(line)) > 0)
		;
	(void)well_formed(written(PF_LOG_ERROR, "after", NULL, 0),
	    "and logging goes on");
}

int
main(void)
{
	int fd[2];

	tap_need(pf_arena_init(&arena, 16384, 1 << 20) == PF_OK, "an arena");
	saved_stderr = dup(STDERR_FILENO);
	tap_need(pipe(fd) == 0 && dup2(fd[1], STDERR_FILENO) >= 0, "a pipe");
	from = fd[0];
	fcntl(from, F_SETFL, O_NONBLOCK);
	pf_log_init("t_log", PF_LOG_DEBUG);
	test_line();
	test_secrets();
	test_hostile();
	test_cut();
	test_border();
	test_levels();
	test_full_pipe();
	dup2(saved_stderr, STDERR_FILENO);
	pf_arena_free(&arena);
	return tap_done();
}
