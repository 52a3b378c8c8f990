#include "core/poppy/label.h"

#include "core/base/buf.h"

#define MARKS_MAX	3

enum kind { PLAIN, HIDDEN, SPACE, MARK };

/* Ranges in order; what lies in none is PLAIN. */
static const struct {
	uint32_t first, last;
	enum kind kind;
} ranges[] = {
	{ 0x0000, 0x0008, HIDDEN },	/* C0 controls */
	{ 0x0009, 0x000d, SPACE },
	{ 0x000e, 0x001f, HIDDEN },
	{ 0x0020, 0x0020, SPACE },
	{ 0x007f, 0x0084, HIDDEN },	/* DEL, C1 controls */
	{ 0x0085, 0x0085, SPACE },	/* next line */
	{ 0x0086, 0x009f, HIDDEN },
	{ 0x00a0, 0x00a0, SPACE },
	{ 0x00ad, 0x00ad, HIDDEN },	/* soft hyphen */
	{ 0x0300, 0x034e, MARK },
	{ 0x034f, 0x034f, HIDDEN },	/* combining grapheme joiner */
	{ 0x0350, 0x036f, MARK },
	{ 0x0483, 0x0489, MARK },
	{ 0x0600, 0x0605, HIDDEN },	/* Arabic number signs */
	{ 0x061c, 0x061c, HIDDEN },	/* Arabic letter mark: direction */
	{ 0x06dd, 0x06dd, HIDDEN },
	{ 0x070f, 0x070f, HIDDEN },
	{ 0x08e2, 0x08e2, HIDDEN },
	{ 0x115f, 0x1160, HIDDEN },	/* Hangul fillers: blank letters */
	{ 0x1680, 0x1680, SPACE },
	{ 0x17b4, 0x17b5, HIDDEN },	/* Khmer inherent vowels */
	{ 0x180b, 0x180f, HIDDEN },	/* Mongolian selectors, separator */
	{ 0x1ab0, 0x1aff, MARK },
	{ 0x1dc0, 0x1dff, MARK },
	{ 0x2000, 0x200a, SPACE },
	{ 0x200b, 0x200f, HIDDEN },	/* zero width; left, right marks */
	{ 0x2028, 0x2029, SPACE },	/* line, paragraph separator */
	{ 0x202a, 0x202e, HIDDEN },	/* embeddings and overrides */
	{ 0x202f, 0x202f, SPACE },
	{ 0x205f, 0x205f, SPACE },
	{ 0x2060, 0x206f, HIDDEN },	/* joiner, operators, isolates */
	{ 0x20d0, 0x20ff, MARK },
	{ 0x2800, 0x2800, SPACE },	/* blank Braille pattern */
	{ 0x3000, 0x3000, SPACE },
	{ 0x3164, 0x3164, HIDDEN },
	{ 0xd800, 0xf8ff, HIDDEN },	/* private use */
	{ 0xfe00, 0xfe0f, HIDDEN },	/* variation selectors */
	{ 0xfe20, 0xfe2f, MARK },
	{ 0xfeff, 0xfeff, HIDDEN },	/* byte order mark */
	{ 0xffa0, 0xffa0, HIDDEN },
	{ 0xfff0, 0xfffc, HIDDEN },	/* annotation, object replacement */
	{ 0xfffe, 0xffff, HIDDEN },
	{ 0x110bd, 0x110bd, HIDDEN },	/* Kaithi number signs */
	{ 0x110cd, 0x110cd, HIDDEN },
	{ 0x13430, 0x1345f, HIDDEN },	/* hieroglyph format controls */
	{ 0x1bca0, 0x1bca3, HIDDEN },	/* shorthand format controls */
	{ 0x1d159, 0x1d159, HIDDEN },	/* null notehead */
	{ 0x1d173, 0x1d17a, HIDDEN },	/* musical format controls */
	{ 0xe0000, 0x10ffff, HIDDEN },	/* tags, selectors, private use */
};

static enum kind
kind_of(uint32_t c)
{
	size_t low = 0, high = PF_COUNT(ranges), mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (c > ranges[mid].last)
			low = mid + 1;
		else if (c < ranges[mid].first)
			high = mid;
		else
			return ranges[mid].kind;
	}
	return PLAIN;
}

/* The code point of a well-formed sequence of n bytes. */
static uint32_t
code_point(const char *p, size_t n)
{
	static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = (unsigned char)p[0] & first[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

static void
clean(struct pf_str s, struct pf_buf *b)
{
	size_t chars = 0, marks = 0, n;
	bool gap = false;
	enum kind k;

	for (; chars < PF_LABEL_CHARS && (n = pf_utf8_next(s)) != 0;
	    s = pf_str_from(s, n)) {
		k = kind_of(code_point(s.p, n));
		if (k == SPACE)
			gap = true;
		marks = k == MARK ? marks + 1 : k == HIDDEN ? marks : 0;
		/* A mark without a letter has nothing to stand on. */
		if (k == HIDDEN || k == SPACE || marks > MARKS_MAX ||
		    (k == MARK && (gap || b->n == 0)))
			continue;
		if (gap && b->n != 0) {
			/* A space at the very end is nothing. */
			if (chars + 1 >= PF_LABEL_CHARS)
				return;
			pf_buf_char(b, ' ');
			chars++;
		}
		gap = false;
		pf_buf_add(b, pf_str_head(s, n));
		chars++;
	}
}

enum pf_rc
pf_label(struct pf_arena *a, struct pf_str raw, struct pf_str *out)
{
	struct pf_buf b;
	enum pf_rc rc;

	*out = PF_NOSTR;
	if (!pf_utf8_valid(raw))
		return PF_OK;
	pf_buf_init(&b, a, (PF_LABEL_CHARS + 1) * 4);
	clean(raw, &b);
	if ((rc = pf_buf_done(&b, out)) == PF_OK && out->n == 0)
		*out = PF_NOSTR;
	return rc;
}
