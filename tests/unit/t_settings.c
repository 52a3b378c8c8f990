/* What must hold between settings; each fault names its key and line. */
#include "config.h"

#include <unistd.h>

#include "core/poppy/settings.h"
#include "tests/unit/tap.h"

#define HOSTS	"\"hosts\": [{ \"host\": \"shop.example\",\n" \
	"\"base\": \"https://shop.example\", \"domain\": \"shop.example\" }],\n"
#define REST	"\"organization\": { \"name\": \"Shop\" },\n" \
	"\"database\": { \"conninfo\": \"dbname=x\" }\n"
#define ISSUER	"\"issuer\": \"https://shop.example\",\n"
#define API	"\"apis\": [{ \"type\": \"openapi\", \"url\": " \
	"\"https://shop.example/o\", \"description\": \"d\" }],\n"
#define GUARD(rule)	"\"guard\": [{ \"prefix\": \"/api/\", \"rules\": " \
	"[\n" rule "\n] }],\n"

static const struct { const char *why, *text, *key; long line; } bad[] = {
	{ "no issuer", "{" HOSTS REST "}", "issuer", 1 },
	{ "issuer elsewhere", "{\n\"issuer\": \"https://other.example\",\n"
	    HOSTS REST "}", "issuer", 2 },
	{ "issuer on a look-alike",
	    "{ \"issuer\": \"https://shop.example.evil.example\",\n"
	    HOSTS REST "}", "issuer", 1 },
	{ "http issuer", "{ \"issuer\": \"http://shop.example\",\n"
	    HOSTS REST "}", "issuer", 1 },
	{ "issuer with a slash", "{ \"issuer\": \"https://shop.example/\",\n"
	    HOSTS REST "}", "issuer", 1 },
	{ "a host twice", "{" ISSUER
	    "\"hosts\": [{ \"host\": \"a.example\",\n"
	    "\"base\": \"https://shop.example\" },\n"
	    "{ \"host\": \"a.example\", \"base\": \"https://b.example\" }],\n"
	    REST "}", "hosts.host", 4 },
	{ "host with a port", "{" ISSUER
	    "\"hosts\": [{ \"host\": \"a.example:1\",\n"
	    "\"base\": \"https://shop.example\" }],\n" REST "}",
	    "hosts[0].host", 2 },
	{ "base with a path", "{" ISSUER
	    "\"hosts\": [{ \"host\": \"a.example\",\n"
	    "\"base\": \"https://shop.example/x\" }],\n" REST "}",
	    "hosts[0].base", 3 },
	{ "domain with www.", "{" ISSUER
	    "\"hosts\": [{ \"host\": \"www.a.example\",\n\"base\": "
	    "\"https://shop.example\", \"domain\": \"www.a.example\" }],\n"
	    REST "}", "hosts.domain", 2 },
	{ "apis without issuer", "{ \"issuer\": \"\",\n" HOSTS API REST "}",
	    "issuer", 1 },
	{ "nothing published", "{" ISSUER "\"web\": false,\n" HOSTS REST "}",
	    "web", 2 },
	{ "an api of an unknown type", "{" ISSUER HOSTS
	    "\"apis\": [{ \"type\": \"soap\", \"url\": "
	    "\"https://shop.example/o\", \"description\": \"d\" }],\n"
	    REST "}", "apis[0].type", 4 },
	{ "an http api", "{" ISSUER HOSTS
	    "\"apis\": [{ \"type\": \"openapi\", \"url\": "
	    "\"http://shop.example/o\", \"description\": \"d\" }],\n"
	    REST "}", "apis[0].url", 4 },
	{ "a rule outside its prefix", "{" ISSUER HOSTS
	    GUARD("{ \"path\": \"/other\" }") REST "}", "guard.rules.path", 5 },
	{ "open and scopes", "{" ISSUER HOSTS
	    GUARD("{ \"path\": \"/api/x\", \"open\": true,"
	    " \"scopes\": [\"poppy:read\"] }") REST "}", "guard.rules.open", 5 },
	{ "an unknown method", "{" ISSUER HOSTS
	    GUARD("{ \"path\": \"/api/x\", \"methods\": [\"BREW\"] }")
	    REST "}", "guard[0].rules[0].methods", 5 },
	{ "a scope with a space", "{" ISSUER HOSTS
	    GUARD("{ \"path\": \"/api/x\", \"scopes\": [\"a b\"] }")
	    REST "}", "guard[0].rules[0].scopes", 5 },
	{ "the guard before /poppy/", "{" ISSUER HOSTS
	    "\"guard\": [{ \"prefix\": \"/poppy/x/\", \"rules\": "
	    "[{ \"path\": \"/poppy/x/y\" }] }],\n" REST "}",
	    "guard[0].prefix", 4 },
	{ "a prefix with dots", "{" ISSUER HOSTS
	    "\"guard\": [{ \"prefix\": \"/api/../\", \"rules\": "
	    "[{ \"path\": \"/api/../y\" }] }],\n" REST "}",
	    "guard[0].prefix", 4 },
	{ "an unknown key", "{" ISSUER HOSTS "\"isuer\": \"x\",\n" REST "}",
	    "isuer", 4 },
	{ "a token that lasts days", "{" ISSUER HOSTS
	    "\"tokens\": { \"session_seconds\": 86401 },\n" REST "}",
	    "tokens.session_seconds", 4 },
	{ "an unknown log level", "{" ISSUER HOSTS "\"log\": \"loud\",\n"
	    REST "}", "log", 4 },
	{ "a network without bits", "{" ISSUER HOSTS
	    "\"agents\": { \"allow_networks\": [\"10.0.0.0\"] },\n"
	    REST "}", "agents.allow_networks", 4 },
	{ "a network with too many", "{" ISSUER HOSTS
	    "\"agents\": { \"allow_networks\": [\"10.0.0.0/33\"] },\n"
	    REST "}", "agents.allow_networks", 4 },
	{ "a network that is none", "{" ISSUER HOSTS
	    "\"agents\": { \"allow_networks\": [\"localhost/8\"] },\n"
	    REST "}", "agents.allow_networks", 4 },
	{ "a port 0", "{" ISSUER HOSTS
	    "\"agents\": { \"ports\": [\"0\"] },\n" REST "}",
	    "agents.ports", 4 },
	{ "no new agent at all", "{" ISSUER HOSTS
	    "\"agents\": { \"new_per_hour\": 0 },\n" REST "}",
	    "agents.new_per_hour", 4 },
	{ "more new agents than are remembered", "{" ISSUER HOSTS
	    "\"agents\": { \"new_per_hour\": 10001 },\n" REST "}",
	    "agents.new_per_hour", 4 },
	{ "a share of an agent", "{" ISSUER HOSTS
	    "\"agents\": { \"new_per_domain\": 0.5 },\n" REST "}",
	    "agents.new_per_domain", 4 },
	{ "agents below none for an address", "{" ISSUER HOSTS
	    "\"agents\": { \"new_per_address\": -1 },\n" REST "}",
	    "agents.new_per_address", 4 },
	{ "registration in words", "{" ISSUER HOSTS
	    "\"agents\": { \"registration\": \"on\" },\n" REST "}",
	    "agents.registration", 4 },
};

