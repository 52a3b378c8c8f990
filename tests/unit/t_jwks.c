/* JWK Sets, the choice of the key, and private keys. */
#include "tests/unit/jose.h"

#define EC7517								\
	"'kty':'EC','crv':'P-256',"					\
	"'x':'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',"		\
	"'y':'4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM'"
#define RSA7515	"'kty':'RSA','n':'" A2_N "','e':'AQAB'"
#define RSA7517	"'kty':'RSA','n':'" N7638 "','e':'AQAB'"
#define ED	"'kty':'OKP','crv':'Ed25519',"				\
		"'x':'11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'"
#define A3	"{" A3_PUBLIC "}"
#define FIVE	A3 "," A3 "," A3 "," A3 "," A3
#define TEN	FIVE "," FIVE

static const struct { const char *name, *set; size_t n; } good[] = {
	{ "RFC 7517, A.1: one is for encryption", "{'keys':[{" EC7517
	    ",'use':'enc','kid':'1'},{" RSA7517
	    ",'alg':'RS256','kid':'2011-04-29'}]}", 1 },
	{ "three kinds", "{'keys':[" A3 ",{" RSA7517 "},{" ED "}]}", 3 },
	{ "keys without kid may be alike", "{'keys':[" A3 "," A3 "]}", 2 },
	{ "twenty", "{'keys':[" TEN "," TEN "]}", 20 },
	{ "unknown kty passed over", "{'keys':[{'kty':'AKP','pub':'AA'}," A3
	    "]}", 1 },
	{ "unknown crv passed over", "{'keys':[{'kty':'EC','crv':'P-521',"
	    "'x':'AA','y':'AA'}," A3 "]}", 1 },
	{ "point off the curve passed over", "{'keys':[{'kty':'EC',"
	    "'crv':'P-256','x':'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',"
	    "'y':'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0'}," A3 "]}", 1 },
	{ "weak RSA passed over", "{'keys':[{'kty':'RSA','n':'uw','e':'AQAB'},"
	    A3 "]}", 1 },
	{ "alg of another use passed over", "{'keys':[{" EC7517
	    ",'alg':'ECDH-ES'}," A3 "]}", 1 },
	{ "other members are free", "{'keys':[" A3 "],'x':{'d':1}}", 1 },
}, bad[] = {
	{ "no JSON", "keys", 0 },
	{ "empty", "", 0 },
	{ "an array", "[" A3 "]", 0 },
	{ "a bare key", A3, 0 },
	{ "keys missing", "{}", 0 },
	{ "keys null", "{'keys':null}", 0 },
	{ "keys an object", "{'keys':" A3 "}", 0 },
	{ "keys twice", "{'keys':[" A3 "],'keys':[" A3 "]}", 0 },
	{ "no key", "{'keys':[]}", 0 },
	{ "none usable", "{'keys':[{" EC7517 ",'use':'enc'}]}", 0 },
	{ "a string among them", "{'keys':[" A3 ",'key']}", 0 },
	{ "null among them", "{'keys':[" A3 ",null]}", 0 },
	{ "twenty-one", "{'keys':[" TEN "," TEN "," A3 "]}", 0 },
	{ "twenty and an unknown one", "{'keys':[" TEN "," TEN
	    ",{'kty':'AKP'}]}", 0 },
	{ "equal kids", "{'keys':[{" A3_PUBLIC ",'kid':'a'},{" ED
	    ",'kid':'a'}]}", 0 },
	{ "equal kids, escaped", "{'keys':[{" A3_PUBLIC ",'kid':'a'},{" ED
	    ",'kid':'\\u0061'}]}", 0 },
	{ "equal kids, one passed over", "{'keys':[{'kty':'AKP','kid':'a'},{"
	    ED ",'kid':'a'}]}", 0 },
	{ "equal empty kids", "{'keys':[{" A3_PUBLIC ",'kid':''},{" ED
	    ",'kid':''}]}", 0 },
	{ "kid a number", "{'keys':[{" A3_PUBLIC ",'kid':1}]}", 0 },
	{ "RFC 7517, A.2: a private key", "{'keys':[{" A3_PUBLIC "," A3_D
	    "}]}", 0 },
	{ "a private key behind a public one", "{'keys':[{" ED "},{" A3_PUBLIC
	    "," A3_D "}]}", 0 },
	{ "RFC 7517, A.3: a symmetric key", "{'keys':[" A3 ",{'kty':'oct',"
	    "'alg':'A128KW','k':'GawgguFyGrWKav7AX4VKUg'}]}", 0 },
	{ "a private member in an unknown kty", "{'keys':[" A3 ",{'kty':'AKP',"
	    "'d':'AA'}]}", 0 },
	{ "a private member in a key for encryption", "{'keys':[" A3 ",{"
	    EC7517 ",'use':'enc','d':'AA'}]}", 0 },
};

