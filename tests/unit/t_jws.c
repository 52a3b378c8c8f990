/* Compact JWS: the examples of RFC 7515 and 8037, vectors made with the openssl
 * command for ES384 and PS256, round trips, and what must be refused. */
#include "core/jose/key.h"
#include "tests/unit/jose.h"

#define CLAIMS_B64							\
	"eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9l"	\
	"eGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
#define A3_JWS								\
	"eyJhbGciOiJFUzI1NiJ9." CLAIMS_B64				\
	".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa"	\
	"8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
#define N_PS256								\
	"ulBgixJwnWYZ9AbD6mv8gf3gkjktyl4IQEMPBnxfUbW8UCYQQnqenSQXAIjE"	\
	"CDwFdRUIg-X_WujBj5k1YQOEBA4RfjNt_RqL9IgPLZbZL4ecz-1ksAbo86Iv"	\
	"PJ5Ho9JVGYLQ0Q6nh4NoUo8KAQH1iKwXiTK9U26TnyTct3v5BGSGkVtiy3IG"	\
	"lGkdwqXq-uTsT9poUx5MlAA3Y01Rx73WGe_nN3FMo4EbJb3ynCSrjEbV1caM"	\
	"4cmn9EZ8O5Z4n4wwnecGdRnygS5H35Z2fFU9aumc6rZXuzN7JRxMkzzyUp1v"	\
	"5AsXNluvJQcgqfHO26XwMb1bielzqmbuxeizeErIPQ"
#define PS256_SIGNED	"eyJhbGciOiJQUzI1NiJ9.eyJpc3MiOiJqb2UifQ."
#define RSA_PS		"{'kty':'RSA','n':'" N_PS256 "','e':'AQAB'}"
#define P384								\
	"{'kty':'EC','crv':'P-384','x':'GetgrWv0apqGrg3TNkCAyysoW49"	\
	"ygaCIHjdBcOLXZ8qDjKkpQDX3wGJkQXkOltuA','y':'Z8V0ODEF7ZuikU"	\
	"Natg8njeh_96oiDShJGeizxeTlHpoAFHZaVVF7AIzd4-fgJnZy'}"

static const struct { const char *name, *jwk, *jws; enum pf_alg alg; }
vectors[] = {
	{ "RFC 7515, A.2 (RS256)",
	    "{'kty':'RSA','n':'" A2_N "','e':'AQAB'}",
	    "eyJhbGciOiJSUzI1NiJ9." CLAIMS_B64
	    ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh"
	    "7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4"
	    "BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0"
	    "GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ"
	    "1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0i"
	    "gcN_IoypGlUPQGe77Rw", PF_RS256 },
	{ "RFC 7515, A.3 (ES256)", "{" A3_PUBLIC "}", A3_JWS, PF_ES256 },
	{ "ES384", P384, "eyJhbGciOiJFUzM4NCJ9.eyJpc3MiOiJqb2UifQ.zeIKyLeuY3k"
	    "VXGlG01WIcZXGE9mHEGxXGlVOLS2o5gJ2Irhz982NQo2Z7Isi5Mdnz1yx-7JVn6yh"
	    "3FJ4MlKFhldL3SfKbQ89Y3jvPA84T5WET9_zxIz_tvD1CwgLEnmE", PF_ES384 },
	{ "PS256", RSA_PS, PS256_SIGNED
	    "TxXv3_-oJQ8nYIKyzja27jMji8e2cV8fLplBYc5mm1lelSIuvkhPXfgsGrFr56w7r"
	    "tcddQ0UfEiZvQUftv4IQ-ys7yU0Axg0QNGQf93mQxTlpN2zjYRwMJwAuugeDyv-cU"
	    "oLXMjRHmzI4No2MOjF2YRGBFC5d_r3PxHdqJc6z0le-mSNLMi7lrjdjqZ4zVSiPun"
	    "6uaz9T4P7pV33lhpaLxDqk5VlLgpFbLrCKjqsrrASvwKrlXNi-3_U-aRXM1Rrf_3l"
	    "VEf5MzBqlh4nXbfJXymdolthyKmIB2e2Aa7ZOcbTHtWXCyiOspWpsWhkiyQOXH3qK"
	    "LIRdhFLHYLvYA6o7g", PF_PS256 },
};

static struct pf_jws
parsed(struct pf_str text)
{
	struct pf_jws jws;
	const char *why;
	bool ok;

	ok = pf_jws_parse(&arena, text, false, &jws, &why) == PF_OK;
	tap_need(ok, ok ? "" : why);
	return jws;
}

