/*
 * httpd - HTTP/1.1 (RFC 9112) as far as publishing a few documents needs it:
 * GET and HEAD without bodies, keep-alive, conditional requests.
 */
#ifndef AG_HTTPD_H
#define AG_HTTPD_H

#include "core/base/buf.h"

#define AG_HEAD_MAX	8192	/* bytes of request line and fields */

struct ag_ask {
	struct pf_str method, path;	/* path without query */
	struct pf_str query;		/* PF_NOSTR without '?' */
	struct pf_str if_none_match;	/* PF_NOSTR if not given */
	bool keep_alive;
	int refused;			/* a status, or 0 */
};

/* What is published, and how the browser may keep it. */
struct ag_page {
	struct pf_str path, type, body;
};

/* Length of the head that text begins with, its empty line included; 0 if it
 * isn't complete yet. */
size_t ag_httpd_head(struct pf_str text);
/* Read a complete head. out->refused is set for what can't be answered. */
void ag_httpd_parse(struct pf_str head, struct ag_ask *out);
/* The whole answer. Returns its status. */
int ag_httpd_answer(struct pf_buf *b, struct ag_ask *ask,
    const struct ag_page *page, size_t npages);

/* A short text of our own, never cached. Returns status. */
int ag_httpd_say(struct pf_buf *b, int status, const struct ag_ask *ask,
    const char *text);

#endif
