#include "core/poppy/nonce.h"

#include "core/poppy/app.h"

static enum pf_rc
of_slot(const unsigned char key[PF_KEY_LEN], int64_t slot,
    char out[PF_NONCE_TEXT])
{
	unsigned char mac[PF_SHA256_LEN], be[8] = { 0 };
	const struct pf_str part = pf_bytes(be, sizeof(be));
	enum pf_rc rc;

	for (size_t i = 0; i < sizeof(be); i++)
		be[i] = (unsigned char)((uint64_t)slot >> (56 - 8 * i));
	if ((rc = pf_hmac256(key, &part, 1, mac)) == PF_OK)
		(void)pf_b64url_encode(mac, PF_NONCE_RAW, out);
	return rc;
}

enum pf_rc
pf_nonce_at(const struct pf_keys *k, int64_t now_at, char out[PF_NONCE_TEXT])
{
	return of_slot(k->nonce, now_at / PF_NONCE_SLOT, out);
}

static enum pf_rc
check_by(const unsigned char key[PF_KEY_LEN], int64_t now_at,
    struct pf_str nonce)
{
	int64_t slot = (now_at + PF_NONCE_AHEAD) / PF_NONCE_SLOT;
	char good[PF_NONCE_TEXT];
	enum pf_rc rc;

	if (nonce.n != sizeof(good))
		return PF_E_AUTH;
	for (; slot >= now_at / PF_NONCE_SLOT - 1; slot--) {
		if ((rc = of_slot(key, slot, good)) != PF_OK)
			return rc;
		if (pf_equal_ct(good, nonce.p, sizeof(good)))
			return PF_OK;
	}
	return PF_E_AUTH;
}

/* During a rotation hosts use two masters. */
enum pf_rc
pf_nonce_check(const struct pf_keys *k, int64_t now_at, struct pf_str nonce)
{
	enum pf_rc rc;

	rc = check_by(k->nonce, now_at, nonce);
	return rc != PF_E_AUTH ? rc : check_by(k->other_nonce, now_at, nonce);
}

enum pf_rc
pf_nonce_demand(struct pf_req *rq, struct pf_str nonce)
{
	const struct pf_app *app = pf_app(rq);
	enum pf_rc rc;

	if (!app->set.proofs.nonces)
		return PF_OK;
	rc = pf_nonce_check(&app->keys, rq->now_at, nonce);
	if (rc == PF_E_AUTH)
		return pf_fail(rq, PF_USE_DPOP_NONCE, "%s",
		    pf_str_given(nonce) ?
		    "the proof's nonce is not a live one" :
		    "the proof must have the nonce of DPoP-Nonce");
	return rc;
}

void
pf_nonce_tell(struct pf_req *rq, const char *header)
{
	const struct pf_app *app = pf_app(rq);
	char nonce[PF_NONCE_TEXT];

	if (app->set.proofs.nonces &&
	    pf_nonce_at(&app->keys, rq->now_at, nonce) == PF_OK)
		pf_resp_header(rq, header, pf_bytes(nonce, sizeof(nonce)));
}

void
pf_nonce_reply(struct pf_req *rq)
{
	if (!pf_app(rq)->set.proofs.nonces)
		return;
	pf_nonce_tell(rq, "DPoP-Nonce");
	pf_resp_header(rq, "Access-Control-Expose-Headers",
	    PF_LIT("DPoP-Nonce, WWW-Authenticate"));
}
