/*
 * agents - what commands about agents and their Sessions share.
 */
#ifndef PF_CTL_AGENTS_H
#define PF_CTL_AGENTS_H

#include "core/store/db.h"
#include "tools/poppyctl/ctl.h"

/* Why text is no pattern of a rule, a constant; NULL: it is one, and *out is
 * what the database knows it by. */
const char *ctl_pattern(struct ctl *c, struct pf_str text, bool allow,
    struct pf_str *out);

/* Run a command on a connection to a database that has our schema. */
int ctl_with_db(struct ctl *c, int (*run)(struct ctl *c, struct pf_db *db));
/* 'sessions list --client' and its like: CTL_OK if there is such a client, or
 * none was named. A misspelt client_id must not look like one without rows. */
int ctl_client_known(struct ctl *c, struct pf_db *db);
/* The shop's id of the account with this login, in the arena; 'no such customer'
 * and CTL_ABSENT if there is none, or more than one. */
int ctl_account_of(struct ctl *c, struct pf_db *db, const char *login,
    struct pf_str *account);
/* Say what the database said. */
int ctl_db_trouble(const struct ctl *c, const struct pf_db *db);

#endif
