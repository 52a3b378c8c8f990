/*
 * cookie - see cookie.h.
 */
#include <string.h>

#include "core/web/cookie.h"

/* cookie-octet of RFC 6265, 4.1.1; our own values never need more. */
static bool
value_ok(struct pf_str v)
{
	for (size_t i = 0; i < v.n; i++)
		if (v.p[i] <= 0x20 || v.p[i] >= 0x7f ||
		    memchr("\",;\\", v.p[i], 4) != NULL)
			return false;
	return true;
}

enum pf_rc
pf_cookie_get(struct pf_str header, const char *name, struct pf_str *out)
{
	struct pf_str rest = header, one, value;
	size_t eq;

	*out = PF_NOSTR;
	while (pf_str_cut(&rest, ';', &one)) {
		one = pf_str_trim(one);
		eq = pf_str_find(one, '=');
		if (eq == one.n || !pf_str_eqz(pf_str_head(one, eq), name))
			continue;
		value = (struct pf_str){ one.p + eq + 1, one.n - eq - 1 };
		if (pf_str_given(*out) && !pf_str_eq(*out, value)) {
			*out = PF_NOSTR;
			return PF_E_CONFLICT;
		}
		*out = value;
	}
	if (!pf_str_given(*out))
		return PF_E_ABSENT;
	if (!value_ok(*out)) {
		*out = PF_NOSTR;
		return PF_E_INPUT;
	}
	return PF_OK;
}

static bool
parts_cookies(char c)
{
	return c == ';' || c == ',' || c == ' ' || c == '\t';
}

bool
pf_cookie_named(struct pf_str header, const char *name)
{
	struct pf_str rest, want = pf_str(name);

	for (size_t i = 0; i < header.n; i++) {
		rest = pf_str_from(header, i);
		if ((i > 0 && !parts_cookies(header.p[i - 1])) ||
		    !pf_str_starts(rest, want))
			continue;
		if (rest.n == want.n || rest.p[want.n] == '=' ||
		    parts_cookies(rest.p[want.n]))
			return true;
	}
	return false;
}
