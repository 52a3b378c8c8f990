/*
 * Magento: HASH:SALT:VERSION. Where its hashes were upgraded in place VERSION
 * is a chain, "0:1": the newer over what the older gave, in hex.
 *
 *	0		MD5 over salt and password
 *	1		SHA-256 over them
 *	2		Argon2id of libsodium, "interactive"
 *	3_32_2_67108864	the same with result, passes and bytes of memory given
 *
 * Magento 1 has HASH:SALT, and the hash's length says which.
 */
#include <string.h>

#include "core/poppy/password_in.h"

#define SODIUM_SALT	16
#define INTERACTIVE_KIB	65536
#define INTERACTIVE_PASSES	2
#define RESULT		32

/* Its salt is cut, or repeated, to what libsodium takes. */
static enum pf_rc
argon2(const struct pf_pw *pw, struct pf_str in, unsigned char *out)
{
	char salt[SODIUM_SALT];

	for (size_t i = 0; i < sizeof(salt); i++)
		salt[i] = pw->more.p[i % pw->more.n];
	return pf_pw_argon2(&pw->work, in, pf_bytes(salt, sizeof(salt)), out);
}

static enum pf_rc
chain(const struct pf_pw *pw, struct pf_str in,
    unsigned char made[PF_DIGEST_MAX], char hex[2 * PF_DIGEST_MAX])
{
	struct pf_str parts[] = { pw->more, in };
	enum pf_rc rc = PF_OK;
	size_t n;

	for (size_t i = 0; rc == PF_OK && i < pw->nsteps; i++) {
		if (i == pw->argon2_at) {
			rc = argon2(pw, parts[1], made);
			n = pw->work.length;
		} else {
			rc = pf_digest(pw->step[i], parts, PF_COUNT(parts),
			    made);
			n = pf_digest_len(pw->step[i]);
		}
		pf_pw_hex(made, n, hex);
		parts[1] = pf_bytes(hex, 2 * n);
	}
	if (rc != PF_OK)
		return rc;
	return pf_equal_ct(made, pw->digest, pw->ndigest) ? PF_OK : PF_E_AUTH;
}

static enum pf_rc
fits(const struct pf_pw *pw, struct pf_str password)
{
	unsigned char made[PF_DIGEST_MAX];
	char hex[2 * PF_DIGEST_MAX];
	enum pf_rc rc;

	rc = chain(pw, password, made, hex);
	pf_wipe(made, sizeof(made));
	pf_wipe(hex, sizeof(hex));
	return rc;
}

/* "32_2_67108864", or nothing: libsodium's defaults. */
static enum pf_rc
read_argon2(struct pf_str given, struct pf_pw_work *w)
{
	int64_t v[3] = { RESULT, INTERACTIVE_PASSES, INTERACTIVE_KIB * 1024 };
	struct pf_str one;
	size_t n = 0;

	while (pf_str_given(given) && pf_str_cut(&given, '_', &one)) {
		if (n == PF_COUNT(v) || pf_str_int(one, 1,
		    (int64_t)PF_ARGON2_KIB_MAX * 1024, &v[n]) != PF_OK)
			return PF_E_INPUT;
		n++;
	}
	if ((n != 0 && n != PF_COUNT(v)) || v[0] < RESULT ||
	    v[0] > PF_DIGEST_MAX)
		return PF_E_INPUT;
	*w = (struct pf_pw_work){
		.family = PF_PW_ARGON2, .kind = 2, .version = 0x13,
		.lanes = 1, .length = (uint32_t)v[0],
		.passes = (uint32_t)v[1], .kib = (uint32_t)(v[2] / 1024),
	};
	return pf_pw_argon2_caps(w);
}

static enum pf_rc
add_argon2(struct pf_str given, struct pf_pw *out)
{
	if (out->argon2_at != PF_PW_STEPS_MAX || out->more.n == 0)
		return PF_E_INPUT;
	out->argon2_at = out->nsteps++;
	return read_argon2(given, &out->work);
}

/* How many bytes the chain's end has in *n. */
static enum pf_rc
read_steps(struct pf_str versions, struct pf_pw *out, size_t *n)
{
	struct pf_str one;
	enum pf_rc rc = PF_OK;

	out->argon2_at = PF_PW_STEPS_MAX;
	while (rc == PF_OK && pf_str_cut(&versions, ':', &one)) {
		if (out->nsteps == PF_PW_STEPS_MAX)
			return PF_E_INPUT;
		if (pf_str_eqz(one, "2"))
			rc = add_argon2(PF_NOSTR, out);
		else if (pf_str_starts(one, PF_LIT("3_")))
			rc = add_argon2(pf_str_from(one, 2), out);
		else if (pf_str_eqz(one, "0"))
			out->step[out->nsteps++] = PF_MD5;
		else if (pf_str_eqz(one, "1"))
			out->step[out->nsteps++] = PF_SHA256;
		else
			return PF_E_INPUT;
	}
	if (rc != PF_OK)
		return rc;
	*n = out->argon2_at == out->nsteps - 1 ? out->work.length :
	    pf_digest_len(out->step[out->nsteps - 1]);
	return PF_OK;
}

enum pf_rc
pf_pw_magento_read(struct pf_str hash, struct pf_pw *out)
{
	struct pf_str digest;
	size_t n;

	if (!pf_str_cut(&hash, ':', &digest) ||
	    !pf_str_cut(&hash, ':', &out->more))
		return PF_E_INPUT;
	if (!pf_str_given(hash))
		hash = digest.n == 32 ? PF_LIT("0") : PF_LIT("1");
	if (pf_pw_unhex(digest, out->digest, sizeof(out->digest),
	    &out->ndigest) != PF_OK || read_steps(hash, out, &n) != PF_OK ||
	    n != out->ndigest)
		return PF_E_INPUT;
	out->fits = fits;
	return PF_OK;
}
