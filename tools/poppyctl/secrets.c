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
#include "core/poppy/master.h"
#include "tools/poppyctl/ctl.h"

#define MASTER_LEN	32
#define GATE_RAW	32	/* random bytes, of which it is the digits */
#define GATE_LEN	(2 * GATE_RAW + 1)
#define FRESH		".secret.new"

/* The folder, made if need be and told, that nobody but its owner can enter; -1 said. */
static int
open_folder(const struct ctl *c, const char *folder, bool make)
{
	struct stat st;
	int fd;

	if (make && mkdir(folder, 0700) == -1 && errno != EEXIST) {
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

/* Write the file under another name first; 0, or errno. */
static int
write_fresh(int dir, const unsigned char *raw, size_t n)
{
	int err = 0, fd;

	(void)unlinkat(dir, FRESH, 0);
	fd = openat(dir, FRESH,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	if (fd == -1)
		return errno;
	errno = EIO;		/* for a short write, which sets none */
	if (write(fd, raw, n) != (ssize_t)n || fsync(fd) == -1)
		err = errno;
	if (close(fd) == -1 && err == 0)
		err = errno;
	return err;
}

/* Linked or renamed, so that a file is there whole or not at all: a first one
 * never in the place of one that is, a rotated one in that of its elder. */
static int
write_secret(int dir, const char *name, const unsigned char *raw, size_t n,
    bool first)
{
	int err = write_fresh(dir, raw, n);

	if (err == 0 && (first ?
	    linkat(dir, FRESH, dir, name, 0) :
	    renameat(dir, FRESH, dir, name)) == -1)
		err = errno;
	(void)unlinkat(dir, FRESH, 0);
	if (err == 0 && fsync(dir) == -1)
		err = errno;
	return err;
}

/* What init makes, each file unless it is there. */
struct fresh {
	unsigned char master[MASTER_LEN];
	unsigned char raw[GATE_RAW];
	unsigned char gate[GATE_LEN];
};

static enum pf_rc
draw(struct fresh *f)
{
	enum pf_rc rc;

	if ((rc = pf_random(f->master, MASTER_LEN)) != PF_OK ||
	    (rc = pf_random(f->raw, GATE_RAW)) != PF_OK)
		return rc;
	for (size_t i = 0; i < GATE_RAW; i++) {
		f->gate[2 * i] = (unsigned char)"0123456789abcdef"
		    [f->raw[i] >> 4];
		f->gate[2 * i + 1] = (unsigned char)"0123456789abcdef"
		    [f->raw[i] & 15];
	}
	f->gate[GATE_LEN - 1] = '\n';
	return PF_OK;
}

/* One file; *made counts it, and what is there already is no fault yet. */
static int
make(const struct ctl *c, int dir, const char *name, const unsigned char *raw,
    size_t n, unsigned *made)
{
	int err = write_secret(dir, name, raw, n, true);

	if (err != 0 && err != EEXIST)
		return ctl_fail(c, CTL_WRONG, "%s/%s: %s", c->set.secrets.p,
		    name, strerror(err));
	if (err == 0 && !c->json)
		(void)printf("%s/%s: made\n", c->set.secrets.p, name);
	if (err == 0 && c->json)
		(void)printf("%s\"%s\"", *made == 0 ? "{\"created\":[" : ",",
		    name);
	*made += err == 0;
	return CTL_OK;
}

static int
init(const struct ctl *c, int dir, struct fresh *f)
{
	const char *gate = c->set.gate.p;
	unsigned made = 0;
	int status;

	if (draw(f) != PF_OK)
		return ctl_fail(c, CTL_WRONG, "the system gives no randomness");
	status = make(c, dir, "master", f->master, MASTER_LEN, &made);
	if (status == CTL_OK && c->set.gate.n != 0)
		status = make(c, dir, gate, f->gate, GATE_LEN, &made);
	if (made > 0 && c->json)
		(void)printf("]}\n");
	if (status != CTL_OK || made > 0)
		return status;
	return ctl_fail(c, CTL_WRONG, "%s/master is there already; without it "
	    "every User would be a stranger, so it is never overwritten",
	    c->set.secrets.p);
}

/* Owns the secrets; init() may return anywhere. */
int
ctl_secrets_init(struct ctl *c)
{
	struct fresh f = { { 0 }, { 0 }, { 0 } };
	int dir, status;

	if ((dir = open_folder(c, c->set.secrets.p, true)) == -1)
		return CTL_WRONG;
	status = init(c, dir, &f);
	pf_wipe(&f, sizeof(f));
	(void)close(dir);
	return status;
}

/* The steps of a rotation, and what to do after each. */
static const struct step {
	const char *name;
	enum pf_rc (*take)(struct pf_master *m);
	const char *did, *next;
} steps[] = {
	{ "begin", pf_master_begin, "a new master is made, and accepted",
	    "copy it to all hosts, make all programs read it; then: rotate "
	    "switch" },
	{ "switch", pf_master_switch, "the new master is used, the old one "
	    "still accepted", "copy it to all hosts, make all programs read it; "
	    "ten minutes later: rotate finish" },
	{ "finish", pf_master_finish, "the old master is gone",
	    "copy it to all hosts, make all programs read it" },
};

static int
tell(const struct ctl *c, const struct step *s)
{
	if (c->json)
		(void)printf("{\"did\":\"%s\",\"next\":\"%s\"}\n", s->did,
		    s->next);
	else
		(void)printf("%s/master: %s\nnext: %s\n", c->set.secrets.p,
		    s->did, s->next);
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

static int
read_master(const struct ctl *c, int dir, struct pf_master *m)
{
	unsigned char raw[PF_MASTER_MAX + 1] = { 0 };
	const char *folder = c->set.secrets.p;
	enum pf_rc rc = PF_E_INPUT;
	ssize_t n;
	int fd;

	fd = openat(dir, "master", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1)
		return ctl_fail(c, errno == ENOENT ? CTL_ABSENT : CTL_WRONG,
		    "%s/master: %s", folder, strerror(errno));
	if ((n = read(fd, raw, sizeof(raw))) > 0)
		rc = pf_master_parse(raw, (size_t)n, m);
	pf_wipe(raw, sizeof(raw));
	(void)close(fd);
	if (rc == PF_OK)
		return CTL_OK;
	return ctl_fail(c, CTL_WRONG, "%s/master is no master key", folder);
}

static int
rotate(const struct ctl *c, int dir, const struct step *s, struct pf_master *m)
{
	unsigned char raw[PF_MASTER_MAX] = { 0 };
	int err, status;
	enum pf_rc rc;

	if ((status = read_master(c, dir, m)) != CTL_OK)
		return status;
	rc = s->take(m);
	if (rc == PF_E_CONFLICT)
		return ctl_fail(c, CTL_ABSENT, "the step that comes next is "
		    "rotate %s", m->other_is == 0 ? "begin" :
		    m->other_is == 'n' ? "switch" : "finish");
	if (rc != PF_OK)
		return ctl_fail(c, CTL_WRONG, "the system gives no randomness");
	err = write_secret(dir, "master", raw, pf_master_write(m, raw),
	    false);
	pf_wipe(raw, sizeof(raw));
	if (err != 0)
		return ctl_fail(c, CTL_WRONG, "%s/master: %s",
		    c->set.secrets.p, strerror(err));
	return tell(c, s);
}

/* Owns the secrets; rotate() may return anywhere. */
int
ctl_secrets_rotate(struct ctl *c)
{
	struct pf_master m = { .kept = false };
	const struct step *s = NULL;
	int dir, status;

	for (size_t i = 0; i < PF_COUNT(steps); i++)
		if (strcmp(c->operand[0], steps[i].name) == 0)
			s = &steps[i];
	if (s == NULL)
		return ctl_fail(c, CTL_USAGE, "%s is no step: begin, switch or "
		    "finish", c->operand[0]);
	if ((dir = open_folder(c, c->set.secrets.p, false)) == -1)
		return CTL_WRONG;
	status = rotate(c, dir, s, &m);
	pf_master_wipe(&m);
	(void)close(dir);
	return status;
}
