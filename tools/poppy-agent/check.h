/*
 * check - a Company seen by an agent that also errs on purpose: what each request
 * must get, as TAP with the ids of the requirements. Only for check*.c.
 */
#ifndef AG_CHECK_H
#define AG_CHECK_H

#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/documents.h"
#include "tools/poppy-agent/http.h"

/* What is signed for one request. */
enum ck_part { CK_NOTHING, CK_PROOF, CK_CLIENT, CK_SESSION, CK_FORM };

enum ck_how {
	CK_SET,		/* a claim to this JSON, or a form field to this text */
	CK_DROP,	/* without the claim, the field, or the whole JWT */
	CK_TIME,	/* a claim to now + offset */
	CK_HEAD,	/* a member of the JOSE header to this JSON; NULL:
			 * without it */
	CK_TAMPER,	/* the signature altered */
	CK_STRANGER	/* signed with a key that nobody published */
};

/* One deliberate mistake. */
struct ck_bend {
	enum ck_part part;
	enum ck_how how;
	const char *name;	/* NULL with CK_DROP: the JWT itself */
	const char *value;
	int64_t offset;
};

struct ck {
	struct agent *ag;
	struct ag_company *company;
	const struct ag_key *key;	/* published */
	struct pf_key *dpop, *stranger;
	struct pf_str user_id;
	struct pf_str session_id, token;	/* of a Session that works */
	struct pf_str call_url, scoped_url;	/* PF_NOSTR: none to call */
	struct pf_str login, password;	/* of a test customer, or PF_NOSTR */
	int n, failed;
};

/* What came back. */
struct ck_reply {
	struct ag_reply http;
	const struct pf_json *body;	/* NULL: no JSON object */
	struct pf_str error;		/* of the body, or PF_NOSTR */
	struct pf_str challenge;	/* error of WWW-Authenticate: DPoP */
};

/* The JWTs of a request, made afresh and bent; url is the proof's. */
struct ck_signed { struct pf_str proof, client, session; };
PF_MUST enum pf_rc ck_sign_token(struct ck *ck, struct pf_str user_id,
    const struct ck_bend *bend, struct ck_signed *out);
PF_MUST enum pf_rc ck_sign_call(struct ck *ck, struct pf_str url,
    const struct ck_bend *bend, struct pf_str *proof);
/* A browser assertion of the Session that works; bend->part counts nothing. */
PF_MUST enum pf_rc ck_sign_browser(struct ck *ck, struct pf_str return_to,
    const struct ck_bend *bend, struct pf_str *out);

/* Ask the token endpoint. session_id may be PF_NOSTR. */
PF_MUST enum pf_rc ck_token(struct ck *ck, const struct ck_signed *s,
    struct pf_str session_id, const struct ck_bend *bend, struct ck_reply *rp);
/* GET url with these headers (PF_NOSTR: without). */
PF_MUST enum pf_rc ck_call(struct ck *ck, struct pf_str url,
    struct pf_str authorization, struct pf_str proof, struct ck_reply *rp);
/* A form as a browser posts it; body PF_NOSTR: GET. */
PF_MUST enum pf_rc ck_post(struct ck *ck, struct pf_str url,
    struct pf_str body, struct ck_reply *rp);
/* Learn the nonces of a Company that requires them (RFC 9449, 8 and 9). */
void ck_nonces(struct ck *ck);
struct pf_str ck_dpop(struct ck *ck, struct pf_str token);	/* "DPoP ..." */

struct ag_token_ask;
/* A sound form with client assertion; what came back, in the shape of a check
 * (check_signin.c). */
PF_MUST enum pf_rc ck_ask(struct ck *ck, const struct ag_token_ask *a,
    struct ck_reply *rp);
/* RFC 7636, appendix B. */
#define CK_VERIFIER	"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
/* An authorization request for that verifier, with one parameter (name not
 * NULL) as value, or left out. */
PF_MUST enum pf_rc ck_authorize_url(struct ck *ck, struct pf_str redirect,
    const char *name, const char *value, struct pf_str *out);

/* One point of TAP. rc other than PF_OK fails it with the agent's fault. */
void ck_point(struct ck *ck, enum pf_rc rc, bool good, const char *rows,
    const char *what, const struct ck_reply *rp);
void ck_skip(struct ck *ck, const char *rows, const char *why);

/* The groups. */
void ck_documents(struct ck *ck);
void ck_sessions(struct ck *ck);
void ck_mistakes(struct ck *ck);
void ck_calls(struct ck *ck);
void ck_mcp(struct ck *ck);
void ck_signin(struct ck *ck);
void ck_account(struct ck *ck);
void ck_browser(struct ck *ck);

#endif
