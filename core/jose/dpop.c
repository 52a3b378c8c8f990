#include <string.h>

#include "core/jose/dpop.h"
#include "core/jose/jwt.h"
#include "core/jose/why.h"

#define JTI_MAX		256

static enum pf_rc
check_window(struct pf_arena *a, const struct pf_dpop_want *want, int64_t iat,
    const char **why)
{
	struct pf_buf b;
	struct pf_str text;

	if (iat >= want->now_at - want->past &&
	    iat <= want->now_at + want->future)
		return PF_OK;
	/* What an agent with a wrong clock must know to mend it. */
	pf_buf_init(&b, a, 256);
	pf_buf_fmt(&b, "iat %lld is outside of the window: server time %lld, "
	    "from %lld s before to %lld s after it", (long long)iat,
	    (long long)want->now_at, (long long)want->past,
	    (long long)want->future);
	pf_buf_char(&b, '\0');
	if (pf_buf_done(&b, &text) != PF_OK)
		return pf_refuse(why, "iat is outside of the window");
	return pf_refuse(why, text.p);
}

static enum pf_rc
check_iat(struct pf_arena *a, const struct pf_json *claims,
    const struct pf_dpop_want *want, int64_t *iat, const char **why)
{
	enum pf_rc rc = pf_jwt_time(claims, "iat", false, iat);

	if (rc == PF_E_ABSENT)
		return pf_refuse(why, "iat missing");
	if (rc != PF_OK)
		return pf_refuse(why, "iat is not a time");
	return check_window(a, want, *iat, why);
}

static enum pf_rc
check_request(const struct pf_json *claims, const struct pf_dpop_want *want,
    const char **why)
{
	struct pf_str s;
	enum pf_rc rc;

	if ((rc = pf_json_str(claims, "htm", &s)) == PF_E_ABSENT)
		return pf_refuse(why, "htm missing");
	if (rc != PF_OK || !pf_str_eq(s, want->method))
		return pf_refuse(why, "htm is not the request's method");
	if ((rc = pf_json_str(claims, "htu", &s)) == PF_E_ABSENT)
		return pf_refuse(why, "htu missing");
	if (rc != PF_OK || !pf_dpop_same_url(s, want->url))
		return pf_refuse(why, "htu is not the request's URL");
	return PF_OK;
}

static enum pf_rc
check_ath(const struct pf_json *claims, struct pf_str token, const char **why)
{
	char text[PF_B64URL_LEN(PF_SHA256_LEN)];
	unsigned char hash[PF_SHA256_LEN];
	struct pf_str ath;
	enum pf_rc rc;

	if (!pf_str_given(token))
		return PF_OK;
	if ((rc = pf_json_str(claims, "ath", &ath)) == PF_E_ABSENT)
		return pf_refuse(why, "ath missing");
	if (rc != PF_OK || ath.n != sizeof(text))
		return pf_refuse(why, "ath is not a SHA-256 in base64url");
	if ((rc = pf_sha256(token, hash)) != PF_OK)
		return rc;
	(void)pf_b64url_encode(hash, sizeof(hash), text);
	if (!pf_equal_ct(text, ath.p, sizeof(text)))
		return pf_refuse(why, "ath is not the token's");
	return PF_OK;
}

/* The first half of SHA-256 over thumbprint and jti: keys that count their jti
 * from 1 don't meet. */
static enum pf_rc
spend_key(struct pf_proof *p, struct pf_str jti)
{
	unsigned char text[PF_SHA256_LEN + JTI_MAX], hash[PF_SHA256_LEN];
	enum pf_rc rc;

	memcpy(text, p->jkt, PF_SHA256_LEN);
	memcpy(text + PF_SHA256_LEN, jti.p, jti.n);
	if ((rc = pf_sha256(pf_bytes(text, PF_SHA256_LEN + jti.n),
	    hash)) == PF_OK)
		memcpy(p->spend, hash, sizeof(p->spend));
	return rc;
}

static enum pf_rc
check_jti(const struct pf_json *claims, struct pf_str *jti, const char **why)
{
	enum pf_rc rc = pf_json_str(claims, "jti", jti);

	if (rc == PF_E_ABSENT)
		return pf_refuse(why, "jti missing");
	if (rc != PF_OK || jti->n == 0 || jti->n > JTI_MAX)
		return pf_refuse(why, "jti is not a string of 1 to 256 bytes");
	return PF_OK;
}

static enum pf_rc
check_claims(struct pf_arena *a, const struct pf_json *claims,
    const struct pf_dpop_want *want, struct pf_proof *out, struct pf_str *jti,
    const char **why)
{
	enum pf_rc rc;

	if ((rc = check_request(claims, want, why)) != PF_OK)
		return rc;
	if ((rc = check_iat(a, claims, want, &out->iat, why)) != PF_OK)
		return rc;
	if ((rc = check_jti(claims, jti, why)) != PF_OK)
		return rc;
	if ((rc = check_ath(claims, want->token, why)) != PF_OK)
		return rc;
	if (pf_json_has(claims, "nonce") &&
	    pf_json_str(claims, "nonce", &out->nonce) != PF_OK)
		return pf_refuse(why, "nonce is not a string");
	return PF_OK;
}

static enum pf_rc
check_with_key(struct pf_arena *a, const struct pf_jws *jws,
    const struct pf_key *key, const struct pf_dpop_want *want,
    struct pf_proof *out, const char **why)
{
	struct pf_str jti;
	enum pf_rc rc;

	if (!pf_key_fits(key, jws->alg))
		return pf_refuse(why, "alg does not fit the proof's own key");
	if ((rc = check_claims(a, jws->claims, want, out, &jti, why)) != PF_OK)
		return rc;
	if ((rc = pf_jws_verify(jws, key)) == PF_E_AUTH)
		return pf_refuse(why,
		    "the signature is not by the proof's own key");
	if (rc != PF_OK)
		return rc;
	memcpy(out->jkt, pf_key_thumbprint(key), sizeof(out->jkt));
	return spend_key(out, jti);
}

enum pf_rc
pf_dpop_check(struct pf_arena *a, struct pf_str header,
    const struct pf_dpop_want *want, struct pf_proof *out, const char **why)
{
	const struct pf_json *jwk;
	struct pf_key *key;
	struct pf_jws jws;
	enum pf_rc rc;

	memset(out, 0, sizeof(*out));
	*why = "";
	/* Servers join two fields of one name as "a, b". */
	if (pf_str_has(header, ',') || pf_str_has(header, ' '))
		return pf_refuse(why, "not exactly one DPoP proof");
	if ((rc = pf_jws_parse(a, header, true, &jws, why)) != PF_OK)
		return rc;
	if (!pf_jwt_typ_is(jws.typ, "dpop+jwt"))
		return pf_refuse(why, "typ is not dpop+jwt");
	if (pf_json_obj(jws.header, "jwk", &jwk) != PF_OK)
		return pf_refuse(why, "jwk missing");
	if ((rc = pf_jwk_parse(jwk, &key, why)) != PF_OK)
		return rc;
	rc = check_with_key(a, &jws, key, want, out, why);
	pf_key_free(key);
	return rc;
}
