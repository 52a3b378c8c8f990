/*
 * Browsers that join a Session (section 5), and what must not let one in. Pages
 * themselves are the shop's own affair: nothing is said of them here.
 */
#include "config.h"

#include "core/base/clock.h"
#include "tools/poppy-agent/check.h"
#include "tools/poppy-agent/join.h"

#define B CK_SESSION
#define LATE	50	/* seconds, of the 60 that an assertion lives */

static const struct {
	const char *rows, *what;
	struct ck_bend bend;
} mistakes[] = {
	{ "R-5-4,R-5-14", "browser assertion with an altered signature",
	    { B, CK_TAMPER, NULL, NULL, 0 } },
	{ "R-5-4,R-5-14", "browser assertion by an unpublished key",
	    { B, CK_STRANGER, NULL, NULL, 0 } },
	{ "R-5-4,R-5-14", "browser assertion with alg none",
	    { B, CK_HEAD, "alg", "\"none\"", 0 } },
	{ "R-5-5,R-5-14", "browser assertion of typ JWT",
	    { B, CK_HEAD, "typ", "\"JWT\"", 0 } },
	{ "R-5-5,R-5-14", "browser assertion without typ",
	    { B, CK_HEAD, "typ", NULL, 0 } },
	{ "R-5-8,R-5-14", "browser assertion for another audience",
	    { B, CK_SET, "aud", "\"https://other.example/browser\"", 0 } },
	{ "R-5-8,R-5-14", "browser assertion without aud",
	    { B, CK_DROP, "aud", NULL, 0 } },
	{ "R-5-9,R-5-14", "browser assertion that lives for 61 seconds",
	    { B, CK_TIME, "exp", NULL, 61 } },
	{ "R-5-9,R-5-14", "browser assertion without exp",
	    { B, CK_DROP, "exp", NULL, 0 } },
	{ "R-5-9,R-5-14", "browser assertion that has expired",
	    { B, CK_TIME, "exp", NULL, -300 } },
	{ "R-5-9,R-5-14", "browser assertion without iat",
	    { B, CK_DROP, "iat", NULL, 0 } },
	{ "R-5-10,R-5-14", "browser assertion without jti",
	    { B, CK_DROP, "jti", NULL, 0 } },
	{ "R-5-11,R-5-14", "browser assertion of another User",
	    { B, CK_SET, "sub", "\"usr_someoneElseAltogether\"", 0 } },
	{ "R-5-11,R-5-14", "browser assertion for a Session that is none",
	    { B, CK_SET, "session_id",
	    "\"ses_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"", 0 } },
	{ "R-5-11,R-5-14", "browser assertion without session_id",
	    { B, CK_DROP, "session_id", NULL, 0 } },
	{ "R-5-11,R-5-14", "browser assertion of another client",
	    { B, CK_SET, "iss", "\"https://other.example/agent.json\"", 0 } },
	{ "R-5-12,R-5-14", "browser assertion without return_to",
	    { B, CK_DROP, "return_to", NULL, 0 } },
};

/* Pages to return to that look like the Company's; %.*s is its domain. */
static const struct { const char *what, *before, *after; } elsewhere[] = {
	{ "another domain", "https://other.example/?", "" },
	{ "a suffix of another domain", "https://", ".other.example/" },
	{ "a name that ends like the domain", "https://x", "/" },
	{ "no HTTPS", "http://", "/" },
	{ "userinfo", "https://user@", "/" },
	{ "the domain as userinfo", "https://", "@other.example/" },
	{ "the domain before a backslash", "https://", "\\@other.example/" },
	{ "a backslash for a slash", "https:\\\\", "/" },
	{ "no scheme", "//", "/" },
	{ "a path alone", "/", "" },
	{ "a script", "javascript:location='//", "'" },
	{ "a tab in the host", "https://other.example\t.", "/" },
	{ "a line end behind it", "https://", "/\r\nX-Evil: 1" },
};

/* Refused as section 5 says: a page with 400, and no cookie. */
static bool
refused(const struct ck_reply *rp)
{
	return rp->http.status == 400 &&
	    pf_str_starts(ag_reply_field(&rp->http, "content-type", 0),
	    PF_LIT("text/html")) &&
	    !pf_str_given(ag_reply_field(&rp->http, "set-cookie", 0)) &&
	    !pf_str_given(ag_reply_field(&rp->http, "location", 0));
}

static enum pf_rc
join(struct ck *ck, struct pf_str assertion, struct ck_reply *rp)
{
	struct pf_str body;
	enum pf_rc rc;

	if ((rc = ag_join_form(&ck->ag->arena, assertion, &body)) != PF_OK)
		return rc;
	return ck_post(ck, ck->company->browser_endpoint, body, rp);
}

static void
expect_refused(struct ck *ck, struct pf_str return_to,
    const struct ck_bend *bend, const char *rows, const char *what)
{
	struct ck_reply rp = { .body = NULL };
	struct pf_str assertion;
	enum pf_rc rc;

	if ((rc = ck_sign_browser(ck, return_to, bend, &assertion)) == PF_OK)
		rc = join(ck, assertion, &rp);
	ck_point(ck, rc, rc == PF_OK && refused(&rp), rows, what, &rp);
}

static struct pf_str
around(struct ck *ck, const char *before, struct pf_str s, const char *after)
{
	struct pf_buf b;

	pf_buf_init(&b, &ck->ag->arena, 32768);
	pf_buf_addz(&b, before);
	pf_buf_add(&b, s);
	pf_buf_addz(&b, after);
	return pf_buf_str(&b);
}

static void
lures(struct ck *ck)
{
	char what[80];

	for (size_t i = 0; i < PF_COUNT(elsewhere); i++) {
		snprintf(what, sizeof(what), "return_to with %s",
		    elsewhere[i].what);
		expect_refused(ck, around(ck, elsewhere[i].before,
		    ck->company->domain, elsewhere[i].after), NULL,
		    "R-5-12,R-5-14", what);
	}
}

/* The assertion in the URL, with and without a body; whether it is read there
 * or not, nobody gets in. */
static void
in_url(struct ck *ck, struct pf_str front)
{
	struct ck_reply rp = { .body = NULL };
	struct pf_str assertion, url = PF_NOSTR;
	enum pf_rc rc;

	if ((rc = ck_sign_browser(ck, front, NULL, &assertion)) == PF_OK) {
		url = around(ck, pf_arena_z(&ck->ag->arena,
		    ck->company->browser_endpoint), around(ck, "?assertion=",
		    assertion, ""), "");
		rc = ck_post(ck, url, PF_LIT(""), &rp);
	}
	ck_point(ck, rc, rc == PF_OK && refused(&rp), "R-5-3,R-5-14",
	    "browser assertion in the URL of a POST", &rp);
	if (rc == PF_OK)
		rc = ck_post(ck, url, PF_NOSTR, &rp);
	ck_point(ck, rc, rc == PF_OK && rp.http.status >= 400 &&
	    rp.http.status < 500 && !pf_str_given(ag_reply_field(&rp.http,
	    "set-cookie", 0)), "R-5-2,R-5-3", "... and of a GET", &rp);
}

/* What starts Sessions joins none, and the other way round. */
static void
mixed_up(struct ck *ck, struct pf_str front)
{
	struct ck_reply rp = { .body = NULL };
	struct pf_str assertion;
	struct ck_signed s;
	enum pf_rc rc;

	if ((rc = ck_sign_token(ck, ck->user_id, NULL, &s)) == PF_OK)
		rc = join(ck, s.session, &rp);
	ck_point(ck, rc, rc == PF_OK && refused(&rp), "R-5-6,R-5-14",
	    "a Session assertion as browser assertion", &rp);
	if ((rc = ck_sign_token(ck, ck->user_id, NULL, &s)) == PF_OK &&
	    (rc = ck_sign_browser(ck, front, NULL, &assertion)) == PF_OK) {
		s.session = assertion;
		rc = ck_token(ck, &s, PF_NOSTR, NULL, &rp);
	}
	ck_point(ck, rc, rc == PF_OK && rp.http.status == 400 &&
	    pf_str_eqz(rp.error, "invalid_grant"), "R-5-7",
	    "a browser assertion at the token endpoint", &rp);
}

/* Signed anew where a limit was waited out for longer than it lives. */
static enum pf_rc
join_fresh(struct ck *ck, struct pf_str front, struct pf_str *assertion,
    struct ck_reply *rp)
{
	int64_t signed_at;
	enum pf_rc rc;

	do {
		signed_at = pf_now_at();
		if ((rc = ck_sign_browser(ck, front, NULL, assertion)) !=
		    PF_OK || (rc = join(ck, *assertion, rp)) != PF_OK)
			return rc;
	} while (rp->http.status == 400 && pf_now_at() - signed_at > LATE);
	return PF_OK;
}

/* The cookie of a join, or an empty one. */
static struct ag_cookie
joins(struct ck *ck, struct pf_str front, const char *rows, const char *what)
{
	struct ck_reply rp = { .body = NULL };
	struct ag_cookie cookie = { .secure = false };
	struct pf_str assertion = PF_NOSTR;
	enum pf_rc rc;

	if ((rc = join_fresh(ck, front, &assertion, &rp)) == PF_OK)
		rc = ag_join_check(ck->ag, &rp.http, front, &cookie);
	ck_point(ck, rc, rc == PF_OK, rows, what, &rp);
	if (rc != PF_OK)
		return (struct ag_cookie){ .secure = false };
	rc = join(ck, assertion, &rp);
	ck_point(ck, rc, rc == PF_OK && refused(&rp), "R-5-10,R-5-14",
	    "... and the same assertion again", &rp);
	return cookie;
}

void
ck_browser(struct ck *ck)
{
	struct pf_str front = around(ck, "https://", ck->company->asked, "/");
	struct ag_cookie one, two;

	if (!pf_str_given(ck->company->browser_endpoint)) {
		ck_skip(ck, "R-5-1", "no web.browser_session_endpoint is "
		    "listed: browsers join nothing");
		return;
	}
	one = joins(ck, front, "R-5-2,R-5-13,R-5-17,R-5-21",
	    "a browser joins a Session that is signed out");
	two = joins(ck, front, "R-5-20", "it joins once more");
	if (one.value.n > 0 && two.value.n > 0)
		ck_point(ck, PF_OK, pf_str_eq(one.name, two.name) &&
		    pf_str_eq(one.path, two.path) &&
		    pf_str_eq(one.domain, two.domain) &&
		    !pf_str_eq(one.value, two.value), "R-5-20",
		    "the second cookie takes the place of the first", NULL);
	in_url(ck, front);
	mixed_up(ck, front);
	for (size_t i = 0; i < PF_COUNT(mistakes); i++)
		expect_refused(ck, front, &mistakes[i].bend, mistakes[i].rows,
		    mistakes[i].what);
	lures(ck);
}
