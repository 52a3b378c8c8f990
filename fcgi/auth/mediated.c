/*
 * Mediated Sign-In (section 4.7): POST {pages}/sign-in and /sign-in/{id}.
 *
 * Every handler here may run more than once for a request, since checking a
 * password and sending a code are waited for: what was counted or spent before
 * is kept.
 */
#include "fcgi/auth/mediated.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/log.h"
#include "core/poppy/audit.h"
#include "core/poppy/kept.h"
#include "core/poppy/login.h"
#include "core/poppy/password_pool.h"
#include "core/poppy/principal.h"
#include "core/poppy/scope.h"
#include "core/poppy/send_code.h"
#include "core/web/route.h"
#include "fcgi/auth/auth.h"

#define CODE_MAX	64

static const struct pf_stmt MEDIATED_BEGIN = {
	"mediated_begin",
	"SELECT outcome, retry_s, account, email, phone, password_hash,"
	" hash_kind, status, unusual"
	" FROM poppy_api.mediated_begin($1, $2, $3, $4, $5, $6, $7, $8, $9)"
};
static const struct pf_stmt MEDIATED_FINISH = {
	"mediated_finish",
	"SELECT outcome, scopes, expires_in, grant_expires_in"
	" FROM poppy_api.mediated_finish($1, $2, $3, $4, $5, $6, $7, $8, $9,"
	" $10, $11, $12, $13, $14, $15, $16)"
};
enum { FINISH_OUTCOME, FINISH_SCOPES };
static const struct pf_stmt MEDIATED_TRY = {
	"mediated_try",
	"SELECT outcome, sent_to, expires_at, scopes, expires_in,"
	" grant_expires_in"
	" FROM poppy_api.mediated_try($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,"
	" $11, $12, $13, $14)"
};
enum { TRY_OUTCOME, TRY_SENT_TO, TRY_EXPIRES_AT, TRY_SCOPES };

static const char MEDIATION[] = "mediation";

void
auth_mediated_warn(const struct pf_settings *s)
{
	if (s->sign_in.mediated.n == 0 || pf_send_code_ready(s))
		return;
	PF_LOG(PF_LOG_WARN, "settings", PF_F_Z("warning",
	    pf_str_eqz(s->mediated.code, "never") ?
	    "Mediated Sign-In never asks for a one-time code: a stolen "
	    "password is enough" :
	    "Mediated Sign-In has no way to send codes: set codes.command or "
	    "codes.smtp, since a sign-in that wants one fails"));
}

/* --- the request --- */

struct credentials {
	struct pf_str login;
	struct pf_str secret;
};

/* Only where it is offered, and on the issuer's host: agents must send
 * credentials to no other endpoint. */
static enum pf_rc
check_place(struct pf_req *rq)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_host *h = pf_settings_host(s, rq->host);

	if (s->sign_in.mediated.n == 0 || h == NULL ||
	    !pf_str_eq(h->base, s->issuer_host->base))
		return pf_fail(rq, PF_NOT_FOUND, "there is nothing here");
	return PF_OK;
}

static enum pf_rc
read_body(struct pf_req *rq, const struct pf_json **out)
{
	struct pf_json_fault fault = { 0, "" };
	enum pf_rc rc;

	rc = pf_json_parse(rq->arena, rq->body, &pf_json_small, out, &fault);
	if (rc == PF_E_INPUT)
		return pf_fail(rq, PF_INVALID_REQUEST, "JSON: %s", fault.why);
	if (rc == PF_OK && !pf_json_is_obj(*out))
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "the body must be a JSON object");
	return rc;
}

static enum pf_rc
read_scopes(struct pf_req *rq, const struct pf_json *body, struct pf_str *out)
{
	struct pf_str text;
	enum pf_rc rc;

	rc = pf_json_str(body, "scope", &text);
	if (rc == PF_E_INPUT)
		return pf_fail(rq, PF_INVALID_REQUEST, "scope must be text");
	if (rc == PF_OK)
		rc = pf_scope_wanted(rq->arena, text,
		    &pf_app(rq)->set.sign_in.mediated, out);
	if (rc == PF_E_INPUT || rc == PF_E_ABSENT)
		return pf_fail(rq, PF_INVALID_SCOPE,
		    "scope must name scopes of auth.mediated.scopes");
	return rc;
}

