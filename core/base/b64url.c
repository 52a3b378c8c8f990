#include "core/base/str.h"

static const char alphabet[64] = {
	'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'K', 'L', 'M',
	'N', 'O', 'P', 'Q', 'R', 'S', 'T', 'U', 'V', 'W', 'X', 'Y', 'Z',
	'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm',
	'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z',
	'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '-', '_'
};

size_t
pf_b64url_encode(const void *in, size_t n, char *out)
{
	const unsigned char *p = in;
	char *o = out;
	uint32_t v;

	for (; n >= 3; n -= 3, p += 3) {
		v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
		*o++ = alphabet[v >> 18];
		*o++ = alphabet[v >> 12 & 63];
		*o++ = alphabet[v >> 6 & 63];
		*o++ = alphabet[v & 63];
	}
	if (n > 0) {
		v = (uint32_t)p[0] << 16;
		if (n == 2)
			v |= (uint32_t)p[1] << 8;
		*o++ = alphabet[v >> 18];
		*o++ = alphabet[v >> 12 & 63];
		if (n == 2)
			*o++ = alphabet[v >> 6 & 63];
	}
	return (size_t)(o - out);
}

/* The six bits of a character; anything foreign has bits above them. */
static uint32_t
bits(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (uint32_t)(c - 'A');
	if (c >= 'a' && c <= 'z')
		return (uint32_t)(c - 'a' + 26);
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0' + 52);
	return c == '-' ? 62 : c == '_' ? 63 : 0x80;
}

/*
 * Two or three characters at the end give one or two bytes. The bits left over
 * must be zero, or one value would have several spellings.
 */
static enum pf_rc
last_group(const char *p, size_t n, unsigned char *out)
{
	uint32_t a, b, c;

	a = bits(p[0]);
	b = bits(p[1]);
	c = n == 3 ? bits(p[2]) : 0;
	if ((a | b | c) > 63)
		return PF_E_INPUT;
	if (n == 2 ? (b & 15) != 0 : (c & 3) != 0)
		return PF_E_INPUT;
	out[0] = (unsigned char)(a << 2 | b >> 4);
	if (n == 3)
		out[1] = (unsigned char)((b & 15) << 4 | c >> 2);
	return PF_OK;
}

enum pf_rc
pf_b64url_decode(struct pf_str s, void *out, size_t cap, size_t *n)
{
	const char *p = s.p;
	unsigned char *o = out;
	size_t tail = s.n % 4, size;

	size = s.n / 4 * 3 + (tail == 0 ? 0 : tail - 1);
	if (tail == 1 || size > cap)
		return PF_E_INPUT;
	for (size_t groups = s.n / 4; groups > 0; groups--, p += 4) {
		uint32_t a = bits(p[0]), b = bits(p[1]);
		uint32_t c = bits(p[2]), d = bits(p[3]);

		if ((a | b | c | d) > 63)
			return PF_E_INPUT;
		*o++ = (unsigned char)(a << 2 | b >> 4);
		*o++ = (unsigned char)((b & 15) << 4 | c >> 2);
		*o++ = (unsigned char)((c & 3) << 6 | d);
	}
	if (tail != 0 && last_group(p, tail, o) != PF_OK)
		return PF_E_INPUT;
	*n = size;
	return PF_OK;
}
