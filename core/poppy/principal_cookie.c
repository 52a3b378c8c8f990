/*
 * principal_cookie - who a joined browser is (section 5): its cookie stands for
 * a Session, as that Session is at this moment.
 */
#include "core/poppy/principal.h"

#include <string.h>

#include "core/poppy/audit.h"
#include "core/poppy/limit.h"
#include "core/web/cookie.h"

static const struct pf_stmt COOKIE_USE = {
	"cookie_use",
	"SELECT outcome, client_no, client_id, client_name, user_key, sid,"
	" account, scopes, signed_in, grant_no"
	" FROM poppy_api.cookie_use($1, $2, $3, $4, $5)"
};
enum {
	OUTCOME, CLIENT_NO, CLIENT_ID, CLIENT_NAME, USER_KEY, SID, ACCOUNT,
	SCOPES, SIGNED_IN, GRANT_NO
};

static enum pf_rc
set_who(struct pf_req *rq, const struct pf_row *row, unsigned bucket)
{
	struct pf_str sid = pf_row_bytes(row, SID);
	struct pf_principal *p;

	if (sid.n != sizeof(p->sid.raw))
		return PF_E_BUG;
	if ((p = pf_arena_alloc(rq->arena, sizeof(*p))) == NULL)
		return PF_E_MEM;
	*p = (struct pf_principal){
		.client_no = pf_row_int(row, CLIENT_NO),
		.client_id = pf_row_str(row, CLIENT_ID),
		.client_name = pf_row_str(row, CLIENT_NAME),
		.user = pf_row_bytes(row, USER_KEY),
		.sid.bucket = bucket,
		.account = pf_row_str(row, ACCOUNT),
		.scopes = pf_row_str(row, SCOPES),
		.signed_in = pf_row_bool(row, SIGNED_IN),
		.grant_no = pf_row_int(row, GRANT_NO),
		.resource = PF_NOSTR,
		.cookie = true,
	};
	(void)memcpy(p->sid.raw, sid.p, sid.n);
	rq->who = p;
	return PF_OK;
}

/* A dead cookie is nobody's fault: its Session may have ended, or the browser
 * has had another one since. Who tries many is shut out like who guesses
 * tokens. */
static enum pf_rc
refuse(struct pf_req *rq, const struct pf_row *row)
{
	if (pf_row_is(row, OUTCOME, "ended"))
		return PF_E_ABSENT;
	pf_limit_refused(rq);
	if (pf_row_is(row, OUTCOME, "unknown"))
		return PF_E_ABSENT;
	rq->judged = true;
	return pf_fail(rq, PF_INVALID_CLIENT, "the client is not accepted here");
}

static enum pf_rc
use(struct pf_req *rq, struct pf_str cookie, unsigned bucket)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	struct pf_tokenhash hash;
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = pf_token_hash(cookie, &hash)) != PF_OK ||
	    (rc = pf_limit_bearer(rq, &hash)) != PF_OK)
		return rc;
	const struct pf_param v[] = {
		PF_INT4(bucket), PF_BYTES(hash.b, sizeof(hash.b)),
		PF_INT8(s->sessions.idle_seconds),
		PF_INT8(s->sessions.max_seconds),
		PF_TEXT(pf_audit_address(rq))
	};
	rc = pf_db_one(rq->db, rq->arena, &COOKIE_USE, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	if (!pf_row_is(&row, OUTCOME, "ok"))
		return refuse(rq, &row);
	rc = set_who(rq, &row, bucket);
	return rc != PF_OK ? rc : pf_limit_call(rq, &hash);
}

enum pf_rc
pf_principal_by_cookie(struct pf_req *rq)
{
	struct pf_str name = pf_app(rq)->set.browser.cookie, cookie;
	unsigned bucket;
	enum pf_rc rc;

	if ((rc = pf_limit_before(rq, PF_LIMIT_REFUSED)) != PF_OK)
		return rc;
	/* Two of them, or one that no browser got from us, is none. */
	if (pf_cookie_get(rq->cookie, name.p, &cookie) != PF_OK ||
	    pf_token_parse("pbs_", cookie, &bucket) != PF_OK)
		return PF_E_ABSENT;
	return use(rq, cookie, bucket);
}
