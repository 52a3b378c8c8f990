/* The families of hashes, each with values made by others: by PHP 8.2, or those
 * that hashcat and phpass publish as examples of their formats. */
#include "config.h"

#include "core/base/clock.h"
#include "core/jose/crypt.h"
#include "core/poppy/password.h"
#include "tests/unit/tap.h"

#define A72	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A80	A72 "aaaaaaaa"
#define SALT	"Zq3mKx8pTw1rYb6n"
#define HORSE	"correct horse"
#define BCRYPT	"$2y$05$rI5SzKefugml4pg/Lx8oYeod65zjJ0hfxAV5WeP4mWoyJZ/aqo..i"
#define CUT	"$2y$04$5X4PRA7NdE9vcCW2bIdW3uyrJEk0zxxQ1WwwuRpduXEBVVnSZdDRC"
#define LONG	"$2y$04$/Clim99Ovr5Qb1IYhaGDwOUNNnMJwc1Oui5BCfm9V8emrQ8B5.pKi"
#define WP	"$wp$2y$05$t3Aot6G8CfJiG6KCmq9ktunPqBxoIlMF9V8.c2sSwbUwMxcV" \
		"ROIA."
#define A2SALT	"$dDRPNUtxYzAyTTBLYzJGTA"
#define A2HASH	"$j0bnTF6tw/mLxcWw6E66+oTx+g7fHpQUHnrwqiGOFpM"
#define ARGON2	"$argon2id$v=19$m=65536,t=4,p=1" A2SALT A2HASH
#define SODIUM	"$argon2id$v=19$m=65536,t=2,p=1$RnhmoT5RDTbm2I1rSrUeCg" \
		"$K3LUOw/iZEsKerukEZAXG2Sq1zhG8nf0L04SVTbQ3xQ"
#define PHPASS	"$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"
#define DRUPAL	"$S$C33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf"
#define SHA256	"ea1f6e717277424964ae98bef0ba26ef" \
		"24e8417d1a535689300c0de351ff7077"
#define MD5	"e39fc34dfe2df463fc5eb2a247d6db01"
#define ARGON13	"32c9845226efe0a88a9eff3f58240335" \
		"0a2e03287883c2e0d32e041cb8831838"
#define OPENCART "6e36dcfc6151272c797165fce21e68e7c7737e40"
#define PRESTA	"810e3d12f0f10777a679d9ca1ad7a8d9"
#define COOKIE	"M2uZ122bSHJ4Mi54tXGY0lqcv1r28mUluSkyw37ou5oia4i239ujqw0l"

struct row {
	const char *kind;
	struct pf_str hash;
	struct pf_str password;
};

