/* What must hold between settings; each fault names its key and line. */
#include "config.h"

#include <unistd.h>

#include "core/poppy/settings.h"
#include "tests/unit/tap.h"

#define HOSTS	"\"hosts\": [{ \"host\": \"shop.example\",\n" \
	"\"base\": \"https://shop.example\", \"domain\": \"shop.example\" }],\n"
#define FIELD(n, s)	"{ \"name\": \"" n "\", \"label\": \"l\", " \
			"\"secret\": " s " }"
#define REST	"\"organization\": { \"name\": \"Shop\" },\n" \
	"\"database\": { \"conninfo\": \"dbname=x\" }\n"
#define ISSUER	"\"issuer\": \"https://shop.example\",\n"
#define API	"\"apis\": [{ \"type\": \"openapi\", \"url\": " \
	"\"https://shop.example/o\", \"description\": \"d\" }],\n"
#define GUARD(rule)	"\"guard\": [{ \"prefix\": \"/api/\", \"rules\": " \
	"[\n" rule "\n] }],\n"

/* Two entries of apis, a line each, and what stands before an MCP server. */
#define ENTRY(type, url, more)	"{ \"type\": \"" type "\", \"url\": \"" \
	url "\", \"description\": \"d\"" more " },\n"
#define APIS(list)	"\"apis\": [\n" list "],\n"
#define BEFORE(prefix, api, path)	"{ \"prefix\": \"" prefix	\
	"\", \"api\": \"" api "\", \"rules\": [{ \"path\": \"" path	\
	"\" }] },\n"
#define GUARDS(list)	"\"guard\": [\n" list "],\n"
#define MCP	"https://shop.example/mcp"
#define RES	", \"resource\": \"https://shop.example/r\""

