/*
 * The one table of all settings. What must hold between them is in
 * settings_read.c.
 */
#include "core/poppy/settings_in.h"

#include "core/base/log.h"
#include "core/poppy/scope.h"
#include "core/store/db.h"
#include "core/web/url.h"

#define AT(m)		PF_AT(m)
#define KEYS(k)		PF_KEYS(k)
#define YEAR		31536000

const char *
pf_check_https(struct pf_str s)
{
	return pf_url_is_https(s) ? NULL : "must be an https URL";
}

static const char *
check_base(struct pf_str s)
{
	struct pf_url u;

	if (!pf_url_is_https(s) || pf_url_parse(s, &u) != PF_OK)
		return "must be an https URL";
	if (u.path.n != 0 || pf_str_given(u.query))
		return "must be scheme, host and port alone, without a path";
	return NULL;
}

static const char *
check_issuer(struct pf_str s)
{
	struct pf_url u;

	if (s.n == 0)
		return NULL;
	if (!pf_url_is_https(s) || pf_url_parse(s, &u) != PF_OK)
		return "must be an https URL";
	if (pf_str_given(u.query))
		return "must have no query (RFC 8414, 2)";
	if (u.path.n != 0 && pf_str_ends(u.path, PF_LIT("/")))
		return "must not end in '/'";
	if (u.path.n != 0 && pf_path_check(u.path) != PF_OK)
		return "must have a plain path, or none";
	return NULL;
}

static const char *
check_host(struct pf_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (pf_lower(s.p[i]) != s.p[i] || s.p[i] == ':')
			return "must be a host name in lower case, "
			    "without port";
	return NULL;
}

static const char *
check_mount(struct pf_str s)
{
	if (!pf_str_starts(s, PF_LIT("/")) || pf_str_ends(s, PF_LIT("/")) ||
	    pf_path_check(s) != PF_OK)
		return "must begin with '/', not end with it";
	return NULL;
}

static const char *
check_prefix(struct pf_str s)
{
	if (!pf_str_starts(s, PF_LIT("/")) || pf_path_check(s) != PF_OK)
		return "must begin with '/'";
	if (pf_str_starts(s, PF_LIT("/poppy/")) ||
	    pf_str_starts(s, PF_LIT("/.well-known/")))
		return "the guard never stands before /poppy/ or /.well-known/";
	return NULL;
}

/* "name=value" of what needs no encoding; '*' at the end alone. */
const char *
pf_check_query(struct pf_str s)
{
	size_t n = pf_str_find(s, '=');

	if (s.n != 0 && (n == 0 || n == s.n))
		return "must be name=value, or name=start*";
	for (size_t i = 0; i < s.n; i++) {
		bool plain = pf_is_alpha(s.p[i]) || pf_is_digit(s.p[i]) ||
		    s.p[i] == '_' || s.p[i] == '-';

		if (plain || i == n || (i > n && i + 1 == s.n &&
		    s.p[i] == '*') || (i > n && pf_str_has(PF_LIT("/.~|:"),
		    s.p[i])))
			continue;
		return "may have letters, digits, - and _, in the value also "
		    "/ . ~ | :, and * at its end";
	}
	return NULL;
}

/* Paths are compared as the web server decoded them, so a rule with a % in it
 * would match nothing. */
const char *
pf_check_path(struct pf_str s)
{
	if (!pf_str_starts(s, PF_LIT("/")) || pf_path_check(s) != PF_OK)
		return "must begin with '/'";
	return pf_str_has(s, '%') ? "must be written decoded, without %" : NULL;
}

static const char *
check_conninfo(struct pf_str s)
{
	return s.n == 0 ? NULL : pf_db_conninfo_fault(s.p);
}

/* A path, or address:port with an address in numbers. */
static const char *
check_listen(struct pf_str s)
{
	static const char why[] = "must be a path that begins with '/', or "
	    "address:port such as 127.0.0.1:9001 or [::1]:9001";
	size_t colon = s.n;
	int64_t port;

	if (s.n == 0 || s.p[0] == '/')
		return NULL;
	while (colon > 0 && s.p[colon - 1] != ':')
		colon--;
	if (colon == 0 ||
	    pf_str_int(pf_str_from(s, colon), 1, 65535, &port) != PF_OK ||
	    !pf_host_is_ip(pf_str_head(s, colon - 1)))
		return why;
	return NULL;
}

