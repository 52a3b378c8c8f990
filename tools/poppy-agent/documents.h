/*
 * documents - judging what a Company publishes (protocol sections 3 to 3.2).
 */
#ifndef AG_DOCUMENTS_H
#define AG_DOCUMENTS_H

#include "core/base/json.h"
#include "tools/poppy-agent/fault.h"

#define AG_NOTES_MAX	16
#define AG_APIS_MAX	32

struct ag_api {
	struct pf_str type, url, description;
	struct pf_str resource;		/* PF_NOSTR if none */
};

/* What the agent uses of poppy.json and of the metadata. Strings belong to the
 * arena of the parse. */
struct ag_company {
	struct pf_str asked;		/* host or host:port */
	struct pf_str version, name, domain;
	struct pf_str issuer;		/* PF_NOSTR: no Sessions here */
	bool direct, device, mediated;
	struct pf_str direct_scope, device_scope;	/* one that it grants */
	struct pf_str mediated_endpoint, browser_endpoint, chat_endpoint;
	const struct pf_json *mediated_fields;	/* a list, or NULL */
	struct ag_api api[AG_APIS_MAX];	/* of the types that we know */
	size_t napis;
	/* of the metadata */
	struct pf_str token_endpoint, revocation_endpoint;
	struct pf_str authorization_endpoint, device_endpoint;
	/* No requirement broken, but worth telling. */
	char note[AG_NOTES_MAX][160];
	size_t nnotes;
};

/*
 * "shop.example", "Shop.Example:8443" -> the well-known URL, and the host as it
 * must stand in the document. PF_E_INPUT for anything that is no domain.
 */
PF_MUST enum pf_rc ag_wellknown_url(struct pf_arena *a, const char *asked,
    struct pf_str *url, struct pf_str *host, struct pf_str *key);
/* RFC 8414, 3.1: the well-known part goes before the issuer's path. PF_E_INPUT
 * for an issuer that is no https URL, or has a query or fragment. */
PF_MUST enum pf_rc ag_metadata_url(struct pf_arena *a, struct pf_str issuer,
    struct pf_str *url);
/* "https://host:port" of a URL, in lower case, without a default port.
 * PF_E_INPUT for what is not https or has userinfo. */
PF_MUST enum pf_rc ag_origin(struct pf_arena *a, struct pf_str url,
    struct pf_str *origin);

/* Read poppy.json. PF_E_UPSTREAM with the fault set for each broken MUST. */
PF_MUST enum pf_rc ag_poppy_check(const struct pf_json *doc, struct pf_str host,
    struct ag_company *out, struct ag_fault *f);
/* Read the metadata of the company that ag_poppy_check() filled in. */
PF_MUST enum pf_rc ag_metadata_check(const struct pf_json *doc,
    struct ag_company *io, struct ag_fault *f);

#endif
