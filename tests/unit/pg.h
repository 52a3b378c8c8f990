/*
 * pg - a private PostgreSQL for one test program, by tests/pg-cluster.
 *
 * It is stopped and removed at exit, however the program ends but by a signal.
 */
#ifndef PF_TEST_PG_H
#define PF_TEST_PG_H

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/store/db.h"
#include "tests/unit/tap.h"

static struct {
	pid_t owner;
	char dir[64];
	char conninfo[256];	/* of the superuser */
	char other[256];	/* nobody listens there */
} pg;

static inline int
pg_cluster(const char *verb, const char *more)
{
	const char *top = getenv("top_srcdir");
	char cmd[512];

	(void)snprintf(cmd, sizeof(cmd), "'%s/tests/pg-cluster' %s '%s' %s "
	    ">/dev/null", top == NULL ? "." : top, verb, pg.dir, more);
	return system(cmd);
}

static inline void
pg_remove(void)
{
	char cmd[128];

	if (getpid() != pg.owner)
		return;
	(void)!pg_cluster("stop", "immediate");
	(void)snprintf(cmd, sizeof(cmd), "rm -rf '%s'", pg.dir);
	(void)!system(cmd);
}

static inline void
pg_start(void)
{
	(void)snprintf(pg.dir, sizeof(pg.dir), "/tmp/pf-pg-XXXXXX");
	tap_need(mkdtemp(pg.dir) != NULL, "no temporary folder");
	pg.owner = getpid();
	(void)atexit(pg_remove);
	tap_need(pg_cluster("start", "") == 0, "PostgreSQL does not start");
	(void)snprintf(pg.conninfo, sizeof(pg.conninfo),
	    "host=%s port=5432 user=postgres dbname=postgres", pg.dir);
	(void)snprintf(pg.other, sizeof(pg.other),
	    "host=%s port=5433 user=postgres dbname=postgres", pg.dir);
}

/* Run a script on a connection of its own; it must succeed. */
static inline void
pg_sql(const char *text)
{
	struct pf_db_opts o = {
		.conninfo = pg.conninfo, .timeout_ms = 10000, .quiet = true
	};
	struct pf_db *db;
	enum pf_rc rc;

	tap_need(pf_db_new(&o, &db) == PF_OK, "no memory");
	if ((rc = pf_db_script(db, text)) != PF_OK)
		tap_diag("%s", pf_db_trouble(db));
	pf_db_free(db);
	tap_need(rc == PF_OK, text);
}

#endif
