/*
 * The one-time code of a Mediated Sign-In: made, sent, and kept as a MAC under
 * the sign-in's id, of which the database has only a hash: neither tells the
 * code to who has stolen the table.
 */
#include "fcgi/auth/mediated.h"

#include <stdio.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/random.h"
#include "core/poppy/principal.h"
#include "core/poppy/send_code.h"
#include "core/web/url.h"

#define CODES		1000000u	/* of six digits */
#define MESSAGE_MAX	4096

static const struct pf_stmt MEDIATED_ASK = {
	"mediated_ask", "SELECT outcome, expires_at"
	" FROM poppy_api.mediated_ask($1, $2, $3, $4, $5, $6, $7, $8, $9, $10,"
	" $11)"
};
enum { OUTCOME, EXPIRES_AT };

enum pf_rc
auth_mediated_code_hash(struct pf_str id, struct pf_str code,
    unsigned char out[PF_SHA256_LEN])
{
	const struct pf_str parts[] = { PF_LIT("one-time code"), code };
	unsigned char key[PF_KEY_LEN];
	enum pf_rc rc;

	if ((rc = pf_sha256(id, key)) != PF_OK)
		return rc;
	/* The table has the hash of the id: the key must be another one. */
	if ((rc = pf_hmac256(key, &id, 1, key)) == PF_OK)
		rc = pf_hmac256(key, parts, PF_COUNT(parts), out);
	pf_wipe(key, sizeof(key));
	return rc;
}

/* Each is as likely as any other. */
static enum pf_rc
make_code(char out[8])
{
	uint32_t n;
	enum pf_rc rc;

	do {
		if ((rc = pf_random(&n, sizeof(n))) != PF_OK)
			return rc;
	} while (n >= UINT32_MAX - UINT32_MAX % CODES);
	(void)snprintf(out, 8, "%06u", (unsigned)(n % CODES));
	return PF_OK;
}

/* "{code}" and the like; what has no such name stays as it is. */
static void
fill(struct pf_buf *b, struct pf_str text, const struct pf_str (*v)[2],
    size_t n)
{
	size_t i, at;

	while (text.n > 0) {
		at = pf_str_find(text, '{');
		pf_buf_add(b, pf_str_head(text, at));
		text = pf_str_from(text, at);
		for (i = 0; i < n && !pf_str_starts(text, v[i][0]); i++)
			;
		if (i < n) {
			pf_buf_add(b, v[i][1]);
			text = pf_str_from(text, v[i][0].n);
		} else if (text.n > 0) {
			pf_buf_char(b, '{');
			text = pf_str_from(text, 1);
		}
	}
}

/* The agent is named by its host, which it can't choose freely. */
static enum pf_rc
write_message(struct pf_req *rq, const struct auth_mediation *m,
    struct pf_message *out)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	struct pf_buf subject, text, minutes;
	char room[24];
	struct pf_url u;
	enum pf_rc rc;

	if (pf_url_parse(rq->who->client_id, &u) != PF_OK)
		return PF_E_BUG;
	pf_buf_fixed(&minutes, room, sizeof(room));
	pf_buf_int(&minutes, s->mediated.code_seconds / 60);
	const struct pf_str v[][2] = {
		{ PF_LIT("{code}"), pf_str(m->code) },
		{ PF_LIT("{agent}"), u.host },
		{ PF_LIT("{shop}"), s->organization.name },
		{ PF_LIT("{minutes}"), pf_buf_str(&minutes) },
	};

	pf_buf_init(&subject, rq->arena, MESSAGE_MAX);
	fill(&subject, s->codes.subject, v, PF_COUNT(v));
	pf_buf_init(&text, rq->arena, MESSAGE_MAX);
	fill(&text, s->codes.text, v, PF_COUNT(v));
	out->to = pf_row_str(&m->found, s->codes.by_phone ? AUTH_MED_PHONE :
	    AUTH_MED_EMAIL);
	if ((rc = pf_buf_done(&subject, &out->subject)) != PF_OK)
		return rc;
	return pf_buf_done(&text, &out->text);
}

/* The last two digits of a number. */
static void
hint_number(struct pf_buf *b, struct pf_str to)
{
	char last[2] = { 0 };

	for (size_t i = 0; i < to.n; i++)
		if (pf_is_digit(to.p[i])) {
			last[0] = last[1];
			last[1] = to.p[i];
		}
	pf_buf_addz(b, "Text to the phone number ending in ");
	pf_buf_add(b, pf_bytes(last, sizeof(last)));
}