/* json-c keeps no secrets, but neither does it wipe them. */
static void
wipe_secret(void *secret)
{
	const struct pf_str *s = secret;

	pf_wipe((void *)(uintptr_t)s->p, s->n);
}

static enum pf_rc
read_credentials(struct pf_req *rq, const struct pf_json *body,
    struct credentials *c)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	const struct pf_json *given;
	struct pf_str *secret;

	if (pf_json_obj(body, "credentials", &given) != PF_OK)
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "credentials must be an object");
	if (pf_json_str(given, s->mediated.login_field.p, &c->login) != PF_OK)
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "credentials: %s is missing or no text",
		    s->mediated.login_field.p);
	if (pf_json_str(given, s->mediated.secret_field.p, &c->secret) !=
	    PF_OK)
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "credentials: %s is missing or no text",
		    s->mediated.secret_field.p);
	if ((secret = pf_arena_alloc(rq->arena, sizeof(*secret))) == NULL)
		return PF_E_MEM;
	*secret = c->secret;
	return pf_arena_defer(rq->arena, wipe_secret, secret);
}

/* --- the attempt --- */

/* A grant keeps it, to know the address again: so not the address itself. */
static enum pf_rc
address_key(struct pf_req *rq, unsigned char key[PF_LIMIT_KEY])
{
	unsigned char raw[PF_LIMIT_KEY], mac[PF_SHA256_LEN];
	const struct pf_str parts[] = {
		PF_LIT("mediated"), pf_bytes(raw, sizeof(raw))
	};
	enum pf_rc rc;

	pf_limit_address(rq, raw);
	rc = pf_hmac256(pf_app(rq)->keys.audit, parts, PF_COUNT(parts), mac);
	(void)memcpy(key, mac, PF_LIMIT_KEY);
	return rc;
}

static enum pf_rc
begin(struct pf_req *rq, struct pf_str name, struct auth_mediation *m)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	enum pf_rc rc;

	if ((rc = pf_login_key(rq, name, m->login_key)) != PF_OK)
		return rc;
	if ((rc = address_key(rq, m->address_key)) != PF_OK)
		return rc;
	const struct pf_param v[] = {
		PF_INT4(rq->who->sid.bucket),
		PF_BYTES(rq->who->sid.raw, PF_SID_RAW),
		PF_INT8(rq->who->client_no), PF_TEXT(name),
		PF_BYTES(m->login_key, PF_LIMIT_KEY),
		PF_BYTES(m->address_key, PF_LIMIT_KEY),
		PF_INT4(s->login.failures_per_login),
		PF_INT4(s->login.failures_per_address),
		PF_INT4(s->mediated.failures_per_client)
	};
	return pf_db_one(rq->db, rq->arena, &MEDIATED_BEGIN, v, PF_COUNT(v),
	    &m->found);
}

static enum pf_rc
mediation_of(struct pf_req *rq, struct pf_str name, struct auth_mediation **out)
{
	enum pf_rc rc;

	if ((*out = pf_kept_find(rq, MEDIATION)) != NULL)
		return PF_OK;
	if ((*out = pf_arena_alloc(rq->arena, sizeof(**out))) == NULL)
		return PF_E_MEM;
	if ((rc = begin(rq, name, *out)) != PF_OK)
		return rc;
	return pf_kept_add(rq, MEDIATION, *out);
}

/* What was found is nobody's where there is no such customer: the work is the
 * same, and so is the answer. */
static enum pf_rc
prove(struct pf_req *rq, const struct auth_mediation *m,
    const struct credentials *c, bool *proved)
{
	enum pf_rc rc, answer;

	rc = pf_password_ask(rq, pf_app(rq)->proc->passwords,
	    pf_row_str(&m->found, AUTH_MED_KIND),
	    pf_row_str(&m->found, AUTH_MED_HASH), c->secret, &answer);
	*proved = rc == PF_OK && answer == PF_OK &&
	    pf_row_is(&m->found, AUTH_MED_OUTCOME, "ok") &&
	    pf_row_is(&m->found, AUTH_MED_STATUS, "ok");
	return rc;
}

static bool
wants_code(struct pf_req *rq, const struct auth_mediation *m)
{
	struct pf_str code = pf_app(rq)->set.mediated.code;

	return pf_str_eqz(code, "always") || (pf_str_eqz(code, "unusual") &&
	    pf_row_bool(&m->found, AUTH_MED_UNUSUAL));
}

