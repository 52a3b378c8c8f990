/* Digests, MACs and key derivation against FIPS 180, RFC 2104's construction
 * and RFC 5869. The HKDF values were computed with the openssl command and from
 * the RFC's formula, the HMAC values from the formula alone. */
#include <pthread.h>

#include "core/jose/crypt.h"
#include "tests/unit/tap.h"

static bool
hex_of(const unsigned char *p, size_t n, const char *hex)
{
	char text[2 * PF_DIGEST_MAX + 1];

	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned)p[i]);
	return strcmp(text, hex) == 0;
}

static bool
hex_is(const unsigned char *p, const char *hex)
{
	return hex_of(p, PF_SHA256_LEN, hex);
}

static void
digests(void)
{
	static const struct { struct pf_str in; const char *hex; } row[] = {
		{ PF_LIT_INIT("abc"), "ba7816bf8f01cfea414140de5dae2223"
		    "b00361a396177a9cb410ff61f20015ad" },
		{ PF_LIT_INIT(""), "e3b0c44298fc1c149afbf4c8996fb924"
		    "27ae41e4649b934ca495991b7852b855" },
		{ { NULL, 0 }, "e3b0c44298fc1c149afbf4c8996fb924"
		    "27ae41e4649b934ca495991b7852b855" },
		{ PF_LIT_INIT("abcdbcdecdefdefgefghfghighijhijk"
		    "ijkljklmklmnlmnomnopnopq"),
		    "248d6a61d20638b8e5c026930c3e6039"
		    "a33ce45964ff2167f6ecedd419db06c1" },
	};
	unsigned char out[PF_SHA256_LEN];

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		tap_is(pf_sha256(row[i].in, out), PF_OK, "SHA-256 %zu", i);
		tap_ok(hex_is(out, row[i].hex), "SHA-256 %zu: value", i);
	}
}

/* Of others: RFC 1321, FIPS 180 and RFC 4231, test case 2. */
static void
others(void)
{
	static const struct pf_str abc[] = {
	    PF_LIT_INIT("a"), PF_LIT_INIT(""), PF_LIT_INIT("bc") };
	static const struct { enum pf_digest d; const char *hex; } row[] = {
		{ PF_MD5, "900150983cd24fb0d6963f7d28e17f72" },
		{ PF_SHA1, "a9993e364706816aba3e25717850c26c9cd0d89d" },
		{ PF_SHA256, "ba7816bf8f01cfea414140de5dae2223"
		    "b00361a396177a9cb410ff61f20015ad" },
		{ PF_SHA384, "cb00753f45a35e8bb5a03d699ac65007"
		    "272c32ab0eded1631a8b605a43ff5bed"
		    "8086072ba1e7cc2358baeca134c825a7" },
		{ PF_SHA512, "ddaf35a193617abacc417349ae204131"
		    "12e6fa4e89a97ea20a9eeee64b55d39a"
		    "2192992a274fc1a836ba3c23a3feebbd"
		    "454d4423643ce80e2a9ac94fa54ca49f" },
	};
	unsigned char out[PF_DIGEST_MAX];

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		size_t n = pf_digest_len(row[i].d);

		tap_is((int)n * 2, (int)strlen(row[i].hex), "length %zu", i);
		tap_is(pf_digest(row[i].d, abc, PF_COUNT(abc), out), PF_OK,
		    "digest %zu", i);
		tap_ok(hex_of(out, n, row[i].hex), "digest %zu: value", i);
	}
	tap_is(pf_hmac(PF_SHA384, PF_LIT("Jefe"),
	    PF_LIT("what do ya want for nothing?"), out), PF_OK, "HMAC");
	tap_ok(hex_of(out, 48, "af45d2e376484031617f78d2b58a6b1b"
	    "9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649"),
	    "HMAC-SHA-384: value");
}

static void
macs(const unsigned char key[PF_KEY_LEN])
{
	static const struct pf_str ab_c[] = {
	    PF_LIT_INIT("ab"), PF_LIT_INIT("c") };
	static const struct pf_str a_bc[] = {
	    PF_LIT_INIT("a"), PF_LIT_INIT("bc") };
	static const struct pf_str empty[] = { { NULL, 0 } };
	static const struct {
		const struct pf_str *parts;
		size_t n;
		const char *hex;
	} row[] = {
		{ ab_c, 2, "17eca1f3cf4e1f92cd415f54de5121e3"
		    "67cbc209edff96da287c5cd432cf9a46" },
		{ a_bc, 2, "3bddf4bc854ae05364f6353a7ec018de"
		    "74fb1fe6bb599207f172368d9490b9dd" },
		{ NULL, 0, "d38b42096d80f45f826b44a9d5607de7"
		    "2496a415d3f4a1a8c88e3bb9da8dc1cb" },
		{ empty, 1, "9f0cd9b94097fe4929918d2b8942b344"
		    "39574261a35dc50163f06c67d4e48899" },
	};
	unsigned char out[PF_SHA256_LEN], other[PF_KEY_LEN] = { 1 };

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		tap_is(pf_hmac256(key, row[i].parts, row[i].n, out), PF_OK,
		    "HMAC %zu", i);
		tap_ok(hex_is(out, row[i].hex), "HMAC %zu: value", i);
	}
	tap_is(pf_hmac256(other, row[0].parts, row[0].n, out), PF_OK,
	    "HMAC with another key");
	tap_ok(!hex_is(out, row[0].hex), "gives another value");
}

static void
derivation(const unsigned char key[PF_KEY_LEN])
{
	unsigned char out[PF_KEY_LEN];
	char longest[200];

	tap_is(pf_hkdf(key, "poppy test", out), PF_OK, "HKDF");
	tap_ok(hex_is(out, "a9a28018aee7cf7c34258546c8f67a57"
	    "fee2981b2d6b4e3531da9731a4de1975"), "HKDF: value");
	tap_is(pf_hkdf(key, "", out), PF_OK, "HKDF without purpose");
	tap_ok(hex_is(out, "37ad29109f43265287804b674e2653d0"
	    "a513718907f97fca97c95bded8104bbf"), "its value");
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	tap_is(pf_hkdf(key, longest, out), PF_E_BUG, "refused: long purpose");
}

static void *
in_thread(void *arg)
{
	unsigned char out[PF_SHA256_LEN];
	bool ok;

	ok = pf_sha256(PF_LIT("abc"), out) == PF_OK &&
	    pf_hmac256(arg, NULL, 0, out) == PF_OK;
	pf_crypt_thread_end();
	/* What was freed is made again. */
	ok = ok && pf_sha256(PF_LIT("abc"), out) == PF_OK;
	pf_crypt_thread_end();
	return ok ? arg : NULL;
}

int
main(void)
{
	unsigned char key[PF_KEY_LEN], out[PF_SHA256_LEN];
	pthread_t thread;
	void *res = NULL;

	for (unsigned i = 0; i < sizeof(key); i++)
		key[i] = (unsigned char)i;
	tap_is(pf_sha256(PF_LIT(""), out), PF_E_BUG, "SHA-256 before start");
	tap_is(pf_hmac256(key, NULL, 0, out), PF_E_BUG, "HMAC before start");
	tap_is(pf_hkdf(key, "", out), PF_E_BUG, "HKDF before the start");
	tap_is(pf_crypt_init(), PF_OK, "start");
	digests();
	others();
	macs(key);
	derivation(key);
	tap_need(pthread_create(&thread, NULL, in_thread, key) == 0, "thread");
	pthread_join(thread, &res);
	tap_ok(res == key, "another thread has its own contexts");
	digests();
	others();
	pf_crypt_end();
	return tap_done();
}
