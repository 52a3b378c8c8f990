/*
 * poppy-agent's judgement of what a Company publishes and answers: sections 3
 * to 3.2 and 4.2.
 */
#include "config.h"

#include <string.h>

#include "tests/unit/tap.h"
#include "tools/poppy-agent/documents.h"
#include "tools/poppy-agent/token.h"

static struct pf_arena arena;

#define HEAD	"\"protocol_version\":\"0.1\","				\
		"\"organization\":{\"name\":\"E\",\"domain\":\"e.example\"}"
#define AUTH	"\"auth\":{\"issuer\":\"https://auth.example/x\"}"
#define DOC(s)	"{" HEAD "," AUTH "," s "}"

/* rule NULL: it passes. */
static const struct { const char *why, *doc, *rule; } docs[] = {
	{ "all there", DOC("\"apis\":[]"), NULL },
	{ "with what nobody knows", DOC("\"apis\":[{\"type\":\"new\"}],"
	    "\"later\":{\"a\":[null]}"), NULL },
	{ "web alone, without auth", "{" HEAD ",\"web\":{}}", NULL },
	{ "agent alone", DOC("\"agent\":{\"protocols\":[]}"), NULL },
	{ "an array", "[]", "R-3-1" },
	{ "a string", "\"x\"", "R-3-1" },
	{ "no version", "{\"organization\":{\"name\":\"E\","
	    "\"domain\":\"e.example\"},\"web\":{}}", "R-3.1-1" },
	{ "null as version", "{\"protocol_version\":null}", "R-3.1-1" },
	{ "version 1", "{\"protocol_version\":\"1.0\"}", "R-3.1-1" },
	{ "three parts", "{\"protocol_version\":\"0.1.0\"}", "R-3.1-1" },
	{ "one part", "{\"protocol_version\":\"0\"}", "R-3.1-1" },
	{ "a negative major", "{\"protocol_version\":\"-0.1\"}", "R-3.1-1" },
	{ "an empty minor", "{\"protocol_version\":\"0.\"}", "R-3.1-1" },
	{ "a space", "{\"protocol_version\":\" 0.1\"}", "R-3.1-1" },
	{ "organization as text",
	    "{\"protocol_version\":\"0.1\",\"organization\":\"E\"}",
	    "R-3.1-2" },
	{ "an empty name", "{\"protocol_version\":\"0.1\",\"organization\":"
	    "{\"name\":\"\",\"domain\":\"e.example\"}}", "R-3.1-2" },
	{ "no domain", "{\"protocol_version\":\"0.1\",\"organization\":"
	    "{\"name\":\"E\"}}", "R-3.1-2" },
	{ "another domain", "{\"protocol_version\":\"0.1\",\"organization\":"
	    "{\"name\":\"E\",\"domain\":\"f.example\"}}", "R-3.1-3" },
	{ "a subdomain", "{\"protocol_version\":\"0.1\",\"organization\":"
	    "{\"name\":\"E\",\"domain\":\"a.e.example\"}}", "R-3.1-3" },
	{ "the parent", "{\"protocol_version\":\"0.1\",\"organization\":"
	    "{\"name\":\"E\",\"domain\":\"example\"}}", "R-3.1-3" },
	{ "with a port", "{\"protocol_version\":\"0.1\",\"organization\":"
	    "{\"name\":\"E\",\"domain\":\"e.example:443\"}}", "R-3.1-3" },
	{ "nothing offered", "{" HEAD "," AUTH "}", "R-3.1-12" },
	{ "apis as an object", DOC("\"apis\":{}"), "R-3.1-12" },
	{ "apis without auth", "{" HEAD ",\"apis\":[]}", "R-3.1-5" },
	{ "agent without auth", "{" HEAD ",\"agent\":{}}", "R-3.1-5" },
	{ "a browser endpoint without auth", "{" HEAD ",\"web\":"
	    "{\"browser_session_endpoint\":\"https://e.example/b\"}}",
	    "R-3.1-5" },
	{ "auth as null", "{" HEAD ",\"apis\":[],\"auth\":null}", "R-3.1-5" },
	{ "no issuer", "{" HEAD ",\"apis\":[],\"auth\":{}}", "R-3.1-6" },
	{ "an issuer by http", "{" HEAD ",\"apis\":[],\"auth\":"
	    "{\"issuer\":\"http://auth.example\"}}", "R-3.1-6" },
	{ "an issuer with userinfo", "{" HEAD ",\"apis\":[],\"auth\":"
	    "{\"issuer\":\"https://a@auth.example\"}}", "R-3.1-6" },
	{ "an issuer as number", "{" HEAD ",\"apis\":[],\"auth\":"
	    "{\"issuer\":1}}", "R-3.1-6" },
};

