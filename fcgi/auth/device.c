/*
 * The device authorization endpoint (RFC 8628, 3.1 and 3.2; section 4.6).
 */
#include "fcgi/auth/auth.h"

#include <stdio.h>

#include "core/base/random.h"
#include "core/poppy/fetch.h"
#include "core/poppy/scope.h"
#include "core/store/token.h"
#include "fcgi/auth/asking.h"

/* RFC 8628, 6.1: no vowels, so no words; 20^8 codes. */
#define ALPHABET	"BCDFGHJKLMNPQRSTVWXZ"
#define LETTERS		(sizeof(ALPHABET) - 1)
#define USER_CODE	8
/* Codes in use are few beside all there are: a second try is rare, a third one
 * means that something is wrong. */
#define TRIES		3

static const struct auth_refusal refusals[] = {
	{ "taken", PF_ERR_NONE, AUTH_DAILY, "make another user_code" },
};
static const struct auth_function DEVICE_START = {
	{
		"device_start",
		"SELECT outcome, replayed, retry_s"
		" FROM poppy_api.device_start($1, $2, $3, $4, $5, $6, $7, $8,"
		" $9, $10, $11, $12, $13, $14, $15, $16)"
	}, refusals, PF_COUNT(refusals)
};

struct starting {
	struct pf_str scopes;
	struct pf_client_doc about;
	struct pf_token code;
	struct pf_tokenhash hash;
	char user_code[USER_CODE];
};

/* Every code is as likely as every other: bytes that would favour the first
 * letters are thrown away. */
static enum pf_rc
make_user_code(char out[USER_CODE])
{
	unsigned char raw[32];
	size_t n = 0;
	enum pf_rc rc;

	while (n < USER_CODE) {
		if ((rc = pf_random(raw, sizeof(raw))) != PF_OK)
			return rc;
		for (size_t i = 0; i < sizeof(raw) && n < USER_CODE; i++)
			if (raw[i] < 256 / LETTERS * LETTERS)
				out[n++] = ALPHABET[raw[i] % LETTERS];
	}
	pf_wipe(raw, sizeof(raw));
	return PF_OK;
}

static enum pf_rc
read_start(struct auth_asking *q, struct starting *d)
{
	const struct pf_settings *s = &pf_app(q->rq)->set;
	struct pf_str text;
	enum pf_rc rc;

	if (pf_form_get(&q->form, "scope", &text) != PF_OK)
		return pf_fail(q->rq, PF_INVALID_SCOPE, "scope missing");
	rc = pf_scope_wanted(q->rq->arena, text, &s->sign_in.device,
	    &d->scopes);
	if (rc == PF_E_INPUT)
		return pf_fail(q->rq, PF_INVALID_SCOPE, "scope is empty, or "
		    "names one that Device Sign-In does not grant here");
	return rc;
}

/* PF_OK: it is the database's word, "ok" or "taken". */
static enum pf_rc
call(struct auth_asking *q, const struct starting *d, struct pf_row *row)
{
	const struct pf_settings *s = &pf_app(q->rq)->set;
	const struct pf_param own[] = {
		PF_BYTES(d->hash.b, sizeof(d->hash.b)),
		PF_TEXT(pf_bytes(d->user_code, USER_CODE)),
		PF_TEXT(d->about.name),
		PF_TEXT(d->about.logo_uri),
		PF_TEXT(d->scopes),
		PF_INT4(s->device.seconds),
		PF_INT4(s->device.interval_seconds)
	};

	return auth_call(q, &DEVICE_START, own, PF_COUNT(own), row);
}

static enum pf_rc
store(struct auth_asking *q, struct starting *d)
{
	struct pf_row row;
	enum pf_rc rc;

	for (int i = 0; i < TRIES; i++) {
		if ((rc = make_user_code(d->user_code)) != PF_OK ||
		    (rc = call(q, d, &row)) != PF_OK)
			return rc;
		if (pf_row_is(&row, AUTH_OUTCOME, "ok"))
			return PF_OK;
	}
	return PF_E_BUSY;
}

static enum pf_rc
reply(struct pf_req *rq, const struct starting *d)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	char code[USER_CODE + 2];
	struct pf_str complete;
	struct pf_buf b;
	struct pf_jw w;
	enum pf_rc rc;

	(void)snprintf(code, sizeof(code), "%.4s-%.4s", d->user_code,
	    d->user_code + 4);
	pf_buf_init(&b, rq->arena, 4096);
	pf_buf_add(&b, s->verification_uri);
	pf_buf_fmt(&b, "?user_code=%s", code);
	if ((rc = pf_buf_done(&b, &complete)) != PF_OK)
		return rc;
	pf_buf_init(&b, rq->arena, 16384);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "device_code", pf_bytes(d->code.text, PF_TOKEN_TEXT));
	pf_jw_strz(&w, "user_code", code);
	pf_jw_str(&w, "verification_uri", s->verification_uri);
	pf_jw_str(&w, "verification_uri_complete", complete);
	pf_jw_int(&w, "expires_in", s->device.seconds);
	pf_jw_int(&w, "interval", s->device.interval_seconds);
	pf_jw_close(&w, '}');
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	return pf_resp_json(rq, 200, &b);
}

static enum pf_rc
start(struct auth_asking *q, struct starting *d)
{
	enum pf_rc rc;

	if ((rc = read_start(q, d)) != PF_OK ||
	    (rc = pf_client_about(q->rq, q->client.client, &d->about)) !=
	    PF_OK ||
	    (rc = pf_token_new("pdc_", 0, &d->code)) != PF_OK ||
	    (rc = pf_token_hash(pf_bytes(d->code.text, PF_TOKEN_TEXT),
	    &d->hash)) != PF_OK ||
	    (rc = store(q, d)) != PF_OK)
		return rc;
	return reply(q->rq, d);
}

static enum pf_rc
start_device(struct auth_asking *q)
{
	struct starting d = { .scopes = PF_NOSTR };
	enum pf_rc rc;

	rc = start(q, &d);
	pf_wipe(&d, sizeof(d));
	return rc;
}

enum pf_rc
auth_device(struct pf_req *rq)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	struct auth_asking q = { .rq = rq, .limit = PF_LIMIT_TOKEN };
	enum pf_rc rc;

	if (s->sign_in.device.n == 0)
		return pf_fail(rq, PF_NOT_FOUND,
		    "there is no Device Sign-In here");
	if ((rc = auth_ask(&q)) != PF_OK)
		return rc;
	return auth_authenticated(&q, s->device_endpoint, start_device);
}
