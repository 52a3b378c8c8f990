/*
 * Reading poppy.conf: what must hold between settings, and what is made of it.
 */
#include "core/poppy/settings_in.h"

#include "core/poppy/address.h"
#include "core/web/url.h"

const struct pf_host *
pf_settings_host(const struct pf_settings *s, struct pf_str host)
{
	const struct pf_host *h = s->hosts.v;

	for (size_t i = 0; i < s->hosts.n; i++)
		if (pf_str_eq(h[i].host, host))
			return &h[i];
	return NULL;
}

bool
pf_settings_domain(const struct pf_settings *s, struct pf_str domain)
{
	for (size_t i = 0; i < s->domains.n; i++)
		if (pf_str_eq(s->domains.v[i], domain))
			return true;
	return false;
}

/* A fault in poppy.conf, found after the file was read as such. */
struct checking {
	const char *file;
	struct pf_conf_fault *fault;
	struct pf_arena *arena;
};

static enum pf_rc
check_hosts(const struct checking *c, struct pf_settings *s)
{
	const struct pf_host *h = s->hosts.v;
	struct pf_str *domains;

	domains = pf_arena_alloc(c->arena, s->hosts.n * sizeof(*domains));
	if (domains == NULL)
		return PF_E_MEM;
	s->domains.v = domains;
	for (size_t i = 0; i < s->hosts.n; i++) {
		if (pf_settings_host(s, h[i].host) != &h[i])
			return pf_conf_refuse(c->fault, c->file, h[i].line,
			    "hosts.host", "stands there twice");
		if (pf_str_starts(h[i].domain, PF_LIT("www.")))
			return pf_conf_refuse(c->fault, c->file, h[i].line,
			    "hosts.domain", "must be without www.");
		if (h[i].domain.n != 0 && !pf_settings_domain(s, h[i].domain))
			domains[s->domains.n++] = h[i].domain;
	}
	if (s->domains.n == 0)
		return pf_conf_refuse(c->fault, c->file, h[0].line,
		    "hosts.domain",
		    "must be given for one host at least: there would be no "
		    "poppy.json");
	return PF_OK;
}

static enum pf_rc
read_proxies(const struct checking *c, struct pf_settings *s)
{
	struct pf_network *nets;
	enum pf_rc rc;

	nets = pf_arena_alloc(c->arena, s->proxies.n * sizeof(*nets));
	if (nets == NULL)
		return PF_E_MEM;
	for (size_t i = 0; i < s->proxies.n; i++)
		if ((rc = pf_network_read(s->proxies.v[i], &nets[i])) != PF_OK)
			return rc;
	s->proxy_networks = (struct pf_list){ nets, s->proxies.n };
	return PF_OK;
}

/* Endpoints and pages are on the issuer's host. */
static enum pf_rc
write_endpoints(const struct checking *c, struct pf_settings *s)
{
	const struct {
		struct pf_str mount;
		const char *name;
		struct pf_str *url;
	} all[] = {
		{ s->mounts.oauth, "/token", &s->token_endpoint },
		{ s->mounts.oauth, "/revoke", &s->revocation_endpoint },
		{ s->mounts.oauth, "/authorize", &s->authorization_endpoint },
		{ s->mounts.oauth, "/device", &s->device_endpoint },
		{ s->mounts.pages, "/device", &s->verification_uri },
		{ s->mounts.pages, "/sign-in", &s->mediated_endpoint },
	};
	struct pf_buf b;
	enum pf_rc rc;

	for (size_t i = 0; i < PF_COUNT(all); i++) {
		pf_buf_init(&b, c->arena, 2048);
		pf_buf_add(&b, s->issuer_host->base);
		pf_buf_add(&b, all[i].mount);
		pf_buf_addz(&b, all[i].name);
		if ((rc = pf_buf_done(&b, all[i].url)) != PF_OK)
			return rc;
	}
	return PF_OK;
}

/* The host whose base the issuer begins with, and what follows. */
static enum pf_rc
check_issuer_host(const struct checking *c, struct pf_settings *s)
{
	const struct pf_host *h = s->hosts.v;

	for (size_t i = 0; i < s->hosts.n && s->issuer_host == NULL; i++) {
		struct pf_str rest = pf_str_from(s->issuer, h[i].base.n);

		if (pf_str_starts(s->issuer, h[i].base) &&
		    (rest.n == 0 || rest.p[0] == '/')) {
			s->issuer_host = &h[i];
			s->issuer_path = rest;
		}
	}
	if (s->issuer_host == NULL)
		return pf_conf_refuse(c->fault, c->file, s->issuer_line,
		    "issuer", "must begin with the base of one of the hosts");
	return write_endpoints(c, s);
}

static enum pf_rc
check_rules(const struct checking *c, const struct pf_guarded *g)
{
	const struct pf_rule *r = g->rules.v;

	for (size_t i = 0; i < g->rules.n; i++) {
		if (!pf_guarded_covers(g, r[i].path))
			return pf_conf_refuse(c->fault, c->file, r[i].line,
			    "guard.rules.path",
			    "must lie below the prefix %.*s",
			    PF_STRF(g->prefix));
		if (r[i].open && (r[i].signed_in || r[i].scopes.n != 0))
			return pf_conf_refuse(c->fault, c->file, r[i].line,
			    "guard.rules.open",
			    "an open path can't ask for sign-in or scopes");
	}
	return PF_OK;
}

/* Sessions need auth, so APIs and the guard need an issuer (section 3.1). */
static enum pf_rc
check_published(const struct checking *c, struct pf_settings *s)
{
	const struct pf_guarded *g = s->guard.v;
	enum pf_rc rc;

	if (s->issuer.n == 0 && (s->apis.n != 0 || s->guard.n != 0))
		return pf_conf_refuse(c->fault, c->file, s->issuer_line,
		    "issuer", "apis and guard need an issuer");
	if (!s->web && s->apis.n == 0)
		return pf_conf_refuse(c->fault, c->file, s->web_line, "web",
		    "nothing would be published: set web or list an api");
	for (size_t i = 0; i < s->guard.n; i++) {
		for (size_t k = 0; k < i; k++)
			/* One path may be an MCP server on each host. */
			if (pf_str_eq(g[k].prefix, g[i].prefix) &&
			    pf_str_eq(g[k].api, g[i].api))
				return pf_conf_refuse(c->fault, c->file,
				    g[i].line, "guard.prefix",
				    "stands there twice: join their rules");
		if ((rc = check_rules(c, &g[i])) != PF_OK)
			return rc;
	}
	return PF_OK;
}

enum pf_rc
pf_settings_read(const char *file, struct pf_arena *a, struct pf_settings *out,
    struct pf_conf_fault *fault)
{
	struct checking c = { file, fault, a };
	enum pf_rc rc;

	*out = (struct pf_settings){ 0 };
	rc = pf_conf_read(file, &pf_settings_table, a, out, fault);
	if (rc != PF_OK)
		return rc;
	if ((rc = check_hosts(&c, out)) != PF_OK ||
	    (rc = read_proxies(&c, out)) != PF_OK ||
	    (rc = pf_settings_browser(file, a, out, fault)) != PF_OK)
		return rc;
	if (out->issuer.n != 0 && (rc = check_issuer_host(&c, out)) != PF_OK)
		return rc;
	if ((rc = check_published(&c, out)) != PF_OK ||
	    (rc = pf_settings_sign_in(file, out, fault)) != PF_OK ||
	    (rc = pf_settings_mediated(file, out, fault)) != PF_OK)
		return rc;
	return pf_settings_link(file, a, out, fault);
}
