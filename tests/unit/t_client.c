/* Agents' metadata documents, cache times, and the cache of clients. */
#include "core/poppy/client.h"
#include "core/poppy/fetch.h"
#include "tests/unit/tap.h"

#define ID	"https://agent.example/agent.json"
#define DOC(rest)	"{\"client_id\":\"" ID "\"," rest "}"
#define JWKS	"\"jwks_uri\":\"https://agent.example/jwks.json\""

static const struct { const char *why, *doc; } good[] = {
	{ "the least", DOC(JWKS) },
	{ "a subdomain", DOC("\"jwks_uri\":\"https://keys.agent.example/j\"") },
	{ "host in another case",
	    DOC("\"jwks_uri\":\"https://AGENT.example/j\"") },
	{ "unknown members and extensions", DOC(JWKS
	    ",\"x\":[1],\"extensions\":{\"x.example/y\":{\"version\":1}}") },
	{ "private_key_jwt", DOC(JWKS
	    ",\"token_endpoint_auth_method\":\"private_key_jwt\"") },
	{ "redirects on its host", DOC(JWKS
	    ",\"redirect_uris\":[\"https://agent.example/cb?x=1\"]") },
	{ "a null method counts as absent", DOC(JWKS
	    ",\"token_endpoint_auth_method\":null") },
};

static const struct { const char *why, *doc; } bad[] = {
	{ "no JSON", "hello" },
	{ "an array", "[]" },
	{ "no client_id", "{" JWKS "}" },
	{ "another client_id",
	    "{\"client_id\":\"https://agent.example/other.json\"," JWKS "}" },
	{ "client_id in another case",
	    "{\"client_id\":\"https://AGENT.example/agent.json\"," JWKS "}" },
	{ "client_id twice", DOC("\"client_id\":\"" ID "\"," JWKS) },
	{ "no jwks_uri", DOC("\"jwks\":{\"keys\":[]}") },
	{ "http jwks_uri", DOC("\"jwks_uri\":\"http://agent.example/j\"") },
	{ "foreign jwks_uri", DOC("\"jwks_uri\":\"https://other.example/j\"") },
	{ "look-alike suffix",
	    DOC("\"jwks_uri\":\"https://evilagent.example/j\"") },
	{ "look-alike prefix",
	    DOC("\"jwks_uri\":\"https://agent.example.evil.com/j\"") },
	{ "userinfo", DOC("\"jwks_uri\":\"https://agent.example@evil.com/j\"") },
	{ "jwks_uri that is a list", DOC("\"jwks_uri\":[]") },
	{ "the parent domain", DOC("\"jwks_uri\":\"https://example/j\"") },
	{ "a foreign redirect", DOC(JWKS
	    ",\"redirect_uris\":[\"https://agent.example/cb\","
	    "\"https://evil.example/cb\"]") },
	{ "an http redirect", DOC(JWKS
	    ",\"redirect_uris\":[\"http://agent.example/cb\"]") },
	{ "a redirect that is no string", DOC(JWKS ",\"redirect_uris\":[7]") },
	{ "redirects that are no list", DOC(JWKS
	    ",\"redirect_uris\":\"https://agent.example/cb\"") },
	{ "client_secret_basic", DOC(JWKS
	    ",\"token_endpoint_auth_method\":\"client_secret_basic\"") },
	{ "auth method none", DOC(JWKS
	    ",\"token_endpoint_auth_method\":\"none\"") },
	{ "auth method of another type", DOC(JWKS
	    ",\"token_endpoint_auth_method\":1") },
};

static const char *const bad_ids[] = {
	"", "agent", "http://agent.example/a", "https://agent.example",
	"https://u@agent.example/a", "https://agent.example/a#f",
	"https://agent.example/../a", "https://agent.example/a//b",
	"https://agent.example/%2e%2e/a", "https:///a", "https://a b/c",
	"https://agent.example\\evil/a", "javascript:alert(1)",
};

static const struct { const char *said; int64_t want; } fresh[] = {
	{ "", 300 },
	{ "max-age=600", 600 },
	{ "public, max-age=600", 600 },
	{ "PUBLIC , MAX-AGE=600 ", 600 },
	{ "max-age=5", 60 },
	{ "max-age=0", 60 },
	{ "max-age=999999999", 86400 },
	{ "max-age=-1", 300 },
	{ "max-age=1e9", 300 },
	{ "max-age=", 300 },
	{ "s-maxage=700", 300 },
	{ "no-store", 60 },
	{ "no-cache, max-age=600", 60 },
	{ "max-age=600, no-store", 60 },
	{ "max-age=99999999999999999999", 300 },
};

static void
documents(struct pf_arena *a)
{
	struct pf_client_doc doc;
	const char *why = NULL;

	for (size_t i = 0; i < PF_COUNT(good); i++)
		tap_is(pf_client_doc(a, PF_LIT(ID), pf_str(good[i].doc), false,
		    &doc, &why), PF_OK, "taken: %s", good[i].why);
	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		why = NULL;
		tap_is(pf_client_doc(a, PF_LIT(ID), pf_str(bad[i].doc), false,
		    &doc, &why), PF_E_INPUT, "refused: %s", bad[i].why);
		tap_ok(why != NULL, "and says why: %s", bad[i].why);
	}
}

