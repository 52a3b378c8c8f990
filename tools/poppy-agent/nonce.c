#include "config.h"

#include "tools/poppy-agent/nonce.h"

#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/documents.h"
#include "tools/poppy-agent/http.h"

#define NONCE_MAX	1024
#define NONCES_MAX	64

static struct pf_str
server(struct agent *ag, enum ag_nonce_role role, struct pf_str url)
{
	struct pf_str origin;
	struct pf_buf b;

	if (ag_origin(&ag->arena, url, &origin) != PF_OK)
		return PF_NOSTR;
	pf_buf_init(&b, &ag->arena, 2200);
	pf_buf_addz(&b, role == AG_NONCE_TOKEN ? "token " : "api ");
	pf_buf_add(&b, origin);
	return pf_buf_str(&b);
}

struct pf_str
ag_nonce_for(struct agent *ag, enum ag_nonce_role role, struct pf_str url)
{
	return ag_state_nonce(ag, server(ag, role, url));
}

/* NQCHAR of RFC 6749, appendix A (RFC 9449, 8.1). */
static bool
is_nonce(struct pf_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == '"' ||
		    s.p[i] == '\\')
			return false;
	return s.n > 0 && s.n <= NONCE_MAX;
}

static enum pf_rc
keep(struct agent *ag, void *arg)
{
	struct ag_nonce *fresh = arg, **n = &ag->st.nonces;
	size_t count = 0;

	while (*n != NULL)
		if (pf_str_eq((*n)->server, fresh->server) ||
		    ++count >= NONCES_MAX)
			*n = (*n)->next;
		else
			n = &(*n)->next;
	fresh->next = ag->st.nonces;
	ag->st.nonces = fresh;
	return PF_OK;
}

enum pf_rc
ag_nonce_keep(struct agent *ag, enum ag_nonce_role role, struct pf_str url,
    const struct ag_reply *rp)
{
	struct pf_str nonce = ag_reply_field(rp, "dpop-nonce", 0);
	struct ag_nonce *n;

	if (!pf_str_given(nonce))
		return PF_OK;
	if (pf_str_given(ag_reply_field(rp, "dpop-nonce", 1)) ||
	    !is_nonce(nonce))
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "RFC 9449, 8.1",
		    "more than one DPoP-Nonce, or one that is no nonce");
	if (pf_str_eq(ag_nonce_for(ag, role, url), nonce))
		return PF_OK;
	if ((n = pf_arena_alloc(&ag->arena, sizeof(*n))) == NULL)
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no memory");
	n->server = server(ag, role, url);
	n->nonce = nonce;
	return ag_state_change(ag, keep, n);
}
