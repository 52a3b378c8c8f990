/*
 * Requests that are sent as they are, mistakes and all; only limits are kept.
 */
#include "config.h"

#include <string.h>

#include "core/web/url.h"
#include "tools/poppy-agent/check.h"
#include "tools/poppy-agent/nonce.h"
#include "tools/poppy-agent/wait.h"
#include "tools/poppy-agent/wwwauth.h"

#define GRANT_TYPE	"urn:ietf:params:oauth:grant-type:jwt-bearer"
#define ASSERTION_TYPE	"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#define FORM_MAX	65536
#define REPLY_MAX	(1u << 20)

static const struct pf_json_limits limits = { REPLY_MAX, 16, 20000 };

static void
read_reply(struct ck *ck, struct ck_reply *rp)
{
	struct ag_challenge ch;
	struct pf_str v;

	rp->body = NULL;
	rp->error = rp->challenge = PF_NOSTR;
	if (pf_json_parse(&ck->ag->arena, rp->http.body, &limits, &rp->body,
	    NULL) != PF_OK || !pf_json_is_obj(rp->body))
		rp->body = NULL;
	else if (pf_json_str(rp->body, "error", &v) == PF_OK)
		rp->error = v;
	for (size_t i = 0; ; i++) {
		v = ag_reply_field(&rp->http, "www-authenticate", i);
		if (!pf_str_given(v))
			return;
		if (ag_challenge_parse(&ck->ag->arena, v, "DPoP", &ch) ==
		    PF_OK) {
			rp->challenge = ch.error;
			return;
		}
	}
}

/* A limit is kept by waiting; what is asked again is the very same bytes, which
 * a request refused with 429 has not spent. */
static enum pf_rc
send(struct ck *ck, const struct ag_request *rq, struct ck_reply *rp)
{
	struct ag_patience patience = { 0 };
	bool again;
	enum pf_rc rc;

	do {
		if ((rc = ag_http_send(ck->ag, rq, &rp->http)) != PF_OK ||
		    (rc = ag_wait_after(ck->ag, &patience, rq->method, rq->url,
		    &rp->http, &again)) != PF_OK)
			return rc;
	} while (again);
	read_reply(ck, rp);
	return ag_nonce_keep(ck->ag, pf_str_eq(rq->url,
	    ck->company->token_endpoint) ? AG_NONCE_TOKEN : AG_NONCE_API,
	    rq->url, &rp->http);
}

void
ck_nonces(struct ck *ck)
{
	const struct ck_bend bad = { CK_PROOF, CK_TAMPER, NULL, NULL, 0 };
	struct ck_reply rp;
	struct ck_signed s;

	/* Whatever is said to these, the next ones know the nonces. */
	ck->token = PF_LIT("none-yet");
	if (ck_sign_token(ck, ck->user_id, &bad, &s) == PF_OK)
		(void)!ck_token(ck, &s, PF_NOSTR, NULL, &rp);
	if (pf_str_given(ck->call_url) &&
	    ck_sign_call(ck, ck->call_url, &bad, &s.proof) == PF_OK)
		(void)!ck_call(ck, ck->call_url, PF_NOSTR, s.proof, &rp);
	ck->token = PF_NOSTR;
}

struct form {
	struct pf_buf b;
	const struct ck_bend *bend;
};

static void
param(struct form *f, const char *name, struct pf_str value)
{
	const struct ck_bend *b = f->bend;

	if (b != NULL && strcmp(b->name, name) == 0) {
		if (b->how == CK_DROP)
			return;
		value = pf_str(b->value);
	}
	if (!pf_str_given(value))
		return;
	if (f->b.n != 0)
		pf_buf_char(&f->b, '&');
	pf_buf_addz(&f->b, name);
	pf_buf_char(&f->b, '=');
	pf_url_escape(&f->b, value);
}

enum pf_rc
ck_token(struct ck *ck, const struct ck_signed *s, struct pf_str session_id,
    const struct ck_bend *bend, struct ck_reply *rp)
{
	const struct ag_field field[] = {
		{ PF_LIT("Content-Type"),
		    PF_LIT("application/x-www-form-urlencoded") },
		{ PF_LIT("DPoP"), s->proof },
	};
	struct ag_request rq = {
		.method = "POST", .url = ck->company->token_endpoint,
		.field = field, .nfields = pf_str_given(s->proof) ? 2 : 1,
		.max = REPLY_MAX,
	};
	struct form f = { .bend = bend != NULL && bend->part == CK_FORM ?
	    bend : NULL };
	enum pf_rc rc;

	pf_buf_init(&f.b, &ck->ag->arena, FORM_MAX);
	param(&f, "grant_type", PF_LIT(GRANT_TYPE));
	param(&f, "assertion", s->session);
	param(&f, "client_id", ck->ag->st.client_id);
	param(&f, "client_assertion_type", PF_LIT(ASSERTION_TYPE));
	param(&f, "client_assertion", s->client);
	param(&f, "session_id", session_id);
	/* Not sent unless a mistake says so. */
	param(&f, "scope", PF_NOSTR);
	param(&f, "resource", PF_NOSTR);
	param(&f, "x_unknown", PF_NOSTR);
	if ((rc = pf_buf_done(&f.b, &rq.body)) != PF_OK)
		return rc;
	return send(ck, &rq, rp);
}

struct pf_str
ck_dpop(struct ck *ck, struct pf_str token)
{
	struct pf_buf b;

	pf_buf_init(&b, &ck->ag->arena, 16384);
	pf_buf_addz(&b, "DPoP ");
	pf_buf_add(&b, token);
	return pf_buf_str(&b);
}

enum pf_rc
ck_call(struct ck *ck, struct pf_str url, struct pf_str authorization,
    struct pf_str proof, struct ck_reply *rp)
{
	struct ag_field field[2];
	struct ag_request rq = {
		.method = "GET", .url = url, .field = field,
		.body = PF_NOSTR, .max = REPLY_MAX,
	};

	if (pf_str_given(authorization))
		field[rq.nfields++] = (struct ag_field){
			PF_LIT("Authorization"), authorization
		};
	if (pf_str_given(proof))
		field[rq.nfields++] = (struct ag_field){
			PF_LIT("DPoP"), proof
		};
	return send(ck, &rq, rp);
}

enum pf_rc
ck_post(struct ck *ck, struct pf_str url, struct pf_str body,
    struct ck_reply *rp)
{
	const struct ag_field field[] = {
		{ PF_LIT("Content-Type"),
		    PF_LIT("application/x-www-form-urlencoded") },
	};
	const struct ag_request rq = {
		.method = pf_str_given(body) ? "POST" : "GET", .url = url,
		.field = field, .nfields = pf_str_given(body) ? 1 : 0,
		.body = body, .max = REPLY_MAX,
	};

	return send(ck, &rq, rp);
}
