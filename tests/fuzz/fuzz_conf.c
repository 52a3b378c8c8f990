/* poppy.conf: a fault always has a place and a reason; good ones are whole. */
#include "config.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/poppy/settings.h"
#include "tests/fuzz/fuzz.h"

static enum pf_rc
read_settings(struct pf_str in, struct pf_settings *s, struct pf_conf_fault *f)
{
	enum pf_rc rc = PF_E_MEM;
	char path[64];
	int fd;

	if ((fd = memfd_create("poppy.conf", MFD_CLOEXEC)) < 0)
		return rc;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, in.p, in.n) == (ssize_t)in.n)
		rc = pf_settings_read(path, &fuzz_arena, s, f);
	close(fd);
	return rc;
}

bool
fuzz_one(struct pf_str in)
{
	struct pf_conf_fault f = { .reason = "" };
	struct pf_settings s;

	if (read_settings(in, &s, &f) != PF_OK) {
		FUZZ_HOLDS(f.reason[0] != '\0' && f.file[0] != '\0');
		return false;
	}
	FUZZ_HOLDS(s.hosts.n > 0 && s.organization.name.n > 0);
	FUZZ_HOLDS(s.issuer.n == 0 || s.issuer_host != NULL);
	FUZZ_HOLDS(s.workers.auth >= 1 && s.proofs.past_seconds > 0);
	return true;
}
