#include "config.h"

#include "core/base/str.h"

#include <string.h>

struct pf_str
pf_str(const char *z)
{
	return (struct pf_str){ z, z == NULL ? 0 : strlen(z) };
}

struct pf_str
pf_bytes(const void *p, size_t n)
{
	return (struct pf_str){ p, n };
}

bool
pf_str_given(struct pf_str s)
{
	return s.p != NULL;
}

/* memcmp() must not see a null pointer, not even for no bytes. */
static bool
same(const char *a, const char *b, size_t n)
{
	return n == 0 || memcmp(a, b, n) == 0;
}

bool
pf_str_eq(struct pf_str a, struct pf_str b)
{
	return a.n == b.n && same(a.p, b.p, a.n);
}

bool
pf_str_eqz(struct pf_str a, const char *z)
{
	return pf_str_eq(a, pf_str(z));
}

bool
pf_str_eq_nocase(struct pf_str a, struct pf_str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (pf_lower(a.p[i]) != pf_lower(b.p[i]))
			return false;
	return true;
}

bool
pf_str_starts(struct pf_str s, struct pf_str head)
{
	return s.n >= head.n && same(s.p, head.p, head.n);
}

bool
pf_str_ends(struct pf_str s, struct pf_str tail)
{
	if (s.n < tail.n)
		return false;
	return tail.n == 0 || same(s.p + (s.n - tail.n), tail.p, tail.n);
}

size_t
pf_str_find(struct pf_str s, char c)
{
	const char *at;

	if (s.n == 0 || (at = memchr(s.p, c, s.n)) == NULL)
		return s.n;
	return (size_t)(at - s.p);
}

bool
pf_str_has(struct pf_str s, char c)
{
	return pf_str_find(s, c) < s.n;
}

struct pf_str
pf_str_from(struct pf_str s, size_t from)
{
	if (s.p == NULL)
		return s;
	if (from > s.n)
		from = s.n;
	return (struct pf_str){ s.p + from, s.n - from };
}

struct pf_str
pf_str_head(struct pf_str s, size_t n)
{
	return (struct pf_str){ s.p, n < s.n ? n : s.n };
}

struct pf_str
pf_str_trim(struct pf_str s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t')) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

/* After the last piece *rest becomes "not given", which tells "a," (one more,
 * empty piece) from "a" (none). */
bool
pf_str_cut(struct pf_str *rest, char sep, struct pf_str *one)
{
	size_t i;

	if (rest->p == NULL)
		return false;
	i = pf_str_find(*rest, sep);
	*one = pf_str_head(*rest, i);
	*rest = i < rest->n ? pf_str_from(*rest, i + 1) : PF_NOSTR;
	return true;
}

enum pf_rc
pf_str_int(struct pf_str s, int64_t min, int64_t max, int64_t *out)
{
	bool minus;
	int64_t v = 0;
	size_t i;

	minus = s.n > 0 && s.p[0] == '-';
	if (s.n == (minus ? 1u : 0u))
		return PF_E_INPUT;
	/* Downwards if negative, so that INT64_MIN is reached. */
	for (i = minus ? 1 : 0; i < s.n; i++) {
		int digit = s.p[i] - '0';

		if (!pf_is_digit(s.p[i]) ||
		    __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, minus ? -digit : digit, &v))
			return PF_E_INPUT;
	}
	if (v < min || v > max)
		return PF_E_INPUT;
	*out = v;
	return PF_OK;
}

char
pf_lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

bool
pf_is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool
pf_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool
pf_is_b64url(char c)
{
	return pf_is_alpha(c) || pf_is_digit(c) || c == '-' || c == '_';
}

/* The volatile reads keep the compiler from leaving the loop early. */
bool
pf_equal_ct(const void *a, const void *b, size_t n)
{
	const volatile unsigned char *x = a, *y = b;
	unsigned char diff = 0;

	for (size_t i = 0; i < n; i++)
		diff = (unsigned char)(diff | (x[i] ^ y[i]));
	return diff == 0;
}

void
pf_wipe(void *p, size_t n)
{
	if (n > 0)
		explicit_bzero(p, n);
}
