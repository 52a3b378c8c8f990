/*
 * settings - poppy.conf as structs; one table says what each may be.
 *
 * Everything here is immutable after pf_settings_read() and lives in the arena
 * given to it. No secret is among it: those are files in the secrets folder.
 */
#ifndef PF_SETTINGS_H
#define PF_SETTINGS_H

#include "core/poppy/address.h"

/* A host that reaches us, and its exact public base URL. */
struct pf_host {
	int64_t line;
	struct pf_str host;	/* lower case, no port: the key of a request */
	struct pf_str base;	/* "https://shop.example[:port]", no path */
	struct pf_str domain;	/* organization.domain it serves, or "" */

	/* Made of the above: where agents' browsers join (section 5), if this
	 * is the host of its domain that they are told of; else PF_NOSTR. */
	struct pf_str browser_endpoint;
};

/* One entry of apis in poppy.json. */
struct pf_api {
	int64_t line;
	struct pf_str type;	/* "openapi" or "mcp" */
	struct pf_str url;
	struct pf_str description;
	struct pf_str resource;	/* "": plain tokens; an MCP server's url */

	/* Made of the above, for an MCP server. */
	bool mcp;
	const struct pf_host *host;
	struct pf_str path;		/* of its url */
	struct pf_str metadata_url;	/* RFC 9728 */
};

/* What the guard wants for one path of the shop. */
struct pf_rule {
	int64_t line;
	struct pf_str path;	/* exact, or all below it if it ends in '/' */
	struct pf_str query;	/* "name=value", "name=start*"; "": any */
	struct pf_strs methods;	/* GET covers HEAD */
	bool open;		/* nothing is asked */
	bool signed_in;
	struct pf_strs scopes;	/* all of them; imply signed_in */
};

struct pf_guarded {
	int64_t line;
	struct pf_str prefix;	/* all below it if it ends in '/', else that
				 * path alone */
	struct pf_str api;	/* "openapi", or the url of one of apis */
	struct pf_list rules;	/* struct pf_rule; first match decides */
	const struct pf_api *entry;	/* that one; NULL for "openapi" */
};

/* A scope of the shop's own (section 4.4). */
struct pf_custom_scope {
	int64_t line;
	struct pf_str name;
	struct pf_str description;
};

/* What agents ask their User for in Mediated Sign-In (section 4.7). */
struct pf_mediated_field {
	int64_t line;
	struct pf_str name;
	struct pf_str label;
	bool secret;
};

