/*
 * nonce - the newest DPoP-Nonce of each server (RFC 9449, 8 and 9). Token
 * endpoint and APIs have nonces of their own, on one host too.
 */
#ifndef AG_NONCE_H
#define AG_NONCE_H

#include "core/base/str.h"

struct agent;
struct ag_reply;

enum ag_nonce_role { AG_NONCE_TOKEN, AG_NONCE_API };

/* Empty if the server at this URL gave none. */
struct pf_str ag_nonce_for(struct agent *ag, enum ag_nonce_role role,
    struct pf_str url);
/* Remember the nonce of a reply, whatever its status. PF_E_UPSTREAM, fault
 * set: two of them, or one with characters that no nonce has. */
PF_MUST enum pf_rc ag_nonce_keep(struct agent *ag, enum ag_nonce_role role,
    struct pf_str url, const struct ag_reply *rp);

#endif
