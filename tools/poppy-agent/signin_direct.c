/*
 * Direct Sign-In (4.5): the User's browser goes to the Company and comes back
 * to the agent's redirect_uri, where "poppy-agent serve" takes it up; or the
 * person pastes the address that the browser ended at.
 */
#include "config.h"

#include "tools/poppy-agent/signin.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/jose/crypt.h"
#include "core/web/form.h"
#include "core/web/url.h"
#include "tools/poppy-agent/client.h"

#define PATIENCE_S	900
#define LOOK_MS		500
#define URL_MAX		8192

/* One authorization request (RFC 6749, 4.1.1; RFC 7636, 4). */
struct direct {
	const struct ag_signin *signin;
	struct ag_client client;
	struct pf_str state, verifier, challenge;
	struct pf_str url;
	struct pf_str query;		/* what the browser brought back */
	struct pf_str code;
	int64_t until_at;
};

static enum pf_rc
random_text(struct pf_arena *a, struct pf_str *out)
{
	unsigned char raw[32];
	struct pf_buf b;
	enum pf_rc rc;

	if ((rc = pf_random(raw, sizeof(raw))) != PF_OK)
		return rc;
	pf_buf_init(&b, a, 64);
	pf_buf_b64url(&b, raw, sizeof(raw));
	return pf_buf_done(&b, out);
}

static enum pf_rc
make_secrets(struct agent *ag, struct direct *d)
{
	unsigned char hash[PF_SHA256_LEN];
	struct pf_buf b;
	enum pf_rc rc;

	if ((rc = random_text(&ag->arena, &d->state)) != PF_OK ||
	    (rc = random_text(&ag->arena, &d->verifier)) != PF_OK ||
	    (rc = pf_sha256(d->verifier, hash)) != PF_OK)
		return rc;
	pf_buf_init(&b, &ag->arena, 64);
	pf_buf_b64url(&b, hash, sizeof(hash));
	return pf_buf_done(&b, &d->challenge);
}

static enum pf_rc
write_url(struct agent *ag, struct direct *d)
{
	const struct pf_str to = d->signin->company->authorization_endpoint;
	const struct ag_param param[] = {
		{ "response_type", PF_LIT("code"), false },
		{ "client_id", ag->st.client_id, false },
		{ "redirect_uri", d->client.redirect_uri, false },
		{ "scope", d->signin->scope, false },
		{ "state", d->state, false },
		{ "code_challenge", d->challenge, false },
		{ "code_challenge_method", PF_LIT("S256"), false },
	};
	struct pf_buf b;

	pf_buf_init(&b, &ag->arena, URL_MAX);
	pf_buf_add(&b, to);
	for (size_t i = 0; i < PF_COUNT(param); i++) {
		pf_buf_char(&b, i > 0 || pf_str_has(to, '?') ? '&' : '?');
		pf_buf_addz(&b, param[i].name);
		pf_buf_char(&b, '=');
		pf_url_escape(&b, param[i].value);
	}
	return pf_buf_done(&b, &d->url);
}

static enum pf_rc
add_pending(struct agent *ag, void *arg)
{
	const struct direct *d = arg;
	struct ag_pending *p = pf_arena_alloc(&ag->arena, sizeof(*p));

	if (p == NULL)
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no memory");
	p->state = d->state;
	p->query = PF_NOSTR;
	p->until_at = d->until_at;
	p->next = ag->st.pendings;
	ag->st.pendings = p;
	return PF_OK;
}

static enum pf_rc
drop_pending(struct agent *ag, void *arg)
{
	const struct direct *d = arg;

	for (struct ag_pending **p = &ag->st.pendings; *p != NULL;)
		if (pf_str_eq((*p)->state, d->state))
			*p = (*p)->next;
		else
			p = &(*p)->next;
	return PF_OK;
}

/* What stands behind the '?' of a pasted address. */
static struct pf_str
query_of(struct pf_str line)
{
	size_t mark = pf_str_find(line, '?');

	return mark == line.n ? PF_NOSTR : pf_str_from(line, mark + 1);
}

/* From "serve", through the state file, or from the terminal; whichever comes
 * first. */
