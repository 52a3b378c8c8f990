/* What pf_jws_parse() must refuse, each with its reason, and keys of the wrong
 * kind: nothing here is a matter of the signature. */
#include "tests/unit/jose.h"

#define H	"eyJhbGciOiJFUzI1NiJ9"		/* {"alg":"ES256"} */
#define P	"eyJpc3MiOiJqb2UifQ"		/* {"iss":"joe"} */
#define S	"DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa" \
		"8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

static const struct { const char *name; struct pf_str jws; const char *why; }
texts[] = {
	{ "not given",		{ NULL, 0 }, "three parts" },
	{ "empty",		PF_LIT_INIT(""), "three parts" },
	{ "one part",		PF_LIT_INIT(H), "three parts" },
	{ "two parts",		PF_LIT_INIT(H "." P), "three parts" },
	{ "four parts",		PF_LIT_INIT(H "." P "." S "." S),
	    "three parts" },
	{ "a dot behind",	PF_LIT_INIT(H "." P "." S "."), "three parts" },
	{ "a dot before",	PF_LIT_INIT("." H "." P "." S), "three parts" },
	{ "five parts (JWE)",	PF_LIT_INIT(H ".." P "." S "." S),
	    "three parts" },
	{ "no header",		PF_LIT_INIT("." P "." S), "three parts" },
	{ "no payload",		PF_LIT_INIT(H ".." S), "three parts" },
	{ "no signature",	PF_LIT_INIT(H "." P "."), "three parts" },
	{ "dots alone",		PF_LIT_INIT(".."), "three parts" },
	{ "JSON form",		PF_LIT_INIT("{\"payload\":\"" P "\"}"),
	    "three parts" },
	{ "= in the header",	PF_LIT_INIT(H "=." P "." S), "header" },
	{ "= in the payload",	PF_LIT_INIT(H "." P "==." S), "payload" },
	{ "= in the signature",	PF_LIT_INIT(H "." P "." S "=="), "signature" },
	{ "+ in the header",	PF_LIT_INIT("+" H "." P "." S), "header" },
	{ "+ in the payload",	PF_LIT_INIT(H ".+" P "." S), "payload" },
	{ "+ in the signature",	PF_LIT_INIT(H "." P ".+" S), "signature" },
	{ "/ in the header",	PF_LIT_INIT("/" H "." P "." S), "header" },
	{ "/ in the payload",	PF_LIT_INIT(H "./" P "." S), "payload" },
	{ "/ in the signature",	PF_LIT_INIT(H "." P "./" S), "signature" },
	{ "space before",	PF_LIT_INIT(" " H "." P "." S), "header" },
	{ "space within",	PF_LIT_INIT(H ". " P "." S), "payload" },
	{ "line feed behind",	PF_LIT_INIT(H "." P "." S "\n"), "signature" },
	{ "CRLF within",	PF_LIT_INIT(H ".\r\n" P "." S), "payload" },
	{ "tab behind",		PF_LIT_INIT(H "." P "." S "\t"), "signature" },
	{ "NUL in the header",	PF_LIT_INIT(H "\0." P "." S), "header" },
	{ "NUL in the payload",	PF_LIT_INIT(H "." P "\0." S), "payload" },
	{ "NUL in the signature", PF_LIT_INIT(H "." P "." S "\0"),
	    "signature" },
	{ "high byte",		PF_LIT_INIT(H "." P "." S "\xc3\xa9"),
	    "signature" },
	{ "stray bits, header",	PF_LIT_INIT("eyJhbGciOiJFUzM4NCJ9IB." P "." S),
	    "header" },
	{ "stray bits, payload", PF_LIT_INIT(H ".eyJpc3MiOiJqb2UifR." S),
	    "payload" },
	{ "stray bits, signature", PF_LIT_INIT(H "." P ".AB"), "signature" },
	{ "impossible length",	PF_LIT_INIT(H "." P ".AAAAA"), "signature" },
};

