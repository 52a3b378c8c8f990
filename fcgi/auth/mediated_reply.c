/*
 * What a Mediated Sign-In is answered (section 4.7).
 */
#include "fcgi/auth/mediated.h"

#include "core/base/clock.h"
#include "core/poppy/audit.h"
#include "core/poppy/principal.h"

#define REPLY_MAX	(64u << 10)

static enum pf_rc
send_json(struct pf_req *rq, struct pf_buf *b, struct pf_jw *w)
{
	pf_jw_close(w, '}');
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	return pf_resp_json(rq, 200, b);
}

static struct pf_jw
begin(struct pf_req *rq, struct pf_buf *b, const char *status)
{
	struct pf_jw w;

	pf_buf_init(b, rq->arena, REPLY_MAX);
	w = pf_jw(b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_strz(&w, "status", status);
	return w;
}

enum pf_rc
auth_mediated_status(struct pf_req *rq, const char *status)
{
	struct pf_buf b;
	struct pf_jw w = begin(rq, &b, status);

	return send_json(rq, &b, &w);
}

enum pf_rc
auth_mediated_failed(struct pf_req *rq)
{
	pf_audit_count(pf_app(rq)->proc->audit, PF_LIT("sign_in_failed"),
	    pf_audit_address(rq), 1);
	return auth_mediated_status(rq, "failed");
}

enum pf_rc
auth_mediated_required(struct pf_req *rq, struct pf_str id,
    struct pf_str sent_to, int64_t expires_at)
{
	struct pf_buf b, at;
	struct pf_jw w = begin(rq, &b, "code_required");
	char text[32];

	pf_buf_fixed(&at, text, sizeof(text));
	pf_buf_rfc3339(&at, expires_at);
	pf_jw_str(&w, "sign_in_id", id);
	pf_jw_open(&w, "code", '{');
	pf_jw_str(&w, "sent_to", sent_to);
	pf_jw_close(&w, '}');
	pf_jw_str(&w, "expires_at", pf_buf_str(&at));
	return send_json(rq, &b, &w);
}

enum pf_rc
auth_mediated_complete(struct pf_req *rq, const struct auth_signing *s,
    const struct pf_row *row, int first)
{
	const struct auth_tokens given = {
		.access = pf_bytes(s->token.text, PF_TOKEN_TEXT),
		.expires_in = pf_row_int(row, first + 1),
		.account = pf_bytes(s->account.text, PF_TOKEN_TEXT),
		.account_expires_in = pf_row_int(row, first + 2),
		.scopes = pf_row_str(row, first),
		.sid = s->sid,
		.signed_in = true,
	};
	struct pf_buf b;
	struct pf_jw w = begin(rq, &b, "complete");

	auth_write_tokens(&w, &given);
	return send_json(rq, &b, &w);
}
