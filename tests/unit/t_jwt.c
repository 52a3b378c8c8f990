/* The claims of assertions: each rule at its edge, and each claim missing, of
 * the wrong type and wrong. */
#include "core/jose/jwt.h"
#include "tests/unit/jose.h"

#define NOW		1700000000
#define ENDPOINT	"https://shop.example/poppy/oauth/token"
#define ISSUER		"https://shop.example"
#define JTI		"0123456789abcdefghijkl"	/* 22 bytes */

static const struct pf_str auds[] = {
	PF_LIT_INIT(ENDPOINT), PF_LIT_INIT(ISSUER)
};

static const struct pf_jwt_rules client = {
	.now_at = NOW, .skew = 30, .max_life = 300, .jti_min = 16,
	.jti_max = 256, .aud = auds, .naud = 2, .aud_single = false,
	.typ = NULL
}, session = {
	.now_at = NOW, .skew = 30, .max_life = 300, .jti_min = 22,
	.jti_max = 256, .aud = auds, .naud = 1, .aud_single = true,
	.typ = NULL
}, browser = {
	.now_at = NOW, .skew = 30, .max_life = 60, .jti_min = 22,
	.jti_max = 64, .aud = auds, .naud = 1, .aud_single = true,
	.typ = "poppy-browser+jwt"
};

#define WHO		"'iss':'https://a.example/c','sub':'u'"
#define AUD		"'aud':'" ENDPOINT "'"
#define TIMES		"'iat':1700000000,'exp':1700000060"
#define HEAD		WHO "," AUD ",'jti':'" JTI "'"

#define JTI264	JTI JTI JTI JTI JTI JTI JTI JTI JTI JTI JTI JTI

