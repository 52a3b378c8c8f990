/*
 * Addresses, networks, and whose request it is behind proxies: what a client
 * writes into X-Forwarded-For itself must never count.
 */
#include "config.h"

#include "core/poppy/address.h"
#include "tests/unit/tap.h"

static const struct { const char *text, *written, *key; } good[] = {
	{ "192.0.2.1", "192.0.2.1", "192.0.2.1" },
	{ "0.0.0.0", "0.0.0.0", "0.0.0.0" },
	{ "::ffff:192.0.2.1", "192.0.2.1", "192.0.2.1" },
	{ "2001:DB8:0:0::1", "2001:db8::1", "2001:db8::" },
	{ "2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::" },
	{ "2001:db8:1:2:ffff:ffff:ffff:ffff",
	    "2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::" },
	{ "::1", "::1", "::" },
};

static const struct { const char *why; struct pf_str text; } bad[] = {
	{ "nothing", PF_LIT_INIT("") },
	{ "a socket's path", PF_LIT_INIT("/run/poppy/auth.sock") },
	{ "a name", PF_LIT_INIT("localhost") },
	{ "three numbers", PF_LIT_INIT("192.0.2") },
	{ "a number over 255", PF_LIT_INIT("192.0.2.256") },
	{ "octal", PF_LIT_INIT("192.0.02.01") },
	{ "hexadecimal", PF_LIT_INIT("0xc0000201") },
	{ "one number", PF_LIT_INIT("3221225985") },
	{ "a port", PF_LIT_INIT("192.0.2.1:80") },
	{ "brackets", PF_LIT_INIT("[::1]") },
	{ "a zone", PF_LIT_INIT("fe80::1%eth0") },
	{ "a space", PF_LIT_INIT(" 192.0.2.1") },
	{ "a NUL", PF_LIT_INIT("192.0.2.1\0") },
	{ "two addresses", PF_LIT_INIT("192.0.2.1,192.0.2.2") },
	{ "nine groups", PF_LIT_INIT("1:2:3:4:5:6:7:8:9") },
	{ "two gaps", PF_LIT_INIT("1::2::3") },
	{ "longer than any",
	    PF_LIT_INIT("0000:0000:0000:0000:0000:0000:0000:0000:0000:0000") },
};

static const struct { const char *net, *in, *out; } nets[] = {
	{ "192.0.2.0/24", "192.0.2.255", "192.0.3.0" },
	{ "192.0.2.0/24", "::ffff:192.0.2.7", "::192.0.2.7" },
	{ "192.0.2.128/25", "192.0.2.128", "192.0.2.127" },
	{ "192.0.2.1/32", "192.0.2.1", "192.0.2.0" },
	{ "10.0.0.0/8", "10.255.0.1", "11.0.0.1" },
	{ "2001:db8::/32", "2001:db8:ffff::1", "2001:db9::" },
	{ "2001:db8::/33", "2001:db8:7fff::", "2001:db8:8000::" },
	{ "::1/128", "::1", "::2" },
	{ "::ffff:10.0.0.0/104", "10.1.2.3", "11.1.2.3" },
};

static const char *const bad_nets[] = {
	"", "/", "192.0.2.0", "192.0.2.0/", "/24", "192.0.2.0/33",
	"192.0.2.0/-1", "192.0.2.0/24x", "192.0.2.1/24", "2001:db8::/129",
	"2001:db8::1/64", "192.0.2.0/24/24", "host/8", " 10.0.0.0/8",
};

#define OURS	"10.0.0.9"	/* a proxy of ours */
#define V6	"2001:db8::9"	/* another */

