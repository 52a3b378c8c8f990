#include <string.h>

#include "core/jose/key.h"
#include "core/jose/why.h"

/* What an agent's document may be (64 KiB), plus room for its tree. */
static const struct pf_json_limits limits = { 65536, 8, 2048 };

void
pf_keyset_free(struct pf_keyset *s)
{
	for (size_t i = 0; i < s->n; i++)
		pf_key_free(s->key[i]);
	memset(s, 0, sizeof(*s));
}

static bool
kid_seen(const struct pf_json *keys, size_t upto, struct pf_str kid)
{
	struct pf_str other;

	for (size_t i = 0; i < upto; i++)
		if (pf_json_str(pf_json_at(keys, i), "kid", &other) == PF_OK &&
		    pf_str_eq(other, kid))
			return true;
	return false;
}

/* What makes the whole set bad, also in a key that is passed over. */
static enum pf_rc
judge(const struct pf_json *keys, size_t i, const char **why)
{
	const struct pf_json *jwk = pf_json_at(keys, i);
	struct pf_str kid;

	if (!pf_json_is_obj(jwk))
		return pf_refuse(why, "keys holds something else than objects");
	if (pf_jwk_has_private(jwk))
		return pf_refuse(why, "a key holds a private member");
	if (!pf_json_has(jwk, "kid"))
		return PF_OK;
	if (pf_json_str(jwk, "kid", &kid) != PF_OK)
		return pf_refuse(why, "a kid is not a string");
	if (kid_seen(keys, i, kid))
		return pf_refuse(why, "two keys have the same kid");
	return PF_OK;
}

/*
 * RFC 7517, 5: keys that we don't understand, that lack members or whose values
 * are out of our range are passed over.
 */
static enum pf_rc
collect(const struct pf_json *keys, struct pf_keyset *out)
{
	const char *passed;
	struct pf_key *key;
	enum pf_rc rc;

	for (size_t i = 0; i < pf_json_len(keys); i++) {
		rc = pf_jwk_parse(pf_json_at(keys, i), &key, &passed);
		if (rc == PF_OK)
			out->key[out->n++] = key;
		else if (rc != PF_E_INPUT)
			return rc;
	}
	return PF_OK;
}

static enum pf_rc
read_set(struct pf_arena *a, struct pf_str text, struct pf_keyset *out,
    const char **why)
{
	const struct pf_json *doc, *keys;
	struct pf_json_fault fault = { 0, "not JSON" };
	enum pf_rc rc;

	rc = pf_json_parse(a, text, &limits, &doc, &fault);
	if (rc != PF_OK)
		return rc == PF_E_INPUT ? pf_refuse(why, fault.why) : rc;
	if (pf_json_arr(doc, "keys", &keys) != PF_OK)
		return pf_refuse(why, "keys is not an array");
	if (pf_json_len(keys) > PF_KEYSET_MAX)
		return pf_refuse(why, "more than 20 keys");
	for (size_t i = 0; i < pf_json_len(keys); i++)
		if ((rc = judge(keys, i, why)) != PF_OK)
			return rc;
	if ((rc = collect(keys, out)) != PF_OK)
		return rc;
	return out->n > 0 ? PF_OK : pf_refuse(why, "no usable key");
}

enum pf_rc
pf_jwks_parse(struct pf_str text, struct pf_keyset *out, const char **why)
{
	struct pf_arena a;
	enum pf_rc rc;

	memset(out, 0, sizeof(*out));
	*why = "";
	if ((rc = pf_arena_init(&a, 8192, 1 << 20)) != PF_OK)
		return rc;
	if ((rc = read_set(&a, text, out, why)) != PF_OK)
		pf_keyset_free(out);
	pf_arena_free(&a);
	return rc;
}
