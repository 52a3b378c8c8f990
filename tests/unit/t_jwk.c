/* JSON Web Keys: the examples of RFC 7517, 7638 and 8037, and every way to be
 * refused that jwk.h names. */
#include "tests/unit/jose.h"

#define X	"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define Y	"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
#define X384	"GetgrWv0apqGrg3TNkCAyysoW49ygaCI" \
		"HjdBcOLXZ8qDjKkpQDX3wGJkQXkOltuA"
#define Y384	"Z8V0ODEF7ZuikUNatg8njeh_96oiDShJ" \
		"GeizxeTlHpoAFHZaVVF7AIzd4-fgJnZy"
#define ED	"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"

static const struct {
	const char *name, *jwk, *thumbprint;
	enum pf_alg fits, fits_not;
	const char *kid;
} good[] = {
	{ "RFC 7638, 3.1", "{'kty':'RSA','n':'" N7638 "','e':'AQAB',"
	    "'alg':'RS256','kid':'2011-04-29'}",
	    "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
	    PF_RS256, PF_PS256, "2011-04-29" },
	{ "RFC 8037, A.2", "{'kty':'OKP','crv':'Ed25519','x':'" ED "'}",
	    "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
	    PF_EDDSA, PF_ES256, NULL },
	{ "RFC 7517, 3", "{'kty':'EC','crv':'P-256','x':'" X "','y':'" Y "',"
	    "'kid':'Public key used in JWS spec Appendix A.3 example'}",
	    "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U",
	    PF_ES256, PF_ES384,
	    "Public key used in JWS spec Appendix A.3 example" },
	{ "P-384", "{'kty':'EC','crv':'P-384','x':'" X384 "','y':'" Y384 "',"
	    "'kid':''}", "C582U86HBRFF_w528XS-tu3O-VWlZhbPkpzHDQM4G0I",
	    PF_ES384, PF_ES256, "" },
	{ "use, key_ops, alg", "{'kty':'EC','crv':'P-256','x':'" X "','y':'" Y
	    "','use':'sig','key_ops':['verify'],'alg':'ES256','x5t':'?'}",
	    "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U",
	    PF_ES256, PF_RS256, NULL },
	{ "RSA for PS256", "{'kty':'RSA','n':'" A2_N "','e':'AQAB',"
	    "'alg':'PS256'}", NULL, PF_PS256, PF_RS256, NULL },
	{ "RSA with e = 3", "{'kty':'RSA','n':'" A2_N "','e':'Aw'}", NULL,
	    PF_RS256, PF_EDDSA, NULL },
	{ "RSA with e = 2^32 - 1", "{'kty':'RSA','n':'" A2_N "','e':'_____w'}",
	    NULL, PF_PS256, PF_ES384, NULL },
};

#define EC(x, y)	"{'kty':'EC','crv':'P-256','x':'" x "','y':'" y "'}"
#define RSA(n, e)	"{'kty':'RSA','n':'" n "','e':'" e "'}"
#define OKP(x)		"{'kty':'OKP','crv':'Ed25519','x':'" x "'}"
#define A40		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define F39		"_______________________________________"
/* 2047 and 4104 bits, all of them set. */
#define F117	F39 F39 F39
#define N4104	"_____________________" F117 F117 F117 F117 F117 F39 F39
#define N2047	"f" F39 F39 F39 F39 F39 F39 F39 F39	\
	"____________________________w"
/* A2_N with a byte of zero before it. */
#define N_ZERO							\
	"AKH4Fgri48m0Zc6NLWViYzYrkn2-KeHwJHf8FiXMkKE244vZNJfFtupj" \
	"3XcR5nx0KflWsPuKjwia3EtpiTzBMz9T7dAZuHeEJS_skU_khXdpWUvq" \
	"QoDTLA9Vv2KUTxMDlrxum99uvdK9o2eO7KDGaPcBs42_-zjINCzi_m0n" \
	"-t5KWkh0l53Uuc-a3sTHWwWFLCwPXvilwXUDkvlE6O1kwRDGtkdgmqR4" \
	"OuucbJrXVTEwUGOLg2Zcb296gqOWcCofZBuC0-vyOSIZSR-2hocsVxb1" \
	"Cvg1jZqLnRfDQHKPf4fYmhjY_KtnrYRZDC7PdZM5NjwHA01vYG-eIeBU" \
	"Vsrl6aE"

