/*
 * Rounds of one digest: phpass's portable hashes, and Drupal's, which are the
 * same with SHA-512.
 *
 *	$P$BSALTSALTHASHHASHHASHHASHHASHHA	B: 2^13 rounds
 */
#include <string.h>

#include "core/poppy/password_in.h"

#define COST_MIN	7
#define SALT_AT		4
#define SALT_LEN	8
#define HEAD_LEN	(SALT_AT + SALT_LEN)
#define PHPASS_LEN	34
#define DRUPAL_LEN	55		/* Drupal cuts it there */
/* Drupal takes no longer password. */
#define DRUPAL_PASSWORD_MAX	512

static enum pf_rc
rounds(const struct pf_pw_work *w, struct pf_str password, struct pf_str salt,
    unsigned char made[PF_DIGEST_MAX])
{
	enum pf_digest d = (enum pf_digest)w->kind;
	struct pf_str parts[] = { salt, password };
	enum pf_rc rc;

	rc = pf_digest(d, parts, PF_COUNT(parts), made);
	parts[0] = pf_bytes(made, pf_digest_len(d));
	for (uint32_t left = 1u << w->cost; rc == PF_OK && left > 0; left--)
		rc = pf_digest(d, parts, PF_COUNT(parts), made);
	return rc;
}

static enum pf_rc
fits(const struct pf_pw *pw, struct pf_str password)
{
	size_t n = pw->text.n - HEAD_LEN;
	unsigned char made[PF_DIGEST_MAX];
	char text[DRUPAL_LEN];
	enum pf_rc rc;

	if (pw->work.kind == PF_SHA512 && password.n > DRUPAL_PASSWORD_MAX)
		return PF_E_AUTH;
	rc = rounds(&pw->work, password, pf_bytes(pw->text.p + SALT_AT,
	    SALT_LEN), made);
	if (rc == PF_OK) {
		pf_pw_encode64(made, pf_digest_len((enum pf_digest)
		    pw->work.kind), text, n);
		if (!pf_equal_ct(text, pw->text.p + HEAD_LEN, n))
			rc = PF_E_AUTH;
	}
	pf_wipe(made, sizeof(made));
	pf_wipe(text, sizeof(text));
	return rc;
}

enum pf_rc
pf_pw_rounds_read(struct pf_str hash, struct pf_pw *out)
{
	bool drupal = pf_str_starts(hash, PF_LIT("$S$"));
	int cost;

	if (hash.n != (drupal ? DRUPAL_LEN : PHPASS_LEN) || (!drupal &&
	    !pf_str_starts(hash, PF_LIT("$P$")) &&
	    !pf_str_starts(hash, PF_LIT("$H$"))))
		return PF_E_INPUT;
	cost = pf_pw_itoa64(hash.p[3]);
	if (cost < COST_MIN || cost > (drupal ? PF_DRUPAL_COST_MAX :
	    PF_PHPASS_COST_MAX))
		return PF_E_INPUT;
	for (size_t i = HEAD_LEN; i < hash.n; i++)
		if (pf_pw_itoa64(hash.p[i]) < 0)
			return PF_E_INPUT;
	out->fits = fits;
	out->text = hash;
	out->work.family = PF_PW_ROUNDS;
	out->work.kind = drupal ? PF_SHA512 : PF_MD5;
	out->work.cost = (uint32_t)cost;
	return PF_OK;
}

void
pf_pw_rounds_waste(const struct pf_pw_work *w, struct pf_str password)
{
	unsigned char made[PF_DIGEST_MAX];

	if (w->kind == PF_SHA512 && password.n > DRUPAL_PASSWORD_MAX)
		return;
	(void)!rounds(w, password, PF_LIT("nobodys."), made);
	pf_wipe(made, sizeof(made));
}
