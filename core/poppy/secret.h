/*
 * secret - one line in a file of the secrets folder that others gave us: the
 * password of a mail server, the salt of a shop.
 */
#ifndef PF_SECRET_H
#define PF_SECRET_H

#include "core/base/str.h"

#define PF_SECRET_MAX	256

struct pf_secret {
	char text[PF_SECRET_MAX + 2];	/* wipe when done */
	size_t n;
};

/*
 * NAME, where keys.h finds it: a regular file of ours or root's that nobody else
 * may read, with one line of 1 to 256 bytes and no NUL. A line end behind it
 * does not count.
 * PF_E_ABSENT or PF_E_INPUT with *why, a constant.
 */
PF_MUST enum pf_rc pf_secret_read(const char *folder, struct pf_str name,
    struct pf_secret *out, const char **why);
struct pf_str pf_secret_str(const struct pf_secret *s);
void pf_secret_wipe(struct pf_secret *s);

#endif