static const char *
check_method(struct pf_str s)
{
	static const char *const known[] = {
		"GET", "POST", "PUT", "PATCH", "DELETE"
	};

	for (size_t i = 0; i < PF_COUNT(known); i++)
		if (pf_str_eqz(s, known[i]))
			return NULL;
	return "must be GET, POST, PUT, PATCH or DELETE";
}

const char *
pf_check_scope(struct pf_str s)
{
	return pf_scope_token(s) ? NULL : "is no scope (RFC 6749, 3.3)";
}

static const char *
check_api(struct pf_str s)
{
	return pf_str_eqz(s, "openapi") || pf_str_eqz(s, "mcp") ? NULL :
	    "must be \"openapi\" or \"mcp\"";
}

/* A resource indicator (RFC 8707, 2). */
static const char *
check_resource(struct pf_str s)
{
	return s.n == 0 ? NULL : pf_check_https(s);
}

/* A name in the secrets folder. */
const char *
pf_check_file(struct pf_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!pf_is_alpha(s.p[i]) && !pf_is_digit(s.p[i]) &&
		    s.p[i] != '-' && s.p[i] != '_')
			return "must be a file name of letters, digits, - and _";
	return pf_str_eqz(s, "master") ?
	    "must not be the master key, which nobody else may know" : NULL;
}

static const char *
check_level(struct pf_str s)
{
	enum pf_level level;

	return pf_log_level_parse(s, &level) == PF_OK ? NULL :
	    "must be error, warn, info or debug";
}

static const char *
check_network(struct pf_str s)
{
	struct pf_network n;

	return pf_network_read(s, &n) == PF_OK ? NULL :
	    "must be a network without bits behind its prefix, such as "
	    "10.0.0.0/8 or ::1/128";
}

/* A proxy network of all addresses would let anybody choose theirs. */
static const char *
check_proxy(struct pf_str s)
{
	const char *why = check_network(s);

	if (why == NULL && pf_str_ends(s, PF_LIT("/0")))
		why = "must not be the whole Internet";
	return why;
}

static const char *
check_port(struct pf_str s)
{
	int64_t n;

	return pf_str_eqz(s, "*") || pf_str_int(s, 1, 65535, &n) == PF_OK ?
	    NULL : "must be a port, or \"*\"";
}

/* As browsers write it (RFC 6454, 6.2): a listed one is compared, not read. */
static const char *
check_origin(struct pf_str s)
{
	const char *why = check_base(s);

	for (size_t i = 0; why == NULL && i < s.n; i++)
		if (pf_lower(s.p[i]) != s.p[i])
			why = "must be in lower case";
	if (why == NULL && pf_str_ends(s, PF_LIT(":443")))
		why = "must not name the port 443";
	return why;
}

static const struct pf_conf_key organization_keys[] = {
	{ "name", PF_CONF_STR, AT(organization.name) -
	    AT(organization), 1, 200, NULL, "Name that agents show.", NULL,
	    NULL },
};
static const struct pf_conf_table organization_table = {
	sizeof(((struct pf_settings *)0)->organization), KEYS(organization_keys)
};

static const struct pf_conf_key host_keys[] = {
	{ "", PF_CONF_LINE, offsetof(struct pf_host, line), 0, 0, NULL, NULL,
	    NULL, NULL },
	{ "host", PF_CONF_STR, offsetof(struct pf_host, host), 1, 255, NULL,
	    "Host name as requests carry it.", check_host, NULL },
	{ "base", PF_CONF_STR, offsetof(struct pf_host, base), 1, 300, NULL,
	    "Its exact public URL, without a path.", check_base, NULL },
	{ "domain", PF_CONF_STR, offsetof(struct pf_host, domain), 0, 255,
	    "\"\"", "The organization.domain whose poppy.json it serves.",
	    check_host, NULL },
};
static const struct pf_conf_table host_table = {
	sizeof(struct pf_host), KEYS(host_keys)
};

