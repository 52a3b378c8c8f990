/*
 * The two ways in which text is made fit for showing; declared in show.h.
 */
#include "config.h"

#include "tools/poppy-agent/show.h"

#define SHOWN_OF_SECRET	6
/* Six characters of a text shorter than this would tell too much of it. */
#define SECRET_MIN	20

void
ag_shorten(struct pf_buf *b, struct pf_str secret)
{
	if (secret.n >= SECRET_MIN) {
		ag_escape(b, pf_str_head(secret, SHOWN_OF_SECRET), false);
		pf_buf_addz(b, "\xe2\x80\xa6 ");
	}
	pf_buf_fmt(b, "(%zu characters)", secret.n);
}

/* Length of the UTF-8 sequence that begins here; 0 if it isn't well-formed. */
static size_t
sequence(struct pf_str s)
{
	unsigned char c = (unsigned char)s.p[0];
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	if (n > s.n || !pf_utf8_valid(pf_str_head(s, n)))
		return 0;
	return n;
}

/*
 * C0 and C1 controls steer a terminal; U+200E, U+200F, U+202A-202E and
 * U+2066-2069 change the order in which text is seen, U+2028 and U+2029 its
 * lines.
 */
static bool
steers(struct pf_str seq)
{
	const unsigned char *u = (const unsigned char *)seq.p;

	if (seq.n == 1)
		return u[0] < 0x20 || u[0] == 0x7f;
	if (seq.n == 2)
		return u[0] == 0xc2 && u[1] < 0xa0;
	if (seq.n != 3 || u[0] != 0xe2)
		return false;
	if (u[1] == 0x80)
		return u[2] == 0x8e || u[2] == 0x8f ||
		    (u[2] >= 0xa8 && u[2] <= 0xae);
	return u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9;
}

void
ag_escape(struct pf_buf *b, struct pf_str s, bool multiline)
{
	size_t n;

	for (; s.n > 0; s = pf_str_from(s, n)) {
		n = sequence(s);
		if (multiline && (s.p[0] == '\n' || s.p[0] == '\t')) {
			pf_buf_char(b, s.p[0]);
			continue;
		}
		if (n > 0 && !steers(pf_str_head(s, n))) {
			pf_buf_add(b, pf_str_head(s, n));
			continue;
		}
		if (n == 0)
			n = 1;
		for (size_t i = 0; i < n; i++)
			pf_buf_fmt(b, "\\x%02x", (unsigned char)s.p[i]);
	}
}