/* Of a client that has no keys of its own. */
#define NONE	"\"token_endpoint_auth_method\":\"none\""
#define TO(uri)	NONE ",\"redirect_uris\":[\"" uri "\"]"
static const struct { const char *doc; bool fine; } public[] = {
	{ DOC(NONE), true },
	{ DOC(NONE ",\"jwks_uri\":\"http://other.example/\""), true },
	{ DOC(TO("https://agent.example/cb")), true },
	{ DOC(TO("http://127.0.0.1/cb")), true },
	{ DOC(TO("http://127.0.0.1:9000/cb")), true },
	{ DOC(TO("http://[::1]/cb")), true },
	{ DOC(TO("http://localhost:9000/cb")), true },
	{ DOC(TO("https://evil.example/cb")), false },
	{ DOC(TO("http://agent.example/cb")), false },
	{ DOC(TO("http://127.0.0.1@evil.example/cb")), false },
	{ DOC(TO("http://u@127.0.0.1/cb")), false },
	{ DOC(TO("http://127.0.0.1.evil.example/cb")), false },
	{ DOC(TO("http://127.0.0.2/cb")), false },
	{ DOC(TO("http://127.1/cb")), false },
	{ DOC(TO("http://LOCALHOST/cb")), false },
	{ DOC(TO("http://localhost/cb#f")), false },
	{ DOC(TO("app:/cb")), false },
	{ DOC("\"redirect_uris\":[\"http://127.0.0.1/cb\"]," JWKS), false },
	{ DOC("\"token_endpoint_auth_method\":\"None\""), false },
};

/* What is registered, what is asked for, and whether it may be. */
static const struct {
	const char *registered, *asked;
	bool plain, mcp;
} redirects[] = {
	{ "https://agent.example/cb", "https://agent.example/cb", true, true },
	{ "https://agent.example/cb", "https://agent.example/cb/", false, false },
	{ "https://agent.example/cb", "https://agent.example/cb?a", false,
	    false },
	{ "https://agent.example/cb", "https://agent.example:443/cb", false,
	    false },
	{ "https://agent.example/cb", "https://AGENT.example/cb", false, false },
	{ "https://agent.example/cb", "https://agent.example/x/../cb", false,
	    false },
	{ "https://agent.example/cb", "https://agent.example/x/..;/cb", false,
	    false },
	{ "https://agent.example/cb", "https://agent.example/%63b", false,
	    false },
	{ "https://agent.example/cb", "https://agent.example/cb\t", false,
	    false },
	{ "https://agent.example/cb", "https://agent.example\\@evil/cb", false,
	    false },
	{ "https://agent.example/cb", "", false, false },
	{ "http://127.0.0.1/cb", "http://127.0.0.1:41234/cb", false, true },
	{ "http://127.0.0.1:9000/cb", "http://127.0.0.1:9001/cb", false, true },
	{ "http://127.0.0.1/cb", "http://127.0.0.1/cb", false, true },
	{ "http://[::1]/cb", "http://[::1]:41234/cb", false, true },
	{ "http://127.0.0.1/cb", "http://localhost:41234/cb", false, false },
	{ "http://127.0.0.1/cb", "http://127.0.0.1:41234/cb?a=b", false, false },
	{ "http://127.0.0.1/cb", "http://127.0.0.1:41234/other", false, false },
	{ "http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", false, false },
	{ "http://127.0.0.1/cb", "https://127.0.0.1:41234/cb", false, false },
};

static void
public_clients(struct pf_arena *a)
{
	struct pf_client_doc doc;
	const char *why;

	for (size_t i = 0; i < PF_COUNT(public); i++) {
		struct pf_str text = pf_str(public[i].doc);

		tap_is(pf_client_doc(a, PF_LIT(ID), text, true, &doc, &why),
		    public[i].fine ? PF_OK : PF_E_INPUT, "public client %s",
		    public[i].doc);
		tap_ok(!public[i].fine || (doc.is_public &&
		    !pf_str_given(doc.jwks_uri)), "... has no keys");
		tap_is(pf_client_doc(a, PF_LIT(ID), text, false, &doc, &why),
		    PF_E_INPUT, "... nor anywhere without an MCP server");
	}
	for (size_t i = 0; i < PF_COUNT(redirects); i++) {
		struct pf_str one = pf_str(redirects[i].registered);
		struct pf_str asked = pf_str(redirects[i].asked);

		doc = (struct pf_client_doc){ .redirect_uris = { &one, 1 } };
		tap_is(pf_client_redirect(&doc, asked, false),
		    redirects[i].plain, "%s registered, to %s",
		    redirects[i].registered, redirects[i].asked);
		tap_is(pf_client_redirect(&doc, asked, true),
		    redirects[i].mcp, "... for an MCP server");
	}
}

#define OKP	"{\"kty\":\"OKP\",\"crv\":\"Ed25519\"," \
	"\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}"