static const struct row good[] = {
	{ "", PF_LIT_INIT(BCRYPT), PF_LIT_INIT(HORSE) },
	{ "symfony", PF_LIT_INIT(BCRYPT), PF_LIT_INIT(HORSE) },
	{ "wordpress", PF_LIT_INIT(BCRYPT), PF_LIT_INIT(" " HORSE "\n") },
	{ "opencart", PF_LIT_INIT(BCRYPT), PF_LIT_INIT(HORSE) },
	{ "", PF_LIT_INIT(CUT), PF_LIT_INIT(A80) },
	{ "", PF_LIT_INIT(CUT), PF_LIT_INIT(A72) },
	{ "symfony", PF_LIT_INIT(CUT), PF_LIT_INIT(A72) },
	{ "symfony", PF_LIT_INIT(LONG), PF_LIT_INIT(A80) },
	{ "", PF_LIT_INIT(WP), PF_LIT_INIT(HORSE) },
	{ "wordpress", PF_LIT_INIT(WP), PF_LIT_INIT(HORSE) },
	{ "", PF_LIT_INIT(WP), PF_LIT_INIT("\t" HORSE " ") },
	{ "wordpress", PF_LIT_INIT("3cb4e732631f47e6eb961f34554b7cde"),
	    PF_LIT_INIT(HORSE) },
	{ "", PF_LIT_INIT(ARGON2), PF_LIT_INIT(HORSE) },
	{ "symfony", PF_LIT_INIT(SODIUM), PF_LIT_INIT(HORSE) },
	{ "", PF_LIT_INIT(PHPASS), PF_LIT_INIT("test12345") },
	{ "phpass", PF_LIT_INIT("$H$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"),
	    PF_LIT_INIT("test12345") },
	{ "", PF_LIT_INIT(DRUPAL), PF_LIT_INIT("hashcat") },
	{ "drupal", PF_LIT_INIT(DRUPAL), PF_LIT_INIT("hashcat") },
	{ "magento", PF_LIT_INIT(MD5 ":" SALT ":0"), PF_LIT_INIT(HORSE) },
	{ "magento", PF_LIT_INIT(MD5 ":" SALT), PF_LIT_INIT(HORSE) },
	{ "magento", PF_LIT_INIT(SHA256 ":" SALT ":1"), PF_LIT_INIT(HORSE) },
	{ "magento", PF_LIT_INIT(SHA256 ":" SALT), PF_LIT_INIT(HORSE) },
	{ "magento", PF_LIT_INIT(ARGON13 ":" SALT ":2"), PF_LIT_INIT(HORSE) },
	{ "magento", PF_LIT_INIT(ARGON13 ":" SALT ":3_32_2_67108864"),
	    PF_LIT_INIT(HORSE) },
	{ "prestashop", PF_LIT_INIT(PRESTA ":" COOKIE),
	    PF_LIT_INIT("hashcat") },
	{ "opencart", PF_LIT_INIT(OPENCART ":472433673"),
	    PF_LIT_INIT("hashcat") },
};

static const struct row wrong[] = {
	{ "", PF_LIT_INIT(BCRYPT), PF_LIT_INIT("") },
	{ "", PF_LIT_INIT(BCRYPT), PF_LIT_INIT("correct horsE") },
	{ "", PF_LIT_INIT(BCRYPT), PF_LIT_INIT(HORSE " ") },
	{ "", PF_LIT_INIT(BCRYPT), PF_LIT_INIT(HORSE "\0") },
	{ "", PF_LIT_INIT(BCRYPT), PF_LIT_INIT(HORSE "\0more") },
	{ "symfony", PF_LIT_INIT(BCRYPT), PF_LIT_INIT(HORSE "\0") },
	{ "symfony", PF_LIT_INIT(CUT), PF_LIT_INIT(A80) },
	{ "", PF_LIT_INIT(LONG), PF_LIT_INIT(A80) },
	{ "", PF_LIT_INIT(WP), PF_LIT_INIT("correct  horse") },
	{ "", PF_LIT_INIT(ARGON2), PF_LIT_INIT(HORSE "\0") },
	{ "", PF_LIT_INIT(PHPASS), PF_LIT_INIT("test1234") },
	{ "drupal", PF_LIT_INIT(DRUPAL), PF_LIT_INIT("hashcat ") },
	{ "drupal", PF_LIT_INIT("U" DRUPAL), PF_LIT_INIT("hashcat") },
	{ "magento", PF_LIT_INIT(MD5 ":" SALT ":0:0"), PF_LIT_INIT(HORSE) },
	{ "magento", PF_LIT_INIT(MD5 ":other:0"), PF_LIT_INIT(HORSE) },
	{ "magento", PF_LIT_INIT(ARGON13 ":" SALT ":1"), PF_LIT_INIT(HORSE) },
	{ "prestashop", PF_LIT_INIT(PRESTA ":other"),
	    PF_LIT_INIT("hashcat") },
	{ "opencart", PF_LIT_INIT(OPENCART ":472433674"),
	    PF_LIT_INIT("hashcat") },
};

