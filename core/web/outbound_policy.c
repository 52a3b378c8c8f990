/*
 * outbound_policy - which addresses may be connected to on a stranger's word.
 *
 * IPv4: all but what IANA's registry of special-purpose addresses, multicast
 * and the reserved block take out. IPv6: only global unicast (2000::/3), less
 * what the registry takes out of it. That leaves out every form that carries an
 * IPv4 address but NAT64's well-known prefix, which hosts without IPv4 need:
 * that one is judged by the address it carries.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "core/base/log.h"
#include "core/web/outbound_in.h"

struct range {
	const char *addr;
	unsigned bits;
};

static const struct range special4[] = {
	{ "0.0.0.0", 8 },		/* this network; 0.0.0.0 is loopback */
	{ "10.0.0.0", 8 },		/* private */
	{ "100.64.0.0", 10 },		/* carrier NAT, clouds' metadata */
	{ "127.0.0.0", 8 },		/* loopback */
	{ "168.63.129.16", 32 },	/* a cloud's host agent */
	{ "169.254.0.0", 16 },		/* link-local, clouds' metadata */
	{ "172.16.0.0", 12 },		/* private */
	{ "192.0.0.0", 24 },		/* protocol assignments */
	{ "192.0.2.0", 24 },		/* documentation */
	{ "192.31.196.0", 24 },		/* AS112 */
	{ "192.52.193.0", 24 },		/* AMT */
	{ "192.88.99.0", 24 },		/* 6to4 relays */
	{ "192.168.0.0", 16 },		/* private */
	{ "192.175.48.0", 24 },		/* AS112 */
	{ "198.18.0.0", 15 },		/* benchmarks */
	{ "198.51.100.0", 24 },		/* documentation */
	{ "203.0.113.0", 24 },		/* documentation */
	{ "224.0.0.0", 4 },		/* multicast */
	{ "240.0.0.0", 4 },		/* reserved, broadcast */
};

static const struct range global6 = { "2000::", 3 };
static const struct range nat64 = { "64:ff9b::", 96 };

static const struct range special6[] = {
	{ "2001::", 23 },		/* protocol assignments: Teredo, ORCHID,
					 * benchmarks, AMT, AS112, ... */
	{ "2001:db8::", 32 },		/* documentation */
	{ "2002::", 16 },		/* 6to4 */
	{ "2620:4f:8000::", 48 },	/* AS112 */
	{ "3fff::", 20 },		/* documentation */
};

static bool
same_bits(const unsigned char *a, const unsigned char *b, unsigned bits)
{
	unsigned whole = bits / 8, left = bits % 8;

	if (memcmp(a, b, whole) != 0)
		return false;
	return left == 0 || ((a[whole] ^ b[whole]) >> (8 - left)) == 0;
}

static bool
in_range(const struct range *r, int family, const unsigned char *addr)
{
	unsigned char net[16];

	return inet_pton(family, r->addr, net) == 1 &&
	    same_bits(net, addr, r->bits);
}

static bool
in_any(const struct range *v, size_t n, int family, const unsigned char *addr)
{
	for (size_t i = 0; i < n; i++)
		if (in_range(&v[i], family, addr))
			return true;
	return false;
}

static bool
is_special4(const unsigned char *addr)
{
	return in_any(special4, PF_COUNT(special4), AF_INET, addr);
}

static bool
is_special6(const unsigned char *addr)
{
	if (in_range(&nat64, AF_INET6, addr))
		return is_special4(addr + 12);
	return !in_range(&global6, AF_INET6, addr) ||
	    in_any(special6, PF_COUNT(special6), AF_INET6, addr);
}

bool
pf_policy_address_ok(const struct pf_policy *p, int family, const void *addr)
{
	for (size_t i = 0; i < p->nallow; i++)
		if (p->allow[i].family == family &&
		    same_bits(p->allow[i].addr, addr, p->allow[i].bits))
			return true;
	if (family == AF_INET)
		return !is_special4(addr);
	return family == AF_INET6 && !is_special6(addr);
}

bool
pf_policy_sockaddr_ok(const struct pf_policy *p, const struct sockaddr *sa)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (sa->sa_family == AF_INET) {
		memcpy(&v4, sa, sizeof(v4));
		return pf_policy_address_ok(p, AF_INET, &v4.sin_addr);
	}
	if (sa->sa_family != AF_INET6)
		return false;
	memcpy(&v6, sa, sizeof(v6));
	return pf_policy_address_ok(p, AF_INET6, &v6.sin6_addr);
}

bool
pf_policy_port_ok(const struct pf_policy *p, int port)
{
	if (p->any_port)
		return true;
	for (size_t i = 0; i < p->nports; i++)
		if (p->port[i] == port)
			return true;
	return false;
}

/* "127.0.0.0/8", "::1/128": both parts, and no bit set behind the prefix. */
static bool
read_net(struct pf_str text, struct pf_net *out)
{
	char z[INET6_ADDRSTRLEN];
	size_t slash = pf_str_find(text, '/');
	unsigned all;
	int64_t bits;

	if (slash >= sizeof(z) || slash == text.n ||
	    memchr(text.p, '\0', slash) != NULL)
		return false;
	memcpy(z, text.p, slash);
	z[slash] = '\0';
	out->family = strchr(z, ':') != NULL ? AF_INET6 : AF_INET;
	all = out->family == AF_INET6 ? 128 : 32;
	if (inet_pton(out->family, z, out->addr) != 1 ||
	    pf_str_int(pf_str_from(text, slash + 1), 0, all, &bits) != PF_OK)
		return false;
	out->bits = (unsigned)bits;
	for (unsigned i = out->bits; i < all; i++)
		if ((out->addr[i / 8] >> (7 - i % 8) & 1) != 0)
			return false;
	return true;
}

static enum pf_rc
refuse(const char *what, struct pf_str text)
{
	PF_LOG(PF_LOG_ERROR, "outbound_settings", PF_F_Z("why", what),
	    PF_F_STR("value", text));
	return PF_E_INPUT;
}

static enum pf_rc
read_ports(const struct pf_strs *ports, struct pf_policy *out)
{
	int64_t v;

	if (ports->n > PF_POLICY_MAX)
		return refuse("too many ports", PF_NOSTR);
	for (size_t i = 0; i < ports->n; i++) {
		if (pf_str_eqz(ports->v[i], "*")) {
			out->any_port = true;
			continue;
		}
		if (pf_str_int(ports->v[i], 1, 65535, &v) != PF_OK)
			return refuse("not a port", ports->v[i]);
		out->port[out->nports++] = (int)v;
	}
	if (ports->n == 0)
		out->port[out->nports++] = 443;
	return PF_OK;
}

enum pf_rc
pf_policy_read(const struct pf_outbound_opts *opts, struct pf_policy *out)
{
	const struct pf_strs *nets = &opts->allow_nets;

	memset(out, 0, sizeof(*out));
	if (nets->n > PF_POLICY_MAX)
		return refuse("too many networks", PF_NOSTR);
	for (size_t i = 0; i < nets->n; i++)
		if (!read_net(nets->v[i], &out->allow[out->nallow++]))
			return refuse("not a network", nets->v[i]);
	return read_ports(&opts->ports, out);
}

bool
pf_outbound_address_ok(const struct pf_outbound_opts *opts, const char *text)
{
	struct pf_policy p;
	unsigned char addr[16];
	int family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;

	return pf_policy_read(opts, &p) == PF_OK &&
	    inet_pton(family, text, addr) == 1 &&
	    pf_policy_address_ok(&p, family, addr);
}
