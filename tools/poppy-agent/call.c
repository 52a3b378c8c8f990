#include "config.h"

#include "tools/poppy-agent/call.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/web/url.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/live.h"
#include "tools/poppy-agent/nonce.h"
#include "tools/poppy-agent/sign.h"
#include "tools/poppy-agent/wait.h"

#define REPLY_MAX	(4u << 20)
#define FIELDS_MAX	(AG_HEADERS_MAX + 4)

/* One call and what has been tried for it. */
struct calling {
	const struct ag_company *company;
	const struct ag_call *call;
	struct pf_str *session;
	struct ag_reply *reply;
	struct ag_challenge challenge;
	struct ag_patience patience;
	bool renewed, retried;
};

static bool
holds(struct pf_str text, struct pf_str part)
{
	for (size_t i = 0; part.n > 0 && i + part.n <= text.n; i++)
		if (memcmp(text.p + i, part.p, part.n) == 0)
			return true;
	return false;
}

static bool
in_user(const struct ag_user *u, struct pf_str url)
{
	for (const struct ag_session *s = u->sessions; s != NULL; s = s->next)
		if (holds(url, s->token))
			return true;
	for (const struct ag_account *a = u->accounts; a != NULL; a = a->next)
		if (holds(url, a->token))
			return true;
	return false;
}

static bool
token_in(const struct agent *ag, struct pf_str url)
{
	for (const struct ag_user *u = ag->st.users; u != NULL; u = u->next)
		if (in_user(u, url))
			return true;
	return holds(url, PF_LIT("access_token="));
}

enum pf_rc
ag_call_check(struct agent *ag, struct pf_str url)
{
	ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
	if (token_in(ag, url))
		return ag_fault(&ag->fault, PF_E_INPUT, "R-4.3-27",
		    "a token in the URL: nothing is sent");
	if (!pf_url_is_https(url))
		return ag_fault(&ag->fault, PF_E_INPUT, NULL,
		    "\"%.*s\" is no HTTPS URL without userinfo and fragment",
		    PF_STRF(url));
	return PF_OK;
}

static struct pf_str
authorization(struct agent *ag, struct pf_str token)
{
	struct pf_buf b;

	pf_buf_init(&b, &ag->arena, 16384);
	pf_buf_addz(&b, "DPoP ");
	pf_buf_add(&b, token);
	return pf_buf_str(&b);
}

static void
show_sent(struct agent *ag, const struct ag_request *rq,
    const struct ag_proof_for *want)
{
	ag_show_request(&ag->show, rq->method, rq->url);
	ag_show_sent_secret(&ag->show, "Authorization: DPoP", want->token);
	ag_show_sent_secret(&ag->show, rq->field[1].name.p,
	    rq->field[1].value);
	ag_show_sent(&ag->show, "DPoP.htm", pf_str(want->method));
	ag_show_sent(&ag->show, "DPoP.htu", ag_htu(want->url));
	ag_show_sent(&ag->show, "DPoP.ath", PF_LIT("SHA-256 of the token"));
	if (want->nonce.n > 0)
		ag_show_sent_secret(&ag->show, "DPoP.nonce", want->nonce);
	for (size_t i = 2; i < rq->nfields; i++)
		ag_show_sent(&ag->show, pf_arena_z(&ag->arena,
		    rq->field[i].name), rq->field[i].value);
	if (pf_str_given(rq->body)) {
		char text[32];

		snprintf(text, sizeof(text), "%zu bytes", rq->body.n);
		ag_show_sent(&ag->show, "body", pf_str(text));
	}
}

static void
show_reply(struct agent *ag, const struct ag_reply *rp)
{
	static const char *const told[] = {
		"content-type", "content-length", "cache-control", "location",
		"retry-after", "www-authenticate"
	};

	ag_show_status(&ag->show, rp->status, NULL);
	for (size_t i = 0; i < PF_COUNT(told); i++) {
		struct pf_str v = ag_reply_field(rp, told[i], 0);

		if (pf_str_given(v))
			ag_show_received(&ag->show, pf_str(told[i]), v);
	}
	if (pf_str_given(ag_reply_field(rp, "dpop-nonce", 0)))
		ag_show_received_secret(&ag->show, PF_LIT("dpop-nonce"),
		    ag_reply_field(rp, "dpop-nonce", 0));
}

static enum pf_rc
send(struct agent *ag, struct calling *x)
{
	const struct ag_call *call = x->call;
	struct ag_field field[FIELDS_MAX];
	struct ag_request rq = {
		.method = call->method, .url = call->url, .field = field,
		.nfields = 2 + call->nfields, .body = call->body,
		.max = REPLY_MAX,
	};
	struct ag_proof_for want = { .method = call->method, .url = call->url };
	struct ag_session *s = NULL;
	struct ag_user *u;
	struct pf_str proof;
	enum pf_rc rc;

	if (call->nfields > FIELDS_MAX - 2)
		return PF_E_BUG;
	if ((rc = ag_live_session(ag, x->company, x->session, &s)) != PF_OK)
		return rc;
	u = ag_state_user(ag, x->company->issuer);
	if (s == NULL || u == NULL)
		return PF_E_BUG;
	want.token = s->token;
	want.nonce = ag_nonce_for(ag, AG_NONCE_API, call->url);
	want.now_at = pf_now_at();
	rc = ag_sign_proof(&ag->arena, u->dpop, &want, &proof);
	if (rc != PF_OK)
		return ag_fault(&ag->fault, rc, NULL, "no proof could be made");
	field[0] = (struct ag_field){ PF_LIT("Authorization"),
	    authorization(ag, s->token) };
	field[1] = (struct ag_field){ PF_LIT("DPoP"), proof };
	for (size_t i = 0; i < call->nfields; i++)
		field[2 + i] = call->field[i];
	show_sent(ag, &rq, &want);
	if ((rc = ag_http_send(ag, &rq, x->reply)) != PF_OK)
		return rc;
	show_reply(ag, x->reply);
	return ag_nonce_keep(ag, AG_NONCE_API, call->url, x->reply);
}

