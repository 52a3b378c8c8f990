#include "config.h"

#include "core/poppy/secret.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/poppy/keys.h"

#define NAME_LEN	255	/* of a file */

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
	char z[NAME_LEN + 1];
	enum pf_rc rc;
	int fd;

	pf_secret_wipe(out);
	if (name.n > NAME_LEN) {
		*why = "has too long a name";
		return PF_E_INPUT;
	}
	(void)memcpy(z, name.p, name.n);
	z[name.n] = '\0';
	if ((rc = pf_keys_open(folder, z, &fd, why)) != PF_OK) {
		/* Nothing makes it but the operator. */
		if (rc == PF_E_ABSENT && errno == ENOENT)
			*why = "is missing";
		return rc;
	}
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
