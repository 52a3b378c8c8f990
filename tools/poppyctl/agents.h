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
/* Say what the database said. */
int ctl_db_trouble(const struct ctl *c, const struct pf_db *db);

#endif