static char path[] = "/tmp/t_settings.XXXXXX";

static enum pf_rc
read_text(struct pf_arena *a, const char *text, struct pf_settings *s,
    struct pf_conf_fault *fault)
{
	FILE *f = fopen(path, "w");

	tap_need(f != NULL, "a temporary file");
	(void)fputs(text, f);
	tap_need(fclose(f) == 0, "writing it");
	*fault = (struct pf_conf_fault){ 0 };
	return pf_settings_read(path, a, s, fault);
}

static void
check_good(struct pf_arena *a)
{
	struct pf_conf_fault f;
	struct pf_settings s;

	tap_is(read_text(a, "{ \"issuer\": \"https://shop.example/t\",\n" HOSTS
	    API GUARD("{ \"path\": \"/api/x\", \"scopes\": [\"poppy:read\"] }")
	    REST "}", &s, &f), PF_OK, "a full file (%s %s)", f.key, f.reason);
	tap_is_z(s.issuer_path, "/t", "the issuer's path");
	tap_is_z(s.token_endpoint, "https://shop.example/poppy/oauth/token",
	    "the token endpoint");
	tap_ok(pf_settings_host(&s, PF_LIT("shop.example")) == s.issuer_host,
	    "the issuer's host");
	tap_ok(pf_settings_host(&s, PF_LIT("evil.example")) == NULL,
	    "a host that is none");
	tap_ok(pf_settings_domain(&s, PF_LIT("shop.example")), "a domain");
	tap_is(s.tokens.session_seconds, 3600, "a default");
	tap_is(read_text(a, "{ \"issuer\": \"\",\n" HOSTS REST "}", &s, &f),
	    PF_OK, "only a website");
	tap_ok(s.issuer_host == NULL, "has no issuer");
}

int
main(void)
{
	struct pf_conf_fault f;
	struct pf_settings s;
	struct pf_arena a;
	int fd;

	tap_need((fd = mkstemp(path)) != -1 && close(fd) == 0, "a file");
	tap_need(pf_arena_init(&a, 65536, 4 << 20) == PF_OK, "memory");
	check_good(&a);
	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		pf_arena_reset(&a);
		tap_is(read_text(&a, bad[i].text, &s, &f), PF_E_INPUT,
		    "refused: %s", bad[i].why);
		tap_ok(strncmp(f.key, bad[i].key, strlen(bad[i].key)) == 0,
		    "names %s (%s: %s)", bad[i].key, f.key, f.reason);
		if (bad[i].line != 0)
			tap_is(f.line, bad[i].line, "and its line");
		tap_ok(strcmp(f.file, path) == 0 && f.reason[0] != '\0',
		    "with file and reason");
	}
	(void)unlink(path);
	pf_arena_free(&a);
	return tap_done();
}