#define META(s)	"{\"issuer\":\"https://auth.example/x\","		\
		"\"poppy_domains\":[\"e.example\"]," s "}"
#define ENDS	"\"token_endpoint\":\"https://auth.example/t\","	\
		"\"revocation_endpoint\":\"https://auth.example/r\""

static const struct {
	const char *why, *doc, *rule;
	bool direct, device;
} metas[] = {
	{ "all there", META(ENDS), NULL, false, false },
	{ "all there, and more", META(ENDS ",\"x\":[1]"), NULL, false, false },
	{ "with sign-in", META(ENDS ","
	    "\"authorization_endpoint\":\"https://auth.example/a\","
	    "\"device_authorization_endpoint\":\"https://auth.example/d\""),
	    NULL, true, true },
	{ "an array", "[]", "R-3.2-1", false, false },
	{ "no issuer", "{" ENDS "}", "R-3.2-3", false, false },
	{ "an issuer with a slash more",
	    "{\"issuer\":\"https://auth.example/x/\"}", "R-3.2-3", false,
	    false },
	{ "an issuer in other case", "{\"issuer\":\"https://AUTH.example/x\"}",
	    "R-3.2-3", false, false },
	{ "no domains", "{\"issuer\":\"https://auth.example/x\"," ENDS "}",
	    "R-3.2-4", false, false },
	{ "domains as text", "{\"issuer\":\"https://auth.example/x\","
	    "\"poppy_domains\":\"e.example\"}", "R-3.2-4", false, false },
	{ "other domains", "{\"issuer\":\"https://auth.example/x\","
	    "\"poppy_domains\":[1,\"example\",\"a.e.example\",\"*\"]}",
	    "R-3.2-4", false, false },
	{ "no token_endpoint", META(
	    "\"revocation_endpoint\":\"https://auth.example/r\""), "R-3.2-6",
	    false, false },
	{ "token_endpoint by http", META(
	    "\"token_endpoint\":\"http://auth.example/t\""), "R-3.2-6", false,
	    false },
	{ "token_endpoint as null", META("\"token_endpoint\":null"),
	    "R-3.2-6", false, false },
	{ "no revocation_endpoint", META(
	    "\"token_endpoint\":\"https://auth.example/t\""), "R-3.2-7", false,
	    false },
	{ "direct without endpoint", META(ENDS), "R-3.2-8", true, false },
	{ "device without endpoint", META(ENDS), "R-3.2-9", false, true },
};

#define GRANT(token, type, in, scope, id, is)				\
	"{\"access_token\":" token ",\"token_type\":" type		\
	",\"expires_in\":" in ",\"scope\":" scope			\
	",\"session_id\":" id ",\"signed_in\":" is "}"

