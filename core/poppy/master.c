#include "core/poppy/master.h"

#include <string.h>

#include "core/base/random.h"

#define USER_PURPOSE	"poppy user 1"

enum pf_rc
pf_master_parse(const void *p, size_t n, struct pf_master *out)
{
	const unsigned char *b = p;

	*out = (struct pf_master){ .kept = n > PF_KEY_LEN };
	if (n != PF_KEY_LEN && n != 2 * PF_KEY_LEN && n != PF_MASTER_MAX)
		return PF_E_INPUT;
	(void)memcpy(out->now, b, PF_KEY_LEN);
	if (n == PF_KEY_LEN)
		return pf_hkdf(out->now, USER_PURPOSE, out->user);
	(void)memcpy(out->user, b + PF_KEY_LEN, PF_KEY_LEN);
	if (n == 2 * PF_KEY_LEN)
		return PF_OK;
	(void)memcpy(out->other, b + 2 * PF_KEY_LEN, PF_KEY_LEN);
	out->other_is = (char)b[PF_MASTER_MAX - 1];
	return out->other_is == 'n' || out->other_is == 'o' ? PF_OK :
	    PF_E_INPUT;
}

size_t
pf_master_write(const struct pf_master *m, unsigned char out[PF_MASTER_MAX])
{
	(void)memcpy(out, m->now, PF_KEY_LEN);
	if (!m->kept)
		return PF_KEY_LEN;
	(void)memcpy(out + PF_KEY_LEN, m->user, PF_KEY_LEN);
	if (m->other_is == 0)
		return 2 * PF_KEY_LEN;
	(void)memcpy(out + 2 * PF_KEY_LEN, m->other, PF_KEY_LEN);
	out[PF_MASTER_MAX - 1] = (unsigned char)m->other_is;
	return PF_MASTER_MAX;
}

enum pf_rc
pf_master_begin(struct pf_master *m)
{
	if (m->other_is != 0)
		return PF_E_CONFLICT;
	m->other_is = 'n';
	m->kept = true;
	return pf_random(m->other, sizeof(m->other));
}

enum pf_rc
pf_master_switch(struct pf_master *m)
{
	unsigned char old[PF_KEY_LEN];

	if (m->other_is != 'n')
		return PF_E_CONFLICT;
	(void)memcpy(old, m->now, sizeof(old));
	(void)memcpy(m->now, m->other, sizeof(m->now));
	(void)memcpy(m->other, old, sizeof(m->other));
	pf_wipe(old, sizeof(old));
	m->other_is = 'o';
	return PF_OK;
}

enum pf_rc
pf_master_finish(struct pf_master *m)
{
	if (m->other_is != 'o')
		return PF_E_CONFLICT;
	pf_wipe(m->other, sizeof(m->other));
	m->other_is = 0;
	return PF_OK;
}

void
pf_master_wipe(struct pf_master *m)
{
	pf_wipe(m, sizeof(*m));
}