static const struct pf_conf_key mount_keys[] = {
	{ "oauth", PF_CONF_STR, AT(mounts.oauth) - AT(mounts), 2, 200,
	    "\"/poppy/oauth\"", "Where the OAuth endpoints are.", check_mount,
	    NULL },
	{ "pages", PF_CONF_STR, AT(mounts.pages) - AT(mounts), 2, 200,
	    "\"/poppy\"", "Where the pages for customers are: login, "
	    "consent, device, agents; and sign-in.", check_mount, NULL },
	{ "browser", PF_CONF_STR, AT(mounts.browser) - AT(mounts), 2, 200,
	    "\"/poppy/browser-session\"", "The path where agents' browsers "
	    "join, on the first host of each domain.", check_mount, NULL },
};
static const struct pf_conf_table mount_table = {
	sizeof(((struct pf_settings *)0)->mounts), KEYS(mount_keys)
};

#define DB(m)	(AT(database.m) - AT(database))
static const struct pf_conf_key database_keys[] = {
	{ "conninfo", PF_CONF_STR, DB(conninfo), 1, 1000, NULL,
	    "libpq connection string without user and password; each program "
	    "adds its own role.", check_conninfo, NULL },
	{ "notify_conninfo", PF_CONF_STR, DB(notify_conninfo), 0, 1000, "\"\"",
	    "Direct connection for LISTEN where conninfo leads to PgBouncer.",
	    check_conninfo, NULL },
	{ "prepare", PF_CONF_BOOL, DB(prepare), 0, 0, "true",
	    "Use prepared statements; false for PgBouncer in transaction mode.",
	    NULL, NULL },
	{ "timeout_ms", PF_CONF_INT, DB(timeout_ms), 100, 60000, "5000",
	    "Longest wait for one call.", NULL, NULL },
};
static const struct pf_conf_table database_table = {
	sizeof(((struct pf_settings *)0)->database), KEYS(database_keys)
};

static const struct pf_conf_key listen_keys[] = {
	{ "auth", PF_CONF_STR, AT(listen.auth) - AT(listen), 0, 255, "\"\"",
	    "Socket of poppy-auth: a path, or address:port.", check_listen,
	    NULL },
	{ "guard", PF_CONF_STR, AT(listen.guard) - AT(listen), 0, 255, "\"\"",
	    "Socket of poppy-guard.", check_listen, NULL },
	{ "browser", PF_CONF_STR, AT(listen.browser) - AT(listen), 0, 255,
	    "\"\"", "Socket of poppy-browser.", check_listen, NULL },
};
static const struct pf_conf_table listen_table = {
	sizeof(((struct pf_settings *)0)->listen), KEYS(listen_keys)
};

static const struct pf_conf_key worker_keys[] = {
	{ "auth", PF_CONF_INT, AT(workers.auth) - AT(workers), 1, 64, "8",
	    "Worker threads of poppy-auth; each has a database connection.",
	    NULL, NULL },
	{ "guard", PF_CONF_INT, AT(workers.guard) - AT(workers), 1, 64, "8",
	    "Worker threads of poppy-guard.", NULL, NULL },
	{ "browser", PF_CONF_INT, AT(workers.browser) - AT(workers), 1, 64,
	    "2", "Worker threads of poppy-browser.", NULL, NULL },
};
static const struct pf_conf_table worker_table = {
	sizeof(((struct pf_settings *)0)->workers), KEYS(worker_keys)
};

static const struct pf_conf_key token_keys[] = {
	{ "session_seconds", PF_CONF_INT, 0, 1, 86400, "3600",
	    "Lifetime of a Session Token.", NULL, NULL },
};
static const struct pf_conf_table token_table = {
	sizeof(((struct pf_settings *)0)->tokens), KEYS(token_keys)
};

