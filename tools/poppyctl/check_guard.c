/*
 * What reaches the programs of an agent's request: the Authorization and DPoP
 * headers, and the URL as the server sees it. A proof that is right for the URL
 * of the settings must not be refused, only the token that nobody issued.
 */
#include "tools/poppyctl/check.h"

#include "core/store/token.h"

static const struct pf_json_limits limits = { CTL_HTTP_MAX, 16, 20000 };

/* What the servers say, and what the operator should look at. */
static const struct {
	const char *said, *advice;
} advices[] = {
	{ "Authorization header missing", "the web server takes the header "
	    "away: under Apache set CGIPassAuth On where the guard stands, "
	    "elsewhere look for what unsets it, a proxy in front included" },
	{ "DPoP header missing", "the web server or a proxy in front takes the "
	    "DPoP header away: let it pass" },
	{ "htu", "the server sees another URL than agents use: correct base of "
	    "this host in poppy.conf, or what a proxy in front makes of host "
	    "and path" },
	{ "iat", "the clock of the host that answers is wrong: run NTP" },
	{ "no host of this company", "the Host header that arrives is not in "
	    "hosts of poppy.conf" },
	{ "no prefix of the settings", "the web server guards a prefix that "
	    "the running poppy-guard doesn't know: send it SIGHUP" },
};

struct probe {
	struct check *k;
	const char *area;
	struct pf_key *key;
	const char *method;
	struct pf_str url;
	struct pf_str token;	/* PF_NOSTR: a token request */
	bool bearer;		/* at an MCP server; else DPoP */
};

/* The OAuth error and its description in an answer; "" where it has none. */
static void
read_error(struct check *k, const struct ctl_reply *rp, struct pf_str *error,
    struct pf_str *why)
{
	const struct pf_json *json = NULL;

	*error = *why = PF_LIT("");
	if (pf_json_parse(k->c->arena, rp->body, &limits, &json, NULL) !=
	    PF_OK)
		return;
	(void)!pf_json_str(json, "error", error);
	(void)!pf_json_str(json, "error_description", why);
}

static bool
send(struct probe *p, struct pf_str nonce, struct ctl_reply *rp)
{
	const struct ck_proof what = { p->method, p->url, p->token, nonce };
	struct ctl_ask ask = {
		.method = p->method, .url = p->url,
		.form = pf_str_given(p->token) ? PF_NOSTR : PF_LIT("x="),
	};

	if (!p->bearer &&
	    ck_sign(p->k->c->arena, p->key, &what, &ask.dpop) != PF_OK)
		return false;
	if (pf_str_given(p->token))
		ask.authorization = ck_join(p->k, p->bearer ?
		    PF_LIT("Bearer ") : PF_LIT("DPoP "), "", p->token);
	return ck_ask(p->k, p->area, &ask, rp);
}

/* NULL: that is nothing our programs say of what is wrong on the way. */
static const char *
advice_for(struct pf_str why)
{
	for (size_t i = 0; i < PF_COUNT(advices); i++)
		if (pf_str_starts(why, pf_str(advices[i].said)))
			return advices[i].advice;
	return NULL;
}

static void
complain(struct probe *p, const struct ctl_reply *rp, struct pf_str error,
    struct pf_str why)
{
	const char *advice = advice_for(why);

	if (advice == NULL)
		advice = "is the path led to its program, and do the programs "
		    "run?";
	ck_say(p->k, CK_FAULT, p->area, "%.*s: status %d, %.*s (%.*s): %s",
	    PF_STRF(p->url), rp->status, PF_STRF(error), PF_STRF(why), advice);
}

/* Ask with a proof, and again with the nonce that is wanted. Everything but
 * these errors says that something on the way is wrong. */
static void
run(struct probe *p, const char *const *good, size_t ngood, const char *said)
{
	struct pf_str error, why;
	struct ctl_reply rp;

	if (!send(p, PF_NOSTR, &rp))
		return;
	read_error(p->k, &rp, &error, &why);
	if (pf_str_eqz(error, "use_dpop_nonce") && pf_str_given(rp.nonce)) {
		if (!send(p, rp.nonce, &rp))
			return;
		read_error(p->k, &rp, &error, &why);
	}
	for (size_t i = 0; i < ngood; i++)
		if (pf_str_eqz(error, good[i]) && !pf_str_eqz(why,
		    "Authorization header missing")) {
			ck_say(p->k, CK_OK, p->area, "%.*s: %s",
			    PF_STRF(p->url), said);
			return;
		}
	complain(p, &rp, error, why);
}

