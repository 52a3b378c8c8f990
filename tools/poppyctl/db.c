/*
 * poppyctl db: install, migrate, status.
 */
#include <stdio.h>
#include <string.h>

#include "tools/poppyctl/plan.h"

#define TIMEOUT_MS	600000

struct work {
	struct ctl *c;
	struct pf_plan plan;
	struct pf_state state;
	struct pf_db *db;
	size_t applied;		/* migrations by this run */
	const char *now;	/* what is being applied, for a failure */
};

/*
 * The lock belongs to the connection and lasts until it is closed, so a second
 * run waits for the first and then finds all done. A table that a request
 * holds makes the migration fail in 5 s rather than everybody wait behind it.
 */
static const char PREPARE[] =
	"SET search_path = pg_catalog, pg_temp;"
	"SET client_min_messages = warning;"
	"SELECT pg_catalog.pg_advisory_lock(20480, 0);"
	"SET lock_timeout = '5s'";

static const struct pf_stmt RECORD = {
	"record",
	"INSERT INTO poppy.schema_migration AS m (number, name, sha256)"
	" VALUES ($1, $2, $3) ON CONFLICT (number) DO UPDATE"
	" SET name = excluded.name, sha256 = excluded.sha256,"
	" applied_at = clock_timestamp() WHERE m.number = 0"
	" RETURNING number"
};

static const char *const words[] = {
	[PF_ABSENT] = "absent",
	[PF_BEHIND] = "behind",
	[PF_CURRENT] = "current",
	[PF_WRONG] = "wrong",
};

static enum pf_rc
record(struct work *w, size_t number, struct pf_str name,
    const unsigned char *sha256)
{
	const struct pf_param v[] = {
		PF_INT4(number), PF_TEXT(name), PF_BYTES(sha256, PF_SHA256_LEN)
	};
	struct pf_row r;

	return pf_db_one(w->db, w->c->arena, &RECORD, v, PF_COUNT(v), &r);
}

static enum pf_rc
replace_functions(struct work *w)
{
	enum pf_rc rc;

	for (size_t i = 0; i < w->plan.nfunctions; i++) {
		w->now = w->plan.function[i].name.p;
		if ((rc = pf_db_script(w->db,
		    "SET LOCAL ROLE poppy_owner")) != PF_OK ||
		    (rc = pf_db_script(w->db, w->plan.function[i].text.p)) !=
		    PF_OK)
			return rc;
	}
	return record(w, 0, PF_LIT("functions"), w->plan.functions_sha256);
}

static enum pf_rc
migrate_one(struct work *w, size_t i)
{
	const struct pf_script *m = &w->plan.migrate[i];
	enum pf_rc rc;

	w->now = m->name.p;
	if ((rc = pf_db_script(w->db, m->text.p)) != PF_OK ||
	    (rc = pf_db_script(w->db, "SET LOCAL ROLE poppy_owner")) != PF_OK)
		return rc;
	return record(w, i + 1, m->name, m->sha256);
}

/*
 * One transaction: a migration, and the functions where it is the last, so that
 * nobody ever sees a schema version without its functions.
 */
static enum pf_rc
step(struct work *w, size_t i)
{
	enum pf_rc rc;

	if ((rc = pf_db_script(w->db, "BEGIN")) != PF_OK)
		return rc;
	if (i < w->plan.nmigrate && (rc = migrate_one(w, i)) != PF_OK)
		return rc;
	if (i + 1 >= w->plan.nmigrate && (rc = replace_functions(w)) != PF_OK)
		return rc;
	if ((rc = pf_db_script(w->db, "COMMIT")) == PF_OK &&
	    i < w->plan.nmigrate)
		w->applied++;
	return rc;
}

static enum pf_rc
apply(struct work *w)
{
	enum pf_rc rc;

	w->now = "roles.sql";
	if ((rc = pf_db_script(w->db, w->plan.roles.p)) != PF_OK)
		return rc;
	for (size_t i = w->state.applied; i < w->plan.nmigrate; i++)
		if ((rc = step(w, i)) != PF_OK)
			return rc;
	if (w->applied > 0)
		return PF_OK;
	return step(w, w->plan.nmigrate);
}

