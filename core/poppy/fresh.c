/*
 * How long an agent's document may be kept (RFC 9111, 5.2), within our bounds.
 */
#include "core/poppy/fetch.h"

#define SHORTEST_S	60
#define LONGEST_S	86400

int64_t
pf_fetch_fresh_s(struct pf_str cache_control, int64_t otherwise_s)
{
	const struct pf_str max_age = PF_LIT("max-age=");
	struct pf_str rest = cache_control, one;
	int64_t fresh = otherwise_s, n;

	while (pf_str_cut(&rest, ',', &one)) {
		one = pf_str_trim(one);
		if (pf_str_eq_nocase(one, PF_LIT("no-store")) ||
		    pf_str_eq_nocase(one, PF_LIT("no-cache")))
			return SHORTEST_S;
		if (pf_str_eq_nocase(pf_str_head(one, max_age.n), max_age) &&
		    pf_str_int(pf_str_from(one, max_age.n), 0, INT64_MAX, &n)
		    == PF_OK)
			fresh = n;
	}
	if (fresh < SHORTEST_S)
		return SHORTEST_S;
	return fresh > LONGEST_S ? LONGEST_S : fresh;
}
