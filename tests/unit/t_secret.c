/* Files with a secret of somebody else's. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/poppy/secret.h"
#include "tests/unit/tap.h"

static char folder[] = "/tmp/t_secret.XXXXXX";

static void
put(const char *name, struct pf_str text, mode_t mode)
{
	char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
	tap_need(fd != -1 && fchmod(fd, mode) == 0 &&
	    write(fd, text.p, text.n) == (ssize_t)text.n && close(fd) == 0,
	    "a file");
}

static void
is(const char *name, enum pf_rc rc, const char *text, const char *what)
{
	struct pf_secret s;
	const char *why = "";

	tap_is(pf_secret_read(folder, pf_str(name), &s, &why), rc, "%s",
	    what);
	if (rc == PF_OK)
		tap_is_z(pf_secret_str(&s), text, "%s: text", what);
	else
		tap_ok(s.n == 0 && s.text[0] == '\0' && why[0] != '\0',
		    "%s: nothing of it, and why: %s", what, why);
	pf_secret_wipe(&s);
}

static void
contents(void)
{
	static char text[PF_SECRET_MAX + 3];

	put("f", PF_LIT("word"), 0400);
	is("f", PF_OK, "word", "no line end");
	put("f", PF_LIT("two words\n"), 0600);
	is("f", PF_OK, "two words", "a line");
	put("f", PF_LIT(""), 0400);
	is("f", PF_E_INPUT, "", "empty");
	put("f", PF_LIT("\n"), 0400);
	is("f", PF_E_INPUT, "", "an empty line");
	put("f", PF_LIT("a\nb\n"), 0400);
	is("f", PF_E_INPUT, "", "two lines");
	put("f", PF_LIT("a\r\n"), 0400);
	is("f", PF_E_INPUT, "", "the line end of others");
	put("f", PF_LIT("a\0b"), 0400);
	is("f", PF_E_INPUT, "", "a NUL");
	memset(text, 'x', PF_SECRET_MAX);
	put("f", pf_bytes(text, PF_SECRET_MAX), 0400);
	is("f", PF_OK, text, "the longest");
	text[PF_SECRET_MAX] = 'x';
	put("f", pf_bytes(text, PF_SECRET_MAX + 1), 0400);
	is("f", PF_E_INPUT, "", "one byte longer");
}

static void
files(void)
{
	char path[128];

	put("f", PF_LIT("word"), 0440);
	is("f", PF_E_INPUT, "", "the group may read it");
	put("f", PF_LIT("word"), 0404);
	is("f", PF_E_INPUT, "", "all may read it");
	is("none", PF_E_ABSENT, "", "not there");
	put("f", PF_LIT("word"), 0400);
	(void)snprintf(path, sizeof(path), "%s/link", folder);
	tap_need(symlink("f", path) == 0, "a link");
	is("link", PF_E_ABSENT, "", "a link");
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/dir", folder);
	tap_need(mkdir(path, 0700) == 0, "a folder");
	is("dir", PF_E_INPUT, "", "a folder");
	(void)rmdir(path);
	(void)snprintf(path, sizeof(path), "%s/pipe", folder);
	tap_need(mkfifo(path, 0400) == 0, "a pipe");
	is("pipe", PF_E_INPUT, "", "a pipe, which nobody waits for");
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/f", folder);
	(void)unlink(path);
}

int
main(void)
{
	tap_need(mkdtemp(folder) != NULL, "mkdtemp");
	contents();
	files();
	(void)rmdir(folder);
	return tap_done();
}
