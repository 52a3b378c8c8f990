#include "config.h"

#include "tools/poppy-agent/discover.h"

#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/fetch.h"

#define ORIGINS_MAX	4096	/* bytes */

static bool
has_word(struct pf_str list, struct pf_str word)
{
	struct pf_str one;

	while (pf_str_given(list) && pf_str_cut(&list, ' ', &one))
		if (pf_str_eq(one, word))
			return true;
	return false;
}

static void
add_origin(struct agent *ag, struct pf_buf *b, struct pf_str url)
{
	struct pf_str origin;

	if (!pf_str_given(url) ||
	    ag_origin(&ag->arena, url, &origin) != PF_OK ||
	    has_word(pf_buf_str(b), origin))
		return;
	if (b->n > 0)
		pf_buf_char(b, ' ');
	pf_buf_add(b, origin);
}

static enum pf_rc
set_place(struct agent *ag, void *arg)
{
	struct ag_place *p = arg, *old = ag_state_place(ag, p->domain);

	if (old == NULL) {
		p->next = ag->st.places;
		ag->st.places = p;
		return PF_OK;
	}
	if (!pf_str_eq(old->issuer, p->issuer))
		old->servers = PF_NOSTR;
	old->issuer = p->issuer;
	old->origins = p->origins;
	return PF_OK;
}

/* Only what its own verified documents name; see ag_place_allow() for the
 * servers of its OpenAPI documents. */
static enum pf_rc
remember(struct agent *ag, const struct ag_company *c)
{
	struct ag_place *p = pf_arena_alloc(&ag->arena, sizeof(*p));
	struct ag_place *old = ag_state_place(ag, c->asked);
	struct pf_buf b;

	if (p == NULL)
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no memory");
	p->domain = c->asked;
	p->issuer = c->issuer;
	pf_buf_init(&b, &ag->arena, ORIGINS_MAX);
	for (size_t i = 0; i < c->napis; i++)
		add_origin(ag, &b, c->api[i].url);
	add_origin(ag, &b, c->chat_endpoint);
	add_origin(ag, &b, c->mediated_endpoint);
	if (pf_buf_done(&b, &p->origins) != PF_OK)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL,
		    "more hosts than this agent keeps for one Company");
	if (old != NULL && pf_str_eq(old->issuer, p->issuer) &&
	    pf_str_eq(old->origins, p->origins))
		return PF_OK;	/* nothing new */
	return ag_state_change(ag, set_place, p);
}

struct allow { struct pf_str domain, origin; };

static enum pf_rc
allow(struct agent *ag, void *arg)
{
	struct allow *a = arg;
	struct ag_place *p = ag_state_place(ag, a->domain);

	if (p == NULL)
		return ag_fault(&ag->fault, PF_E_BUG, NULL,
		    "the Company has gone from the state file");
	p->servers = a->origin;
	return PF_OK;
}

enum pf_rc
ag_place_allow(struct agent *ag, struct pf_str domain, struct pf_str origin)
{
	struct ag_place *p = ag_state_place(ag, domain);
	struct allow a = { domain, origin };

	if (p != NULL && pf_str_eq(p->servers, origin))
		return PF_OK;
	return ag_state_change(ag, allow, &a);
}

bool
ag_place_covers(struct agent *ag, const struct ag_place *place,
    struct pf_str url)
{
	struct pf_str origin;

	return ag_origin(&ag->arena, url, &origin) == PF_OK &&
	    (has_word(place->origins, origin) ||
	    has_word(place->servers, origin));
}

static struct pf_str
sign_in_types(struct agent *ag, const struct ag_company *c)
{
	struct pf_buf b;

	if (!c->direct && !c->device && !c->mediated)
		return PF_LIT("none: Sessions stay signed out");
	pf_buf_init(&b, &ag->arena, 64);
	pf_buf_addz(&b, c->direct ? "direct " : "");
	pf_buf_addz(&b, c->device ? "device " : "");
	pf_buf_addz(&b, c->mediated ? "mediated " : "");
	return pf_str_trim(pf_buf_str(&b));
}

static void
show_company(struct agent *ag, const struct ag_company *c)
{
	struct ag_show *sh = &ag->show;

	ag_show_fact(sh, "Company", c->name);
	ag_show_fact(sh, "domain", c->domain);
	ag_show_fact(sh, "protocol_version", c->version);
	if (pf_str_given(c->issuer)) {
		ag_show_fact(sh, "issuer", c->issuer);
		ag_show_fact(sh, "token_endpoint", c->token_endpoint);
		ag_show_fact(sh, "revocation_endpoint",
		    c->revocation_endpoint);
		ag_show_fact(sh, "sign-in", sign_in_types(ag, c));
	}
	for (size_t i = 0; i < c->napis; i++) {
		char name[32];

		snprintf(name, sizeof(name), "api %zu (%.*s)", i + 1,
		    PF_STRF(c->api[i].type));
		ag_show_fact(sh, name, c->api[i].url);
	}
	if (pf_str_given(c->chat_endpoint))
		ag_show_fact(sh, "conversations", c->chat_endpoint);
	if (pf_str_given(c->browser_endpoint))
		ag_show_fact(sh, "browser Sessions", c->browser_endpoint);
	for (size_t i = 0; i < c->nnotes; i++)
		ag_show_note(sh, "%s", c->note[i]);
}

static enum pf_rc
read_metadata(struct agent *ag, struct ag_company *c)
{
	const struct pf_json *doc;
	struct pf_str url;
	enum pf_rc rc;

	if (ag_metadata_url(&ag->arena, c->issuer, &url) != PF_OK)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-3.1-6",
		    "auth.issuer \"%.*s\", which has a query or fragment",
		    PF_STRF(c->issuer));
	if ((rc = ag_fetch(ag, url, "R-3.2-1", NULL, &doc, NULL)) != PF_OK)
		return rc;
	return ag_metadata_check(doc, c, &ag->fault);
}

enum pf_rc
ag_discover(struct agent *ag, const char *domain, bool need_auth,
    struct ag_company **out)
{
	struct ag_company *c = pf_arena_alloc(&ag->arena, sizeof(*c));
	const struct pf_json *doc;
	struct pf_str url, host;
	enum pf_rc rc;

	ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
	if (c == NULL)
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no memory");
	if (ag_wellknown_url(&ag->arena, domain, &url, &host, &c->asked) !=
	    PF_OK)
		return ag_fault(&ag->fault, PF_E_INPUT, NULL,
		    "\"%s\" is no domain: give DOMAIN or DOMAIN:PORT", domain);
	if ((rc = ag_fetch(ag, url, "R-3-1", "R-3-3", &doc, NULL)) != PF_OK ||
	    (rc = ag_poppy_check(doc, host, c, &ag->fault)) != PF_OK)
		return rc;
	if (pf_str_given(c->issuer)) {
		if ((rc = read_metadata(ag, c)) != PF_OK ||
		    (rc = remember(ag, c)) != PF_OK)
			return rc;
	} else if (need_auth)
		return ag_fault(&ag->fault, PF_E_ABSENT, NULL,
		    "a Company without auth: it can only be browsed as an "
		    "ordinary website, so there are no Sessions");
	show_company(ag, c);
	*out = c;
	return PF_OK;
}

enum pf_rc
ag_cmd_discover(struct agent *ag)
{
	struct ag_company *c;
	enum pf_rc rc;

	ag_step_begin(&ag->show, "discover", "Discovery");
	rc = ag_discover(ag, ag->opt.arg[0], false, &c);
	return ag_step_end(&ag->show, rc, &ag->fault);
}
