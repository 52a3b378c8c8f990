#include "config.h"

#include "core/poppy/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* systemd may give us its own file by an access list, which shows as bits of
 * the group. */
static mode_t
forbidden(const char *folder)
{
	const char *handed = getenv("CREDENTIALS_DIRECTORY");

	if (handed != NULL && strcmp(folder, handed) == 0)
		return S_IWGRP | S_IXGRP | S_IRWXO;
	return S_IRWXG | S_IRWXO;
}

static const char *
file_fault(int fd, mode_t closed)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return "is no regular file";
	if ((st.st_mode & closed) != 0)
		return "may be read by others: chmod 0400";
	/* root may look at what is another's: "poppy-auth -t". */
	if (st.st_uid != geteuid() && st.st_uid != 0 && geteuid() != 0)
		return "belongs to somebody else";
	return NULL;
}

static enum pf_rc
read_line(int fd, struct pf_secret *out, const char **why)
{
	ssize_t got = read(fd, out->text, sizeof(out->text));
	struct pf_str s;

	*why = "must have one line of 1 to 256 characters";
	if (got <= 0)
		return PF_E_INPUT;
	s = pf_bytes(out->text, (size_t)got);
	if (s.p[s.n - 1] == '\n')
		s.n--;
	if (s.n == 0 || s.n > PF_SECRET_MAX || pf_str_has(s, '\n') ||
	    pf_str_has(s, '\r') || pf_str_has(s, '\0'))
		return PF_E_INPUT;
	out->text[s.n] = '\0';
	out->n = s.n;
	return PF_OK;
}

enum pf_rc
pf_secret_read(const char *folder, struct pf_str name, struct pf_secret *out,
    const char **why)
{
	char path[1100];
	enum pf_rc rc = PF_E_INPUT;
	int fd, n;

	pf_secret_wipe(out);
	n = snprintf(path, sizeof(path), "%s/%.*s", folder, PF_STRF(name));
	if (n < 0 || (size_t)n >= sizeof(path)) {
		*why = "has too long a name";
		return PF_E_INPUT;
	}
	if ((fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) == -1) {
		*why = errno == ENOENT ? "is missing" :
		    "can't be opened by this user";
		return PF_E_ABSENT;
	}
	if ((*why = file_fault(fd, forbidden(folder))) == NULL)
		rc = read_line(fd, out, why);
	(void)close(fd);
	if (rc != PF_OK)
		pf_secret_wipe(out);
	return rc;
}

struct pf_str
pf_secret_str(const struct pf_secret *s)
{
	return pf_bytes(s->text, s->n);
}

void
pf_secret_wipe(struct pf_secret *s)
{
	pf_wipe(s, sizeof(*s));
}
