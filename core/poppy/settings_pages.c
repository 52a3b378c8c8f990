/*
 * The settings of the pages that customers see.
 */
#include "core/poppy/settings_in.h"

/* A page or picture of the shop: a path, or an https URL. */
static const char *
check_place(struct pf_str s)
{
	if (s.n == 0 || (s.p[0] == '/' && (s.n == 1 ||
	    (s.p[1] != '/' && s.p[1] != '\\'))))
		return NULL;
	return pf_check_https(s) == NULL ? NULL :
	    "must be an https URL, or a path that begins with '/'";
}

static const char *
check_folder(struct pf_str s)
{
	return s.n == 0 || s.p[0] == '/' ? NULL : "must begin with '/'";
}

#define PG(m)	(PF_AT(pages.m) - PF_AT(pages))
static const struct pf_conf_key keys[] = {
	{ "folder", PF_CONF_STR, PG(folder), 0, 1000, "\"\"",
	    "Templates, style sheet and languages that win over the built-in "
	    "ones.", check_folder, NULL },
	{ "shop_name", PF_CONF_STR, PG(shop_name), 0, 200, "\"\"",
	    "The shop's name on its pages; \"\" is organization.name.", NULL,
	    NULL },
	{ "logo", PF_CONF_STR, PG(logo), 0, 1000, "\"\"",
	    "Its logo: a path, or an https URL.", check_place, NULL },
	{ "home_url", PF_CONF_STR, PG(home_url), 0, 1000, "\"/\"",
	    "Where its name leads.", check_place, NULL },
	{ "account_url", PF_CONF_STR, PG(account_url), 0, 1000, "\"\"",
	    "The customer's account in the shop, where the page of connected "
	    "agents leads back.", check_place, NULL },
};
const struct pf_conf_table pf_pages_table = PF_TABLE(pages, keys);