static const struct pf_conf_key session_keys[] = {
	{ "idle_seconds", PF_CONF_INT, AT(sessions.idle_seconds) - AT(sessions),
	    1, YEAR, "2592000", "A Session ends this long after its last use.",
	    NULL, NULL },
	{ "max_seconds", PF_CONF_INT, AT(sessions.max_seconds) - AT(sessions),
	    1, 2 * (int64_t)YEAR, "15552000",
	    "A Session ends this long after its start at the latest.",
	    NULL, NULL },
};
static const struct pf_conf_table session_table = {
	sizeof(((struct pf_settings *)0)->sessions), KEYS(session_keys)
};

static const struct pf_conf_key assertion_keys[] = {
	{ "max_seconds", PF_CONF_INT, AT(assertions.max_seconds) -
	    AT(assertions), 30, 600, "300",
	    "Longest lifetime of an assertion that is accepted.", NULL, NULL },
	{ "skew_seconds", PF_CONF_INT, AT(assertions.skew_seconds) -
	    AT(assertions), 0, 60, "30",
	    "How far clocks may differ, both ways.", NULL, NULL },
};
static const struct pf_conf_table assertion_table = {
	sizeof(((struct pf_settings *)0)->assertions), KEYS(assertion_keys)
};

static const struct pf_conf_key proof_keys[] = {
	{ "past_seconds", PF_CONF_INT, AT(proofs.past_seconds) - AT(proofs),
	    10, 300, "60", "How old a DPoP Proof may be.", NULL, NULL },
	{ "future_seconds", PF_CONF_INT, AT(proofs.future_seconds) -
	    AT(proofs), 0, 60, "10",
	    "How far ahead of our clock a DPoP Proof may be.", NULL, NULL },
	{ "nonces", PF_CONF_BOOL, AT(proofs.nonces) - AT(proofs), 0, 0,
	    "false", "DPoP Proofs must have a nonce of ours.", NULL, NULL },
};
static const struct pf_conf_table proof_table = {
	sizeof(((struct pf_settings *)0)->proofs), KEYS(proof_keys)
};

#define AG(m)	(AT(agents.m) - AT(agents))
static const struct pf_conf_key agent_keys[] = {
	{ "ports", PF_CONF_STRS, AG(ports), 1, 32, "[\"443\"]",
	    "Ports that agents' documents may be on; \"*\" is any.",
	    check_port, NULL },
	{ "timeout_ms", PF_CONF_INT, AG(timeout_ms), 100, 30000, "5000",
	    "Longest fetch of an agent's document.", NULL, NULL },
	{ "max_bytes", PF_CONF_INT, AG(max_bytes), 1024, 1048576, "65536",
	    "Largest document of an agent.", NULL, NULL },
	{ "fresh_seconds", PF_CONF_INT, AG(fresh_seconds), 60, 86400, "300",
	    "How long a document without max-age is fresh.", NULL, NULL },
	{ "stale_seconds", PF_CONF_INT, AG(stale_seconds), 0, 86400, "86400",
	    "How long a stale copy serves while the agent's host is away.",
	    NULL, NULL },
	{ "retry_seconds", PF_CONF_INT, AG(retry_seconds), 1, 3600, "60",
	    "How long a failure is remembered.", NULL, NULL },
	{ "cached", PF_CONF_INT, AG(cached), 16, 65536, "4096",
	    "Agents whose keys each process keeps.", NULL, NULL },
	{ "keep_days", PF_CONF_INT, AG(keep_days), 30, 3650, "400",
	    "How long agents that don't come back are remembered.", NULL,
	    NULL },
	{ "registration", PF_CONF_BOOL, AG(registration), 0, 0, "false",
	    "Only agents that poppyctl agents allow names are let in.",
	    NULL, NULL },
	{ "new_per_hour", PF_CONF_INT, AG(new_per_hour), 1, 10000, "1000",
	    "Client_ids never seen before that are looked at in an hour.",
	    NULL, NULL },
	{ "new_per_domain", PF_CONF_INT, AG(new_per_domain), 1, 10000, "20",
	    "The same, of one registrable domain.", NULL, NULL },
	{ "new_per_address", PF_CONF_INT, AG(new_per_address), 1, 10000, "20",
	    "The same, for one client address (IPv6: its /64).", NULL, NULL },
	{ "allow_networks", PF_CONF_STRS, AG(allow_networks), 0, 32, "[]",
	    "For tests only: special-use networks that may be fetched from.",
	    check_network, NULL },
	{ "extra_ca", PF_CONF_STR, AG(extra_ca), 0, 1000, "\"\"",
	    "For tests only: a PEM file of further authorities.", NULL, NULL },
};
static const struct pf_conf_table agent_table = {
	sizeof(((struct pf_settings *)0)->agents), KEYS(agent_keys)
};

