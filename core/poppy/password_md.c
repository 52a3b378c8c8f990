/*
 * Hashes of a few digests: WordPress before phpass, PrestaShop, OpenCart. That
 * they can be guessed fast is nothing that we could mend.
 */
#include <string.h>

#include "core/poppy/password_in.h"

#define MD5_LEN		16
#define SHA1_LEN	20
/* OpenCart's own forms take 40 characters. */
#define OPENCART_MAX	512
#define ESCAPED_MAX	6		/* bytes of one: "&#039;" */

static enum pf_rc
same(const struct pf_pw *pw, const unsigned char *made)
{
	return pf_equal_ct(made, pw->digest, pw->ndigest) ? PF_OK : PF_E_AUTH;
}

/* MD5 over the key, if there is one, and the password. */
static enum pf_rc
md5_fits(const struct pf_pw *pw, struct pf_str password)
{
	const struct pf_str parts[] = { pw->more, password };
	unsigned char made[MD5_LEN];
	enum pf_rc rc;

	rc = pf_digest(PF_MD5, parts, PF_COUNT(parts), made);
	return rc == PF_OK ? same(pw, made) : rc;
}

enum pf_rc
pf_pw_md5_read(struct pf_str hash, struct pf_pw *out)
{
	out->fits = md5_fits;
	if (pf_pw_unhex(hash, out->digest, MD5_LEN, &out->ndigest) != PF_OK ||
	    out->ndigest != MD5_LEN)
		return PF_E_INPUT;
	return PF_OK;
}

enum pf_rc
pf_pw_prestashop_read(struct pf_str hash, struct pf_pw *out)
{
	struct pf_str digest;

	if (!pf_str_cut(&hash, ':', &digest) || hash.n == 0)
		return PF_E_INPUT;
	out->more = hash;
	return pf_pw_md5_read(digest, out);
}

/* SHA1(salt SHA1(salt SHA1(password))), the inner ones as hex. */
static enum pf_rc
sha1_thrice(const struct pf_pw *pw, struct pf_str password)
{
	struct pf_str parts[] = { PF_LIT(""), password };
	unsigned char made[SHA1_LEN];
	char hex[2 * SHA1_LEN];
	enum pf_rc rc = PF_OK;

	for (int i = 0; rc == PF_OK && i < 3; i++) {
		rc = pf_digest(PF_SHA1, parts, PF_COUNT(parts), made);
		pf_pw_hex(made, sizeof(made), hex);
		parts[0] = pw->more;
		parts[1] = pf_bytes(hex, sizeof(hex));
	}
	return rc == PF_OK ? same(pw, made) : rc;
}

static struct pf_str
escape(struct pf_str s, bool quotes, char *out)
{
	static const struct { char c; const char *as; } row[] = {
		{ '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" },
		{ '"', "&quot;" }, { '\'', "&#039;" },
	};
	size_t n = 0, nrows = PF_COUNT(row) - (quotes ? 0 : 1), j;

	for (size_t i = 0; i < s.n; i++) {
		for (j = 0; j < nrows && row[j].c != s.p[i]; j++)
			;
		if (j == nrows) {
			out[n++] = s.p[i];
			continue;
		}
		(void)memcpy(out + n, row[j].as, strlen(row[j].as));
		n += strlen(row[j].as);
	}
	return pf_bytes(out, n);
}

/*
 * OpenCart's filter of requests escapes for HTML before anything else, and from
 * release to release one that saved a password undid that or did not: the hash
 * is of the password as it is, or escaped in one of two ways.
 */
static enum pf_rc
opencart_fits(const struct pf_pw *pw, struct pf_str password)
{
	char text[OPENCART_MAX * ESCAPED_MAX];
	enum pf_rc rc;

	if (password.n > OPENCART_MAX)
		return PF_E_AUTH;
	rc = sha1_thrice(pw, password);
	if (rc == PF_E_AUTH)
		rc = sha1_thrice(pw, escape(password, false, text));
	if (rc == PF_E_AUTH)
		rc = sha1_thrice(pw, escape(password, true, text));
	pf_wipe(text, sizeof(text));
	return rc;
}

enum pf_rc
pf_pw_opencart_read(struct pf_str hash, struct pf_pw *out)
{
	struct pf_str digest;

	if (!pf_str_cut(&hash, ':', &digest) || hash.n == 0 ||
	    pf_pw_unhex(digest, out->digest, SHA1_LEN, &out->ndigest) !=
	    PF_OK || out->ndigest != SHA1_LEN)
		return PF_E_INPUT;
	out->more = hash;
	out->fits = opencart_fits;
	return PF_OK;
}
