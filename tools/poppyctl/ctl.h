/*
 * ctl - what the commands of poppyctl share.
 */
#ifndef PF_CTL_H
#define PF_CTL_H

#include "core/base/json.h"
#include "core/poppy/settings.h"

/* Exit statuses; for db status they say how the database stands, for check
 * whether there were warnings (1) or faults (2). */
enum {
	CTL_OK = 0,
	CTL_BEHIND = 1,
	CTL_ABSENT = 1,
	CTL_WRONG = 2,
	CTL_USAGE = 64
};

struct ctl {
	const char *conf;	/* -c */
	const char *sql;	/* --sql: where roles.sql, migrate/, ... are */
	const char *conninfo;	/* --conninfo, or that of poppy.conf */
	const char *ca;		/* --ca, or NULL: the system's authorities */
	const char *client;	/* --client, or NULL */
	const char *kind;	/* --kind, or NULL */
	const char *login;	/* --login, or NULL */
	const char *account;	/* --account, or NULL */
	bool yes;		/* --yes */
	int64_t limit;		/* --limit: most rows of a list */
	const char *agent;	/* --agent: the program poppy-agent */
	bool all;		/* --all */
	bool json;		/* --json */
	bool tap;		/* --tap */
	char **operand;		/* of the command; NULL behind the last */
	struct pf_arena *arena;
	struct pf_settings set;	/* of poppy.conf, where a command wants it */
};

/* One command returns its exit status and has said what it did. */
int ctl_db_install(struct ctl *c);
int ctl_db_migrate(struct ctl *c);
int ctl_db_status(struct ctl *c);
int ctl_secrets_init(struct ctl *c);
int ctl_secrets_rotate(struct ctl *c);
int ctl_check(struct ctl *c);
int ctl_agents_list(struct ctl *c);
int ctl_agents_show(struct ctl *c);
int ctl_agents_allow(struct ctl *c);
int ctl_agents_block(struct ctl *c);
int ctl_agents_unblock(struct ctl *c);
int ctl_agents_forget(struct ctl *c);
int ctl_audit(struct ctl *c);
int ctl_sessions_list(struct ctl *c);
int ctl_sessions_end(struct ctl *c);
int ctl_grants_list(struct ctl *c);
int ctl_grants_revoke(struct ctl *c);
int ctl_customer_export(struct ctl *c);
int ctl_customer_erase(struct ctl *c);
int ctl_settings(struct ctl *c);
int ctl_doctor(struct ctl *c);

/* Say why it failed (JSON: {"error": ...} on standard output, so that a script
 * reads one stream) and return status. */
int ctl_fail(const struct ctl *c, int status, const char *fmt, ...)
    PF_PRINTF(3, 4);

/* A file whole, at most 1 MiB, NUL behind it. PF_E_ABSENT, PF_E_INPUT,
 * PF_E_MEM; errno says why. */
PF_MUST enum pf_rc ctl_read(struct pf_arena *a, const char *path,
    struct pf_str *out);
/* Names in a folder that end in ".sql", sorted bytewise. */
PF_MUST enum pf_rc ctl_list(struct pf_arena *a, const char *folder,
    struct pf_strs *out);

#endif