/* No hashes, and ones that are too dear. */
static const struct { const char *why, *kind; struct pf_str hash; } bad[] = {
	{ "nothing", "", PF_LIT_INIT("") },
	{ "locked account", "", PF_LIT_INIT("*") },
	{ "the password itself", "", PF_LIT_INIT(HORSE) },
	{ "a kind that is none", "sha1", PF_LIT_INIT(BCRYPT) },
	{ "a kind in capitals", "Symfony", PF_LIT_INIT(BCRYPT) },
	{ "DES crypt", "", PF_LIT_INIT("rl.3StKT.4T8M") },
	{ "MD5 crypt", "", PF_LIT_INIT("$1$rasmusle$rISCgZzpwk3UhDidwXvin0") },
	{ "bare MD5", "", PF_LIT_INIT(MD5) },
	{ "bare MD5 for Magento", "magento", PF_LIT_INIT(MD5) },
	{ "bcrypt of the flawed kind", "", PF_LIT_INIT("$2x$"
	    "05$rI5SzKefugml4pg/Lx8oYeod65zjJ0hfxAV5WeP4mWoyJZ/aqo..i") },
	{ "bcrypt, cost 3", "", PF_LIT_INIT("$2y$"
	    "03$rI5SzKefugml4pg/Lx8oYeod65zjJ0hfxAV5WeP4mWoyJZ/aqo..i") },
	{ "bcrypt, cost 15", "", PF_LIT_INIT("$2y$"
	    "15$rI5SzKefugml4pg/Lx8oYeod65zjJ0hfxAV5WeP4mWoyJZ/aqo..i") },
	{ "bcrypt, cost -4", "", PF_LIT_INIT("$2y$"
	    "-4$rI5SzKefugml4pg/Lx8oYeod65zjJ0hfxAV5WeP4mWoyJZ/aqo..i") },
	{ "bcrypt, one short", "", PF_LIT_INIT("$2y$"
	    "05$rI5SzKefugml4pg/Lx8oYeod65zjJ0hfxAV5WeP4mWoyJZ/aqo..") },
	{ "bcrypt, one long", "", PF_LIT_INIT(BCRYPT ".") },
	{ "bcrypt, foreign character", "", PF_LIT_INIT("$2y$"
	    "05$rI5SzKefugml4pg+Lx8oYeod65zjJ0hfxAV5WeP4mWoyJZ/aqo..i") },
	{ "bcrypt and NUL", "", PF_LIT_INIT(BCRYPT "\0") },
	{ "bcrypt with NUL", "", PF_LIT_INIT("$2y$"
	    "05$rI5SzKefugml4pg\0Lx8oYeod65zjJ0hfxAV5WeP4mWoyJZ/aqo..i") },
	{ "WordPress around phpass", "wordpress", PF_LIT_INIT("$wp" PHPASS) },
	{ "MD5 one short", "wordpress",
	    PF_LIT_INIT("3cb4e732631f47e6eb961f34554b7cd") },
	{ "phpass, 2^6", "",
	    PF_LIT_INIT("$P$4IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0") },
	{ "phpass, 2^21", "",
	    PF_LIT_INIT("$P$JIQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0") },
	{ "phpass, 2^63", "",
	    PF_LIT_INIT("$P$zIQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0") },
	{ "phpass, one long", "", PF_LIT_INIT(PHPASS "0") },
	{ "phpass, foreign character", "",
	    PF_LIT_INIT("$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L=") },
	{ "Drupal, 2^21", "", PF_LIT_INIT("$S$J"
	    "33783772bRXEx1aCsvY.dqgaaSu76XmVlKrW9Qu8IQlvxHlmzLf") },
	{ "Drupal as long as phpass", "",
	    PF_LIT_INIT("$S$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0") },
	{ "Argon2d", "", PF_LIT_INIT("$argon2d$v=19$m=65536,t=4,p=1" A2SALT
	    A2HASH) },
	{ "Argon2, 2^32 KiB", "", PF_LIT_INIT("$argon2id$v=19$m=4294967296,"
	    "t=1,p=1" A2SALT A2HASH) },
	{ "Argon2, 256 MiB and one", "", PF_LIT_INIT("$argon2id$v=19$m=262145,"
	    "t=1,p=1" A2SALT A2HASH) },
	{ "Argon2, 17 passes", "", PF_LIT_INIT("$argon2id$v=19$m=64,t=17,p=1"
	    A2SALT A2HASH) },
	{ "Argon2, 256 MiB five times", "", PF_LIT_INIT("$argon2id$v=19"
	    "$m=262144,t=5,p=1" A2SALT A2HASH) },
	{ "Argon2, 17 lanes", "", PF_LIT_INIT("$argon2id$v=19$m=1024,t=1,p=17"
	    A2SALT A2HASH) },
	{ "Argon2, too little for its lanes", "", PF_LIT_INIT("$argon2id$v=19"
	    "$m=31,t=1,p=4" A2SALT A2HASH) },
	{ "Argon2, no pass", "", PF_LIT_INIT("$argon2id$v=19$m=64,t=0,p=1"
	    A2SALT A2HASH) },
	{ "Argon2, leading zero", "", PF_LIT_INIT("$argon2id$v=19$m=064,t=1,"
	    "p=1" A2SALT A2HASH) },
	{ "Argon2, another order", "", PF_LIT_INIT("$argon2id$v=19$t=4,m=65536,"
	    "p=1" A2SALT A2HASH) },
	{ "Argon2, one cost more", "", PF_LIT_INIT("$argon2id$v=19$m=64,t=1,"
	    "p=1,x=1" A2SALT A2HASH) },
	{ "Argon2, no costs", "", PF_LIT_INIT("$argon2id$v=19" A2SALT
	    A2HASH) },
	{ "Argon2, a version to come", "", PF_LIT_INIT("$argon2id$v=20$m=64,"
	    "t=1,p=1" A2SALT A2HASH) },
	{ "Argon2, no hash", "", PF_LIT_INIT("$argon2id$v=19$m=64,t=1,p=1"
	    A2SALT "$") },
	{ "Argon2, short hash", "", PF_LIT_INIT("$argon2id$v=19$m=64,t=1,p=1"
	    A2SALT "$j0bnTF6tw/mLxcWw6E66") },
	{ "Argon2, short salt", "", PF_LIT_INIT("$argon2id$v=19$m=64,t=1,p=1"
	    "$dDRPNUtx" A2HASH) },
	{ "Argon2, base64url", "", PF_LIT_INIT("$argon2id$v=19$m=65536,t=4,p=1"
	    A2SALT "$j0bnTF6tw_mLxcWw6E66-oTx-g7fHpQUHnrwqiGOFpM") },
	{ "Argon2, something behind it", "", PF_LIT_INIT(ARGON2 "$") },
	{ "Magento, Argon2 too dear", "magento", PF_LIT_INIT(ARGON13 ":" SALT
	    ":3_32_2_1073741824") },
	{ "Magento, Argon2 twice", "magento", PF_LIT_INIT(ARGON13 ":" SALT
	    ":2:2") },
	{ "Magento, Argon2 without a salt", "magento", PF_LIT_INIT(ARGON13
	    "::2") },
	{ "Magento, two of three numbers", "magento", PF_LIT_INIT(ARGON13 ":"
	    SALT ":3_32_2") },
	{ "Magento, a version to come", "magento", PF_LIT_INIT(ARGON13 ":"
	    SALT ":4") },
	{ "Magento, five versions", "magento", PF_LIT_INIT(MD5 ":" SALT
	    ":0:0:0:0:0") },
	{ "Magento, a length of another version", "magento", PF_LIT_INIT(MD5
	    ":" SALT ":1") },
	{ "Magento, no hex", "magento", PF_LIT_INIT("x39fc34dfe2df463fc5eb2a24"
	    "7d6db01:" SALT ":0") },
	{ "PrestaShop without its key", "prestashop", PF_LIT_INIT(PRESTA) },
	{ "PrestaShop, an empty key", "prestashop", PF_LIT_INIT(PRESTA ":") },
	{ "OpenCart without its salt", "opencart", PF_LIT_INIT(OPENCART) },
	{ "OpenCart, MD5", "opencart", PF_LIT_INIT(MD5 ":472433673") },
	{ "Drupal's U before nothing", "", PF_LIT_INIT("U$") },
	{ "U before a kind's own", "magento", PF_LIT_INIT("U$" MD5 ":" SALT
	    ":0") },
};

