/*
 * asking - what the requests of Personal Agents at the OAuth endpoints share:
 * a form, a client that proves itself, and one call of the database that judges
 * the rest, spends what was signed, and counts.
 */
#ifndef AUTH_ASKING_H
#define AUTH_ASKING_H

#include "core/jose/dpop.h"
#include "core/poppy/app.h"
#include "core/poppy/assertion.h"
#include "core/poppy/limit.h"
#include "core/store/db.h"
#include "core/web/form.h"

/* The signed parts of a request. */
enum auth_part { AUTH_PROOF, AUTH_CLIENT, AUTH_ASSERTION, AUTH_PARTS };

/* What a request has shown so far. */
struct auth_asking {
	struct pf_req *rq;
	enum pf_limit limit;		/* of its address */
	struct pf_form form;
	const struct pf_api *api;	/* the token is for it alone, or NULL */
	bool bearer;			/* it is an MCP server: no proof */
	struct pf_proof proof;
	struct pf_authn client;
	bool public_ok;		/* it need not authenticate, if it is public */
	bool is_public;		/* it did not */
	/* What its success spends, in this order, all of it or nothing. */
	enum auth_part part[AUTH_PARTS];
	struct pf_str spend[AUTH_PARTS];
	int64_t iat[AUTH_PARTS];
	size_t nspends;
	bool stale;		/* judged by documents that have changed */
};

/* Limits that cost no database, then the form. Errors noted: rate_limited,
 * invalid_request, invalid_target for two resources. */
PF_MUST enum pf_rc auth_ask(struct auth_asking *q);

/* To be spent too; key has PF_SPEND_LEN bytes and lives as long as q is in
 * use. */
void auth_spends(struct auth_asking *q, enum auth_part part,
    const unsigned char *key, int64_t iat);

/*
 * Authenticate the client at the endpoint, then go on. With public_ok a client
 * whose document says that it is public (RFC 6749, 2.1) is who it says. When
 * the database knows newer documents of the client both are done once more, by
 * those: nothing has been spent then.
 */
PF_MUST enum pf_rc auth_authenticated(struct auth_asking *q,
    struct pf_str endpoint, enum pf_rc (*then)(struct auth_asking *q));

/* The one value of a field; invalid_request noted if it isn't there. */
PF_MUST enum pf_rc auth_field(struct auth_asking *q, const char *name,
    struct pf_str *out);

/* Of a refusal by the database. */
enum auth_weight {
	AUTH_DAILY,	/* every agent gets there: nobody counts it */
	AUTH_COUNTED,	/* we count it, in the address's bucket and the audit */
	AUTH_WRITTEN	/* in the bucket; the database has written it down */
};
/* What an outcome means to the agent. */
struct auth_refusal {
	const char *outcome;
	enum pf_err err;		/* none: the caller goes on by it */
	enum auth_weight weight;
	const char *why;
};

/* A function of the database with the outcomes that it alone has. */
struct auth_function {
	struct pf_stmt stmt;
	const struct auth_refusal *refusals;
	size_t nrefusals;
};
/* The first columns of each. */
enum { AUTH_OUTCOME, AUTH_REPLAYED, AUTH_RETRY_S, AUTH_OWN };

/*
 * Call it on the client's behalf: client_no, version, its own n parameters,
 * then what is spent and by whom, as poppy_api.session_start() takes them.
 * PF_OK: the outcome is "ok", or one without error among f's. Else the error
 * is noted.
 */
PF_MUST enum pf_rc auth_call(struct auth_asking *q,
    const struct auth_function *f, const struct pf_param *own, size_t n,
    struct pf_row *row);
/* The same for a row that came by a call of another form. */
PF_MUST enum pf_rc auth_judge(struct auth_asking *q,
    const struct auth_function *f, const struct pf_row *row);

#endif
