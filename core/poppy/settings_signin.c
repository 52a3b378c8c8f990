/*
 * The settings of sign-in (sections 4.4 to 4.9).
 */
#include "core/poppy/settings_in.h"

#include "core/poppy/scope.h"

#define YEAR		31536000

static const char *
check_custom(struct pf_str s)
{
	if (pf_str_starts(s, PF_LIT("poppy:")))
		return "must not begin with \"poppy:\", which is the "
		    "protocol's (section 4.4)";
	return pf_check_scope(s);
}

static const char *
check_by(struct pf_str s)
{
	return pf_str_eqz(s, "password") || pf_str_eqz(s, "shop") ? NULL :
	    "must be \"password\" or \"shop\"";
}

static const char *
check_shop_url(struct pf_str s)
{
	return s.n == 0 ? NULL : pf_check_https(s);
}

#define SCOPE(m)	offsetof(struct pf_custom_scope, m)
static const struct pf_conf_key custom_scope_keys[] = {
	{ "", PF_CONF_LINE, SCOPE(line), 0, 0, NULL, NULL, NULL, NULL },
	{ "name", PF_CONF_STR, SCOPE(name), 1, 128, NULL,
	    "As agents ask for it.", check_custom, NULL },
	{ "description", PF_CONF_STR, SCOPE(description), 1, 300, NULL,
	    "What it allows, for customers and agents.", NULL, NULL },
};
static const struct pf_conf_table custom_scope_table = {
	sizeof(struct pf_custom_scope), PF_KEYS(custom_scope_keys)
};

#define SI(m)	(PF_AT(sign_in.m) - PF_AT(sign_in))
static const struct pf_conf_key sign_in_keys[] = {
	{ "", PF_CONF_LINE, SI(line), 0, 0, NULL, NULL, NULL, NULL },
	{ "direct", PF_CONF_STRS, SI(direct), 0, 32, "[]",
	    "Scopes that Direct Sign-In can grant; none: it is off.",
	    pf_check_scope, NULL },
	{ "device", PF_CONF_STRS, SI(device), 0, 32, "[]",
	    "The same of Device Sign-In.", pf_check_scope, NULL },
	{ "mediated", PF_CONF_STRS, SI(mediated), 0, 32, "[]",
	    "The same of Mediated Sign-In.", pf_check_scope, NULL },
	{ "custom_scopes", PF_CONF_LIST, SI(custom_scopes), 0, 32, "[]",
	    "Scopes of the shop's own beside poppy:read and poppy:write.",
	    NULL, &custom_scope_table },
};
const struct pf_conf_table pf_sign_in_table = PF_TABLE(sign_in, sign_in_keys);

#define AC(m)	(PF_AT(account_tokens.m) - PF_AT(account_tokens))
static const struct pf_conf_key account_token_keys[] = {
	{ "seconds", PF_CONF_INT, AC(seconds), 60, 2 * (int64_t)YEAR,
	    "2592000", "Lifetime of an Account Token; use does not extend it.",
	    NULL, NULL },
	{ "rotate", PF_CONF_BOOL, AC(rotate), 0, 0, "false",
	    "Replace an Account Token each time it is used.", NULL, NULL },
	{ "grace_seconds", PF_CONF_INT, AC(grace_seconds), 0, 600, "60",
	    "How long a replaced one still gives its successor; used later, "
	    "it ends the sign-in.", NULL, NULL },
};
const struct pf_conf_table pf_account_token_table =
    PF_TABLE(account_tokens, account_token_keys);

#define DE(m)	(PF_AT(device.m) - PF_AT(device))
static const struct pf_conf_key device_keys[] = {
	{ "seconds", PF_CONF_INT, DE(seconds), 10, 3600, "600",
	    "How long a user code can be used.", NULL, NULL },
	{ "interval_seconds", PF_CONF_INT, DE(interval_seconds), 1, 60, "5",
	    "Least time between two polls.", NULL, NULL },
	{ "guesses", PF_CONF_INT, DE(guesses), 1, 1000, "30",
	    "Wrong user codes of an address, and of an account, in a quarter "
	    "of an hour.", NULL, NULL },
};
const struct pf_conf_table pf_device_table = PF_TABLE(device, device_keys);