static void
sets(void)
{
	struct pf_keyset set;
	const char *why;
	static char big[65600];

	for (size_t i = 0; i < PF_COUNT(good); i++) {
		tap_is(pf_jwks_parse(q(good[i].set), &set, &why), PF_OK,
		    "set: %s", good[i].name);
		tap_is((long long)set.n, (long long)good[i].n, "keys in it");
		pf_keyset_free(&set);
		tap_is((long long)set.n, 0, "empty when freed");
	}
	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		tap_is(pf_jwks_parse(q(bad[i].set), &set, &why), PF_E_INPUT,
		    "set refused: %s", bad[i].name);
		tap_ok(set.n == 0 && why[0] != '\0', "because: %s", why);
	}
	memset(big, ' ', sizeof(big));
	memcpy(big, "{\"keys\":[]}", 11);
	tap_is(pf_jwks_parse(pf_bytes(big, sizeof(big)), &set, &why),
	    PF_E_INPUT, "set refused: over 64 KiB");
}

/* The verdict over a set of a (ES256), b (ES256), r (PS256) and one without
 * kid (ES256), for a JWS of one key under a kid. */
enum who { A, B, R, BARE, STRANGER };
static const struct {
	const char *name;
	enum who who;
	enum pf_alg alg;
	const char *kid;
	enum pf_rc rc;
} choices[] = {
	{ "its own kid", A, PF_ES256, "a", PF_OK },
	{ "the other's kid", A, PF_ES256, "b", PF_E_AUTH },
	{ "no kid: all that fit are tried", B, PF_ES256, NULL, PF_OK },
	{ "no kid, the last one's", BARE, PF_ES256, NULL, PF_OK },
	{ "a kid that none has", A, PF_ES256, "z", PF_E_ABSENT },
	{ "a kid is compared with case", A, PF_ES256, "A", PF_E_ABSENT },
	{ "an empty kid is a kid", BARE, PF_ES256, "", PF_E_ABSENT },
	{ "a kid, and a key without", BARE, PF_ES256, "a", PF_E_AUTH },
	{ "a stranger without kid", STRANGER, PF_ES256, NULL, PF_E_AUTH },
	{ "a stranger under a known kid", STRANGER, PF_ES256, "a", PF_E_AUTH },
	{ "PS256", R, PF_PS256, "r", PF_OK },
	{ "PS256 without kid", R, PF_PS256, NULL, PF_OK },
	{ "kid of a key of another alg", A, PF_ES256, "r", PF_E_AUTH },
};

static struct pf_keyset
make_set(struct pf_key *keys[])
{
	struct pf_keyset set;
	const char *why;
	struct pf_buf b;
	enum pf_rc rc;

	pf_buf_init(&b, &arena, 65536);
	pf_buf_addz(&b, "{\"keys\":[");
	pf_key_write(&b, keys[A], PF_LIT("a"), false);
	pf_buf_char(&b, ',');
	pf_key_write(&b, keys[B], PF_LIT("b"), false);
	pf_buf_char(&b, ',');
	pf_key_write(&b, keys[R], PF_LIT("r"), false);
	pf_buf_char(&b, ',');
	pf_key_write(&b, keys[BARE], PF_NOSTR, false);
	pf_buf_addz(&b, "]}");
	rc = pf_jwks_parse(pf_buf_str(&b), &set, &why);
	tap_need(rc == PF_OK && set.n == 4, "a set of written keys");
	return set;
}

static void
choice(void)
{
	struct pf_key *keys[] = {
		[A] = new_key(PF_ES256), [B] = new_key(PF_ES256),
		[R] = new_key(PF_PS256), [BARE] = new_key(PF_ES256),
		[STRANGER] = new_key(PF_ES256)
	};
	struct pf_keyset set = make_set(keys);
	struct pf_str header;
	struct pf_jws jws;
	const char *why;

	for (size_t i = 0; i < PF_COUNT(choices); i++) {
		header = join(choices[i].kid == NULL ? "{\"alg\":\"%s\"}" :
		    "{\"alg\":\"%s\",\"kid\":\"%s\"}",
		    pf_alg_name(choices[i].alg), choices[i].kid);
		tap_need(pf_jws_parse(&arena, signed_by(keys[choices[i].who],
		    choices[i].alg, header, PF_LIT("{}")), false, &jws,
		    &why) == PF_OK, "a JWS");
		tap_is(pf_jws_verify_set(&jws, &set), choices[i].rc, "%s",
		    choices[i].name);
	}
	jws.alg = PF_ES384;
	jws.kid = PF_NOSTR;
	tap_is(pf_jws_verify_set(&jws, &set), PF_E_ABSENT,
	    "no kid and no key that fits");
	set.n = 2;
	pf_key_free(set.key[2]);
	pf_key_free(set.key[3]);
	jws.alg = PF_PS256;
	tap_is(pf_jws_verify_set(&jws, &set), PF_E_ABSENT, "RSA key is gone");
	pf_keyset_free(&set);
	for (size_t i = 0; i < PF_COUNT(keys); i++)
		pf_key_free(keys[i]);
}

