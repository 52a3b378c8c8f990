/*
 * tell - what reaches PHP of who is asking (poppy-guard(8) says what each is).
 */
#include "fcgi/guard/guard.h"

#include "core/poppy/nonce.h"
#include "core/poppy/principal.h"
#include "core/web/url.h"

static enum pf_rc
set_hex(struct pf_req *rq, const char *name, struct pf_str bytes)
{
	struct pf_str hex;
	struct pf_buf b;
	enum pf_rc rc;

	pf_buf_init(&b, rq->arena, 256);
	pf_buf_hex(&b, bytes.p, bytes.n);
	if ((rc = pf_buf_done(&b, &hex)) == PF_OK)
		pf_resp_header(rq, name, hex);
	return rc;
}

/* What came from a shop's row or an agent, in a safe alphabet. */
static enum pf_rc
set_escaped(struct pf_req *rq, const char *name, struct pf_str text)
{
	struct pf_str safe;
	struct pf_buf b;
	enum pf_rc rc;

	pf_buf_init(&b, rq->arena, 8192);
	pf_url_escape(&b, text);
	if ((rc = pf_buf_done(&b, &safe)) == PF_OK)
		pf_resp_header(rq, name, safe);
	return rc;
}

enum pf_rc
guard_pass(struct pf_req *rq)
{
	guard_gate_hide(rq);
	return pf_resp_empty(rq, 200);
}

enum pf_rc
guard_pass_ended(struct pf_req *rq)
{
	pf_resp_header(rq, "Variable-POPPY_VIA", PF_LIT("ended"));
	return guard_pass(rq);
}

static enum pf_rc
tell_account(struct pf_req *rq)
{
	const struct pf_principal *who = rq->who;
	enum pf_rc rc;

	rc = set_escaped(rq, "Variable-POPPY_ACCOUNT", who->account);
	if (rc != PF_OK)
		return rc;
	pf_resp_header(rq, "Variable-POPPY_SCOPE", who->scopes);
	if (who->cookie)
		pf_resp_headerf(rq, "Variable-POPPY_GRANT", "%lld",
		    (long long)who->grant_no);
	return PF_OK;
}

/* What is only so for one of the three ways to come here. */
static enum pf_rc
tell_way(struct pf_req *rq)
{
	const struct pf_principal *who = rq->who;

	if (who->cookie) {
		pf_resp_header(rq, "Variable-POPPY_VIA", PF_LIT("cookie"));
		return !pf_str_given(who->client_name) ? PF_OK :
		    set_escaped(rq, "Variable-POPPY_AGENT", who->client_name);
	}
	pf_resp_header(rq, "Variable-POPPY_VIA",
	    who->bearer ? PF_LIT("bearer") : PF_LIT("proof"));
	/* An authorizer's headers end here: PHP alone can send it on. */
	if (!who->bearer)
		pf_nonce_tell(rq, "Variable-POPPY_DPOP_NONCE");
	return PF_OK;
}

/*
 * All of it or none, for a signed-in request without its account would be
 * somebody else's. client_id is a URL of visible ASCII and goes as it is.
 */
enum pf_rc
guard_pass_as(struct pf_req *rq)
{
	const struct pf_principal *who = rq->who;
	char sid[PF_SID_TEXT];
	enum pf_rc rc;

	pf_sid_text(&who->sid, sid);
	if ((rc = tell_way(rq)) != PF_OK)
		return rc;
	pf_resp_header(rq, "Variable-POPPY_CLIENT_ID", who->client_id);
	pf_resp_header(rq, "Variable-POPPY_SESSION",
	    pf_bytes(sid, sizeof(sid)));
	if ((rc = set_hex(rq, "Variable-POPPY_USER", who->user)) != PF_OK)
		return rc;
	pf_resp_header(rq, "Variable-POPPY_SIGNED_IN",
	    who->signed_in ? PF_LIT("1") : PF_LIT("0"));
	if (who->signed_in && (rc = tell_account(rq)) != PF_OK)
		return rc;
	return guard_pass(rq);
}
