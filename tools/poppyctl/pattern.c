/*
 * What names agents in a rule: a client_id, a host, or all hosts below one.
 */
#include "core/poppy/client.h"
#include "core/poppy/domain.h"
#include "core/web/url.h"
#include "tools/poppyctl/agents.h"

/* A host alone, without port, in lower case. */
static bool
host_ok(struct pf_arena *a, struct pf_str text, struct pf_str *out)
{
	struct pf_buf b;
	struct pf_str url;
	struct pf_url u;

	pf_buf_init(&b, a, 1024);
	pf_buf_addz(&b, "https://");
	for (size_t i = 0; i < text.n; i++)
		pf_buf_char(&b, pf_lower(text.p[i]));
	pf_buf_char(&b, '/');
	if (pf_buf_done(&b, &url) != PF_OK || pf_url_parse(url, &u) != PF_OK ||
	    u.port_given || u.userinfo || u.host.n != text.n)
		return false;
	*out = u.host;
	return true;
}

const char *
ctl_pattern(struct ctl *c, struct pf_str text, bool allow, struct pf_str *out)
{
	const struct pf_str any = PF_LIT("*.");
	struct pf_str host, all;
	struct pf_buf b;

	*out = text;
	for (size_t i = 0; i + 3 <= text.n; i++)
		if (pf_str_starts(pf_str_from(text, i), PF_LIT("://")))
			return pf_client_id_ok(text) ? NULL :
			    "is no client_id: an https URL with a path, no "
			    "user and no fragment";
	if (!pf_str_starts(text, any))
		return host_ok(c->arena, text, out) ? NULL :
		    "is neither a client_id (https://...), nor a host without "
		    "port, nor *.HOST";
	if (!host_ok(c->arena, pf_str_from(text, any.n), &host) ||
	    pf_host_is_ip(host))
		return "has no host name behind *.";
	if (allow && pf_domain_is_suffix(host))
		return "would let in everybody who registers a name there";
	pf_buf_init(&b, c->arena, 1024);
	pf_buf_add(&b, any);
	pf_buf_add(&b, host);
	return pf_buf_done(&b, &all) == PF_OK ? (*out = all, NULL) :
	    "does not fit into memory";
}
