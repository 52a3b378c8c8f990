/*
 * What the grants that sign a Session in have in common (section 4.4).
 */
#include "fcgi/auth/token.h"

enum pf_rc
auth_named_session(struct auth_asking *q, struct pf_sid *out, bool *named)
{
	struct pf_str text;

	*named = pf_form_get(&q->form, "session_id", &text) == PF_OK;
	if (*named && pf_sid_parse(text, out) != PF_OK)
		return pf_fail(q->rq, PF_INVALID_SESSION, "no such Session");
	return PF_OK;
}

static enum pf_rc
make(const char *prefix, unsigned bucket, struct pf_token *token,
    struct pf_tokenhash *hash)
{
	enum pf_rc rc;

	rc = pf_token_new(prefix, bucket, token);
	return rc != PF_OK ? rc :
	    pf_token_hash(pf_bytes(token->text, PF_TOKEN_TEXT), hash);
}

enum pf_rc
auth_signing_new(struct auth_signing *s, unsigned bucket)
{
	enum pf_rc rc;

	if (!s->named && (rc = pf_sid_new(bucket, &s->sid)) != PF_OK)
		return rc;
	rc = make("pst_", bucket, &s->token, &s->token_hash);
	return rc != PF_OK ? rc :
	    make("pat_", bucket, &s->account, &s->account_hash);
}

void
auth_signing_wipe(struct auth_signing *s)
{
	pf_wipe(s, sizeof(*s));
}

enum pf_rc
auth_signing_reply(struct auth_asking *q, const struct auth_signing *s,
    const struct pf_row *row, struct pf_str account)
{
	const struct auth_tokens given = {
		.access = pf_bytes(s->token.text, PF_TOKEN_TEXT),
		.bearer = q->bearer,
		.expires_in = pf_row_int(row, AUTH_EXPIRES_IN),
		.account = account,
		.account_expires_in = q->is_public ? 0 :
		    pf_row_int(row, AUTH_GRANT_EXPIRES_IN),
		.scopes = pf_row_str(row, AUTH_SCOPES),
		.sid = s->sid,
		.signed_in = true,
	};

	return auth_send_tokens(q->rq, &given);
}
