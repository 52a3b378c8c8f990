/* DPoP proofs: the figures of RFC 9449 and each check of its section 4.3. */
#include "core/jose/dpop.h"
#include "tests/unit/jose.h"

#define FIGURE_HEADER							\
	"eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6"	\
	"IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFV"	\
	"ZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5"	\
	"VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19."
#define FIGURE_2	FIGURE_HEADER					\
	"eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6"	\
	"Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYy"	\
	"MjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFL"	\
	"bdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg"
#define FIGURE_12	FIGURE_HEADER					\
	"eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1Ijoi"	\
	"aHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJj"	\
	"ZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05y"	\
	"V0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey7"	\
	"1EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA"
#define FIGURE_TOKEN	"Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"

static const struct pf_dpop_want at_token = {
	.method = PF_LIT_INIT("POST"),
	.url = PF_LIT_INIT("https://server.example.com/token"),
	.now_at = 1562262616, .past = 60, .future = 10
}, at_resource = {
	.method = PF_LIT_INIT("GET"),
	.url = PF_LIT_INIT("https://resource.example.org/protectedresource?q"),
	.token = PF_LIT_INIT(FIGURE_TOKEN),
	.now_at = 1562262620, .past = 60, .future = 10
};

static void
figures(void)
{
	struct pf_dpop_want want = at_resource;
	unsigned char spend[16];
	struct pf_proof p;
	const char *why;

	tap_is(pf_dpop_check(&arena, PF_LIT(FIGURE_2), &at_token, &p, &why),
	    PF_OK, "RFC 9449, figure 2");
	tap_is(p.iat, 1562262616, "iat");
	tap_ok(!pf_str_given(p.nonce), "no nonce");
	memcpy(spend, p.spend, sizeof(spend));
	tap_is(pf_dpop_check(&arena, PF_LIT(FIGURE_12), &at_resource, &p,
	    &why), PF_OK, "RFC 9449, the proof for a resource");
	tap_is_z(b64(pf_bytes(p.jkt, sizeof(p.jkt))),
	    "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I",
	    "the thumbprint of figure 9");
	tap_ok(memcmp(spend, p.spend, sizeof(spend)) != 0,
	    "another jti is spent");
	want.token = PF_LIT(FIGURE_TOKEN "x");
	tap_is(pf_dpop_check(&arena, PF_LIT(FIGURE_12), &want, &p, &why),
	    PF_E_INPUT, "another token: ath");
	want.token = PF_NOSTR;
	tap_is(pf_dpop_check(&arena, PF_LIT(FIGURE_12), &want, &p, &why),
	    PF_OK, "ath is not looked at without a token");
	want.token = PF_LIT("");
	tap_is(pf_dpop_check(&arena, PF_LIT(FIGURE_12), &want, &p, &why),
	    PF_E_INPUT, "an empty token is a token");
	tap_is(pf_dpop_check(&arena, PF_LIT(FIGURE_2), &at_resource, &p, &why),
	    PF_E_INPUT, "figure 2 at the resource");
}

/* Our own proofs. */
#define NOW	1700000000
#define URL	"https://shop.example:8443/api/stock.php"
#define TOKEN	"pst_AAAA"
/* base64url of SHA-256 of TOKEN, put in at the start */
static char ath[64];

static struct pf_dpop_want here = {
	.method = PF_LIT_INIT("GET"), .url = PF_LIT_INIT(URL "?sku=1"),
	.token = PF_LIT_INIT(TOKEN), .now_at = NOW, .past = 60, .future = 10
};

#define TYP	"'typ':'dpop+jwt','alg':'ES256'"
#define HEADER	"{" TYP ",'jwk':{" A3_PUBLIC "}}"
#define HTM	"'htm':'GET'"
#define HTU	"'htu':'" URL "'"
#define IAT	"'iat':1700000000"
#define JTI	"'jti':'j'"
#define ATH	"'ath':'%s'"

