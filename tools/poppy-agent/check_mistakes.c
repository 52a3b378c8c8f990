/*
 * One mistake a request, and the status and code that it must get. The table is
 * the specification; a requirement without a row here stands in another file.
 */
#include "config.h"

#include "tools/poppy-agent/check.h"

#define P CK_PROOF
#define C CK_CLIENT
#define S CK_SESSION
#define F CK_FORM

static const struct {
	const char *rows, *what;
	struct ck_bend bend;
	int status;
	const char *error;
} token_rows[] = {
	/* the proof: 4.3, RFC 9449 4.3 */
	{ "R-4.3-3", "proof with an altered signature",
	    { P, CK_TAMPER, NULL, NULL, 0 }, 400, "invalid_dpop_proof" },
	{ "R-4.3-3", "proof signed by another key than it carries",
	    { P, CK_STRANGER, NULL, NULL, 0 }, 400, "invalid_dpop_proof" },
	{ "R-4.3-12", "proof for another method",
	    { P, CK_SET, "htm", "\"GET\"", 0 }, 400, "invalid_dpop_proof" },
	{ "R-4.3-12", "proof for another URL",
	    { P, CK_SET, "htu", "\"https://other.example/token\"", 0 }, 400,
	    "invalid_dpop_proof" },
	{ "R-4.3-7,R-4.3-12", "proof ten minutes old",
	    { P, CK_TIME, "iat", NULL, -600 }, 400, "invalid_dpop_proof" },
	{ "R-4.3-7,R-4.3-12", "proof ten minutes ahead",
	    { P, CK_TIME, "iat", NULL, 600 }, 400, "invalid_dpop_proof" },
	{ "R-4.3-12", "proof without jti",
	    { P, CK_DROP, "jti", NULL, 0 }, 400, "invalid_dpop_proof" },
	{ "R-4.3-12", "proof without iat",
	    { P, CK_DROP, "iat", NULL, 0 }, 400, "invalid_dpop_proof" },
	{ "R-4.3-10", "proof of typ JWT",
	    { P, CK_HEAD, "typ", "\"JWT\"", 0 }, 400, "invalid_dpop_proof" },
	{ "R-4.3-10", "proof with alg none",
	    { P, CK_HEAD, "alg", "\"none\"", 0 }, 400, "invalid_dpop_proof" },
	{ "R-4.3-10", "proof with alg HS256",
	    { P, CK_HEAD, "alg", "\"HS256\"", 0 }, 400, "invalid_dpop_proof" },
	{ "R-4.3-10", "proof with a critical extension",
	    { P, CK_HEAD, "crit", "[\"x\"]", 0 }, 400, "invalid_dpop_proof" },
	{ "R-4.3-16,R-4.2-30", "no proof and no resource",
	    { P, CK_DROP, NULL, NULL, 0 }, 400, "invalid_dpop_proof" },
	/* the client assertion: 4.1, RFC 7523 3 */
	{ "R-4.1-6,R-4.2-26", "no client assertion",
	    { C, CK_DROP, NULL, NULL, 0 }, 401, "invalid_client" },
	{ "R-4.1-6", "client assertion with an altered signature",
	    { C, CK_TAMPER, NULL, NULL, 0 }, 401, "invalid_client" },
	{ "R-4.1-6", "client assertion by an unpublished key",
	    { C, CK_STRANGER, NULL, NULL, 0 }, 401, "invalid_client" },
	{ "R-4.1-6", "another client_assertion_type",
	    { F, CK_SET, "client_assertion_type", "urn:x", 0 }, 401,
	    "invalid_client" },
	{ "R-4.1-7", "client assertion with another iss",
	    { C, CK_SET, "iss", "\"https://other.example/agent.json\"", 0 },
	    401, "invalid_client" },
	{ "R-4.1-7", "client assertion with another sub",
	    { C, CK_SET, "sub", "\"https://other.example/agent.json\"", 0 },
	    401, "invalid_client" },
	{ "R-4.1-7", "client assertion for another audience",
	    { C, CK_SET, "aud", "\"https://other.example/token\"", 0 }, 401,
	    "invalid_client" },
	{ "R-4.1-7", "expired client assertion",
	    { C, CK_TIME, "exp", NULL, -120 }, 401, "invalid_client" },
	{ "R-4.1-10", "client assertion with alg none",
	    { C, CK_HEAD, "alg", "\"none\"", 0 }, 401, "invalid_client" },
	{ "R-4.1-10", "client assertion with alg HS256",
	    { C, CK_HEAD, "alg", "\"HS256\"", 0 }, 401, "invalid_client" },
	{ "R-4.1-9", "client assertion that carries a key URL",
	    { C, CK_HEAD, "jku", "\"https://other.example/jwks.json\"", 0 },
	    401, "invalid_client" },
	{ "R-4.1-8", "client assertion without jti",
	    { C, CK_DROP, "jti", NULL, 0 }, 401, "invalid_client" },
	/* the Session assertion: 4.2 */
	{ "R-4.2-9,R-4.2-27", "no assertion",
	    { S, CK_DROP, NULL, NULL, 0 }, 400, "invalid_grant" },
	{ "R-4.2-9", "an assertion that is none",
	    { F, CK_SET, "assertion", "garbage", 0 }, 400, "invalid_grant" },
	{ "R-4.2-8", "assertion with an altered signature",
	    { S, CK_TAMPER, NULL, NULL, 0 }, 400, "invalid_grant" },
	{ "R-4.2-8", "assertion by an unpublished key",
	    { S, CK_STRANGER, NULL, NULL, 0 }, 400, "invalid_grant" },
	{ "R-4.2-2", "assertion with another iss",
	    { S, CK_SET, "iss", "\"https://other.example/agent.json\"", 0 },
	    400, "invalid_grant" },
	{ "R-4.2-3", "assertion without sub",
	    { S, CK_DROP, "sub", NULL, 0 }, 400, "invalid_grant" },
	{ "R-4.2-3", "assertion with an empty sub",
	    { S, CK_SET, "sub", "\"\"", 0 }, 400, "invalid_grant" },
	{ "R-4.2-4", "assertion for another audience",
	    { S, CK_SET, "aud", "\"https://other.example/token\"", 0 }, 400,
	    "invalid_grant" },
	{ "R-4.2-4", "assertion with a list as audience",
	    { S, CK_SET, "aud", "[\"https://other.example/token\"]", 0 }, 400,
	    "invalid_grant" },
	{ "R-4.2-5", "expired assertion",
	    { S, CK_TIME, "exp", NULL, -120 }, 400, "invalid_grant" },
	{ "R-4.2-5", "assertion from the future",
	    { S, CK_TIME, "iat", NULL, 600 }, 400, "invalid_grant" },
	{ "R-4.2-5", "assertion that lives a day",
	    { S, CK_TIME, "exp", NULL, 86400 }, 400, "invalid_grant" },
	{ "R-4.2-5", "assertion without iat",
	    { S, CK_DROP, "iat", NULL, 0 }, 400, "invalid_grant" },
	{ "R-4.2-7", "assertion without jti",
	    { S, CK_DROP, "jti", NULL, 0 }, 400, "invalid_grant" },
	{ "R-4.2-7", "assertion with a short jti",
	    { S, CK_SET, "jti", "\"abc\"", 0 }, 400, "invalid_grant" },
	{ "R-4.1-10", "assertion with alg none",
	    { S, CK_HEAD, "alg", "\"none\"", 0 }, 400, "invalid_grant" },
	/* the form */
	{ "R-4.2-33", "an unknown grant_type",
	    { F, CK_SET, "grant_type", "password", 0 }, 400,
	    "unsupported_grant_type" },
	{ "R-4.3-22", "a scope on a signed-out request",
	    { F, CK_SET, "scope", "poppy:read", 0 }, 400, "invalid_scope" },
	{ "R-4.3-23", "an unknown resource",
	    { F, CK_SET, "resource", "https://other.example/mcp", 0 }, 400,
	    "invalid_target" },
	{ "R-4.2-22,R-4.2-28", "an unknown Session",
	    { F, CK_SET, "session_id", "ses_unknown", 0 }, 400,
	    "invalid_session" },
	{ "R-3.3-4", "a parameter that nobody knows",
	    { F, CK_SET, "x_unknown", "1", 0 }, 200, NULL },
};

