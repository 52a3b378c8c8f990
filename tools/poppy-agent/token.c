#include "config.h"

#include "tools/poppy-agent/token.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/web/url.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/http.h"
#include "tools/poppy-agent/nonce.h"
#include "tools/poppy-agent/sign.h"
#include "tools/poppy-agent/wait.h"

#define GRANT_TYPE	"urn:ietf:params:oauth:grant-type:jwt-bearer"
#define ASSERTION_TYPE	"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#define FORM_MAX	40000
#define REPLY_MAX	65536

static const struct pf_json_limits limits = { REPLY_MAX, 8, 1000 };

/* One request; fresh assertions and a fresh proof for each try. */
struct asking {
	const struct ag_token_ask *ask;
	struct ag_user *user;
	struct pf_str assertion, client_assertion, proof, nonce;
	struct ag_reply reply;
};

static enum pf_rc
sign_all(struct agent *ag, struct asking *q)
{
	const struct ag_key *key = ag_signing_key(&ag->st);
	struct pf_str id = ag->st.client_id, aud = q->ask->url;
	int64_t now_at = pf_now_at();
	const struct ag_proof_for want = {
		"POST", aud, PF_NOSTR,
		q->nonce = ag_nonce_for(ag, AG_NONCE_TOKEN, aud), now_at
	};
	enum pf_rc rc;

	rc = ag_sign_assertion(&ag->arena, key, id, id, aud, now_at,
	    &q->client_assertion);
	if (rc == PF_OK && q->ask->assertion)
		rc = ag_sign_assertion(&ag->arena, key, id, q->user->id, aud,
		    now_at, &q->assertion);
	if (rc == PF_OK && q->ask->proof)
		rc = ag_sign_proof(&ag->arena, q->user->dpop, &want,
		    &q->proof);
	return rc == PF_OK ? PF_OK : ag_fault(&ag->fault, rc, NULL,
	    "the request could not be signed");
}

/* One form parameter, into the body and into what is shown. */
static void
param(struct agent *ag, struct pf_buf *b, const char *name, struct pf_str value,
    bool secret)
{
	if (b->n > 0)
		pf_buf_char(b, '&');
	pf_buf_addz(b, name);
	pf_buf_char(b, '=');
	pf_url_escape(b, value);
	if (secret)
		ag_show_sent_secret(&ag->show, name, value);
	else
		ag_show_sent(&ag->show, name, value);
}

static void
form(struct agent *ag, const struct asking *q, struct pf_buf *b)
{
	const struct ag_token_ask *ask = q->ask;

	for (size_t i = 0; i < ask->nparams; i++)
		if (pf_str_given(ask->param[i].value))
			param(ag, b, ask->param[i].name, ask->param[i].value,
			    ask->param[i].secret);
	if (ask->assertion) {
		param(ag, b, "assertion", q->assertion, true);
		ag_show_sent(&ag->show, "assertion.aud", ask->url);
		ag_show_sent_secret(&ag->show, "assertion.sub", q->user->id);
	}
	param(ag, b, "client_id", ag->st.client_id, false);
	param(ag, b, "client_assertion_type", PF_LIT(ASSERTION_TYPE), false);
	param(ag, b, "client_assertion", q->client_assertion, true);
}

static void
show_proof(struct agent *ag, const struct asking *q)
{
	ag_show_sent_secret(&ag->show, "DPoP", q->proof);
	ag_show_sent(&ag->show, "DPoP.htm", PF_LIT("POST"));
	ag_show_sent(&ag->show, "DPoP.htu", ag_htu(q->ask->url));
	if (q->nonce.n > 0)
		ag_show_sent_secret(&ag->show, "DPoP.nonce", q->nonce);
}

static enum pf_rc
send(struct agent *ag, struct asking *q)
{
	struct pf_str url = q->ask->url;
	const struct ag_field field[] = {
		{ PF_LIT("Content-Type"),
		    PF_LIT("application/x-www-form-urlencoded") },
		{ PF_LIT("Accept"), PF_LIT("application/json") },
		{ PF_LIT("DPoP"), q->proof },
	};
	struct ag_request rq = {
		.method = "POST", .url = url, .field = field,
		.nfields = PF_COUNT(field) - (q->ask->proof ? 0 : 1),
		.max = REPLY_MAX,
	};
	struct pf_buf b;
	enum pf_rc rc;

	ag_show_request(&ag->show, "POST", url);
	ag_show_sent(&ag->show, "Content-Type", field[0].value);
	if (q->ask->proof)
		show_proof(ag, q);
	pf_buf_init(&b, &ag->arena, FORM_MAX);
	form(ag, q, &b);
	if (pf_buf_done(&b, &rq.body) != PF_OK)
		return ag_fault(&ag->fault, PF_E_MEM, NULL,
		    "the request would be too long");
	if ((rc = ag_http_send(ag, &rq, &q->reply)) != PF_OK)
		return rc;
	ag_show_status(&ag->show, q->reply.status, NULL);
	return ag_nonce_keep(ag, AG_NONCE_TOKEN, url, &q->reply);
}

