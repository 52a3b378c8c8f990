#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/poppyctl/ctl.h"

#define FILE_MAX	(1u << 20)
#define NAMES_MAX	1000u

static enum pf_rc
read_all(int fd, char *buf, size_t size, size_t *n)
{
	ssize_t got;

	*n = 0;
	do {
		got = read(fd, buf + *n, size - *n);
		if (got == -1 && errno == EINTR)
			continue;
		if (got == -1)
			return PF_E_INPUT;
		*n += (size_t)got;
	} while (got != 0 && *n < size);
	if (*n < size)
		return PF_OK;
	errno = EFBIG;
	return PF_E_INPUT;
}

enum pf_rc
ctl_read(struct pf_arena *a, const char *path, struct pf_str *out)
{
	char *buf;
	size_t n;
	enum pf_rc rc;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return PF_E_ABSENT;
	if ((buf = malloc(FILE_MAX)) == NULL) {
		(void)close(fd);
		return PF_E_MEM;
	}
	rc = read_all(fd, buf, FILE_MAX, &n);
	(void)close(fd);
	if (rc == PF_OK) {
		*out = pf_arena_copy(a, pf_bytes(buf, n));
		if (out->p == NULL)
			rc = PF_E_MEM;
	}
	free(buf);
	return rc;
}

static int
by_bytes(const void *a, const void *b)
{
	const struct pf_str *x = a, *y = b;

	return strcmp(x->p, y->p);
}

enum pf_rc
ctl_list(struct pf_arena *a, const char *folder, struct pf_strs *out)
{
	struct pf_str *v, name;
	struct dirent *e;
	size_t n = 0;
	DIR *d;

	if ((v = pf_arena_alloc(a, NAMES_MAX * sizeof(*v))) == NULL)
		return PF_E_MEM;
	if ((d = opendir(folder)) == NULL)
		return PF_E_ABSENT;
	while (n < NAMES_MAX && (e = readdir(d)) != NULL) {
		name = pf_str(e->d_name);
		if (pf_str_starts(name, PF_LIT(".")) ||
		    !pf_str_ends(name, PF_LIT(".sql")))
			continue;
		v[n] = pf_arena_copy(a, name);
		if (v[n++].p == NULL)
			break;
	}
	(void)closedir(d);
	if (n > 0 && v[n - 1].p == NULL)
		return PF_E_MEM;
	qsort(v, n, sizeof(*v), by_bytes);
	out->v = v;
	out->n = n;
	return PF_OK;
}
