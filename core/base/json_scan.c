#include "core/base/json.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json_names.h"

/* One pass, no recursion: what is open stands on a small stack. */

const struct pf_json_limits pf_json_small = { 16 * 1024, 8, 512 };
const struct pf_json_limits pf_json_large = { 1024 * 1024, 16, 20000 };

struct level {
	bool object;
	uint32_t number;	/* of this object in the text */
};

struct scan {
	const char *p;
	const char *end;
	const char *why;
	size_t values;		/* how many may follow */
	unsigned depth;
	unsigned max_depth;
	uint32_t objects;	/* how many so far */
	struct level open[PF_JSON_DEPTH];
	struct pf_json_names names;
};

static bool
refuse(struct scan *s, const char *why)
{
	s->why = why;
	return false;
}

static bool
at(const struct scan *s, char c)
{
	return s->p < s->end && *s->p == c;
}

static bool
take(struct scan *s, char c)
{
	if (!at(s, c))
		return false;
	s->p++;
	return true;
}

static void
space(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' ||
	    *s->p == '\r' || *s->p == '\t'))
		s->p++;
}

/* Where the run of characters ends that stand for themselves in a string. */
static const char *
plain(const char *p, const char *end)
{
	for (; p < end; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < ' ' || c == '"' || c == '\\' || c >= 0x80)
			break;
	}
	return p;
}

static int
hex(char c)
{
	if (pf_is_digit(c))
		return c - '0';
	c = pf_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits behind \u. */
static bool
unit(struct scan *s, uint32_t *out)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++) {
		int d = s->p < s->end ? hex(*s->p) : -1;

		if (d < 0)
			return refuse(s, "\\u needs four hexadecimal digits");
		v = v << 4 | (uint32_t)d;
		s->p++;
	}
	*out = v;
	return true;
}

/* One character by \u, or two of them where they are a surrogate pair. */
static bool
unicode(struct scan *s, uint32_t *out)
{
	uint32_t high, low;

	if (!unit(s, &high))
		return false;
	if (high == 0)
		return refuse(s, "NUL");
	*out = high;
	if (high < 0xd800 || high > 0xdfff)
		return true;
	if (high > 0xdbff || !take(s, '\\') || !take(s, 'u'))
		return refuse(s, "a lone surrogate");
	if (!unit(s, &low))
		return false;
	if (low < 0xdc00 || low > 0xdfff)
		return refuse(s, "a lone surrogate");
	*out = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	return true;
}

/* What follows a backslash. */
static bool
escaped(struct scan *s, uint32_t *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (s->p == s->end || *s->p == '\0' ||
	    (found = strchr("\"\\/bfnrtu", *s->p)) == NULL)
		return refuse(s, "an unknown escape");
	s->p++;
	if (*found == 'u')
		return unicode(s, out);
	*out = (uint32_t)to[strchr(from, *found) - from];
	return true;
}

/* To the closing quote. What it spells goes into h, if that is wanted. */
static bool
string(struct scan *s, struct pf_json_hash *h)
{
	const char *from;
	uint32_t c;
	size_t n;

	for (;;) {
		from = s->p;
		s->p = plain(from, s->end);
		if (s->p == s->end)
			return refuse(s, "the text ends within a string");
		if (*s->p == '"' || *s->p == '\\')
			n = 0;
		else if ((unsigned char)*s->p < ' ')
			return refuse(s, "a control character in a string");
		else if ((n = pf_utf8_next(pf_bytes(s->p,
		    (size_t)(s->end - s->p)))) == 0)
			return refuse(s, "invalid UTF-8");
		s->p += n;
		if (h != NULL)
			pf_json_hash_bytes(h, from, (size_t)(s->p - from));
		if (n > 0)
			continue;
		if (take(s, '"'))
			return true;
		s->p++;
		if (!escaped(s, &c))
			return false;
		if (h != NULL)
			pf_json_hash_char(h, c);
	}
}

/* A member's name and its colon. */
static bool
name(struct scan *s)
{
	const char *from = s->p;
	struct pf_json_hash h;

	if (!take(s, '"'))
		return refuse(s, "a member's name must follow here");
	pf_json_hash_init(&h, s->open[s->depth - 1].number);
	if (!string(s, &h))
		return false;
	if (!pf_json_names_add(&s->names, pf_json_hash_done(&h))) {
		s->p = from;
		return refuse(s, "a member's name stands there twice");
	}
	space(s);
	if (!take(s, ':'))
		return refuse(s, "a colon must follow here");
	return true;
}

static size_t
digits(struct scan *s)
{
	const char *from = s->p;

	while (s->p < s->end && pf_is_digit(*s->p))
		s->p++;
	return (size_t)(s->p - from);
}

/* An exponent, no further than it matters. */
static int64_t
exponent(const char *p, const char *end)
{
	bool minus = *p == '-';
	int64_t v = 0;

	if (*p == '-' || *p == '+')
		p++;
	for (; p < end && v < INT64_C(1) << 40; p++)
		v = v * 10 + (*p - '0');
	return minus ? -v : v;
}

