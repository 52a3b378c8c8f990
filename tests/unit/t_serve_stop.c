/* Sockets at the start, signals, and the end. */
#include "config.h"

#include <sys/stat.h>

#include "tests/unit/serve_child.h"

static void
idle_end(int sig)
{
	pid_t pid = child_begin();
	int64_t began;

	tap_is(fc_get_status(child_path, "/hello", 3000), 200, "it serves");
	fc_sleep(50);
	began = fc_ms();
	kill(pid, sig);
	tap_is(child_wait_end(pid, 5000), 0, "signal %d ends it", sig);
	tap_ok(fc_ms() - began < 1000, "in %d ms", (int)(fc_ms() - began));
	tap_ok(access(child_path, F_OK) < 0, "its socket file is gone");
}

static void
busy_end(void)
{
	pid_t pid = child_begin();
	int run = fc_ask_later(child_path, "/sleep?500");
	int quiet = fc_connect(child_path), big;
	int64_t began = fc_ms();
	struct fc_reply r;

	big = fc_ask_later(child_path, "/big?3145728");
	fc_sleep(100);
	kill(pid, SIGTERM);
	fc_sleep(100);
	tap_ok(fc_connect(child_path) < 0, "no new connection after SIGTERM");
	fc_read(run, &r, 3000);
	tap_is(fc_status(&r), 200, "a running request is finished");
	fc_reply_free(&r);
	fc_read(big, &r, 3000);
	tap_is((long long)fc_body(&r).n, 3145728, "a long reply too");
	fc_reply_free(&r);
	tap_is(child_wait_end(pid, 5000), 0, "then it ends");
	tap_ok(fc_ms() - began < 3000, "and waits for no silent connection");
	close(run);
	close(quiet);
	close(big);
}

static void
stop_from_within(void)
{
	pid_t pid = child_begin();

	tap_is(fc_get_status(child_path, "/stop", 3000), 200, "told to stop");
	tap_is(child_wait_end(pid, 2000), 0, "it does");
}

static void
reload(void)
{
	pid_t pid = child_begin();

	kill(pid, SIGHUP);
	tap_ok(child_stat_becomes("reloads", 1, 3000), "SIGHUP reloads");
	kill(pid, SIGPIPE);
	kill(pid, SIGUSR1);
	tap_is(fc_get_status(child_path, "/hello", 3000), 200,
	    "SIGPIPE and SIGUSR1 do nothing");
	tap_is(child_end(pid), 0, "orderly end");
}

static int
listening(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	unlink(path);
	tap_need(bind(fd, (struct sockaddr *)&un, sizeof(un)) == 0 &&
	    listen(fd, 64) == 0, "a socket to inherit");
	return fd;
}

static bool
serves(const char *path)
{
	bool good = false;

	for (int i = 0; i < 200 && !good; i++) {
		good = fc_get_status(path, "/hello", 1000) == 200;
		fc_sleep(5);
	}
	return good;
}

/* Start a child whose descriptors are arranged by hand. */
static pid_t
child_with(int fd0, int fd3, int fd4)
{
	char pid[32];
	pid_t p;

	fflush(stdout);
	if ((p = fork()) != 0)
		return p;
	if (fd0 >= 0)
		dup2(fd0, 0);
	if (fd3 >= 0) {
		/* Out of the way first: they may be each other's number. */
		fd3 = fcntl(fd3, F_DUPFD, 20);
		fd4 = fcntl(fd4, F_DUPFD, 20);
		dup2(fd3, 3);
		dup2(fd4, 4);
		(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
		setenv("LISTEN_PID", pid, 1);
		setenv("LISTEN_FDS", "2", 1);
	}
	child_main();
	return 0;
}

static void
inherited(void)
{
	char other[128], third[128];
	int a = listening(child_path), b, c;
	pid_t pid;

	(void)snprintf(other, sizeof(other), "%s/other", child_dir);
	(void)snprintf(third, sizeof(third), "%s/third", child_dir);
	b = listening(other);
	c = listening(third);
	pid = child_with(a, -1, -1);
	tap_ok(serves(child_path), "descriptor 0 is taken");
	tap_is(child_end(pid), 0, "orderly end");
	tap_ok(access(child_path, F_OK) == 0, "the file isn't ours to remove");
	pid = child_with(a, -1, -1);
	tap_ok(serves(child_path), "a next process on the same socket");
	tap_is(child_end(pid), 0, "orderly end");
	pid = child_with(-1, b, c);
	tap_ok(serves(other) && serves(third), "both of LISTEN_FDS are served");
	tap_is(child_end(pid), 0, "orderly end");
	pid = child_with(a, b, c);
	tap_ok(serves(child_path) && serves(other) && serves(third),
	    "descriptor 0 and LISTEN_FDS together");
	tap_is(child_end(pid), 0, "orderly end");
	close(a);
	close(b);
	close(c);
	unlink(other);
	unlink(third);
}

static void
socket_files(void)
{
	struct stat st;
	pid_t pid, second;
	int fd;

	fd = listening(child_path);
	close(fd);
	pid = child_begin();
	tap_ok(serves(child_path), "a stale socket file is replaced");
	tap_ok(stat(child_path, &st) == 0 && (st.st_mode & 0777) == 0660,
	    "with mode 0660");
	second = child_start_quiet();
	tap_is(child_wait_end(second, 3000), 10 + PF_E_INPUT,
	    "a live one is an error");
	tap_ok(serves(child_path), "and goes on");
	kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	unlink(child_path);
	close(open(child_path, O_CREAT | O_WRONLY, 0600));
	pid = child_start_quiet();
	tap_is(child_wait_end(pid, 3000), 10 + PF_E_INPUT,
	    "a plain file is an error");
	tap_ok(stat(child_path, &st) == 0 && S_ISREG(st.st_mode),
	    "and is still there");
	unlink(child_path);
}

static void
bad_addresses(void)
{
	static const char *const bad[] = {
		"0.0.0.0:39001", "[::]:39001", "192.0.2.1:39001",
		"localhost:39001", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0",
		"127.0.0.1:65536", "127.0.0.1:9x", "[::1:39001", ":39001", "",
		"relative/path", "/nonexistent-directory/socket",
		"[::ffff:10.0.0.1]:39001",
		"/tmp/0123456789012345678901234567890123456789012345678901234"
		"5678901234567890123456789012345678901234567890123456789",
	};

	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		child_opts.listen = bad[i];
		tap_is(child_wait_end(child_start_quiet(), 3000),
		    10 + PF_E_INPUT, "refused: '%s'", bad[i]);
	}
	child_opts.listen = NULL;
	tap_is(child_wait_end(child_start_quiet(), 3000), 10 + PF_E_INPUT,
	    "refused: nothing inherited and nothing set");
	child_opts.listen = child_path;
}

int
main(void)
{
	int null = open("/dev/null", O_RDONLY);

	/* Whatever started this test, descriptor 0 must not be a socket. */
	dup2(null, 0);
	close(null);
	unsetenv("LISTEN_PID");
	child_setup();
	idle_end(SIGTERM);
	idle_end(SIGINT);
	busy_end();
	stop_from_within();
	reload();
	inherited();
	socket_files();
	bad_addresses();
	return child_teardown();
}
