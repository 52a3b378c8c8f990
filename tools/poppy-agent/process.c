#include "config.h"

#include "tools/poppy-agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"

#define STEP_MS		20
#define KILL_MS		5000
#define OPEN_MAX_RM	16

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

static volatile sig_atomic_t stopped;
static sigset_t before;
static struct sigaction old[PF_COUNT(ending)];

static void
on_signal(int n)
{
	(void)n;
	stopped = 1;
}

void
ag_process_begin(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < PF_COUNT(ending); i++) {
		(void)sigaddset(&set, ending[i]);
		(void)sigaction(ending[i], &sa, &old[i]);
	}
	/* Signals come inside ppoll() only, so none is missed. */
	(void)sigprocmask(SIG_BLOCK, &set, &before);
	/* What a child of ours leaves behind becomes ours, to be ended. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
}

void
ag_process_end(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 0L, 0L, 0L, 0L);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	for (size_t i = 0; i < PF_COUNT(ending); i++)
		(void)sigaction(ending[i], &old[i], NULL);
}

bool
ag_process_stopped(void)
{
	return stopped != 0;
}

int
ag_process_poll(int fd, int64_t until_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct timespec t;
	int64_t left;
	int n;

	while (!stopped && (left = until_ms - pf_mono_ms()) > 0) {
		t.tv_sec = left / 1000;
		t.tv_nsec = left % 1000 * 1000000;
		n = ppoll(&p, 1, &t, &before);
		if (n > 0)
			return 1;
		if (n < 0 && errno != EINTR)
			return 0;
	}
	return 0;
}

/* Only what may be done between fork() and exec(). */
static void
become(const struct ag_process *p, pid_t parent)
{
	int null = open("/dev/null", O_RDWR), fd3 = -1, fd4 = -1;

	(void)setpgid(0, 0);
	/* Whatever becomes of the agent, this ends with it. */
	if (prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L) != 0 ||
	    getppid() != parent || null < 0)
		_exit(127);
	/* Out of the way first: one may stand where the other goes. */
	if (p->fd3 >= 0)
		fd3 = fcntl(p->fd3, F_DUPFD, 10);
	if (p->fd4 >= 0)
		fd4 = fcntl(p->fd4, F_DUPFD, 10);
	for (int i = 0; i < 3; i++)
		(void)dup2(null, i);
	if ((fd3 >= 0 && dup2(fd3, 3) != 3) || (fd4 >= 0 && dup2(fd4, 4) != 4))
		_exit(127);
	(void)close_range(fd3 >= 0 ? 5 : 3, ~0U, 0);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	for (size_t i = 0; i < PF_COUNT(ending); i++)
		(void)signal(ending[i], SIG_DFL);
	(void)signal(SIGPIPE, SIG_DFL);
}

pid_t
ag_process_start(const struct ag_process *p)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0) {
		if (pid > 0)
			(void)setpgid(pid, pid);
		return pid;
	}
	become(p, parent);
	/* Where a browser looks for its user's certificates. */
	(void)unsetenv("XDG_DATA_HOME");
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)setenv("HOME", p->home, 1);
	(void)setenv("TMPDIR", p->home, 1);
	execvp(p->argv[0], (char **)(uintptr_t)p->argv);
	_exit(127);
}

bool
ag_process_run(const struct ag_process *p)
{
	pid_t pid = ag_process_start(p);
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Every child that we have got, by inheritance too. */
static void
kill_children(void)
{
	char name[64];
	FILE *f;
	int pid;

	snprintf(name, sizeof(name), "/proc/self/task/%d/children",
	    (int)getpid());
	if ((f = fopen(name, "re")) == NULL)
		return;
	while (fscanf(f, "%d", &pid) == 1)
		(void)kill(pid, SIGKILL);
	fclose(f);
}

/* False once there is no child any more. */
static bool
collect(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0;
}

void
ag_process_reap(pid_t pid, int patience_ms)
{
	const struct timespec step = { 0, STEP_MS * 1000000 };
	int64_t start_ms = pf_mono_ms(), passed = 0;

	while (collect() && passed < patience_ms + KILL_MS) {
		if (passed >= patience_ms || stopped) {
			(void)kill(-pid, SIGKILL);
			kill_children();
		}
		(void)nanosleep(&step, NULL);
		passed = pf_mono_ms() - start_ms;
	}
}

bool
ag_folder_make(char *buf, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(buf, size, "%s/poppy-agent.XXXXXX",
	    tmp != NULL && tmp[0] == '/' ? tmp : "/tmp");

	return n > 0 && (size_t)n < size && mkdtemp(buf) != NULL;
}

static int
remove_one(const char *name, const struct stat *st, int what, struct FTW *at)
{
	(void)st;
	(void)what;
	(void)at;
	(void)remove(name);
	return 0;
}

void
ag_folder_remove(const char *name)
{
	(void)nftw(name, remove_one, OPEN_MAX_RM, FTW_DEPTH | FTW_PHYS);
}
