#include "core/poppy/domain.h"

#include <libpsl.h>
#include <string.h>

#include "core/web/url.h"

#define HOST_MAX	255

/* As libpsl wants it: lower case, NUL behind. */
static bool
lower(struct pf_str host, char z[HOST_MAX + 1])
{
	if (host.n > HOST_MAX)
		return false;
	for (size_t i = 0; i < host.n; i++)
		z[i] = pf_lower(host.p[i]);
	z[host.n] = '\0';
	return true;
}

enum pf_rc
pf_domain_of(struct pf_arena *a, struct pf_str host, struct pf_str *out)
{
	char z[HOST_MAX + 1];
	const char *domain = NULL;

	if (!lower(host, z)) {
		*out = host;
		return PF_OK;
	}
	/* libpsl takes an IP address for a name. */
	if (!pf_host_is_ip(host))
		domain = psl_registrable_domain(psl_builtin(), z);
	*out = pf_arena_copy(a, pf_str(domain != NULL ? domain : z));
	return pf_str_given(*out) ? PF_OK : PF_E_MEM;
}

bool
pf_domain_is_suffix(struct pf_str host)
{
	char z[HOST_MAX + 1];

	return lower(host, z) && !pf_host_is_ip(host) &&
	    psl_is_public_suffix(psl_builtin(), z) != 0;
}
