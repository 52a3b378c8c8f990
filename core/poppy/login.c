/*
 * login - see login.h.
 */
#include "core/poppy/login.h"

#include <string.h>

#include "core/poppy/audit.h"
#include "core/web/cookie.h"
#include "core/web/url.h"

#define PREFIX	"pli_"

static const struct pf_stmt LOGIN_USE = {
	"login_use", "SELECT outcome, account, name, status, locale"
	" FROM poppy_api.login_use($1, $2)"
};
enum { USE_OUTCOME, USE_ACCOUNT, USE_NAME, USE_STATUS, USE_LOCALE };

static const struct pf_stmt LOGIN_START = {
	"login_start", "SELECT outcome, status"
	" FROM poppy_api.login_start($1, $2, $3, $4, $5, $6)"
};
enum { START_OUTCOME, START_STATUS };

static const struct pf_stmt LOGIN_END = {
	"login_end", "SELECT poppy_api.login_end($1)"
};

/* The secret of the browser; one of another form than ours is none. */
static enum pf_rc
read_cookie(const struct pf_req *rq, struct pf_login *l)
{
	struct pf_str text;

	if (pf_cookie_get(rq->cookie, PF_LOGIN_COOKIE, &text) != PF_OK ||
	    pf_token_parse(PREFIX, text, NULL) != PF_OK)
		return PF_OK;
	l->known = true;
	return pf_token_hash(text, &l->hash);
}

