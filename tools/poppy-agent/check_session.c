/*
 * Sessions as they must go: start, renewal, replay, other Users.
 */
#include "config.h"

#include "tools/poppy-agent/check.h"
#include "tools/poppy-agent/sign.h"
#include "tools/poppy-agent/token.h"

/* Sign afresh, ask, and say in *g what a 200 granted. */
static enum pf_rc
ask(struct ck *ck, struct pf_str user_id, struct pf_str session_id,
    struct ck_signed *s, struct ck_reply *rp)
{
	enum pf_rc rc;

	if ((rc = ck_sign_token(ck, user_id, NULL, s)) != PF_OK)
		return rc;
	return ck_token(ck, s, session_id, NULL, rp);
}

static bool
granted(struct ck *ck, const struct ck_reply *rp, struct pf_str session_id,
    struct ag_grant *g)
{
	return rp->http.status == 200 && rp->body != NULL &&
	    pf_str_eqz(ag_reply_field(&rp->http, "cache-control", 0),
	    "no-store") &&
	    ag_grant_check(rp->body, session_id, g, &ck->ag->fault) == PF_OK;
}

static bool
refused(const struct ck_reply *rp, int status, const char *error)
{
	return rp->http.status == status && pf_str_eqz(rp->error, error);
}

/* Each of the three JWTs, sent a second time beside two fresh ones. */
static void
replays(struct ck *ck, const struct ck_signed *used)
{
	static const struct {
		const char *rows, *what, *error;
		int status;
	} rows[] = {
		{ "R-4.3-8,R-4.3-12", "a proof sent again",
		    "invalid_dpop_proof", 400 },
		{ "R-4.1-8", "a client assertion sent again",
		    "invalid_client", 401 },
		{ "R-4.2-6", "an assertion sent again", "invalid_grant", 400 },
	};

	for (size_t i = 0; i < PF_COUNT(rows); i++) {
		struct ck_reply rp = { .body = NULL };
		struct ck_signed s;
		enum pf_rc rc;

		rc = ck_sign_token(ck, ck->user_id, NULL, &s);
		if (i == 0)
			s.proof = used->proof;
		else if (i == 1)
			s.client = used->client;
		else
			s.session = used->session;
		if (rc == PF_OK)
			rc = ck_token(ck, &s, PF_NOSTR, NULL, &rp);
		ck_point(ck, rc, rc == PF_OK && refused(&rp, rows[i].status,
		    rows[i].error), rows[i].rows, rows[i].what, &rp);
	}
}

static void
renewals(struct ck *ck)
{
	struct ck_reply rp = { .body = NULL };
	struct ag_grant g = { .token = PF_NOSTR };
	struct pf_str other;
	struct ck_signed s;
	enum pf_rc rc;

	rc = ask(ck, ck->user_id, ck->session_id, &s, &rp);
	ck_point(ck, rc, rc == PF_OK && granted(ck, &rp, ck->session_id, &g) &&
	    !pf_str_eq(g.token, ck->token), "R-4.2-20,R-4.2-15",
	    "a renewal: the same Session, another token", &rp);
	if ((rc = ag_random_id(&ck->ag->arena, "usr_", &other)) == PF_OK)
		rc = ask(ck, other, ck->session_id, &s, &rp);
	ck_point(ck, rc, rc == PF_OK && refused(&rp, 400, "invalid_session"),
	    "R-4.2-21,R-4-1", "a renewal for another User", &rp);
}

/* One JWT as client and Session assertion. */
static void
both_in_one(struct ck *ck)
{
	struct ck_reply rp = { .body = NULL };
	struct ck_signed s;
	enum pf_rc rc;

	if ((rc = ck_sign_token(ck, ck->user_id, NULL, &s)) == PF_OK) {
		s.session = s.client;
		rc = ck_token(ck, &s, PF_NOSTR, NULL, &rp);
	}
	ck_point(ck, rc, rc == PF_OK && rp.http.status >= 400 &&
	    rp.http.status < 500, "R-4.2-10",
	    "a client assertion as Session assertion", &rp);
}

void
ck_sessions(struct ck *ck)
{
	struct ck_reply rp = { .body = NULL };
	struct ag_grant g = { .token = PF_NOSTR }, second = g;
	struct ck_signed s = { .proof = PF_NOSTR }, again;
	enum pf_rc rc;

	rc = ask(ck, ck->user_id, PF_NOSTR, &s, &rp);
	ck_point(ck, rc, rc == PF_OK && granted(ck, &rp, PF_NOSTR, &g) &&
	    !g.signed_in && g.scope.n == 0, "R-4.2-1,R-4.2-11,R-4.2-12,"
	    "R-4.2-13,R-4.2-16,R-4.2-17,R-4-3", "a Session starts, signed out",
	    &rp);
	if (!pf_str_given(g.token))
		return;
	ck->token = g.token;
	ck->session_id = g.session_id;
	ck_point(ck, PF_OK, g.expires_in <= 86400, "R-4.2-14",
	    "its token lasts hours, not days", NULL);
	ck_point(ck, PF_OK, !pf_json_has(rp.body, "refresh_token"), "R-4.2-18",
	    "no Account Token comes with it", NULL);
	rc = ask(ck, ck->user_id, PF_NOSTR, &again, &rp);
	ck_point(ck, rc, rc == PF_OK && granted(ck, &rp, PF_NOSTR, &second) &&
	    !pf_str_eq(second.session_id, g.session_id), "R-4-2",
	    "a second Session beside the first", &rp);
	replays(ck, &s);
	renewals(ck);
	both_in_one(ck);
}
