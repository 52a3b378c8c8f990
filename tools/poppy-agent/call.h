/*
 * call - requests to a Company's APIs with Session Token and DPoP Proof (4.3,
 * 6).
 */
#ifndef AG_CALL_H
#define AG_CALL_H

#include "tools/poppy-agent/documents.h"
#include "tools/poppy-agent/http.h"
#include "tools/poppy-agent/wwwauth.h"

struct ag_call {
	const char *method;
	struct pf_str url;
	const struct ag_field *field;	/* besides what goes with the token */
	size_t nfields;
	struct pf_str body;		/* PF_NOSTR: none */
};

/* What may be called at all: https, no userinfo, no fragment, and none of our
 * tokens in it. Fault set. */
PF_MUST enum pf_rc ag_call_check(struct agent *ag, struct pf_str url);

/*
 * Send with the Session's newest token. A token about to expire is renewed
 * first, one refused as invalid_token once, a nonce is taken up once, a short
 * Retry-After waited out. *session may become another Session, when that one
 * has ended. PF_OK for 2xx only; else the fault says what the status means:
 * PF_E_AUTH 401, PF_E_FORBID sign_in_required or insufficient_scope, PF_E_LIMIT
 * a long wait, PF_E_UPSTREAM the rest. rp->status is 0 if nothing came.
 */
PF_MUST enum pf_rc ag_call_send(struct agent *ag, const struct ag_company *c,
    struct pf_str *session, const struct ag_call *call, struct ag_reply *rp);

#endif
