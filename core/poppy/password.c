/*
 * password - see password.h: what is done before and around the families.
 */
#include "core/poppy/password_in.h"

#include <string.h>

/* The longest that a password is turned into: base64 of a SHA-512. */
#define MADE_MAX	92
#define MD5_LEN		16

static const struct {
	const char *head;
	size_t skip;			/* of it is not the hash's */
	enum pf_pw_before before;
	pf_pw_reader *read;
} beginnings[] = {
	{ "$2y$", 0, PF_PW_AS_IS, pf_pw_bcrypt_read },
	{ "$2b$", 0, PF_PW_AS_IS, pf_pw_bcrypt_read },
	{ "$2a$", 0, PF_PW_AS_IS, pf_pw_bcrypt_read },
	{ "$wp$2y$", 3, PF_PW_WORDPRESS, pf_pw_bcrypt_read },
	{ "$P$", 0, PF_PW_AS_IS, pf_pw_rounds_read },
	{ "$H$", 0, PF_PW_AS_IS, pf_pw_rounds_read },
	{ "$S$", 0, PF_PW_AS_IS, pf_pw_rounds_read },
	{ "$argon2i$", 0, PF_PW_AS_IS, pf_pw_argon2_read },
	{ "$argon2id$", 0, PF_PW_AS_IS, pf_pw_argon2_read },
};

static const struct {
	const char *name;
	bool trim;			/* white space around the password */
	enum pf_pw_before bcrypt;	/* before plain bcrypt */
	pf_pw_reader *other;		/* of what begins like none above */
} kinds[] = {
	{ "", false, PF_PW_AS_IS, NULL },
	{ "symfony", false, PF_PW_SYMFONY, NULL },
	{ "wordpress", true, PF_PW_AS_IS, pf_pw_md5_read },
	{ "phpass", false, PF_PW_AS_IS, NULL },
	{ "drupal", false, PF_PW_AS_IS, NULL },
	{ "magento", false, PF_PW_AS_IS, pf_pw_magento_read },
	{ "prestashop", false, PF_PW_AS_IS, pf_pw_prestashop_read },
	{ "opencart", false, PF_PW_AS_IS, pf_pw_opencart_read },
};

static size_t
find_kind(struct pf_str name)
{
	size_t i;

	for (i = 0; i < PF_COUNT(kinds); i++)
		if (pf_str_eqz(name, kinds[i].name))
			break;
	return i;
}

const char *
pf_password_kind_fault(struct pf_str kind)
{
	return find_kind(kind) < PF_COUNT(kinds) ? NULL : "must be \"\", "
	    "symfony, wordpress, phpass, drupal, magento, prestashop or "
	    "opencart";
}

enum pf_rc
pf_pw_read(struct pf_str kind, struct pf_str hash, struct pf_pw_plan *out)
{
	size_t k = find_kind(kind);

	if (k == PF_COUNT(kinds) || hash.n == 0 ||
	    hash.n > PF_PASSWORD_HASH_MAX || pf_str_has(hash, '\0'))
		return PF_E_INPUT;
	out->trim = kinds[k].trim;
	out->md5_first = pf_str_starts(hash, PF_LIT("U$"));
	if (out->md5_first)
		hash = pf_str_from(hash, 1);
	for (size_t i = 0; i < PF_COUNT(beginnings); i++) {
		if (!pf_str_starts(hash, pf_str(beginnings[i].head)))
			continue;
		out->before = beginnings[i].before;
		if (out->before == PF_PW_AS_IS &&
		    beginnings[i].read == pf_pw_bcrypt_read)
			out->before = kinds[k].bcrypt;
		out->trim |= out->before == PF_PW_WORDPRESS;
		return beginnings[i].read(pf_str_from(hash,
		    beginnings[i].skip), &out->pw);
	}
	if (kinds[k].other == NULL || out->md5_first)
		return PF_E_INPUT;
	return kinds[k].other(hash, &out->pw);
}

/* As PHP's trim() does. */
static struct pf_str
trim(struct pf_str s)
{
	static const struct pf_str space = { " \n\r\t\v\0", 6 };

	while (s.n > 0 && pf_str_has(space, s.p[0]))
		s = pf_str_from(s, 1);
	while (s.n > 0 && pf_str_has(space, s.p[s.n - 1]))
		s.n--;
	return s;
}

/* Drupal's own older hashes were MD5; they were hashed once more. */
static enum pf_rc
md5_hex(struct pf_str *password, char made[MADE_MAX])
{
	unsigned char raw[MD5_LEN];
	enum pf_rc rc;

	if ((rc = pf_digest(PF_MD5, password, 1, raw)) == PF_OK)
		pf_pw_hex(raw, sizeof(raw), made);
	*password = pf_bytes(made, 2 * sizeof(raw));
	pf_wipe(raw, sizeof(raw));
	return rc;
}

static enum pf_rc
hash_first(enum pf_pw_before before, struct pf_str *password,
    char made[MADE_MAX])
{
	unsigned char raw[PF_DIGEST_MAX];
	enum pf_rc rc;
	size_t n;

	if (before == PF_PW_WORDPRESS) {
		n = pf_digest_len(PF_SHA384);
		rc = pf_hmac(PF_SHA384, PF_LIT("wp-sha384"), *password, raw);
	} else {
		n = pf_digest_len(PF_SHA512);
		rc = pf_digest(PF_SHA512, password, 1, raw);
	}
	if (rc == PF_OK)
		*password = pf_bytes(made, pf_pw_base64(raw, n, made));
	pf_wipe(raw, sizeof(raw));
	return rc;
}

static enum pf_rc
prepare(const struct pf_pw_plan *plan, struct pf_str *password,
    char made[MADE_MAX])
{
	bool cut = password->n > 72 || pf_str_has(*password, '\0');

	if (plan->trim)
		*password = trim(*password);
	if (plan->md5_first)
		return md5_hex(password, made);
	if (plan->before == PF_PW_WORDPRESS ||
	    (plan->before == PF_PW_SYMFONY && cut))
		return hash_first(plan->before, password, made);
	return PF_OK;
}

enum pf_rc
pf_password_check(struct pf_str kind, struct pf_str hash,
    struct pf_str password)
{
	struct pf_pw_plan plan = { .trim = false };
	char made[MADE_MAX];
	enum pf_rc rc;

	if ((rc = pf_pw_read(kind, hash, &plan)) != PF_OK)
		return rc;
	if (password.n == 0 || password.n > PF_PASSWORD_MAX)
		return PF_E_AUTH;
	pf_pw_cost_note(&plan.pw.work);
	rc = prepare(&plan, &password, made);
	if (rc == PF_OK)
		rc = plan.pw.fits(&plan.pw, password);
	pf_wipe(made, sizeof(made));
	return rc;
}

void
pf_password_dummy(struct pf_str password)
{
	struct pf_pw_work work;

	if (password.n == 0 || password.n > PF_PASSWORD_MAX)
		return;
	pf_pw_cost_usual(&work);
	switch ((enum pf_pw_family)work.family) {
	case PF_PW_BCRYPT:
		pf_pw_bcrypt_waste(&work, password);
		break;
	case PF_PW_ARGON2:
		pf_pw_argon2_waste(&work, password);
		break;
	case PF_PW_ROUNDS:
		pf_pw_rounds_waste(&work, password);
		break;
	case PF_PW_QUICK:
		break;
	}
}
