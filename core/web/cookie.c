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
		/* PHP makes an array of what has a '[' behind its name. */
		if (rest.n == want.n || rest.p[want.n] == '=' ||
		    rest.p[want.n] == '[' || parts_cookies(rest.p[want.n]))
			return true;
	}
	return false;
}

/* token of RFC 9110, 5.6.2. */
static bool
name_ok(struct pf_str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!pf_is_alpha(name.p[i]) && !pf_is_digit(name.p[i]) &&
		    !pf_str_has(PF_LIT("!#$%&'*+-.^_`|~"), name.p[i]))
			return false;
	return name.n != 0;
}

static bool
domain_ok(struct pf_str domain)
{
	for (size_t i = 0; i < domain.n; i++)
		if (!pf_is_alpha(domain.p[i]) && !pf_is_digit(domain.p[i]) &&
		    domain.p[i] != '.' && domain.p[i] != '-')
			return false;
	return domain.n == 0 || domain.p[0] != '.';
}

enum pf_rc
pf_cookie_write(struct pf_buf *b, const struct pf_cookie *c)
{
	if (!name_ok(c->name) || c->value.n == 0 || !value_ok(c->value) ||
	    !domain_ok(c->domain) || c->max_age < 1)
		return PF_E_BUG;
	if (c->domain.n != 0 && pf_str_starts(c->name, PF_LIT("__Host-")))
		return PF_E_BUG;
	pf_buf_add(b, c->name);
	pf_buf_char(b, '=');
	pf_buf_add(b, c->value);
	pf_buf_addz(b, "; Path=/");
	if (c->domain.n != 0) {
		pf_buf_addz(b, "; Domain=");
		pf_buf_add(b, c->domain);
	}
	pf_buf_fmt(b, "; Max-Age=%lld; Secure; HttpOnly; SameSite=Lax",
	    (long long)c->max_age);
	return PF_OK;
}
