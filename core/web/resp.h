/*
 * resp - the reply of a request, built in its arena and sent in one piece.
 */
#ifndef PF_RESP_H
#define PF_RESP_H

#include "core/base/json.h"

#define PF_RESP_MAX	(4u << 20)	/* bytes of a body */

struct pf_req;

struct pf_resp {
	int status;		/* 0: nothing has been said yet */
	struct pf_buf head;	/* header lines, CRLF each; no Status line */
	struct pf_str body;
	bool no_body;		/* HEAD, 204, 304 */
};

void pf_resp_init(struct pf_req *rq);
/* Forget what was said, for an error that comes late. */
void pf_resp_reset(struct pf_req *rq);
/* One header. A CR, LF, NUL or control character in the value is a bug of ours:
 * the header is left out and logged. */
void pf_resp_header(struct pf_req *rq, const char *name, struct pf_str value);
void pf_resp_headerf(struct pf_req *rq, const char *name, const char *fmt, ...)
    PF_PRINTF(3, 4);
/* status, Content-Type and body; the body must live in the arena. PF_OK, or
 * PF_E_MEM if a header did not fit, so that handlers can end with it. */
PF_MUST enum pf_rc pf_resp_send(struct pf_req *rq, int status,
    const char *type, struct pf_str body);
PF_MUST enum pf_rc pf_resp_json(struct pf_req *rq, int status,
    const struct pf_buf *json);
PF_MUST enum pf_rc pf_resp_empty(struct pf_req *rq, int status);
/* A GET reply with a strong ETag over the body; 304 if If-None-Match names it
 * (RFC 9110, 13.1.2: lists, W/ and * included). */
PF_MUST enum pf_rc pf_resp_cached(struct pf_req *rq, const char *type,
    struct pf_str body, const char *cache_control);

/* The CGI header block with Status (and, for an authorizer, Variable-NAME
 * lines set by pf_resp_header). Used by serve alone. */
PF_MUST enum pf_rc pf_resp_block(struct pf_req *rq, struct pf_str *out);

#endif
