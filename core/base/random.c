#include "config.h"

#include "core/base/random.h"

#include <errno.h>
#include <sys/random.h>

#include "core/base/str.h"

/* More than 256 bytes may come in parts or be interrupted by a signal. */
enum pf_rc
pf_random(void *out, size_t n)
{
	unsigned char *p = out;
	size_t left = n;
	ssize_t got;

	while (left > 0) {
		got = getrandom(p, left, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			pf_wipe(out, n);
			return PF_E_BUG;
		}
		p += got;
		left -= (size_t)got;
	}
	return PF_OK;
}