static const struct { const char *name, *jwk, *why; } bad[] = {
	{ "no object", "['kty']", "object" },
	{ "no kty", "{'crv':'P-256','x':'" X "','y':'" Y "'}", "kty missing" },
	{ "kty in lower case", "{'kty':'ec','crv':'P-256','x':'" X "','y':'" Y
	    "'}", "not supported" },
	{ "kty a number", "{'kty':1}", "kty" },
	{ "symmetric", "{'kty':'oct','k':'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ'}",
	    "private" },
	{ "oct without k", "{'kty':'oct'}", "not supported" },
	{ "P-521", "{'kty':'EC','crv':'P-521','x':'" X "','y':'" Y "'}",
	    "not supported" },
	{ "secp256k1", "{'kty':'EC','crv':'secp256k1','x':'" X "','y':'" Y
	    "'}", "not supported" },
	{ "no crv", "{'kty':'EC','x':'" X "','y':'" Y "'}", "not supported" },
	{ "crv an array", "{'kty':'EC','crv':['P-256'],'x':'" X "','y':'" Y
	    "'}", "crv" },
	{ "X25519", "{'kty':'OKP','crv':'X25519','x':'" ED "'}",
	    "not supported" },
	{ "Ed448", "{'kty':'OKP','crv':'Ed448','x':'" ED "'}",
	    "not supported" },
	{ "RSA's kty over EC's members", "{'kty':'RSA','crv':'P-256','x':'" X
	    "','y':'" Y "'}", "modulus" },
	/* private members */
	{ "private d", "{" A3_PUBLIC "," A3_D "}", "private" },
	{ "d is null", "{" A3_PUBLIC ",'d':null}", "private" },
	{ "private p", "{" A3_PUBLIC ",'p':'AQ'}", "private" },
	{ "private q", "{" A3_PUBLIC ",'q':'AQ'}", "private" },
	{ "private dp", "{" A3_PUBLIC ",'dp':'AQ'}", "private" },
	{ "private dq", "{" A3_PUBLIC ",'dq':'AQ'}", "private" },
	{ "private qi", "{" A3_PUBLIC ",'qi':'AQ'}", "private" },
	{ "private oth", "{" A3_PUBLIC ",'oth':[]}", "private" },
	{ "symmetric k", "{" A3_PUBLIC ",'k':'AQ'}", "private" },
	/* points */
	{ "no y", "{'kty':'EC','crv':'P-256','x':'" X "'}", "y is" },
	{ "x and y changed over", EC(Y, X), "curve" },
	{ "point off the curve", EC(X, "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIW"
	    "I5a4"), "curve" },
	{ "the point 0, 0", EC(A40 "AAA", A40 "AAA"), "curve" },
	{ "x past the field", EC(F39 "___8", Y), "curve" },
	{ "x of 31 bytes", EC(A40 "AA", Y), "x is" },
	{ "y of 31 bytes", EC(X, "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHw"),
	    "y is" },
	{ "x of 33 bytes", EC("AP" X, Y), "x is" },
	{ "x of 48 bytes for P-256", EC(X384, Y384), "x is" },
	{ "x of 32 bytes for P-384", "{'kty':'EC','crv':'P-384','x':'" X
	    "','y':'" Y "'}", "x is" },
	{ "P-384 off its curve", "{'kty':'EC','crv':'P-384','x':'" Y384
	    "','y':'" X384 "'}", "curve" },
	{ "stray low bits in x", EC("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRV"
	    "EV", Y), "x is" },
	{ "padding in x", EC(X "=", Y), "x is" },
	{ "+ in y", EC(X, "x+FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"),
	    "y is" },
	{ "/ in y", EC(X, "x/FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"),
	    "y is" },
	{ "space in y", EC(X, "x FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"),
	    "y is" },
	{ "x a number", "{'kty':'EC','crv':'P-256','x':5,'y':'" Y "'}",
	    "x is" },
	{ "x empty", EC("", Y), "x is" },
	/* RSA */
	{ "no n", "{'kty':'RSA','e':'AQAB'}", "modulus" },
	{ "n even", RSA(A2_N "oA", "AQAB"), "modulus" },
	{ "n of 512 bits", RSA("v" F39 F39 "______w", "AQAB"), "2048" },
	{ "n of 2047 bits", RSA(N2047, "AQAB"), "2048" },
	{ "leading zero in n", RSA(N_ZERO, "AQAB"), "modulus" },
	{ "n with padding", RSA(A2_N "==", "AQAB"), "modulus" },
	{ "no e", "{'kty':'RSA','n':'" A2_N "'}", "e is" },
	{ "e = 0", RSA(A2_N, "AA"), "e is" },
	{ "n empty", RSA("", "AQAB"), "modulus" },
	{ "n of 4104 bits", RSA(N4104, "AQAB"), "modulus" },
	{ "e = 1", RSA(A2_N, "AQ"), "e is" },
	{ "e = 2", RSA(A2_N, "Ag"), "e is" },
	{ "e = 65536", RSA(A2_N, "AQAA"), "e is" },
	{ "leading zero in e", RSA(A2_N, "AAEAAQ"), "e is" },
	{ "e of five bytes", RSA(A2_N, "AQAAAAE"), "e is" },
	{ "e with stray bits", RSA(A2_N, "Ax"), "e is" },
	/* Ed25519 */
	{ "no x", "{'kty':'OKP','crv':'Ed25519'}", "x is" },
	{ "31 bytes", OKP("AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHw"),
	    "32 bytes" },
	{ "33 bytes", OKP("AP" ED), "x is" },
	{ "small order: y = 0", OKP(A40 "AAA"), "small order" },
	{ "small order: y = 1", OKP("AQ" A40 "A"), "small order" },
	{ "small order: 8", OKP("JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_AU"),
	    "small order" },
	{ "the same with x's sign",
	    OKP("JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_IU"),
	    "small order" },
	{ "small order: the other 8",
	    OKP("xxdqcD1N2E-6PAt2DRBnDyogU_osOczGTsf9d5KsA3o"),
	    "small order" },
	{ "small order: y = -1", OKP("7P" F39 "38"), "small order" },
	{ "y = p", OKP("7f" F39 "38"), "not reduced" },
	{ "y = p + 1, with sign", OKP("7v" F39 "_8"), "not reduced" },
	/* meta */
	{ "use enc", "{" A3_PUBLIC ",'use':'enc'}", "use" },
	{ "use a list", "{" A3_PUBLIC ",'use':['sig']}", "use" },
	{ "use null", "{" A3_PUBLIC ",'use':null}", "use" },
	{ "key_ops sign alone", "{" A3_PUBLIC ",'key_ops':['sign']}",
	    "key_ops" },
	{ "key_ops empty", "{" A3_PUBLIC ",'key_ops':[]}", "key_ops" },
	{ "key_ops a string", "{" A3_PUBLIC ",'key_ops':'verify'}",
	    "key_ops" },
	{ "alg of another curve", "{" A3_PUBLIC ",'alg':'ES384'}", "alg" },
	{ "alg HS256", "{" A3_PUBLIC ",'alg':'HS256'}", "alg" },
	{ "alg none", "{" A3_PUBLIC ",'alg':'none'}", "alg" },
	{ "alg null", "{" A3_PUBLIC ",'alg':null}", "alg" },
	{ "alg ECDH-ES", "{" A3_PUBLIC ",'alg':'ECDH-ES'}", "alg" },
	{ "alg RS384", "{'kty':'RSA','n':'" A2_N "','e':'AQAB',"
	    "'alg':'RS384'}", "alg" },
	{ "kid a number", "{" A3_PUBLIC ",'kid':1}", "kid" },
	{ "kid null", "{" A3_PUBLIC ",'kid':null}", "kid" },
};

