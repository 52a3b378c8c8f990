#include "tools/poppyctl/agents.h"

#include "core/poppy/app.h"

#define TIMEOUT_MS	60000

static const struct pf_stmt INSTALLED = {
	"installed",
	"SELECT coalesce((SELECT max(m.number) FROM poppy.schema_migration m),"
	" 0)"
};
static const struct pf_stmt PRESENT = {
	"present", "SELECT to_regclass('poppy.schema_migration') IS NOT NULL"
};

int
ctl_db_trouble(const struct ctl *c, const struct pf_db *db)
{
	return ctl_fail(c, CTL_WRONG, "%s", pf_db_trouble(db));
}

/* Tables only grow, so a newer schema will do, too. */
static int
check_schema(struct ctl *c, struct pf_db *db)
{
	struct pf_row r;
	int64_t version = 0;

	if (pf_db_script(db, "SET search_path = pg_catalog, pg_temp") != PF_OK ||
	    pf_db_one(db, c->arena, &PRESENT, NULL, 0, &r) != PF_OK)
		return ctl_db_trouble(c, db);
	if (pf_row_bool(&r, 0)) {
		if (pf_db_one(db, c->arena, &INSTALLED, NULL, 0, &r) != PF_OK)
			return ctl_db_trouble(c, db);
		version = pf_row_int(&r, 0);
	}
	if (version >= PF_SCHEMA_MIN)
		return CTL_OK;
	return ctl_fail(c, CTL_WRONG, "the database has schema version %lld, "
	    "not %d or later: see poppyctl db status", (long long)version,
	    PF_SCHEMA_MIN);
}

int
ctl_with_db(struct ctl *c, int (*run)(struct ctl *c, struct pf_db *db))
{
	const struct pf_db_opts opts = {
		.conninfo = c->conninfo,
		.timeout_ms = TIMEOUT_MS,
		.quiet = true,
	};
	struct pf_db *db;
	int status;

	if (pf_db_new(&opts, &db) != PF_OK)
		return ctl_fail(c, CTL_WRONG, "no memory");
	status = check_schema(c, db);
	if (status == CTL_OK)
		status = run(c, db);
	pf_db_free(db);
	return status;
}
