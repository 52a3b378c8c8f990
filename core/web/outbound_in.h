/*
 * outbound_in - what the files of outbound share: the address policy, name
 * look-ups and the certificates that are trusted. Not for others.
 */
#ifndef PF_OUTBOUND_IN_H
#define PF_OUTBOUND_IN_H

#include <pthread.h>
#include <sys/socket.h>

#include "core/web/outbound.h"

/* --- outbound_policy.c: where we may connect to; pure --- */

#define PF_POLICY_MAX	32		/* networks, and ports */

struct pf_net {
	int family;			/* AF_INET or AF_INET6 */
	unsigned char addr[16];		/* 4 or 16 of them count */
	unsigned bits;
};

struct pf_policy {
	struct pf_net allow[PF_POLICY_MAX];
	size_t nallow;
	int port[PF_POLICY_MAX];
	size_t nports;
	bool any_port;
};

/* PF_E_INPUT, logged, for a network, port or number of them that won't do. No
 * ports at all means 443. */
PF_MUST enum pf_rc pf_policy_read(const struct pf_outbound_opts *opts,
    struct pf_policy *out);
bool pf_policy_port_ok(const struct pf_policy *p, int port);
/* addr is a struct in_addr or in6_addr. */
bool pf_policy_address_ok(const struct pf_policy *p, int family,
    const void *addr);
/* False too for any family but the two. */
bool pf_policy_sockaddr_ok(const struct pf_policy *p,
    const struct sockaddr *sa);

/* --- outbound_resolve.c: names, on threads of their own --- */

struct addrinfo;
struct pf_resolver;
struct pf_lookup;

/*
 * ready(ctx) is called on a resolver's thread, under its lock, whenever a
 * look-up ends; it must be short and not call back. At most max threads.
 */
PF_MUST enum pf_rc pf_resolver_start(unsigned max, void (*ready)(void *ctx),
    void *ctx, struct pf_resolver **out);
/*
 * No look-up may be left. Threads that still wait for a name server are let go:
 * they end by themselves and touch nothing of the caller's.
 */
void pf_resolver_stop(struct pf_resolver *r);
/* PF_E_MEM when no thread can be had either. */
PF_MUST enum pf_rc pf_resolver_ask(struct pf_resolver *r, const char *host,
    struct pf_lookup **out);
/*
 * Has it ended? *found, a list of its addresses or NULL, lives until the drop.
 */
bool pf_resolver_ended(struct pf_resolver *r, struct pf_lookup *l,
    const struct addrinfo **found);
/* At any time; l may be NULL. */
void pf_resolver_drop(struct pf_resolver *r, struct pf_lookup *l);

/* A thread that takes no signals. id NULL: a detached one. */
PF_MUST enum pf_rc pf_outbound_thread(void *(*run)(void *), void *arg,
    pthread_t *id);

/* --- outbound_ca.c --- */

/*
 * The certificates of both PEM files as one text, which is malloc()ed.
 * PF_E_INPUT, logged, if extra has none; the bundle may be missing (NULL, or
 * logged).
 */
PF_MUST enum pf_rc pf_outbound_ca(const char *bundle, struct pf_str extra,
    char **out, size_t *n);

#endif