static void
accepted(void)
{
	struct pf_key *k;
	const char *why;
	enum pf_rc rc;

	for (size_t i = 0; i < PF_COUNT(good); i++) {
		rc = pf_jwk_parse(json(good[i].jwk), &k, &why);
		if (!tap_is(rc, PF_OK, "accepted: %s", good[i].name)) {
			tap_diag("%s", why);
			continue;
		}
		if (good[i].thumbprint != NULL)
			tap_is_z(b64(pf_bytes(pf_key_thumbprint(k), 32)),
			    good[i].thumbprint, "its thumbprint");
		tap_ok(pf_key_fits(k, good[i].fits), "fits %s",
		    pf_alg_name(good[i].fits));
		tap_ok(!pf_key_fits(k, good[i].fits_not), "fits no %s",
		    pf_alg_name(good[i].fits_not));
		tap_ok(!pf_key_fits(k, PF_ALG_NONE), "fits no alg none");
		tap_is_z(pf_key_kid(k), good[i].kid, "its kid");
		pf_key_free(pf_key_ref(k));
		tap_ok(pf_key_fits(k, good[i].fits), "lives while referred to");
		pf_key_free(k);
	}
	pf_key_free(NULL);
}

static void
refused(void)
{
	struct pf_key *k;
	const char *why;

	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		tap_is(pf_jwk_parse(json(bad[i].jwk), &k, &why), PF_E_INPUT,
		    "refused: %s", bad[i].name);
		tap_ok(k == NULL && strstr(why, bad[i].why) != NULL,
		    "because: %s", why);
	}
}

static void
names(void)
{
	static const char *const unknown[] = {
		"", "none", "None", "HS256", "es256", "ES256 ", "ES512",
		"RS384", "PS512", "Ed25519", "ES256K"
	};

	for (enum pf_alg a = PF_ES256; a <= PF_EDDSA; a++)
		tap_is(pf_alg_parse(pf_str(pf_alg_name(a))), a, "%s",
		    pf_alg_name(a));
	for (size_t i = 0; i < PF_COUNT(unknown); i++)
		tap_is(pf_alg_parse(pf_str(unknown[i])), PF_ALG_NONE,
		    "unknown: '%s'", unknown[i]);
	tap_is(pf_alg_parse(PF_LIT("ES256\0")), PF_ALG_NONE, "NUL behind");
	tap_is(pf_alg_parse(PF_NOSTR), PF_ALG_NONE, "not given");
}

int
main(void)
{
	jose_begin();
	accepted();
	refused();
	names();
	return jose_end();
}
