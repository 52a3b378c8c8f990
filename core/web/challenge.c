/*
 * challenge - see challenge.h.
 */
#include <stdarg.h>
#include <stdio.h>

#include "core/web/req.h"

/* What core/jose verifies; the order is ours to choose. */
#define ALGS		"ES256 ES384 RS256 PS256 EdDSA"
#define TEXT_MAX	400

static const struct pf_errinfo errors[PF_ERR_COUNT] = {
	[PF_ERR_NONE] = { "server_error", 500, PF_E_BUG, false },
	[PF_INVALID_REQUEST] = { "invalid_request", 400, PF_E_INPUT, false },
	[PF_INVALID_CLIENT] = { "invalid_client", 401, PF_E_AUTH, false },
	[PF_INVALID_GRANT] = { "invalid_grant", 400, PF_E_AUTH, false },
	[PF_INVALID_SESSION] = { "invalid_session", 400, PF_E_AUTH, false },
	[PF_ACCOUNT_MISMATCH] =
	    { "account_mismatch", 400, PF_E_CONFLICT, false },
	[PF_INVALID_SCOPE] = { "invalid_scope", 400, PF_E_INPUT, false },
	[PF_INVALID_TARGET] = { "invalid_target", 400, PF_E_INPUT, false },
	[PF_UNSUPPORTED_GRANT_TYPE] =
	    { "unsupported_grant_type", 400, PF_E_INPUT, false },
	[PF_UNAUTHORIZED_CLIENT] =
	    { "unauthorized_client", 400, PF_E_FORBID, false },
	[PF_AUTHORIZATION_PENDING] =
	    { "authorization_pending", 400, PF_E_CONFLICT, false },
	[PF_SLOW_DOWN] = { "slow_down", 400, PF_E_LIMIT, false },
	[PF_ACCESS_DENIED] = { "access_denied", 400, PF_E_FORBID, false },
	[PF_EXPIRED_TOKEN] = { "expired_token", 400, PF_E_ABSENT, false },
	[PF_INVALID_DPOP_PROOF] =
	    { "invalid_dpop_proof", 401, PF_E_AUTH, true },
	[PF_USE_DPOP_NONCE] = { "use_dpop_nonce", 401, PF_E_AUTH, true },
	[PF_INVALID_TOKEN] = { "invalid_token", 401, PF_E_AUTH, true },
	[PF_SIGN_IN_REQUIRED] =
	    { "sign_in_required", 403, PF_E_FORBID, true },
	[PF_INSUFFICIENT_SCOPE] =
	    { "insufficient_scope", 403, PF_E_FORBID, true },
	[PF_EXTENSION_REQUIRED] =
	    { "extension_required", 403, PF_E_FORBID, false },
	[PF_RATE_LIMITED] = { "rate_limited", 429, PF_E_LIMIT, false },
	[PF_NOT_FOUND] = { "not_found", 404, PF_E_ABSENT, false },
	[PF_METHOD_NOT_ALLOWED] =
	    { "method_not_allowed", 405, PF_E_INPUT, false },
	[PF_UNSUPPORTED_MEDIA_TYPE] =
	    { "unsupported_media_type", 415, PF_E_INPUT, false },
	[PF_TOO_LARGE] = { "content_too_large", 413, PF_E_INPUT, false },
	[PF_HEADERS_TOO_LARGE] =
	    { "headers_too_large", 431, PF_E_INPUT, false },
	[PF_UNAVAILABLE] =
	    { "temporarily_unavailable", 503, PF_E_BUSY, false },
	[PF_SERVER_ERROR] = { "server_error", 500, PF_E_BUG, false },
};

/* What a bare rc becomes. Nothing is said that the caller did not say. */
static const struct { enum pf_err err; const char *text; } by_rc[] = {
	[PF_OK] = { PF_SERVER_ERROR, "Something went wrong here." },
	[PF_PARKED] = { PF_SERVER_ERROR, "Something went wrong here." },
	[PF_E_INPUT] = { PF_INVALID_REQUEST, "The request is malformed." },
	[PF_E_AUTH] = { PF_INVALID_TOKEN, "The token is missing or invalid." },
	[PF_E_FORBID] = { PF_INSUFFICIENT_SCOPE, "This is not allowed." },
	[PF_E_ABSENT] = { PF_NOT_FOUND, "There is nothing here." },
	[PF_E_CONFLICT] = { PF_INVALID_REQUEST,
	    "The state of things does not allow this." },
	[PF_E_LIMIT] = { PF_RATE_LIMITED, "Too many requests." },
	[PF_E_BUSY] = { PF_UNAVAILABLE, "Try again soon." },
	[PF_E_DB] = { PF_UNAVAILABLE, "Try again soon." },
	[PF_E_UPSTREAM] = { PF_UNAVAILABLE, "Try again soon." },
	[PF_E_MEM] = { PF_SERVER_ERROR, "Something went wrong here." },
	[PF_E_BUG] = { PF_SERVER_ERROR, "Something went wrong here." },
};

const struct pf_errinfo *
pf_err_info(enum pf_err e)
{
	return &errors[(unsigned)e < PF_ERR_COUNT ? e : PF_SERVER_ERROR];
}

/*
 * The alphabet of error_description and scope (RFC 6749, 5.2 and 3.3): what
 * goes into a quoted-string without escapes. Anything else becomes '?'.
 */
static void
clean(char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 || p[i] > 0x7e || p[i] == '"' ||
		    p[i] == '\\')
			p[i] = '?';
}

