/* The runtime with a real PostgreSQL, and while it is away. */
#include "config.h"

#include "tests/unit/pg.h"
#include "tests/unit/serve_child.h"

static bool
status_becomes(const char *uri, int want, int ms)
{
	int64_t until = fc_ms() + ms;

	while (fc_get_status(child_path, uri, 5000) != want) {
		if (fc_ms() > until)
			return false;
		fc_sleep(50);
	}
	return true;
}

static void
notified(void)
{
	int fd[10], good = 0;
	struct fc_reply r;
	int64_t began;

	tap_ok(child_stat_becomes("lost", 1, 5000),
	    "told once that it listens from now on");
	for (int i = 0; i < 10; i++)
		fd[i] = fc_ask_later(child_path, i % 2 ? "/wait" : "/rerun");
	tap_ok(child_stat_becomes("waiting", 5, 3000) &&
	    child_stat_becomes("parked", 5, 3000), "ten wait");
	began = fc_ms();
	pg_sql("NOTIFY runtime, 'nothing'; NOTIFY runtime, 'wake'");
	for (int i = 0; i < 10; i++) {
		fc_read(fd[i], &r, 3000);
		good += fc_status(&r) == 200;
		fc_reply_free(&r);
		close(fd[i]);
	}
	tap_is(good, 10, "a NOTIFY wakes them");
	tap_ok(fc_ms() - began < 1000, "in %d ms", (int)(fc_ms() - began));
	tap_ok(child_stat_becomes("heard", 2, 3000), "both were heard");
}

static void
away_and_back(void)
{
	tap_is(child_get_number("/db"), 42, "a worker asks the database");
	tap_need(pg_cluster("stop", "immediate") == 0, "stop PostgreSQL");
	tap_is(fc_get_status(child_path, "/db", 5000), 503, "503 while away");
	tap_is(fc_get_status(child_path, "/hello", 5000), 200,
	    "what needs no database goes on");
	tap_need(pg_cluster("start", "") == 0, "start PostgreSQL again");
	tap_ok(status_becomes("/db", 200, 10000), "and is served again");
	tap_ok(child_stat_becomes("lost", 2, 10000),
	    "told that notifications may be lost");
	pg_sql("NOTIFY runtime, 'again'");
	tap_ok(child_stat_becomes("heard", 3, 5000), "and hears again");
}

int
main(void)
{
	pid_t pid;

	pg_start();
	child_setup();
	child_opts.db = (struct pf_db_opts){ .conninfo = pg.conninfo,
	    .prepare = true, .timeout_ms = 3000 };
	child_opts.notify_conninfo = pg.conninfo;
	child_opts.notify_channel = "runtime";
	pid = child_begin();
	notified();
	away_and_back();
	tap_is(child_end(pid), 0, "orderly end");
	/* Started while there is no database. */
	tap_need(pg_cluster("stop", "immediate") == 0, "stop PostgreSQL");
	pid = child_begin();
	tap_is(fc_get_status(child_path, "/db", 5000), 503, "503 at first");
	tap_need(pg_cluster("start", "") == 0, "start PostgreSQL again");
	tap_ok(status_becomes("/db", 200, 10000), "then served");
	tap_is(child_end(pid), 0, "orderly end");
	return child_teardown();
}