static const struct pf_conf_key cors_keys[] = {
	{ "origins", PF_CONF_STRS, AT(cors.origins) - AT(cors), 0, 100, "[]",
	    "Origins whose scripts may use the OAuth endpoints, as "
	    "https://agent.example.", check_origin, NULL },
};
static const struct pf_conf_table cors_table = {
	sizeof(((struct pf_settings *)0)->cors), KEYS(cors_keys)
};

#define RE(m)	(AT(retention.m) - AT(retention))
static const struct pf_conf_key retention_keys[] = {
	{ "request_hours", PF_CONF_INT, RE(request_hours), 1, 720, "24",
	    "Authorization requests, logins on the shop's page and Mediated "
	    "Sign-Ins, after they expired.", NULL, NULL },
	{ "code_hours", PF_CONF_INT, RE(code_hours), 1, 720, "24",
	    "Codes, used ones too: as long, their reuse is noticed.", NULL,
	    NULL },
	{ "device_hours", PF_CONF_INT, RE(device_hours), 1, 720, "24",
	    "Requests of Device Sign-In, after they expired.", NULL, NULL },
	{ "login_hours", PF_CONF_INT, RE(login_hours), 1, 720, "24",
	    "Login sessions: they end then, whatever their use.", NULL, NULL },
	{ "ended_grant_days", PF_CONF_INT, RE(ended_grant_days), 1, 3650, "90",
	    "What a sign-in gave, after it expired or was revoked.", NULL,
	    NULL },
};
static const struct pf_conf_table retention_table = {
	sizeof(((struct pf_settings *)0)->retention), KEYS(retention_keys)
};

static const struct pf_conf_key api_keys[] = {
	{ "", PF_CONF_LINE, offsetof(struct pf_api, line), 0, 0, NULL, NULL,
	    NULL, NULL },
	{ "type", PF_CONF_STR, offsetof(struct pf_api, type), 1, 20, NULL,
	    "\"openapi\" or \"mcp\".", check_api, NULL },
	{ "url", PF_CONF_STR, offsetof(struct pf_api, url), 1, 1000, NULL,
	    "Of its OpenAPI document, or of the MCP server.", pf_check_https,
	    NULL },
	{ "description", PF_CONF_STR, offsetof(struct pf_api, description), 1,
	    300, NULL, "Short; agents choose by it.", NULL, NULL },
	{ "resource", PF_CONF_STR, offsetof(struct pf_api, resource), 0, 1000,
	    "\"\"", "Demand tokens that were issued for this resource.",
	    check_resource, NULL },
};
static const struct pf_conf_table api_table = {
	sizeof(struct pf_api), KEYS(api_keys)
};

