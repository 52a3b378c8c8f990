/*
 * http - one HTTPS request at a time; the only file that knows libcurl.
 *
 * Nothing is followed, repeated or decoded on its own: redirects, nonces and
 * waits are protocol and stand elsewhere. Only https goes out.
 */
#ifndef AG_HTTP_H
#define AG_HTTP_H

#include "core/base/arena.h"

struct agent;

#define AG_FIELDS_MAX	64

struct ag_field { struct pf_str name, value; };

struct ag_request {
	const char *method;
	struct pf_str url;
	const struct ag_field *field;
	size_t nfields;
	struct pf_str body;	/* PF_NOSTR: none */
	size_t max;		/* longest answer, bytes */
};

struct ag_reply {
	int status;
	struct ag_field field[AG_FIELDS_MAX];
	size_t nfields;
	struct pf_str body;
};

PF_MUST enum pf_rc ag_http_open(struct agent *ag);
void ag_http_close(struct agent *ag);

/* PF_OK for any answer, whatever its status. PF_E_UPSTREAM with the fault set:
 * no connection, a certificate that can't be trusted, a timeout, an answer that
 * is too long or no HTTP. Starts the fault's "asked". */
PF_MUST enum pf_rc ag_http_send(struct agent *ag, const struct ag_request *rq,
    struct ag_reply *rp);
/* The i-th field of this name, PF_NOSTR if there are fewer. */
struct pf_str ag_reply_field(const struct ag_reply *rp, const char *name,
    size_t i);

/* A reference against the URL of the document it stands in (RFC 3986, 5). */
PF_MUST enum pf_rc ag_url_resolve(struct pf_arena *a, struct pf_str base,
    struct pf_str reference, struct pf_str *out);

#endif
