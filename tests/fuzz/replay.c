/*
 * The main of fuzz targets in make check: every file of the target's corpus is
 * read, and judged by its name.
 */
#include "config.h"

#include <dirent.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/tap.h"

/* In a block of exactly its size, so that a sanitizer sees one byte too far. */
static unsigned char *
read_file(const char *path, size_t *size)
{
	unsigned char *p = NULL;
	struct stat st;
	FILE *f;

	if ((f = fopen(path, "rb")) == NULL)
		return NULL;
	if (fstat(fileno(f), &st) == 0 &&
	    (p = malloc(st.st_size > 0 ? (size_t)st.st_size : 1)) != NULL) {
		*size = (size_t)st.st_size;
		if (fread(p, 1, *size, f) != *size) {
			free(p);
			p = NULL;
		}
	}
	fclose(f);
	return p;
}

static void
replay(const char *dir, const char *name)
{
	char path[4096];
	unsigned char *data;
	size_t size;
	bool good;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!tap_ok((data = read_file(path, &size)) != NULL, "%s: read", name))
		return;
	good = fuzz_run(data, size);
	free(data);
	if (strncmp(name, "good-", 5) == 0)
		tap_ok(good, "%s: accepted", name);
	else if (strncmp(name, "bad-", 4) == 0)
		tap_ok(!good, "%s: refused", name);
	else
		tap_ok(true, "%s: survived", name);
}

static int
visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* The corpus is named after the program: fuzz_NAME. */
int
main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir");
	struct dirent **list;
	const char *name;
	char dir[2048];
	int n;

	(void)argc;
	name = strrchr(argv[0], '/');
	name = name == NULL ? argv[0] : name + 1;
	tap_need(strncmp(name, "fuzz_", 5) == 0, "the program's name");
	snprintf(dir, sizeof(dir), "%s/tests/fuzz/corpus/%s",
	    top == NULL ? "." : top, name + 5);
	n = scandir(dir, &list, visible, alphasort);
	tap_need(n > 0, dir);
	for (int i = 0; i < n; i++) {
		replay(dir, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return tap_done();
}
