/*
 * A message as RFC 5322 has it: what others may have written into an address or
 * a name can't begin another header.
 */
#include "config.h"

#include <stdio.h>
#include <time.h>

#include "core/base/random.h"
#include "core/poppy/send_code.h"

#define ADDRESS_MAX	254		/* RFC 5321, 4.5.3.1.3 */
#define NUMBER_MAX	32
#define ID_BYTES	16
/* Of UTF-8 in an encoded word of at most 75 characters (RFC 2047, 2). */
#define WORD_MAX	42

/* Plain ones alone: no quoted part, no comment, no list. */
bool
pf_send_code_address(struct pf_str s)
{
	size_t at = pf_str_find(s, '@');
	static const struct pf_str no = PF_LIT_INIT("@<>()[],;:\\\"");

	if (at == 0 || at + 1 >= s.n || s.n > ADDRESS_MAX || s.p[0] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (i != at && (s.p[i] <= ' ' || s.p[i] >= 0x7f ||
		    pf_str_has(no, s.p[i])))
			return false;
	return true;
}

bool
pf_send_code_number(struct pf_str s)
{
	size_t digits = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (!pf_is_digit(s.p[i]) &&
		    !pf_str_has(PF_LIT("+ -/()."), s.p[i]))
			return false;
		digits += pf_is_digit(s.p[i]);
	}
	return s.n <= NUMBER_MAX && digits >= 5;
}

static bool
plain(struct pf_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < ' ' || s.p[i] >= 0x7f)
			return false;
	return s.n <= WORD_MAX;
}

static void
base64(struct pf_buf *b, struct pf_str s)
{
	char text[PF_B64URL_LEN(WORD_MAX)];
	size_t n = pf_b64url_encode(s.p, s.n, text);

	for (size_t i = 0; i < n; i++)
		pf_buf_char(b, text[i] == '-' ? '+' : text[i] == '_' ? '/' :
		    text[i]);
	for (; n % 4 != 0; n++)
		pf_buf_char(b, '=');
}

/* As it is, or as encoded words, each of whole characters. */
static void
put_subject(struct pf_buf *b, struct pf_str s, const char *eol)
{
	size_t n, next;

	if (plain(s)) {
		pf_buf_add(b, s);
		return;
	}
	while (s.n > 0) {
		for (n = 0; n < s.n; n += next) {
			next = pf_utf8_next(pf_str_from(s, n));
			next = next == 0 ? 1 : next;
			if (n + next > WORD_MAX)
				break;
		}
		pf_buf_addz(b, "=?UTF-8?B?");
		base64(b, pf_str_head(s, n));
		pf_buf_addz(b, "?=");
		s = pf_str_from(s, n);
		if (s.n > 0)
			pf_buf_fmt(b, "%s ", eol);
	}
}

/* Not by strftime(): its names are the locale's. */
static void
put_date(struct pf_buf *b, int64_t now_at)
{
	static const char days[][4] = {
		"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"
	};
	static const char months[][4] = {
		"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
		"Oct", "Nov", "Dec"
	};
	time_t at = (time_t)now_at;
	struct tm t;

	if (gmtime_r(&at, &t) != NULL)
		pf_buf_fmt(b, "Date: %s, %02d %s %d %02d:%02d:%02d +0000",
		    days[t.tm_wday], t.tm_mday, months[t.tm_mon],
		    t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec);
}

/* Of mail alone: a command puts its own. */
static void
put_sender(struct pf_buf *b, struct pf_str from, const char *eol)
{
	struct pf_str domain = pf_str_from(from, pf_str_find(from, '@'));
	unsigned char id[ID_BYTES];

	if (from.n == 0)
		return;
	pf_buf_fmt(b, "From: <%.*s>%s", PF_STRF(from), eol);
	if (pf_random(id, sizeof(id)) != PF_OK)
		return;
	pf_buf_addz(b, "Message-ID: <");
	pf_buf_hex(b, id, sizeof(id));
	pf_buf_fmt(b, "%.*s>%s", PF_STRF(domain), eol);
}

static void
put_body(struct pf_buf *b, struct pf_str text, const char *eol)
{
	struct pf_str line;

	if (pf_str_ends(text, PF_LIT("\n")))
		text.n--;
	while (pf_str_cut(&text, '\n', &line))
		pf_buf_fmt(b, "%.*s%s", PF_STRF(line), eol);
}

void
pf_send_code_write(struct pf_buf *b, const struct pf_message *m,
    struct pf_str from, const char *eol, int64_t now_at)
{
	put_sender(b, from, eol);
	pf_buf_fmt(b, "To: %.*s%s", PF_STRF(m->to), eol);
	put_date(b, now_at);
	pf_buf_fmt(b, "%sSubject: ", eol);
	put_subject(b, m->subject, eol);
	/* RFC 3834: nobody's absence note is wanted. */
	pf_buf_fmt(b, "%sAuto-Submitted: auto-generated%s"
	    "MIME-Version: 1.0%sContent-Type: text/plain; charset=utf-8%s"
	    "Content-Transfer-Encoding: 8bit%s%s", eol, eol, eol, eol, eol,
	    eol);
	put_body(b, m->text, eol);
}