#define OKP5	OKP "," OKP "," OKP "," OKP "," OKP

static struct pf_client *
make(int n, int64_t version, const char *keys, int64_t fresh_s)
{
	static char id[64], jwks[4096];
	struct pf_client *c = NULL;
	const char *why;

	(void)snprintf(id, sizeof(id), "https://agent.example/%d", n);
	(void)snprintf(jwks, sizeof(jwks), "{\"keys\":[%s]}", keys);
	tap_need(pf_client_new(pf_str(id), n, version, false, pf_str(jwks),
	    fresh_s, &c, &why) == PF_OK, "a client");
	return c;
}

static struct pf_client *
make_client(int n, int64_t fresh_s)
{
	return make(n, 1, OKP, fresh_s);
}

static bool
knows(struct pf_client_cache *cc, int n)
{
	struct pf_client *c;
	char id[64];

	(void)snprintf(id, sizeof(id), "https://agent.example/%d", n);
	c = pf_client_cache_get(cc, pf_str(id));
	pf_client_drop(c);
	return c != NULL;
}

static void
cache(void)
{
	struct pf_client_cache *cc;
	struct pf_client *c, *held;

	tap_need(pf_client_cache_new(16, &cc) == PF_OK, "a cache");
	for (int i = 0; i < 16; i++) {
		c = make_client(i, 60);
		pf_client_cache_put(cc, c);
		pf_client_drop(c);
	}
	tap_ok(knows(cc, 0), "the first of sixteen is kept");
	held = make_client(99, 60);
	pf_client_cache_put(cc, held);
	tap_ok(knows(cc, 0), "what was used lately stays");
	tap_ok(!knows(cc, 1), "what was used least goes");
	tap_ok(knows(cc, 99), "the new one is there");
	pf_client_cache_forget(cc, held->client_id);
	tap_ok(!knows(cc, 99), "forgotten");
	tap_is(held->no, 99, "who holds one keeps it");
	pf_client_drop(held);
	c = make_client(5, 0);
	pf_client_cache_put(cc, c);
	pf_client_drop(c);
	tap_ok(!knows(cc, 5), "one that is stale is not given");
	pf_client_cache_free(cc);
}

static void
put(struct pf_client_cache *cc, struct pf_client *c)
{
	pf_client_cache_put(cc, c);
	pf_client_drop(c);
}

static int64_t
version(struct pf_client_cache *cc, const char *id)
{
	struct pf_client *c = pf_client_cache_get(cc, pf_str(id));
	int64_t v = c != NULL ? c->version : 0;

	pf_client_drop(c);
	return v;
}

static void
versions(void)
{
	const char *one = "https://agent.example/1";
	struct pf_client_cache *cc;

	tap_need(pf_client_cache_new(16, &cc) == PF_OK, "a cache");
	put(cc, make(1, 2, OKP, 60));
	put(cc, make(1, 1, OKP, 60));
	tap_is(version(cc, one), 2, "an older copy comes too late");
	put(cc, make(1, 3, OKP, 0));
	put(cc, make(1, 2, OKP, 60));
	tap_is(version(cc, one), 2, "... unless the newer one is used up");
	pf_client_cache_free(cc);
}

/* 64 keys fit a cache of 16 clients. */
static void
many_keys(void)
{
	struct pf_client_cache *cc;

	tap_need(pf_client_cache_new(16, &cc) == PF_OK, "a cache");
	for (int i = 0; i < 4; i++)
		put(cc, make(i, 1, OKP5 "," OKP5 "," OKP5, 60));
	tap_ok(knows(cc, 0), "60 keys are kept");
	put(cc, make(4, 1, OKP5, 60));
	tap_ok(!knows(cc, 1) && knows(cc, 0) && knows(cc, 4),
	    "for more the oldest client goes");
	put(cc, make(4, 2, OKP, 60));
	put(cc, make(5, 1, OKP5 "," OKP5, 60));
	tap_ok(knows(cc, 0) && knows(cc, 2) && knows(cc, 3),
	    "the keys of what was replaced are not counted");
	pf_client_cache_free(cc);
}

int
main(void)
{
	struct pf_arena a;

	tap_need(pf_crypt_init() == PF_OK, "OpenSSL");
	tap_need(pf_arena_init(&a, 65536, 1 << 20) == PF_OK, "memory");
	public_clients(&a);
	documents(&a);
	public_clients(&a);
	tap_ok(pf_client_id_ok(PF_LIT(ID)), "a client_id");
	for (size_t i = 0; i < PF_COUNT(bad_ids); i++)
		tap_ok(!pf_client_id_ok(pf_str(bad_ids[i])),
		    "no client_id: \"%s\"", bad_ids[i]);
	for (size_t i = 0; i < PF_COUNT(fresh); i++)
		tap_is(pf_fetch_fresh_s(pf_str(fresh[i].said), 300),
		    fresh[i].want, "Cache-Control: %s", fresh[i].said);
	cache();
	versions();
	many_keys();
	pf_arena_free(&a);
	pf_crypt_end();
	return tap_done();
}