#define RULE(m)	offsetof(struct pf_rule, m)
static const struct pf_conf_key rule_keys[] = {
	{ "", PF_CONF_LINE, RULE(line), 0, 0, NULL, NULL, NULL, NULL },
	{ "path", PF_CONF_STR, RULE(path), 1, 500, NULL,
	    "Exact path, or all below it if it ends in '/'.", pf_check_path,
	    NULL },
	{ "query", PF_CONF_STR, RULE(query), 0, 500, "\"\"",
	    "What the query must have, for shops that route by it: "
	    "\"route=account/*\".", pf_check_query, NULL },
	{ "methods", PF_CONF_STRS, RULE(methods), 1, 5, "[\"GET\"]",
	    "Methods that the rule is for; GET covers HEAD.", check_method,
	    NULL },
	{ "open", PF_CONF_BOOL, RULE(open), 0, 0, "false",
	    "Anybody may ask, without a token.", NULL, NULL },
	{ "signed_in", PF_CONF_BOOL, RULE(signed_in), 0, 0, "false",
	    "Needs a signed-in Session Token.", NULL, NULL },
	{ "scopes", PF_CONF_STRS, RULE(scopes), 0, 16, "[]",
	    "Account scopes it needs, all of them.", pf_check_scope, NULL },
};
const struct pf_conf_table pf_rule_table = {
	sizeof(struct pf_rule), KEYS(rule_keys)
};

#define GUARDED(m)	offsetof(struct pf_guarded, m)
static const struct pf_conf_key guarded_keys[] = {
	{ "", PF_CONF_LINE, GUARDED(line), 0, 0, NULL, NULL, NULL, NULL },
	{ "prefix", PF_CONF_STR, GUARDED(prefix), 2, 500, NULL,
	    "What it covers: all below it if it ends in '/', else that path "
	    "alone. What no rule names is 404 there.", check_prefix, NULL },
	{ "api", PF_CONF_STR, GUARDED(api), 1, 1000, "\"openapi\"",
	    "The url of the one of apis that is there; \"openapi\" for APIs "
	    "that take plain tokens.", NULL, NULL },
	{ "rules", PF_CONF_LIST, GUARDED(rules), 1, 1000, NULL,
	    "The first rule that matches decides.", NULL, &pf_rule_table },
};
static const struct pf_conf_table guarded_table = {
	sizeof(struct pf_guarded), KEYS(guarded_keys)
};

