#include "fcgi/auth/asking.h"

#include <string.h>

#include "core/poppy/audit.h"
#include "core/poppy/fetch.h"

/* What all functions end with: spends, iats, seconds ahead, address, its key
 * and the two limits. */
#define COMMON	7

static enum pf_rc
read_form(struct auth_asking *q)
{
	struct pf_str twice;
	const char *why;
	enum pf_rc rc;

	rc = pf_form_parse(q->rq->arena, q->rq->body, &q->form, &why);
	if (rc == PF_E_INPUT)
		return pf_fail(q->rq, PF_INVALID_REQUEST, "form: %s", why);
	if (rc != PF_OK)
		return rc;
	twice = pf_form_repeated(&q->form);
	if (pf_str_eqz(twice, "resource"))
		return pf_fail(q->rq, PF_INVALID_TARGET,
		    "resource stands there twice");
	if (pf_str_given(twice))
		return pf_fail(q->rq, PF_INVALID_REQUEST,
		    "a parameter stands there twice");
	return PF_OK;
}

enum pf_rc
auth_ask(struct auth_asking *q)
{
	enum pf_rc rc;

	q->rq->token_endpoint = true;
	rc = pf_limit_before(q->rq, q->limit);
	return rc != PF_OK ? rc : read_form(q);
}

void
auth_spends(struct auth_asking *q, enum auth_part part,
    const unsigned char *key, int64_t iat)
{
	q->part[q->nspends] = part;
	q->spend[q->nspends] = pf_bytes(key, PF_SPEND_LEN);
	q->iat[q->nspends++] = iat;
}

/* A client that names itself without an assertion: its document must say that
 * it has no other way. */
static enum pf_rc
identify(struct auth_asking *q)
{
	struct pf_client_doc about;
	struct pf_str client_id;
	enum pf_rc rc;

	if (pf_form_get(&q->form, "client_id", &client_id) != PF_OK)
		return pf_fail(q->rq, PF_INVALID_CLIENT,
		    "client_assertion and client_id missing");
	rc = pf_client_load(q->rq, client_id, &q->client.client);
	if (rc != PF_OK ||
	    (rc = pf_client_about(q->rq, q->client.client, &about)) != PF_OK)
		return rc;
	if (!about.is_public)
		return pf_fail(q->rq, PF_INVALID_CLIENT,
		    "client_assertion missing");
	q->is_public = true;
	return PF_OK;
}

static enum pf_rc
authenticate(struct auth_asking *q, struct pf_str endpoint)
{
	enum pf_rc rc;

	if (q->public_ok)
		return identify(q);
	rc = pf_authenticate(q->rq, &q->form, endpoint, &q->client);
	if (rc == PF_OK)
		auth_spends(q, AUTH_CLIENT, q->client.spend.key,
		    q->client.spend.iat);
	return rc;
}

enum pf_rc
auth_authenticated(struct auth_asking *q, struct pf_str endpoint,
    enum pf_rc (*then)(struct auth_asking *q))
{
	size_t before = q->nspends;
	enum pf_rc rc;

	if ((rc = authenticate(q, endpoint)) == PF_OK)
		rc = then(q);
	if (!q->stale)
		return rc;
	q->stale = false;
	q->nspends = before;
	q->rq->err = PF_ERR_NONE;
	q->rq->judged = false;
	rc = authenticate(q, endpoint);
	return rc != PF_OK ? rc : then(q);
}

enum pf_rc
auth_field(struct auth_asking *q, const char *name, struct pf_str *out)
{
	if (pf_form_get(&q->form, name, out) != PF_OK)
		return pf_fail(q->rq, PF_INVALID_REQUEST, "%s missing", name);
	return PF_OK;
}

static enum pf_rc
replayed(struct auth_asking *q, int64_t place)
{
	static const struct { enum pf_err err; const char *why; } by[] = {
		[AUTH_PROOF] = { PF_INVALID_DPOP_PROOF,
		    "the proof was used before" },
		[AUTH_CLIENT] = { PF_INVALID_CLIENT,
		    "client_assertion: jti was used before" },
		[AUTH_ASSERTION] = { PF_INVALID_GRANT,
		    "assertion: jti was used before" },
	};
	enum auth_part part;

	if (place < 1 || (uint64_t)place > q->nspends)
		return PF_E_BUG;
	pf_limit_refused(q->rq);
	part = q->part[place - 1];
	return pf_fail(q->rq, by[part].err, "%s", by[part].why);
}

