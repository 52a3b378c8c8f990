/*
 * plan - what the files under sql/ say that a database should be, and how one
 * database stands to it.
 */
#ifndef PF_PLAN_H
#define PF_PLAN_H

#include "core/jose/crypt.h"
#include "core/store/db.h"
#include "tools/poppyctl/ctl.h"

struct pf_script {
	struct pf_str name;	/* "0001-start", "functions/token.sql" */
	struct pf_str text;
	unsigned char sha256[PF_SHA256_LEN];
};

struct pf_plan {
	struct pf_str roles;
	struct pf_script *migrate;	/* [i] has number i + 1 */
	size_t nmigrate;
	struct pf_script *function;
	size_t nfunctions;
	unsigned char functions_sha256[PF_SHA256_LEN];
};

enum pf_standing {
	PF_ABSENT,	/* no schema of ours: install */
	PF_BEHIND,	/* migrations or functions are missing: migrate */
	PF_CURRENT,
	PF_WRONG	/* neither more nor less: somebody must look */
};

struct pf_state {
	enum pf_standing standing;
	size_t applied;		/* migrations, from the first on */
	bool functions;		/* they are those of the files */
	char why[300];		/* of PF_WRONG */
};

/* Read the files. Not PF_OK: why says which is wrong and how. */
PF_MUST enum pf_rc pf_plan_read(struct pf_arena *a, const char *folder,
    struct pf_plan *out, char *why, size_t size);
/* Compare. Not PF_OK: the database could not be asked, see pf_db_trouble(). */
PF_MUST enum pf_rc pf_plan_compare(struct pf_db *db, struct pf_arena *a,
    const struct pf_plan *plan, struct pf_state *out);

#endif
