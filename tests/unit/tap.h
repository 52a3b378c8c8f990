/*
 * tap - checks for the unit tests, told in the Test Anything Protocol.
 *
 *	int
 *	main(void)
 *	{
 *		tap_is(pf_str_int(s, 0, 9, &v), PF_E_INPUT, "refused: %s", why);
 *		return tap_done();
 *	}
 *
 * Header only, so that a test is one file. The plan is printed at the end
 * unless tap_plan() gave it; a test that stops early has none and fails.
 */
#ifndef PF_TAP_H
#define PF_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/str.h"

static struct {
	int planned;
	int run;
	int failed;
} tap;

/* A comment: TAP readers show it, and don't count it. */
static inline void PF_PRINTF(1, 2)
tap_diag(const char *fmt, ...)
{
	va_list ap;

	fputs("# ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static inline void
tap_plan(int n)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	tap.planned = n;
	printf("1..%d\n", n);
}

/* Nothing can be tested here; say why and leave with success. */
static inline void
tap_skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(0);
}

static inline bool PF_PRINTF(2, 0)
tap_result(bool good, const char *fmt, va_list ap)
{
	tap.run++;
	if (!good)
		tap.failed++;
	printf("%s %d - ", good ? "ok" : "not ok", tap.run);
	vprintf(fmt, ap);
	putchar('\n');
	fflush(stdout);
	return good;
}

static inline bool PF_PRINTF(2, 3)
tap_ok(bool good, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_result(good, fmt, ap);
	va_end(ap);
	return good;
}

/* Numbers, and enums such as pf_rc. */
static inline bool PF_PRINTF(3, 4)
tap_is(long long got, long long want, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_result(got == want, fmt, ap);
	va_end(ap);
	if (got != want)
		tap_diag("got %lld, want %lld", got, want);
	return got == want;
}

/* For diagnostics alone: bytes that would upset a terminal are escaped. */
static inline void
tap_show(const char *what, struct pf_str s)
{
	printf("# %s %zu bytes \"", what, s.n);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] >= ' ' && s.p[i] <= '~')
			putchar(s.p[i]);
		else
			printf("\\x%02x", (unsigned)(unsigned char)s.p[i]);
	}
	puts(s.p == NULL ? "\" (not given)" : "\"");
}

/* Same bytes; "not given" and "given and empty" differ. */
static inline bool PF_PRINTF(3, 4)
tap_is_str(struct pf_str got, struct pf_str want, const char *fmt, ...)
{
	bool good;
	va_list ap;

	good = got.n == want.n && (got.p == NULL) == (want.p == NULL) &&
	    (got.n == 0 || memcmp(got.p, want.p, got.n) == 0);
	va_start(ap, fmt);
	tap_result(good, fmt, ap);
	va_end(ap);
	if (!good) {
		tap_show("got ", got);
		tap_show("want", want);
	}
	return good;
}

static inline bool PF_PRINTF(3, 4)
tap_is_z(struct pf_str got, const char *want, const char *fmt, ...)
{
	struct pf_str w = { want, want == NULL ? 0 : strlen(want) };
	bool good;
	va_list ap;

	good = got.n == w.n && (got.p == NULL) == (w.p == NULL) &&
	    (got.n == 0 || memcmp(got.p, w.p, got.n) == 0);
	va_start(ap, fmt);
	tap_result(good, fmt, ap);
	va_end(ap);
	if (!good) {
		tap_show("got ", got);
		tap_show("want", w);
	}
	return good;
}

/* For set-up that must work before anything can be tested. */
static inline void
tap_need(bool good, const char *what)
{
	if (good)
		return;
	printf("Bail out! %s\n", what);
	exit(1);
}

/* The exit status of the test program. */
static inline int
tap_done(void)
{
	if (tap.planned == 0)
		printf("1..%d\n", tap.run);
	else if (tap.planned != tap.run)
		tap_diag("planned %d, ran %d", tap.planned, tap.run);
	if (tap.failed > 0)
		tap_diag("%d of %d failed", tap.failed, tap.run);
	fflush(stdout);
	return tap.failed > 0 || tap.run == 0 ||
	    (tap.planned != 0 && tap.planned != tap.run);
}

#endif