/* The row's status and code; OAuth JSON that nobody may cache; a challenge where
 * the proof is at fault. */
static bool
as_told(const struct ck_reply *rp, int status, const char *error)
{
	struct pf_str cache = ag_reply_field(&rp->http, "cache-control", 0);

	if (rp->http.status != status || rp->body == NULL ||
	    !pf_str_eqz(cache, "no-store"))
		return false;
	if (error == NULL)
		return true;
	if (!pf_str_eqz(rp->error, error))
		return false;
	return !pf_str_eqz(rp->error, "invalid_dpop_proof") ||
	    pf_str_eq(rp->challenge, rp->error);
}

void
ck_mistakes(struct ck *ck)
{
	for (size_t i = 0; i < PF_COUNT(token_rows); i++) {
		const struct ck_bend *b = &token_rows[i].bend;
		struct ck_reply rp = { .body = NULL };
		struct ck_signed s;
		enum pf_rc rc;

		if ((rc = ck_sign_token(ck, ck->user_id, b, &s)) == PF_OK)
			rc = ck_token(ck, &s, PF_NOSTR, b, &rp);
		ck_point(ck, rc, rc == PF_OK && as_told(&rp,
		    token_rows[i].status, token_rows[i].error),
		    token_rows[i].rows, token_rows[i].what, &rp);
	}
}