/* A byte changed in any third of the signature, or a text cut or grown. */
static void
spoiled(const struct pf_jws *good, const struct pf_key *k, const char *name)
{
	struct pf_jws jws;
	bool ok = true;

	for (size_t i = 0; i < good->nsig; i += good->nsig / 3 - 1) {
		jws = *good;
		jws.sig[i] ^= 0x10;
		ok = ok && pf_jws_verify(&jws, k) == PF_E_AUTH;
	}
	tap_ok(ok, "%s: a changed signature is refused", name);
	jws = *good;
	jws.signed_part.n--;
	tap_is(pf_jws_verify(&jws, k), PF_E_AUTH, "a shorter text too");
	jws = *good;
	jws.nsig--;
	tap_is(pf_jws_verify(&jws, k), PF_E_AUTH, "a shorter signature too");
	jws = *good;
	jws.sig[jws.nsig++] = 0;
	tap_is(pf_jws_verify(&jws, k), PF_E_AUTH, "a longer signature too");
	jws.nsig = 0;
	tap_is(pf_jws_verify(&jws, k), PF_E_AUTH, "no signature too");
}

static void
examples(void)
{
	struct pf_key *k;
	struct pf_jws jws;

	for (size_t i = 0; i < PF_COUNT(vectors); i++) {
		k = public_key(vectors[i].jwk);
		jws = parsed(pf_str(vectors[i].jws));
		tap_is(jws.alg, vectors[i].alg, "%s: alg", vectors[i].name);
		tap_is(pf_jws_verify(&jws, k), PF_OK, "verified");
		spoiled(&jws, k, vectors[i].name);
		for (enum pf_alg a = PF_ALG_NONE; a <= PF_EDDSA; a++) {
			if (a == vectors[i].alg)
				continue;
			jws.alg = a;
			tap_is(pf_jws_verify(&jws, k), PF_E_AUTH,
			    "not as %s", pf_alg_name(a));
		}
		pf_key_free(k);
	}
}

/* RFC 8037, A.4: the payload is no JSON, so the signature alone is checked. */
static void
ed25519(void)
{
	static const char text[] =
	    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
	struct pf_key *k, *own;
	unsigned char sig[PF_RSA_MAX], made[PF_RSA_MAX];
	size_t n;

	k = public_key("{'kty':'OKP','crv':'Ed25519','x':'11qYAYKxCrfVS_7TyWQHO"
	    "g7hcvPapiMlrwIaaPcHURo'}");
	own = private_key("{'kty':'OKP','crv':'Ed25519','d':'nWGxne_9WmC6hEr0ku"
	    "wsxERJxWl7MmkZcDusAxyuf2A','x':'11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrw"
	    "IaaPcHURo'}");
	tap_need(pf_b64url_decode(PF_LIT("hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg"
	    "3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"), sig,
	    sizeof(sig), &n) == PF_OK, "signature of A.4");
	tap_is(pf_sig_verify(k, PF_EDDSA, pf_str(text), sig, n), PF_OK,
	    "RFC 8037, A.5 (Ed25519)");
	tap_is(pf_sig_make(own, PF_EDDSA, pf_str(text), made, &n), PF_OK,
	    "signed as A.4");
	tap_ok(n == 64 && memcmp(made, sig, 64) == 0, "the same signature");
	sig[40] ^= 1;
	tap_is(pf_sig_verify(k, PF_EDDSA, pf_str(text), sig, n), PF_E_AUTH,
	    "a changed one is refused");
	/* S + L is the same number modulo L: a second form of one signature. */
	memset(sig + 32, 0xff, 32);
	tap_is(pf_sig_verify(k, PF_EDDSA, pf_str(text), sig, n), PF_E_AUTH,
	    "S past the group's order is refused");
	pf_key_free(k);
	pf_key_free(own);
}

/* RS256 has no randomness: A.2 is made again, byte for byte. */
static void
rfc7515_a2(void)
{
	struct pf_key *k = private_key("{'kty':'RSA','n':'" A2_N
	    "','e':'AQAB'," A2_PRIVATE "}");

	tap_is_z(signed_by(k, PF_RS256, PF_LIT("{\"alg\":\"RS256\"}"),
	    PF_LIT("{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n "
	    "\"http://example.com/is_root\":true}")), vectors[0].jws,
	    "RFC 7515, A.2 signed again");
	pf_key_free(k);
}

static struct pf_jws
fresh(const struct pf_key *k, enum pf_alg a, int i)
{
	return parsed(signed_by(k, a, join("{\"alg\":\"%s\"}",
	    pf_alg_name(a)), join("{\"jti\":\"%d\"}", i)));
}

static void
round_trips(void)
{
	static const int rounds[] = {
		[PF_ES256] = 1000, [PF_ES384] = 20, [PF_RS256] = 5,
		[PF_PS256] = 5, [PF_EDDSA] = 20
	};
	struct pf_key *k, *other;
	struct pf_jws jws;
	int good, strangers;

	for (enum pf_alg a = PF_ES256; a <= PF_EDDSA; a++) {
		k = new_key(a);
		other = new_key(a);
		good = strangers = 0;
		for (int i = 0; i < rounds[a]; i++) {
			jws = fresh(k, a, i);
			good += pf_jws_verify(&jws, k) == PF_OK;
			strangers += i < 20 &&
			    pf_jws_verify(&jws, other) == PF_OK;
		}
		tap_is(good, rounds[a], "%s: %d round trips", pf_alg_name(a),
		    rounds[a]);
		tap_is(strangers, 0, "none with another key");
		pf_key_free(k);
		pf_key_free(other);
	}
}