static const struct {
	const char *name;
	const struct pf_jwt_rules *rules;
	const char *typ, *claims;
	const char *why;	/* NULL: accepted */
} row[] = {
	{ "all as it must be", &session, NULL, "{" HEAD "," TIMES "}", NULL },
	{ "unknown claims are free", &session, "JWT", "{" HEAD "," TIMES
	    ",'poppy':{'x':[]},'ath':1,'htm':null}", NULL },
	/* typ */
	{ "typ free", &client, "client-authentication+jwt", "{" HEAD "," TIMES
	    "}", NULL },
	{ "typ empty", &client, "", "{" HEAD "," TIMES "}", NULL },
	{ "typ of a proof", &client, "dpop+jwt", "{" HEAD "," TIMES "}",
	    "typ" },
	{ "typ of a proof in capitals", &client, "DPoP+JWT", "{" HEAD ","
	    TIMES "}", "typ" },
	{ "typ of a proof, long form", &client, "application/dpop+jwt",
	    "{" HEAD "," TIMES "}", "typ" },
	{ "typ of a proof, long, mixed", &client, "Application/Dpop+Jwt",
	    "{" HEAD "," TIMES "}", "typ" },
	{ "typ of a browser assertion", &session, "poppy-browser+jwt",
	    "{" HEAD "," TIMES "}", "typ" },
	{ "the same, long form", &session, "application/Poppy-Browser+JWT",
	    "{" HEAD "," TIMES "}", "typ" },
	{ "browser typ where asked for", &browser, "poppy-browser+jwt",
	    "{" HEAD "," TIMES "}", NULL },
	{ "the same, long form", &browser, "application/poppy-browser+jwt",
	    "{" HEAD "," TIMES "}", NULL },
	{ "the same, in capitals", &browser, "POPPY-BROWSER+JWT",
	    "{" HEAD "," TIMES "}", NULL },
	{ "no typ where one is asked for", &browser, NULL, "{" HEAD "," TIMES
	    "}", "typ" },
	{ "JWT where another is asked for", &browser, "JWT", "{" HEAD ","
	    TIMES "}", "typ" },
	{ "long form twice", &browser,
	    "application/application/poppy-browser+jwt", "{" HEAD "," TIMES
	    "}", "typ" },
	/* iss, sub */
	{ "no iss", &session, NULL, "{'sub':'u'," AUD ",'jti':'" JTI "',"
	    TIMES "}", "iss missing" },
	{ "iss null", &session, NULL, "{'iss':null,'sub':'u'," AUD ",'jti':'"
	    JTI "'," TIMES "}", "iss missing" },
	{ "iss empty", &session, NULL, "{'iss':'','sub':'u'," AUD ",'jti':'"
	    JTI "'," TIMES "}", "iss is" },
	{ "iss a list", &session, NULL, "{'iss':['a'],'sub':'u'," AUD
	    ",'jti':'" JTI "'," TIMES "}", "iss is" },
	{ "no sub", &session, NULL, "{'iss':'a'," AUD ",'jti':'" JTI "',"
	    TIMES "}", "sub missing" },
	{ "sub empty", &session, NULL, "{'iss':'a','sub':''," AUD ",'jti':'"
	    JTI "'," TIMES "}", "sub is" },
	{ "sub a number", &session, NULL, "{'iss':'a','sub':7," AUD ",'jti':'"
	    JTI "'," TIMES "}", "sub is" },
	/* aud */
	{ "the issuer as aud", &client, NULL, "{" WHO ",'aud':'" ISSUER
	    "','jti':'" JTI "'," TIMES "}", NULL },
	{ "a list with one of ours", &client, NULL, "{" WHO
	    ",'aud':['https://x','" ISSUER "'],'jti':'" JTI "'," TIMES "}",
	    NULL },
	{ "no aud", &client, NULL, "{" WHO ",'jti':'" JTI "'," TIMES "}",
	    "aud missing" },
	{ "aud null", &client, NULL, "{" WHO ",'aud':null,'jti':'" JTI "',"
	    TIMES "}", "aud missing" },
	{ "aud a number", &client, NULL, "{" WHO ",'aud':1,'jti':'" JTI "',"
	    TIMES "}", "aud is" },
	{ "aud an object", &client, NULL, "{" WHO ",'aud':{},'jti':'" JTI "',"
	    TIMES "}", "aud is" },
	{ "aud somebody else", &client, NULL, "{" WHO
	    ",'aud':'https://evil.example','jti':'" JTI "'," TIMES "}",
	    "endpoint's URL" },
	{ "aud with a slash behind", &client, NULL, "{" WHO ",'aud':'"
	    ENDPOINT "/','jti':'" JTI "'," TIMES "}", "endpoint's URL" },
	{ "aud in capitals", &client, NULL, "{" WHO
	    ",'aud':'HTTPS://shop.example','jti':'" JTI "'," TIMES "}",
	    "endpoint's URL" },
	{ "aud empty", &client, NULL, "{" WHO ",'aud':'','jti':'" JTI "',"
	    TIMES "}", "endpoint's URL" },
	{ "an empty list", &client, NULL, "{" WHO ",'aud':[],'jti':'" JTI
	    "'," TIMES "}", "endpoint's URL" },
	{ "a list of strangers", &client, NULL, "{" WHO
	    ",'aud':['a','b'],'jti':'" JTI "'," TIMES "}", "endpoint's URL" },
	{ "ours and a number", &client, NULL, "{" WHO ",'aud':['" ISSUER
	    "',1],'jti':'" JTI "'," TIMES "}", "aud holds" },
	{ "a list in a list", &client, NULL, "{" WHO ",'aud':[['" ISSUER
	    "']],'jti':'" JTI "'," TIMES "}", "aud holds" },
	{ "a list of one where a string is asked for", &session, NULL, "{" WHO
	    ",'aud':['" ENDPOINT "'],'jti':'" JTI "'," TIMES "}", "single" },
	{ "the issuer where the endpoint is asked for", &session, NULL, "{"
	    WHO ",'aud':'" ISSUER "','jti':'" JTI "'," TIMES "}",
	    "endpoint's URL" },
	/* jti */
	{ "jti of 16", &client, NULL, "{" WHO "," AUD
	    ",'jti':'0123456789abcdef'," TIMES "}", NULL },
	{ "jti of 15", &client, NULL, "{" WHO "," AUD
	    ",'jti':'0123456789abcde'," TIMES "}", "too short" },
	{ "jti of 21", &session, NULL, "{" WHO "," AUD
	    ",'jti':'0123456789abcdefghijk'," TIMES "}", "too short" },
	{ "jti of 264", &client, NULL, "{" WHO "," AUD ",'jti':'" JTI264 "',"
	    TIMES "}", "too long" },
	{ "no jti", &client, NULL, "{" WHO "," AUD "," TIMES "}",
	    "jti missing" },
	{ "jit for jti", &client, NULL, "{" WHO "," AUD ",'jit':'" JTI "',"
	    TIMES "}", "jti missing" },
	{ "jti a number", &client, NULL, "{" WHO "," AUD
	    ",'jti':1234567890123456," TIMES "}", "jti is" },
	{ "jti empty", &client, NULL, "{" WHO "," AUD ",'jti':''," TIMES "}",
	    "jti is" },
	{ "jti with a line feed", &client, NULL, "{" WHO "," AUD ",'jti':'"
	    JTI "\\n'," TIMES "}", "printable" },
	{ "jti with DEL", &client, NULL, "{" WHO "," AUD ",'jti':'"
	    JTI "\\u007f'," TIMES "}", "printable" },
	{ "jti with an umlaut", &client, NULL, "{" WHO "," AUD ",'jti':'"
	    JTI "\\u00e4'," TIMES "}", "printable" },
	/* times */
	{ "no iat", &session, NULL, "{" HEAD ",'exp':1700000060}",
	    "iat missing" },
	{ "no exp", &session, NULL, "{" HEAD ",'iat':1700000000}",
	    "exp missing" },
	{ "iat a string", &session, NULL, "{" HEAD
	    ",'iat':'1700000000','exp':1700000060}", "iat is" },
	{ "exp a string", &session, NULL, "{" HEAD
	    ",'iat':1700000000,'exp':'1700000060'}", "exp is" },
	{ "iat true", &session, NULL, "{" HEAD ",'iat':true,'exp':1700000060}",
	    "iat is" },
	{ "iat negative", &session, NULL, "{" HEAD
	    ",'iat':-1,'exp':1700000060}", "iat is" },
	{ "exp 1e300", &session, NULL, "{" HEAD
	    ",'iat':1700000000,'exp':1e300}", "exp is" },
	{ "exp past 2^53", &session, NULL, "{" HEAD
	    ",'iat':1700000000,'exp':9007199254740993}", "exp is" },
	{ "exp the last of int64", &session, NULL, "{" HEAD
	    ",'iat':1700000000,'exp':9223372036854775807}", "exp is" },
	{ "fractions are times too", &session, NULL, "{" HEAD
	    ",'iat':1700000000.7,'exp':1700000060.2}", NULL },
	{ "fractions do not stretch a life", &browser, "poppy-browser+jwt",
	    "{" HEAD ",'iat':1700000000.0,'exp':1700000060.5}", "too long" },
	{ "60 s of a clock with fractions", &browser, "poppy-browser+jwt",
	    "{" HEAD ",'iat':1700000000.9,'exp':1700000060.9}", NULL },
	{ "... and a millisecond", &browser, "poppy-browser+jwt",
	    "{" HEAD ",'iat':1700000000.9,'exp':1700000060.901}", "too long" },
	{ "exp = iat", &session, NULL, "{" HEAD
	    ",'iat':1700000000,'exp':1700000000}", "not after" },
	{ "exp before iat", &session, NULL, "{" HEAD
	    ",'iat':1700000010,'exp':1700000005}", "not after" },
	{ "a life of 300", &session, NULL, "{" HEAD
	    ",'iat':1700000000,'exp':1700000300}", NULL },
	{ "a life of 301", &session, NULL, "{" HEAD
	    ",'iat':1700000000,'exp':1700000301}", "too long" },
	{ "no skew on the life", &browser, "poppy-browser+jwt", "{" HEAD
	    ",'iat':1700000000,'exp':1700000061}", "too long" },
	{ "exp past, within the skew", &session, NULL, "{" HEAD
	    ",'iat':1699999900,'exp':1699999971}", NULL },
	{ "exp past, at the skew", &session, NULL, "{" HEAD
	    ",'iat':1699999900,'exp':1699999970}", "exp is past" },
	{ "exp long past", &session, NULL, "{" HEAD ",'iat':1,'exp':2}",
	    "exp is past" },
	{ "iat ahead, at the skew", &session, NULL, "{" HEAD
	    ",'iat':1700000030,'exp':1700000060}", NULL },
	{ "iat ahead, past the skew", &session, NULL, "{" HEAD
	    ",'iat':1700000031,'exp':1700000060}", "future" },
	{ "nbf now", &session, NULL, "{" HEAD "," TIMES
	    ",'nbf':1700000030}", NULL },
	{ "nbf ahead", &session, NULL, "{" HEAD "," TIMES
	    ",'nbf':1700000031}", "nbf is in" },
	{ "nbf a string", &session, NULL, "{" HEAD "," TIMES ",'nbf':'0'}",
	    "nbf is not" },
	{ "nbf null", &session, NULL, "{" HEAD "," TIMES ",'nbf':null}",
	    "nbf is not" },
	{ "nothing at all", &session, NULL, "{}", "iss missing" },
};