#define LO(m)	(PF_AT(login.m) - PF_AT(login))
static const struct pf_conf_key login_keys[] = {
	{ "by", PF_CONF_STR, LO(by), 1, 10, "\"password\"",
	    "How customers log in: \"password\" on our page, \"shop\" on the "
	    "shop's own.", check_by, NULL },
	{ "by", PF_CONF_LINE, LO(by_line), 0, 0, NULL, NULL, NULL, NULL },
	{ "shop_url", PF_CONF_STR, LO(shop_url), 0, 1000, "\"\"",
	    "The shop's login page, for \"shop\".", check_shop_url, NULL },
	{ "idle_seconds", PF_CONF_INT, LO(idle_seconds), 60, 86400, "900",
	    "A login on our pages ends this long after its last use.", NULL,
	    NULL },
	{ "failures_per_login", PF_CONF_INT, LO(failures_per_login), 1, 1000,
	    "10", "Failed attempts at an account in a quarter of an hour.",
	    NULL, NULL },
	{ "failures_per_address", PF_CONF_INT, LO(failures_per_address), 1,
	    100000, "50", "The same from an address.", NULL, NULL },
	{ "threads", PF_CONF_INT, LO(threads), 1, 16, "2",
	    "Passwords that each process checks at once.", NULL, NULL },
	{ "salt_file", PF_CONF_STR, LO(salt_file), 0, 64, "\"\"",
	    "File in the secrets folder with the salt that a shop keeps beside "
	    "its database (PrestaShop's cookie key).", pf_check_file, NULL },
};
const struct pf_conf_table pf_login_table = PF_TABLE(login, login_keys);

static const struct pf_conf_key mcp_keys[] = {
	{ "public_clients", PF_CONF_BOOL, PF_AT(mcp.public_clients) -
	    PF_AT(mcp), 0, 0, "true", "MCP clients without keys of their own "
	    "(token_endpoint_auth_method none) may sign customers in.", NULL,
	    NULL },
};
const struct pf_conf_table pf_mcp_table = PF_TABLE(mcp, mcp_keys);

bool
pf_settings_custom_scope(const struct pf_settings *s, struct pf_str name,
    struct pf_str *description)
{
	const struct pf_custom_scope *c = s->sign_in.custom_scopes.v;

	for (size_t i = 0; i < s->sign_in.custom_scopes.n; i++)
		if (pf_str_eq(c[i].name, name)) {
			*description = c[i].description;
			return true;
		}
	return false;
}

static bool
defined(const struct pf_settings *s, struct pf_str scope)
{
	struct pf_str description;

	return pf_str_eqz(scope, "poppy:read") ||
	    pf_str_eqz(scope, "poppy:write") ||
	    pf_settings_custom_scope(s, scope, &description);
}

/* Every scope that a type grants is one that agents can look up, and stands
 * there once. */
static enum pf_rc
check_type(const char *file, const struct pf_settings *s,
    struct pf_conf_fault *fault, const char *key, const struct pf_strs *type)
{
	for (size_t i = 0; i < type->n; i++) {
		if (!defined(s, type->v[i]))
			return pf_conf_refuse(fault, file, s->sign_in.line,
			    key, "%.*s is neither poppy:read nor poppy:write "
			    "nor among custom_scopes", PF_STRF(type->v[i]));
		for (size_t k = 0; k < i; k++)
			if (pf_str_eq(type->v[k], type->v[i]))
				return pf_conf_refuse(fault, file,
				    s->sign_in.line, key,
				    "%.*s stands there twice",
				    PF_STRF(type->v[i]));
	}
	return PF_OK;
}

static enum pf_rc
check_custom_scopes(const char *file, const struct pf_settings *s,
    struct pf_conf_fault *fault)
{
	const struct pf_custom_scope *c = s->sign_in.custom_scopes.v;

	for (size_t i = 0; i < s->sign_in.custom_scopes.n; i++)
		for (size_t k = 0; k < i; k++)
			if (pf_str_eq(c[k].name, c[i].name))
				return pf_conf_refuse(fault, file, c[i].line,
				    "sign_in.custom_scopes.name",
				    "stands there twice");
	return PF_OK;
}

enum pf_rc
pf_settings_sign_in(const char *file, struct pf_settings *s,
    struct pf_conf_fault *fault)
{
	const struct { const char *key; const struct pf_strs *type; } types[] = {
		{ "sign_in.direct", &s->sign_in.direct },
		{ "sign_in.device", &s->sign_in.device },
		{ "sign_in.mediated", &s->sign_in.mediated },
	};
	enum pf_rc rc;

	if ((rc = check_custom_scopes(file, s, fault)) != PF_OK)
		return rc;
	for (size_t i = 0; i < PF_COUNT(types); i++) {
		if (types[i].type->n != 0 && s->issuer.n == 0)
			return pf_conf_refuse(fault, file, s->sign_in.line,
			    types[i].key, "needs an issuer");
		rc = check_type(file, s, fault, types[i].key, types[i].type);
		if (rc != PF_OK)
			return rc;
	}
	s->login.by_shop = pf_str_eqz(s->login.by, "shop");
	if (s->login.by_shop && s->login.shop_url.n == 0)
		return pf_conf_refuse(fault, file, s->login.by_line, "login.by",
		    "\"shop\" needs shop_url, the shop's login page");
	return PF_OK;
}