static int
tell(const struct work *w)
{
	const struct pf_state *s = &w->state;
	struct pf_buf b;
	struct pf_jw j;

	if (!w->c->json) {
		(void)printf("schema: %s, version %zu of %zu%s\n",
		    words[s->standing], s->applied, w->plan.nmigrate,
		    s->standing == PF_BEHIND && !s->functions ?
		    ", functions of another release" : "");
		return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
	}
	pf_buf_init(&b, w->c->arena, 4096);
	j = pf_jw(&b);
	pf_jw_open(&j, NULL, '{');
	pf_jw_strz(&j, "schema", words[s->standing]);
	pf_jw_int(&j, "version", (int64_t)s->applied);
	pf_jw_int(&j, "files", (int64_t)w->plan.nmigrate);
	pf_jw_bool(&j, "functions", s->functions);
	pf_jw_int(&j, "applied", (int64_t)w->applied);
	pf_jw_close(&j, '}');
	(void)printf("%.*s\n", PF_STRF(pf_buf_str(&b)));
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

static enum pf_rc
compare(struct work *w)
{
	return pf_plan_compare(w->db, w->c->arena, &w->plan, &w->state);
}

/* install and migrate differ in whether nothing may be there. */
static int
change(struct work *w, bool may_be_absent)
{
	const struct ctl *c = w->c;

	if (pf_db_script(w->db, PREPARE) != PF_OK || compare(w) != PF_OK)
		return ctl_fail(c, CTL_WRONG, "%s", pf_db_trouble(w->db));
	if (w->state.standing == PF_WRONG)
		return ctl_fail(c, CTL_WRONG, "%s", w->state.why);
	if (w->state.standing == PF_ABSENT && !may_be_absent)
		return ctl_fail(c, CTL_BEHIND,
		    "nothing is installed yet: run poppyctl db install");
	if (apply(w) != PF_OK)
		return ctl_fail(c, CTL_WRONG, "%s: %s", w->now,
		    pf_db_trouble(w->db));
	if (compare(w) != PF_OK)
		return ctl_fail(c, CTL_WRONG, "%s", pf_db_trouble(w->db));
	return tell(w);
}

static int
install(struct work *w)
{
	return change(w, true);
}

static int
migrate(struct work *w)
{
	return change(w, false);
}

static int
status(struct work *w)
{
	if (compare(w) != PF_OK)
		return ctl_fail(w->c, CTL_WRONG, "%s", pf_db_trouble(w->db));
	if (w->state.standing == PF_WRONG)
		return ctl_fail(w->c, CTL_WRONG, "%s", w->state.why);
	if (tell(w) != CTL_OK)
		return CTL_WRONG;
	return w->state.standing == PF_CURRENT ? CTL_OK : CTL_BEHIND;
}

/* Owns the connection; run() may return anywhere. */
static int
with_db(struct ctl *c, int (*run)(struct work *))
{
	const struct pf_db_opts opts = {
		.conninfo = c->conninfo,
		.timeout_ms = TIMEOUT_MS,
		.quiet = true,
	};
	struct work w = { .c = c };
	char why[1200];
	int status_;

	if (pf_plan_read(c->arena, c->sql, &w.plan, why, sizeof(why)) != PF_OK)
		return ctl_fail(c, CTL_WRONG, "%s", why);
	if (pf_db_new(&opts, &w.db) != PF_OK)
		return ctl_fail(c, CTL_WRONG, "no memory");
	status_ = run(&w);
	pf_db_free(w.db);
	return status_;
}

int
ctl_db_install(struct ctl *c)
{
	return with_db(c, install);
}

int
ctl_db_migrate(struct ctl *c)
{
	return with_db(c, migrate);
}

int
ctl_db_status(struct ctl *c)
{
	return with_db(c, status);
}
