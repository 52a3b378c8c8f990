/*
 * bcrypt, by libcrypt; the one file that knows it.
 *
 *	$2y$10$SALTSALTSALTSALTSALTSAHASHHASHHASHHASHHASHHASHHASHHASH
 */
#include "config.h"

#include <crypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/poppy/password_in.h"

#define TEXT_LEN	60
#define HEAD_LEN	7		/* "$2y$10$" */
#define COST_MIN	4
#define CUT		72		/* bcrypt sees no more of a password */

static enum pf_rc
run(const char *phrase, const char *setting, struct crypt_data *data,
    struct pf_str want)
{
	const char *made = crypt_r(phrase, setting, data);

	if (made == NULL || strlen(made) != TEXT_LEN)
		return PF_E_BUG;
	return pf_equal_ct(made, want.p, TEXT_LEN) ? PF_OK : PF_E_AUTH;
}

/*
 * PHP hands out no hash of a password with a NUL in it, and would take any that
 * begins like the right one up to there; such a one fits nothing here.
 */
static enum pf_rc
fits(const struct pf_pw *pw, struct pf_str password)
{
	char phrase[CUT + 1] = { 0 }, setting[TEXT_LEN + 1] = { 0 };
	struct pf_str head = pf_str_head(password, CUT);
	struct crypt_data *data;
	enum pf_rc rc;

	if ((data = calloc(1, sizeof(*data))) == NULL)
		return PF_E_MEM;
	if (head.n != 0)
		(void)memcpy(phrase, head.p, head.n);
	(void)memcpy(setting, pw->text.p, TEXT_LEN);
	rc = run(phrase, setting, data, pw->text);
	if (rc == PF_OK && pf_str_has(password, '\0'))
		rc = PF_E_AUTH;
	pf_wipe(phrase, sizeof(phrase));
	pf_wipe(data, sizeof(*data));
	free(data);
	return rc;
}

enum pf_rc
pf_pw_bcrypt_read(struct pf_str hash, struct pf_pw *out)
{
	int64_t cost;

	if (hash.n != TEXT_LEN || !pf_str_starts(hash, PF_LIT("$2")) ||
	    !pf_str_has(PF_LIT("aby"), hash.p[2]) || hash.p[3] != '$' ||
	    hash.p[6] != '$' ||
	    pf_str_int(pf_bytes(hash.p + 4, 2), COST_MIN, PF_BCRYPT_COST_MAX,
	    &cost) != PF_OK)
		return PF_E_INPUT;
	for (size_t i = HEAD_LEN; i < hash.n; i++)
		if (pf_pw_itoa64(hash.p[i]) < 0)
			return PF_E_INPUT;
	out->fits = fits;
	out->text = hash;
	out->work.family = PF_PW_BCRYPT;
	out->work.cost = (uint32_t)cost;
	return PF_OK;
}

void
pf_pw_bcrypt_waste(const struct pf_pw_work *w, struct pf_str password)
{
	char text[TEXT_LEN + 1];
	struct pf_pw pw = { .fits = fits };

	(void)snprintf(text, sizeof(text), "$2y$%02u$%053d",
	    (unsigned)w->cost % 100, 0);
	pw.text = pf_bytes(text, TEXT_LEN);
	(void)!fits(&pw, password);
}
