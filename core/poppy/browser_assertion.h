/*
 * browser_assertion - by what an agent's browser joins a Session: a JWT that its
 * agent has signed (section 5).
 */
#ifndef PF_BROWSER_ASSERTION_H
#define PF_BROWSER_ASSERTION_H

#include "core/jose/jwt.h"
#include "core/poppy/client.h"
#include "core/poppy/keys.h"
#include "core/poppy/replay.h"
#include "core/poppy/settings.h"
#include "core/store/token.h"
#include "core/web/req.h"

struct pf_joining {
	struct pf_jws jws;
	struct pf_str client_id;	/* a pf_client_id_ok() */
	struct pf_user user;
	struct pf_sid sid;		/* in the User's bucket */
	struct pf_str return_to;	/* a pf_return_ok() */
	struct pf_spend spend;
};

/*
 * Judge all of it but the signature. host got the request and has a
 * browser_endpoint, which is the one aud. PF_OK, invalid_grant or
 * invalid_session noted, PF_E_MEM, PF_E_BUG.
 */
PF_MUST enum pf_rc pf_browser_assertion(struct pf_req *rq, struct pf_str text,
    const struct pf_host *host, struct pf_joining *out);
/* And the signature, by client, or by newer keys of it: *client may be another
 * then. PF_OK, PF_PARKED, invalid_grant noted, or as pf_client_reload(). */
PF_MUST enum pf_rc pf_browser_verify(struct pf_req *rq,
    const struct pf_joining *j, const struct pf_client **client);

/*
 * May the browser be led there? An https URL as pf_url_parse() has it, without
 * userinfo, on the domain of host or below it; on the port of https, or on one
 * that a base of our hosts has. It may have a fragment.
 */
bool pf_return_ok(const struct pf_settings *s, const struct pf_host *host,
    struct pf_str url);

#endif