static void
lengths(void)
{
	static char hash[PF_PASSWORD_HASH_MAX + 1];
	static char text[PF_PASSWORD_MAX + 1];
	struct pf_str most = { text, PF_PASSWORD_MAX };

	memset(text, 'a', sizeof(text));
	tap_is(pf_password_check(PF_LIT(""), PF_LIT(CUT), most), PF_OK,
	    "the longest password is cut like any");
	most.n++;
	tap_is(pf_password_check(PF_LIT(""), PF_LIT(CUT), most), PF_E_AUTH,
	    "one byte longer fits nothing");
	memset(hash, 'a', sizeof(hash));
	memcpy(hash, PRESTA ":", sizeof(PRESTA));
	tap_is(pf_password_check(PF_LIT("prestashop"), pf_bytes(hash,
	    sizeof(hash) - 1), PF_LIT("x")), PF_E_AUTH, "the longest hash");
	tap_is(pf_password_check(PF_LIT("prestashop"), pf_bytes(hash,
	    sizeof(hash)), PF_LIT("x")), PF_E_INPUT, "one byte longer");
}

static int64_t
dummy_us(void)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < 3; i++) {
		int64_t from = pf_mono_us(), took;

		pf_password_dummy(PF_LIT(HORSE));
		took = pf_mono_us() - from;
		best = took < best ? took : best;
	}
	return best;
}

