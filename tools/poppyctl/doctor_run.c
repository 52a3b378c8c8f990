/*
 * poppy-agent as a child: its folder, its user, its lines, its end.
 */
#include "config.h"

#include <errno.h>
#include <ftw.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/poppyctl/doctor.h"

/* It speaks with the network and needs no right of root's. */
static const char user[] = "poppy_auth";

static volatile sig_atomic_t child;

static void
end_child(int sig)
{
	if (child > 0)
		(void)kill((pid_t)child, sig);
}

static const struct passwd *
other_user(void)
{
	return getuid() == 0 ? getpwnam(user) : NULL;
}

const char *
doctor_folder(struct pf_arena *a)
{
	const struct passwd *pw = other_user();
	const char *where = getenv("TMPDIR");
	struct pf_buf b;
	char *name;

	pf_buf_init(&b, a, 1024);
	pf_buf_addz(&b, where != NULL && where[0] == '/' ? where : "/tmp");
	pf_buf_addz(&b, "/poppy-doctor-XXXXXX");
	name = pf_arena_z(a, pf_buf_str(&b));
	if (b.failed || name == NULL || mkdtemp(name) == NULL)
		return NULL;
	if (pw != NULL && chown(name, pw->pw_uid, pw->pw_gid) == -1) {
		(void)rmdir(name);
		return NULL;
	}
	return name;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

void
doctor_folder_remove(const char *folder)
{
	(void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void
be_child(const char *const argv[], int out)
{
	const struct passwd *pw = other_user();

	if (dup2(out, STDOUT_FILENO) == -1)
		_exit(127);
	if (pw != NULL && (initgroups(pw->pw_name, pw->pw_gid) == -1 ||
	    setgid(pw->pw_gid) == -1 || setuid(pw->pw_uid) == -1))
		_exit(127);
	/* POSIX: execv() leaves the words as they are. */
	(void)execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

static void
read_lines(int fd, void (*on_line)(void *ctx, struct pf_str line), void *ctx)
{
	FILE *in = fdopen(fd, "r");
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	if (in == NULL) {
		(void)close(fd);
		return;
	}
	while ((n = getline(&line, &size, in)) != -1 ||
	    (ferror(in) && errno == EINTR)) {
		if (n <= 0) {
			clearerr(in);
			continue;
		}
		if (line[n - 1] == '\n')
			n--;
		on_line(ctx, pf_bytes(line, (size_t)n));
	}
	free(line);
	(void)fclose(in);
}

static int
wait_for(pid_t pid, const char **why)
{
	int status;

	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR) {
			*why = "is lost";
			return -1;
		}
	if (WIFSIGNALED(status)) {
		*why = "was ended by a signal";
		return -1;
	}
	if (WEXITSTATUS(status) == 127) {
		*why = "can't be run";
		return -1;
	}
	return WEXITSTATUS(status);
}

static void
catch_signals(void (*handler)(int))
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };

	(void)sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < PF_COUNT(signals); i++)
		(void)sigaction(signals[i], &sa, NULL);
	/* A reader that goes away does not end us either. */
	(void)signal(SIGPIPE, SIG_IGN);
}

int
doctor_run(const char *const argv[],
    void (*on_line)(void *ctx, struct pf_str line), void *ctx,
    const char **why)
{
	int fd[2];
	pid_t pid;

	*why = "can't be started";
	if (fflush(stdout) != 0 || pipe(fd) == -1)
		return -1;
	if ((pid = fork()) == 0) {
		(void)close(fd[0]);
		be_child(argv, fd[1]);
	}
	(void)close(fd[1]);
	if (pid == -1) {
		(void)close(fd[0]);
		return -1;
	}
	child = pid;
	catch_signals(end_child);
	read_lines(fd[0], on_line, ctx);
	child = 0;
	return wait_for(pid, why);
}
