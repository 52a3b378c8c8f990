#include "config.h"

#include "tools/poppy-agent/fresh.h"

#include <string.h>
#include <time.h>

#define DAY	86400
#define YEARS	(INT64_C(10) * 365 * DAY)

enum pf_rc
ag_http_date(struct pf_str s, int64_t *at)
{
	struct tm tm;
	char z[32];
	const char *end;

	s = pf_str_trim(s);
	if (s.n != sizeof("Sun, 06 Nov 1994 08:49:37 GMT") - 1)
		return PF_E_INPUT;
	memcpy(z, s.p, s.n);
	z[s.n] = '\0';
	memset(&tm, 0, sizeof(tm));
	end = strptime(z, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	if (end == NULL || *end != '\0')
		return PF_E_INPUT;
	*at = (int64_t)timegm(&tm);
	return PF_OK;
}

enum pf_rc
ag_retry_after(struct pf_str value, int64_t now_at, int64_t *seconds)
{
	int64_t at;

	if (!pf_str_given(value))
		return PF_E_ABSENT;
	value = pf_str_trim(value);
	if (pf_str_int(value, 0, YEARS, seconds) == PF_OK)
		return PF_OK;
	if (ag_http_date(value, &at) != PF_OK)
		return PF_E_INPUT;
	*seconds = at > now_at ? at - now_at : 0;
	return PF_OK;
}

/* The part of a directive behind "name=", quotes aside; PF_NOSTR if it is
 * another directive. */
static struct pf_str
argument(struct pf_str directive, const char *name)
{
	size_t eq = pf_str_find(directive, '=');
	struct pf_str v;

	if (!pf_str_eq_nocase(pf_str_trim(pf_str_head(directive, eq)),
	    pf_str(name)))
		return PF_NOSTR;
	v = pf_str_trim(pf_str_from(directive, eq + 1));
	if (v.n >= 2 && v.p[0] == '"' && v.p[v.n - 1] == '"')
		v = pf_str_head(pf_str_from(v, 1), v.n - 2);
	return v;
}

/* Of Expires, when there is no max-age. One that can't be read is past. */
static int64_t
until_expires(const struct ag_caching *c, int64_t now_at)
{
	int64_t expires, date = now_at;

	if (!pf_str_given(c->expires) ||
	    ag_http_date(c->expires, &expires) != PF_OK)
		return 0;
	if (pf_str_given(c->date) && ag_http_date(c->date, &date) != PF_OK)
		date = now_at;
	return expires - date;
}

struct ag_fresh
ag_fresh(const struct ag_caching *c, int64_t now_at)
{
	struct ag_fresh f = { true, 0 };
	struct pf_str rest = c->cache_control, one, arg;
	int64_t age = 0;
	bool no_cache = false, max_age = false;

	while (pf_str_given(rest) && pf_str_cut(&rest, ',', &one)) {
		one = pf_str_trim(one);
		if (pf_str_eq_nocase(one, PF_LIT("no-store")))
			f.store = false;
		if (pf_str_eq_nocase(pf_str_head(one, 8), PF_LIT("no-cache")))
			no_cache = true;
		arg = argument(one, "max-age");
		if (!max_age && pf_str_given(arg)) {
			max_age = true;
			if (pf_str_int(arg, 0, YEARS, &f.seconds) != PF_OK)
				f.seconds = 0;
		}
	}
	if (!max_age)
		f.seconds = until_expires(c, now_at);
	if (pf_str_given(c->age) && pf_str_int(pf_str_trim(c->age), 0, YEARS,
	    &age) == PF_OK)
		f.seconds -= age;
	if (f.seconds < 0 || no_cache || !f.store)
		f.seconds = 0;
	if (f.seconds > DAY)
		f.seconds = DAY;
	return f;
}
