/*
 * What the files that describe the settings share; of core/poppy/settings*.c
 * alone.
 */
#ifndef PF_SETTINGS_IN_H
#define PF_SETTINGS_IN_H

#include "core/poppy/settings.h"

#define PF_AT(m)	offsetof(struct pf_settings, m)
#define PF_KEYS(k)	(k), PF_COUNT(k)
/* A table for the member m of struct pf_settings. */
#define PF_TABLE(m, k)	{ sizeof(((struct pf_settings *)0)->m), PF_KEYS(k) }

/* NULL if the text will do, else why not. */
const char *pf_check_https(struct pf_str s);
const char *pf_check_scope(struct pf_str s);
/* Of a rule. */
const char *pf_check_path(struct pf_str s);
const char *pf_check_query(struct pf_str s);
/* A name in the secrets folder, or "". */
const char *pf_check_file(struct pf_str s);

/* settings.c */
extern const struct pf_conf_table pf_rule_table;

/* settings_limits.c */
extern const struct pf_conf_table pf_limit_table;
extern const struct pf_conf_table pf_audit_table;

/* settings_signin.c */
extern const struct pf_conf_table pf_sign_in_table;
extern const struct pf_conf_table pf_account_token_table;
extern const struct pf_conf_table pf_device_table;
extern const struct pf_conf_table pf_login_table;
extern const struct pf_conf_table pf_mcp_table;
/* settings_pages.c */
extern const struct pf_conf_table pf_pages_table;

/* settings_mediated.c */
extern const struct pf_conf_table pf_codes_table;
extern const struct pf_conf_table pf_mediated_table;
PF_MUST enum pf_rc pf_settings_mediated(const char *file,
    struct pf_settings *s, struct pf_conf_fault *fault);

/* settings_browser.c; before anything points to a host. */
extern const struct pf_conf_table pf_browser_table;
extern const struct pf_conf_table pf_site_table;
PF_MUST enum pf_rc pf_settings_browser(const char *file, struct pf_arena *a,
    struct pf_settings *s, struct pf_conf_fault *fault);

/* What must hold between the settings of sign-in. */
PF_MUST enum pf_rc pf_settings_sign_in(const char *file, struct pf_settings *s,
    struct pf_conf_fault *fault);

#endif
