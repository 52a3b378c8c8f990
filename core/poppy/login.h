/*
 * login - a customer's login session on our pages, and the tokens of its forms.
 *
 * It is not the shop's: a secret of its own in a __Host- cookie, that ends with
 * the browser or after the setting login.idle_seconds. Before somebody has
 * logged in the secret is anonymous and the database knows nothing of it; who
 * logs in gets a new one.
 */
#ifndef PF_LOGIN_H
#define PF_LOGIN_H

#include "core/poppy/limit.h"

#define PF_LOGIN_COOKIE	"__Host-poppy-login"
#define PF_LOGIN_NAME	320	/* bytes of a login name, as of an address */

struct pf_login {
	bool known;			/* the browser has a secret */
	struct pf_tokenhash hash;	/* of it */
	bool in;			/* and has logged in as: */
	struct pf_str account, name, locale;
	/* Not in, because the account may not be used any more; else NOSTR. */
	struct pf_str status;
};

/* Whose browser this is. PF_OK also for nobody's. */
PF_MUST enum pf_rc pf_login_load(struct pf_req *rq, struct pf_login *out);
/* Give it an anonymous secret if it has none. */
PF_MUST enum pf_rc pf_login_ensure(struct pf_req *rq, struct pf_login *l);

/* The token of a form, for one thing (id; "" for all) and this secret. */
PF_MUST enum pf_rc pf_login_csrf(struct pf_req *rq, const struct pf_login *l,
    const char *form, struct pf_str id, struct pf_str *out);
/*
 * Did the form that was sent come from a page of ours, to this browser? Origin
 * must be ours where it is given, and the token right. PF_E_FORBID if not.
 */
PF_MUST enum pf_rc pf_login_sent(struct pf_req *rq, const struct pf_login *l,
    const char *form, struct pf_str id, struct pf_str token);

/* A login name as it was typed, without blanks around it and in lower case, both
 * of which keyboards add by themselves. "" if it is longer than any may be:
 * nobody's. */
PF_MUST enum pf_rc pf_login_name(struct pf_req *rq, struct pf_str typed,
    struct pf_str *out);
/* What the limits count a login name by: a keyed hash. */
PF_MUST enum pf_rc pf_login_key(struct pf_req *rq, struct pf_str name,
    unsigned char key[PF_LIMIT_KEY]);
/*
 * It has been proved to be this account: the secret of before is over, the
 * browser gets a new one. name_key gives back what the limits have counted;
 * NULL if they haven't. PF_E_FORBID with l->status: the account may not be
 * used.
 */
PF_MUST enum pf_rc pf_login_start(struct pf_req *rq, struct pf_login *l,
    struct pf_str account, const unsigned char *name_key);
PF_MUST enum pf_rc pf_login_end(struct pf_req *rq, struct pf_login *l);

#endif
