/*
 * JWTs as they must be, but for one mistake.
 */
#include "config.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/jose/jws.h"
#include "tools/poppy-agent/check.h"
#include "tools/poppy-agent/nonce.h"
#include "tools/poppy-agent/sign.h"

#define JWT_MAX		16384
#define MEMBERS_MAX	10
#define LIFE		60

struct members {
	size_t n;
	struct { const char *name; struct pf_str json; } v[MEMBERS_MAX];
};

static void
raw(struct members *m, const char *name, struct pf_str json)
{
	m->v[m->n].name = name;
	m->v[m->n++].json = json;
}

static void
text(struct ck *ck, struct members *m, const char *name, struct pf_str s)
{
	struct pf_buf b;

	pf_buf_init(&b, &ck->ag->arena, JWT_MAX);
	pf_json_quote(&b, s);
	raw(m, name, pf_buf_str(&b));
}

static void
number(struct ck *ck, struct members *m, const char *name, int64_t v)
{
	struct pf_buf b;

	pf_buf_init(&b, &ck->ag->arena, 32);
	pf_buf_int(&b, v);
	raw(m, name, pf_buf_str(&b));
}

static size_t
find(const struct members *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (strcmp(m->v[i].name, name) == 0)
			break;
	return i;
}

/* Set, add or take away one member. */
static void
change(struct ck *ck, struct members *m, const struct ck_bend *b)
{
	size_t at = find(m, b->name);
	struct members one = { 0 };

	if (b->how == CK_DROP || (b->how == CK_HEAD && b->value == NULL)) {
		if (at < m->n)
			m->v[at] = m->v[--m->n];
		return;
	}
	if (b->how == CK_TIME)
		number(ck, &one, b->name, pf_now_at() + b->offset);
	else
		raw(&one, b->name, pf_str(b->value));
	m->v[at] = one.v[0];
	if (at == m->n)
		m->n++;
}

static struct pf_str
object(struct ck *ck, const struct members *m)
{
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, &ck->ag->arena, JWT_MAX);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	for (size_t i = 0; i < m->n; i++)
		pf_jw_raw(&w, m->v[i].name, m->v[i].json);
	pf_jw_close(&w, '}');
	return pf_buf_str(&b);
}

/* Another character in the middle of the signature. */
static void
tamper(struct pf_str jws)
{
	char *p = (char *)(uintptr_t)jws.p + jws.n - 40;

	*p = *p == 'A' ? 'B' : 'A';
}

static enum pf_rc
finish(struct ck *ck, struct members *head, struct members *claims,
    const struct pf_key *key, enum pf_alg alg, const struct ck_bend *b,
    struct pf_str *out)
{
	enum pf_rc rc;

	if (b != NULL && b->how == CK_DROP && b->name == NULL) {
		*out = PF_NOSTR;
		return PF_OK;
	}
	if (b != NULL && b->how == CK_HEAD)
		change(ck, head, b);
	else if (b != NULL && b->name != NULL)
		change(ck, claims, b);
	if (b != NULL && b->how == CK_STRANGER) {
		key = ck->stranger;
		alg = PF_ES256;
	}
	rc = pf_jws_sign(&ck->ag->arena, key, alg, object(ck, head),
	    object(ck, claims), out);
	if (rc == PF_OK && b != NULL && b->how == CK_TAMPER)
		tamper(*out);
	return rc;
}

static enum pf_rc
assertion(struct ck *ck, struct pf_str sub, const struct ck_bend *b,
    struct pf_str *out)
{
	struct members head = { 0 }, claims = { 0 };
	int64_t now = pf_now_at();
	struct pf_str jti;
	enum pf_rc rc;

	if ((rc = ag_random_id(&ck->ag->arena, "", &jti)) != PF_OK)
		return rc;
	text(ck, &head, "alg", pf_str(pf_alg_name(ck->key->alg)));
	text(ck, &head, "typ", PF_LIT("JWT"));
	text(ck, &head, "kid", ck->key->kid);
	text(ck, &claims, "iss", ck->ag->st.client_id);
	text(ck, &claims, "sub", sub);
	text(ck, &claims, "aud", ck->company->token_endpoint);
	number(ck, &claims, "iat", now);
	number(ck, &claims, "exp", now + LIFE);
	text(ck, &claims, "jti", jti);
	return finish(ck, &head, &claims, ck->key->key, ck->key->alg, b, out);
}