static const struct {
	const char *rows, *what;
	struct ck_bend bend;
} call_rows[] = {
	{ "R-4.3-3", "proof with an altered signature",
	    { P, CK_TAMPER, NULL, NULL, 0 } },
	{ "R-4.3-5", "proof for another method",
	    { P, CK_SET, "htm", "\"POST\"", 0 } },
	{ "R-4.3-6", "proof for another URL",
	    { P, CK_SET, "htu", "\"https://other.example/x\"", 0 } },
	{ "R-4.3-7", "proof ten minutes old",
	    { P, CK_TIME, "iat", NULL, -600 } },
	{ "R-4.3-7", "proof ten minutes ahead",
	    { P, CK_TIME, "iat", NULL, 600 } },
	{ "R-4.3-9", "proof without ath", { P, CK_DROP, "ath", NULL, 0 } },
	{ "R-4.3-9", "proof with the ath of another token",
	    { P, CK_SET, "ath",
	    "\"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo\"", 0 } },
	{ "R-4.3-10", "proof of typ JWT",
	    { P, CK_HEAD, "typ", "\"JWT\"", 0 } },
	{ "R-4.3-10", "proof with alg none",
	    { P, CK_HEAD, "alg", "\"none\"", 0 } },
	{ "R-4.3-1", "no proof at all", { P, CK_DROP, NULL, NULL, 0 } },
};

static bool
challenged(const struct ck_reply *rp, int status, const char *error)
{
	return rp->http.status == status && pf_str_eqz(rp->challenge, error);
}

static void
call_mistakes(struct ck *ck)
{
	for (size_t i = 0; i < PF_COUNT(call_rows); i++) {
		struct ck_reply rp = { .body = NULL };
		struct pf_str proof;
		enum pf_rc rc;

		rc = ck_sign_call(ck, ck->call_url, &call_rows[i].bend, &proof);
		if (rc == PF_OK)
			rc = ck_call(ck, ck->call_url, ck_dpop(ck, ck->token),
			    proof, &rp);
		ck_point(ck, rc, rc == PF_OK && challenged(&rp, 401,
		    "invalid_dpop_proof"), call_rows[i].rows,
		    call_rows[i].what, &rp);
	}
}

static struct pf_str
joined(struct ck *ck, const char *head, struct pf_str tail)
{
	struct pf_buf b;

	pf_buf_init(&b, &ck->ag->arena, 16384);
	pf_buf_addz(&b, head);
	pf_buf_add(&b, tail);
	return pf_buf_str(&b);
}

/* What must get invalid_token, with a proof that is right for what is sent as
 * token. scheme NULL: no Authorization header. */
static void
wrong_authorization(struct ck *ck, const char *rows, const char *what,
    const char *scheme, struct pf_str token, struct pf_str url)
{
	struct pf_str own = ck->token, proof;
	struct ck_reply rp = { .body = NULL };
	enum pf_rc rc;

	ck->token = token;
	rc = ck_sign_call(ck, ck->call_url, NULL, &proof);
	ck->token = own;
	if (rc == PF_OK)
		rc = ck_call(ck, url, scheme == NULL ? PF_NOSTR :
		    joined(ck, scheme, token), proof, &rp);
	ck_point(ck, rc, rc == PF_OK && challenged(&rp, 401, "invalid_token"),
	    rows, what, &rp);
}

