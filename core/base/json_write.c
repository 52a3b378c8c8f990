#include "core/base/json.h"

/* Bytes of the character at the head of s that are written as they are; 0 if
 * it must be escaped or is no character. */
static size_t
as_is(struct pf_str s)
{
	unsigned char c = (unsigned char)s.p[0];
	size_t n;

	if (c < 0x80)
		return c >= ' ' && c != '"' && c != '\\' && c != 0x7f;
	n = pf_utf8_next(s);
	if (n == 2 && c == 0xc2 && (unsigned char)s.p[1] < 0xa0)
		return 0;
	if (n == 3 && (pf_str_starts(s, PF_LIT("\xe2\x80\xa8")) ||
	    pf_str_starts(s, PF_LIT("\xe2\x80\xa9"))))
		return 0;
	return n;
}

/* The character at the head of s, escaped; returns its length in s. */
static size_t
escape(struct pf_buf *b, struct pf_str s)
{
	unsigned char c = (unsigned char)s.p[0];
	size_t n;

	if (c >= 0x80) {
		switch (n = pf_utf8_next(s)) {
		case 2:
			pf_buf_fmt(b, "\\u%04x", (unsigned char)s.p[1]);
			return n;
		case 3:
			pf_buf_addz(b, s.p[2] == '\xa8' ? "\\u2028" :
			    "\\u2029");
			return n;
		default:
			pf_buf_addz(b, "\xef\xbf\xbd");
			return 1;
		}
	}
	switch (c) {
	case '"':
		pf_buf_addz(b, "\\\"");
		break;
	case '\\':
		pf_buf_addz(b, "\\\\");
		break;
	case '\n':
		pf_buf_addz(b, "\\n");
		break;
	case '\r':
		pf_buf_addz(b, "\\r");
		break;
	case '\t':
		pf_buf_addz(b, "\\t");
		break;
	default:
		pf_buf_fmt(b, "\\u%04x", c);
		break;
	}
	return 1;
}

void
pf_json_quote(struct pf_buf *b, struct pf_str s)
{
	size_t run, n;

	if (s.p == NULL) {
		pf_buf_addz(b, "null");
		return;
	}
	pf_buf_char(b, '"');
	while (s.n > 0) {
		for (run = 0; run < s.n; run += n)
			if ((n = as_is(pf_str_from(s, run))) == 0)
				break;
		pf_buf_add(b, pf_str_head(s, run));
		s = pf_str_from(s, run);
		if (s.n > 0)
			s = pf_str_from(s, escape(b, s));
	}
	pf_buf_char(b, '"');
}

struct pf_jw
pf_jw(struct pf_buf *b)
{
	return (struct pf_jw){ b, false };
}

/* What stands before every value: the comma, and in an object the name. */
static void
begin(struct pf_jw *w, const char *key)
{
	if (w->comma)
		pf_buf_char(w->b, ',');
	w->comma = true;
	if (key != NULL) {
		pf_json_quote(w->b, pf_str(key));
		pf_buf_char(w->b, ':');
	}
}

void
pf_jw_open(struct pf_jw *w, const char *key, char bracket)
{
	begin(w, key);
	pf_buf_char(w->b, bracket);
	w->comma = false;
}

void
pf_jw_close(struct pf_jw *w, char bracket)
{
	pf_buf_char(w->b, bracket);
	w->comma = true;
}

void
pf_jw_str(struct pf_jw *w, const char *key, struct pf_str v)
{
	begin(w, key);
	pf_json_quote(w->b, v);
}

void
pf_jw_strz(struct pf_jw *w, const char *key, const char *v)
{
	pf_jw_str(w, key, pf_str(v));
}

void
pf_jw_int(struct pf_jw *w, const char *key, int64_t v)
{
	begin(w, key);
	pf_buf_int(w->b, v);
}

void
pf_jw_bool(struct pf_jw *w, const char *key, bool v)
{
	begin(w, key);
	pf_buf_addz(w->b, v ? "true" : "false");
}

void
pf_jw_null(struct pf_jw *w, const char *key)
{
	begin(w, key);
	pf_buf_addz(w->b, "null");
}

void
pf_jw_raw(struct pf_jw *w, const char *key, struct pf_str json)
{
	begin(w, key);
	pf_buf_add(w->b, json);
}
