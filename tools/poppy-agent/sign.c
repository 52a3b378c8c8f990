#include "config.h"

#include "tools/poppy-agent/sign.h"

#include "core/base/random.h"

/* A minute, as in the draft's examples: companies take up to five, but no more
 * than one of a browser assertion. */
#define ASSERTION_SECONDS	60
#define JWT_MAX			PF_JWS_MAX

enum pf_rc
ag_random_id(struct pf_arena *a, const char *prefix, struct pf_str *out)
{
	unsigned char raw[AG_ID_BYTES];
	struct pf_buf b;
	enum pf_rc rc;

	if ((rc = pf_random(raw, sizeof(raw))) != PF_OK)
		return rc;
	pf_buf_init(&b, a, 128);
	pf_buf_addz(&b, prefix);
	pf_buf_b64url(&b, raw, sizeof(raw));
	pf_wipe(raw, sizeof(raw));
	return pf_buf_done(&b, out);
}

/* What all assertions of a client say; a browser assertion names the Session
 * and a page besides. */
static enum pf_rc
sign(struct pf_arena *a, const struct ag_key *key, const char *typ,
    const struct ag_browser_for *want, struct pf_str *out)
{
	struct pf_buf h, p;
	struct pf_str jti, header, payload;
	struct pf_jw w;
	enum pf_rc rc;

	if ((rc = ag_random_id(a, "", &jti)) != PF_OK)
		return rc;
	pf_buf_init(&h, a, JWT_MAX);
	w = pf_jw(&h);
	pf_jw_open(&w, NULL, '{');
	pf_jw_strz(&w, "typ", typ);
	pf_jw_strz(&w, "alg", pf_alg_name(key->alg));
	pf_jw_str(&w, "kid", key->kid);
	pf_jw_close(&w, '}');
	pf_buf_init(&p, a, JWT_MAX);
	w = pf_jw(&p);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "iss", want->iss);
	pf_jw_str(&w, "sub", want->sub);
	pf_jw_str(&w, "aud", want->aud);
	if (pf_str_given(want->session_id)) {
		pf_jw_str(&w, "session_id", want->session_id);
		pf_jw_str(&w, "return_to", want->return_to);
	}
	pf_jw_int(&w, "iat", want->now_at);
	pf_jw_int(&w, "exp", want->now_at + ASSERTION_SECONDS);
	pf_jw_str(&w, "jti", jti);
	pf_jw_close(&w, '}');
	if ((rc = pf_buf_done(&h, &header)) != PF_OK ||
	    (rc = pf_buf_done(&p, &payload)) != PF_OK)
		return rc;
	return pf_jws_sign(a, key->key, key->alg, header, payload, out);
}

enum pf_rc
ag_sign_assertion(struct pf_arena *a, const struct ag_key *key,
    struct pf_str iss, struct pf_str sub, struct pf_str aud, int64_t now_at,
    struct pf_str *out)
{
	const struct ag_browser_for want = { .iss = iss, .sub = sub,
	    .aud = aud, .now_at = now_at };

	return sign(a, key, "JWT", &want, out);
}

enum pf_rc
ag_sign_browser(struct pf_arena *a, const struct ag_key *key,
    const struct ag_browser_for *want, struct pf_str *out)
{
	if (!pf_str_given(want->session_id) || !pf_str_given(want->return_to))
		return PF_E_BUG;
	return sign(a, key, "poppy-browser+jwt", want, out);
}

static enum pf_rc
token_hash(struct pf_jw *w, struct pf_arena *a, struct pf_str token)
{
	unsigned char hash[PF_SHA256_LEN];
	struct pf_buf b;
	enum pf_rc rc;

	if ((rc = pf_sha256(token, hash)) != PF_OK)
		return rc;
	pf_buf_init(&b, a, 64);
	pf_buf_b64url(&b, hash, sizeof(hash));
	pf_jw_str(w, "ath", pf_buf_str(&b));
	return PF_OK;
}

struct pf_str
ag_htu(struct pf_str url)
{
	url = pf_str_head(url, pf_str_find(url, '#'));
	return pf_str_head(url, pf_str_find(url, '?'));
}

enum pf_rc
ag_sign_proof(struct pf_arena *a, const struct pf_key *key,
    const struct ag_proof_for *want, struct pf_str *out)
{
	struct pf_buf h, p;
	struct pf_str jti, header, payload;
	struct pf_jw w;
	enum pf_rc rc;

	if ((rc = ag_random_id(a, "", &jti)) != PF_OK)
		return rc;
	pf_buf_init(&h, a, JWT_MAX);
	w = pf_jw(&h);
	pf_jw_open(&w, NULL, '{');
	pf_jw_strz(&w, "typ", "dpop+jwt");
	pf_jw_strz(&w, "alg", pf_alg_name(PF_ES256));
	pf_jw_raw(&w, "jwk", PF_LIT(""));
	pf_key_write(&h, key, PF_NOSTR, false);
	pf_jw_close(&w, '}');
	pf_buf_init(&p, a, JWT_MAX);
	w = pf_jw(&p);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "jti", jti);
	pf_jw_strz(&w, "htm", want->method);
	pf_jw_str(&w, "htu", ag_htu(want->url));
	pf_jw_int(&w, "iat", want->now_at);
	if (pf_str_given(want->token) &&
	    (rc = token_hash(&w, a, want->token)) != PF_OK)
		return rc;
	if (want->nonce.n > 0)
		pf_jw_str(&w, "nonce", want->nonce);
	pf_jw_close(&w, '}');
	if ((rc = pf_buf_done(&h, &header)) != PF_OK ||
	    (rc = pf_buf_done(&p, &payload)) != PF_OK)
		return rc;
	return pf_jws_sign(a, key, PF_ES256, header, payload, out);
}
