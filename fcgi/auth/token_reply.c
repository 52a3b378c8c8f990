/*
 * The reply of the token endpoint (RFC 6749, 5.1; sections 4.2 and 4.4).
 */
#include "fcgi/auth/token.h"

void
auth_write_tokens(struct pf_jw *w, const struct auth_tokens *t)
{
	char id[PF_SID_TEXT];

	pf_sid_text(&t->sid, id);
	pf_jw_str(w, "access_token", t->access);
	pf_jw_strz(w, "token_type", t->bearer ? "Bearer" : "DPoP");
	pf_jw_int(w, "expires_in", t->expires_in);
	if (pf_str_given(t->account))
		pf_jw_str(w, "refresh_token", t->account);
	if (t->account_expires_in > 0)
		pf_jw_int(w, "refresh_token_expires_in",
		    t->account_expires_in);
	pf_jw_str(w, "scope", t->scopes);
	pf_jw_str(w, "session_id", pf_bytes(id, sizeof(id)));
	pf_jw_bool(w, "signed_in", t->signed_in);
}

enum pf_rc
auth_send_tokens(struct pf_req *rq, const struct auth_tokens *t)
{
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, rq->arena, 64u << 10);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	auth_write_tokens(&w, t);
	pf_jw_close(&w, '}');
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	return pf_resp_json(rq, 200, &b);
}