static const struct { const char *why, *text, *key; long line; } bad[] = {
	{ "a logo by http", "{" ISSUER HOSTS
	    "\"pages\": { \"logo\": \"http://shop.example/l.png\" },\n" REST
	    "}", "pages.logo", 4 },
	{ "a logo by no scheme", "{" ISSUER HOSTS
	    "\"pages\": { \"logo\": \"//evil.example/l.png\" },\n" REST "}",
	    "pages.logo", 4 },
	{ "a home that is a script", "{" ISSUER HOSTS
	    "\"pages\": { \"home_url\": \"javascript:x\" },\n" REST "}",
	    "pages.home_url", 4 },
	{ "an account somewhere", "{" ISSUER HOSTS
	    "\"pages\": { \"account_url\": \"account.php\" },\n" REST "}",
	    "pages.account_url", 4 },
	{ "a folder of wherever we are", "{" ISSUER HOSTS
	    "\"pages\": { \"folder\": \"pages\" },\n" REST "}",
	    "pages.folder", 4 },
	{ "an mcp api on a foreign host", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", "https://mcp.example/mcp", "")) REST "}",
	    "apis.url", 5 },
	{ "... on a look-alike", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", "https://shop.example.evil/mcp", "")) REST "}",
	    "apis.url", 5 },
	{ "... on another port", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", "https://shop.example:444/mcp", "")) REST "}",
	    "apis.url", 5 },
	{ "... without a path", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", "https://shop.example", "")) REST "}",
	    "apis.url", 5 },
	{ "... with a query", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", MCP "?a", "")) REST "}", "apis.url", 5 },
	{ "... with a fragment", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", MCP "#a", "")) REST "}", "apis[0].url", 5 },
	{ "... with an encoded path", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", "https://shop.example/m%63p", "")) REST "}",
	    "apis.url", 5 },
	{ "... with dots in its path", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", "https://shop.example/a/../mcp", "")) REST "}",
	    "apis.url", 5 },
	{ "... with a resource of its own", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", MCP, RES)) REST "}", "apis.resource", 5 },
	{ "... that nothing stands before", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", MCP, "")) GUARDS(BEFORE("/mcp", "openapi",
	    "/mcp")) REST "}", "apis.url", 5 },
	{ "... before another path", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", MCP, "")) GUARDS(BEFORE("/mcp/", MCP,
	    "/mcp/")) REST "}", "guard.prefix", 8 },
	{ "... and of a prefix that is longer", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", MCP, "")) GUARDS(BEFORE("/mcpx", MCP,
	    "/mcpx")) REST "}", "guard.prefix", 8 },
	{ "a prefix of an unknown api", "{" ISSUER HOSTS
	    GUARDS(BEFORE("/mcp", MCP, "/mcp")) REST "}", "guard.api", 5 },
	{ "a prefix of a kind of api", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", MCP, "")) GUARDS(BEFORE("/mcp", "mcp", "/mcp"))
	    REST "}", "guard.api", 8 },
	{ "a rule below an exact prefix", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", MCP, "")) GUARDS(BEFORE("/mcp", MCP, "/mcp/x"))
	    REST "}", "guard.rules.path", 8 },
	{ "an api twice", "{" ISSUER HOSTS
	    APIS(ENTRY("openapi", "https://shop.example/o", "")
	    ENTRY("openapi", "https://shop.example/o", "")) REST "}",
	    "apis.url", 6 },
	{ "a resource that is an mcp api's", "{" ISSUER HOSTS
	    APIS(ENTRY("mcp", MCP, "") ENTRY("openapi",
	    "https://shop.example/o", ", \"resource\": \"" MCP "\"")) REST "}",
	    "apis.resource", 6 },
	{ "a resource that nothing asks for", "{" ISSUER HOSTS
	    APIS(ENTRY("openapi", "https://shop.example/o", RES)) REST "}",
	    "apis.url", 5 },
	{ "an http resource", "{" ISSUER HOSTS
	    APIS(ENTRY("openapi", "https://shop.example/o",
	    ", \"resource\": \"http://shop.example/r\"")) REST "}",
	    "apis[0].resource", 5 },
	{ "a resource with a fragment (RFC 8707)", "{" ISSUER HOSTS
	    APIS(ENTRY("openapi", "https://shop.example/o",
	    ", \"resource\": \"https://shop.example/r#x\"")) REST "}",
	    "apis[0].resource", 5 },
	{ "nonces that are no yes or no", "{" ISSUER HOSTS
	    "\"proofs\": { \"nonces\": \"yes\" },\n" REST "}",
	    "proofs.nonces", 4 },
	{ "a type of sign-in with an unknown scope", "{" ISSUER HOSTS
	    "\"sign_in\": { \"direct\": [\"orders\"] },\n" REST "}",
	    "sign_in.direct", 4 },
	{ "... with a scope twice", "{" ISSUER HOSTS
	    "\"sign_in\": { \"device\": [\"poppy:read\", \"poppy:read\"] },\n"
	    REST "}", "sign_in.device", 4 },
	{ "... with a space in a scope", "{" ISSUER HOSTS
	    "\"sign_in\": { \"direct\": [\"poppy:read poppy:write\"] },\n"
	    REST "}", "sign_in.direct[0]", 4 },
	{ "... of the protocol's that there is none of", "{" ISSUER HOSTS
	    "\"sign_in\": { \"mediated\": [\"poppy:pay\"] },\n" REST "}",
	    "sign_in.mediated", 4 },
	{ "... without an issuer", "{\n\"issuer\": \"\",\n" HOSTS
	    "\"sign_in\": { \"direct\": [\"poppy:read\"] },\n" REST "}",
	    "sign_in.direct", 5 },
	{ "a custom scope with the protocol's prefix", "{" ISSUER HOSTS
	    "\"sign_in\": { \"custom_scopes\": [{ \"name\": \"poppy:x\", "
	    "\"description\": \"d\" }] },\n" REST "}",
	    "sign_in.custom_scopes[0].name", 4 },
	{ "... twice", "{" ISSUER HOSTS
	    "\"sign_in\": { \"custom_scopes\": [{ \"name\": \"x\", "
	    "\"description\": \"d\" },\n{ \"name\": \"x\", "
	    "\"description\": \"e\" }] },\n" REST "}",
	    "sign_in.custom_scopes.name", 5 },
	{ "login at the shop without its page", "{" ISSUER HOSTS
	    "\"login\": { \"by\": \"shop\" },\n" REST "}", "login.by", 4 },
	{ "... on http", "{" ISSUER HOSTS "\"login\": { \"by\": \"shop\", "
	    "\"shop_url\": \"http://shop.example/login\" },\n" REST "}",
	    "login.shop_url", 4 },
	{ "login by something else", "{" ISSUER HOSTS
	    "\"login\": { \"by\": \"magic\" },\n" REST "}", "login.by", 4 },
	{ "too many threads for passwords", "{" ISSUER HOSTS
	    "\"login\": { \"threads\": 17 },\n" REST "}", "login.threads",
	    4 },
	{ "a salt outside of the secrets", "{" ISSUER HOSTS
	    "\"login\": { \"salt_file\": \"../salt\" },\n" REST "}",
	    "login.salt_file", 4 },
	{ "the master key as a salt", "{" ISSUER HOSTS
	    "\"login\": { \"salt_file\": \"master\" },\n" REST "}",
	    "login.salt_file", 4 },
	{ "a command that is no path", "{" ISSUER HOSTS
	    "\"codes\": { \"command\": [\"sendmail\"] },\n" REST "}",
	    "codes.command", 4 },
	{ "a command with an empty argument", "{" ISSUER HOSTS
	    "\"codes\": { \"command\": [\"/x\", \"\"] },\n" REST "}",
	    "codes.command[1]", 4 },
	{ "a command and a mail server", "{" ISSUER HOSTS
	    "\"codes\": { \"command\": [\"/x\"], \"smtp\": { \"url\": "
	    "\"smtps://m\", \"from\": \"a@b\" } },\n" REST "}", "codes.smtp",
	    4 },
	{ "a mail server by http", "{" ISSUER HOSTS
	    "\"codes\": { \"smtp\": { \"url\": \"https://m\" } },\n" REST
	    "}", "codes.smtp.url", 4 },
	{ "... with a path", "{" ISSUER HOSTS
	    "\"codes\": { \"smtp\": { \"url\": \"smtp://m/x\" } },\n" REST
	    "}", "codes.smtp.url", 4 },
	{ "... with somebody's password", "{" ISSUER HOSTS
	    "\"codes\": { \"smtp\": { \"url\": \"smtp://a:b@m\" } },\n"
	    REST "}", "codes.smtp.url", 4 },
	{ "... on no port", "{" ISSUER HOSTS
	    "\"codes\": { \"smtp\": { \"url\": \"smtp://m:0\" } },\n" REST
	    "}", "codes.smtp.url", 4 },
	{ "... without a sender", "{" ISSUER HOSTS
	    "\"codes\": { \"smtp\": { \"url\": \"smtp://m\" } },\n" REST
	    "}", "codes.smtp.from", 4 },
	{ "... with a user that has no password", "{" ISSUER HOSTS
	    "\"codes\": { \"smtp\": { \"url\": \"smtp://m\", \"from\": "
	    "\"a@b\", \"user\": \"u\" } },\n" REST "}",
	    "codes.smtp.password_file", 4 },
	{ "... for telephones", "{" ISSUER HOSTS
	    "\"codes\": { \"to\": \"phone\", \"smtp\": { \"url\": "
	    "\"smtp://m\", \"from\": \"a@b\" } },\n" REST "}", "codes.to",
	    4 },
	{ "codes by pigeon", "{" ISSUER HOSTS
	    "\"codes\": { \"to\": \"loft\" },\n" REST "}", "codes.to", 4 },
	{ "one field of credentials", "{" ISSUER HOSTS
	    "\"mediated\": { \"fields\": [" FIELD("pin", "true") "] },\n"
	    REST "}", "mediated.fields", 4 },
	{ "two secret ones", "{" ISSUER HOSTS
	    "\"mediated\": { \"fields\": [" FIELD("pin", "true") ", "
	    FIELD("word", "true") "] },\n" REST "}", "mediated.fields", 4 },
	{ "two of a name", "{" ISSUER HOSTS
	    "\"mediated\": { \"fields\": [" FIELD("pin", "true") ", "
	    FIELD("pin", "false") "] },\n" REST "}", "mediated.fields.name",
	    4 },
	{ "a code now and then", "{" ISSUER HOSTS
	    "\"mediated\": { \"code\": \"often\" },\n" REST "}",
	    "mediated.code", 4 },
	{ "Account Tokens of no lifetime", "{" ISSUER HOSTS
	    "\"account_tokens\": { \"seconds\": 0 },\n" REST "}",
	    "account_tokens.seconds", 4 },
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
	{ "issuer with dots in its path",
	    "{ \"issuer\": \"https://shop.example/a/../b\",\n"
	    HOSTS REST "}", "issuer", 1 },
	{ "issuer with an empty segment",
	    "{ \"issuer\": \"https://shop.example/a//b\",\n"
	    HOSTS REST "}", "issuer", 1 },
	{ "issuer with a query", "{ \"issuer\": \"https://shop.example?a\",\n"
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
	{ "a conninfo that is none", "{" ISSUER HOSTS
	    "\"organization\": { \"name\": \"Shop\" },\n"
	    "\"database\": { \"conninfo\": \"hots=x\" } }",
	    "database.conninfo", 5 },
	{ "a conninfo with a user", "{" ISSUER HOSTS
	    "\"organization\": { \"name\": \"Shop\" },\n"
	    "\"database\": { \"conninfo\": \"dbname=x user=me\" } }",
	    "database.conninfo", 5 },
	{ "a conninfo that is a URI", "{" ISSUER HOSTS
	    "\"organization\": { \"name\": \"Shop\" },\n"
	    "\"database\": { \"conninfo\": \"postgresql:///x\" } }",
	    "database.conninfo", 5 },
	{ "a name to listen on", "{" ISSUER HOSTS
	    "\"listen\": { \"auth\": \"localhost:9000\" },\n" REST "}",
	    "listen.auth", 4 },
	{ "a port alone to listen on", "{" ISSUER HOSTS
	    "\"listen\": { \"auth\": \":9000\" },\n" REST "}",
	    "listen.auth", 4 },
	{ "no domain at all", "{" ISSUER "\"hosts\": [{ \"host\": "
	    "\"a.example\",\n\"base\": \"https://shop.example\" }],\n"
	    REST "}", "hosts.domain", 2 },
	{ "a prefix twice", "{" ISSUER HOSTS "\"guard\": [\n"
	    "{ \"prefix\": \"/api/\", \"rules\": "
	    "[{ \"path\": \"/api/x\" }] },\n"
	    "{ \"prefix\": \"/api/\", \"rules\": "
	    "[{ \"path\": \"/api/y\" }] }],\n" REST "}",
	    "guard.prefix", 6 },
	{ "a rule with an encoded path", "{" ISSUER HOSTS
	    GUARD("{ \"path\": \"/api/st%6fck.php\" }") REST "}",
	    "guard[0].rules[0].path", 5 },
	{ "a proxy without bits", "{" ISSUER HOSTS
	    "\"proxies\": [\"10.0.0.1\"],\n" REST "}", "proxies", 4 },
	{ "a proxy by name", "{" ISSUER HOSTS
	    "\"proxies\": [\"proxy.example/32\"],\n" REST "}", "proxies", 4 },
	{ "a proxy network with bits behind", "{" ISSUER HOSTS
	    "\"proxies\": [\"10.0.0.1/8\"],\n" REST "}", "proxies", 4 },
	{ "everybody a proxy", "{" ISSUER HOSTS
	    "\"proxies\": [\"::1/128\",\n\"0.0.0.0/0\"],\n" REST "}",
	    "proxies", 5 },
	{ "everybody a proxy, by IPv6", "{" ISSUER HOSTS
	    "\"proxies\": [\"::/0\"],\n" REST "}", "proxies", 4 },
	{ "a negative limit", "{" ISSUER HOSTS
	    "\"limits\": { \"token_per_address\": -1 },\n" REST "}",
	    "limits.token_per_address", 4 },
	{ "a limit that is no number", "{" ISSUER HOSTS
	    "\"limits\": { \"calls_per_session\": \"60\" },\n" REST "}",
	    "limits.calls_per_session", 4 },
	{ "a limit that there isn't", "{" ISSUER HOSTS
	    "\"limits\": { \"tokens\": 60 },\n" REST "}", "limits.tokens", 4 },
	{ "a limit of what is open that is none", "{" ISSUER HOSTS
	    "\"limits\": { \"open_per_address\": 10000001 },\n" REST "}",
	    "limits.open_per_address", 4 },
	{ "every origin in cors", "{" ISSUER HOSTS
	    "\"cors\": { \"origins\": [\"*\"] },\n" REST "}",
	    "cors.origins", 4 },
	{ "no origin in cors", "{" ISSUER HOSTS
	    "\"cors\": { \"origins\": [\"null\"] },\n" REST "}",
	    "cors.origins", 4 },
	{ "an origin with a slash in cors", "{" ISSUER HOSTS
	    "\"cors\": { \"origins\": [\"https://app.example/\"] },\n" REST "}",
	    "cors.origins", 4 },
	{ "an http origin in cors", "{" ISSUER HOSTS
	    "\"cors\": { \"origins\": [\"http://app.example\"] },\n" REST "}",
	    "cors.origins", 4 },
	{ "an origin in capitals in cors", "{" ISSUER HOSTS
	    "\"cors\": { \"origins\": [\"https://App.example\"] },\n" REST "}",
	    "cors.origins", 4 },
	{ "an origin with its usual port in cors", "{" ISSUER HOSTS
	    "\"cors\": { \"origins\": [\"https://app.example:443\"] },\n" REST "}",
	    "cors.origins", 4 },
	{ "all origins below a domain in cors", "{" ISSUER HOSTS
	    "\"cors\": { \"origins\": [\"https://*.app.example\"] },\n" REST "}",
	    "cors.origins", 4 },
	{ "an audit that keeps nothing", "{" ISSUER HOSTS
	    "\"audit\": { \"days\": 0 },\n" REST "}", "audit.days", 4 },
	{ "codes that are forgotten at once", "{" ISSUER HOSTS
	    "\"retention\": { \"code_hours\": 0 },\n" REST "}",
	    "retention.code_hours", 4 },
	{ "requests that are kept for ever", "{" ISSUER HOSTS
	    "\"retention\": { \"request_hours\": 721 },\n" REST "}",
	    "retention.request_hours", 4 },
	{ "half an hour of devices", "{" ISSUER HOSTS
	    "\"retention\": { \"device_hours\": 0.5 },\n" REST "}",
	    "retention.device_hours", 4 },
	{ "logins of no time", "{" ISSUER HOSTS
	    "\"retention\": { \"login_hours\": -1 },\n" REST "}",
	    "retention.login_hours", 4 },
	{ "grants in words", "{" ISSUER HOSTS
	    "\"retention\": { \"ended_grant_days\": \"90\" },\n" REST "}",
	    "retention.ended_grant_days", 4 },
	{ "a kind of row that there is not", "{" ISSUER HOSTS
	    "\"retention\": { \"grant_days\": 90 },\n" REST "}",
	    "retention.grant_days", 4 },
	{ "addresses in another way", "{" ISSUER HOSTS
	    "\"audit\": { \"addresses\": \"none\" },\n" REST "}",
	    "audit.addresses", 4 },
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
	{ "agents that are forgotten at once", "{" ISSUER HOSTS
	    "\"agents\": { \"keep_days\": 29 },\n" REST "}",
	    "agents.keep_days", 4 },
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
	tap_is(s.limits.token_per_address, 120, "token requests of an address");
	tap_is(s.limits.open_per_address, 1200, "open requests of an address");
	tap_is((long long)s.proxy_networks.n, 0, "no proxy");
	tap_is(s.audit.days, 180, "days of the audit");
	tap_is(s.retention.code_hours, 24, "hours of codes");
	tap_is(s.retention.ended_grant_days, 90, "days of ended grants");
	tap_is(s.agents.keep_days, 400, "days of agents that stay away");
	tap_ok(s.audit.addresses.p != NULL &&
	    strcmp(s.audit.addresses.p, "plain") == 0, "plain addresses");
	tap_is(read_text(a, "{" ISSUER HOSTS "\"proxies\": [\"10.0.0.0/8\", "
	    "\"::1/128\"],\n" REST "}", &s, &f), PF_OK, "two proxies (%s %s)",
	    f.key, f.reason);
	tap_is((long long)s.proxy_networks.n, 2, "... are read");
	tap_is(read_text(a, "{ \"issuer\": \"\",\n" HOSTS REST "}", &s, &f),
	    PF_OK, "only a website");
	tap_ok(s.issuer_host == NULL, "has no issuer");
}

