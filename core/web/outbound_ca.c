/*
 * outbound_ca - the system's certificates and one file more, as one text:
 * libcurl takes either a file or a text, never a file beside the system's.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/web/outbound_in.h"

#define CA_MAX	(4u << 20)

/* Append the file's content and a newline. */
static bool
append_file(const char *path, char **text, size_t *n)
{
	FILE *f = fopen(path, "re");
	size_t got;
	char *more;

	if (f == NULL)
		return false;
	do {
		if (*n > CA_MAX ||
		    (more = realloc(*text, *n + 65536 + 2)) == NULL) {
			fclose(f);
			return false;
		}
		*text = more;
		got = fread(*text + *n, 1, 65536, f);
		*n += got;
	} while (got > 0);
	got = (size_t)ferror(f);
	fclose(f);
	(*text)[(*n)++] = '\n';
	(*text)[*n] = '\0';
	return got == 0;
}

static bool
append_extra(struct pf_str extra, char **text, size_t *n)
{
	char path[4096];
	size_t from = *n;

	if (extra.n >= sizeof(path) || memchr(extra.p, '\0', extra.n) != NULL)
		return false;
	memcpy(path, extra.p, extra.n);
	path[extra.n] = '\0';
	return append_file(path, text, n) &&
	    strstr(*text + from, "-----BEGIN CERTIFICATE-----") != NULL;
}

enum pf_rc
pf_outbound_ca(const char *bundle, struct pf_str extra, char **out, size_t *n)
{
	*out = NULL;
	*n = 0;
	if (bundle != NULL && !append_file(bundle, out, n)) {
		PF_LOG(PF_LOG_WARN, "outbound_ca",
		    PF_F_Z("why", "the system's certificates can't be read"),
		    PF_F_Z("file", bundle));
		*n = 0;
	}
	if (append_extra(extra, out, n))
		return PF_OK;
	PF_LOG(PF_LOG_ERROR, "outbound_ca",
	    PF_F_Z("why", "there is no certificate to be read here"),
	    PF_F_STR("file", extra));
	free(*out);
	*out = NULL;
	*n = 0;
	return PF_E_INPUT;
}
