/*
 * gate - is there one whole, sound FastCGI request in these bytes?
 *
 * libfcgi sees nothing that has not passed here: version 1, BEGIN_REQUEST of
 * our role first, then PARAMS, then STDIN, all of one request id, the names
 * and lengths of the parameters sound (CVE-2025-23016 was a length that
 * libfcgi added up wrongly). No multiplexing, no management records, no
 * ABORT_REQUEST (neither lighttpd nor httpd sends any), nothing behind the
 * request. Nor is there padding behind BEGIN_REQUEST or behind the end of
 * PARAMS, which libfcgi forgets to skip: it would read records there that the
 * gate has not seen. Bytes may come in pieces of any size; nothing is kept of
 * them.
 */
#ifndef PF_GATE_H
#define PF_GATE_H

#include "core/base/pf.h"

#define PF_GATE_RESPONDER	1	/* roles, as on the wire */
#define PF_GATE_AUTHORIZER	2
#define PF_GATE_MAX_PARAMS	65536u	/* bytes of names and values */
#define PF_GATE_STRAY		8u
#define PF_GATE_MAX_COUNT	1000u	/* of them */

enum pf_gate_rc {
	PF_GATE_MORE,		/* sound so far */
	PF_GATE_COMPLETE,
	PF_GATE_LARGE_PARAMS,	/* over a limit; said once, see forgive */
	PF_GATE_LARGE_BODY,
	PF_GATE_BAD		/* why says what is wrong; never feed again */
};

struct pf_gate {
	uint32_t max_body;
	uint16_t role;

	/* Found so far. */
	uint16_t id;		/* valid once begun */
	bool begun;
	bool keep;		/* the web server wants the connection kept */
	bool body_end;		/* the empty STDIN record was there */
	bool stray;		/* one of the request before came first:
				 * PF_GATE_STRAY bytes, not for libfcgi */
	/* Set after LARGE to go on without limits, so that the rest of the
	 * request can be read and thrown away. */
	bool forgive;
	uint8_t tail;		/* padding behind the last record */
	uint64_t used;		/* bytes fed */
	uint64_t params, body;	/* bytes of content */
	const char *why;

	/* Where in the bytes it stands. */
	uint8_t phase, part;
	uint8_t type, nhdr, pad, begin_at;
	uint16_t left;		/* content still to come */
	uint8_t hdr[8], begin[8];
	/* Within the pairs of PARAMS, which may straddle records. */
	uint8_t pair, nlen;
	uint32_t len, name_left, value_left, count;
};

void pf_gate_init(struct pf_gate *g, unsigned role, uint32_t max_body);
/*
 * The next n bytes. The result for all bytes so far; once it is not MORE, only
 * forgive allows more bytes. An authorizer's request is complete at the empty
 * PARAMS record, with or without an empty STDIN behind it: httpd sends none.
 */
PF_MUST enum pf_gate_rc pf_gate_feed(struct pf_gate *g, const void *bytes,
    size_t n);

#endif
