/* Bearer secrets and Session ids: more bad texts than good. */
#include "core/store/token.h"
#include "tests/unit/tap.h"

#define A42	"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define A21	"AAAAAAAAAAAAAAAAAAAAA"

static const struct { const char *why; struct pf_str text; } bad_tokens[] = {
	{ "not given",		{ NULL, 0 } },
	{ "empty",		PF_LIT_INIT("") },
	{ "prefix alone",	PF_LIT_INIT("pst_") },
	{ "one short",		PF_LIT_INIT("pst_AA" A42) },
	{ "one long",		PF_LIT_INIT("pst_AA" A42 "AA") },
	{ "another prefix",	PF_LIT_INIT("pat_AA" A42 "A") },
	{ "prefix in capitals",	PF_LIT_INIT("PST_AA" A42 "A") },
	{ "no prefix",		PF_LIT_INIT("AAAAAA" A42 "A") },
	{ "foreign alphabet",	PF_LIT_INIT("pst_AA+" A42) },
	{ "slash",		PF_LIT_INIT("pst_AA/" A42) },
	{ "padding",		PF_LIT_INIT("pst_AA" A42 "=") },
	{ "bucket +",		PF_LIT_INIT("pst_+A" A42 "A") },
	{ "bucket =",		PF_LIT_INIT("pst_A=" A42 "A") },
	{ "bucket NUL",		PF_LIT_INIT("pst_A\0" A42 "A") },
	{ "stray low bits",	PF_LIT_INIT("pst_AA" A42 "B") },
	{ "embedded NUL",	PF_LIT_INIT("pst_AA\0" A42) },
	{ "leading space",	PF_LIT_INIT(" pst_AA" A42) },
	{ "line feed behind",	PF_LIT_INIT("pst_AA" A42 "\n") },
	{ "high byte",		PF_LIT_INIT("pst_AA\xff" A42) },
}, bad_sids[] = {
	{ "not given",		{ NULL, 0 } },
	{ "empty",		PF_LIT_INIT("") },
	{ "one short",		PF_LIT_INIT("ses_AA" A21) },
	{ "one long",		PF_LIT_INIT("ses_AA" A21 "AA") },
	{ "a token",		PF_LIT_INIT("pst_AA" A42 "A") },
	{ "another prefix",	PF_LIT_INIT("sos_AA" A21 "A") },
	{ "stray low bits",	PF_LIT_INIT("ses_AA" A21 "B") },
	{ "foreign alphabet",	PF_LIT_INIT("ses_AA." A21) },
	{ "bucket .",		PF_LIT_INIT("ses_.A" A21 "A") },
	{ "embedded NUL",	PF_LIT_INIT("ses_AA\0" A21) },
};

static void
tokens(void)
{
	static const unsigned buckets[] = { 0, 1, 63, 64, 4095 };
	struct pf_token a, b;
	unsigned bucket;

	for (size_t i = 0; i < PF_COUNT(buckets); i++) {
		tap_is(pf_token_new("pst_", buckets[i], &a), PF_OK, "new");
		bucket = 9999;
		tap_is(pf_token_parse("pst_", pf_bytes(a.text,
		    sizeof(a.text)), &bucket), PF_OK, "parsed");
		tap_is(bucket, buckets[i], "bucket %u", buckets[i]);
	}
	tap_is(pf_token_parse("pst_", pf_bytes(a.text, sizeof(a.text)), NULL),
	    PF_OK, "bucket not asked for");
	tap_is(pf_token_new("pst_", 4095, &b), PF_OK, "another");
	tap_ok(memcmp(a.text, b.text, 6) == 0, "same prefix and bucket");
	tap_ok(memcmp(a.text + 6, b.text + 6, 43) != 0, "another secret");
	tap_is(pf_token_parse("pst_", PF_LIT("pst_-_" A42 "A"), &bucket),
	    PF_OK, "all of the alphabet");
	tap_is(bucket, 62 * 64 + 63, "its bucket");
	bucket = 7;
	for (size_t i = 0; i < PF_COUNT(bad_tokens); i++)
		tap_is(pf_token_parse("pst_", bad_tokens[i].text, &bucket),
		    PF_E_INPUT, "token refused: %s", bad_tokens[i].why);
	tap_is(bucket, 7, "the bucket is left alone");
	tap_is(pf_token_new("pst_", PF_BUCKETS, &a), PF_E_BUG,
	    "refused: bucket 4096");
	tap_is(pf_token_new("pst", 0, &a), PF_E_BUG, "refused: short prefix");
	tap_is(pf_token_of("pat_", 64, (const unsigned char *)
	    "0123456789abcdef0123456789abcdef", &a), PF_OK, "of given bytes");
	tap_is_z(pf_bytes(a.text, sizeof(a.text)), "pat_BAMDEyMzQ1Njc4OWFiY2"
	    "RlZjAxMjM0NTY3ODlhYmNkZWY", "written as any other");
	tap_is(pf_token_of("pat_", PF_BUCKETS, (const unsigned char *)
	    "0123456789abcdef0123456789abcdef", &a), PF_E_BUG,
	    "refused: bucket 4096 of given bytes");
	pf_token_wipe(&b);
	tap_ok(b.text[0] == 0 && memcmp(b.text, b.text + 1,
	    sizeof(b.text) - 1) == 0, "wiped");
}

static void
hashes(void)
{
	struct pf_tokenhash a, b;

	tap_is(pf_token_hash(PF_LIT("abc"), &a), PF_OK, "hash");
	tap_ok(a.b[0] == 0xba && a.b[31] == 0xad, "is SHA-256");
	tap_is(pf_token_hash(PF_LIT("abd"), &b), PF_OK, "of another text");
	tap_ok(memcmp(&a, &b, sizeof(a)) != 0, "is another");
}

static void
sids(void)
{
	struct pf_sid a, b;
	char text[PF_SID_TEXT];

	tap_is(pf_sid_new(4094, &a), PF_OK, "new Session id");
	pf_sid_text(&a, text);
	tap_ok(memcmp(text, "ses__-", 6) == 0, "looks like one");
	tap_is(pf_sid_parse(pf_bytes(text, sizeof(text)), &b), PF_OK,
	    "is parsed");
	tap_ok(memcmp(a.raw, b.raw, sizeof(a.raw)) == 0, "same key");
	tap_is(b.bucket, 4094, "same bucket");
	for (size_t i = 0; i < PF_COUNT(bad_sids); i++)
		tap_is(pf_sid_parse(bad_sids[i].text, &b), PF_E_INPUT,
		    "Session id refused: %s", bad_sids[i].why);
	tap_is(pf_sid_new(PF_BUCKETS, &a), PF_E_BUG, "refused: bucket 4096");
}

int
main(void)
{
	tap_need(pf_crypt_init() == PF_OK, "pf_crypt_init");
	tokens();
	hashes();
	sids();
	pf_crypt_end();
	return tap_done();
}
