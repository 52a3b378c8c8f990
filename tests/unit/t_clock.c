#include "config.h"

#include "tests/unit/tap.h"

#include <time.h>

#include "core/base/clock.h"
#include "core/base/random.h"

static struct pf_arena arena;

static void
test_text(void)
{
	static const struct { int64_t at; const char *text; } row[] = {
		{ 0, "1970-01-01T00:00:00Z" },
		{ -1, "1969-12-31T23:59:59Z" },
		{ 951782399, "2000-02-28T23:59:59Z" },
		{ 951782400, "2000-02-29T00:00:00Z" },
		{ 951868800, "2000-03-01T00:00:00Z" },
		{ 1078012800, "2004-02-29T00:00:00Z" },
		{ 1796067600, "2026-11-30T19:40:00Z" },
		{ 2147483648, "2038-01-19T03:14:08Z" },
		{ 4107542400, "2100-03-01T00:00:00Z" },
		{ 253402300799, "9999-12-31T23:59:59Z" },
		{ -62167219200, "0000-01-01T00:00:00Z" },
	};
	static const int64_t bad[] = {
		253402300800, -62167219201, INT64_MAX, INT64_MIN
	};
	struct pf_buf b;
	struct pf_str out;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		pf_buf_init(&b, &arena, 64);
		pf_buf_rfc3339(&b, row[i].at);
		tap_is_z(pf_buf_str(&b), row[i].text, "%lld",
		    (long long)row[i].at);
	}
	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		pf_buf_init(&b, &arena, 64);
		pf_buf_rfc3339(&b, bad[i]);
		tap_is(pf_buf_done(&b, &out), PF_E_MEM, "no text for %lld",
		    (long long)bad[i]);
		pf_buf_init(&b, &arena, 64);
		pf_buf_rfc3339_ms(&b, bad[i] > INT64_MAX / 1000 ||
		    bad[i] < INT64_MIN / 1000 ? bad[i] : bad[i] * 1000);
		tap_is(pf_buf_done(&b, &out), PF_E_MEM, "nor in ms");
	}
	pf_buf_init(&b, &arena, 64);
	pf_buf_rfc3339_ms(&b, 1796067600123);
	pf_buf_rfc3339_ms(&b, -1);
	tap_is_z(pf_buf_str(&b),
	    "2026-11-30T19:40:00.123Z1969-12-31T23:59:59.999Z", "with ms");
}

/* libc's own calendar, over a few thousand days of all eras. */
static void
test_calendar(void)
{
	int wrong = 0;

	for (int64_t at = -62167219200; at < 253402300800; at += 86413 * 37) {
		char want[32], got[32];
		struct pf_buf b;
		time_t t = (time_t)at;
		struct tm tm;

		tap_need(gmtime_r(&t, &tm) != NULL, "gmtime_r");
		snprintf(want, sizeof(want), "%04d-%02d-%02dT%02d:%02d:%02dZ",
		    (tm.tm_year + 1900) % 10000, tm.tm_mon + 1, tm.tm_mday,
		    tm.tm_hour, tm.tm_min, tm.tm_sec);
		pf_buf_fixed(&b, got, sizeof(got));
		pf_buf_rfc3339(&b, at);
		wrong += !pf_str_eqz(pf_buf_str(&b), want);
	}
	tap_is(wrong, 0, "as gmtime_r() says, from year 0 to 9999");
}

static void
test_clocks(void)
{
	int64_t a = pf_mono_us(), b, s = (int64_t)time(NULL);

	tap_ok(pf_now_at() - s <= 1 && pf_now_at() >= s, "Unix seconds");
	tap_ok(pf_now_ms() / 1000 - s <= 1 && pf_now_ms() / 1000 >= s,
	    "Unix milliseconds");
	b = pf_mono_us();
	tap_ok(b >= a, "never back");
	tap_ok(pf_mono_ms() - b / 1000 <= 1000, "same clock in ms");
}

static void
test_random(void)
{
	unsigned char a[600] = { 0 }, b[600] = { 0 };

	tap_is(pf_random(a, sizeof(a)), PF_OK, "random bytes");
	tap_is(pf_random(b, sizeof(b)), PF_OK, "more of them");
	tap_ok(memcmp(a, b, sizeof(a)) != 0, "differ");
	tap_ok(memcmp(a, a + 300, 300) != 0 && memcmp(a + 560, "\0\0\0\0\0\0\0"
	    "\0\0\0\0\0\0\0\0", 16) != 0, "to the end");
	tap_is(pf_random(NULL, 0), PF_OK, "no bytes");
}

static void
test_buf(void)
{
	char place[8];
	struct pf_buf b;
	struct pf_str out;

	pf_buf_fixed(&b, place, sizeof(place));
	pf_buf_addz(&b, "1234567");
	pf_buf_addz(&b, "89");
	tap_is(pf_buf_done(&b, &out), PF_E_MEM, "refused: over the cap");
	pf_buf_char(&b, '8');
	tap_is_z(pf_buf_str(&b), "1234567", "a failure sticks");
	pf_buf_fixed(&b, place, sizeof(place));
	pf_buf_fmt(&b, "%d", 12345678);
	tap_is(pf_buf_done(&b, &out), PF_OK, "formatted to the last byte");
	pf_buf_init(&b, &arena, 4096);
	pf_buf_fmt(&b, "%0*d", 1000, 7);
	tap_is((long long)pf_buf_str(&b).n, 1000, "long formats, too");
	pf_buf_init(&b, &arena, 256);
	pf_buf_fmt(&b, "%0*d", 1000, 7);
	tap_is(pf_buf_done(&b, &out), PF_E_MEM, "refused: a long format");
	pf_buf_init(&b, &arena, 256);
	pf_buf_int(&b, INT64_MIN);
	pf_buf_char(&b, ' ');
	pf_buf_int(&b, INT64_MAX);
	pf_buf_int(&b, 0);
	pf_buf_hex(&b, "\x00\xaf", 2);
	pf_buf_b64url(&b, "\x03\xec\xff\xe0\xc1", 5);
	tap_is_z(pf_buf_str(&b), "-9223372036854775808 9223372036854775807"
	    "000afA-z_4ME", "numbers and bytes");
	pf_buf_init(&b, &arena, 10);
	pf_buf_hex(&b, place, 6);
	tap_is(pf_buf_done(&b, &out), PF_E_MEM, "refused: hexadecimal");
	pf_buf_init(&b, &arena, 10);
	pf_buf_b64url(&b, place, SIZE_MAX / 2);
	tap_is(pf_buf_done(&b, &out), PF_E_MEM, "refused: half of all memory");
	pf_buf_init(&b, &arena, SIZE_MAX);
	for (int i = 0; i < 20000; i++)
		pf_buf_addz(&b, "0123456789");
	tap_is(pf_buf_done(&b, &out), PF_E_MEM, "the arena's cap holds");
}

int
main(void)
{
	tap_need(pf_arena_init(&arena, 16384, 65536) == PF_OK, "an arena");
	test_text();
	test_calendar();
	test_clocks();
	test_random();
	test_buf();
	pf_arena_free(&arena);
	return tap_done();
}