/*
 * The number in [p, end) has a fraction or an exponent. Whether its magnitude
 * is 1e308 or more, by the place of its first digit that isn't zero: strtod()
 * would follow the locale.
 */
static bool
too_large(const char *p, const char *end)
{
	int64_t place = 0;
	const char *e, *q;

	for (e = p; e < end && *e != 'e' && *e != 'E'; e++)
		;
	p += *p == '-';
	if (*p == '0') {
		for (q = p + 1; q < e && (*q == '.' || *q == '0'); q++)
			;
		if (q == e)
			return false;
		place = -(int64_t)(q - p - 1);
	} else {
		for (q = p + 1; q < e && *q != '.'; q++)
			place++;
	}
	return place + (e < end ? exponent(e + 1, end) : 0) >= 308;
}

static bool
number(struct scan *s)
{
	const char *from = s->p;
	bool fraction = false;
	int64_t v;

	take(s, '-');
	if (!take(s, '0') && digits(s) == 0)
		return refuse(s, "a digit must follow here");
	if (take(s, '.')) {
		fraction = true;
		if (digits(s) == 0)
			return refuse(s, "a digit must follow here");
	}
	if (at(s, 'e') || at(s, 'E')) {
		fraction = true;
		s->p++;
		if (!take(s, '-'))
			take(s, '+');
		if (digits(s) == 0)
			return refuse(s, "a digit must follow here");
	}
	if (fraction ? too_large(from, s->p) :
	    pf_str_int(pf_bytes(from, (size_t)(s->p - from)), INT64_MIN,
	    INT64_MAX, &v) != PF_OK) {
		s->p = from;
		return refuse(s, "a number that doesn't fit");
	}
	return true;
}

static bool
word(struct scan *s, struct pf_str w)
{
	if (!pf_str_starts(pf_bytes(s->p, (size_t)(s->end - s->p)), w))
		return refuse(s, "a value must follow here");
	s->p += w.n;
	return true;
}

/* An object or an array begins. *inside: it isn't empty, go on within it. */
static bool
begin(struct scan *s, bool *inside)
{
	bool object = *s->p == '{';

	if (s->depth == s->max_depth)
		return refuse(s, "nested too deeply");
	s->open[s->depth].object = object;
	s->open[s->depth].number = s->objects;
	s->objects += object;
	s->p++;
	space(s);
	if (take(s, object ? '}' : ']'))
		return true;
	s->depth++;
	*inside = true;
	return object ? name(s) : true;
}

static bool
value(struct scan *s, bool *inside)
{
	*inside = false;
	if (s->values-- == 0)
		return refuse(s, "too many values");
	if (s->p == s->end)
		return refuse(s, "the text ends where a value must be");
	switch (*s->p) {
	case '{':
	case '[':
		return begin(s, inside);
	case '"':
		s->p++;
		return string(s, NULL);
	case 't':
		return word(s, PF_LIT("true"));
	case 'f':
		return word(s, PF_LIT("false"));
	case 'n':
		return word(s, PF_LIT("null"));
	default:
		if (*s->p == '-' || pf_is_digit(*s->p))
			return number(s);
		return refuse(s, "a value must follow here");
	}
}

/* After a value: close what ends here. *more: a comma, and so another value. */
static bool
after(struct scan *s, bool *more)
{
	bool object;

	*more = false;
	for (space(s); s->depth > 0; space(s)) {
		object = s->open[s->depth - 1].object;
		if (take(s, ',')) {
			*more = true;
			space(s);
			return object ? name(s) : true;
		}
		if (s->p == s->end)
			return refuse(s, "the text ends too early");
		if (!take(s, object ? '}' : ']'))
			return refuse(s, object ? "a comma or } must follow "
			    "here" : "a comma or ] must follow here");
		s->depth--;
	}
	return s->p == s->end || refuse(s, "something follows the value");
}

static bool
whole(struct scan *s)
{
	bool more = true, inside;

	while (more) {
		space(s);
		if (!value(s, &inside))
			return false;
		if (!inside && !after(s, &more))
			return false;
	}
	return true;
}

static enum pf_rc
answer(struct pf_json_fault *fault, size_t where, const char *why)
{
	if (fault != NULL)
		*fault = (struct pf_json_fault){ where, why };
	return PF_E_INPUT;
}

enum pf_rc
pf_json_scan(struct pf_str text, const struct pf_json_limits *lim,
    struct pf_json_fault *fault)
{
	struct scan s;
	enum pf_rc rc;
	bool good;

	if (text.n > lim->bytes || text.n > INT32_MAX)
		return answer(fault, lim->bytes, "too long");
	if (text.n == 0)
		return answer(fault, 0, "empty");
	s.p = text.p;
	s.end = text.p + text.n;
	s.why = NULL;
	s.values = lim->values;
	s.depth = s.objects = 0;
	s.max_depth = lim->depth < PF_JSON_DEPTH ? lim->depth : PF_JSON_DEPTH;
	if ((rc = pf_json_names_init(&s.names, text.n, lim->values)) != PF_OK)
		return rc;
	good = whole(&s);
	pf_json_names_free(&s.names);
	return good ? PF_OK : answer(fault, (size_t)(s.p - text.p), s.why);
}
