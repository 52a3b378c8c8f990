/*
 * url_path - request paths: what may be routed, what it means, and percent
 * encoding. Two spellings of one path would let a rule be walked around, so
 * each path keeps its one spelling and every other is refused.
 */
#include <string.h>

#include "core/web/url.h"

/* The value of one hex digit, or -1. */
static int
hex_value(char c)
{
	char l = pf_lower(c);

	if (pf_is_digit(c))
		return c - '0';
	if (l >= 'a' && l <= 'f')
		return l - 'a' + 10;
	return -1;
}

int
pf_url_percent(struct pf_str s, size_t i)
{
	int hi, lo;

	if (i > s.n || s.n - i < 3 || s.p[i] != '%')
		return -1;
	hi = hex_value(s.p[i + 1]);
	lo = hex_value(s.p[i + 2]);
	return hi < 0 || lo < 0 ? -1 : hi * 16 + lo;
}

static bool
is_unreserved(int c)
{
	return pf_is_alpha((char)c) || pf_is_digit((char)c) || c == '-' ||
	    c == '.' || c == '_' || c == '~';
}

/*
 * Is this segment "." or "..", encoded or not? What follows a ';' is left out
 * of it, since some servers behind us walk up at "..;x" too.
 */
static bool
is_dot_segment(struct pf_str seg)
{
	size_t dots = 0, i = 0;

	while (i < seg.n && seg.p[i] != ';' && pf_url_percent(seg, i) != ';') {
		if (seg.p[i] == '.')
			i++;
		else if (pf_url_percent(seg, i) == '.')
			i += 3;
		else
			return false;
		dots++;
	}
	return dots == 1 || dots == 2;
}

static bool
bytes_ok(struct pf_str raw)
{
	int c;

	for (size_t i = 0; i < raw.n; i++) {
		if (raw.p[i] <= 0x20 || raw.p[i] >= 0x7f ||
		    memchr("\\?#", raw.p[i], 3) != NULL)
			return false;
		if (raw.p[i] != '%')
			continue;
		c = pf_url_percent(raw, i);
		if (c <= 0 || c == '/' || c == '\\')
			return false;
	}
	return true;
}

enum pf_rc
pf_path_check(struct pf_str raw)
{
	struct pf_str rest, seg;
	bool last;

	if (raw.n == 0 || raw.p[0] != '/' || !bytes_ok(raw))
		return PF_E_INPUT;
	rest = pf_str_from(raw, 1);
	last = rest.n == 0;
	while (!last && pf_str_cut(&rest, '/', &seg)) {
		last = seg.p + seg.n == raw.p + raw.n;
		/* Empty is fine for what stands behind the last slash alone. */
		if (is_dot_segment(seg) || (seg.n == 0 && !last))
			return PF_E_INPUT;
	}
	return PF_OK;
}

enum pf_rc
pf_path_decode(struct pf_arena *a, struct pf_str raw, struct pf_str *out)
{
	enum pf_rc rc;
	size_t n = 0;
	char *p;
	int c;

	*out = PF_NOSTR;
	if ((rc = pf_path_check(raw)) != PF_OK)
		return rc;
	if ((p = pf_arena_alloc(a, raw.n)) == NULL)
		return PF_E_MEM;
	for (size_t i = 0; i < raw.n; i++) {
		if ((c = pf_url_percent(raw, i)) < 0) {
			p[n++] = raw.p[i];
			continue;
		}
		if (c < 0x20 || c == 0x7f || is_unreserved(c))
			return PF_E_INPUT;
		p[n++] = (char)c;
		i += 2;
	}
	if (!pf_utf8_valid((struct pf_str){ p, n }))
		return PF_E_INPUT;
	*out = (struct pf_str){ p, n };
	return PF_OK;
}

void
pf_url_escape(struct pf_buf *b, struct pf_str s)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		char three[3] = { '%', hex[c >> 4], hex[c & 15] };

		if (is_unreserved(c))
			pf_buf_char(b, (char)c);
		else
			pf_buf_add(b, (struct pf_str){ three, 3 });
	}
}