static void
check_apis(struct pf_arena *a)
{
	const struct pf_guarded *g;
	const struct pf_api *api;
	struct pf_conf_fault f;
	struct pf_settings s;

	tap_is(read_text(a, "{" ISSUER HOSTS
	    APIS(ENTRY("openapi", "https://shop.example/o", RES)
	    ENTRY("mcp", MCP, "") ENTRY("mcp", "https://shop.example/m/", "")
	    ENTRY("openapi", "https://shop.example/p", ""))
	    GUARDS(BEFORE("/api/", "https://shop.example/o", "/api/x")
	    BEFORE("/mcp", MCP, "/mcp") BEFORE("/m/",
	    "https://shop.example/m/", "/m/") BEFORE("/p/", "openapi", "/p/"))
	    REST "}", &s, &f), PF_OK, "apis of all kinds (%s %s)", f.key,
	    f.reason);
	api = s.apis.v;
	g = s.guard.v;
	tap_ok(!api[0].mcp && api[1].mcp && api[2].mcp, "which are MCP");
	tap_is_z(api[1].resource, MCP, "its url is its resource");
	tap_is_z(api[1].metadata_url, "https://shop.example/.well-known/"
	    "oauth-protected-resource/mcp", "RFC 9728, 3.1");
	tap_is_z(api[2].metadata_url, "https://shop.example/.well-known/"
	    "oauth-protected-resource/m/", "the slash at the end stays");
	tap_ok(g[0].entry == &api[0] && g[1].entry == &api[1] &&
	    g[2].entry == &api[2] && g[3].entry == NULL, "who guards which");
	tap_ok(pf_settings_api(&s, PF_LIT(MCP)) == &api[1], "by resource");
	tap_ok(pf_settings_api(&s, PF_LIT("https://shop.example/r")) == &api[0],
	    "by a resource of its own");
	tap_ok(pf_settings_api(&s, PF_LIT("https://shop.example/o")) == NULL,
	    "a description's url is no resource");
	tap_ok(pf_settings_api(&s, PF_LIT(MCP "/")) == NULL, "a slash more");
	tap_ok(pf_settings_api(&s, PF_LIT("")) == NULL, "no resource");
	tap_ok(pf_settings_api(&s, PF_LIT("https://SHOP.example/mcp")) == NULL,
	    "byte for byte");
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
	check_apis(&a);
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
