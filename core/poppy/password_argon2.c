/*
 * Argon2, by libargon2; the one file that knows it.
 *
 *	$argon2id$v=19$m=65536,t=4,p=1$SALT$HASH
 *
 * The text is read here and not by the library, which would allocate whatever
 * it asks for.
 */
#include <argon2.h>

#include "core/poppy/password_in.h"

#define VERSION_OLD	0x10		/* where none is given */
#define SALT_MIN	8
#define DIGEST_MIN	16

enum pf_rc
pf_pw_argon2_caps(const struct pf_pw_work *w)
{
	if (w->passes < 1 || w->passes > PF_ARGON2_PASSES_MAX ||
	    w->lanes < 1 || w->lanes > PF_ARGON2_LANES_MAX ||
	    w->kib < 8 * w->lanes || w->kib > PF_ARGON2_KIB_MAX ||
	    w->kib * w->passes > PF_ARGON2_WORK_MAX)
		return PF_E_INPUT;
	return PF_OK;
}

/* Lanes are worked on one after the other: a check has one thread. */
enum pf_rc
pf_pw_argon2(const struct pf_pw_work *w, struct pf_str password,
    struct pf_str salt, unsigned char *out)
{
	argon2_context c = {
		.out = out, .outlen = w->length,
		.pwd = (uint8_t *)(uintptr_t)password.p,
		.pwdlen = (uint32_t)password.n,
		.salt = (uint8_t *)(uintptr_t)salt.p,
		.saltlen = (uint32_t)salt.n,
		.t_cost = w->passes, .m_cost = w->kib,
		.lanes = w->lanes, .threads = 1, .version = w->version,
		.flags = ARGON2_DEFAULT_FLAGS,
	};

	switch (argon2_ctx(&c, w->kind == 1 ? Argon2_i : Argon2_id)) {
	case ARGON2_OK:
		return PF_OK;
	case ARGON2_MEMORY_ALLOCATION_ERROR:
		return PF_E_MEM;
	default:
		return PF_E_BUG;
	}
}

static enum pf_rc
fits(const struct pf_pw *pw, struct pf_str password)
{
	unsigned char made[PF_DIGEST_MAX];
	enum pf_rc rc;

	rc = pf_pw_argon2(&pw->work, password, pf_bytes(pw->salt, pw->nsalt),
	    made);
	if (rc == PF_OK && !pf_equal_ct(made, pw->digest, pw->ndigest))
		rc = PF_E_AUTH;
	pf_wipe(made, sizeof(made));
	return rc;
}

/* "m=65536" as the next of list. */
static enum pf_rc
number(struct pf_str *list, char name, uint32_t *out)
{
	struct pf_str one;
	int64_t v;

	if (!pf_str_cut(list, ',', &one) || one.n < 3 || one.p[0] != name ||
	    one.p[1] != '=' || one.p[2] == '0' ||
	    pf_str_int(pf_str_from(one, 2), 1, PF_ARGON2_KIB_MAX, &v) != PF_OK)
		return PF_E_INPUT;
	*out = (uint32_t)v;
	return PF_OK;
}

static enum pf_rc
read_costs(struct pf_str list, struct pf_pw_work *w)
{
	struct pf_str none;

	if (number(&list, 'm', &w->kib) != PF_OK ||
	    number(&list, 't', &w->passes) != PF_OK ||
	    number(&list, 'p', &w->lanes) != PF_OK ||
	    pf_str_cut(&list, ',', &none))
		return PF_E_INPUT;
	return pf_pw_argon2_caps(w);
}

/* "$argon2id$" and "v=19$", which old ones lack. */
static enum pf_rc
read_head(struct pf_str *rest, struct pf_pw_work *w)
{
	struct pf_str one;

	w->family = PF_PW_ARGON2;
	if (!pf_str_cut(rest, '$', &one) || one.n != 0 ||
	    !pf_str_cut(rest, '$', &one))
		return PF_E_INPUT;
	if (pf_str_eqz(one, "argon2i"))
		w->kind = 1;
	else if (pf_str_eqz(one, "argon2id"))
		w->kind = 2;
	else
		return PF_E_INPUT;
	w->version = VERSION_OLD;
	if (!pf_str_starts(*rest, PF_LIT("v=")))
		return PF_OK;
	w->version = ARGON2_VERSION_13;
	return pf_str_cut(rest, '$', &one) && pf_str_eqz(one, "v=19") ?
	    PF_OK : PF_E_INPUT;
}

enum pf_rc
pf_pw_argon2_read(struct pf_str hash, struct pf_pw *out)
{
	struct pf_str costs, salt, digest, none;

	if (read_head(&hash, &out->work) != PF_OK ||
	    !pf_str_cut(&hash, '$', &costs) ||
	    !pf_str_cut(&hash, '$', &salt) ||
	    !pf_str_cut(&hash, '$', &digest) ||
	    pf_str_cut(&hash, '$', &none) ||
	    read_costs(costs, &out->work) != PF_OK ||
	    pf_pw_unbase64(salt, out->salt, sizeof(out->salt),
	    &out->nsalt) != PF_OK || out->nsalt < SALT_MIN ||
	    pf_pw_unbase64(digest, out->digest, sizeof(out->digest),
	    &out->ndigest) != PF_OK || out->ndigest < DIGEST_MIN)
		return PF_E_INPUT;
	out->work.length = (uint32_t)out->ndigest;
	out->fits = fits;
	return PF_OK;
}

void
pf_pw_argon2_waste(const struct pf_pw_work *w, struct pf_str password)
{
	unsigned char made[PF_DIGEST_MAX];

	(void)!pf_pw_argon2(w, password, PF_LIT("nobody's own salt"), made);
	pf_wipe(made, sizeof(made));
}
