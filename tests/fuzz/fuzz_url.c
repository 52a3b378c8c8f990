/* The same text as a URL, as a Host header and as a request's path. */
#include "core/jose/dpop.h"
#include "core/poppy/browser_assertion.h"
#include "core/web/url.h"
#include "tests/fuzz/fuzz.h"

static bool
url(struct pf_str in)
{
	struct pf_url u;

	if (pf_url_parse(in, &u) != PF_OK) {
		FUZZ_HOLDS(!pf_url_is_https(in));
		return false;
	}
	FUZZ_HOLDS(fuzz_within(u.scheme, in) && fuzz_within(u.host, in));
	FUZZ_HOLDS(u.path.n == 0 || fuzz_within(u.path, in));
	FUZZ_HOLDS(u.path.n == 0 || *u.path.p == '/');
	FUZZ_HOLDS(u.host.n > 0 && u.port >= 1 && u.port <= 65535);
	FUZZ_HOLDS(!pf_str_has(u.host, '@') && !pf_str_has(u.host, '/'));
	FUZZ_HOLDS(pf_host_within(u.host, u.host));
	if (pf_url_is_https(in))
		FUZZ_HOLDS(pf_dpop_same_url(in, in));
	return true;
}

/* Where a browser may be led is within the domain, as anybody reads it. */
static void
returns(struct pf_str in)
{
	static const struct pf_host shop = {
		.host = PF_LIT_INIT("a.example"),
		.base = PF_LIT_INIT("https://a.example:8443"),
		.domain = PF_LIT_INIT("a.example"),
	};
	const struct pf_settings s = { .hosts = { &shop, 1 } };
	struct pf_str rest;
	size_t end = 0;

	if (!pf_return_ok(&s, &shop, in))
		return;
	rest = pf_str_from(in, sizeof("https://") - 1);
	while (end < rest.n && !pf_str_has(PF_LIT("/?#:\\"), rest.p[end]))
		end++;
	rest = pf_str_head(rest, end);
	FUZZ_HOLDS(pf_str_eq_nocase(rest, shop.domain) ||
	    (rest.n > shop.domain.n && pf_str_eq_nocase(pf_str_from(rest,
	    rest.n - shop.domain.n - 1), PF_LIT(".a.example"))));
	for (size_t i = 0; i < in.n; i++)
		FUZZ_HOLDS(in.p[i] > ' ' && in.p[i] < 0x7f &&
		    in.p[i] != '\\');
}

static bool
host(struct pf_str in)
{
	struct pf_str key, twice;

	if (pf_host_key(&fuzz_arena, in, &key) != PF_OK)
		return false;
	FUZZ_HOLDS(key.n > 0 && key.n <= in.n);
	for (size_t i = 0; i < key.n; i++)
		FUZZ_HOLDS(pf_lower(key.p[i]) == key.p[i]);
	FUZZ_HOLDS(pf_host_key(&fuzz_arena, key, &twice) == PF_OK);
	FUZZ_HOLDS(pf_str_eq(key, twice));
	return true;
}

static bool
path(struct pf_str in)
{
	struct pf_str out, rest, one;

	if (pf_path_decode(&fuzz_arena, in, &out) != PF_OK)
		return false;
	FUZZ_HOLDS(pf_path_check(in) == PF_OK);
	FUZZ_HOLDS(out.n > 0 && *out.p == '/' && pf_utf8_valid(out));
	rest = pf_str_from(out, 1);
	while (pf_str_cut(&rest, '/', &one)) {
		FUZZ_HOLDS(!pf_str_eqz(one, ".") && !pf_str_eqz(one, ".."));
		FUZZ_HOLDS(!pf_str_starts(one, PF_LIT("..;")));
		FUZZ_HOLDS(!pf_str_has(one, '\\'));
		FUZZ_HOLDS(one.n > 0 || rest.n == 0);
	}
	return true;
}

bool
fuzz_one(struct pf_str in)
{
	bool a = url(in), b = host(in), c = path(in);

	returns(in);
	return a || b || c;
}
