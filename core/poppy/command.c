#include "config.h"

#include "core/poppy/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"

#define LOOK_MS		10

/* A file in memory: the program may read it at its pace, or not at all, and
 * nobody blocks or gets SIGPIPE. */
static int
hold(struct pf_str input)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd == -1)
		return -1;
	while (input.n > 0) {
		ssize_t put = write(fd, input.p, input.n);

		if (put <= 0) {
			(void)close(fd);
			return -1;
		}
		input = pf_str_from(input, (size_t)put);
	}
	if (lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

static bool
set_files(posix_spawn_file_actions_t *files, int input)
{
	return posix_spawn_file_actions_adddup2(files, input, 0) == 0 &&
	    posix_spawn_file_actions_addopen(files, 1, "/dev/null", O_WRONLY,
	    0) == 0 && posix_spawn_file_actions_adddup2(files, 1, 2) == 0 &&
	    posix_spawn_file_actions_addclosefrom_np(files, 3) == 0;
}

/* Our threads block signals, and a program would inherit that. */
static bool
set_attributes(posix_spawnattr_t *a)
{
	sigset_t none, all;

	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	return posix_spawnattr_setflags(a, POSIX_SPAWN_SETPGROUP |
	    POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0 &&
	    posix_spawnattr_setpgroup(a, 0) == 0 &&
	    posix_spawnattr_setsigmask(a, &none) == 0 &&
	    posix_spawnattr_setsigdefault(a, &all) == 0;
}

static bool
start(char *const argv[], int input, pid_t *pid)
{
	static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	static char lang[] = "LANG=C.UTF-8";
	char *env[] = { path, lang, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	bool ok = false;

	if (posix_spawn_file_actions_init(&files) != 0)
		return false;
	if (posix_spawnattr_init(&attributes) == 0) {
		ok = set_files(&files, input) && set_attributes(&attributes) &&
		    posix_spawn(pid, argv[0], &files, &attributes, argv,
		    env) == 0;
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&files);
	return ok;
}

/* False if it had to be killed; what it has started goes along then. */
static bool
wait_for(pid_t pid, int timeout_ms, int *status)
{
	int64_t until = pf_mono_ms() + timeout_ms;

	while (waitpid(pid, status, WNOHANG) == 0) {
		if (pf_mono_ms() >= until) {
			(void)kill(-pid, SIGKILL);
			(void)waitpid(pid, status, 0);
			return false;
		}
		(void)poll(NULL, 0, LOOK_MS);
	}
	return true;
}

enum pf_rc
pf_command_run(char *const argv[], struct pf_str input, int timeout_ms,
    int *status, const char **why)
{
	int fd = hold(input), raw = 0;
	bool started;
	pid_t pid;

	*status = -1;
	*why = "no memory for its input";
	if (fd == -1)
		return PF_E_UPSTREAM;
	started = start(argv, fd, &pid);
	(void)close(fd);
	*why = "can't be started";
	if (!started)
		return PF_E_UPSTREAM;
	*why = "did not end in time";
	if (!wait_for(pid, timeout_ms, &raw))
		return PF_E_UPSTREAM;
	*why = "was ended by a signal";
	if (!WIFEXITED(raw))
		return PF_E_UPSTREAM;
	*why = "reported a failure";
	*status = WEXITSTATUS(raw);
	return *status == 0 ? PF_OK : PF_E_UPSTREAM;
}
