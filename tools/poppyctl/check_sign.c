/*
 * A DPoP Proof as an agent signs it, to see how the servers judge it.
 */
#include "tools/poppyctl/check.h"

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/jose/jws.h"

static enum pf_rc
write_header(struct pf_arena *a, const struct pf_key *key, struct pf_str *out)
{
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, a, PF_JWS_MAX);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_strz(&w, "typ", "dpop+jwt");
	pf_jw_strz(&w, "alg", pf_alg_name(PF_ES256));
	pf_jw_raw(&w, "jwk", PF_LIT(""));
	pf_key_write(&b, key, PF_NOSTR, false);
	pf_jw_close(&w, '}');
	return pf_buf_done(&b, out);
}

static void
write_bytes(struct pf_jw *w, const char *name, const void *p, size_t n)
{
	char text[PF_B64URL_LEN(PF_SHA256_LEN)];

	pf_jw_str(w, name, pf_bytes(text, pf_b64url_encode(p, n, text)));
}

static enum pf_rc
write_claims(struct pf_arena *a, const struct ck_proof *what,
    struct pf_str *out)
{
	unsigned char jti[16], ath[PF_SHA256_LEN];
	struct pf_buf b;
	struct pf_jw w;
	enum pf_rc rc;

	if ((rc = pf_random(jti, sizeof(jti))) != PF_OK)
		return rc;
	pf_buf_init(&b, a, PF_JWS_MAX);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	write_bytes(&w, "jti", jti, sizeof(jti));
	pf_jw_strz(&w, "htm", what->method);
	pf_jw_str(&w, "htu", what->url);
	pf_jw_int(&w, "iat", pf_now_at());
	if (pf_str_given(what->token)) {
		if ((rc = pf_sha256(what->token, ath)) != PF_OK)
			return rc;
		write_bytes(&w, "ath", ath, sizeof(ath));
	}
	if (pf_str_given(what->nonce))
		pf_jw_str(&w, "nonce", what->nonce);
	pf_jw_close(&w, '}');
	return pf_buf_done(&b, out);
}

enum pf_rc
ck_sign(struct pf_arena *a, const struct pf_key *key,
    const struct ck_proof *what, struct pf_str *out)
{
	struct pf_str header, claims;
	enum pf_rc rc;

	if ((rc = write_header(a, key, &header)) != PF_OK ||
	    (rc = write_claims(a, what, &claims)) != PF_OK)
		return rc;
	return pf_jws_sign(a, key, PF_ES256, header, claims, out);
}
