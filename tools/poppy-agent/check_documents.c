/*
 * What the Company publishes, beyond what discovery needs (3 to 3.2, 6).
 */
#include "config.h"

#include "tools/poppy-agent/check.h"

static enum pf_rc
get(struct ck *ck, struct pf_str url, struct ck_reply *rp)
{
	return ck_call(ck, url, PF_NOSTR, PF_NOSTR, rp);
}

static bool
cacheable(const struct ck_reply *rp)
{
	return pf_str_given(ag_reply_field(&rp->http, "cache-control", 0)) ||
	    pf_str_given(ag_reply_field(&rp->http, "etag", 0));
}

static bool
is_json(const struct ck_reply *rp)
{
	return pf_str_starts(ag_reply_field(&rp->http, "content-type", 0),
	    PF_LIT("application/json"));
}

static void
metadata(struct ck *ck)
{
	struct ck_reply rp = { .body = NULL };
	struct pf_str url, issuer;
	enum pf_rc rc;

	rc = ag_metadata_url(&ck->ag->arena, ck->company->issuer, &url);
	if (rc == PF_OK)
		rc = get(ck, url, &rp);
	ck_point(ck, rc, rc == PF_OK && rp.http.status == 200 &&
	    rp.body != NULL, "R-3.2-1,R-3.2-2",
	    "the OAuth server's metadata is where its issuer says", &rp);
	if (rc != PF_OK || rp.body == NULL)
		return;
	ck_point(ck, PF_OK, pf_json_str(rp.body, "issuer", &issuer) == PF_OK &&
	    pf_str_eq(issuer, ck->company->issuer), "R-3.2-3",
	    "it names the issuer byte for byte", &rp);
	ck_point(ck, PF_OK, cacheable(&rp), "R-3.2-11",
	    "it says how long it may be kept", &rp);
}

void
ck_documents(struct ck *ck)
{
	struct ck_reply rp = { .body = NULL };
	struct pf_str url, host, key;
	enum pf_rc rc;

	rc = ag_wellknown_url(&ck->ag->arena, ck->ag->opt.arg[0], &url, &host,
	    &key);
	if (rc == PF_OK)
		rc = get(ck, url, &rp);
	/* A redirect is allowed; discovery has followed it. */
	ck_point(ck, rc, rc == PF_OK && ((rp.http.status == 200 &&
	    rp.body != NULL && is_json(&rp)) || rp.http.status / 100 == 3),
	    "R-3-1,R-3-6", "poppy.json, without any identity", &rp);
	ck_point(ck, rc, rc == PF_OK && (cacheable(&rp) ||
	    rp.http.status / 100 == 3), "R-3-5",
	    "it says how long it may be kept", &rp);
	ck_point(ck, PF_OK, pf_str_eqz(ck->company->version, "0.1"), "R-3.1-1",
	    "protocol_version is 0.1", NULL);
	metadata(ck);
}