static enum pf_rc
wait_for_browser(struct agent *ag, struct direct *d)
{
	bool reads = true;
	struct pf_str line;
	enum pf_rc rc;

	while (pf_now_at() < d->until_at) {
		const struct ag_pending *p;

		if ((rc = ag_state_load(ag)) != PF_OK)
			return rc;
		p = ag_state_pending(ag, d->state);
		if (p != NULL && pf_str_given(p->query)) {
			d->query = p->query;
			return PF_OK;
		}
		rc = reads ? ag_read_line_until(ag, pf_mono_ms() + LOOK_MS,
		    &line) : PF_E_ABSENT;
		if (rc == PF_OK && pf_str_given(query_of(line))) {
			d->query = query_of(line);
			return PF_OK;
		}
		if (rc == PF_OK || (rc == PF_E_ABSENT && reads))
			continue;
		/* Nobody types here; only serve is left. */
		reads = false;
		(void)usleep(LOOK_MS * 1000);
	}
	return ag_fault(&ag->fault, PF_E_LIMIT, NULL,
	    "the browser did not come back within %d s", PATIENCE_S);
}

/* state, then iss (RFC 9207), before anything else is believed. */
static enum pf_rc
read_answer(struct agent *ag, struct direct *d)
{
	struct pf_str issuer = d->signin->company->issuer, s;
	struct pf_form f;
	const char *why;

	if (pf_form_parse(&ag->arena, d->query, &f, &why) != PF_OK)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.5-7",
		    "a redirect that can't be read: %s", why);
	if (pf_form_get(&f, "state", &s) != PF_OK || !pf_str_eq(s, d->state))
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.5-7",
		    "a redirect with another state");
	if (pf_form_get(&f, "iss", &s) != PF_OK || !pf_str_eq(s, issuer))
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.5-8",
		    "a redirect whose iss is not the issuer");
	if (pf_form_get(&f, "error", &s) == PF_OK)
		return ag_fault(&ag->fault, PF_E_AUTH, NULL, "%.*s: %s",
		    PF_STRF(s), ag_token_error_text(s));
	if (pf_form_get(&f, "code", &d->code) != PF_OK || d->code.n == 0)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.5-7",
		    "a redirect without a code");
	return PF_OK;
}

static enum pf_rc
redeem(struct agent *ag, const struct direct *d)
{
	const struct ag_param param[] = {
		{ "grant_type", PF_LIT("authorization_code"), false },
		{ "code", d->code, true },
		{ "redirect_uri", d->client.redirect_uri, false },
		{ "code_verifier", d->verifier, true },
		{ "session_id", d->signin->session_id, false },
	};
	struct ag_token_answer answer;
	enum pf_rc rc;

	rc = ag_signin_ask(ag, d->signin, param, PF_COUNT(param), &answer);
	if (rc != PF_OK)
		return rc;
	if (answer.status != 200 || answer.doc == NULL)
		return ag_token_refused(ag, &answer);
	return ag_signin_take(ag, d->signin, answer.doc);
}

static enum pf_rc
prepare(struct agent *ag, struct direct *d)
{
	const char *why = "";
	enum pf_rc rc;

	rc = ag_client_urls(&ag->arena, ag->st.client_id, &d->client, &why);
	if (rc == PF_OK)
		rc = make_secrets(ag, d);
	if (rc == PF_OK)
		rc = write_url(ag, d);
	if (rc != PF_OK)
		return ag_fault(&ag->fault, rc, NULL,
		    "no authorization URL can be made: %s", why);
	d->until_at = pf_now_at() + PATIENCE_S;
	return ag_state_change(ag, add_pending, d);
}

enum pf_rc
ag_signin_direct(struct agent *ag, const struct ag_signin *s)
{
	struct direct d = { .signin = s };
	enum pf_rc rc, rc2;

	if ((rc = prepare(ag, &d)) != PF_OK)
		return rc;
	ag_show_fact(&ag->show, "link", d.url);
	ag_show_now(&ag->show, "open this in your browser:\n%.*s\n"
	    "if the browser ends at an address that can't be shown, paste "
	    "that address here", PF_STRF(d.url));
	rc = wait_for_browser(ag, &d);
	if ((rc2 = ag_state_change(ag, drop_pending, &d)) != PF_OK)
		return rc2;
	if (rc != PF_OK || (rc = read_answer(ag, &d)) != PF_OK)
		return rc;
	return redeem(ag, &d);
}