static struct pf_str
with_query_token(struct ck *ck)
{
	struct pf_buf b;

	pf_buf_init(&b, &ck->ag->arena, 16384);
	pf_buf_add(&b, ck->call_url);
	pf_buf_char(&b, pf_str_has(ck->call_url, '?') ? '&' : '?');
	/* The shape of a token, never the token: URLs are logged. */
	pf_buf_addz(&b, "access_token=a-token-in-a-URL");
	return pf_buf_str(&b);
}

/* The same proof twice: the second is a replay. */
static void
replay(struct ck *ck)
{
	struct ck_reply rp = { .body = NULL };
	struct pf_str auth = ck_dpop(ck, ck->token), proof;
	enum pf_rc rc;

	if ((rc = ck_sign_call(ck, ck->call_url, NULL, &proof)) == PF_OK)
		rc = ck_call(ck, ck->call_url, auth, proof, &rp);
	ck_point(ck, rc, rc == PF_OK && rp.http.status == 200,
	    "R-4.3-1,R-4.3-26,R-6-4", "a call with token and proof", &rp);
	if (rc == PF_OK)
		rc = ck_call(ck, ck->call_url, auth, proof, &rp);
	ck_point(ck, rc, rc == PF_OK && challenged(&rp, 401,
	    "invalid_dpop_proof"), "R-4.3-8", "the same proof again", &rp);
}

/* A token bound to one key, a proof by another that is right in itself. */
static void
other_key(struct ck *ck)
{
	struct pf_key *own = ck->dpop;
	struct ck_reply rp = { .body = NULL };
	struct pf_str proof;
	enum pf_rc rc;

	ck->dpop = ck->stranger;
	rc = ck_sign_call(ck, ck->call_url, NULL, &proof);
	ck->dpop = own;
	if (rc == PF_OK)
		rc = ck_call(ck, ck->call_url, ck_dpop(ck, ck->token), proof,
		    &rp);
	ck_point(ck, rc, rc == PF_OK && challenged(&rp, 401,
	    "invalid_dpop_proof"), "R-4.3-2,R-4.3-4",
	    "a proof by another key than the token's", &rp);
}

/* A call that may need an account: where it does, it says so. */
static void
scoped(struct ck *ck)
{
	struct ck_reply rp = { .body = NULL };
	struct pf_str proof;
	enum pf_rc rc = PF_OK;

	rp.http.status = 200;
	if (pf_str_given(ck->scoped_url) &&
	    (rc = ck_sign_call(ck, ck->scoped_url, NULL, &proof)) == PF_OK)
		rc = ck_call(ck, ck->scoped_url, ck_dpop(ck, ck->token), proof,
		    &rp);
	if (rc == PF_OK && rp.http.status == 200)
		ck_skip(ck, "R-6-11", "no call of the API asked for sign-in");
	else
		ck_point(ck, rc, rc == PF_OK && challenged(&rp, 403,
		    "sign_in_required"), "R-6-11,R-6-9",
		    "a call that needs an account, signed out", &rp);
}

void
ck_calls(struct ck *ck)
{
	if (!pf_str_given(ck->call_url)) {
		ck_skip(ck, "R-4.3-1,R-6-4", "no listed API can be called by "
		    "its description alone");
		return;
	}
	replay(ck);
	call_mistakes(ck);
	other_key(ck);
	wrong_authorization(ck, "R-4.3-1,R-6-10", "no token", NULL, ck->token,
	    ck->call_url);
	wrong_authorization(ck, "R-4.3-20", "the token as Bearer", "Bearer ",
	    ck->token, ck->call_url);
	wrong_authorization(ck, "R-6-10", "a token that nobody issued",
	    "DPoP ", PF_LIT("pst_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
	    ck->call_url);
	wrong_authorization(ck, "R-4.2-19", "the Session's id as token",
	    "DPoP ", ck->session_id, ck->call_url);
	wrong_authorization(ck, "R-4.3-27", "a token in the URL", NULL,
	    ck->token, with_query_token(ck));
	scoped(ck);
}
