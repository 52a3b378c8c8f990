/* Which fetches of agents' documents may begin beside which. */
#include <stdio.h>

#include "core/poppy/places.h"
#include "tests/unit/tap.h"

static struct pf_place made[PF_PLACES];
static char hosts[PF_PLACES][16];
static const struct pf_place *taken[PF_PLACES];

static void
clear(void)
{
	for (size_t i = 0; i < PF_PLACES; i++)
		taken[i] = NULL;
}

static struct pf_place
place(const char *host, const char *address, bool known)
{
	struct pf_place p = { pf_str(host), { { 0 } }, known };

	pf_net_key(pf_str(address), &p.net);
	return p;
}

static bool
take(const char *host, const char *address, bool known)
{
	struct pf_place p = place(host, address, known);
	size_t at = pf_places_find(taken, &p);

	if (at == PF_PLACES)
		return false;
	if (taken[at] != NULL)
		tap_ok(false, "the place was free");
	made[at] = p;
	taken[at] = &made[at];
	return true;
}

/* Strangers of many hosts and networks, as many as get a place. */
static size_t
crowd(bool known)
{
	char address[32];
	size_t n = 0;

	for (size_t i = 0; i < PF_PLACES; i++) {
		(void)snprintf(hosts[i], sizeof(hosts[i]), "h%zu.example", i);
		(void)snprintf(address, sizeof(address), "192.0.2.%zu", i);
		n += take(hosts[i], address, known);
	}
	return n;
}

static void
caps(void)
{
	clear();
	tap_is((long long)crowd(false), PF_STRANGERS, "strangers in all");
	tap_ok(!take("x.example", "198.51.100.1", false), "not one more");
	tap_ok(take("x.example", "198.51.100.1", true),
	    "a known client has its place all the same");

	clear();
	tap_ok(take("a.example", "192.0.2.1", false) &&
	    take("A.example", "192.0.2.2", false), "two on one host");
	tap_ok(!take("a.EXAMPLE", "192.0.2.3", false), "no third");
	tap_ok(take("b.example", "192.0.2.3", false), "another host");
	tap_ok(take("a.example", "192.0.2.1", true) &&
	    take("a.example", "192.0.2.1", true),
	    "known ones beside strangers of their host");
	tap_ok(!take("a.example", "192.0.2.9", true), "four on one host");

	clear();
	for (int i = 0; i < 4; i++) {
		(void)snprintf(hosts[i], sizeof(hosts[i]), "n%d.example", i);
		tap_ok(take(hosts[i], "192.0.2.1", false), "network: %d", i);
	}
	tap_ok(!take("z.example", "192.0.2.1", false), "no fifth");
	tap_ok(take("z.example", "192.0.2.1", true), "but a known client");
	tap_ok(take("z.example", "192.0.2.2", false), "another network");

	clear();
	tap_is((long long)crowd(true), PF_PLACES, "known ones may take all");
	tap_ok(!take("x.example", "198.51.100.1", true) &&
	    !take("x.example", "198.51.100.1", false), "then it is full");
	clear();
	tap_ok(take("a.example", "192.0.2.1", true) &&
	    take("a.example", "192.0.2.1", true) &&
	    take("a.example", "192.0.2.1", false),
	    "known ones are not counted against strangers");
}

static const struct { const char *a, *b; bool same; } nets[] = {
	{ "192.0.2.1", "192.0.2.1", true },
	{ "192.0.2.1", "192.0.2.2", false },
	{ "192.0.2.1", "::ffff:192.0.2.1", true },
	{ "::ffff:192.0.2.1", "::ffff:192.0.2.2", false },
	{ "2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true },
	{ "2001:db8:1:2::1", "2001:db8:1:3::1", false },
	{ "2001:db8::1", "192.0.2.1", false },
	{ "", "unix:", true },
	{ "2001:db8:1:2::1%eth0", "nonsense", true },
	{ "192.0.2.1, 192.0.2.2", "", true },
	{ "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", "", true },
};

int
main(void)
{
	struct pf_net_key a, b;

	caps();
	for (size_t i = 0; i < PF_COUNT(nets); i++) {
		pf_net_key(pf_str(nets[i].a), &a);
		pf_net_key(pf_str(nets[i].b), &b);
		tap_is(memcmp(&a, &b, sizeof(a)) == 0, nets[i].same,
		    "one network: \"%s\", \"%s\"", nets[i].a, nets[i].b);
	}
	return tap_done();
}
