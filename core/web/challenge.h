/*
 * challenge - every error that goes out: code, status, challenge, in one table.
 *
 * A handler says what is wrong with pf_fail(); the reply is built here and
 * nowhere else: OAuth error JSON (RFC 6749, 5.2) with Cache-Control: no-store,
 * and WWW-Authenticate as section 6 of the protocol, RFC 6750 and RFC 9449 say.
 */
#ifndef PF_CHALLENGE_H
#define PF_CHALLENGE_H

#include "core/base/buf.h"

struct pf_req;

enum pf_err {
	PF_ERR_NONE = 0,
	/* token endpoint and its relatives */
	PF_INVALID_REQUEST,
	PF_INVALID_CLIENT,
	PF_INVALID_GRANT,
	PF_INVALID_SESSION,
	PF_ACCOUNT_MISMATCH,
	PF_INVALID_SCOPE,
	PF_INVALID_TARGET,
	PF_UNSUPPORTED_GRANT_TYPE,
	PF_UNAUTHORIZED_CLIENT,
	PF_AUTHORIZATION_PENDING,	/* RFC 8628, 3.5 */
	PF_SLOW_DOWN,
	PF_ACCESS_DENIED,
	PF_EXPIRED_TOKEN,
	PF_INVALID_DPOP_PROOF,	/* 400 at the token endpoint, else 401 */
	PF_USE_DPOP_NONCE,
	/* section 6 */
	PF_INVALID_TOKEN,
	PF_SIGN_IN_REQUIRED,
	PF_INSUFFICIENT_SCOPE,
	/* all over */
	PF_EXTENSION_REQUIRED,
	PF_RATE_LIMITED,
	PF_NOT_FOUND,
	PF_METHOD_NOT_ALLOWED,
	PF_UNSUPPORTED_MEDIA_TYPE,
	PF_TOO_LARGE,		/* 413 */
	PF_HEADERS_TOO_LARGE,	/* 431 */
	PF_UNAVAILABLE,		/* temporarily_unavailable, 503, Retry-After */
	PF_SERVER_ERROR,	/* 500 */
	PF_ERR_COUNT
};

struct pf_errinfo {
	const char *code;	/* as it goes out */
	int status;
	enum pf_rc rc;		/* whose fault */
	bool challenge;		/* always with WWW-Authenticate */
};
const struct pf_errinfo *pf_err_info(enum pf_err e);

/*
 * Note the error on the request and return its rc, to be returned on. The
 * description goes to the client as error_description: name the claim, the
 * parameter, the limit; never a secret or what the client sent.
 */
enum pf_rc pf_fail(struct pf_req *rq, enum pf_err e, const char *fmt, ...)
    PF_PRINTF(3, 4);
/* insufficient_scope or sign_in_required with the scopes that are needed. */
enum pf_rc pf_fail_scope(struct pf_req *rq, enum pf_err e,
    struct pf_str scopes);
/* rate_limited or unavailable with Retry-After in seconds (at least 1). */
enum pf_rc pf_fail_retry(struct pf_req *rq, enum pf_err e, int seconds,
    const char *fmt, ...) PF_PRINTF(4, 5);

/*
 * The reply for a request whose handler returned rc != PF_OK: by the error that
 * was noted, or, where none was, by rc (a bare PF_E_DB or PF_E_BUSY is 503 with
 * Retry-After 1, PF_E_LIMIT 429, PF_E_MEM and PF_E_BUG 500, PF_E_INPUT 400).
 * Headers and replies from before it are forgotten, but for a 405, whose Allow
 * route.c has set.
 */
void pf_fail_reply(struct pf_req *rq, enum pf_rc rc);

#endif
