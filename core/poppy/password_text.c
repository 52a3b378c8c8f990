#include <string.h>

#include "core/poppy/password_in.h"

static int
hex_digit(char c)
{
	if (pf_is_digit(c))
		return c - '0';
	c = pf_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum pf_rc
pf_pw_unhex(struct pf_str hex, unsigned char *out, size_t cap, size_t *n)
{
	int hi, lo;

	if (hex.n % 2 != 0 || hex.n / 2 > cap)
		return PF_E_INPUT;
	for (size_t i = 0; i < hex.n; i += 2) {
		hi = hex_digit(hex.p[i]);
		lo = hex_digit(hex.p[i + 1]);
		if (hi < 0 || lo < 0)
			return PF_E_INPUT;
		out[i / 2] = (unsigned char)(hi << 4 | lo);
	}
	*n = hex.n / 2;
	return PF_OK;
}

void
pf_pw_hex(const unsigned char *p, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[p[i] >> 4];
		out[2 * i + 1] = digits[p[i] & 15];
	}
}

/* The other alphabet, and strict by the same code. */
enum pf_rc
pf_pw_unbase64(struct pf_str s, unsigned char *out, size_t cap, size_t *n)
{
	char url[PF_B64URL_LEN(PF_DIGEST_MAX)];

	if (s.n > sizeof(url) || pf_str_has(s, '-') || pf_str_has(s, '_'))
		return PF_E_INPUT;
	for (size_t i = 0; i < s.n; i++)
		url[i] = s.p[i] == '+' ? '-' : s.p[i] == '/' ? '_' : s.p[i];
	return pf_b64url_decode(pf_bytes(url, s.n), out, cap, n);
}

size_t
pf_pw_base64(const unsigned char *p, size_t n, char *out)
{
	size_t len = pf_b64url_encode(p, n, out);

	for (size_t i = 0; i < len; i++)
		out[i] = out[i] == '-' ? '+' : out[i] == '_' ? '/' : out[i];
	while (len % 4 != 0)
		out[len++] = '=';
	return len;
}

static const char itoa64[] =
    "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

int
pf_pw_itoa64(char c)
{
	const char *at = c == '\0' ? NULL : strchr(itoa64, c);

	return at == NULL ? -1 : (int)(at - itoa64);
}

/* Three bytes are four characters, the lowest six bits first. */
void
pf_pw_encode64(const unsigned char *p, size_t n, char *out, size_t nout)
{
	uint32_t bits = 0;
	unsigned have = 0;
	size_t in = 0;

	for (size_t i = 0; i < nout; i++) {
		if (have < 6 && in < n) {
			bits |= (uint32_t)p[in++] << have;
			have += 8;
		}
		out[i] = itoa64[bits & 63];
		bits >>= 6;
		have = have < 6 ? 0 : have - 6;
	}
}