static const struct { const char *why, *doc, *rule; } grants[] = {
	{ "sound", GRANT("\"t\"", "\"DPoP\"", "1", "\"\"", "\"s\"", "false"),
	    NULL },
	{ "type in other case",
	    GRANT("\"t\"", "\"dpop\"", "1", "\"\"", "\"s\"", "false"), NULL },
	{ "Bearer", GRANT("\"t\"", "\"Bearer\"", "1", "\"\"", "\"s\"",
	    "false"), "R-4.2-12" },
	{ "no token", GRANT("null", "\"DPoP\"", "1", "\"\"", "\"s\"",
	    "false"), "R-4.2-12" },
	{ "an empty token", GRANT("\"\"", "\"DPoP\"", "1", "\"\"", "\"s\"",
	    "false"), "R-4.2-12" },
	{ "a token with a space", GRANT("\"a b\"", "\"DPoP\"", "1", "\"\"",
	    "\"s\"", "false"), "R-4.2-12" },
	{ "a token with CR LF", GRANT("\"a\\r\\nb: c\"", "\"DPoP\"", "1",
	    "\"\"", "\"s\"", "false"), "R-4.2-12" },
	{ "expires_in 0", GRANT("\"t\"", "\"DPoP\"", "0", "\"\"", "\"s\"",
	    "false"), "R-4.2-13" },
	{ "expires_in -1", GRANT("\"t\"", "\"DPoP\"", "-1", "\"\"", "\"s\"",
	    "false"), "R-4.2-13" },
	{ "expires_in 1.5", GRANT("\"t\"", "\"DPoP\"", "1.5", "\"\"",
	    "\"s\"", "false"), "R-4.2-13" },
	{ "expires_in as text", GRANT("\"t\"", "\"DPoP\"", "\"1\"", "\"\"",
	    "\"s\"", "false"), "R-4.2-13" },
	{ "no Session", GRANT("\"t\"", "\"DPoP\"", "1", "\"\"", "null",
	    "false"), "R-4.2-15" },
	{ "an empty Session", GRANT("\"t\"", "\"DPoP\"", "1", "\"\"", "\"\"",
	    "false"), "R-4.2-15" },
	{ "another Session", GRANT("\"t\"", "\"DPoP\"", "1", "\"\"", "\"q\"",
	    "false"), "R-4.2-20" },
	{ "signed in", GRANT("\"t\"", "\"DPoP\"", "1", "\"\"", "\"s\"",
	    "true"), "R-4.2-16" },
	{ "signed_in as text", GRANT("\"t\"", "\"DPoP\"", "1", "\"\"",
	    "\"s\"", "\"false\""), "R-4.2-16" },
	{ "a scope", GRANT("\"t\"", "\"DPoP\"", "1", "\"a\"", "\"s\"",
	    "false"), "R-4.2-17" },
	{ "no scope", GRANT("\"t\"", "\"DPoP\"", "1", "null", "\"s\"",
	    "false"), "R-4.2-17" },
};

#define SIGNED_IN(scope, id, is, more)					\
	"{\"access_token\":\"t\",\"token_type\":\"DPoP\",\"expires_in\":1," \
	"\"scope\":" scope ",\"session_id\":" id ",\"signed_in\":" is more "}"
#define R	",\"refresh_token\":\"r\""

/* For Session s and scopes a and b. */
static const struct { const char *why, *doc, *rule; } sign_ins[] = {
	{ "sound", SIGNED_IN("\"a b\"", "\"s\"", "true", R), NULL },
	{ "fewer scopes", SIGNED_IN("\"b\"", "\"s\"", "true", R
	    ",\"refresh_token_expires_in\":9"), NULL },
	{ "of a refresh", SIGNED_IN("\"a\"", "\"s\"", "true", ""), NULL },
	{ "signed out", SIGNED_IN("\"a\"", "\"s\"", "false", R), "R-4.4-10" },
	{ "signed_in as a number", SIGNED_IN("\"a\"", "\"s\"", "1", R),
	    "R-4.4-10" },
	{ "no scope", SIGNED_IN("null", "\"s\"", "true", R), "R-4.4-12" },
	{ "an empty scope", SIGNED_IN("\"\"", "\"s\"", "true", R),
	    "R-4.4-12" },
	{ "a scope nobody asked for", SIGNED_IN("\"a c\"", "\"s\"", "true",
	    R), "R-4.4-7" },
	{ "another Session", SIGNED_IN("\"a\"", "\"q\"", "true", R),
	    "R-4.2-20" },
	{ "an Account Token that is none", SIGNED_IN("\"a\"", "\"s\"",
	    "true", ",\"refresh_token\":\"a b\""), "R-4.4-10" },
	{ "... or a number", SIGNED_IN("\"a\"", "\"s\"", "true",
	    ",\"refresh_token\":7"), "R-4.4-10" },
	{ "a lifetime of 0", SIGNED_IN("\"a\"", "\"s\"", "true", R
	    ",\"refresh_token_expires_in\":0"), "R-4.4-11" },
	{ "... as text", SIGNED_IN("\"a\"", "\"s\"", "true", R
	    ",\"refresh_token_expires_in\":\"9\""), "R-4.4-11" },
};

