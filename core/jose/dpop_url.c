#include "core/jose/dpop.h"

struct parts {
	struct pf_str host, port, path;
};

/* host [":" port], where an IPv6 address stands in brackets. */
static bool
authority(struct pf_str text, struct parts *out)
{
	size_t host;

	if (text.n == 0 || pf_str_has(text, '@'))
		return false;
	host = pf_str_find(text, ':');
	if (text.p[0] == '[') {
		if ((host = pf_str_find(text, ']')) == text.n)
			return false;
		host++;
	}
	out->host = pf_str_head(text, host);
	out->port = pf_str_from(text, host);
	if (out->port.n > 0 && out->port.p[0] != ':')
		return false;
	out->port = pf_str_from(out->port, 1);
	for (size_t i = 0; i < out->port.n; i++)
		if (!pf_is_digit(out->port.p[i]))
			return false;
	if (out->port.n == 0)
		out->port = PF_LIT("443");
	return host > 0;
}

static bool
parse(struct pf_str url, struct parts *out)
{
	const struct pf_str scheme = PF_LIT("https://");
	size_t slash;

	if (!pf_str_eq_nocase(pf_str_head(url, scheme.n), scheme))
		return false;
	url = pf_str_from(url, scheme.n);
	url = pf_str_head(url, pf_str_find(url, '#'));
	url = pf_str_head(url, pf_str_find(url, '?'));
	slash = pf_str_find(url, '/');
	out->path = pf_str_from(url, slash);
	if (out->path.n == 0)
		out->path = PF_LIT("/");
	return authority(pf_str_head(url, slash), out);
}

bool
pf_dpop_same_url(struct pf_str htu, struct pf_str url)
{
	struct parts a, b;

	return parse(htu, &a) && parse(url, &b) &&
	    pf_str_eq_nocase(a.host, b.host) && pf_str_eq(a.port, b.port) &&
	    pf_str_eq(a.path, b.path);
}