/* Claims hold one %s for ath; accepted where why is NULL. */
static const struct { const char *name, *header, *claims, *why; } row[] = {
	{ "all as it must be", HEADER, "{" JTI "," HTM "," HTU "," IAT "," ATH
	    "}", NULL },
	{ "unknown members are free", "{" TYP ",'x':1,'kid':'k','jwk':{"
	    A3_PUBLIC ",'x5t':'q','alg':'ES256'}}", "{" JTI "," HTM "," HTU ","
	    IAT "," ATH ",'aud':[1],'exp':0,'nbf':9999999999}", NULL },
	{ "typ in long form", "{'typ':'application/DPoP+JWT','alg':'ES256',"
	    "'jwk':{" A3_PUBLIC "}}", "{" JTI "," HTM "," HTU "," IAT "," ATH
	    "}", NULL },
	{ "a nonce", HEADER, "{" JTI "," HTM "," HTU "," IAT "," ATH
	    ",'nonce':'n'}", NULL },
	/* header */
	{ "no typ", "{'alg':'ES256','jwk':{" A3_PUBLIC "}}", "{" JTI "," HTM
	    "," HTU "," IAT "," ATH "}", "typ" },
	{ "typ JWT", "{'typ':'JWT','alg':'ES256','jwk':{" A3_PUBLIC "}}",
	    "{" JTI "," HTM "," HTU "," IAT "," ATH "}", "typ" },
	{ "typ a number", "{'typ':1,'alg':'ES256','jwk':{" A3_PUBLIC "}}",
	    "{" JTI "," HTM "," HTU "," IAT "," ATH "}", "typ" },
	{ "alg none", "{'typ':'dpop+jwt','alg':'none','jwk':{" A3_PUBLIC "}}",
	    "{" JTI "," HTM "," HTU "," IAT "," ATH "}", "alg" },
	{ "alg HS256", "{'typ':'dpop+jwt','alg':'HS256','jwk':{'kty':'oct',"
	    "'k':'AAAA'}}", "{" JTI "," HTM "," HTU "," IAT "," ATH "}",
	    "alg" },
	{ "alg of another key", "{'typ':'dpop+jwt','alg':'ES384','jwk':{"
	    A3_PUBLIC "}}", "{" JTI "," HTM "," HTU "," IAT "," ATH "}",
	    "alg" },
	{ "alg RS256 over P-256", "{'typ':'dpop+jwt','alg':'RS256','jwk':{"
	    A3_PUBLIC "}}", "{" JTI "," HTM "," HTU "," IAT "," ATH "}",
	    "alg" },
	{ "crit", "{" TYP ",'crit':['jwk'],'jwk':{" A3_PUBLIC "}}", "{" JTI
	    "," HTM "," HTU "," IAT "," ATH "}", "crit" },
	{ "no jwk", "{" TYP "}", "{" JTI "," HTM "," HTU "," IAT "," ATH "}",
	    "jwk" },
	{ "jwk a string", "{" TYP ",'jwk':'k'}", "{" JTI "," HTM "," HTU ","
	    IAT "," ATH "}", "jwk" },
	{ "jwk null", "{" TYP ",'jwk':null}", "{" JTI "," HTM "," HTU ","
	    IAT "," ATH "}", "jwk" },
	{ "jwk empty", "{" TYP ",'jwk':{}}", "{" JTI "," HTM "," HTU ","
	    IAT "," ATH "}", "kty" },
	{ "jku beside jwk", "{" TYP ",'jku':'https://a','jwk':{" A3_PUBLIC
	    "}}", "{" JTI "," HTM "," HTU "," IAT "," ATH "}", "jku" },
	{ "a private jwk", "{" TYP ",'jwk':{" A3_PUBLIC "," A3_D "}}", "{" JTI
	    "," HTM "," HTU "," IAT "," ATH "}", "private" },
	{ "a jwk for encryption", "{" TYP ",'jwk':{" A3_PUBLIC
	    ",'use':'enc'}}", "{" JTI "," HTM "," HTU "," IAT "," ATH "}",
	    "use" },
	{ "a point off the curve", "{" TYP ",'jwk':{'kty':'EC','crv':'P-256',"
	    "'x':'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',"
	    "'y':'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU'}}", "{" JTI
	    "," HTM "," HTU "," IAT "," ATH "}", "curve" },
	{ "another's jwk", "{" TYP ",'jwk':{'kty':'EC','crv':'P-256',"
	    "'x':'l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs',"
	    "'y':'9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA'}}", "{" JTI
	    "," HTM "," HTU "," IAT "," ATH "}", "signature" },
	/* htm */
	{ "no htm", HEADER, "{" JTI "," HTU "," IAT "," ATH "}",
	    "htm missing" },
	{ "htm POST", HEADER, "{" JTI ",'htm':'POST'," HTU "," IAT "," ATH
	    "}", "htm is" },
	{ "htm in lower case", HEADER, "{" JTI ",'htm':'get'," HTU "," IAT ","
	    ATH "}", "htm is" },
	{ "htm a list", HEADER, "{" JTI ",'htm':['GET']," HTU "," IAT "," ATH
	    "}", "htm is" },
	{ "htm empty", HEADER, "{" JTI ",'htm':''," HTU "," IAT "," ATH "}",
	    "htm is" },
	/* htu */
	{ "no htu", HEADER, "{" JTI "," HTM "," IAT "," ATH "}",
	    "htu missing" },
	{ "htu of another path", HEADER, "{" JTI "," HTM
	    ",'htu':'https://shop.example:8443/api/'," IAT "," ATH "}",
	    "htu is" },
	{ "htu a path", HEADER, "{" JTI "," HTM ",'htu':'/api/stock.php',"
	    IAT "," ATH "}", "htu is" },
	{ "htu a number", HEADER, "{" JTI "," HTM ",'htu':1," IAT "," ATH "}",
	    "htu is" },
	{ "htu with a query", HEADER, "{" JTI "," HTM ",'htu':'" URL
	    "?sku=2#f'," IAT "," ATH "}", NULL },
	/* iat */
	{ "no iat", HEADER, "{" JTI "," HTM "," HTU "," ATH "}",
	    "iat missing" },
	{ "iat null", HEADER, "{" JTI "," HTM "," HTU ",'iat':null," ATH "}",
	    "iat missing" },
	{ "iat a string", HEADER, "{" JTI "," HTM "," HTU
	    ",'iat':'1700000000'," ATH "}", "iat is" },
	{ "iat 1e300", HEADER, "{" JTI "," HTM "," HTU ",'iat':1e300," ATH
	    "}", "iat is" },
	{ "iat a fraction", HEADER, "{" JTI "," HTM "," HTU
	    ",'iat':1700000000.25," ATH "}", NULL },
	{ "iat ten seconds ago", HEADER, "{" JTI "," HTM "," HTU
	    ",'iat':1699999990," ATH "}", NULL },
	{ "iat a minute ago", HEADER, "{" JTI "," HTM "," HTU
	    ",'iat':1699999940," ATH "}", NULL },
	{ "iat a minute and a second ago", HEADER, "{" JTI "," HTM "," HTU
	    ",'iat':1699999939," ATH "}", "iat 1699999939 " },
	{ "iat ten seconds ahead", HEADER, "{" JTI "," HTM "," HTU
	    ",'iat':1700000010," ATH "}", NULL },
	{ "iat eleven seconds ahead", HEADER, "{" JTI "," HTM "," HTU
	    ",'iat':1700000011," ATH "}", "server time 1700000000" },
	{ "iat in milliseconds", HEADER, "{" JTI "," HTM "," HTU
	    ",'iat':1700000000000," ATH "}", "from 60 s before to 10 s after" },
	/* jti */
	{ "no jti", HEADER, "{" HTM "," HTU "," IAT "," ATH "}",
	    "jti missing" },
	{ "jit for jti", HEADER, "{'jit':'j'," HTM "," HTU "," IAT "," ATH
	    "}", "jti missing" },
	{ "jti empty", HEADER, "{'jti':''," HTM "," HTU "," IAT "," ATH "}",
	    "jti is" },
	{ "jti a number", HEADER, "{'jti':1," HTM "," HTU "," IAT "," ATH
	    "}", "jti is" },
	/* ath, nonce */
	{ "no ath", HEADER, "{" JTI "," HTM "," HTU "," IAT "}",
	    "ath missing" },
	{ "ath empty", HEADER, "{" JTI "," HTM "," HTU "," IAT ",'ath':''}",
	    "ath is" },
	{ "ath with padding", HEADER, "{" JTI "," HTM "," HTU "," IAT
	    ",'ath':'%s='}", "ath is" },
	{ "ath of another token", HEADER, "{" JTI "," HTM "," HTU "," IAT
	    ",'ath':'fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo'}",
	    "ath is" },
	{ "ath the token itself", HEADER, "{" JTI "," HTM "," HTU "," IAT
	    ",'ath':'" TOKEN "'}", "ath is" },
	{ "ath a number", HEADER, "{" JTI "," HTM "," HTU "," IAT
	    ",'ath':1}", "ath is" },
	{ "nonce a number", HEADER, "{" JTI "," HTM "," HTU "," IAT "," ATH
	    ",'nonce':1}", "nonce" },
	{ "no claims", HEADER, "{}", "htm missing" },
};