/* want NULL: refused. */
static const struct { const char *in, *want; } issuers[] = {
	{ "https://a.example", "https://a.example/.well-known/"
	    "oauth-authorization-server" },
	{ "https://a.example/", "https://a.example/.well-known/"
	    "oauth-authorization-server" },
	{ "https://A.example:443/x/y", "https://a.example/.well-known/"
	    "oauth-authorization-server/x/y" },
	{ "https://a.example:8443/x/", "https://a.example:8443/.well-known/"
	    "oauth-authorization-server/x" },
	{ "https://a.example/?q", NULL },
	{ "https://a.example/#f", NULL },
	{ "http://a.example/", NULL },
	{ "https://u@a.example/", NULL },
	{ "a.example", NULL },
	{ "", NULL },
};

static const struct { const char *in, *url, *host, *key; } domains[] = {
	{ "e.example", "https://e.example/.well-known/poppy.json",
	    "e.example", "e.example" },
	{ "E.Example.", "https://e.example/.well-known/poppy.json",
	    "e.example", "e.example" },
	{ "localhost:8443", "https://localhost:8443/.well-known/poppy.json",
	    "localhost", "localhost:8443" },
	{ "e.example:443", "https://e.example/.well-known/poppy.json",
	    "e.example", "e.example" },
	{ "", NULL, NULL, NULL },
	{ ".", NULL, NULL, NULL },
	{ "e.example/", NULL, NULL, NULL },
	{ "e.example/x", NULL, NULL, NULL },
	{ "e.example?x", NULL, NULL, NULL },
	{ "e.example#x", NULL, NULL, NULL },
	{ "u@e.example", NULL, NULL, NULL },
	{ "https://e.example", NULL, NULL, NULL },
	{ "e.example:0x1", NULL, NULL, NULL },
	{ "e.example:99999", NULL, NULL, NULL },
	{ "e example", NULL, NULL, NULL },
	{ "e..example", NULL, NULL, NULL },
};

static const struct pf_json *
parse(const char *text)
{
	const struct pf_json *v = NULL;

	tap_need(pf_json_parse(&arena, pf_str(text), &pf_json_small, &v,
	    NULL) == PF_OK, text);
	return v;
}

static bool
as_told(enum pf_rc rc, const struct ag_fault *f, const char *rule)
{
	if (rule == NULL)
		return rc == PF_OK;
	return rc == PF_E_UPSTREAM && f->rule != NULL &&
	    strcmp(f->rule, rule) == 0 && f->got[0] != '\0' &&
	    ag_rule_text(rule) != NULL;
}

static void
test_documents(void)
{
	struct ag_fault f;
	enum pf_rc rc;

	for (size_t i = 0; i < PF_COUNT(docs); i++) {
		struct ag_company c = { .nnotes = 0 };

		ag_fault_asked(&f, NULL, PF_NOSTR);
		rc = ag_poppy_check(parse(docs[i].doc), PF_LIT("e.example"),
		    &c, &f);
		tap_ok(as_told(rc, &f, docs[i].rule), "poppy.json: %s",
		    docs[i].why);
	}
	for (size_t i = 0; i < PF_COUNT(metas); i++) {
		struct ag_company c = {
			.issuer = PF_LIT("https://auth.example/x"),
			.domain = PF_LIT("e.example"),
			.direct = metas[i].direct, .device = metas[i].device,
		};

		ag_fault_asked(&f, NULL, PF_NOSTR);
		rc = ag_metadata_check(parse(metas[i].doc), &c, &f);
		tap_ok(as_told(rc, &f, metas[i].rule), "metadata: %s",
		    metas[i].why);
	}
}

