/* DPoP nonces: which slots count, and all that must not. */
#include "core/poppy/nonce.h"
#include "tests/unit/tap.h"

#define AT	(1790000000LL / PF_NONCE_SLOT * PF_NONCE_SLOT)

static const struct { const char *why; int64_t made, used; enum pf_rc rc; }
times[] = {
	{ "in its first second", AT, AT, PF_OK },
	{ "in its last second", AT, AT + PF_NONCE_SLOT - 1, PF_OK },
	{ "in the slot after", AT, AT + PF_NONCE_SLOT, PF_OK },
	{ "at the end of the slot after", AT, AT + 2 * PF_NONCE_SLOT - 1,
	    PF_OK },
	{ "made late, used in the slot after", AT + PF_NONCE_SLOT - 1,
	    AT + PF_NONCE_SLOT, PF_OK },
	{ "two slots later", AT, AT + 2 * PF_NONCE_SLOT, PF_E_AUTH },
	{ "an hour later", AT, AT + 3600, PF_E_AUTH },
	{ "by a host whose clock is ahead", AT, AT - PF_NONCE_AHEAD, PF_OK },
	{ "by one that is too far ahead", AT, AT - PF_NONCE_AHEAD - 1,
	    PF_E_AUTH },
	{ "a day before", AT, AT - 86400, PF_E_AUTH },
};

static const struct { const char *why; struct pf_str text; } forged[] = {
	{ "none", { NULL, 0 } },
	{ "empty", PF_LIT_INIT("") },
	{ "a guess", PF_LIT_INIT("AAAAAAAAAAAAAAAAAAAAAA") },
	{ "one short", PF_LIT_INIT("AAAAAAAAAAAAAAAAAAAAA") },
	{ "one long", PF_LIT_INIT("AAAAAAAAAAAAAAAAAAAAAAA") },
	{ "the time", PF_LIT_INIT("1790000000") },
	{ "NUL bytes", PF_LIT_INIT("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0") },
};

static enum pf_rc
used_at(const struct pf_keys *k, const char *nonce, size_t n, int64_t now_at)
{
	return pf_nonce_check(k, now_at, pf_bytes(nonce, n));
}

int
main(void)
{
	struct pf_keys k = { .nonce = "one key of a company, 32 bytes." }, other;
	char n[PF_NONCE_TEXT], m[PF_NONCE_TEXT];

	tap_need(pf_crypt_init() == PF_OK, "OpenSSL");
	for (size_t i = 0; i < PF_COUNT(times); i++) {
		tap_need(pf_nonce_at(&k, times[i].made, n) == PF_OK, "made");
		tap_is(used_at(&k, n, sizeof(n), times[i].used), times[i].rc,
		    "%s", times[i].why);
	}
	for (size_t i = 0; i < PF_COUNT(forged); i++)
		tap_is(pf_nonce_check(&k, AT, forged[i].text), PF_E_AUTH,
		    "refused: %s", forged[i].why);
	tap_need(pf_nonce_at(&k, AT, n) == PF_OK, "made");
	for (size_t i = 0; i < sizeof(n); i++) {
		n[i] ^= 1;
		tap_is(used_at(&k, n, sizeof(n), AT), PF_E_AUTH,
		    "refused: character %zu changed", i);
		n[i] ^= 1;
	}
	tap_is(used_at(&k, n, sizeof(n), AT), PF_OK, "as it was made");
	tap_is(used_at(&k, n, sizeof(n) - 1, AT), PF_E_AUTH, "cut");
	other = k;
	other.nonce[0] ^= 1;
	tap_is(used_at(&other, n, sizeof(n), AT), PF_E_AUTH,
	    "by another company's key");
	tap_need(pf_nonce_at(&k, AT + PF_NONCE_SLOT, m) == PF_OK, "the next");
	tap_ok(!pf_equal_ct(n, m, sizeof(n)), "slots differ");
	for (size_t i = 0; i < sizeof(n); i++)
		tap_ok(pf_is_b64url(n[i]), "plain in a header: %zu", i);
	pf_crypt_end();
	return tap_done();
}