enum pf_rc
pf_login_load(struct pf_req *rq, struct pf_login *out)
{
	struct pf_row row;
	enum pf_rc rc;

	*out = (struct pf_login){ 0 };
	if ((rc = read_cookie(rq, out)) != PF_OK || !out->known)
		return rc;
	const struct pf_param v[] = {
		PF_BYTES(out->hash.b, sizeof(out->hash.b)),
		PF_INT4(pf_app(rq)->set.login.idle_seconds)
	};
	rc = pf_db_one(rq->db, rq->arena, &LOGIN_USE, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	out->in = pf_row_is(&row, USE_OUTCOME, "ok");
	out->account = pf_row_str(&row, USE_ACCOUNT);
	out->name = pf_row_str(&row, USE_NAME);
	out->locale = pf_row_str(&row, USE_LOCALE);
	if (!out->in)
		out->status = pf_row_str(&row, USE_STATUS);
	return PF_OK;
}

/* A new secret for the browser; the cookie ends with it. */
static enum pf_rc
new_secret(struct pf_req *rq, struct pf_login *l)
{
	struct pf_token secret;
	enum pf_rc rc;

	if ((rc = pf_token_new(PREFIX, 0, &secret)) != PF_OK)
		return rc;
	rc = pf_token_hash(pf_bytes(secret.text, sizeof(secret.text)),
	    &l->hash);
	l->known = rc == PF_OK;
	if (l->known)
		pf_resp_headerf(rq, "Set-Cookie", PF_LOGIN_COOKIE "=%.*s; "
		    "Path=/; Secure; HttpOnly; SameSite=Lax",
		    (int)sizeof(secret.text), secret.text);
	pf_token_wipe(&secret);
	return rc;
}

enum pf_rc
pf_login_ensure(struct pf_req *rq, struct pf_login *l)
{
	return l->known ? PF_OK : new_secret(rq, l);
}

static enum pf_rc
token_of(const unsigned char *key, const struct pf_login *l, const char *form,
    struct pf_str id, unsigned char mac[PF_SHA256_LEN])
{
	const struct pf_str parts[] = {
		pf_bytes(l->hash.b, sizeof(l->hash.b)), pf_str(form), id
	};

	return pf_hmac256(key, parts, PF_COUNT(parts), mac);
}

enum pf_rc
pf_login_csrf(struct pf_req *rq, const struct pf_login *l, const char *form,
    struct pf_str id, struct pf_str *out)
{
	unsigned char mac[PF_SHA256_LEN];
	struct pf_buf b;
	enum pf_rc rc;

	if (!l->known)
		return PF_E_BUG;
	rc = token_of(pf_app(rq)->keys.csrf, l, form, id, mac);
	if (rc != PF_OK)
		return rc;
	pf_buf_init(&b, rq->arena, 64);
	pf_buf_b64url(&b, mac, sizeof(mac));
	return pf_buf_done(&b, out);
}

/* Our own, as a browser writes it (RFC 6454, 6.2). */
static bool
origin_ok(const struct pf_req *rq)
{
	const struct pf_host *host = pf_app(rq)->set.issuer_host;
	struct pf_url sent, ours;

	if (!pf_str_given(rq->origin))
		return true;
	return pf_url_parse(rq->origin, &sent) == PF_OK &&
	    pf_url_parse(host->base, &ours) == PF_OK &&
	    pf_str_eq_nocase(sent.scheme, ours.scheme) &&
	    pf_str_eq_nocase(sent.host, ours.host) && sent.port == ours.port &&
	    !sent.userinfo && sent.path.n == 0 && !pf_str_given(sent.query) &&
	    !pf_str_given(sent.fragment);
}

/* While the master is being replaced a form may have a token of the other. */
enum pf_rc
pf_login_sent(struct pf_req *rq, const struct pf_login *l, const char *form,
    struct pf_str id, struct pf_str token)
{
	const struct pf_keys *k = &pf_app(rq)->keys;
	unsigned char got[PF_SHA256_LEN], one[PF_SHA256_LEN];
	unsigned char other[PF_SHA256_LEN];
	enum pf_rc rc;
	size_t n;
	bool good;

	if (!l->known || !origin_ok(rq) || pf_b64url_decode(token, got,
	    sizeof(got), &n) != PF_OK || n != sizeof(got))
		return PF_E_FORBID;
	if ((rc = token_of(k->csrf, l, form, id, one)) != PF_OK ||
	    (rc = token_of(k->other_csrf, l, form, id, other)) != PF_OK)
		return rc;
	good = pf_equal_ct(got, one, sizeof(got));
	good |= pf_equal_ct(got, other, sizeof(got));
	return good ? PF_OK : PF_E_FORBID;
}

enum pf_rc
pf_login_name(struct pf_req *rq, struct pf_str typed, struct pf_str *out)
{
	struct pf_str name = pf_str_trim(typed);
	struct pf_buf b;

	*out = PF_LIT("");
	if (name.n == 0 || name.n > PF_LOGIN_NAME)
		return PF_OK;
	pf_buf_init(&b, rq->arena, PF_LOGIN_NAME);
	for (size_t i = 0; i < name.n; i++)
		pf_buf_char(&b, pf_lower(name.p[i]));
	return pf_buf_done(&b, out);
}

enum pf_rc
pf_login_key(struct pf_req *rq, struct pf_str name,
    unsigned char key[PF_LIMIT_KEY])
{
	const struct pf_str parts[] = { PF_LIT("login name"), name };
	unsigned char mac[PF_SHA256_LEN];
	enum pf_rc rc;

	rc = pf_hmac256(pf_app(rq)->keys.code, parts, PF_COUNT(parts), mac);
	(void)memcpy(key, mac, PF_LIMIT_KEY);
	return rc;
}

enum pf_rc
pf_login_start(struct pf_req *rq, struct pf_login *l, struct pf_str account,
    const unsigned char *name_key)
{
	unsigned char address[PF_LIMIT_KEY];
	struct pf_login fresh = { .account = account };
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = new_secret(rq, &fresh)) != PF_OK)
		return rc;
	pf_limit_address(rq, address);
	const struct pf_param v[] = {
		PF_BYTES(fresh.hash.b, sizeof(fresh.hash.b)),
		l->known ? PF_BYTES(l->hash.b, sizeof(l->hash.b)) : PF_NULLP,
		PF_TEXT(account),
		name_key != NULL ? PF_BYTES(name_key, PF_LIMIT_KEY) : PF_NULLP,
		name_key != NULL ? PF_BYTES(address, sizeof(address)) :
		    PF_NULLP,
		PF_TEXT(pf_audit_address(rq))
	};
	rc = pf_db_one(rq->db, rq->arena, &LOGIN_START, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	fresh.in = pf_row_is(&row, START_OUTCOME, "ok");
	fresh.status = pf_row_str(&row, START_STATUS);
	*l = fresh;
	return l->in ? PF_OK : PF_E_FORBID;
}

enum pf_rc
pf_login_end(struct pf_req *rq, struct pf_login *l)
{
	const struct pf_param v[] = { PF_BYTES(l->hash.b, sizeof(l->hash.b)) };
	struct pf_row row;
	enum pf_rc rc;

	if (l->known) {
		rc = pf_db_one(rq->db, rq->arena, &LOGIN_END, v, PF_COUNT(v),
		    &row);
		if (rc != PF_OK)
			return rc;
	}
	*l = (struct pf_login){ 0 };
	pf_resp_header(rq, "Set-Cookie", PF_LIT(PF_LOGIN_COOKIE "=; Path=/; "
	    "Secure; HttpOnly; SameSite=Lax; Max-Age=0"));
	return PF_OK;
}