/* Headers of a JWS whose other parts are good. */
static const struct { const char *name, *header, *why; } headers[] = {
	{ "an array", "['alg']", "not a JSON object" },
	{ "a string", "'ES256'", "not a JSON object" },
	{ "null", "null", "not a JSON object" },
	{ "no JSON", "alg: ES256", "not a JSON object" },
	{ "cut", "{'alg':'ES256'", "not a JSON object" },
	{ "bytes behind", "{'alg':'ES256'} {}", "not a JSON object" },
	{ "alg twice", "{'alg':'ES256','alg':'none'}", "not a JSON object" },
	{ "alg twice, escaped", "{'alg':'ES256','\\u0061lg':'none'}",
	    "not a JSON object" },
	{ "a comment", "{'alg':'ES256'/**/}", "not a JSON object" },
	{ "no alg", "{'typ':'JWT'}", "alg missing" },
	{ "alg null", "{'alg':null}", "alg missing" },
	{ "alg a number", "{'alg':256}", "alg missing" },
	{ "alg a list", "{'alg':['ES256']}", "alg missing" },
	{ "alg none", "{'alg':'none'}", "none of" },
	{ "alg NONE", "{'alg':'NONE'}", "none of" },
	{ "alg empty", "{'alg':''}", "none of" },
	{ "HS256", "{'alg':'HS256'}", "none of" },
	{ "HS384", "{'alg':'HS384'}", "none of" },
	{ "HS512", "{'alg':'HS512'}", "none of" },
	{ "ES512", "{'alg':'ES512'}", "none of" },
	{ "ES256K", "{'alg':'ES256K'}", "none of" },
	{ "RS512", "{'alg':'RS512'}", "none of" },
	{ "lower case", "{'alg':'es256'}", "none of" },
	{ "crit", "{'alg':'ES256','crit':['exp'],'exp':1}", "crit" },
	{ "crit empty", "{'alg':'ES256','crit':[]}", "crit" },
	{ "crit null", "{'alg':'ES256','crit':null}", "crit" },
	{ "b64", "{'alg':'ES256','b64':false}", "b64" },
	{ "zip", "{'alg':'ES256','zip':'DEF'}", "zip" },
	{ "enc", "{'alg':'ES256','enc':'A128GCM'}", "encrypted" },
	{ "jwk", "{'alg':'ES256','jwk':{" A3_PUBLIC "}}", "jwk" },
	{ "jwk null", "{'alg':'ES256','jwk':null}", "jwk" },
	{ "jku", "{'alg':'ES256','jku':'https://a.example/'}", "jku" },
	{ "x5u", "{'alg':'ES256','x5u':'https://a.example/'}", "x5u" },
	{ "x5c", "{'alg':'ES256','x5c':['MIIB']}", "x5c" },
	{ "typ a number", "{'alg':'ES256','typ':1}", "typ" },
	{ "typ null", "{'alg':'ES256','typ':null}", "typ" },
	{ "kid a number", "{'alg':'ES256','kid':1}", "kid" },
	{ "kid null", "{'alg':'ES256','kid':null}", "kid" },
	{ "kid with NUL", "{'alg':'ES256','kid':'a\\u0000b'}",
	    "not a JSON object" },
};

static const char *const payloads[] = {
	"[]", "'joe'", "null", "1", "{'a':1,'a':2}", "{'a':01}", "{'a':NaN}",
	"{'a':'\\ud800'}", "{} x", "{'a':1,}", "iss=joe",
	/* nine levels, where eight are allowed */
	"{'a':{'a':{'a':{'a':{'a':{'a':{'a':{'a':{}}}}}}}}}",
};

static void
refused(struct pf_str text, bool allow_jwk, const char *name, const char *want)
{
	struct pf_jws jws;
	const char *why;

	tap_is(pf_jws_parse(&arena, text, allow_jwk, &jws, &why), PF_E_INPUT,
	    "refused: %s", name);
	if (!tap_ok(strstr(why, want) != NULL, "because: %s", want))
		tap_diag("why: %s", why);
}

static struct pf_str
with_header(const char *header)
{
	struct pf_str h = b64(q(header));

	return join("%.*s." P "." S, PF_STRF(h));
}