/* Nobody without a token gets in. */
static bool
closed(struct probe *p)
{
	const struct ctl_ask ask = { .method = p->method, .url = p->url };
	struct pf_str error, why;
	struct ctl_reply rp;

	if (!ck_ask(p->k, p->area, &ask, &rp))
		return false;
	if (rp.status == 401 && pf_str_given(rp.challenge))
		return true;
	read_error(p->k, &rp, &error, &why);
	if (rp.status < 500 && advice_for(why) == NULL)
		ck_say(p->k, CK_FAULT, p->area, "%.*s: status %d without a "
		    "challenge: the guard does not stand before it, and anybody "
		    "gets in; list its prefix in the web server's settings",
		    PF_STRF(p->url), rp.status);
	else
		complain(p, &rp, error, why);
	return false;
}

static const struct pf_rule *
guarded_rule(const struct pf_guarded *g)
{
	const struct pf_rule *r = g->rules.v;

	for (size_t i = 0; i < g->rules.n; i++)
		if (!r[i].open)
			return &r[i];
	return NULL;
}

/* Where agents find the prefix: the host of the API in it that is listed, or
 * else the issuer's. */
static struct pf_str
base_of(const struct pf_settings *s, const struct pf_guarded *g)
{
	const struct pf_host *h = s->hosts.v;
	const struct pf_api *api = s->apis.v;

	if (g->entry != NULL && g->entry->host != NULL)
		return g->entry->host->base;
	for (size_t i = 0; i < s->apis.n; i++)
		for (size_t n = 0; n < s->hosts.n; n++)
			if (pf_str_starts(api[i].url, h[n].base) &&
			    pf_guarded_covers(g,
			    pf_str_from(api[i].url, h[n].base.n)))
				return h[n].base;
	return s->issuer_host->base;
}

static void
check_prefix(struct probe *p, const struct pf_guarded *g)
{
	static const char *const good[] = { "invalid_token" };
	const struct pf_rule *r = guarded_rule(g);
	struct pf_token token;

	if (r == NULL) {
		ck_say(p->k, CK_LEFT_OUT, p->area, "%.*s: all of it is open",
		    PF_STRF(g->prefix));
		return;
	}
	if (pf_token_new("pst_", 0, &token) != PF_OK)
		return;
	p->method = pf_arena_z(p->k->c->arena, r->methods.v[0]);
	p->url = ck_join(p->k, base_of(&p->k->c->set, g), "", r->path);
	p->token = pf_bytes(token.text, sizeof(token.text));
	p->bearer = g->entry != NULL && g->entry->mcp;
	if (p->method != NULL && closed(p))
		run(p, good, PF_COUNT(good), p->bearer ? "closed; "
		    "Authorization reaches the guard" : "closed; Authorization "
		    "and DPoP reach the guard, which sees the URL that agents "
		    "use");
}

/* The proof is judged before the client, so an error about it comes first. */
static void
check_token_endpoint(struct probe *p)
{
	static const char *const good[] = {
		"invalid_request", "invalid_client", "unsupported_grant_type",
		"rate_limited"
	};

	p->method = "POST";
	p->url = p->k->c->set.token_endpoint;
	p->token = PF_NOSTR;
	run(p, good, PF_COUNT(good), "DPoP reaches poppy-auth, which sees the "
	    "URL that agents use");
}

void
ck_guarded(struct check *k)
{
	const struct pf_guarded *g = k->c->set.guard.v;
	struct probe p = { .k = k, .area = "headers", .key = NULL };

	if (k->c->set.issuer.n == 0) {
		ck_say(k, CK_LEFT_OUT, "headers",
		    "without an issuer there are no Sessions");
		return;
	}
	if (pf_key_generate(PF_ES256, &p.key) != PF_OK)
		return;
	check_token_endpoint(&p);
	for (size_t i = 0; i < k->c->set.guard.n; i++)
		check_prefix(&p, &g[i]);
	pf_key_free(p.key);
}