/* The body as an object, or an empty fault-less NULL where it is none. */
static const struct pf_json *
body(struct agent *ag, const struct ag_reply *rp)
{
	const struct pf_json *doc = NULL;

	if (pf_json_parse(&ag->arena, rp->body, &limits, &doc, NULL) != PF_OK ||
	    !pf_json_is_obj(doc))
		return NULL;
	return doc;
}

static enum pf_rc
show_member(void *ctx, struct pf_str key, const struct pf_json *v)
{
	struct agent *ag = ctx;
	bool secret = pf_str_ends(key, PF_LIT("_token")) ||
	    pf_str_eqz(key, "device_code");
	struct pf_str s;
	struct pf_buf b;

	if (pf_json_as_str(v, &s) != PF_OK) {
		pf_buf_init(&b, &ag->arena, REPLY_MAX);
		pf_json_write(&b, v);
		s = pf_buf_str(&b);
	}
	if (secret)
		ag_show_received_secret(&ag->show, key, s);
	else
		ag_show_received(&ag->show, key, s);
	return PF_OK;
}

static void
show_reply(struct agent *ag, const struct ag_reply *rp,
    const struct pf_json *doc)
{
	static const char *const told[] = {
		"cache-control", "retry-after", "www-authenticate"
	};

	for (size_t i = 0; i < PF_COUNT(told); i++) {
		struct pf_str v = ag_reply_field(rp, told[i], 0);

		if (pf_str_given(v))
			ag_show_received(&ag->show, pf_str(told[i]), v);
	}
	if (pf_str_given(ag_reply_field(rp, "dpop-nonce", 0)))
		ag_show_received_secret(&ag->show, PF_LIT("dpop-nonce"),
		    ag_reply_field(rp, "dpop-nonce", 0));
	if (doc != NULL && pf_json_each(doc, show_member, ag) != PF_OK)
		ag_show_note(&ag->show, "the reply could not be shown");
}

static struct pf_str
error_code(const struct pf_json *doc)
{
	struct pf_str code = PF_NOSTR;

	if (doc == NULL || pf_json_str(doc, "error", &code) != PF_OK)
		return PF_NOSTR;
	return code;
}

enum pf_rc
ag_token_refused(struct agent *ag, const struct ag_token_answer *answer)
{
	struct pf_str code = answer->error, text = PF_NOSTR;

	if (answer->status >= 300 && answer->status < 400)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL,
		    "a redirect (%d); assertions and proofs are made for one "
		    "endpoint and follow none", answer->status);
	if (answer->status == 200)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.2-11",
		    "200 with a body that is no strict JSON object");
	if (!pf_str_given(code))
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.2-32",
		    "status %d without an OAuth error", answer->status);
	if (pf_json_str(answer->doc, "error_description", &text) != PF_OK)
		text = PF_NOSTR;
	return ag_fault(&ag->fault, pf_str_eqz(code, "invalid_session") ?
	    PF_E_CONFLICT : PF_E_AUTH,
	    pf_str_eqz(code, "use_dpop_nonce") ? "R-4.3-13" : NULL,
	    "%d %.*s: %s%s%.*s%s", answer->status, PF_STRF(code),
	    ag_token_error_text(code), text.n > 0 ? " (\"" : "",
	    PF_STRF(text), text.n > 0 ? "\")" : "");
}

/* One more try, for the nonce that was just given? */
static enum pf_rc
wants_nonce(struct agent *ag, const struct asking *q,
    const struct ag_token_answer *answer, bool *retried, bool *again)
{
	*again = answer->status != 200 && !*retried &&
	    pf_str_eqz(answer->error, "use_dpop_nonce");
	if (!*again)
		return PF_OK;
	if (!pf_str_given(ag_reply_field(&q->reply, "dpop-nonce", 0)))
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.3-13",
		    "use_dpop_nonce without a DPoP-Nonce");
	*retried = true;
	ag_show_note(&ag->show, "a nonce is required: asked once more with "
	    "the one just given");
	return PF_OK;
}

enum pf_rc
ag_token_ask(struct agent *ag, struct ag_user *u,
    const struct ag_token_ask *ask, struct ag_token_answer *out)
{
	struct asking q = { .ask = ask, .user = u };
	struct ag_patience patience = { 0 };
	bool again = true, retried = false;
	enum pf_rc rc;

	while (again) {
		if ((rc = ag_wait_before(ag, "POST", ask->url)) != PF_OK ||
		    (rc = sign_all(ag, &q)) != PF_OK ||
		    (rc = send(ag, &q)) != PF_OK)
			return rc;
		out->status = q.reply.status;
		out->doc = body(ag, &q.reply);
		out->error = error_code(out->doc);
		out->caching = ag_reply_field(&q.reply, "cache-control", 0);
		show_reply(ag, &q.reply, out->doc);
		if ((rc = ag_wait_after(ag, &patience, "POST", ask->url,
		    &q.reply, &again)) != PF_OK)
			return rc;
		if (!again && (rc = wants_nonce(ag, &q, out, &retried,
		    &again)) != PF_OK)
			return rc;
	}
	return PF_OK;
}