enum pf_rc
ck_sign_browser(struct ck *ck, struct pf_str return_to,
    const struct ck_bend *b, struct pf_str *out)
{
	struct members head = { 0 }, claims = { 0 };
	int64_t now = pf_now_at();
	struct pf_str jti;
	enum pf_rc rc;

	if ((rc = ag_random_id(&ck->ag->arena, "", &jti)) != PF_OK)
		return rc;
	text(ck, &head, "alg", pf_str(pf_alg_name(ck->key->alg)));
	text(ck, &head, "typ", PF_LIT("poppy-browser+jwt"));
	text(ck, &head, "kid", ck->key->kid);
	text(ck, &claims, "iss", ck->ag->st.client_id);
	text(ck, &claims, "sub", ck->user_id);
	text(ck, &claims, "aud", ck->company->browser_endpoint);
	text(ck, &claims, "session_id", ck->session_id);
	text(ck, &claims, "return_to", return_to);
	number(ck, &claims, "iat", now);
	number(ck, &claims, "exp", now + LIFE);
	text(ck, &claims, "jti", jti);
	return finish(ck, &head, &claims, ck->key->key, ck->key->alg, b, out);
}

static enum pf_rc
proof(struct ck *ck, const char *method, struct pf_str url, struct pf_str token,
    const struct ck_bend *b, struct pf_str *out)
{
	struct members head = { 0 }, claims = { 0 };
	unsigned char hash[PF_SHA256_LEN];
	char ath[PF_B64URL_LEN(PF_SHA256_LEN)];
	struct pf_str jti, jwk, nonce;
	struct pf_buf j;
	enum pf_rc rc;

	if ((rc = ag_random_id(&ck->ag->arena, "", &jti)) != PF_OK)
		return rc;
	pf_buf_init(&j, &ck->ag->arena, 4096);
	pf_key_write(&j, ck->dpop, PF_NOSTR, false);
	if ((rc = pf_buf_done(&j, &jwk)) != PF_OK)
		return rc;
	text(ck, &head, "alg", PF_LIT("ES256"));
	text(ck, &head, "typ", PF_LIT("dpop+jwt"));
	raw(&head, "jwk", jwk);
	text(ck, &claims, "jti", jti);
	text(ck, &claims, "htm", pf_str(method));
	text(ck, &claims, "htu", ag_htu(url));
	number(ck, &claims, "iat", pf_now_at());
	nonce = ag_nonce_for(ck->ag, pf_str_given(token) ? AG_NONCE_API :
	    AG_NONCE_TOKEN, url);
	if (nonce.n != 0)
		text(ck, &claims, "nonce", nonce);
	if (pf_str_given(token)) {
		if ((rc = pf_sha256(token, hash)) != PF_OK)
			return rc;
		(void)pf_b64url_encode(hash, sizeof(hash), ath);
		text(ck, &claims, "ath", pf_bytes(ath, sizeof(ath)));
	}
	return finish(ck, &head, &claims, ck->dpop, PF_ES256, b, out);
}

static const struct ck_bend *
for_part(const struct ck_bend *b, enum ck_part part)
{
	return b != NULL && b->part == part ? b : NULL;
}

enum pf_rc
ck_sign_token(struct ck *ck, struct pf_str user_id, const struct ck_bend *b,
    struct ck_signed *out)
{
	enum pf_rc rc;

	if ((rc = proof(ck, "POST", ck->company->token_endpoint, PF_NOSTR,
	    for_part(b, CK_PROOF), &out->proof)) != PF_OK ||
	    (rc = assertion(ck, ck->ag->st.client_id,
	    for_part(b, CK_CLIENT), &out->client)) != PF_OK)
		return rc;
	return assertion(ck, user_id, for_part(b, CK_SESSION), &out->session);
}

enum pf_rc
ck_sign_call(struct ck *ck, struct pf_str url, const struct ck_bend *b,
    struct pf_str *out)
{
	return proof(ck, "GET", url, ck->token, for_part(b, CK_PROOF), out);
}