static struct pf_str
with_ath(const char *claims)
{
	const char *at = strstr(claims, "%s");

	if (at == NULL)
		return q(claims);
	return q(pf_arena_z(&arena, join("%.*s%s%s", (int)(at - claims),
	    claims, ath, at + 2)));
}

static void
checks(const struct pf_key *k)
{
	struct pf_proof p;
	const char *why;
	enum pf_rc rc;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		rc = pf_dpop_check(&arena, signed_by(k, PF_ES256,
		    q(row[i].header), with_ath(row[i].claims)), &here, &p,
		    &why);
		if (row[i].why == NULL) {
			if (!tap_is(rc, PF_OK, "accepted: %s", row[i].name))
				tap_diag("%s", why);
			continue;
		}
		tap_is(rc, PF_E_INPUT, "refused: %s", row[i].name);
		if (!tap_ok(strstr(why, row[i].why) != NULL, "because: %s",
		    row[i].why))
			tap_diag("why: %s", why);
	}
}

static struct pf_proof
proof_of(struct pf_str text, const char *name)
{
	struct pf_proof p;
	const char *why;

	if (!tap_is(pf_dpop_check(&arena, text, &here, &p, &why), PF_OK, "%s",
	    name))
		tap_diag("%s", why);
	return p;
}

/* Every alg, a key of its own kind and the members of its kind in jwk. */
static void
algs(void)
{
	struct pf_proof p;
	struct pf_key *k;
	struct pf_buf b;

	for (enum pf_alg a = PF_ES256; a <= PF_EDDSA; a++) {
		k = new_key(a);
		pf_buf_init(&b, &arena, 4096);
		pf_buf_fmt(&b, "{\"typ\":\"dpop+jwt\",\"alg\":\"%s\",\"jwk\":",
		    pf_alg_name(a));
		pf_key_write(&b, k, PF_NOSTR, false);
		pf_buf_char(&b, '}');
		p = proof_of(signed_by(k, a, pf_buf_str(&b),
		    with_ath(row[0].claims)), pf_alg_name(a));
		tap_ok(memcmp(p.jkt, pf_key_thumbprint(k), 32) == 0,
		    "its thumbprint");
		pf_key_free(k);
	}
}

