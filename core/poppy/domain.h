/*
 * domain - whose a host is, by the Public Suffix List.
 */
#ifndef PF_DOMAIN_H
#define PF_DOMAIN_H

#include "core/base/arena.h"

/*
 * The registrable domain of a host in lower case: "b.example.co.uk" gives
 * "example.co.uk". A host that has none (an IP address, a single label, a
 * public suffix itself) stands for itself. PF_E_MEM.
 */
PF_MUST enum pf_rc pf_domain_of(struct pf_arena *a, struct pf_str host,
    struct pf_str *out);

/* Can anybody register names below it? True of "com" and of "github.io". */
bool pf_domain_is_suffix(struct pf_str host);

#endif
