/*
 * url - see url.h. Nothing is normalised here: what is not written the one
 * plain way is refused, so that no two readers of a URL can disagree about it.
 */
#include <arpa/inet.h>
#include <string.h>

#include "core/web/url.h"

#define URL_MAX		2048
#define HOST_MAX	253
#define LABEL_MAX	63

static bool
is_hex(char c)
{
	char l = pf_lower(c);

	return pf_is_digit(c) || (l >= 'a' && l <= 'f');
}

/* What RFC 3986 has no place for, and a % without its two digits. */
static bool
url_bytes_ok(struct pf_str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c <= 0x20 || c >= 0x7f ||
		    memchr("\\\"<>^`{|}", c, 9) != NULL)
			return false;
		if (c == '%' && pf_url_percent(s, i) < 0)
			return false;
	}
	return true;
}

static bool
ip_text_ok(int family, struct pf_str s)
{
	unsigned char addr[sizeof(struct in6_addr)];
	char z[INET6_ADDRSTRLEN];

	if (s.n == 0 || s.n >= sizeof(z) || memchr(s.p, '\0', s.n) != NULL)
		return false;
	memcpy(z, s.p, s.n);
	z[s.n] = '\0';
	return inet_pton(family, z, addr) == 1;
}

static bool
is_bracketed_ip(struct pf_str host)
{
	return host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']' &&
	    ip_text_ok(AF_INET6,
	    (struct pf_str){ host.p + 1, host.n - 2 });
}

/*
 * Resolvers and browsers read a host that ends in a number as an IPv4 address
 * in one of its many spellings (127.1, 0x7f.1, 2130706433).
 */
static bool
ends_in_number(struct pf_str host)
{
	size_t at = host.n, i;

	while (at > 0 && host.p[at - 1] != '.')
		at--;
	if (at == host.n)
		return false;
	if (host.n - at >= 2 && host.p[at] == '0' &&
	    pf_lower(host.p[at + 1]) == 'x') {
		for (i = at + 2; i < host.n && is_hex(host.p[i]); i++)
			;
		return i == host.n;
	}
	for (i = at; i < host.n && pf_is_digit(host.p[i]); i++)
		;
	return i == host.n;
}

static bool
labels_ok(struct pf_str host)
{
	struct pf_str rest = host, label;

	if (host.n == 0 || host.n > HOST_MAX)
		return false;
	while (pf_str_cut(&rest, '.', &label)) {
		if (label.n == 0 || label.n > LABEL_MAX)
			return false;
		for (size_t i = 0; i < label.n; i++)
			if (!pf_is_b64url(label.p[i]))
				return false;
	}
	return true;
}

static bool
host_ok(struct pf_str host)
{
	if (host.n > 0 && host.p[0] == '[')
		return is_bracketed_ip(host);
	if (host.n > 0 && host.p[host.n - 1] == '.')
		return false;
	if (ends_in_number(host))
		return ip_text_ok(AF_INET, host);
	return labels_ok(host);
}

/*
 * "host", "host:443", "[::1]:443": the host and, unless it is absent, the port.
 */
static enum pf_rc
split_port(struct pf_str text, struct pf_str *host, struct pf_str *port)
{
	size_t end = pf_str_find(text, ':');

	if (text.n > 0 && text.p[0] == '[') {
		end = pf_str_find(text, ']');
		if (end == text.n)
			return PF_E_INPUT;
		end++;
	}
	*host = pf_str_head(text, end);
	*port = PF_NOSTR;
	if (end == text.n)
		return PF_OK;
	if (text.p[end] != ':')
		return PF_E_INPUT;
	*port = (struct pf_str){ text.p + end + 1, text.n - end - 1 };
	return PF_OK;
}

/* No empty port, no leading zero: both have a plainer spelling. */
static enum pf_rc
port_number(struct pf_str text, int *out)
{
	enum pf_rc rc;
	int64_t v;

	if (text.n == 0 || text.n > 5 || text.p[0] == '0')
		return PF_E_INPUT;
	if ((rc = pf_str_int(text, 1, 65535, &v)) != PF_OK)
		return rc;
	*out = (int)v;
	return PF_OK;
}

