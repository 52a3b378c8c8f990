#include "core/poppy/places.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

void
pf_net_key(struct pf_str address, struct pf_net_key *out)
{
	char z[INET6_ADDRSTRLEN + 8];
	struct in6_addr a = IN6ADDR_ANY_INIT;
	bool v6 = pf_str_has(address, ':');
	int n;

	n = snprintf(z, sizeof(z), "%s%.*s", v6 ? "" : "::ffff:",
	    PF_STRF(address));
	if (n < 0 || (size_t)n >= sizeof(z) || inet_pton(AF_INET6, z, &a) != 1)
		a = in6addr_any;
	(void)memcpy(out->b, &a, sizeof(out->b));
	if (!IN6_IS_ADDR_V4MAPPED(&a))
		(void)memset(out->b + 8, 0, 8);
}

static bool
same_net(const struct pf_place *a, const struct pf_place *b)
{
	return memcmp(&a->net, &b->net, sizeof(a->net)) == 0;
}

size_t
pf_places_find(const struct pf_place *const taken[PF_PLACES],
    const struct pf_place *want)
{
	size_t free_at = PF_PLACES, strangers = 0, host = 0, net = 0;

	for (size_t i = 0; i < PF_PLACES; i++) {
		const struct pf_place *p = taken[i];

		if (p == NULL) {
			free_at = i;
			continue;
		}
		/* A stranger is counted with strangers alone. */
		if (p->known && !want->known)
			continue;
		strangers++;
		host += pf_str_eq_nocase(p->host, want->host);
		net += same_net(p, want);
	}
	if (want->known)
		return host < PF_PLACES_HOST ? free_at : PF_PLACES;
	return strangers < PF_STRANGERS && host < PF_STRANGERS_HOST &&
	    net < PF_STRANGERS_NET ? free_at : PF_PLACES;
}
