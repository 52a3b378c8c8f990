#include <string.h>

#include "core/base/random.h"
#include "core/store/token.h"

#define PREFIX		4
#define BUCKET		2
#define RAW		32
#define SID_PREFIX	"ses_"

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void
put_bucket(unsigned bucket, char out[BUCKET])
{
	out[0] = alphabet[bucket >> 6];
	out[1] = alphabet[bucket & 63];
}

/* The bucket, which is no secret, or -1. */
static int
get_bucket(const char *p)
{
	int v = 0;

	for (size_t i = 0; i < BUCKET; i++) {
		const char *at = memchr(alphabet, p[i], sizeof(alphabet) - 1);

		if (at == NULL)
			return -1;
		v = v * 64 + (int)(at - alphabet);
	}
	return v;
}

enum pf_rc
pf_token_of(const char *prefix, unsigned bucket,
    const unsigned char raw[PF_SHA256_LEN], struct pf_token *out)
{
	memset(out, 0, sizeof(*out));
	if (strlen(prefix) != PREFIX || bucket >= PF_BUCKETS)
		return PF_E_BUG;
	memcpy(out->text, prefix, PREFIX);
	put_bucket(bucket, out->text + PREFIX);
	(void)pf_b64url_encode(raw, RAW, out->text + PREFIX + BUCKET);
	return PF_OK;
}

enum pf_rc
pf_token_new(const char *prefix, unsigned bucket, struct pf_token *out)
{
	unsigned char raw[RAW];
	enum pf_rc rc;

	memset(out, 0, sizeof(*out));
	if ((rc = pf_random(raw, sizeof(raw))) != PF_OK)
		return rc;
	rc = pf_token_of(prefix, bucket, raw, out);
	pf_wipe(raw, sizeof(raw));
	return rc;
}

/* prefix, bucket and n bytes of base64url, and nothing else. */
static enum pf_rc
parse(struct pf_str prefix, struct pf_str text, unsigned char *raw, size_t n,
    unsigned *bucket)
{
	size_t got;
	int b;

	if (text.n != PREFIX + BUCKET + PF_B64URL_LEN(n) ||
	    prefix.n != PREFIX || !pf_str_starts(text, prefix))
		return PF_E_INPUT;
	if ((b = get_bucket(text.p + PREFIX)) < 0)
		return PF_E_INPUT;
	if (pf_b64url_decode(pf_str_from(text, PREFIX + BUCKET), raw, n,
	    &got) != PF_OK || got != n)
		return PF_E_INPUT;
	*bucket = (unsigned)b;
	return PF_OK;
}

enum pf_rc
pf_token_parse(const char *prefix, struct pf_str text, unsigned *bucket)
{
	unsigned char raw[RAW];
	unsigned b;
	enum pf_rc rc;

	rc = parse(pf_str(prefix), text, raw, sizeof(raw), &b);
	pf_wipe(raw, sizeof(raw));
	if (rc == PF_OK && bucket != NULL)
		*bucket = b;
	return rc;
}

enum pf_rc
pf_token_hash(struct pf_str text, struct pf_tokenhash *out)
{
	return pf_sha256(text, out->b);
}

void
pf_token_wipe(struct pf_token *t)
{
	pf_wipe(t, sizeof(*t));
}

enum pf_rc
pf_sid_new(unsigned bucket, struct pf_sid *out)
{
	memset(out, 0, sizeof(*out));
	if (bucket >= PF_BUCKETS)
		return PF_E_BUG;
	out->bucket = bucket;
	return pf_random(out->raw, sizeof(out->raw));
}

enum pf_rc
pf_sid_parse(struct pf_str text, struct pf_sid *out)
{
	memset(out, 0, sizeof(*out));
	return parse(PF_LIT(SID_PREFIX), text, out->raw, sizeof(out->raw),
	    &out->bucket);
}

void
pf_sid_text(const struct pf_sid *s, char out[PF_SID_TEXT])
{
	memcpy(out, SID_PREFIX, PREFIX);
	put_bucket(s->bucket, out + PREFIX);
	(void)pf_b64url_encode(s->raw, PF_SID_RAW, out + PREFIX + BUCKET);
}
