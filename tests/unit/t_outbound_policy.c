#include "config.h"

#include "core/web/outbound_in.h"
#include "tests/unit/tap.h"

static const struct pf_outbound_opts plain = { .max_inflight = 1 };

/* Every spelling that reaches something inside, and its lookalikes. */
static const char *const refused[] = {
	"0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255",
	"100.64.0.1", "100.127.255.255", "100.100.100.200", "127.0.0.1",
	"127.255.255.254", "168.63.129.16", "169.254.0.0", "169.254.169.254",
	"172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.170",
	"192.0.0.192", "192.0.2.1", "192.31.196.1", "192.52.193.1",
	"192.88.99.1", "192.168.0.1", "192.168.255.255", "192.175.48.1",
	"198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.255",
	"224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	"::", "::1", "0:0:0:0:0:0:0:1", "::127.0.0.1", "::8.8.8.8",
	"::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:7f00:1",
	"0:0:0:0:0:ffff:0a00:0001", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1",
	"64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1",
	"64:ff9b:1::8.8.8.8", "64:ff9b:1::a00:1", "64:ff9b:0:1::8.8.8.8",
	"100::1", "100:0:0:1::1", "2001::1", "2001:0:4136:e378::1",
	"2001:0:7f00:1::1", "2001:2::1", "2001:3::1", "2001:4:112::1",
	"2001:10::1", "2001:20::1", "2001:30::1", "2001:1ff:ffff::1",
	"2001:db8::1", "2001:0db8:ffff::", "2002:7f00:1::1",
	"2002:a9fe:a9fe::", "2002:808:808::1", "2620:4f:8000::1", "3fff::1",
	"3fff:fff::1", "4000::1", "5f00::1", "8000::1", "fc00::1",
	"fd00:ec2::254", "fdff::1", "fe80::1", "febf::1", "fec0::1",
	"ff02::1", "ff0e::1", "1fff::1",
};

static const char *const reached[] = {
	"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255",
	"100.128.0.0", "126.255.255.255", "128.0.0.1", "168.63.129.15",
	"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
	"192.0.1.1", "192.0.3.1", "192.167.255.255", "192.169.0.0",
	"198.17.255.255", "198.20.0.0", "203.0.112.1", "223.255.255.255",
	"2606:4700::1111", "2001:200::1", "2001:4860:4860::8888",
	"2003::1", "2a00:1450::1", "3ffe::1", "3fff:1000::1",
	"64:ff9b::8.8.8.8",
};

/* Not in standard form: no address at all. */
static const char *const no_address[] = {
	"", "127.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001",
	"0177.0.0.1", "127.0.0.01", "8.8.8.8.", "8.8.8", "8.8.8.256",
	" 8.8.8.8", "8.8.8.8 ", "8.8.8.8/32", "8.8.8.8:443", "[::1]",
	"2606:4700::1111%eth0", "2606:4700:::1", "localhost", "example.com",
	"\xef\xbc\x98.8.8.8", ":", "::ffff:1.2.3",
};

static void
test_addresses(void)
{
	for (size_t i = 0; i < PF_COUNT(refused); i++)
		tap_ok(!pf_outbound_address_ok(&plain, refused[i]),
		    "refused: %s", refused[i]);
	for (size_t i = 0; i < PF_COUNT(reached); i++)
		tap_ok(pf_outbound_address_ok(&plain, reached[i]),
		    "reached: %s", reached[i]);
	for (size_t i = 0; i < PF_COUNT(no_address); i++)
		tap_ok(!pf_outbound_address_ok(&plain, no_address[i]),
		    "no address: \"%s\"", no_address[i]);
}

/* The networks that are allowed, and nothing beside them. */
static void
test_allowed(void)
{
	static const struct pf_str nets[] = {
		PF_LIT_INIT("127.0.0.0/8"), PF_LIT_INIT("::1/128"),
		PF_LIT_INIT("10.1.2.128/25"), PF_LIT_INIT("fd00:1::/33"),
	};
	static const struct { const char *text; bool want; } row[] = {
		{ "127.0.0.1", true }, { "127.9.9.9", true },
		{ "::1", true }, { "10.1.2.128", true },
		{ "10.1.2.255", true }, { "fd00:1:7fff::1", true },
		{ "8.8.8.8", true },
		{ "10.1.2.127", false }, { "10.1.3.128", false },
		{ "fd00:1:8000::1", false }, { "::2", false },
		{ "::ffff:127.0.0.1", false }, { "::127.0.0.1", false },
		{ "64:ff9b::127.0.0.1", false }, { "2002:7f00:1::", false },
		{ "169.254.169.254", false }, { "fe80::1", false },
		{ "128.0.0.0", true }, { "0.0.0.0", false },
	};
	struct pf_outbound_opts o = plain;

	o.allow_nets = (struct pf_strs){ nets, PF_COUNT(nets) };
	for (size_t i = 0; i < PF_COUNT(row); i++)
		tap_is(pf_outbound_address_ok(&o, row[i].text), row[i].want,
		    "with networks allowed: %s", row[i].text);
}