/* One in 256 has a leading zero in r, as many in s, whose DER form is shorter;
 * 10,000 without one of each would be a wonder. */
static void
leading_zeros(void)
{
	struct pf_key *k = new_key(PF_ES256);
	int r = 0, s = 0, bad = 0;
	struct pf_jws jws;

	for (int i = 0; i < 10000 && (r == 0 || s == 0); i++) {
		jws = fresh(k, PF_ES256, i);
		if (jws.sig[0] != 0 && jws.sig[32] != 0)
			continue;
		r += jws.sig[0] == 0;
		s += jws.sig[32] == 0;
		bad += pf_jws_verify(&jws, k) != PF_OK;
	}
	tap_ok(r > 0 && s > 0, "leading zeros in r and in s");
	tap_is(bad, 0, "all of them verified");
	pf_key_free(k);
}

static void
put_hex(unsigned char *to, const char *hex)
{
	unsigned v;

	for (; *hex != '\0'; hex += 2) {
		sscanf(hex, "%2x", &v);
		*to++ = (unsigned char)v;
	}
}

#define ORDER	"ffffffff00000000ffffffffffffffff" \
		"bce6faada7179e84f3b9cac2fc632551"
#define ORDER_1	"ffffffff00000000ffffffffffffffff" \
		"bce6faada7179e84f3b9cac2fc632552"
#define ZERO	"00000000000000000000000000000000" \
		"00000000000000000000000000000000"
#define FULL	"ffffffffffffffffffffffffffffffff" \
		"ffffffffffffffffffffffffffffffff"
#define ONE	"00000000000000000000000000000000" \
		"00000000000000000000000000000001"

static void
ecdsa_range(void)
{
	static const struct { const char *why, *r, *s; } bad[] = {
		{ "r = 0", ZERO, NULL },
		{ "s = 0", NULL, ZERO },
		{ "both 0", ZERO, ZERO },
		{ "r = n", ORDER, NULL },
		{ "s = n", NULL, ORDER },
		{ "r = n, s = 0", ORDER, ZERO },
		{ "r = n + 1", ORDER_1, NULL },
		{ "s = n + 1", NULL, ORDER_1 },
		{ "r all ones", FULL, NULL },
		{ "s all ones", NULL, FULL },
		{ "r = s = 1", ONE, ONE },
	};
	struct pf_key *k = public_key("{" A3_PUBLIC "}");
	struct pf_jws jws;

	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		jws = parsed(PF_LIT(A3_JWS));
		if (bad[i].r != NULL)
			put_hex(jws.sig, bad[i].r);
		if (bad[i].s != NULL)
			put_hex(jws.sig + 32, bad[i].s);
		tap_is(pf_jws_verify(&jws, k), PF_E_AUTH, "refused: %s",
		    bad[i].why);
	}
	/* A.3's signature as DER, which is what OpenSSL itself would take. */
	jws = parsed(PF_LIT(A3_JWS));
	memmove(jws.sig + 4, jws.sig, 32);
	put_hex(jws.sig, "30450220");
	put_hex(jws.sig + 36, "022100c50a07d38c3c70e5d8f12daf084a5480a66590c5f2"
	    "93509a8f3f7f8a83a354d5");
	jws.nsig = 71;
	tap_is(pf_jws_verify(&jws, k), PF_E_AUTH, "refused: DER");
	pf_key_free(k);
}

/* The same digest and key, but the salt is of 20 bytes, not 32. */
static void
pss_salt(void)
{
	struct pf_key *k = public_key(RSA_PS);
	struct pf_jws jws;

	jws = parsed(PF_LIT(PS256_SIGNED
	    "JFAEMeiHfpHke2Hd1G-UeK72i5Gz19CaDLqeqspFhxVYMFFvbtH7Sv-UWCYv5KxGT"
	    "5iHHMnrZamCJ4OcPiPKKd8tiNQNyvoYbL_kiiYgSMcT-3BfqYgeGpMnxv2SzqX_a0"
	    "3X7XZMccJr0MADncZPWSaljDL5z6OTbZeWVpoGmKRsjMVolTxzKZ1C_Da7yPwz6oH"
	    "aNOnYCnfZbpIZ8Aon2jUiNvnyywedkL918O34JupHbidq1HZYzEcVa-cTyKxiYgKL"
	    "yXpx8r3CjiKYZADUAGMedn5PpKf63kAoUO4GfWHQbV39WS_Ch0IkUsIhy6L7WsUZe"
	    "wrUxD_CcvTa1R7nLg"));
	tap_is(pf_jws_verify(&jws, k), PF_E_AUTH, "refused: PSS salt of 20");
	pf_key_free(k);
}

int
main(void)
{
	jose_begin();
	examples();
	ed25519();
	rfc7515_a2();
	round_trips();
	leading_zeros();
	ecdsa_range();
	pss_salt();
	return jose_end();
}
