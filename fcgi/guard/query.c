/*
 * query - rules for shops that route by the query, as in "?route=account/login".
 *
 * PHP reads a name in several spellings and lets the last one win, so a rule
 * that looked at one of them could be walked around. A name that a rule tells
 * must therefore stand there once at most, plainly written.
 */
#include "fcgi/guard/guard.h"

#include "core/web/url.h"

/* The next byte, decoded as PHP does: '+' is a space, a bad % itself. -1 at the
 * end. */
static int
next_byte(struct pf_str *s)
{
	int c;

	if (s->n == 0)
		return -1;
	c = pf_url_percent(*s, 0);
	if (c >= 0) {
		*s = pf_str_from(*s, 3);
		return c;
	}
	c = s->p[0] == '+' ? ' ' : (unsigned char)s->p[0];
	*s = pf_str_from(*s, 1);
	return c;
}

/*
 * Would PHP take this name for the rule's? It drops leading spaces, cuts at NUL
 * and at the '[' of an array, and makes '_' of space, dot and a stray '['.
 */
static bool
php_reads(struct pf_str raw, struct pf_str name)
{
	int c = next_byte(&raw);
	size_t i = 0;

	while (c == ' ')
		c = next_byte(&raw);
	for (;; c = next_byte(&raw)) {
		if (c <= 0 || (c == '[' && i == name.n))
			return i == name.n;
		if (c == ' ' || c == '.' || c == '[')
			c = '_';
		if (i == name.n || c != (unsigned char)name.p[i])
			return false;
		i++;
	}
}

/* How often the name stands there, at most twice; *value is raw. */
static enum guard_query
look(struct pf_str query, struct pf_str name, struct pf_str *value)
{
	enum guard_query found = GUARD_QUERY_NO;
	struct pf_str rest = query, one, raw;

	while (pf_str_cut(&rest, '&', &one)) {
		raw = pf_str_head(one, pf_str_find(one, '='));
		if (!php_reads(raw, name))
			continue;
		if (found != GUARD_QUERY_NO || !pf_str_eq(raw, name))
			return GUARD_QUERY_ODD;
		found = GUARD_QUERY_YES;
		*value = pf_str_from(one, raw.n + 1);
	}
	return found;
}

/* A value that PHP and the shop can't read in two ways: no way up, no empty
 * part, nothing encoded. */
static bool
value_plain(struct pf_str s)
{
	struct pf_str rest = s, seg;

	if (s.n == 0)
		return true;
	for (size_t i = 0; i < s.n; i++)
		if (!pf_is_alpha(s.p[i]) && !pf_is_digit(s.p[i]) &&
		    !pf_str_has(PF_LIT("/._~|:-"), s.p[i]))
			return false;
	while (pf_str_cut(&rest, '/', &seg))
		if (seg.n == 0 || pf_str_eqz(seg, ".") ||
		    pf_str_eqz(seg, ".."))
			return false;
	return true;
}

enum guard_query
guard_query(struct pf_str rule, struct pf_str query)
{
	size_t n = pf_str_find(rule, '=');
	struct pf_str want = pf_str_from(rule, n + 1), value = PF_NOSTR;
	enum guard_query found;

	if (rule.n == 0)
		return GUARD_QUERY_YES;
	found = look(query, pf_str_head(rule, n), &value);
	if (found != GUARD_QUERY_YES)
		return found;
	if (!value_plain(value))
		return GUARD_QUERY_ODD;
	if (pf_str_ends(want, PF_LIT("*")) ?
	    pf_str_starts(value, pf_str_head(want, want.n - 1)) :
	    pf_str_eq(value, want))
		return GUARD_QUERY_YES;
	return GUARD_QUERY_NO;
}