static void
test_grants(void)
{
	struct ag_grant g;
	struct ag_fault f;
	enum pf_rc rc;

	for (size_t i = 0; i < PF_COUNT(grants); i++) {
		ag_fault_asked(&f, NULL, PF_NOSTR);
		rc = ag_grant_check(parse(grants[i].doc), PF_LIT("s"), &g, &f);
		tap_ok(as_told(rc, &f, grants[i].rule), "token reply: %s",
		    grants[i].why);
	}
	ag_fault_asked(&f, NULL, PF_NOSTR);
	rc = ag_grant_check(parse("{\"access_token\":\"t\","
	    "\"token_type\":\"DPoP\",\"expires_in\":1,\"scope\":\"\","
	    "\"session_id\":\"s\",\"signed_in\":false,"
	    "\"refresh_token\":\"r\"}"), PF_NOSTR, &g, &f);
	tap_ok(as_told(rc, &f, "R-4.2-18"), "token reply: an Account Token");
	for (size_t i = 0; i < PF_COUNT(sign_ins); i++) {
		ag_fault_asked(&f, NULL, PF_NOSTR);
		rc = ag_grant_check_signed_in(parse(sign_ins[i].doc),
		    PF_LIT("s"), PF_LIT("a b"), &g, &f);
		tap_ok(as_told(rc, &f, sign_ins[i].rule), "sign-in reply: %s",
		    sign_ins[i].why);
	}
}

static void
test_urls(void)
{
	struct pf_str url, host, key;
	enum pf_rc rc;

	for (size_t i = 0; i < PF_COUNT(issuers); i++) {
		rc = ag_metadata_url(&arena, pf_str(issuers[i].in), &url);
		tap_ok(issuers[i].want == NULL ? rc == PF_E_INPUT :
		    rc == PF_OK && pf_str_eqz(url, issuers[i].want),
		    "metadata of \"%s\"", issuers[i].in);
	}
	for (size_t i = 0; i < PF_COUNT(domains); i++) {
		rc = ag_wellknown_url(&arena, domains[i].in, &url, &host,
		    &key);
		tap_ok(domains[i].url == NULL ? rc == PF_E_INPUT :
		    rc == PF_OK && pf_str_eqz(url, domains[i].url) &&
		    pf_str_eqz(host, domains[i].host) &&
		    pf_str_eqz(key, domains[i].key), "domain \"%s\"",
		    domains[i].in);
	}
}

static void
test_details(void)
{
	struct ag_company c = { .nnotes = 0 };
	struct ag_fault f;

	ag_fault_asked(&f, NULL, PF_NOSTR);
	tap_is(ag_poppy_check(parse("{\"protocol_version\":\"0.9\","
	    "\"organization\":{\"name\":\"E\",\"domain\":\"E.example\"}," AUTH
	    ",\"apis\":[{\"type\":\"new\",\"url\":1},"
	    "{\"type\":\"openapi\",\"url\":\"http://e.example\"},"
	    "{\"type\":\"openapi\",\"url\":\"https://e.example/o\"},"
	    "{\"url\":\"https://e.example/p\"},"
	    "{\"type\":\"mcp\",\"url\":\"https://e.example/m\","
	    "\"description\":\"d\",\"resource\":\"https://e.example/m\"}],"
	    "\"agent\":{\"protocols\":[{\"type\":\"x\",\"endpoint\":1},"
	    "{\"type\":\"poppy\",\"endpoint\":\"https://e.example/c\"}]}}"),
	    PF_LIT("www.e.example"), &c, &f), PF_OK,
	    "another case, www., a newer minor version");
	tap_is((long long)c.napis, 2, "apis that can be used");
	tap_is_z(c.api[0].url, "https://e.example/o", "the first");
	tap_is_z(c.api[1].resource, "https://e.example/m", "its resource");
	tap_is_z(c.chat_endpoint, "https://e.example/c", "conversations");
	tap_is((long long)c.nnotes, 3, "notes: http, description, type");
}

int
main(void)
{
	tap_need(pf_arena_init(&arena, 65536, 4 << 20) == PF_OK, "memory");
	test_documents();
	test_grants();
	test_urls();
	test_details();
	pf_arena_free(&arena);
	return tap_done();
}