static void
judged(size_t i)
{
	struct pf_jws jws = { .alg = PF_ES256 };
	struct pf_claims c;
	const char *why;
	enum pf_rc rc;

	jws.typ = pf_str(row[i].typ);
	jws.claims = json(row[i].claims);
	rc = pf_jwt_check(&jws, row[i].rules, &c, &why);
	if (row[i].why == NULL) {
		if (!tap_is(rc, PF_OK, "accepted: %s", row[i].name))
			tap_diag("%s", why);
		return;
	}
	tap_is(rc, PF_E_INPUT, "refused: %s", row[i].name);
	if (!tap_ok(strstr(why, row[i].why) != NULL, "because: %s",
	    row[i].why))
		tap_diag("why: %s", why);
}

static void
values(void)
{
	struct pf_jws jws = { .alg = PF_ES256 };
	struct pf_claims c;
	const char *why;

	jws.claims = json("{" HEAD "," TIMES "}");
	tap_is(pf_jwt_check(&jws, &session, &c, &why), PF_OK, "claims");
	tap_is_z(c.iss, "https://a.example/c", "iss");
	tap_is_z(c.sub, "u", "sub");
	tap_is_z(c.jti, JTI, "jti");
	tap_is(c.iat, NOW, "iat");
	tap_is(c.exp, NOW + 60, "exp");
	jws.claims = json("{" HEAD
	    ",'iat':1700000000.7,'exp':1700000060.2}");
	tap_is(pf_jwt_check(&jws, &session, &c, &why), PF_OK, "fractions");
	tap_is(c.iat, NOW, "iat rounded down");
	tap_is(c.exp, NOW + 61, "exp rounded up");
}

static void
types(void)
{
	tap_ok(pf_jwt_typ_is(PF_LIT("dpop+jwt"), "dpop+jwt"), "the same");
	tap_ok(pf_jwt_typ_is(PF_LIT("APPLICATION/dpop+JWT"), "dpop+jwt"),
	    "another case and application/");
	tap_ok(!pf_jwt_typ_is(PF_NOSTR, "dpop+jwt"), "not given");
	tap_ok(!pf_jwt_typ_is(PF_LIT(""), "dpop+jwt"), "empty");
	tap_ok(!pf_jwt_typ_is(PF_LIT("application/"), "dpop+jwt"),
	    "application/ alone");
	tap_ok(!pf_jwt_typ_is(PF_LIT("dpop+jwt "), "dpop+jwt"), "a space");
	tap_ok(!pf_jwt_typ_is(PF_LIT("dpop+jwt\0"), "dpop+jwt"), "a NUL");
	tap_ok(!pf_jwt_typ_is(PF_LIT("text/dpop+jwt"), "dpop+jwt"),
	    "another tree");
}

int
main(void)
{
	jose_begin();
	values();
	types();
	for (size_t i = 0; i < PF_COUNT(row); i++)
		judged(i);
	return jose_end();
}