static enum pf_rc
parse_authority(struct pf_str text, struct pf_url *out)
{
	struct pf_str port;
	enum pf_rc rc;
	size_t at = pf_str_find(text, '@');

	if (at < text.n) {
		out->userinfo = true;
		text = pf_str_from(text, at + 1);
	}
	if ((rc = split_port(text, &out->host, &port)) != PF_OK)
		return rc;
	/* A second @ is in the host now, and no host has one. */
	if (!host_ok(out->host))
		return PF_E_INPUT;
	if (!pf_str_given(port))
		return PF_OK;
	out->port_given = true;
	return port_number(port, &out->port);
}

/* Cut s at the first c; *tail is what stands behind it, or not given. */
static struct pf_str
cut_tail(struct pf_str s, char c, struct pf_str *tail)
{
	size_t at = pf_str_find(s, c);

	*tail = PF_NOSTR;
	if (at < s.n)
		*tail = (struct pf_str){ s.p + at + 1, s.n - at - 1 };
	return pf_str_head(s, at);
}

enum pf_rc
pf_url_parse(struct pf_str text, struct pf_url *out)
{
	struct pf_str rest, authority;
	size_t end;

	memset(out, 0, sizeof(*out));
	if (text.n == 0 || text.n > URL_MAX || !url_bytes_ok(text))
		return PF_E_INPUT;
	out->scheme = pf_str_head(text, pf_str_find(text, ':'));
	if (pf_str_eq_nocase(out->scheme, PF_LIT("https")))
		out->port = 443;
	else if (pf_str_eq_nocase(out->scheme, PF_LIT("http")))
		out->port = 80;
	else
		return PF_E_INPUT;
	rest = pf_str_from(text, out->scheme.n);
	if (!pf_str_starts(rest, PF_LIT("://")))
		return PF_E_INPUT;
	rest = pf_str_from(rest, 3);
	rest = cut_tail(rest, '#', &out->fragment);
	if (pf_str_has(out->fragment, '#'))
		return PF_E_INPUT;
	rest = cut_tail(rest, '?', &out->query);
	end = pf_str_find(rest, '/');
	authority = pf_str_head(rest, end);
	out->path = pf_str_from(rest, end);
	return parse_authority(authority, out);
}

bool
pf_url_is_https(struct pf_str text)
{
	struct pf_url u;

	return pf_url_parse(text, &u) == PF_OK &&
	    pf_str_eq_nocase(u.scheme, PF_LIT("https")) && !u.userinfo &&
	    !pf_str_given(u.fragment);
}

bool
pf_host_is_ip(struct pf_str host)
{
	return is_bracketed_ip(host) || ip_text_ok(AF_INET6, host) ||
	    ends_in_number(host);
}

bool
pf_host_within(struct pf_str host, struct pf_str domain)
{
	if (!host_ok(host) || !host_ok(domain))
		return false;
	if (pf_str_eq_nocase(host, domain))
		return true;
	/* What ends in a number is a whole address by now, below nothing. */
	if (host.n <= domain.n || host.p[host.n - domain.n - 1] != '.')
		return false;
	return pf_str_eq_nocase(pf_str_from(host, host.n - domain.n), domain);
}

enum pf_rc
pf_host_key(struct pf_arena *a, struct pf_str header, struct pf_str *out)
{
	struct pf_str host, port;
	enum pf_rc rc;
	char *p;
	int unused;

	*out = PF_NOSTR;
	if ((rc = split_port(header, &host, &port)) != PF_OK)
		return rc;
	if (pf_str_given(port) && (rc = port_number(port, &unused)) != PF_OK)
		return rc;
	if (host.n > 1 && host.p[host.n - 1] == '.')
		host.n--;
	if (!host_ok(host))
		return PF_E_INPUT;
	if ((p = pf_arena_alloc(a, host.n)) == NULL)
		return PF_E_MEM;
	for (size_t i = 0; i < host.n; i++)
		p[i] = pf_lower(host.p[i]);
	*out = (struct pf_str){ p, host.n };
	return PF_OK;
}
