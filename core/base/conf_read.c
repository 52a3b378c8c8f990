#include "config.h"

#include "core/base/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/conf_tree.h"

/* The file as a whole is at fault. */
static enum pf_rc
cannot(const char *file, const char *why, struct pf_conf_fault *fault)
{
	(void)!pf_conf_refuse(fault, file, 0, "", "%s", why);
	return PF_E_ABSENT;
}

/* All of an open file; if it shrinks meanwhile, as far as it goes. */
static enum pf_rc
slurp(int fd, const char *file, struct pf_arena *a, struct pf_str *out,
    struct pf_conf_fault *fault)
{
	struct stat st;
	size_t n = 0, size;
	ssize_t got;
	char *p;

	if (fstat(fd, &st) < 0)
		return cannot(file, strerror(errno), fault);
	if (!S_ISREG(st.st_mode))
		return cannot(file, "is no regular file", fault);
	if (st.st_size > PF_CONF_BYTES)
		return pf_conf_refuse(fault, file, 1, "",
		    "the file is longer than 1 MiB");
	size = (size_t)st.st_size;
	if ((p = pf_arena_alloc(a, size)) == NULL) {
		(void)!cannot(file, "needs more memory than there is", fault);
		return PF_E_MEM;
	}
	while (n < size && (got = read(fd, p + n, size - n)) != 0) {
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			return cannot(file, strerror(errno), fault);
	}
	*out = pf_bytes(p, n);
	return PF_OK;
}

enum pf_rc
pf_conf_read(const char *file, const struct pf_conf_table *table,
    struct pf_arena *a, void *out, struct pf_conf_fault *fault)
{
	struct pf_str text;
	enum pf_rc rc;
	int fd;

	/* O_NONBLOCK: a FIFO in the file's place must not hang the start. */
	if ((fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
		return cannot(file, strerror(errno), fault);
	rc = slurp(fd, file, a, &text, fault);
	close(fd);
	if (rc != PF_OK)
		return rc;
	return pf_conf_parse(file, text, table, a, out, fault);
}
