#include "core/base/str.h"

#include <string.h>

/* A word of eight bytes that are all ASCII and none of them NUL. */
static bool
plain8(const unsigned char *p)
{
	const uint64_t high = 0x8080808080808080u, ones = 0x0101010101010101u;
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	/* With no high bit set, subtracting one sets it for NUL alone. */
	return (w & high) == 0 && ((w - ones) & high) == 0;
}

static bool
is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/*
 * Bytes of the well-formed sequence at p, 0 if there is none: the table of
 * RFC 3629, section 4. Only the second byte has ranges of its own.
 */
static size_t
sequence(const unsigned char *p, size_t left)
{
	unsigned char c = p[0], low = 0x80, high = 0xbf;
	size_t n;

	if (c < 0x80)
		return c != 0;
	if (c < 0xc2 || c > 0xf4)
		return 0;
	n = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	if (left < n)
		return 0;
	if (c == 0xe0)
		low = 0xa0;
	else if (c == 0xed)
		high = 0x9f;
	else if (c == 0xf0)
		low = 0x90;
	else if (c == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (!is_tail(p[i]))
			return 0;
	return n;
}

size_t
pf_utf8_next(struct pf_str s)
{
	return s.n == 0 ? 0 : sequence((const unsigned char *)s.p, s.n);
}

bool
pf_utf8_valid(struct pf_str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t left = s.n, n;

	while (left > 0) {
		if (left >= 8 && plain8(p))
			n = 8;
		else if ((n = sequence(p, left)) == 0)
			return false;
		p += n;
		left -= n;
	}
	return true;
}
