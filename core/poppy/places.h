/*
 * places - how many agents' documents are fetched at once, and for whom.
 *
 * Anybody can make us fetch: with a client_id never seen, or with a signature
 * that a known client's keys don't verify. Such fetches keep to their own
 * places, counted in all, for each host and for each network that asks. A
 * client whose documents were good before and ran out takes further ones, so
 * that no stranger can keep it from being served.
 */
#ifndef PF_PLACES_H
#define PF_PLACES_H

#include "core/base/str.h"

#define PF_STRANGERS		32	/* in all */
#define PF_STRANGERS_HOST	2
#define PF_STRANGERS_NET	4
/* With those of known clients. */
#define PF_PLACES		40
#define PF_PLACES_HOST		4

struct pf_net_key { unsigned char b[16]; };

struct pf_place {
	struct pf_str host;
	struct pf_net_key net;		/* who asks */
	bool known;
};

/* The network of a client address: an IPv4 address, or the first half of an
 * IPv6 address, since who has one of those has 2^64. All else is
 * one network. */
void pf_net_key(struct pf_str address, struct pf_net_key *out);

/* A free one of PF_PLACES (NULL is free) for what is wanted, or PF_PLACES. */
size_t pf_places_find(const struct pf_place *const taken[PF_PLACES],
    const struct pf_place *want);

#endif
