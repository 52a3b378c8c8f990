/*
 * Joining (section 5). What costs us little is asked first, and nothing is
 * fetched for who has no Session here; the database judges the rest in one
 * call, in which the assertion is spent.
 */
#include "fcgi/browser/browser.h"

#include "core/poppy/audit.h"
#include "core/poppy/browser_assertion.h"
#include "core/poppy/fetch.h"
#include "core/poppy/limit.h"
#include "core/store/db.h"
#include "core/web/cookie.h"
#include "core/web/form.h"

#define COOKIE_MAX	512

static const struct pf_stmt BROWSER_LOOK = {
	"browser_look",
	"SELECT poppy_api.browser_look($1, $2, $3, $4, $5, $6)"
};
static const struct pf_stmt BROWSER_JOIN = {
	"browser_join",
	"SELECT outcome, expires_in, retry_s FROM poppy_api.browser_join($1, $2,"
	" $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)"
};
enum { OUTCOME, EXPIRES_IN, RETRY_S };

/* The one field of the form. What is in the URL ends up in logs and histories,
 * so that an assertion there is burnt. */
static enum pf_rc
read_form(struct pf_req *rq, struct pf_str *assertion)
{
	struct pf_form form;
	const char *why;
	enum pf_rc rc;

	if (pf_str_given(rq->query))
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "the URL must have no query");
	rc = pf_form_parse(rq->arena, rq->body, &form, &why);
	if (rc == PF_E_INPUT)
		return pf_fail(rq, PF_INVALID_REQUEST, "form: %s", why);
	if (rc != PF_OK)
		return rc;
	if (pf_str_given(pf_form_repeated(&form)))
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "a parameter stands there twice");
	if (pf_form_get(&form, "assertion", assertion) != PF_OK)
		return pf_fail(rq, PF_INVALID_REQUEST, "assertion missing");
	return PF_OK;
}

static enum pf_rc
no_session(struct pf_req *rq)
{
	return pf_fail(rq, PF_INVALID_SESSION,
	    "the Session has ended or is not this client's and User's");
}

static enum pf_rc
look(struct pf_req *rq, const struct pf_joining *j)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_param v[] = {
		PF_TEXT(j->client_id), PF_INT4(j->sid.bucket),
		PF_BYTES(j->sid.raw, PF_SID_RAW),
		PF_BYTES(j->user.key, sizeof(j->user.key)),
		PF_INT8(s->sessions.idle_seconds),
		PF_INT8(s->sessions.max_seconds)
	};
	struct pf_row row;
	enum pf_rc rc;

	rc = pf_db_one(rq->db, rq->arena, &BROWSER_LOOK, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	return pf_row_bool(&row, 0) ? PF_OK : no_session(rq);
}

/* The client, as we know it, is not the one of the database. */
static enum pf_rc
judge_client(struct pf_req *rq, const struct pf_client *client,
    const struct pf_row *row, bool *stale)
{
	pf_client_cache_forget(pf_app(rq)->proc->clients, client->client_id);
	if (pf_row_is(row, OUTCOME, "blocked")) {
		pf_limit_refused(rq);
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "this client is not accepted here");
	}
	*stale = pf_row_is(row, OUTCOME, "stale");
	if (!*stale && !pf_row_is(row, OUTCOME, "epoch") &&
	    !pf_row_is(row, OUTCOME, "clock"))
		return PF_E_BUG;
	/* Nothing the agent did. */
	return pf_fail_retry(rq, PF_UNAVAILABLE,
	    (int)pf_row_int(row, RETRY_S), "assertions can't be judged now");
}

/* What the database refuses it has written down; the bucket of the address is
 * ours. *stale: it knows newer documents of the client. */
static enum pf_rc
judge(struct pf_req *rq, const struct pf_client *client,
    const struct pf_row *row, bool *stale)
{
	if (pf_row_is(row, OUTCOME, "ok"))
		return PF_OK;
	rq->judged = true;
	if (pf_row_is(row, OUTCOME, "limit_address"))
		return pf_limit_full(rq, PF_LIMIT_JOIN, client->no, false,
		    pf_row_int(row, RETRY_S));
	if (pf_row_is(row, OUTCOME, "limit_client"))
		return pf_fail_retry(rq, PF_RATE_LIMITED,
		    (int)pf_row_int(row, RETRY_S),
		    "too many requests of this client");
	if (pf_row_is(row, OUTCOME, "invalid_session")) {
		pf_limit_refused(rq);
		return no_session(rq);
	}
	if (pf_row_is(row, OUTCOME, "replay")) {
		pf_limit_refused(rq);
		return pf_fail(rq, PF_INVALID_GRANT,
		    "browser assertion: jti was used before");
	}
	return judge_client(rq, client, row, stale);
}

