/*
 * poppyctl agents: which agents are known, and what the operator says of them.
 */
#include "tools/poppyctl/agents.h"

#include <stdio.h>

#include "tools/poppyctl/table.h"

#define STANDING "CASE WHEN c.status = 'blocked' THEN 'blocked'" \
	" WHEN c.allowed THEN 'allowed' ELSE 'known' END"
#define COPY "CASE WHEN c.fresh_until > poppy.now_at() THEN 'fresh'" \
	" WHEN c.jwks IS NULL THEN 'none'" \
	" WHEN c.stale_until > poppy.now_at() THEN 'stale' ELSE 'over' END"

static const struct ctl_col rule_cols[] = {
	{ "pattern",	"RULE FOR",	CTL_TEXT },
	{ "verdict",	"VERDICT",	CTL_TEXT },
	{ "set_at",	"SET",		CTL_TIME },
};
static const struct pf_stmt RULES = {
	"rules",
	"SELECT r.pattern, r.verdict, r.set_at FROM poppy.client_rule r"
	" ORDER BY r.pattern LIMIT $1"
};

static const struct ctl_col agent_cols[] = {
	{ "client_id",	"CLIENT_ID",	CTL_TEXT },
	{ "standing",	"STANDING",	CTL_TEXT },
	{ "name",	"CALLS ITSELF",	CTL_TEXT },
	{ "copy",	"COPY",		CTL_TEXT },
	{ "fetched_at",	"FETCHED",	CTL_TIME },
	{ "first_at",	"FIRST SEEN",	CTL_TIME },
};
static const struct pf_stmt AGENTS = {
	"agents",
	"SELECT c.client_id, " STANDING ", c.name, " COPY ", c.fetched_at,"
	" c.first_at FROM poppy.client c ORDER BY c.client_no DESC LIMIT $1"
};

static const struct ctl_col card_cols[] = {
	{ "client_id",	"client_id",	CTL_TEXT },
	{ "standing",	"standing",	CTL_TEXT },
	{ "rule",	"by the rule",	CTL_TEXT },
	{ "name",	"calls itself",	CTL_TEXT },
	{ "logo_uri",	"logo",		CTL_TEXT },
	{ "first_at",	"first seen",	CTL_TIME },
	{ "copy",	"copy",		CTL_TEXT },
	{ "version",	"version",	CTL_NUMBER },
	{ "fetched_at",	"fetched",	CTL_TIME },
	{ "fresh_until", "fresh until",	CTL_TIME },
	{ "stale_until", "stale until",	CTL_TIME },
	{ "failure",	"last failure",	CTL_TEXT },
	{ "failed_until", "tried again", CTL_TIME },
	{ "sessions",	"live Sessions", CTL_NUMBER },
	{ "used_at",	"last used",	CTL_TIME },
};
/* One row for a client_id that is known, that failed, or that a rule names. */
static const struct pf_stmt CARD = {
	"card",
	"SELECT i.id, CASE WHEN c.client_no IS NOT NULL THEN " STANDING
	" ELSE CASE poppy.client_verdict(i.id) WHEN 'block' THEN 'blocked'"
	" WHEN 'allow' THEN 'allowed' ELSE 'unknown' END END, poppy.client_rule_of(i.id), c.name,"
	" c.logo_uri, c.first_at, CASE WHEN c.client_no IS NULL THEN 'none'"
	" ELSE " COPY " END, c.version, c.fetched_at, c.fresh_until,"
	" c.stale_until, coalesce(c.failure, f.failure),"
	" coalesce(c.failed_until, f.failed_until),"
	" (SELECT count(*) FROM poppy.session s WHERE s.client_no = c.client_no"
	" AND s.ended_at IS NULL AND s.ends_at > poppy.now_at()),"
	" (SELECT max(s.used_at) FROM poppy.session s"
	" WHERE s.client_no = c.client_no)"
	" FROM (VALUES ($1)) i (id)"
	" LEFT JOIN poppy.client c ON c.client_id = i.id"
	" LEFT JOIN poppy.client_failure f ON f.client_id = i.id"
	" WHERE c.client_no IS NOT NULL OR f.client_id IS NOT NULL"
	" OR poppy.client_verdict(i.id) IS NOT NULL"
};

static const struct pf_stmt RULE_SET = {
	"rule_set",
	"SELECT s.was, s.changed FROM poppy.client_rule_set($1, $2) s"
};
static const struct pf_stmt UNBLOCK = {
	"unblock",
	"SELECT s.was, s.changed FROM poppy.client_rule r,"
	" poppy.client_rule_set(r.pattern, NULL) s"
	" WHERE r.pattern = $1 AND r.verdict = 'block'"
};
static const struct pf_stmt RULE_OF = {
	"rule_of", "SELECT poppy.client_rule_of($1)"
};
static const struct pf_stmt FORGET = {
	"forget", "SELECT s.was, s.changed FROM poppy.client_forget($1) s"
};

