/*
 * state - what the agent remembers: one JSON file, 0600, replaced as a whole.
 *
 * Each change reads the file anew under a lock, changes that and writes it, so
 * two agents never undo each other's work. Readers need no lock: rename(2)
 * shows them the old file or the new one. After a change all pointers into the
 * state are of the past; look things up again.
 */
#ifndef AG_STATE_H
#define AG_STATE_H

#include "core/jose/jwk.h"

struct agent;

/* A signing key. The first one of the list signs; retired ones are published
 * until companies have had time to forget them. */
struct ag_key {
	struct ag_key *next;
	struct pf_key *key;
	enum pf_alg alg;
	struct pf_str kid;
	int64_t made_at;
	int64_t retired_at;	/* 0: it signs */
};

struct ag_session {
	struct ag_session *next;	/* newest first */
	struct pf_str id;
	struct pf_str token;		/* the newest Session Token */
	struct pf_str scope;
	struct pf_str account;		/* id of the Account Token that signed
					 * it in, or PF_NOSTR */
	int64_t started_at, expires_at;
	bool signed_in;
};

/* An Account Token (4.8). The id is the agent's own, never sent. */
struct ag_account {
	struct ag_account *next;	/* newest first */
	struct pf_str id;
	struct pf_str token;
	struct pf_str scope;
	int64_t given_at;
	int64_t expires_at;		/* 0: not said */
};

/* A Direct Sign-In that waits for the browser to come back (4.5). */
struct ag_pending {
	struct ag_pending *next;
	struct pf_str state;
	struct pf_str query;		/* what it came with; PF_NOSTR so far */
	int64_t until_at;
};

/* One User at one Company (its issuer): the User ID, the DPoP key, Sessions. */
struct ag_user {
	struct ag_user *next;
	struct pf_str user;		/* the agent's own name; never sent */
	struct pf_str issuer;
	struct pf_str id;		/* the User ID; sent in sub */
	struct pf_key *dpop;		/* ES256 */
	struct ag_session *sessions;
	struct ag_account *accounts;
};

/* A verified domain and where its Company may get tokens. */
struct ag_place {
	struct ag_place *next;
	struct pf_str domain;		/* as asked: host or host:port */
	struct pf_str issuer;
	struct pf_str origins;		/* "https://a.example https://b..." */
	struct pf_str servers;		/* the same, of API descriptions */
};

/* A public document, kept as its caching headers allow. */
struct ag_doc {
	struct ag_doc *next;
	struct pf_str url;		/* that was asked for */
	struct pf_str final_url;	/* after redirects */
	struct pf_str etag;
	struct pf_str body;
	int64_t fetched_at, fresh_until_at;
};

/* The newest DPoP-Nonce of a server, in one of its roles. */
struct ag_nonce {
	struct ag_nonce *next;
	struct pf_str server;		/* "token https://..." or "api ..." */
	struct pf_str nonce;
};

/* A Retry-After that is still running. */
struct ag_hold {
	struct ag_hold *next;
	struct pf_str request;		/* "POST https://..." without query */
	int64_t until_at;
};

struct ag_state {
	struct pf_str client_id;
	struct pf_str name;		/* client_name */
	struct ag_key *keys;
	struct ag_user *users;
	struct ag_place *places;
	struct ag_doc *docs;
	struct ag_nonce *nonces;
	struct ag_hold *holds;
	struct ag_pending *pendings;
};

/* Read the file; one that isn't there is an empty state. PF_E_FORBID: others
 * may read it. PF_E_INPUT: it is no state file. Fault set. */
PF_MUST enum pf_rc ag_state_load(struct agent *ag);
/* Under the lock: load, fn(ag, arg), write. What fn refuses is not written. */
PF_MUST enum pf_rc ag_state_change(struct agent *ag,
    enum pf_rc (*fn)(struct agent *ag, void *arg), void *arg);

struct ag_user *ag_state_user(struct agent *ag, struct pf_str issuer);
/* id PF_NOSTR: the newest. */
struct ag_session *ag_state_session(struct agent *ag, struct pf_str issuer,
    struct pf_str id);
/* id PF_NOSTR: the newest. */
struct ag_account *ag_state_account(struct agent *ag, struct pf_str issuer,
    struct pf_str id);
struct ag_pending *ag_state_pending(struct agent *ag, struct pf_str state);
struct ag_place *ag_state_place(struct agent *ag, struct pf_str domain);
struct ag_doc *ag_state_doc(struct agent *ag, struct pf_str url);
struct pf_str ag_state_nonce(struct agent *ag, struct pf_str server);

/* The state as JSON and back (statejson.c). out takes strings of the arena;
 * its keys are freed with it. *why is a constant. */
void ag_state_write(struct pf_buf *b, const struct ag_state *st);
PF_MUST enum pf_rc ag_state_parse(struct pf_arena *a, struct pf_str text,
    struct ag_state *out, const char **why);

#endif
