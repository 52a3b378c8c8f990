/*
 * Through PgBouncer in transaction mode, one server connection for all: with
 * prepare off everything works, since no call leaves anything in a connection.
 */
#include "config.h"

#include <fcntl.h>
#include <pwd.h>

#include "tests/sql/sql.h"

static pid_t pooler;

static void
stop_pooler(void)
{
	if (pooler <= 0 || getpid() != pg.owner)
		return;
	(void)kill(pooler, SIGTERM);
	(void)waitpid(pooler, NULL, 0);
}

static const char *
find_pooler(void)
{
	static const char *const at[] = {
		"/usr/sbin/pgbouncer", "/usr/bin/pgbouncer",
		"/usr/local/bin/pgbouncer"
	};

	for (size_t i = 0; i < PF_COUNT(at); i++)
		if (access(at[i], X_OK) == 0)
			return at[i];
	return NULL;
}

static void
run_pooler(const char *path, const char *ini)
{
	int null = open("/dev/null", O_RDWR);
	const struct passwd *pw = getpwnam("postgres");

	/* Like PostgreSQL it refuses to run as root. */
	if (geteuid() == 0 && (pw == NULL || setgid(pw->pw_gid) != 0 ||
	    setuid(pw->pw_uid) != 0))
		_exit(1);
	(void)dup2(null, 1);
	(void)dup2(null, 2);
	(void)execl(path, path, ini, (char *)NULL);
	_exit(1);
}

static void
start_pooler(const char *path)
{
	char ini[100], sock[100], users[100];
	FILE *f;

	(void)snprintf(ini, sizeof(ini), "%s/pgbouncer.ini", pg.dir);
	(void)snprintf(sock, sizeof(sock), "%s/.s.PGSQL.6432", pg.dir);
	(void)snprintf(users, sizeof(users), "%s/users.txt", pg.dir);
	tap_need((f = fopen(users, "w")) != NULL, users);
	(void)fputs("\"poppy_auth\" \"\"\n", f);
	(void)fclose(f);
	tap_need((f = fopen(ini, "w")) != NULL, ini);
	(void)fprintf(f, "[pgbouncer]\nlisten_addr =\nlisten_port = 6432\n"
	    "unix_socket_dir = %s\nauth_type = trust\nauth_file = %s\n"
	    "pool_mode = transaction\ndefault_pool_size = 1\n"
	    "[databases]\n* = host=%s port=5432\n", pg.dir, users, pg.dir);
	(void)fclose(f);
	(void)atexit(stop_pooler);
	if ((pooler = fork()) == 0)
		run_pooler(path, ini);
	for (int i = 0; i < 50 && access(sock, F_OK) != 0; i++)
		(void)usleep(100000);
	tap_need(access(sock, F_OK) == 0, "pgbouncer does not start");
}

int
main(void)
{
	const char *path = find_pooler();
	struct pf_db_opts o = {
		.timeout_ms = 5000, .schema_min = PF_SCHEMA_MIN,
		.schema_max = PF_SCHEMA_MAX
	};
	struct sql_session s[2];
	struct sql_use u;
	struct pf_db *db[2], *guard;
	char text[300];
	int64_t client;

	if (path == NULL)
		tap_skip_all("pgbouncer is not installed");
	sql_start();
	client = sql_client("https://a.example/c");
	start_pooler(path);
	(void)snprintf(text, sizeof(text), "host=%s port=6432 dbname=postgres "
	    "user=poppy_auth", pg.dir);
	o.conninfo = text;
	for (int i = 0; i < 2; i++)
		tap_need(pf_db_new(&o, &db[i]) == PF_OK, "pf_db_new");
	for (int i = 0; i < 6; i++) {
		s[i % 2] = sql_session(client);
		(void)sql_is(sql_call(db[i % 2], &sql_arena, &s[i % 2]), "ok",
		    "a start by worker %d", i % 2);
		(void)sql_is(sql_call(db[1 - i % 2], &sql_arena, &s[i % 2]),
		    "replay", "again by the other");
	}
	guard = sql_open(sql_guard);
	u = sql_use(&s[0]);
	(void)sql_is(sql_ask(guard, &sql_arena, &u), "ok", "the token is real");
	tap_is(sql_number("SELECT count(*) FROM pg_stat_activity "
	    "WHERE usename = 'poppy_auth'"), 1, "over one connection");
	tap_is(sql_number("SELECT count(*) FROM pg_locks "
	    "WHERE locktype = 'advisory'"), 0, "no lock is left");
	for (int i = 0; i < 2; i++)
		pf_db_free(db[i]);
	pf_db_free(guard);
	pf_arena_free(&sql_arena);
	return tap_done();
}