struct keep {
	struct pf_str issuer, forget, account;
	const struct ag_grant *grant;
	int64_t now_at;
};

/* Put the Session first in its User's list: the newest token is the one in
 * use from now on (4.3). */
static enum pf_rc
keep_session(struct agent *ag, void *arg)
{
	const struct keep *k = arg;
	struct ag_user *u = ag_state_user(ag, k->issuer);
	struct ag_session *s = NULL, **p;
	struct pf_str id = k->grant != NULL ? k->grant->session_id : k->forget;

	if (u == NULL)
		return ag_fault(&ag->fault, PF_E_BUG, NULL,
		    "the User has gone from the state file");
	for (p = &u->sessions; *p != NULL; p = &(*p)->next)
		if (pf_str_eq((*p)->id, id)) {
			s = *p;
			*p = s->next;
			break;
		}
	if (k->grant == NULL)
		return PF_OK;
	if (s == NULL && (s = pf_arena_alloc(&ag->arena, sizeof(*s))) == NULL)
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no memory");
	if (s->started_at == 0)
		s->started_at = k->now_at;
	s->id = id;
	s->token = k->grant->token;
	s->scope = k->grant->scope;
	s->signed_in = k->grant->signed_in;
	s->account = k->account;
	if (__builtin_add_overflow(k->now_at, k->grant->expires_in,
	    &s->expires_at))
		s->expires_at = INT64_MAX;
	s->next = u->sessions;
	u->sessions = s;
	return PF_OK;
}

static void
show_session(struct agent *ag, struct pf_str issuer, struct pf_str id)
{
	const struct ag_session *s = ag_state_session(ag, issuer, id);
	struct pf_buf b;

	if (s == NULL)
		return;
	ag_show_fact(&ag->show, "Session", s->id);
	pf_buf_init(&b, &ag->arena, 128);
	ag_shorten(&b, s->token);
	ag_show_fact(&ag->show, "Session Token", pf_buf_str(&b));
	pf_buf_init(&b, &ag->arena, 64);
	pf_buf_fmt(&b, "in %lld s", (long long)(s->expires_at - pf_now_at()));
	ag_show_fact(&ag->show, "expires", pf_buf_str(&b));
	ag_show_fact(&ag->show, "signed in", s->signed_in ? PF_LIT("yes") :
	    PF_LIT("no"));
}

enum pf_rc
ag_token_keep(struct agent *ag, struct pf_str issuer, const struct ag_grant *g,
    struct pf_str account)
{
	struct keep k = { issuer, PF_NOSTR, account, g, pf_now_at() };
	enum pf_rc rc;

	rc = ag_state_change(ag, keep_session, &k);
	if (rc == PF_OK)
		show_session(ag, issuer, g->session_id);
	return rc;
}

static enum pf_rc
take(struct agent *ag, const struct ag_company *c, struct pf_str session_id,
    const struct ag_token_answer *answer, struct pf_str *id)
{
	struct ag_session *old = ag_state_session(ag, c->issuer, session_id);
	struct ag_grant g = { .account_token = PF_NOSTR };
	enum pf_rc rc;

	rc = ag_grant_check(answer->doc, session_id, &g, &ag->fault);
	if (rc != PF_OK)
		return rc;
	if (!pf_str_given(answer->caching) ||
	    !pf_str_eq_nocase(answer->caching, PF_LIT("no-store")))
		ag_show_note(&ag->show, "the reply should say Cache-Control: "
		    "no-store (R-4.2-11)");
	if (pf_str_given(session_id) && old != NULL &&
	    pf_str_eq(old->token, g.token))
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.2-20",
		    "the token that there was before, instead of a new one");
	if (pf_str_given(session_id))
		ag_show_fact(&ag->show, "renewed",
		    PF_LIT("another token, the same Session"));
	*id = g.session_id;
	return ag_token_keep(ag, c->issuer, &g, PF_NOSTR);
}

enum pf_rc
ag_token_get(struct agent *ag, const struct ag_company *c,
    struct pf_str session_id, struct pf_str *id)
{
	const struct ag_param param[] = {
		{ "grant_type", PF_LIT(GRANT_TYPE), false },
		{ "session_id", session_id, false },
	};
	const struct ag_token_ask ask = {
		c->token_endpoint, param, PF_COUNT(param), true, true
	};
	struct keep forget = {
		c->issuer, session_id, PF_NOSTR, NULL, pf_now_at()
	};
	struct ag_token_answer answer;
	struct ag_user *u;
	enum pf_rc rc;

	if ((rc = ag_client_ready(ag)) != PF_OK ||
	    (rc = ag_user_at(ag, c->issuer, &u)) != PF_OK ||
	    (rc = ag_token_ask(ag, u, &ask, &answer)) != PF_OK)
		return rc;
	if (answer.status != 200 || answer.doc == NULL)
		rc = ag_token_refused(ag, &answer);
	else
		rc = take(ag, c, session_id, &answer, id);
	if (rc == PF_E_CONFLICT &&
	    ag_state_change(ag, keep_session, &forget) != PF_OK)
		return PF_E_UPSTREAM;
	return rc;
}
