/*
 * client - Personal Agents as their own documents describe them (4.1; OAuth
 * Client ID Metadata Document), and the keys each process keeps of them.
 */
#ifndef PF_CLIENT_H
#define PF_CLIENT_H

#include "core/base/conf.h"
#include "core/jose/jwk.h"

#define PF_CLIENT_ID_MAX	2048

/* Immutable, counted. */
struct pf_client {
	struct pf_str client_id;
	int64_t no;		/* of poppy.client */
	int64_t version;	/* changes when its documents or rules do */
	bool allowed;		/* by the operator, by name or host */
	struct pf_keyset keys;
	int64_t fresh_until_ms;	/* pf_mono_ms(); then the database is asked */
	/* Until then a signature that fails is no reason to ask for newer keys;
	 * atomic, the one member that changes. */
	int64_t settled_until_ms;
	int refs;
};

/* An https URL with a path, no fragment, no dot segments, of at most 2,048
 * bytes. */
bool pf_client_id_ok(struct pf_str client_id);

/* What we need of a metadata document; views into the arena's JSON. */
struct pf_client_doc {
	struct pf_str jwks_uri;	/* PF_NOSTR for a public client */
	struct pf_str name;	/* client_name made fit: label.h; or PF_NOSTR */
	struct pf_str logo_uri;	/* https, or PF_NOSTR; never fetched by us */
	struct pf_strs redirect_uris;
	/* It has no key and authenticates by none: a client of MCP servers
	 * that does not know the protocol (section 6). */
	bool is_public;
};
/*
 * Judge a metadata document fetched from client_id: its client_id equals the
 * URL byte for byte; jwks_uri and every redirect_uris entry are https on the
 * host of client_id or below it; token_endpoint_auth_method is absent or
 * private_key_jwt. With public_ok it may also be none; such a client needs no
 * jwks_uri and may have redirect_uris on a loopback address (RFC 8252, 7.3). A
 * client_name or logo_uri that won't do is left out. PF_E_INPUT with *why, a
 * constant.
 */
PF_MUST enum pf_rc pf_client_doc(struct pf_arena *a, struct pf_str client_id,
    struct pf_str text, bool public_ok, struct pf_client_doc *out,
    const char **why);
/*
 * Is uri, byte for byte, one of its redirect_uris? One on a loopback address is
 * so only for sign-in to an MCP server, and there with any port.
 */
bool pf_client_redirect(const struct pf_client_doc *doc, struct pf_str uri,
    bool mcp);

/* Make one from what was fetched or stored; jwks is "" for a public client,
 * which has no keys, so that nothing it signs is right. PF_E_INPUT with *why if the key set
 * is none, PF_E_MEM. Give it back with pf_client_drop(). */
PF_MUST enum pf_rc pf_client_new(struct pf_str client_id, int64_t no,
    int64_t version, bool allowed, struct pf_str jwks, int64_t fresh_s,
    struct pf_client **out, const char **why);
void pf_client_drop(struct pf_client *c);

/*
 * The clients a process knows: at most max, with four keys each on average; the
 * least recently used go first. Any thread.
 */
struct pf_client_cache;
PF_MUST enum pf_rc pf_client_cache_new(size_t max,
    struct pf_client_cache **out);
void pf_client_cache_free(struct pf_client_cache *cc);	/* NULL is fine */
/* A fresh one, to be dropped by the caller; NULL if there is none. */
struct pf_client *pf_client_cache_get(struct pf_client_cache *cc,
    struct pf_str client_id);
/* Keep it, unless a newer version is there that is fresh; the caller's own
 * reference stays the caller's. */
void pf_client_cache_put(struct pf_client_cache *cc, struct pf_client *c);
/* Forget it: the database has another version, or it is blocked. */
void pf_client_cache_forget(struct pf_client_cache *cc,
    struct pf_str client_id);

#endif