static const struct pf_conf_key keys[] = {
	{ "organization", PF_CONF_OBJ, AT(organization), 0, 0, NULL,
	    "The company.", NULL, &organization_table },
	{ "issuer", PF_CONF_STR, AT(issuer), 0, 500, NULL,
	    "The OAuth issuer; \"\" publishes a website alone.", check_issuer,
	    NULL },
	{ "issuer", PF_CONF_LINE, AT(issuer_line), 0, 0, NULL, NULL, NULL,
	    NULL },
	{ "web", PF_CONF_LINE, AT(web_line), 0, 0, NULL, NULL, NULL, NULL },
	{ "hosts", PF_CONF_LIST, AT(hosts), 1, 1000, NULL,
	    "Hosts that reach us.", NULL, &host_table },
	{ "mounts", PF_CONF_OBJ, AT(mounts), 0, 0, "{}",
	    "Paths that the web server leads to us.", NULL, &mount_table },
	{ "web", PF_CONF_BOOL, AT(web), 0, 0, "true",
	    "Tell agents that they may browse the website.", NULL, NULL },
	{ "database", PF_CONF_OBJ, AT(database), 0, 0, NULL, "PostgreSQL.",
	    NULL, &database_table },
	{ "secrets", PF_CONF_STR, AT(secrets), 1, 1000,
	    "\"/etc/poppy/secrets\"", "Folder of the key files.", NULL, NULL },
	{ "gate", PF_CONF_STR, AT(gate), 0, 64, "\"\"",
	    "File in it with the secret that the web server shows to the guard; "
	    "\"\": none, and no guard on TCP.", pf_check_file, NULL },
	{ "listen", PF_CONF_OBJ, AT(listen), 0, 0, "{}",
	    "Sockets, where none is inherited.", NULL, &listen_table },
	{ "listen_anywhere", PF_CONF_BOOL, AT(listen_anywhere), 0, 0, "false",
	    "Allow TCP sockets on other addresses than loopback.", NULL, NULL },
	{ "workers", PF_CONF_OBJ, AT(workers), 0, 0, "{}", "Threads.", NULL,
	    &worker_table },
	{ "max_parked", PF_CONF_INT, AT(max_parked), 16, 100000, "12000",
	    "Requests that may wait in one process.", NULL, NULL },
	{ "log", PF_CONF_STR, AT(log), 1, 10, "\"info\"",
	    "error, warn, info or debug.", check_level, NULL },
	{ "discovery_seconds", PF_CONF_INT, AT(discovery_seconds), 1, 86400,
	    "300", "max-age of the discovery documents.", NULL, NULL },
	{ "tokens", PF_CONF_OBJ, AT(tokens), 0, 0, "{}", "Tokens.", NULL,
	    &token_table },
	{ "sessions", PF_CONF_OBJ, AT(sessions), 0, 0, "{}", "Sessions.",
	    NULL, &session_table },
	{ "assertions", PF_CONF_OBJ, AT(assertions), 0, 0, "{}",
	    "Client and Session assertions.", NULL, &assertion_table },
	{ "proofs", PF_CONF_OBJ, AT(proofs), 0, 0, "{}", "DPoP Proofs.", NULL,
	    &proof_table },
	{ "agents", PF_CONF_OBJ, AT(agents), 0, 0, "{}",
	    "Agents' documents.", NULL, &agent_table },
	{ "cors", PF_CONF_OBJ, AT(cors), 0, 0, "{}",
	    "Agents that run in a browser.", NULL, &cors_table },
	{ "proxies", PF_CONF_STRS, AT(proxies), 0, 64, "[]",
	    "Networks of reverse proxies, whose X-Forwarded-For counts.",
	    check_proxy, NULL },
	{ "limits", PF_CONF_OBJ, AT(limits), 0, 0, "{}",
	    "How often somebody may ask; 0 is no limit.", NULL, &pf_limit_table },
	{ "audit", PF_CONF_OBJ, AT(audit), 0, 0, "{}",
	    "The record of refusals.", NULL, &pf_audit_table },
	{ "retention", PF_CONF_OBJ, AT(retention), 0, 0, "{}",
	    "How long rows are kept.", NULL, &retention_table },
	{ "sign_in", PF_CONF_OBJ, AT(sign_in), 0, 0, "{}",
	    "What customers can let agents do.", NULL, &pf_sign_in_table },
	{ "account_tokens", PF_CONF_OBJ, AT(account_tokens), 0, 0, "{}",
	    "What a sign-in is remembered by.", NULL,
	    &pf_account_token_table },
	{ "device", PF_CONF_OBJ, AT(device), 0, 0, "{}", "Device Sign-In.",
	    NULL, &pf_device_table },
	{ "login", PF_CONF_OBJ, AT(login), 0, 0, "{}",
	    "How customers log in on our pages.", NULL, &pf_login_table },
	{ "mediated", PF_CONF_OBJ, AT(mediated), 0, 0, "{}",
	    "Mediated Sign-In.", NULL, &pf_mediated_table },
	{ "codes", PF_CONF_OBJ, AT(codes), 0, 0, "{}",
	    "How one-time codes are sent.", NULL, &pf_codes_table },
	{ "mcp", PF_CONF_OBJ, AT(mcp), 0, 0, "{}",
	    "Clients of MCP servers that don't know the protocol.", NULL,
	    &pf_mcp_table },
	{ "pages", PF_CONF_OBJ, AT(pages), 0, 0, "{}",
	    "The pages that customers see.", NULL, &pf_pages_table },
	{ "apis", PF_CONF_LIST, AT(apis), 0, 100, "[]",
	    "APIs listed in poppy.json.", NULL, &api_table },
	{ "guard", PF_CONF_LIST, AT(guard), 0, 100, "[]",
	    "What poppy-guard stands before.", NULL, &guarded_table },
	{ "browser", PF_CONF_OBJ, AT(browser), 0, 0, "{}",
	    "Agents' browsers.", NULL, &pf_browser_table },
	{ "site", PF_CONF_OBJ, AT(site), 0, 0, "{}",
	    "What the shop's pages are to a browser that has joined.", NULL,
	    &pf_site_table },
};

const struct pf_conf_table pf_settings_table = {
	sizeof(struct pf_settings), KEYS(keys)
};