/* The DPoP challenge of the reply, wherever among its fields it stands. */
static void
read_challenge(struct agent *ag, struct calling *x)
{
	struct pf_str v;

	memset(&x->challenge, 0, sizeof(x->challenge));
	for (size_t i = 0; ; i++) {
		v = ag_reply_field(x->reply, "www-authenticate", i);
		if (!pf_str_given(v) || ag_challenge_parse(&ag->arena, v,
		    "DPoP", &x->challenge) == PF_OK)
			return;
	}
}

/* May the reply be mended by asking once more? */
static enum pf_rc
mend(struct agent *ag, struct calling *x, bool *again)
{
	struct pf_str error = x->challenge.error;
	enum pf_rc rc;

	*again = false;
	if (x->reply->status != 401)
		return PF_OK;
	if (pf_str_eqz(error, "use_dpop_nonce") && !x->retried) {
		if (!pf_str_given(ag_reply_field(x->reply, "dpop-nonce", 0)))
			return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.3-13",
			    "use_dpop_nonce without a DPoP-Nonce");
		x->retried = *again = true;
		ag_show_note(&ag->show, "a nonce is required: asked once more "
		    "with the one just given");
	} else if (pf_str_eqz(error, "invalid_token") && !x->renewed) {
		x->renewed = *again = true;
		ag_show_note(&ag->show, "the token is no longer taken: it is "
		    "renewed, and the call made once more");
		if ((rc = ag_live_renew(ag, x->company, x->session)) != PF_OK)
			return rc;
	}
	return PF_OK;
}

static enum pf_rc
judge_403(struct agent *ag, const struct ag_challenge *ch)
{
	if (pf_str_eqz(ch->error, "sign_in_required"))
		return ag_fault(&ag->fault, PF_E_FORBID, NULL,
		    "403 sign_in_required: this needs a token that is signed "
		    "in to an account, and the Session is signed out%s%.*s",
		    ch->scope.n > 0 ? "; scopes: " : "", PF_STRF(ch->scope));
	if (pf_str_eqz(ch->error, "insufficient_scope"))
		return ag_fault(&ag->fault, PF_E_FORBID, NULL,
		    "403 insufficient_scope: this needs the account scopes "
		    "%.*s", PF_STRF(ch->scope));
	return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL, "status 403");
}

static enum pf_rc
judge(struct agent *ag, const struct calling *x)
{
	const struct ag_challenge *ch = &x->challenge;
	int status = x->reply->status;

	if (status >= 200 && status < 300)
		return PF_OK;
	if (status >= 300 && status < 400)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL,
		    "a redirect (%d); the proof is made for one URL, so it "
		    "is not followed", status);
	if (status == 403)
		return judge_403(ag, ch);
	if (status != 401)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL, "status %d",
		    status);
	if (!pf_str_given(ch->error))
		return ag_fault(&ag->fault, PF_E_AUTH, "R-6-9",
		    "401 without an error in WWW-Authenticate: DPoP");
	return ag_fault(&ag->fault, PF_E_AUTH,
	    pf_str_eqz(ch->error, "use_dpop_nonce") ? "R-4.3-13" : NULL,
	    "401 %.*s%s%.*s%s%s", PF_STRF(ch->error),
	    ch->description.n > 0 ? ": " : "", PF_STRF(ch->description),
	    x->renewed ? ", after a renewal" : "",
	    x->retried ? ", after a retry with the nonce it gave" : "");
}

enum pf_rc
ag_call_send(struct agent *ag, const struct ag_company *c,
    struct pf_str *session, const struct ag_call *call, struct ag_reply *rp)
{
	struct calling x = {
		.company = c, .call = call, .session = session, .reply = rp
	};
	bool again;
	enum pf_rc rc;

	rp->status = 0;
	if ((rc = ag_call_check(ag, call->url)) != PF_OK)
		return rc;
	do {
		if ((rc = ag_wait_before(ag, call->method, call->url)) !=
		    PF_OK || (rc = send(ag, &x)) != PF_OK)
			return rc;
		read_challenge(ag, &x);
		if ((rc = ag_wait_after(ag, &x.patience, call->method,
		    call->url, rp, &again)) != PF_OK)
			return rc;
		if (!again && (rc = mend(ag, &x, &again)) != PF_OK)
			return rc;
	} while (again);
	return judge(ag, &x);
}
