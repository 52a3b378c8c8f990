/* Programs of the operator's: what they see, and how they may end. */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/poppy/command.h"
#include "tests/unit/tap.h"

static char out[] = "/tmp/t_command.XXXXXX";

/* Run a line of sh whose first argument is a file for it. */
static enum pf_rc
sh(const char *line, struct pf_str input, int ms, int *status,
    const char **why)
{
	static char path[] = "/bin/sh", c[] = "-c", name[] = "sh";
	char copy[512];
	char *argv[] = { path, c, copy, name, out, NULL };

	(void)snprintf(copy, sizeof(copy), "%s", line);
	return pf_command_run(argv, input, ms, status, why);
}

static const char *
result(const char *line, struct pf_str input)
{
	static char text[65536];
	const char *why = "";
	int status;
	FILE *f;
	size_t n = 0;

	if (sh(line, input, 5000, &status, &why) != PF_OK)
		return why;
	if ((f = fopen(out, "r")) != NULL) {
		n = fread(text, 1, sizeof(text) - 1, f);
		(void)fclose(f);
	}
	text[n] = '\0';
	return text;
}

static void
ends(const char *line, int ms, int want_status, const char *want)
{
	const char *why = "";
	int status;
	int64_t began = pf_mono_ms();

	tap_is(sh(line, PF_LIT("x"), ms, &status, &why), PF_E_UPSTREAM, "%s",
	    line);
	tap_ok(strcmp(why, want) == 0, "%s: %s", line, why);
	tap_is(status, want_status, "its status");
	tap_ok(pf_mono_ms() - began < 5000, "in time");
}

static bool
is(const char *got, const char *want)
{
	if (strcmp(got, want) == 0)
		return true;
	tap_diag("got %s", got);
	return false;
}

static void
sees(void)
{
	static char big[300000];
	sigset_t all;
	int fd = open("/dev/null", O_RDONLY);

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	(void)setenv("SECRET", "s", 1);
	tap_ok(is(result("cat >$1", PF_LIT("a\0b")), "a"), "its input");
	memset(big, 'x', sizeof(big));
	tap_ok(is(result("wc -c >$1", pf_bytes(big, sizeof(big))), "300000\n"),
	    "more than a pipe takes");
	tap_ok(is(result("echo unread >$1", pf_bytes(big, sizeof(big))),
	    "unread\n"), "that nobody reads");
	tap_ok(is(result("env | grep -v -e ^PWD -e ^SHLVL -e ^_ | sort >$1",
	    PF_LIT("")), "LANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\n"),
	    "no environment of ours");
	tap_ok(fd > 2 && is(result("ls /proc/self/fd | grep -v 3 | "
	    "tr '\\n' ' ' >$1", PF_LIT("")), "0 1 2 "),
	    "no descriptors of ours");
	tap_ok(is(result("grep SigBlk /proc/self/status >$1", PF_LIT("")),
	    "SigBlk:\t0000000000000000\n"), "no blocked signals");
	tap_ok(is(result("cut -d' ' -f5 /proc/$$/stat >$1; "
	    "echo $$ >>$1; sort -u $1 | wc -l >$1.n; mv $1.n $1",
	    PF_LIT("")), "1\n"), "a process group of its own");
	tap_ok(is(result("echo loud; echo loud >&2; echo quiet >$1",
	    PF_LIT("")), "quiet\n"), "what it says goes nowhere");
}

int
main(void)
{
	static char none[] = "/nonexistent/program";
	char *argv[] = { none, NULL };
	const char *why = "";
	int fd, status;

	tap_need((fd = mkstemp(out)) != -1, "mkstemp");
	(void)close(fd);
	sees();
	ends("exit 3", 5000, 3, "reported a failure");
	ends("kill -9 $$", 5000, -1, "was ended by a signal");
	ends("sleep 60", 200, -1, "did not end in time");
	ends("trap '' TERM INT; sleep 60 & wait", 200, -1,
	    "did not end in time");
	tap_ok(is(result("pgrep -f '^sleep 60$' >$1; true", PF_LIT("")), ""),
	    "what it had started is gone, too");
	tap_is(pf_command_run(argv, PF_LIT(""), 1000, &status, &why),
	    PF_E_UPSTREAM, "no program");
	tap_ok(strcmp(why, "can't be started") == 0, "%s", why);
	(void)unlink(out);
	return tap_done();
}