enum pf_rc
auth_mediated_refuse(struct pf_req *rq, const struct pf_row *row, int outcome)
{
	if (pf_row_is(row, outcome, "account_mismatch"))
		return pf_fail(rq, PF_ACCOUNT_MISMATCH,
		    "the Session is signed in to another account");
	if (pf_row_is(row, outcome, "invalid_session"))
		return pf_fail(rq, PF_INVALID_TOKEN, "the Session has ended");
	if (pf_row_is(row, outcome, "refused"))
		return auth_mediated_failed(rq);
	return PF_E_BUG;
}

/* --- the end --- */

/* What mediated_finish() and mediated_try() are both given at their end. */
#define TOKEN_PARAMS(rq, s, to)						\
	PF_BYTES((to)->token_hash.b, sizeof((to)->token_hash.b)),	\
	PF_INT4((s)->tokens.session_seconds),				\
	PF_BYTES((to)->account_hash.b, sizeof((to)->account_hash.b)),	\
	PF_INT8((s)->account_tokens.seconds),				\
	PF_INT8((s)->sessions.idle_seconds),				\
	PF_INT8((s)->sessions.max_seconds),				\
	PF_BYTES((rq)->who->jkt, sizeof((rq)->who->jkt)),		\
	PF_NULLP	/* good for all but MCP servers */

static enum pf_rc
finish(struct pf_req *rq, const struct auth_mediation *m,
    struct auth_signing *to)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = auth_signing_new(to, to->sid.bucket)) != PF_OK)
		return rc;
	const struct pf_param v[] = {
		PF_INT8(rq->who->client_no), PF_INT4(to->sid.bucket),
		PF_BYTES(to->sid.raw, PF_SID_RAW),
		PF_TEXT(pf_row_str(&m->found, AUTH_MED_ACCOUNT)),
		PF_TEXT(m->scopes), TOKEN_PARAMS(rq, s, to),
		PF_BYTES(m->login_key, PF_LIMIT_KEY),
		PF_BYTES(m->address_key, PF_LIMIT_KEY),
		PF_TEXT(pf_audit_address(rq))
	};
	rc = pf_db_one(rq->db, rq->arena, &MEDIATED_FINISH, v, PF_COUNT(v),
	    &row);
	if (rc != PF_OK)
		return rc;
	if (!pf_row_is(&row, FINISH_OUTCOME, "ok"))
		return auth_mediated_refuse(rq, &row, FINISH_OUTCOME);
	return auth_mediated_complete(rq, to, &row, FINISH_SCOPES);
}

/* Sign in by credentials that were right. Owns the secrets. */
static enum pf_rc
sign_in(struct pf_req *rq, const struct auth_mediation *m)
{
	struct auth_signing to = { .sid = rq->who->sid, .named = true };
	enum pf_rc rc;

	rc = finish(rq, m, &to);
	auth_signing_wipe(&to);
	return rc;
}

static enum pf_rc
try_credentials(struct pf_req *rq, struct pf_str scopes, struct pf_str name,
    const struct credentials *c)
{
	struct auth_mediation *m;
	bool proved;
	enum pf_rc rc;

	if ((rc = mediation_of(rq, name, &m)) != PF_OK)
		return rc;
	m->scopes = scopes;
	if (pf_row_is(&m->found, AUTH_MED_OUTCOME, "limit"))
		return pf_fail_retry(rq, PF_RATE_LIMITED,
		    (int)pf_row_int(&m->found, AUTH_MED_RETRY_S),
		    "too many sign-ins have failed");
	if ((rc = prove(rq, m, c, &proved)) != PF_OK)
		return rc;
	if (!proved)
		return auth_mediated_failed(rq);
	/* Before a code is sent in vain. */
	if (rq->who->signed_in && !pf_str_eq(rq->who->account,
	    pf_row_str(&m->found, AUTH_MED_ACCOUNT)))
		return pf_fail(rq, PF_ACCOUNT_MISMATCH,
		    "the Session is signed in to another account");
	return wants_code(rq, m) ? auth_mediated_ask(rq, m) : sign_in(rq, m);
}

