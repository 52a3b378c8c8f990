#include <string.h>

#include "core/jose/key.h"
#include "core/jose/jws.h"
#include "core/jose/why.h"

/* Header parameters that change what a signature means, or whose key to use.
 * We know none of them, so a JWS that needs them isn't for us. */
static const struct { const char *name, *reason; } refused[] = {
	{ "crit", "crit is not supported" },
	{ "b64", "b64 is not supported" },
	{ "zip", "zip is not supported" },
	{ "enc", "this is encrypted, not signed" },
	{ "jku", "a key by reference (jku) is not trusted" },
	{ "x5u", "a key by reference (x5u) is not trusted" },
	{ "x5c", "an embedded certificate (x5c) is not trusted" },
};

/* One part of base64url whose content is an object. */
static enum pf_rc
object(struct pf_arena *a, struct pf_str part, const struct pf_json **out,
    const char *not_text, const char *not_object, const char **why)
{
	struct pf_str text;
	char *raw;
	enum pf_rc rc;

	if ((raw = pf_arena_alloc(a, part.n)) == NULL)
		return PF_E_MEM;
	text.p = raw;
	if (pf_b64url_decode(part, raw, part.n, &text.n) != PF_OK)
		return pf_refuse(why, not_text);
	rc = pf_json_parse(a, text, &pf_json_small, out, NULL);
	if (rc == PF_E_INPUT || (rc == PF_OK && !pf_json_is_obj(*out)))
		return pf_refuse(why, not_object);
	return rc;
}

static enum pf_rc
optional(const struct pf_json *obj, const char *name, const char *reason,
    struct pf_str *out, const char **why)
{
	*out = PF_NOSTR;
	if (pf_json_has(obj, name) && pf_json_str(obj, name, out) != PF_OK)
		return pf_refuse(why, reason);
	return PF_OK;
}

static enum pf_rc
read_header(bool allow_jwk, struct pf_jws *out, const char **why)
{
	struct pf_str alg;
	enum pf_rc rc;

	if (pf_json_str(out->header, "alg", &alg) != PF_OK)
		return pf_refuse(why, "alg missing");
	if ((out->alg = pf_alg_parse(alg)) == PF_ALG_NONE)
		return pf_refuse(why, "alg is none of " PF_ALG_ALL);
	for (size_t i = 0; i < PF_COUNT(refused); i++)
		if (pf_json_has(out->header, refused[i].name))
			return pf_refuse(why, refused[i].reason);
	if (!allow_jwk && pf_json_has(out->header, "jwk"))
		return pf_refuse(why, "an embedded key (jwk) is not trusted");
	rc = optional(out->header, "typ", "typ is not a string", &out->typ,
	    why);
	if (rc != PF_OK)
		return rc;
	return optional(out->header, "kid", "kid is not a string", &out->kid,
	    why);
}

/* Exactly three parts, none empty. */
static bool
split(struct pf_str text, struct pf_str part[3])
{
	struct pf_str rest = text;
	size_t n = 0;

	while (n < 3 && pf_str_cut(&rest, '.', &part[n])) {
		if (part[n].n == 0)
			return false;
		n++;
	}
	return n == 3 && part[0].n + part[1].n + part[2].n + 2 == text.n;
}

enum pf_rc
pf_jws_parse(struct pf_arena *a, struct pf_str text, bool allow_jwk,
    struct pf_jws *out, const char **why)
{
	struct pf_str part[3];
	enum pf_rc rc;

	memset(out, 0, sizeof(*out));
	*why = "";
	if (text.n > PF_JWS_MAX)
		return pf_refuse(why, "longer than 8192 bytes");
	if (!split(text, part))
		return pf_refuse(why, "not three parts with dots between");
	rc = object(a, part[0], &out->header, "the header is not base64url",
	    "the header is not a JSON object", why);
	if (rc != PF_OK)
		return rc;
	if ((rc = read_header(allow_jwk, out, why)) != PF_OK)
		return rc;
	rc = object(a, part[1], &out->claims, "the payload is not base64url",
	    "the payload is not a JSON object", why);
	if (rc != PF_OK)
		return rc;
	if (pf_b64url_decode(part[2], out->sig, sizeof(out->sig),
	    &out->nsig) != PF_OK)
		return pf_refuse(why, "the signature is not base64url");
	out->signed_part = pf_str_head(text, part[0].n + 1 + part[1].n);
	return PF_OK;
}

enum pf_rc
pf_jws_verify(const struct pf_jws *jws, const struct pf_key *k)
{
	return pf_sig_verify(k, jws->alg, jws->signed_part, jws->sig,
	    jws->nsig);
}

static const struct pf_key *
key_of(const struct pf_keyset *set, struct pf_str kid)
{
	struct pf_str own;

	for (size_t i = 0; i < set->n; i++) {
		own = pf_key_kid(set->key[i]);
		if (pf_str_given(own) && pf_str_eq(own, kid))
			return set->key[i];
	}
	return NULL;
}

enum pf_rc
pf_jws_verify_set(const struct pf_jws *jws, const struct pf_keyset *set)
{
	enum pf_rc rc = PF_E_ABSENT;
	const struct pf_key *k;

	if (pf_str_given(jws->kid)) {
		if ((k = key_of(set, jws->kid)) == NULL)
			return PF_E_ABSENT;
		return pf_jws_verify(jws, k);
	}
	for (size_t i = 0; i < set->n && rc != PF_OK; i++)
		if (pf_key_fits(set->key[i], jws->alg))
			rc = pf_jws_verify(jws, set->key[i]);
	return rc;
}

enum pf_rc
pf_jws_sign(struct pf_arena *a, const struct pf_key *k, enum pf_alg alg,
    struct pf_str header, struct pf_str payload, struct pf_str *out)
{
	unsigned char sig[PF_RSA_MAX];
	struct pf_buf b;
	enum pf_rc rc;
	size_t n;

	pf_buf_init(&b, a, PF_JWS_MAX);
	pf_buf_b64url(&b, header.p, header.n);
	pf_buf_char(&b, '.');
	pf_buf_b64url(&b, payload.p, payload.n);
	if ((rc = pf_buf_done(&b, out)) != PF_OK)
		return rc;
	if ((rc = pf_sig_make(k, alg, *out, sig, &n)) != PF_OK)
		return rc;
	pf_buf_char(&b, '.');
	pf_buf_b64url(&b, sig, n);
	return pf_buf_done(&b, out);
}
