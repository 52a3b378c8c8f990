/*
 * What poppy-agent signs, judged by the code that judges it at a Company; and
 * what it publishes about itself.
 */
#include "config.h"

#include <string.h>

#include "core/jose/dpop.h"
#include "core/jose/jwt.h"
#include "tests/unit/tap.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/keys.h"
#include "tools/poppy-agent/sign.h"

#define NOW	INT64_C(1790900000)
#define URL	"https://api.example/orders?page=2#top"

static struct pf_arena arena;

static void
test_proof(struct pf_str token, struct pf_str nonce, const char *what)
{
	const struct ag_proof_for want = { "GET", PF_LIT(URL), token, nonce,
	    NOW };
	struct pf_dpop_want check = { PF_LIT("GET"),
	    PF_LIT("https://api.example/orders"), token, NOW, 60, 10 };
	struct pf_key *key = NULL;
	struct pf_proof proof;
	struct pf_str jwt;
	const char *why = "";

	tap_need(pf_key_generate(PF_ES256, &key) == PF_OK, "a key");
	tap_is(ag_sign_proof(&arena, key, &want, &jwt), PF_OK, "%s: signed",
	    what);
	tap_is(pf_dpop_check(&arena, jwt, &check, &proof, &why), PF_OK,
	    "%s: a Company takes it (%s)", what, why);
	tap_ok(memcmp(proof.jkt, pf_key_thumbprint(key), PF_SHA256_LEN) == 0,
	    "%s: the key's own thumbprint", what);
	tap_ok(pf_str_eq(proof.nonce, nonce), "%s: nonce", what);
	tap_ok(pf_str_given(proof.nonce) == (nonce.n > 0),
	    "%s: none where there is none", what);
	check.token = PF_LIT("another token");
	tap_is(pf_dpop_check(&arena, jwt, &check, &proof, &why), PF_E_INPUT,
	    "%s: not for another token", what);
	pf_key_free(key);
}

static void
test_assertion(enum pf_alg alg)
{
	const struct pf_str aud = PF_LIT("https://auth.example/token");
	const struct pf_jwt_rules rules = { .now_at = NOW, .skew = 0,
	    .max_life = 300, .jti_min = 22, .jti_max = 64, .aud = &aud,
	    .naud = 1, .aud_single = true };
	struct ag_key key = { .alg = alg, .kid = PF_LIT("k1") };
	const char *why = "", *name = pf_alg_name(alg);
	struct pf_str one, two;
	struct pf_claims claims, other;
	struct pf_jws jws;

	tap_need(pf_key_generate(alg, &key.key) == PF_OK, "a key");
	tap_is(ag_sign_assertion(&arena, &key, PF_LIT("https://a.example/c"),
	    PF_LIT("usr_1"), aud, NOW, &one), PF_OK, "%s: signed", name);
	tap_is(pf_jws_parse(&arena, one, false, &jws, &why), PF_OK,
	    "%s: a JWS (%s)", name, why);
	tap_is(pf_jws_verify(&jws, key.key), PF_OK, "%s: verifies", name);
	tap_is_z(jws.kid, "k1", "%s: kid", name);
	tap_is(pf_jwt_check(&jws, &rules, &claims, &why), PF_OK,
	    "%s: claims (%s)", name, why);
	tap_is_z(claims.sub, "usr_1", "%s: sub", name);
	tap_is(claims.exp - claims.iat, 60, "%s: a minute", name);
	tap_need(ag_sign_assertion(&arena, &key, PF_LIT("https://a.example/c"),
	    PF_LIT("usr_1"), aud, NOW, &two) == PF_OK &&
	    pf_jws_parse(&arena, two, false, &jws, &why) == PF_OK &&
	    pf_jwt_check(&jws, &rules, &other, &why) == PF_OK, "a second one");
	tap_ok(!pf_str_eq(claims.jti, other.jti), "%s: another jti", name);
	pf_key_free(key.key);
}

