#include "config.h"

#include "core/base/clock.h"

#include <time.h>

static int64_t
read_clock(clockid_t id, int64_t per_second)
{
	struct timespec ts;

	/* Both clocks exist on every Linux, and ts is ours: it can't fail. */
	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * per_second +
	    (int64_t)ts.tv_nsec / (1000000000 / per_second);
}

int64_t
pf_now_at(void)
{
	return read_clock(CLOCK_REALTIME, 1);
}

int64_t
pf_now_ms(void)
{
	return read_clock(CLOCK_REALTIME, 1000);
}

int64_t
pf_mono_ms(void)
{
	return read_clock(CLOCK_MONOTONIC, 1000);
}

int64_t
pf_mono_us(void)
{
	return read_clock(CLOCK_MONOTONIC, 1000000);
}

/* The civil date of a day since 1970-01-01, by eras of 400 years that begin on
 * 1 March; gmtime_r() would take the lock of the time zone each time. */
static void
civil(int64_t day, int64_t *year, int *month, int *mday)
{
	int64_t z = day + 719468, era, yoe;
	int doe, doy, mp;

	era = (z >= 0 ? z : z - 146096) / 146097;
	doe = (int)(z - era * 146097);
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (int)(365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	*mday = doy - (153 * mp + 2) / 5 + 1;
	*month = mp < 10 ? mp + 3 : mp - 9;
	*year = yoe + era * 400 + (*month <= 2);
}

static void
stamp(struct pf_buf *b, int64_t at, int ms)
{
	int64_t day, year;
	int second, month, mday;

	day = at / 86400 - (at % 86400 < 0);
	second = (int)(at - day * 86400);
	civil(day, &year, &month, &mday);
	/* RFC 3339 has four digits for the year, and no sign. */
	if (year < 0 || year > 9999) {
		b->failed = true;
		return;
	}
	pf_buf_fmt(b, "%04d-%02d-%02dT%02d:%02d:%02d", (int)year, month, mday,
	    second / 3600, second / 60 % 60, second % 60);
	if (ms >= 0)
		pf_buf_fmt(b, ".%03d", ms);
	pf_buf_char(b, 'Z');
}

void
pf_buf_rfc3339(struct pf_buf *b, int64_t at)
{
	if (at < -INT64_C(100000000000) || at > INT64_C(1000000000000))
		b->failed = true;
	else
		stamp(b, at, -1);
}

void
pf_buf_rfc3339_ms(struct pf_buf *b, int64_t ms)
{
	int64_t at = ms / 1000 - (ms % 1000 < 0);

	if (at < -INT64_C(100000000000) || at > INT64_C(1000000000000))
		b->failed = true;
	else
		stamp(b, at, (int)(ms - at * 1000));
}