static const struct { const char *why, *remote, *forwarded, *want; } hops[] = {
	{ "no proxy", "192.0.2.1", NULL, "192.0.2.1" },
	{ "no proxy, but a claim", "192.0.2.1", "203.0.113.7", "192.0.2.1" },
	{ "a stranger claims to be a proxy", "192.0.2.1", "203.0.113.7, " OURS,
	    "192.0.2.1" },
	{ "a proxy", OURS, "203.0.113.7", "203.0.113.7" },
	{ "a proxy over IPv6", V6, "203.0.113.7", "203.0.113.7" },
	{ "a mapped proxy", "::ffff:" OURS, "203.0.113.7", "203.0.113.7" },
	{ "a client that writes a hop itself", OURS,
	    "198.51.100.1, 203.0.113.7", "203.0.113.7" },
	{ "a client that writes a proxy's address", OURS,
	    OURS ", 203.0.113.7", "203.0.113.7" },
	{ "a client that writes many", OURS, "1.1.1.1,2.2.2.2, 3.3.3.3 ,"
	    "127.0.0.1, 203.0.113.7", "203.0.113.7" },
	{ "a client that writes garbage", OURS,
	    "\"><script>, ' OR 1=1, 203.0.113.7", "203.0.113.7" },
	{ "a client that writes a comma", OURS, ",,, 203.0.113.7",
	    "203.0.113.7" },
	{ "two proxies", OURS, "203.0.113.7, 10.0.0.8", "203.0.113.7" },
	{ "two proxies, and a client's own", OURS,
	    "198.51.100.1, 203.0.113.7, 10.0.0.8", "203.0.113.7" },
	{ "proxies alone", OURS, "10.0.0.7, 10.0.0.8", "10.0.0.7" },
	{ "a proxy that says nothing", OURS, NULL, OURS },
	{ "a proxy that says nothing at all", OURS, "", OURS },
	{ "garbage from the proxy itself", OURS, "203.0.113.7, unknown", OURS },
	{ "an empty last hop", OURS, "203.0.113.7, ", OURS },
	{ "garbage behind a second proxy", OURS, "203.0.113.7, x, 10.0.0.8",
	    "10.0.0.8" },
	{ "a hop with a port", OURS, "203.0.113.7:4711", "203.0.113.7" },
	{ "a hop with a port that is none", OURS, "203.0.113.7:x", OURS },
	{ "a hop with a port out of range", OURS, "203.0.113.7:65536", OURS },
	{ "a hop with a negative port", OURS, "203.0.113.7:-0", OURS },
	{ "a hop with an empty port", OURS, "203.0.113.7:", OURS },
	{ "IPv6", OURS, "2001:db8:a::1", "2001:db8:a::1" },
	{ "IPv6 in brackets", OURS, "[2001:db8:a::1]", "2001:db8:a::1" },
	{ "IPv6 with a port", OURS, "[2001:db8:a::1]:443", "2001:db8:a::1" },
	{ "IPv6 with half a bracket", OURS, "[2001:db8:a::1", OURS },
	{ "IPv6 with something behind", OURS, "[2001:db8:a::1]x", OURS },
	{ "IPv4 in brackets", OURS, "[203.0.113.7]", OURS },
	{ "empty brackets", OURS, "[]", OURS },
	{ "the word of RFC 7239", OURS, "for=203.0.113.7", OURS },
	{ "octal", OURS, "0313.0.0161.7", OURS },
	{ "a peer without an address", "", "203.0.113.7", "" },
	{ "a peer that is a path", "/tmp/s", "203.0.113.7", "" },
};

static void
check_addresses(void)
{
	static const struct pf_address unknown;
	unsigned char key[PF_ADDRESS_LEN], other[PF_ADDRESS_LEN];
	char text[PF_ADDRESS_TEXT];
	struct pf_address a, b;

	for (size_t i = 0; i < PF_COUNT(good); i++) {
		tap_is(pf_address_read(pf_str(good[i].text), &a), PF_OK, "%s",
		    good[i].text);
		pf_address_write(&a, text);
		tap_is_z(pf_str(text), good[i].written, "... written");
		pf_address_key(&a, key);
		tap_need(pf_address_read(pf_str(good[i].key), &b) == PF_OK,
		    good[i].key);
		pf_address_key(&b, other);
		tap_ok(memcmp(key, other, sizeof(key)) == 0, "... its key");
	}
	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		(void)memset(&a, 7, sizeof(a));
		tap_is(pf_address_read(bad[i].text, &a), PF_E_INPUT,
		    "refused: %s", bad[i].why);
		tap_ok(memcmp(&a, &unknown, sizeof(a)) == 0, "... not known");
	}
	pf_address_write(&unknown, text);
	tap_is_z(pf_str(text), "", "one that is not known has no text");
}

static void
check_networks(void)
{
	struct pf_network n;
	struct pf_address a;

	for (size_t i = 0; i < PF_COUNT(nets); i++) {
		tap_is(pf_network_read(pf_str(nets[i].net), &n), PF_OK, "%s",
		    nets[i].net);
		tap_need(pf_address_read(pf_str(nets[i].in), &a) == PF_OK,
		    nets[i].in);
		tap_ok(pf_network_has(&n, &a), "... has %s", nets[i].in);
		tap_need(pf_address_read(pf_str(nets[i].out), &a) == PF_OK,
		    nets[i].out);
		tap_ok(!pf_network_has(&n, &a), "... not %s", nets[i].out);
	}
	for (size_t i = 0; i < PF_COUNT(bad_nets); i++)
		tap_is(pf_network_read(pf_str(bad_nets[i]), &n), PF_E_INPUT,
		    "no network: \"%s\"", bad_nets[i]);
}

int
main(void)
{
	struct pf_network proxies[2];
	const struct pf_list list = { proxies, 2 }, none = { NULL, 0 };
	char text[PF_ADDRESS_TEXT];
	struct pf_address a;

	check_addresses();
	check_networks();
	tap_need(pf_network_read(PF_LIT("10.0.0.0/24"), &proxies[0]) == PF_OK &&
	    pf_network_read(PF_LIT(V6 "/128"), &proxies[1]) == PF_OK,
	    "two networks");
	for (size_t i = 0; i < PF_COUNT(hops); i++) {
		pf_address_of(&list, pf_str(hops[i].remote),
		    pf_str(hops[i].forwarded), &a);
		pf_address_write(&a, text);
		tap_is_z(pf_str(text), hops[i].want, "%s", hops[i].why);
	}
	pf_address_of(&none, PF_LIT(OURS), PF_LIT("203.0.113.7"), &a);
	pf_address_write(&a, text);
	tap_is_z(pf_str(text), OURS, "without proxies nothing else counts");
	return tap_done();
}