static enum pf_rc
refuse(struct auth_asking *q, const struct auth_refusal *r)
{
	if (r->err == PF_ERR_NONE)
		return PF_OK;
	q->rq->judged = r->weight != AUTH_COUNTED;
	if (r->weight == AUTH_WRITTEN)
		pf_limit_refused(q->rq);
	return pf_fail(q->rq, r->err, "%s", r->why);
}

/* The outcomes that every function has and that no client has earned by its
 * grant. */
static enum pf_rc
refuse_all(struct auth_asking *q, const struct pf_row *row)
{
	bool by_client = pf_row_is(row, AUTH_OUTCOME, "limit_client");
	struct pf_req *rq = q->rq;

	rq->judged = true;
	if (by_client || pf_row_is(row, AUTH_OUTCOME, "limit_address"))
		return pf_limit_full(rq, q->limit, q->client.client->no,
		    by_client, pf_row_int(row, AUTH_RETRY_S));
	if (pf_row_is(row, AUTH_OUTCOME, "replay"))
		return replayed(q, pf_row_int(row, AUTH_REPLAYED));
	pf_client_cache_forget(pf_app(rq)->proc->clients,
	    q->client.client->client_id);
	q->stale = pf_row_is(row, AUTH_OUTCOME, "stale");
	if (pf_row_is(row, AUTH_OUTCOME, "blocked")) {
		pf_limit_refused(rq);
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "this client is not accepted here");
	}
	if (!q->stale && !pf_row_is(row, AUTH_OUTCOME, "epoch") &&
	    !pf_row_is(row, AUTH_OUTCOME, "clock"))
		return PF_E_BUG;
	/* Nothing the agent did. */
	return pf_fail_retry(rq, PF_UNAVAILABLE,
	    (int)pf_row_int(row, AUTH_RETRY_S),
	    "assertions can't be judged now");
}

enum pf_rc
auth_judge(struct auth_asking *q, const struct auth_function *f,
    const struct pf_row *row)
{
	if (pf_row_is(row, AUTH_OUTCOME, "ok"))
		return PF_OK;
	for (size_t i = 0; i < f->nrefusals; i++)
		if (pf_row_is(row, AUTH_OUTCOME, f->refusals[i].outcome))
			return refuse(q, &f->refusals[i]);
	return refuse_all(q, row);
}

enum pf_rc
auth_call(struct auth_asking *q, const struct auth_function *f,
    const struct pf_param *own, size_t n, struct pf_row *row)
{
	const struct pf_settings *s = &pf_app(q->rq)->set;
	const struct pf_client *client = q->client.client;
	int64_t future = s->proofs.future_seconds > s->assertions.skew_seconds ?
	    s->proofs.future_seconds : s->assertions.skew_seconds;
	unsigned char address[PF_LIMIT_KEY];
	struct pf_param v[PF_DB_PARAMS];
	enum pf_rc rc;

	if (n > PF_COUNT(v) - 2 - COMMON)
		return PF_E_BUG;
	if ((rc = pf_limit_client(q->rq, client->no)) != PF_OK)
		return rc;
	pf_limit_address(q->rq, address);
	const struct pf_param common[COMMON] = {
		PF_BYTES_LIST(q->spend, q->nspends),
		PF_INT8_LIST(q->iat, q->nspends),
		PF_INT4(future),
		PF_TEXT(pf_audit_address(q->rq)),
		PF_BYTES(address, sizeof(address)),
		PF_INT4(s->limits.token_per_address),
		PF_INT4(s->limits.token_per_client)
	};
	v[0] = PF_INT8(client->no);
	v[1] = PF_INT8(client->version);
	(void)memcpy(v + 2, own, n * sizeof(*own));
	(void)memcpy(v + 2 + n, common, sizeof(common));
	rc = pf_db_one(q->rq->db, q->rq->arena, &f->stmt, v, 2 + n + COMMON,
	    row);
	return rc != PF_OK ? rc : auth_judge(q, f, row);
}