/* The others' work is compared with that of bcrypt at cost 12, which is that of
 * the start, and 128 times that of cost 5. */
static void
nobody(void)
{
	int64_t start = dummy_us(), low, argon2;

	tap_ok(start > 20000, "at the start: bcrypt, cost 12 (%lld us)",
	    (long long)start);
	for (int i = 0; i < 3; i++)
		(void)!pf_password_check(PF_LIT(""), PF_LIT(BCRYPT),
		    PF_LIT("x"));
	low = dummy_us();
	tap_ok(low * 20 < start, "then as the shop's: cost 5 (%lld us)",
	    (long long)low);
	for (int i = 0; i < 5; i++)
		(void)!pf_password_check(PF_LIT(""), PF_LIT(SODIUM),
		    PF_LIT("x"));
	argon2 = dummy_us();
	tap_ok(argon2 > 5 * low, "most are Argon2 now (%lld us)",
	    (long long)argon2);
	(void)!pf_password_check(PF_LIT(""), PF_LIT(BCRYPT), PF_LIT("x"));
	tap_ok(dummy_us() > 5 * low, "and one of another kind changes nothing");
}

int
main(void)
{
	if (pf_crypt_init() != PF_OK)
		return 1;
	nobody();
	for (size_t i = 0; i < PF_COUNT(good); i++)
		tap_is(pf_password_check(pf_str(good[i].kind), good[i].hash,
		    good[i].password), PF_OK, "fits: %s %.*s", good[i].kind,
		    PF_STRF(good[i].hash));
	for (size_t i = 0; i < PF_COUNT(wrong); i++)
		tap_is(pf_password_check(pf_str(wrong[i].kind), wrong[i].hash,
		    wrong[i].password), PF_E_AUTH, "does not: %s %.*s (%zu)",
		    wrong[i].kind, PF_STRF(wrong[i].hash), i);
	for (size_t i = 0; i < PF_COUNT(bad); i++)
		tap_is(pf_password_check(pf_str(bad[i].kind), bad[i].hash,
		    PF_LIT(HORSE)), PF_E_INPUT, "no hash of ours: %s",
		    bad[i].why);
	lengths();
	tap_ok(pf_password_kind_fault(PF_LIT("drupal")) == NULL, "a kind");
	tap_ok(pf_password_kind_fault(PF_LIT("")) == NULL, "none");
	tap_ok(pf_password_kind_fault(PF_LIT("plain")) != NULL, "no kind");
	pf_crypt_end();
	return tap_done();
}