static int
list(struct ctl *c, struct pf_db *db)
{
	const struct pf_param v[] = { PF_INT8(c->limit) };
	struct ctl_table rules, agents;
	struct pf_buf b;
	struct pf_jw w;

	if (ctl_query(db, c->arena, &RULES, v, 1, rule_cols,
	    PF_COUNT(rule_cols), &rules, NULL) != PF_OK ||
	    ctl_query(db, c->arena, &AGENTS, v, 1, agent_cols,
	    PF_COUNT(agent_cols), &agents, NULL) != PF_OK)
		return ctl_db_trouble(c, db);
	if (c->json) {
		ctl_json_begin(c, &b, &w);
		ctl_list_of(&w, "rules", &rules);
		ctl_list_of(&w, "agents", &agents);
		return ctl_json_end(c, &b, &w);
	}
	ctl_columns(&rules, "rules");
	(void)putchar('\n');
	ctl_columns(&agents, "agents known");
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

static int
show(struct ctl *c, struct pf_db *db)
{
	const struct pf_param v[] = { PF_TEXT(pf_str(c->operand[0])) };
	struct ctl_table t;
	struct pf_buf b;
	struct pf_jw w;

	if (ctl_query(db, c->arena, &CARD, v, 1, card_cols,
	    PF_COUNT(card_cols), &t, NULL) != PF_OK)
		return ctl_db_trouble(c, db);
	if (t.nrows == 0)
		return ctl_fail(c, CTL_ABSENT, "%s: nobody has heard of it",
		    c->operand[0]);
	if (c->json) {
		ctl_json_begin(c, &b, &w);
		ctl_members(&w, &t, 0);
		return ctl_json_end(c, &b, &w);
	}
	ctl_card(&t, 0);
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

static int
tell(struct ctl *c, struct pf_str pattern, const char *did, int64_t changed)
{
	struct pf_buf b;
	struct pf_jw w;

	if (c->json) {
		ctl_json_begin(c, &b, &w);
		pf_jw_str(&w, "pattern", pattern);
		pf_jw_strz(&w, "did", did);
		pf_jw_int(&w, "changed", changed);
		return ctl_json_end(c, &b, &w);
	}
	(void)printf("%.*s: %s, known agents it changed: %lld\n",
	    PF_STRF(pattern), did, (long long)changed);
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

static int
set_rule(struct ctl *c, struct pf_db *db, const char *verdict, const char *did)
{
	struct pf_str pattern;
	struct pf_row r;
	const char *why;

	why = ctl_pattern(c, pf_str(c->operand[0]), verdict[0] == 'a', &pattern);
	if (why != NULL)
		return ctl_fail(c, CTL_USAGE, "%s %s", c->operand[0], why);
	const struct pf_param v[] = {
		PF_TEXT(pattern), PF_TEXT(pf_str(verdict))
	};
	if (pf_db_one(db, c->arena, &RULE_SET, v, 2, &r) != PF_OK)
		return ctl_db_trouble(c, db);
	return tell(c, pattern, did, pf_row_int(&r, 1));
}

static int
allow(struct ctl *c, struct pf_db *db)
{
	return set_rule(c, db, "allow", "allowed");
}

static int
block(struct ctl *c, struct pf_db *db)
{
	return set_rule(c, db, "block", "blocked");
}

/* There is no such rule: say which one there is, if any. */
static int
not_blocked(struct ctl *c, struct pf_db *db, struct pf_str pattern)
{
	const struct pf_param v[] = { PF_TEXT(pattern) };
	struct pf_str other;
	struct pf_row r;

	if (pf_db_one(db, c->arena, &RULE_OF, v, 1, &r) != PF_OK)
		return ctl_db_trouble(c, db);
	other = pf_row_str(&r, 0);
	if (other.n == 0 || pf_str_eq(other, pattern))
		return ctl_fail(c, CTL_ABSENT, "%.*s: no rule blocks it",
		    PF_STRF(pattern));
	return ctl_fail(c, CTL_ABSENT, "%.*s: no rule of its own blocks it; "
	    "the one for %.*s decides", PF_STRF(pattern), PF_STRF(other));
}

static int
unblock(struct ctl *c, struct pf_db *db)
{
	const struct pf_rows *rows;
	struct pf_str pattern;
	struct pf_row r;
	const char *why;
	size_t n;

	why = ctl_pattern(c, pf_str(c->operand[0]), false, &pattern);
	if (why != NULL)
		return ctl_fail(c, CTL_USAGE, "%s %s", c->operand[0], why);
	const struct pf_param v[] = { PF_TEXT(pattern) };
	if (pf_db_many(db, c->arena, &UNBLOCK, v, 1, &rows, &n) != PF_OK)
		return ctl_db_trouble(c, db);
	if (n == 0)
		return not_blocked(c, db, pattern);
	r = pf_rows_at(rows, 0);
	return tell(c, pattern, "unblocked", pf_row_int(&r, 1));
}

static int
forget(struct ctl *c, struct pf_db *db)
{
	struct pf_str pattern;
	struct pf_row r;
	const char *why;

	why = ctl_pattern(c, pf_str(c->operand[0]), false, &pattern);
	if (why != NULL)
		return ctl_fail(c, CTL_USAGE, "%s %s", c->operand[0], why);
	const struct pf_param v[] = { PF_TEXT(pattern) };
	if (pf_db_one(db, c->arena, &FORGET, v, 1, &r) != PF_OK)
		return ctl_db_trouble(c, db);
	if (pf_row_null(&r, 0) && pf_row_int(&r, 1) == 0)
		return ctl_fail(c, CTL_ABSENT, "%.*s: neither a rule nor an "
		    "agent that is known", PF_STRF(pattern));
	return tell(c, pattern, "forgotten", pf_row_int(&r, 1));
}

int
ctl_agents_list(struct ctl *c)
{
	return ctl_with_db(c, list);
}

int
ctl_agents_show(struct ctl *c)
{
	return ctl_with_db(c, show);
}

int
ctl_agents_allow(struct ctl *c)
{
	return ctl_with_db(c, allow);
}

int
ctl_agents_block(struct ctl *c)
{
	return ctl_with_db(c, block);
}

int
ctl_agents_unblock(struct ctl *c)
{
	return ctl_with_db(c, unblock);
}

int
ctl_agents_forget(struct ctl *c)
{
	return ctl_with_db(c, forget);
}