/* One round trip: the cookie, and the assertion spent, or nothing. */
static enum pf_rc
call(struct pf_req *rq, const struct pf_joining *j,
    const struct pf_client *client, const struct pf_token *cookie,
    struct pf_row *row)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_str spend =
	    pf_bytes(j->spend.key, sizeof(j->spend.key));
	unsigned char address[PF_LIMIT_KEY];
	struct pf_tokenhash hash;
	enum pf_rc rc;

	rc = pf_token_hash(pf_bytes(cookie->text, PF_TOKEN_TEXT), &hash);
	if (rc != PF_OK)
		return rc;
	pf_limit_address(rq, address);
	const struct pf_param v[] = {
		PF_INT8(client->no), PF_INT8(client->version),
		PF_INT4(j->user.bucket),
		PF_BYTES(j->user.key, sizeof(j->user.key)),
		PF_BYTES(j->sid.raw, PF_SID_RAW),
		PF_BYTES(hash.b, sizeof(hash.b)),
		PF_INT4(s->browser.per_session),
		PF_INT8(s->sessions.idle_seconds),
		PF_INT8(s->sessions.max_seconds),
		PF_BYTES_LIST(&spend, 1), PF_INT8_LIST(&j->spend.iat, 1),
		PF_INT4(s->assertions.skew_seconds),
		PF_TEXT(pf_audit_address(rq)),
		PF_BYTES(address, sizeof(address)),
		PF_INT4(s->limits.token_per_address),
		PF_INT4(s->limits.token_per_client)
	};
	return pf_db_one(rq->db, rq->arena, &BROWSER_JOIN, v, PF_COUNT(v),
	    row);
}

/* Whatever cookie the browser had from us, it has this one then. */
static enum pf_rc
send(struct pf_req *rq, const struct pf_joining *j,
    const struct pf_token *cookie, int64_t expires_in)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_cookie c = {
		.name = s->browser.cookie,
		.value = pf_bytes(cookie->text, PF_TOKEN_TEXT),
		.domain = s->browser.domain,
		.max_age = expires_in,
	};
	struct pf_str line;
	struct pf_buf b;
	enum pf_rc rc;

	pf_buf_init(&b, rq->arena, COOKIE_MAX);
	if ((rc = pf_cookie_write(&b, &c)) != PF_OK ||
	    (rc = pf_buf_done(&b, &line)) != PF_OK)
		return rc;
	pf_resp_header(rq, "Set-Cookie", line);
	pf_resp_header(rq, "Location", j->return_to);
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	pf_resp_header(rq, "Referrer-Policy", PF_LIT("no-referrer"));
	return pf_resp_empty(rq, 303);
}

static enum pf_rc
give(struct pf_req *rq, const struct pf_joining *j,
    const struct pf_client *client, struct pf_token *cookie, bool *stale)
{
	struct pf_row row;
	enum pf_rc rc;

	rc = pf_token_new("pbs_", j->user.bucket, cookie);
	if (rc != PF_OK ||
	    (rc = call(rq, j, client, cookie, &row)) != PF_OK ||
	    (rc = judge(rq, client, &row, stale)) != PF_OK)
		return rc;
	return send(rq, j, cookie, pf_row_int(&row, EXPIRES_IN));
}

static enum pf_rc
by_client(struct pf_req *rq, const struct pf_joining *j, bool *stale)
{
	const struct pf_client *client;
	struct pf_token cookie = { { 0 } };
	enum pf_rc rc;

	if ((rc = pf_client_load(rq, j->client_id, &client)) != PF_OK ||
	    (rc = pf_browser_verify(rq, j, &client)) != PF_OK)
		return rc;
	rc = give(rq, j, client, &cookie, stale);
	pf_token_wipe(&cookie);
	return rc;
}

enum pf_rc
browser_join(struct pf_req *rq)
{
	const struct pf_host *host =
	    pf_settings_host(&pf_app(rq)->set, rq->host);
	struct pf_str assertion;
	struct pf_joining j;
	bool stale = false;
	enum pf_rc rc;

	if (host == NULL || !pf_str_given(host->browser_endpoint))
		return pf_fail(rq, PF_NOT_FOUND, "There is nothing here.");
	if ((rc = pf_limit_before(rq, PF_LIMIT_JOIN)) != PF_OK ||
	    (rc = read_form(rq, &assertion)) != PF_OK ||
	    (rc = pf_browser_assertion(rq, assertion, host, &j)) != PF_OK ||
	    (rc = look(rq, &j)) != PF_OK)
		return rc;
	rc = by_client(rq, &j, &stale);
	if (!stale)
		return rc;
	/* Once more by the newer documents: nothing has been spent. */
	stale = false;
	rq->err = PF_ERR_NONE;
	rq->judged = false;
	return by_client(rq, &j, &stale);
}
