#include "core/poppy/places.h"

#include <string.h>

#include "core/poppy/address.h"

/* What is no address shares one network. */
void
pf_net_key(struct pf_str address, struct pf_net_key *out)
{
	struct pf_address a;

	if (pf_address_read(address, &a) != PF_OK)
		(void)memset(&a, 0, sizeof(a));
	pf_address_key(&a, out->b);
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