/* A clean copy; "" when memory ran out, for an error must always go out. */
static struct pf_str
clean_copy(struct pf_req *rq, struct pf_str s)
{
	char *p = pf_arena_alloc(rq->arena, s.n);

	if (p == NULL || s.n == 0)
		return PF_LIT("");
	for (size_t i = 0; i < s.n; i++)
		p[i] = s.p[i];
	clean(p, s.n);
	return (struct pf_str){ p, s.n };
}

static enum pf_rc note(struct pf_req *rq, enum pf_err e, const char *fmt,
    va_list ap) __attribute__((format(printf, 3, 0)));

static enum pf_rc
note(struct pf_req *rq, enum pf_err e, const char *fmt, va_list ap)
{
	char text[TEXT_MAX];
	int n = vsnprintf(text, sizeof(text), fmt, ap);

	if (n < 0)
		n = 0;
	if ((size_t)n >= sizeof(text))
		n = sizeof(text) - 1;
	rq->err = e;
	rq->err_text = clean_copy(rq, (struct pf_str){ text, (size_t)n });
	rq->err_scope = PF_NOSTR;
	rq->retry_after = 0;
	return pf_err_info(e)->rc;
}

enum pf_rc
pf_fail(struct pf_req *rq, enum pf_err e, const char *fmt, ...)
{
	enum pf_rc rc;
	va_list ap;

	va_start(ap, fmt);
	rc = note(rq, e, fmt, ap);
	va_end(ap);
	return rc;
}

enum pf_rc
pf_fail_scope(struct pf_req *rq, enum pf_err e, struct pf_str scopes)
{
	enum pf_rc rc;

	rc = pf_fail(rq, e, "%s", e == PF_SIGN_IN_REQUIRED ?
	    "The request needs a signed-in token." :
	    "The token lacks a scope that the request needs.");
	if (scopes.n > 0)
		rq->err_scope = clean_copy(rq, scopes);
	return rc;
}

enum pf_rc
pf_fail_retry(struct pf_req *rq, enum pf_err e, int seconds, const char *fmt,
    ...)
{
	enum pf_rc rc;
	va_list ap;

	va_start(ap, fmt);
	rc = note(rq, e, fmt, ap);
	va_end(ap);
	rq->retry_after = seconds;
	return rc;
}

static bool
is_proof_error(enum pf_err e)
{
	return e == PF_INVALID_DPOP_PROOF || e == PF_USE_DPOP_NONCE;
}

/* RFC 6750, 3; RFC 9449, 7.1; RFC 9728, 5.1. All values are clean already. */
static void
put_challenge(struct pf_req *rq, const struct pf_errinfo *info)
{
	struct pf_buf b;
	struct pf_str text;
	bool bearer = rq->scheme != NULL && !is_proof_error(rq->err) &&
	    pf_str_eq_nocase(pf_str(rq->scheme), PF_LIT("Bearer"));

	pf_buf_init(&b, rq->arena, 8192);
	pf_buf_fmt(&b, "%s error=\"%s\"", bearer ? "Bearer" : "DPoP",
	    info->code);
	if (rq->err_text.n > 0)
		pf_buf_fmt(&b, ", error_description=\"%.*s\"",
		    PF_STRF(rq->err_text));
	if (rq->err_scope.n > 0)
		pf_buf_fmt(&b, ", scope=\"%.*s\"", PF_STRF(rq->err_scope));
	if (bearer && rq->resource_metadata.n > 0)
		pf_buf_fmt(&b, ", resource_metadata=\"%.*s\"",
		    PF_STRF(rq->resource_metadata));
	if (!bearer)
		pf_buf_addz(&b, ", algs=\"" ALGS "\"");
	if (pf_buf_done(&b, &text) == PF_OK)
		pf_resp_header(rq, "WWW-Authenticate", text);
}

static enum pf_rc
put_body(struct pf_req *rq, int status, const char *code)
{
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, rq->arena, 8192);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_strz(&w, "error", code);
	if (rq->err_text.n > 0)
		pf_jw_str(&w, "error_description", rq->err_text);
	if (rq->err_scope.n > 0)
		pf_jw_str(&w, "scope", rq->err_scope);
	pf_jw_close(&w, '}');
	return pf_resp_json(rq, status, &b);
}

/*
 * When a bare rc is all we have, or the error lacks the Retry-After it needs.
 */
static void
complete(struct pf_req *rq, enum pf_rc rc)
{
	if (rq->err == PF_ERR_NONE || (unsigned)rq->err >= PF_ERR_COUNT) {
		size_t i = (unsigned)rc < PF_COUNT(by_rc) ? rc : PF_E_BUG;

		rq->err = by_rc[i].err;
		rq->err_text = pf_str(by_rc[i].text);
		rq->err_scope = PF_NOSTR;
		rq->retry_after = 0;
	}
	if (rq->retry_after < 1 && (rq->err == PF_RATE_LIMITED ||
	    rq->err == PF_UNAVAILABLE))
		rq->retry_after = 1;
}

void
pf_fail_reply(struct pf_req *rq, enum pf_rc rc)
{
	const struct pf_errinfo *info;
	int status;

	complete(rq, rc);
	info = pf_err_info(rq->err);
	status = rq->token_endpoint && is_proof_error(rq->err) ? 400 :
	    info->status;
	/* A 405 is found before any handler runs, and its Allow must stay. */
	if (rq->err != PF_METHOD_NOT_ALLOWED)
		pf_resp_reset(rq);
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	if (info->challenge)
		put_challenge(rq, info);
	if (rq->retry_after > 0)
		pf_resp_headerf(rq, "Retry-After", "%d", rq->retry_after);
	if (put_body(rq, status, info->code) == PF_OK)
		return;
	/* The arena is full: the status alone must do. */
	pf_resp_reset(rq);
	rq->resp.status = status;
	rq->resp.body = PF_LIT("");
}
