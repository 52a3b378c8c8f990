/*
 * address - whose request it is, as limits count it and the audit names it.
 *
 * That is the web server's REMOTE_ADDR, unless it is a proxy named in the
 * settings: then it is the rightmost hop of X-Forwarded-For that is none. What
 * stands left of that was written by whoever sent the request, and is not read.
 */
#ifndef PF_ADDRESS_H
#define PF_ADDRESS_H

#include "core/base/conf.h"

#define PF_ADDRESS_LEN	16
#define PF_ADDRESS_TEXT	46	/* with NUL */

/* IPv4 stands as ::ffff:a.b.c.d, so that it is one address in both spellings.
 * All zero: not known. */
struct pf_address { unsigned char b[PF_ADDRESS_LEN]; };

struct pf_network {
	struct pf_address at;
	unsigned bits;		/* of the 128 */
};

/* "192.0.2.1", "2001:db8::1". PF_E_INPUT, and *out is not known, otherwise. */
PF_MUST enum pf_rc pf_address_read(struct pf_str text, struct pf_address *out);
/* NUL-terminated; "" for one that is not known. */
void pf_address_write(const struct pf_address *a, char out[PF_ADDRESS_TEXT]);
/* What is one neighbour to a limit: an IPv4 address, the /64 of an IPv6 one,
 * which is the least that a customer gets. */
void pf_address_key(const struct pf_address *a,
    unsigned char key[PF_ADDRESS_LEN]);

/* "192.0.2.0/24", "2001:db8::/32", without bits behind the prefix. */
PF_MUST enum pf_rc pf_network_read(struct pf_str text, struct pf_network *out);
bool pf_network_has(const struct pf_network *n, const struct pf_address *a);

/*
 * The client's address. A hop that is no address ends the look: then it is the
 * proxy that wrote it. proxies holds struct pf_network.
 */
void pf_address_of(const struct pf_list *proxies, struct pf_str remote_addr,
    struct pf_str forwarded_for, struct pf_address *out);

#endif
