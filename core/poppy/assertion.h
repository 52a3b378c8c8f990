/*
 * assertion - what a Personal Agent signs with its published keys: the client
 * assertion that authenticates it (RFC 7523, 2.2; section 4.1) and the Session
 * assertion that names its User (RFC 7523, 2.1; section 4.2).
 */
#ifndef PF_ASSERTION_H
#define PF_ASSERTION_H

#include "core/jose/jwt.h"
#include "core/poppy/client.h"
#include "core/poppy/replay.h"
#include "core/web/form.h"
#include "core/web/req.h"

struct pf_authn {
	const struct pf_client *client;
	struct pf_spend spend;		/* of the client assertion */
};

/*
 * Authenticate the client of a form request at endpoint (its public URL).
 * Claims are judged before anything is fetched. PF_OK, PF_PARKED, or an error
 * noted: invalid_client, also for a form without an assertion; unavailable as
 * pf_client_load() says.
 */
PF_MUST enum pf_rc pf_authenticate(struct pf_req *rq, const struct pf_form *f,
    struct pf_str endpoint, struct pf_authn *out);

/*
 * Judge the Session assertion of an authenticated client. PF_OK, PF_PARKED, or
 * invalid_grant noted; if newer keys had to be asked for, also what
 * pf_client_reload() notes.
 */
PF_MUST enum pf_rc pf_session_assertion(struct pf_req *rq,
    const struct pf_form *f, const struct pf_authn *who, struct pf_claims *out,
    struct pf_spend *spend);

#endif