/* Written and read again, with and without what is private. */
static void
written(void)
{
	struct pf_key *k, *again, *pub;
	struct pf_str text, name = PF_LIT("the \"kid\"");
	struct pf_jws jws;
	struct pf_buf b;
	const char *why;

	for (enum pf_alg a = PF_ES256; a <= PF_EDDSA; a++) {
		k = new_key(a);
		pf_buf_init(&b, &arena, 8192);
		pf_key_write(&b, k, name, true);
		tap_is(pf_buf_done(&b, &text), PF_OK, "%s written",
		    pf_alg_name(a));
		again = private_key(pf_arena_z(&arena, text));
		tap_ok(memcmp(pf_key_thumbprint(k), pf_key_thumbprint(again),
		    32) == 0, "same thumbprint");
		tap_is_str(pf_key_kid(again), name, "its kid");
		pf_buf_init(&b, &arena, 8192);
		pf_key_write(&b, again, PF_NOSTR, false);
		tap_is(pf_buf_done(&b, &text), PF_OK, "public part written");
		pub = public_key(pf_arena_z(&arena, text));
		tap_ok(!pf_str_given(pf_key_kid(pub)), "without kid");
		tap_need(pf_jws_parse(&arena, signed_by(again, a, join(
		    "{\"alg\":\"%s\"}", pf_alg_name(a)), PF_LIT("{}")), false,
		    &jws, &why) == PF_OK, "a JWS");
		tap_is(pf_jws_verify(&jws, pub), PF_OK, "it verifies");
		pf_buf_init(&b, &arena, 8192);
		pf_key_write(&b, pub, PF_NOSTR, true);
		tap_ok(pf_buf_done(&b, &text) != PF_OK,
		    "a public key has nothing private to write");
		tap_is(pf_jws_sign(&arena, pub, a == PF_ES256 ? PF_EDDSA :
		    PF_ES256, PF_LIT("{}"), PF_LIT("{}"), &text), PF_E_AUTH,
		    "no signature with an alg that does not fit");
		tap_is(pf_jws_sign(&arena, pub, a, PF_LIT("{}"), PF_LIT("{}"),
		    &text), PF_E_BUG, "no signature with a public key");
		pf_key_free(k);
		pf_key_free(again);
		pf_key_free(pub);
	}
	tap_is(pf_key_generate(PF_ALG_NONE, &k), PF_E_BUG, "no key for none");
}

static const struct { const char *name, *jwk; } bad_private[] = {
	{ "no d", "{" A3_PUBLIC "}" },
	{ "d of another key", "{" A3_PUBLIC
	    ",'d':'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LA'}" },
	{ "d empty", "{" A3_PUBLIC ",'d':''}" },
	{ "d zero", "{" A3_PUBLIC ",'d':'AA'}" },
	{ "d with padding", "{" A3_PUBLIC
	    ",'d':'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI='}" },
	{ "d a number", "{" A3_PUBLIC ",'d':1}" },
	{ "Ed25519 without d", "{" ED "}" },
	{ "Ed25519 with another d", "{" ED
	    ",'d':'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2E'}" },
	{ "Ed25519 with a short d", "{" ED ",'d':'nWGxnQ'}" },
	{ "RSA without d", "{" RSA7515 "}" },
	{ "RSA with d alone", "{" RSA7515 ",'d':'AQ'}" },
	{ "RSA with factors that are none", "{" RSA7515 ",'d':'AQ','p':'Aw',"
	    "'q':'BQ','dp':'AQ','dq':'AQ','qi':'AQ'}" },
	{ "RSA of three primes", "{" RSA7515 "," A2_PRIVATE ",'oth':[]}" },
	{ "RSA for another modulus", "{'kty':'RSA','e':'AQAB','n':'" N7638
	    "'," A2_PRIVATE "}" },
	{ "key_ops verify alone", "{" A3_PUBLIC "," A3_D
	    ",'key_ops':['verify']}" },
	{ "no object", "[]" },
};

static void
private_keys(void)
{
	struct pf_key *k;
	const char *why;

	k = private_key("{" A3_PUBLIC "," A3_D ",'key_ops':['sign']}");
	pf_key_free(k);
	k = private_key("{" RSA7515 "," A2_PRIVATE ",'alg':'RS256'}");
	pf_key_free(k);
	for (size_t i = 0; i < PF_COUNT(bad_private); i++) {
		tap_is(pf_jwk_parse_private(json(bad_private[i].jwk), &k,
		    &why), PF_E_INPUT, "private key refused: %s",
		    bad_private[i].name);
		tap_ok(k == NULL && why[0] != '\0', "because: %s", why);
	}
}

int
main(void)
{
	jose_begin();
	sets();
	choice();
	written();
	private_keys();
	return jose_end();
}