/* jwks NULL: refused. */
static const struct { const char *id, *jwks, *redirect; } clients[] = {
	{ "https://a.example/agent.json", "https://a.example/jwks.json",
	    "https://a.example/oauth/callback" },
	{ "https://A.example:8443/x/agent", "https://a.example:8443/x/jwks.json",
	    "https://a.example:8443/x/oauth/callback" },
	{ "https://a.example/x/", "https://a.example/x/jwks.json",
	    "https://a.example/x/oauth/callback" },
	{ "https://a.example", NULL, NULL },
	{ "https://a.example/", NULL, NULL },
	{ "https://a.example/jwks.json", NULL, NULL },
	{ "https://a.example/a?b", NULL, NULL },
	{ "https://a.example/a#b", NULL, NULL },
	{ "https://a.example/../a", NULL, NULL },
	{ "https://a.example//a", NULL, NULL },
	{ "https://u:p@a.example/a", NULL, NULL },
	{ "http://a.example/a", NULL, NULL },
	{ "agent.json", NULL, NULL },
	{ "", NULL, NULL },
};

static void
test_clients(void)
{
	struct ag_client c;
	const char *why = "";
	enum pf_rc rc;

	for (size_t i = 0; i < PF_COUNT(clients); i++) {
		rc = ag_client_urls(&arena, pf_str(clients[i].id), &c, &why);
		tap_ok(clients[i].jwks == NULL ? rc == PF_E_INPUT &&
		    why[0] != '\0' : rc == PF_OK &&
		    pf_str_eqz(c.jwks_uri, clients[i].jwks) &&
		    pf_str_eqz(c.redirect_uri, clients[i].redirect),
		    "client_id \"%s\"", clients[i].id);
	}
}

static void
test_jwks(void)
{
	struct ag_key old = { .alg = PF_EDDSA, .kid = PF_LIT("old"),
	    .retired_at = NOW - AG_KEY_SHOWN_SECONDS };
	struct ag_key late = { .next = &old, .alg = PF_PS256,
	    .kid = PF_LIT("late"), .retired_at = NOW - 10 };
	struct ag_key now = { .next = &late, .alg = PF_ES384,
	    .kid = PF_LIT("now") };
	struct pf_keyset set;
	struct pf_str text;
	const char *why = "";

	tap_need(pf_key_generate(PF_EDDSA, &old.key) == PF_OK &&
	    pf_key_generate(PF_PS256, &late.key) == PF_OK &&
	    pf_key_generate(PF_ES384, &now.key) == PF_OK, "keys");
	tap_is(ag_client_jwks(&arena, &now, NOW, &text), PF_OK, "key set");
	/* pf_jwks_parse() refuses private members. */
	tap_is(pf_jwks_parse(text, &set, &why), PF_OK,
	    "a Company takes it (%s)", why);
	tap_is((long long)set.n, 2, "not the key retired a day ago");
	tap_is_z(pf_key_kid(set.key[0]), "now", "the signing one first");
	tap_is_z(pf_key_kid(set.key[1]), "late", "then the retired one");
	pf_keyset_free(&set);
	pf_key_free(old.key);
	pf_key_free(late.key);
	pf_key_free(now.key);
}

int
main(void)
{
	struct pf_str a, b;

	tap_need(pf_arena_init(&arena, 65536, 4 << 20) == PF_OK &&
	    pf_crypt_init() == PF_OK, "memory");
	test_proof(PF_LIT("tok"), PF_NOSTR, "proof for an API");
	test_proof(PF_LIT("tok"), PF_LIT("n-1"), "proof with a nonce");
	for (enum pf_alg alg = PF_ES256; alg <= PF_EDDSA; alg++)
		test_assertion(alg);
	test_clients();
	test_jwks();
	tap_is(ag_random_id(&arena, "usr_", &a), PF_OK, "an id");
	tap_is(ag_random_id(&arena, "usr_", &b), PF_OK, "another");
	tap_ok(a.n == 28 && !pf_str_eq(a, b), "144 bits, drawn");
	pf_arena_free(&arena);
	pf_crypt_thread_end();
	pf_crypt_end();
	return tap_done();
}