static struct pf_str
with_jti(const struct pf_key *k, const char *jwk, struct pf_str jti)
{
	struct pf_str header = join("{%s,\"jwk\":{%s}}",
	    "\"typ\":\"dpop+jwt\",\"alg\":\"ES256\"",
	    pf_arena_z(&arena, q(jwk)));

	return signed_by(k, PF_ES256, header, join("{\"jti\":\"%.*s\",\"htm\":"
	    "\"GET\",\"htu\":\"" URL "\",\"iat\":%d,\"ath\":\"%s\"}",
	    PF_STRF(jti), NOW, ath));
}

static void
spending(const struct pf_key *k)
{
	struct pf_key *other = private_key("{'kty':'EC','crv':'P-256',"
	    "'x':'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',"
	    "'y':'4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',"
	    "'d':'870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE'}");
	static const char other_jwk[] = "'kty':'EC','crv':'P-256',"
	    "'x':'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',"
	    "'y':'4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM'";
	struct pf_proof a, b;
	static char z[257];
	const char *why;

	memset(z, 'z', sizeof(z));
	a = proof_of(with_jti(k, A3_PUBLIC, PF_LIT("1")), "a counter as jti");
	b = proof_of(with_jti(k, A3_PUBLIC, PF_LIT("1")), "once more");
	tap_ok(memcmp(a.spend, b.spend, 16) == 0, "one jti, one spend key");
	b = proof_of(with_jti(k, A3_PUBLIC, PF_LIT("2")), "the next jti");
	tap_ok(memcmp(a.spend, b.spend, 16) != 0, "another spend key");
	b = proof_of(with_jti(other, other_jwk, PF_LIT("1")), "another key");
	tap_ok(memcmp(a.spend, b.spend, 16) != 0, "another spend key");
	tap_ok(memcmp(a.jkt, b.jkt, 32) != 0, "another thumbprint");
	proof_of(with_jti(k, A3_PUBLIC, pf_bytes(z, 256)), "jti of 256 bytes");
	tap_is(pf_dpop_check(&arena, with_jti(k, A3_PUBLIC, pf_bytes(z, 257)),
	    &here, &a, &why), PF_E_INPUT, "refused: jti of 257 bytes");
	pf_key_free(other);
}

