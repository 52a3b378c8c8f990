/*
 * Bearer tokens for a listed MCP server (4.3, 6): given there, good nowhere else.
 */
#include "config.h"

#include "core/web/url.h"
#include "tools/poppy-agent/check.h"

static struct pf_str
bearer(struct ck *ck, struct pf_str token)
{
	struct pf_buf b;

	pf_buf_init(&b, &ck->ag->arena, 16384);
	pf_buf_addz(&b, "Bearer ");
	pf_buf_add(&b, token);
	return pf_buf_str(&b);
}

/* A token request without a proof, for the Session that works. */
static enum pf_rc
ask(struct ck *ck, const char *resource, struct ck_reply *rp)
{
	const struct ck_bend bend = { CK_FORM, CK_SET, "resource", resource, 0 };
	struct ck_signed s;
	enum pf_rc rc;

	if ((rc = ck_sign_token(ck, ck->user_id, NULL, &s)) != PF_OK)
		return rc;
	s.proof = PF_NOSTR;
	return ck_token(ck, &s, ck->session_id, &bend, rp);
}

static bool
refused(const struct ck_reply *rp, const char *error)
{
	return rp->http.status == 400 && pf_str_eqz(rp->error, error);
}

/* 401, and the metadata that tells where tokens come from (RFC 9728, 5.1). */
static bool
challenged(const struct ck_reply *rp)
{
	struct pf_str v = ag_reply_field(&rp->http, "www-authenticate", 0);

	return rp->http.status == 401 && pf_str_starts(v, PF_LIT("Bearer "));
}

static void
with_token(struct ck *ck, struct pf_str url, struct pf_str token)
{
	struct ck_reply rp = { .body = NULL };
	enum pf_rc rc;

	/* What an MCP server says to a bare GET is its own affair; it must not
	 * be that the token is refused. */
	rc = ck_call(ck, url, bearer(ck, token), PF_NOSTR, &rp);
	ck_point(ck, rc, rc == PF_OK && rp.http.status != 401 &&
	    rp.http.status < 500, "R-6-4,R-6-5",
	    "the MCP server takes its Bearer token", &rp);
	rc = ck_call(ck, url, ck_dpop(ck, ck->token), PF_NOSTR, &rp);
	ck_point(ck, rc, rc == PF_OK && challenged(&rp), "R-6-6",
	    "it refuses a token that is bound to a key", &rp);
	if (!pf_str_given(ck->call_url))
		return;
	rc = ck_call(ck, ck->call_url, bearer(ck, token), PF_NOSTR, &rp);
	ck_point(ck, rc, rc == PF_OK && rp.http.status == 401, "R-4.3-19",
	    "an openapi API refuses the Bearer token", &rp);
}

/* The server's metadata, where RFC 9728, 3.1 puts it. */
static void
metadata(struct ck *ck, struct pf_str url)
{
	struct ck_reply rp = { .body = NULL };
	const struct pf_json *list;
	struct pf_str at, s;
	struct pf_url u;
	struct pf_buf b;
	enum pf_rc rc = PF_E_INPUT;
	bool named = false;

	pf_buf_init(&b, &ck->ag->arena, 4096);
	if (pf_url_parse(url, &u) == PF_OK) {
		pf_buf_add(&b, pf_str_head(url, (size_t)(u.path.p - url.p)));
		pf_buf_addz(&b, "/.well-known/oauth-protected-resource");
		pf_buf_add(&b, u.path);
	}
	if (pf_buf_done(&b, &at) == PF_OK && at.n > 0)
		rc = ck_call(ck, at, PF_NOSTR, PF_NOSTR, &rp);
	if (rc == PF_OK && rp.body != NULL &&
	    pf_json_arr(rp.body, "authorization_servers", &list) == PF_OK)
		for (size_t i = 0; i < pf_json_len(list); i++)
			named = named || (pf_json_as_str(pf_json_at(list, i),
			    &s) == PF_OK && pf_str_eq(s, ck->company->issuer));
	ck_point(ck, rc, named, "R-6-7",
	    "its metadata names the issuer", &rp);
}

static void
server(struct ck *ck, struct pf_str url)
{
	struct ck_reply rp = { .body = NULL };
	struct pf_str type = PF_NOSTR, token = PF_NOSTR;
	const char *z = pf_arena_z(&ck->ag->arena, url);
	enum pf_rc rc = z == NULL ? PF_E_MEM : ask(ck, z, &rp);

	if (rc == PF_OK && rp.body != NULL &&
	    (pf_json_str(rp.body, "token_type", &type) != PF_OK ||
	    pf_json_str(rp.body, "access_token", &token) != PF_OK))
		token = PF_NOSTR;
	ck_point(ck, rc, rc == PF_OK && rp.http.status == 200 &&
	    pf_str_given(token) && pf_str_eqz(type, "Bearer"),
	    "R-4.3-15,R-4.3-18", "a Bearer token for a listed MCP server", &rp);
	if (pf_str_given(token))
		with_token(ck, url, token);
	rc = ck_call(ck, url, PF_NOSTR, PF_NOSTR, &rp);
	ck_point(ck, rc, rc == PF_OK && challenged(&rp), "R-6-7,R-6-9",
	    "without a token it says where to get one", &rp);
	metadata(ck, url);
}

void
ck_mcp(struct ck *ck)
{
	const struct ag_company *c = ck->company;
	struct ck_reply rp = { .body = NULL };
	enum pf_rc rc;

	rc = ask(ck, "https://other.example/mcp", &rp);
	ck_point(ck, rc, rc == PF_OK && refused(&rp, "invalid_target"),
	    "R-4.3-16", "no Bearer token for a server that is not listed", &rp);
	for (size_t i = 0; i < c->napis; i++)
		if (pf_str_eqz(c->api[i].type, "mcp"))
			server(ck, c->api[i].url);
}