/* "a***@s***.example": enough to know it again, too little to learn it. */
static void
hint_address(struct pf_buf *b, struct pf_str to)
{
	size_t at = pf_str_find(to, '@'), dot = to.n;

	while (dot > at && to.p[dot - 1] != '.')
		dot--;
	pf_buf_addz(b, "Email to ");
	pf_buf_add(b, pf_str_head(to, 1));
	pf_buf_addz(b, "***@");
	pf_buf_add(b, pf_str_head(pf_str_from(to, at + 1), 1));
	pf_buf_addz(b, "***");
	if (dot > at + 1)
		pf_buf_add(b, pf_str_from(to, dot - 1));
}

static enum pf_rc
hint(struct pf_req *rq, struct pf_str to, struct pf_str *out)
{
	struct pf_buf b;

	pf_buf_init(&b, rq->arena, 512);
	if (pf_app(rq)->set.codes.by_phone)
		hint_number(&b, to);
	else
		hint_address(&b, to);
	return pf_buf_done(&b, out);
}

static enum pf_rc
make(struct pf_req *rq, struct auth_mediation *m)
{
	enum pf_rc rc;

	if (m->code[0] != '\0')
		return PF_OK;
	rc = pf_token_new("sgn_", rq->who->sid.bucket, &m->id);
	return rc != PF_OK ? rc : make_code(m->code);
}

static enum pf_rc
store(struct pf_req *rq, const struct auth_mediation *m, struct pf_str id,
    struct pf_str sent_to)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	unsigned char code[PF_SHA256_LEN];
	struct pf_tokenhash hash;
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = pf_token_hash(id, &hash)) != PF_OK ||
	    (rc = auth_mediated_code_hash(id, pf_str(m->code), code)) != PF_OK)
		return rc;
	const struct pf_param v[] = {
		PF_BYTES(hash.b, sizeof(hash.b)),
		PF_INT4(rq->who->sid.bucket),
		PF_BYTES(rq->who->sid.raw, PF_SID_RAW),
		PF_TEXT(pf_row_str(&m->found, AUTH_MED_ACCOUNT)),
		PF_TEXT(m->scopes), PF_BYTES(code, sizeof(code)),
		PF_TEXT(sent_to), PF_INT4(s->mediated.code_seconds),
		PF_INT4(s->mediated.tries),
		PF_BYTES(m->login_key, PF_LIMIT_KEY),
		PF_BYTES(m->address_key, PF_LIMIT_KEY)
	};
	rc = pf_db_one(rq->db, rq->arena, &MEDIATED_ASK, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	if (!pf_row_is(&row, OUTCOME, "ok"))
		return auth_mediated_refuse(rq, &row, OUTCOME);
	return auth_mediated_required(rq, id, sent_to,
	    pf_row_int(&row, EXPIRES_AT));
}

/* It was wanted, and can't be had. */
static enum pf_rc
not_sent(struct pf_req *rq, const char *why)
{
	PF_LOG(PF_LOG_WARN, "code_not_sent", PF_F_Z("why", why));
	return auth_mediated_failed(rq);
}

enum pf_rc
auth_mediated_ask(struct pf_req *rq, struct auth_mediation *m)
{
	struct pf_str id = pf_bytes(m->id.text, PF_TOKEN_TEXT), sent_to;
	struct pf_message message;
	enum pf_rc rc, sent;

	if ((rc = make(rq, m)) != PF_OK ||
	    (rc = write_message(rq, m, &message)) != PF_OK)
		return rc;
	rc = pf_send_code(rq, &message, &sent);
	if (rc == PF_E_ABSENT)
		return not_sent(rq, "the settings have no way to send codes");
	if (rc != PF_OK)
		return rc;
	if (sent == PF_E_INPUT)
		return not_sent(rq, "the customer has no address for codes");
	if (sent != PF_OK)
		return pf_fail_retry(rq, PF_UNAVAILABLE, 30,
		    "the code could not be sent");
	rc = hint(rq, message.to, &sent_to);
	return rc != PF_OK ? rc : store(rq, m, id, sent_to);
}