/* The field's value, as two fields or more than a JWS. */
static void
fields(const struct pf_key *k)
{
	struct pf_str good = signed_by(k, PF_ES256, q(HEADER),
	    with_ath(row[0].claims));
	static const struct { const char *why, *before, *between, *behind; }
	bad[] = {
		{ "two fields, joined", "", ", ", "" },
		{ "joined without a space", "", ",", "" },
		{ "two, and a space between", "", " ", "" },
		{ "two, and a dot between", "", ".", "" },
		{ "a comma behind", "", NULL, "," },
		{ "a space before", " ", NULL, "" },
		{ "a space behind", "", NULL, " " },
		{ "a tab behind", "", NULL, "\t" },
		{ "quoted", "\"", NULL, "\"" },
		{ "under the scheme's name", "DPoP ", NULL, "" },
	};
	struct pf_str text;
	struct pf_proof p;
	const char *why;
	char *z;

	proof_of(good, "one field");
	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		text = join("%s%.*s%s%.*s%s", bad[i].before, PF_STRF(good),
		    bad[i].between == NULL ? "" : bad[i].between,
		    bad[i].between == NULL ? 0 : (int)good.n, good.p,
		    bad[i].behind);
		tap_is(pf_dpop_check(&arena, text, &here, &p, &why),
		    PF_E_INPUT, "refused: %s", bad[i].why);
		if (pf_str_has(text, ',') || pf_str_has(text, ' '))
			tap_ok(strstr(why, "exactly one") != NULL,
			    "because: %s", why);
	}
	tap_is(pf_dpop_check(&arena, PF_NOSTR, &here, &p, &why), PF_E_INPUT,
	    "refused: nothing");
	tap_is(pf_dpop_check(&arena, pf_str_head(good, 100), &here, &p, &why),
	    PF_E_INPUT, "refused: cut");
	z = pf_arena_z(&arena, good);
	tap_need(z != NULL, "arena");
	text = pf_bytes(z, good.n);
	z[good.n - 2] = z[good.n - 2] == 'A' ? 'B' : 'A';
	tap_is(pf_dpop_check(&arena, text, &here, &p, &why), PF_E_INPUT,
	    "refused: a changed signature");
	tap_ok(strstr(why, "signature") != NULL, "because: %s", why);
}