static void
sizes(void)
{
	struct pf_jws jws;
	struct pf_str body;
	const char *why;
	static char a[PF_JWS_MAX];

	memset(a, 'A', sizeof(a));
	/* Exactly the limit is read, and found to be no JSON. */
	body = join(H ".%.*s." S, (int)(PF_JWS_MAX - sizeof(H "." "." S) + 1),
	    a);
	tap_is((long long)body.n, PF_JWS_MAX, "8192 bytes");
	refused(body, false, "8192 bytes of nothing", "payload");
	refused(join("%.*sA", PF_STRF(body)), false, "8193 bytes",
	    "longer than");
	tap_is(pf_jws_parse(&arena, join(H "." P ".%.*s", 683, a), false, &jws,
	    &why), PF_OK, "a signature of 512 bytes fits");
	tap_is((long long)jws.nsig, 512, "its length");
	refused(join(H "." P ".%.*s", 684, a), false,
	    "a signature of 513 bytes", "signature");
}

static void
accepted(void)
{
	struct pf_jws jws;
	const char *why;

	tap_is(pf_jws_parse(&arena, PF_LIT(H "." P "." S), false, &jws, &why),
	    PF_OK, "a plain JWS");
	tap_ok(!pf_str_given(jws.kid) && !pf_str_given(jws.typ),
	    "neither kid nor typ");
	tap_is_z(jws.signed_part, H "." P, "what is signed");
	tap_is((long long)jws.nsig, 64, "64 bytes of signature");
	tap_is(pf_jws_parse(&arena, with_header("{'alg':'EdDSA','kid':'',"
	    "'typ':'JWT','x':{'y':[1,2]}}"), false, &jws, &why), PF_OK,
	    "unknown members are free");
	tap_is_z(jws.kid, "", "kid is given and empty");
	tap_is_z(jws.typ, "JWT", "typ");
	tap_is(pf_jws_parse(&arena, with_header("{'alg':'ES256','jwk':{}}"),
	    true, &jws, &why), PF_OK, "jwk where it is allowed");
	refused(with_header("{'alg':'ES256','jwk':{},'jku':'https://a'}"),
	    true, "jku where jwk is allowed", "jku");
	refused(with_header("{'alg':'ES256','jwk':{},'x5c':[]}"), true,
	    "x5c where jwk is allowed", "x5c");
}

/*
 * The classic: HMAC keyed with the text of the public key. The alg is refused
 * before any key is looked at; so is the key if someone passes the alg anyway.
 */
static void
confusion(void)
{
	static const enum pf_alg algs[] = {
		PF_ALG_NONE, PF_ES384, PF_RS256, PF_PS256, PF_EDDSA
	};
	struct pf_key *rsa, *ec;
	struct pf_jws jws;
	const char *why;

	refused(join("eyJhbGciOiJIUzI1NiJ9." P ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r"
	    "_wW1gFWFOEjXk"), false, "HS256 over a public key", "none of");
	rsa = public_key("{'kty':'RSA','n':'" A2_N "','e':'AQAB'}");
	ec = public_key("{" A3_PUBLIC "}");
	tap_need(pf_jws_parse(&arena, PF_LIT(H "." P "." S), false, &jws,
	    &why) == PF_OK, "a plain JWS");
	tap_is(pf_jws_verify(&jws, rsa), PF_E_AUTH, "ES256 over an RSA key");
	for (size_t i = 0; i < PF_COUNT(algs); i++) {
		jws.alg = algs[i];
		tap_is(pf_jws_verify(&jws, ec), PF_E_AUTH, "%s over P-256",
		    pf_alg_name(algs[i]));
	}
	jws.nsig = 0;
	tap_is(pf_jws_verify(&jws, ec), PF_E_AUTH, "nothing over P-256");
	pf_key_free(rsa);
	pf_key_free(ec);
}

int
main(void)
{
	jose_begin();
	accepted();
	for (size_t i = 0; i < PF_COUNT(texts); i++)
		refused(texts[i].jws, false, texts[i].name, texts[i].why);
	for (size_t i = 0; i < PF_COUNT(headers); i++)
		refused(with_header(headers[i].header), false,
		    headers[i].name, headers[i].why);
	for (size_t i = 0; i < PF_COUNT(payloads); i++) {
		struct pf_str p = b64(q(payloads[i]));

		refused(join(H ".%.*s." S, PF_STRF(p)), false, payloads[i],
		    "payload is not a JSON object");
	}
	sizes();
	confusion();
	return jose_end();
}
