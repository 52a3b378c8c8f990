/*
 * poppyctl customer: all that is kept about one, shown or forgotten.
 */
#include <stdio.h>
#include <string.h>

#include "tools/poppyctl/agents.h"
#include "tools/poppyctl/table.h"

static const struct pf_stmt EXPORT = {
	"customer_export",
	"SELECT jsonb_pretty(poppy_api.customer_export($1))"
};
static const struct pf_stmt ERASE = {
	"customer_erase",
	"SELECT grants, sessions, logins, requests, audits"
	" FROM poppy_api.customer_erase($1)"
};
static const struct ctl_col cols[] = {
	{ "grants",	"grants",		CTL_NUMBER },
	{ "sessions",	"Sessions",		CTL_NUMBER },
	{ "logins",	"login sessions",	CTL_NUMBER },
	{ "requests",	"requests",		CTL_NUMBER },
	{ "audits",	"audit rows",		CTL_NUMBER },
};

/* By login, or by the shop's id for one that the shop has no more. */
static int
find_account(struct ctl *c, struct pf_db *db, struct pf_str *account)
{
	if (c->account == NULL)
		return ctl_account_of(c, db, c->operand[0], account);
	*account = pf_str(c->account);
	return CTL_OK;
}

static int
export(struct ctl *c, struct pf_db *db)
{
	struct pf_str account, text;
	struct pf_row r;
	int status;

	if ((status = find_account(c, db, &account)) != CTL_OK)
		return status;
	const struct pf_param v[] = { PF_TEXT(account) };
	if (pf_db_one(db, c->arena, &EXPORT, v, 1, &r) != PF_OK)
		return ctl_db_trouble(c, db);
	text = pf_row_str(&r, 0);
	(void)printf("%.*s\n", PF_STRF(text));
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

/* Nothing brings it back. */
static bool
is_sure(const struct ctl *c, struct pf_str account)
{
	char answer[16];

	if (c->yes)
		return true;
	(void)fprintf(stderr, "Forget all about account %.*s, and sign all its "
	    "agents out? [yes/no] ", PF_STRF(account));
	(void)fflush(stderr);
	return fgets(answer, sizeof(answer), stdin) != NULL &&
	    strcmp(answer, "yes\n") == 0;
}

static int
erase(struct ctl *c, struct pf_db *db)
{
	struct pf_str account;
	struct ctl_table t;
	struct pf_buf b;
	struct pf_jw w;
	int status;

	if ((status = find_account(c, db, &account)) != CTL_OK)
		return status;
	if (!is_sure(c, account))
		return ctl_fail(c, CTL_ABSENT, "nothing was erased");
	const struct pf_param v[] = { PF_TEXT(account) };
	if (ctl_query(db, c->arena, &ERASE, v, 1, cols, PF_COUNT(cols), &t,
	    NULL) != PF_OK)
		return ctl_db_trouble(c, db);
	if (c->json) {
		ctl_json_begin(c, &b, &w);
		ctl_members(&w, &t, 0);
		return ctl_json_end(c, &b, &w);
	}
	ctl_card(&t, 0);
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

static int
with_one(struct ctl *c, int (*does)(struct ctl *c, struct pf_db *db))
{
	if ((c->account != NULL) == (c->operand[0] != NULL))
		return ctl_fail(c, CTL_USAGE,
		    "this wants a customer's login or --account");
	return ctl_with_db(c, does);
}

int
ctl_customer_export(struct ctl *c)
{
	return with_one(c, export);
}

int
ctl_customer_erase(struct ctl *c)
{
	return with_one(c, erase);
}