/* What is the same URL and what is not. */
#define U	"https://h.example/x"
static const struct { const char *htu, *url; bool same; } urls[] = {
	{ "https://H.Example/x", U, true },
	{ "https://h.example:443/x", U, true },
	{ "HTTPS://h.example/x", U, true },
	{ U, "HTTPS://H.EXAMPLE:443/x", true },
	{ "https://h.example:/x", U, true },
	{ U "?a=b", U, true },
	{ U "#f", U, true },
	{ U "?a=b#c?d", U "?cursor=1", true },
	{ U "#c?d=/e", U, true },
	{ "https://h.example", "https://h.example/", true },
	{ "https://h.example?q=/x", "https://h.example/", true },
	{ "https://h.example:8443/x", "https://h.example:8443/x", true },
	{ "https://[2001:DB8::1]:8443/x", "https://[2001:db8::1]:8443/x",
	    true },
	{ "https://h.example/a%2Fb", "https://h.example/a%2Fb", true },
	{ "http://h.example/x", U, false },
	{ "http://h.example/x", "http://h.example/x", false },
	{ "https:/h.example/x", U, false },
	{ "https//h.example/x", U, false },
	{ "//h.example/x", U, false },
	{ "/x", U, false },
	{ "", U, false },
	{ "", "", false },
	{ "https://", "https://", false },
	{ "https:///x", "https:///x", false },
	{ "https://:443/x", "https://:443/x", false },
	{ "https://h.example:8443/x", U, false },
	{ "https://h.example:444/x", U, false },
	{ "https://h.example:80/x", U, false },
	{ "https://h.example:0443/x", U, false },
	{ "https://h.example:443a/x", U, false },
	{ "https://h.example:x/x", "https://h.example:x/x", false },
	{ "https://h.example:443:443/x", U, false },
	{ "https://[::1/x", "https://[::1/x", false },
	{ "https://[::1]x/x", "https://[::1]x/x", false },
	{ "https://h.example/x/", U, false },
	{ "https://h.example//x", U, false },
	{ "https://h.example/X", U, false },
	{ "https://h.example/%78", U, false },
	{ "https://h.example/a%2Fb", "https://h.example/a/b", false },
	{ "https://h.example/a%2fb", "https://h.example/a%2Fb", false },
	{ "https://h.example/./x", U, false },
	{ "https://h.example/y/../x", U, false },
	{ "https://h.example./x", U, false },
	{ "https://www.h.example/x", U, false },
	{ "https://h.example.evil.example/x", U, false },
	{ "https://u@h.example/x", U, false },
	{ "https://u:p@h.example/x", U, false },
	{ "https://u@h.example/x", "https://u@h.example/x", false },
	{ "https://h.example@evil.example/x", U, false },
	{ "https://evil.example/@h.example/x", U, false },
	{ " https://h.example/x", U, false },
	{ "https://h.example/x ", U, false },
	{ "https://h.example\\x", U, false },
};

static void
same_url(void)
{
	for (size_t i = 0; i < PF_COUNT(urls); i++)
		tap_is(pf_dpop_same_url(pf_str(urls[i].htu),
		    pf_str(urls[i].url)), urls[i].same, "%s %s %s",
		    urls[i].htu, urls[i].same ? "is" : "is not", urls[i].url);
	tap_ok(!pf_dpop_same_url(PF_LIT(U "\0"), PF_LIT(U)), "a NUL behind");
	tap_ok(!pf_dpop_same_url(PF_NOSTR, PF_LIT(U)), "not given");
}

int
main(void)
{
	unsigned char hash[PF_SHA256_LEN];
	struct pf_key *k;

	jose_begin();
	k = private_key("{" A3_PUBLIC "," A3_D "}");
	tap_need(pf_sha256(PF_LIT(TOKEN), hash) == PF_OK, "ath");
	ath[pf_b64url_encode(hash, sizeof(hash), ath)] = '\0';
	figures();
	checks(k);
	algs();
	spending(k);
	fields(k);
	same_url();
	pf_key_free(k);
	return jose_end();
}
