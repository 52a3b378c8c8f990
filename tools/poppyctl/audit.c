/*
 * poppyctl audit: what was refused, limited, revoked, changed.
 */
#include <stdio.h>

#include "tools/poppyctl/agents.h"
#include "tools/poppyctl/table.h"

static const struct ctl_col cols[] = {
	{ "at",		"WHEN",		CTL_TIME },
	{ "kind",	"KIND",		CTL_TEXT },
	{ "n",		"TIMES",	CTL_NUMBER },
	{ "client_id",	"CLIENT_ID",	CTL_TEXT },
	{ "user",	"USER",		CTL_BYTES },
	{ "address",	"ADDRESS",	CTL_TEXT },
	{ "login",	"BY",		CTL_TEXT },
	{ "detail",	"DETAIL",	CTL_TEXT },
};
static const struct pf_stmt AUDIT = {
	"audit",
	"SELECT a.at, a.kind, a.n, a.client_id, substr(a.user_key, 1, 8),"
	" a.address, a.login, a.detail FROM poppy.audit a"
	" WHERE ($1::text IS NULL OR a.client_id = $1)"
	" AND ($2::text IS NULL OR a.kind = $2)"
	" ORDER BY a.audit_no DESC LIMIT $3"
};

static int
audit(struct ctl *c, struct pf_db *db)
{
	const struct pf_param v[] = {
		PF_TEXT(pf_str(c->client)), PF_TEXT(pf_str(c->kind)),
		PF_INT8(c->limit)
	};
	struct ctl_table t;
	struct pf_buf b;
	struct pf_jw w;

	if (ctl_query(db, c->arena, &AUDIT, v, PF_COUNT(v), cols,
	    PF_COUNT(cols), &t, NULL) != PF_OK)
		return ctl_db_trouble(c, db);
	if (c->json) {
		ctl_json_begin(c, &b, &w);
		ctl_list_of(&w, "audit", &t);
		return ctl_json_end(c, &b, &w);
	}
	ctl_columns(&t, "rows of the audit");
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

int
ctl_audit(struct ctl *c)
{
	return ctl_with_db(c, audit);
}
