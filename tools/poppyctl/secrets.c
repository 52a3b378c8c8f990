/*
 * poppyctl secrets: the folder of company keys on this host.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/random.h"
#include "tools/poppyctl/ctl.h"

#define MASTER_LEN	32

/* The folder, made if need be, that nobody but its owner can enter; -1 said. */
static int
open_folder(const struct ctl *c, const char *folder)
{
	struct stat st;
	int fd;

	if (mkdir(folder, 0700) == -1 && errno != EEXIST) {
		(void)ctl_fail(c, CTL_WRONG, "%s: can't be made: %s", folder,
		    strerror(errno));
		return -1;
	}
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 || fstat(fd, &st) == -1) {
		(void)ctl_fail(c, CTL_WRONG, "%s: %s", folder, strerror(errno));
	} else if (st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
		(void)ctl_fail(c, CTL_WRONG, "%s: must be this user's own and "
		    "closed to all others (chmod 700)", folder);
	} else {
		return fd;
	}
	if (fd != -1)
		(void)close(fd);
	return -1;
}

/*
 * Written under another name and linked, so that a master is there whole or not
 * at all, and never in the place of one that is.
 */
static int
write_master(int dir, const unsigned char *raw)
{
	int err = 0, fd;

	(void)unlinkat(dir, ".master.new", 0);
	fd = openat(dir, ".master.new",
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd == -1)
		return errno;
	errno = EIO;		/* for a short write, which sets none */
	if (write(fd, raw, MASTER_LEN) != MASTER_LEN || fsync(fd) == -1)
		err = errno;
	if (close(fd) == -1 && err == 0)
		err = errno;
	if (err == 0 &&
	    linkat(dir, ".master.new", dir, "master", 0) == -1)
		err = errno;
	(void)unlinkat(dir, ".master.new", 0);
	if (err == 0 && fsync(dir) == -1)
		err = errno;
	return err;
}

static int
init(const struct ctl *c, const char *folder, unsigned char *raw)
{
	int dir, err;

	if (pf_random(raw, MASTER_LEN) != PF_OK)
		return ctl_fail(c, CTL_WRONG, "the system gives no randomness");
	if ((dir = open_folder(c, folder)) == -1)
		return CTL_WRONG;
	err = write_master(dir, raw);
	(void)close(dir);
	if (err == EEXIST)
		return ctl_fail(c, CTL_WRONG, "%s/master is there already; "
		    "without it every User would be a stranger, so it is never "
		    "overwritten", folder);
	if (err != 0)
		return ctl_fail(c, CTL_WRONG, "%s/master: %s", folder,
		    strerror(err));
	if (c->json)
		(void)printf("{\"created\":\"master\"}\n");
	else
		(void)printf("%s/master: made\n", folder);
	return CTL_OK;
}

/* Owns the secret; init() may return anywhere. */
int
ctl_secrets_init(struct ctl *c)
{
	unsigned char raw[MASTER_LEN] = { 0 };
	int status;

	status = init(c, c->set.secrets.p, raw);
	pf_wipe(raw, sizeof(raw));
	return status;
}