struct pf_settings {
	struct { struct pf_str name; } organization;
	struct pf_str issuer;	/* "": no auth, only a website is published */
	int64_t issuer_line, web_line;	/* for faults */
	struct pf_list hosts;	/* struct pf_host */
	struct { struct pf_str oauth, pages, browser; } mounts;
	bool web;		/* publish an (empty) web object */
	struct {
		struct pf_str conninfo;
		struct pf_str notify_conninfo;	/* "": conninfo */
		bool prepare;
		int64_t timeout_ms;
	} database;
	struct pf_str secrets;
	struct pf_str gate;	/* file in it that the guard's callers know */
	struct { struct pf_str auth, guard, browser; } listen;
	bool listen_anywhere;
	struct { int64_t auth, guard, browser; } workers;
	int64_t max_parked;
	struct pf_str log;
	int64_t discovery_seconds;
	struct { int64_t session_seconds; } tokens;
	struct { int64_t idle_seconds, max_seconds; } sessions;
	struct { int64_t max_seconds, skew_seconds; } assertions;
	struct { int64_t past_seconds, future_seconds; bool nonces; } proofs;
	struct {
		struct pf_strs ports;
		int64_t timeout_ms, max_bytes, fresh_seconds, stale_seconds;
		int64_t retry_seconds, cached, keep_days;
		bool registration;
		int64_t new_per_hour, new_per_domain, new_per_address;
		struct pf_strs allow_networks;
		struct pf_str extra_ca;
	} agents;
	struct { struct pf_strs origins; } cors;
	struct pf_strs proxies;	/* networks whose X-Forwarded-For counts */
	struct {		/* a minute; 0: no limit */
		int64_t token_per_address, token_per_client;
		int64_t refused_per_address, open_per_address;
		int64_t calls_per_session, calls_per_client;
	} limits;
	struct {
		struct pf_str addresses;	/* "plain" or "hashed" */
		int64_t days;
	} audit;
	struct {		/* how long rows are kept */
		int64_t request_hours, code_hours, device_hours, login_hours;
		int64_t ended_grant_days;
	} retention;
	struct {		/* scopes of each type; none: it is off */
		int64_t line;
		struct pf_strs direct, device, mediated;
		struct pf_list custom_scopes;	/* struct pf_custom_scope */
	} sign_in;
	struct {
		int64_t seconds;
		bool rotate;
		int64_t grace_seconds;
	} account_tokens;
	struct {		/* Device Sign-In */
		int64_t seconds, interval_seconds;
		int64_t guesses;	/* a quarter of an hour */
	} device;
	struct {		/* of customers, on our pages */
		struct pf_str by;
		int64_t by_line;
		bool by_shop;		/* made of it */
		struct pf_str shop_url;
		int64_t idle_seconds;
		/* a quarter of an hour */
		int64_t failures_per_login, failures_per_address;
		int64_t threads;	/* that check passwords */
		struct pf_str salt_file;
	} login;
	struct { bool public_clients; } mcp;
	struct {		/* Mediated Sign-In */
		int64_t line;
		struct pf_list fields;	/* struct pf_mediated_field: two */
		struct pf_str login_field, secret_field;  /* made of them */
		struct pf_str code;	/* "unusual", "always", "never" */
		int64_t code_seconds, tries;
		int64_t failures_per_client;	/* a quarter of an hour */
	} mediated;
	struct {		/* how one-time codes are sent */
		int64_t line;
		struct pf_strs command;
		int64_t timeout_ms;
		struct pf_str to;
		bool by_phone;		/* made of it */
		struct pf_str subject, text;
		struct {
			struct pf_str url, from, user, password_file, ca_file;
		} smtp;
	} codes;
	struct {		/* what customers see */
		struct pf_str folder, shop_name, logo, home_url, account_url;
	} pages;
	struct pf_list apis;	/* struct pf_api */
	struct pf_list guard;	/* struct pf_guarded */
	struct {		/* agents' browsers (section 5) */
		int64_t line;
		bool enabled;
		struct pf_str cookie, domain;	/* "": host-only */
		int64_t per_session;
	} browser;
	struct {		/* the shop's pages, to a joined browser */
		int64_t line;
		struct pf_list closed, rules;	/* struct pf_rule */
	} site;

	/* Made of the above. */
	const struct pf_host *issuer_host;	/* NULL without issuer */
	struct pf_str issuer_path;		/* "" or "/path" */
	struct pf_str token_endpoint;
	struct pf_str revocation_endpoint;
	struct pf_str authorization_endpoint;
	struct pf_str device_endpoint;
	struct pf_str verification_uri;		/* of Device Sign-In */
	struct pf_str mediated_endpoint;
	bool mcp_public;	/* public clients, and an MCP server for them */
	struct pf_strs domains;			/* each once */
	struct pf_list proxy_networks;		/* struct pf_network */
};

extern const struct pf_conf_table pf_settings_table;

/* Read and check the file. PF_E_INPUT or PF_E_ABSENT with *fault, PF_E_MEM. */
PF_MUST enum pf_rc pf_settings_read(const char *file, struct pf_arena *a,
    struct pf_settings *out, struct pf_conf_fault *fault);

/* By the key of a request; NULL if it is no host of ours. */
const struct pf_host *pf_settings_host(const struct pf_settings *s,
    struct pf_str host);
/* Where browsers join the Sessions of this domain; PF_NOSTR: nowhere. */
struct pf_str pf_settings_browser_endpoint(const struct pf_settings *s,
    struct pf_str domain);
/* The API whose tokens are for this resource, byte for byte; NULL if none. */
const struct pf_api *pf_settings_api(const struct pf_settings *s,
    struct pf_str resource);
/* A scope of the shop's own, with what it allows. */
bool pf_settings_custom_scope(const struct pf_settings *s, struct pf_str name,
    struct pf_str *description);
bool pf_guarded_covers(const struct pf_guarded *g, struct pf_str path);
/* Used by settings.c alone: what must hold between apis and guard. */
PF_MUST enum pf_rc pf_settings_link(const char *file, struct pf_arena *a,
    struct pf_settings *s, struct pf_conf_fault *fault);
/* Is this one of the domains that we speak for? */
bool pf_settings_domain(const struct pf_settings *s, struct pf_str domain);

#endif
