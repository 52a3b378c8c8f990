/*
 * What the files that judge signed assertions share; of core/poppy/assertion.c
 * and browser_assertion.c alone.
 */
#ifndef PF_ASSERTION_IN_H
#define PF_ASSERTION_IN_H

#include "core/poppy/assertion.h"

/* Bytes of jti: 128 random bits are 22 in base64url; a client assertion is
 * judged by what common libraries make. */
#define PF_JTI_CLIENT	16
#define PF_JTI_USER	22	/* of an assertion about a User */
#define PF_JTI_MAX	256

/* Clock and lifetimes as the settings have them; the rest is the caller's. */
struct pf_jwt_rules pf_assertion_rules(const struct pf_req *rq);

/*
 * Verify with the client's keys; when they don't do, with newer ones, if there
 * may be any. PF_E_AUTH, an error for the caller to name, with *why; else
 * PF_PARKED, or what pf_client_reload() notes.
 */
PF_MUST enum pf_rc pf_assertion_verify(struct pf_req *rq,
    const struct pf_jws *jws, const struct pf_client **client,
    const char **why);

#endif
