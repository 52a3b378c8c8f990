/*
 * The settings of limits, and of the record of refusals.
 */
#include "core/poppy/settings_in.h"

static const char *
check_addresses(struct pf_str s)
{
	return pf_str_eqz(s, "plain") || pf_str_eqz(s, "hashed") ? NULL :
	    "must be \"plain\" or \"hashed\"";
}

#define LI(m)	(PF_AT(limits.m) - PF_AT(limits))
#define PER_MAX	10000000
static const struct pf_conf_key limit_keys[] = {
	{ "token_per_address", PF_CONF_INT, LI(token_per_address), 0, PER_MAX,
	    "120", "Token requests of an address in a minute, over all workers;"
	    " as many revocations, and joins of browsers.", NULL, NULL },
	{ "token_per_client", PF_CONF_INT, LI(token_per_client), 0, PER_MAX,
	    "0", "The same for a client_id; 0 is no limit.", NULL, NULL },
	{ "refused_per_address", PF_CONF_INT, LI(refused_per_address), 0,
	    PER_MAX, "120", "Refused requests of an address in a minute, for "
	    "each process; then it is answered 429.", NULL, NULL },
	{ "open_per_address", PF_CONF_INT, LI(open_per_address), 0, PER_MAX,
	    "1200", "Requests of an address in a minute for what anybody may "
	    "ask, for each process.", NULL, NULL },
	{ "calls_per_session", PF_CONF_INT, LI(calls_per_session), 0, PER_MAX,
	    "600", "Guarded calls of a Session in a minute, for each process.",
	    NULL, NULL },
	{ "calls_per_client", PF_CONF_INT, LI(calls_per_client), 0, PER_MAX,
	    "0", "The same for all Sessions of a client_id.", NULL, NULL },
};
const struct pf_conf_table pf_limit_table = {
	sizeof(((struct pf_settings *)0)->limits), PF_KEYS(limit_keys)
};

static const struct pf_conf_key audit_keys[] = {
	{ "addresses", PF_CONF_STR, PF_AT(audit.addresses) - PF_AT(audit),
	    1, 10, "\"plain\"", "How the audit shows addresses: plain or hashed.",
	    check_addresses, NULL },
	{ "days", PF_CONF_INT, PF_AT(audit.days) - PF_AT(audit), 1, 3650, "180",
	    "How long a row of the audit is kept.", NULL, NULL },
};
const struct pf_conf_table pf_audit_table = {
	sizeof(((struct pf_settings *)0)->audit), PF_KEYS(audit_keys)
};
