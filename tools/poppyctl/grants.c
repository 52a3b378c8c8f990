/*
 * poppyctl grants: what customers let agents do, and its end.
 */
#include <stdio.h>

#include "tools/poppyctl/agents.h"
#include "tools/poppyctl/table.h"

static const struct ctl_col cols[] = {
	{ "grant",	"NO",		CTL_NUMBER },
	{ "state",	"STATE",	CTL_TEXT },
	{ "client_id",	"CLIENT_ID",	CTL_TEXT },
	{ "account",	"ACCOUNT",	CTL_TEXT },
	{ "login",	"LOGIN",	CTL_TEXT },
	{ "kind",	"BY",		CTL_TEXT },
	{ "scopes",	"SCOPES",	CTL_TEXT },
	{ "resource",	"RESOURCE",	CTL_TEXT },
	{ "created_at",	"SINCE",	CTL_TIME },
	{ "used_at",	"LAST USED",	CTL_TIME },
	{ "expires_at",	"ENDS",		CTL_TIME },
};
static const struct pf_stmt LIST = {
	"grants",
	"SELECT grant_no, state, client_id, account, login, kind, scopes,"
	" resource, created_at, used_at, expires_at"
	" FROM poppy.grants_list($1, $2, $3, $4)"
};
static const struct pf_stmt REVOKE = {
	"grant_revoke", "SELECT poppy.grant_revoke($1)"
};
/* Customers are the shop's, and two of them may share a login there. */
static const struct pf_stmt ACCOUNT = {
	"account", "SELECT (poppy.customer_find(lower($1))).id"
};

int
ctl_account_of(struct ctl *c, struct pf_db *db, const char *login,
    struct pf_str *account)
{
	const struct pf_param v[] = { PF_TEXT(pf_str(login)) };
	struct pf_row r;

	if (pf_db_one(db, c->arena, &ACCOUNT, v, 1, &r) != PF_OK)
		return ctl_db_trouble(c, db);
	*account = pf_row_str(&r, 0);
	if (!pf_str_given(*account))
		return ctl_fail(c, CTL_ABSENT,
		    "%s: no such customer, or more than one", login);
	return CTL_OK;
}

static int
list(struct ctl *c, struct pf_db *db)
{
	struct pf_str account = PF_NOSTR;
	struct ctl_table t;
	struct pf_buf b;
	struct pf_jw w;
	int status;

	if ((status = ctl_client_known(c, db)) != CTL_OK || (c->login != NULL &&
	    (status = ctl_account_of(c, db, c->login, &account)) != CTL_OK))
		return status;
	const struct pf_param v[] = {
		PF_TEXT(account), PF_TEXT(pf_str(c->client)), PF_BOOL(c->all),
		PF_INT4(c->limit)
	};
	if (ctl_query(db, c->arena, &LIST, v, PF_COUNT(v), cols, PF_COUNT(cols),
	    &t, NULL) != PF_OK)
		return ctl_db_trouble(c, db);
	if (c->json) {
		ctl_json_begin(c, &b, &w);
		ctl_list_of(&w, "grants", &t);
		return ctl_json_end(c, &b, &w);
	}
	ctl_columns(&t, "grants");
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

static int
revoke(struct ctl *c, struct pf_db *db)
{
	struct pf_row r;
	struct pf_buf b;
	struct pf_jw w;
	int64_t no;

	if (pf_str_int(pf_str(c->operand[0]), 1, INT64_MAX, &no) != PF_OK)
		return ctl_fail(c, CTL_USAGE, "%s is no number of a grant",
		    c->operand[0]);
	const struct pf_param v[] = { PF_INT8(no) };
	if (pf_db_one(db, c->arena, &REVOKE, v, 1, &r) != PF_OK)
		return ctl_db_trouble(c, db);
	if (!pf_row_bool(&r, 0))
		return ctl_fail(c, CTL_ABSENT, "%lld: no live grant",
		    (long long)no);
	if (c->json) {
		ctl_json_begin(c, &b, &w);
		pf_jw_int(&w, "revoked", no);
		return ctl_json_end(c, &b, &w);
	}
	(void)printf("grant %lld: revoked\n", (long long)no);
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

int
ctl_grants_list(struct ctl *c)
{
	return ctl_with_db(c, list);
}

int
ctl_grants_revoke(struct ctl *c)
{
	return ctl_with_db(c, revoke);
}
