/*
 * http - one HTTPS request at a time, as an agent makes it: the only file of
 * poppyctl that knows libcurl.
 *
 * Certificates are checked, nothing is followed or repeated, no proxy of the
 * environment is used. Only https goes out.
 */
#ifndef PF_CTL_HTTP_H
#define PF_CTL_HTTP_H

#include "core/base/arena.h"

#define CTL_HTTP_MAX	(1u << 20)	/* longest answer, bytes */

struct ctl_http;

struct ctl_ask {
	const char *method;
	struct pf_str url;
	struct pf_str authorization, dpop, cookie;	/* PF_NOSTR: not sent */
	struct pf_str form;			/* body; PF_NOSTR: none */
};

struct ctl_reply {
	int status;
	struct pf_str content_type, challenge, nonce, location;
	struct pf_str policy;	/* the first Content-Security-Policy */
	unsigned policies;	/* how many of them */
	struct pf_str body;
	char why[400];		/* why no answer came */
};

/* ca: a PEM file instead of the system's, or NULL. PF_E_MEM. */
PF_MUST enum pf_rc ctl_http_new(const char *ca, struct ctl_http **out);
void ctl_http_free(struct ctl_http *h);	/* NULL is fine */
/* PF_OK for any answer, whatever its status; PF_E_UPSTREAM with out->why;
 * PF_E_MEM. All of *out is the arena's. */
PF_MUST enum pf_rc ctl_http_send(struct ctl_http *h, struct pf_arena *a,
    const struct ctl_ask *ask, struct ctl_reply *out);

#endif