static void
test_bad_settings(void)
{
	static const char *const bad_net[] = {
		"", "127.0.0.1", "127.0.0.0/", "127.0.0.0/33", "127.0.0.1/8",
		"127.0.0.0/-1", "127.0.0.0/8x", "127/8", "::1/129", "::1/64",
		"[::1]/128", "localhost/8", "/8", "0x7f.0.0.0/8", "*",
	};
	static const char *const bad_port[] = {
		"", "0", "65536", "-1", "443x", "https", "**", "443,8443",
	};
	struct pf_outbound_opts o = plain;
	struct pf_policy p;
	struct pf_str one;

	o.allow_nets = (struct pf_strs){ &one, 1 };
	for (size_t i = 0; i < PF_COUNT(bad_net); i++) {
		one = pf_str(bad_net[i]);
		tap_is(pf_policy_read(&o, &p), PF_E_INPUT,
		    "no network: \"%s\"", bad_net[i]);
		tap_ok(!pf_outbound_address_ok(&o, "8.8.8.8"),
		    "and nothing is reached with it");
	}
	o = plain;
	o.ports = (struct pf_strs){ &one, 1 };
	for (size_t i = 0; i < PF_COUNT(bad_port); i++) {
		one = pf_str(bad_port[i]);
		tap_is(pf_policy_read(&o, &p), PF_E_INPUT, "no port: \"%s\"",
		    bad_port[i]);
	}
}

static void
test_ports(void)
{
	static const struct pf_str two[] = {
		PF_LIT_INIT("443"), PF_LIT_INIT("8443"),
	};
	static const struct pf_str any[] = { PF_LIT_INIT("*") };
	struct pf_outbound_opts o = plain;
	struct pf_policy p;

	tap_is(pf_policy_read(&o, &p), PF_OK, "no ports given");
	tap_ok(pf_policy_port_ok(&p, 443) && !pf_policy_port_ok(&p, 80) &&
	    !pf_policy_port_ok(&p, 0), "443 alone");
	o.ports = (struct pf_strs){ two, 2 };
	tap_is(pf_policy_read(&o, &p), PF_OK, "two ports");
	tap_ok(pf_policy_port_ok(&p, 443) && pf_policy_port_ok(&p, 8443) &&
	    !pf_policy_port_ok(&p, 444), "these two alone");
	o.ports = (struct pf_strs){ any, 1 };
	tap_is(pf_policy_read(&o, &p), PF_OK, "any port");
	tap_ok(pf_policy_port_ok(&p, 1) && pf_policy_port_ok(&p, 65535),
	    "any");
}

static void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	tap_need(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0, path);
}

static void
test_ca(void)
{
	char dir[] = "/tmp/t_outbound_ca.XXXXXX";
	char system_ca[64], extra[64], none[64], *text;
	size_t n;

	tap_need(mkdtemp(dir) != NULL, "a directory");
	snprintf(system_ca, sizeof(system_ca), "%s/system", dir);
	snprintf(extra, sizeof(extra), "%s/extra", dir);
	snprintf(none, sizeof(none), "%s/none", dir);
	write_file(system_ca, "-----BEGIN CERTIFICATE-----\nSYSTEM");
	write_file(extra, "-----BEGIN CERTIFICATE-----\nEXTRA");
	write_file(none, "-----BEGIN PRIVATE KEY-----\n");
	tap_is(pf_outbound_ca(system_ca, pf_str(extra), &text, &n), PF_OK,
	    "both files");
	tap_is_str(pf_bytes(text, n),
	    PF_LIT("-----BEGIN CERTIFICATE-----\nSYSTEM\n"
	    "-----BEGIN CERTIFICATE-----\nEXTRA\n"), "one behind the other");
	free(text);
	tap_is(pf_outbound_ca("/nowhere", pf_str(extra), &text, &n), PF_OK,
	    "no bundle of the system");
	tap_is_str(pf_bytes(text, n),
	    PF_LIT("-----BEGIN CERTIFICATE-----\nEXTRA\n"), "the extra alone");
	free(text);
	tap_is(pf_outbound_ca(system_ca, pf_str(none), &text, &n), PF_E_INPUT,
	    "no certificate in the extra file");
	tap_is(pf_outbound_ca(system_ca, PF_LIT("/nowhere"), &text, &n),
	    PF_E_INPUT, "no extra file");
	tap_is(pf_outbound_ca(system_ca, PF_LIT("a\0b"), &text, &n),
	    PF_E_INPUT, "no file name");
	tap_is(pf_outbound_ca(system_ca, pf_str(dir), &text, &n), PF_E_INPUT,
	    "a directory");
	tap_ok(text == NULL && n == 0, "nothing to free after a failure");
	tap_need(remove(system_ca) == 0 && remove(extra) == 0 &&
	    remove(none) == 0 && remove(dir) == 0, "to clean up");
}

int
main(void)
{
	test_addresses();
	test_allowed();
	test_bad_settings();
	test_ports();
	test_ca();
	return tap_done();
}