enum pf_rc
auth_mediated(struct pf_req *rq)
{
	const struct pf_json *body;
	struct credentials c;
	struct pf_str scopes, name;
	enum pf_rc rc;

	if ((rc = check_place(rq)) != PF_OK ||
	    (rc = read_body(rq, &body)) != PF_OK ||
	    (rc = read_scopes(rq, body, &scopes)) != PF_OK ||
	    (rc = read_credentials(rq, body, &c)) != PF_OK ||
	    (rc = pf_login_name(rq, c.login, &name)) != PF_OK)
		return rc;
	return try_credentials(rq, scopes, name, &c);
}

/* --- the code --- */

/* As people read it out: blanks and hyphens don't count. */
static enum pf_rc
read_code(struct pf_req *rq, char out[CODE_MAX], struct pf_str *code)
{
	const struct pf_json *body;
	struct pf_str given;
	size_t n = 0;
	enum pf_rc rc;

	if ((rc = read_body(rq, &body)) != PF_OK)
		return rc;
	if (pf_json_str(body, "code", &given) != PF_OK || given.n > CODE_MAX)
		return pf_fail(rq, PF_INVALID_REQUEST,
		    "code is missing or no text");
	for (size_t i = 0; i < given.n; i++)
		if (given.p[i] != ' ' && given.p[i] != '-')
			out[n++] = given.p[i];
	*code = pf_bytes(out, n);
	return PF_OK;
}

static enum pf_rc
by_outcome(struct pf_req *rq, struct pf_str id, const struct pf_row *row,
    const struct auth_signing *to)
{
	if (pf_row_is(row, TRY_OUTCOME, "ok"))
		return auth_mediated_complete(rq, to, row, TRY_SCOPES);
	if (pf_row_is(row, TRY_OUTCOME, "code_required"))
		return auth_mediated_required(rq, id,
		    pf_row_str(row, TRY_SENT_TO),
		    pf_row_int(row, TRY_EXPIRES_AT));
	if (pf_row_is(row, TRY_OUTCOME, "failed"))
		return auth_mediated_failed(rq);
	if (pf_row_is(row, TRY_OUTCOME, "expired"))
		return auth_mediated_status(rq, "expired");
	if (pf_row_is(row, TRY_OUTCOME, "absent"))
		return pf_fail(rq, PF_NOT_FOUND, "no such sign-in");
	return auth_mediated_refuse(rq, row, TRY_OUTCOME);
}

static enum pf_rc
try_code(struct pf_req *rq, struct pf_str id, struct pf_str code,
    struct auth_signing *to)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	unsigned char mac[PF_SHA256_LEN];
	struct pf_tokenhash hash;
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = pf_token_hash(id, &hash)) != PF_OK ||
	    (rc = auth_mediated_code_hash(id, code, mac)) != PF_OK ||
	    (rc = auth_signing_new(to, to->sid.bucket)) != PF_OK)
		return rc;
	const struct pf_param v[] = {
		PF_INT8(rq->who->client_no),
		PF_BYTES(hash.b, sizeof(hash.b)), PF_INT4(to->sid.bucket),
		PF_BYTES(to->sid.raw, PF_SID_RAW), PF_BYTES(mac, sizeof(mac)),
		TOKEN_PARAMS(rq, s, to), PF_TEXT(pf_audit_address(rq))
	};
	rc = pf_db_one(rq->db, rq->arena, &MEDIATED_TRY, v, PF_COUNT(v), &row);
	return rc != PF_OK ? rc : by_outcome(rq, id, &row, to);
}

enum pf_rc
auth_mediated_code(struct pf_req *rq)
{
	struct auth_signing to = { .sid = rq->who->sid, .named = true };
	char text[CODE_MAX];
	struct pf_str code;
	unsigned bucket;
	enum pf_rc rc;

	if ((rc = check_place(rq)) != PF_OK)
		return rc;
	if (pf_token_parse("sgn_", rq->var[0], &bucket) != PF_OK ||
	    bucket != rq->who->sid.bucket)
		return pf_fail(rq, PF_NOT_FOUND, "no such sign-in");
	if ((rc = read_code(rq, text, &code)) == PF_OK)
		rc = try_code(rq, rq->var[0], code, &to);
	pf_wipe(text, sizeof(text));
	auth_signing_wipe(&to);
	return rc;
}
