/*
 * The authorization endpoint (section 4.5; RFC 6749, 4.1.1; RFC 7636): what
 * the agent asks for is judged and stored here. From then on it is named by a
 * random id, and what the browser sends decides nothing but yes or no.
 */
#include "fcgi/auth/pages.h"

#include "core/poppy/fetch.h"
#include "core/poppy/scope.h"
#include "core/web/url.h"

#define REQUEST_SECONDS	1800	/* to log in, perhaps by a second factor */
#define STATE_MAX	2048
#define CHALLENGE	32	/* bytes of a SHA-256 */

static const struct pf_stmt AUTHORIZE_START = {
	"authorize_start", "SELECT outcome, retry_s"
	" FROM poppy_api.authorize_start($1, $2, $3, $4, $5, $6, $7, $8, $9,"
	" $10, $11, $12, $13, $14, $15)"
};
enum { OUTCOME, RETRY_S };

struct asked {
	struct pf_req *rq;
	struct pf_form form;
	const struct pf_client *client;
	struct pf_client_doc doc;
	struct pf_str redirect, state;	/* state PF_NOSTR: none */
	/* Known once the rest is good. */
	struct pf_str scopes;
	const struct pf_api *api;	/* by resource; NULL */
	unsigned char challenge[CHALLENGE];
	struct pf_sid sid;
	bool of_session;
};

/* What goes back to the agent (RFC 6749, 4.1.2.1). */
struct fault {
	const char *error, *why;
};

static struct pf_str
field(const struct asked *q, const char *name)
{
	struct pf_str value;

	return pf_form_get(&q->form, name, &value) == PF_OK ? value : PF_NOSTR;
}

/* Nobody is sent anywhere before both are known to be the agent's own. */
static enum pf_rc
who_and_where(struct asked *q)
{
	struct pf_str id = field(q, "client_id");
	const struct pf_api *api;
	enum pf_rc rc;

	if (!pf_str_given(id))
		return pf_fail(q->rq, PF_INVALID_CLIENT,
		    "client_id is missing or there twice");
	if ((rc = pf_client_load(q->rq, id, &q->client)) != PF_OK ||
	    (rc = pf_client_about(q->rq, q->client, &q->doc)) != PF_OK)
		return rc;
	q->redirect = field(q, "redirect_uri");
	api = pf_settings_api(&pf_app(q->rq)->set, field(q, "resource"));
	if (pf_str_given(q->redirect) && pf_client_redirect(&q->doc,
	    q->redirect, api != NULL && api->mcp))
		return PF_OK;
	return auth_page_refuse(q->rq, PF_SAY_BAD_REDIRECT,
	    "redirect_uri is not the agent's");
}

static struct fault
check_form(const struct asked *q)
{
	const struct pf_form *f = &q->form;
	struct pf_str repeated = pf_form_repeated(f);
	struct pf_str type = field(q, "response_type");
	struct pf_str mode = field(q, "response_mode");

	if (pf_str_eqz(repeated, "resource"))
		return (struct fault){ "invalid_target",
		    "more than one resource" };
	if (pf_str_given(repeated) || q->state.n > STATE_MAX)
		return (struct fault){ "invalid_request", "a parameter stands "
		    "there twice, or state is too long" };
	if (!pf_str_given(type))
		return (struct fault){ "invalid_request",
		    "response_type is missing" };
	if (!pf_str_eqz(type, "code"))
		return (struct fault){ "unsupported_response_type",
		    "response_type must be code" };
	if (pf_str_given(field(q, "request")))
		return (struct fault){ "request_not_supported", NULL };
	if (pf_str_given(field(q, "request_uri")))
		return (struct fault){ "request_uri_not_supported", NULL };
	if (pf_str_given(mode) && !pf_str_eqz(mode, "query"))
		return (struct fault){ "invalid_request",
		    "response_mode must be query" };
	return (struct fault){ NULL, NULL };
}

static struct fault
check_proof_key(struct asked *q)
{
	size_t n;

	if (!pf_str_eqz(field(q, "code_challenge_method"), "S256"))
		return (struct fault){ "invalid_request",
		    "code_challenge_method must be S256" };
	if (pf_b64url_decode(field(q, "code_challenge"), q->challenge,
	    sizeof(q->challenge), &n) != PF_OK || n != sizeof(q->challenge))
		return (struct fault){ "invalid_request",
		    "code_challenge must be a SHA-256 in base64url" };
	return (struct fault){ NULL, NULL };
}

/* What it is for: scopes, a resource, a Session. */
static struct fault
check_purpose(struct asked *q)
{
	const struct pf_settings *s = &pf_app(q->rq)->set;
	struct pf_str resource = field(q, "resource");
	struct pf_str sid = field(q, "session_id");

	if (pf_scope_wanted(q->rq->arena, field(q, "scope"),
	    &s->sign_in.direct, &q->scopes) != PF_OK)
		return (struct fault){ "invalid_scope",
		    "scope is missing, or has one that is not on offer" };
	if (pf_str_given(resource)) {
		q->api = pf_settings_api(s, resource);
		if (q->api == NULL)
			return (struct fault){ "invalid_target",
			    "resource is none of ours" };
	}
	if (q->doc.is_public && (q->api == NULL || !q->api->mcp))
		return (struct fault){ "invalid_target", "a client without "
		    "keys must name an MCP server as its resource" };
	if (!pf_str_given(sid))
		return (struct fault){ NULL, NULL };
	q->of_session = pf_sid_parse(sid, &q->sid) == PF_OK;
	return q->of_session ? (struct fault){ NULL, NULL } :
	    (struct fault){ "invalid_request", "session_id is none" };
}

static struct fault
check_all(struct asked *q)
{
	struct fault f;

	if ((f = check_form(q)).error != NULL ||
	    (f = check_proof_key(q)).error != NULL)
		return f;
	return check_purpose(q);
}

static enum pf_rc
call(struct asked *q, const struct pf_tokenhash *hash, struct pf_row *row)
{
	const struct pf_settings *s = &pf_app(q->rq)->set;
	unsigned char address[PF_LIMIT_KEY];

	pf_limit_address(q->rq, address);
	const struct pf_param v[] = {
		PF_BYTES(hash->b, sizeof(hash->b)), PF_INT8(q->client->no),
		PF_TEXT(q->client->client_id), PF_TEXT(q->doc.name),
		PF_TEXT(q->doc.logo_uri), PF_TEXT(q->redirect),
		PF_TEXT(q->state), PF_BYTES(q->challenge, CHALLENGE),
		PF_TEXT(q->scopes),
		q->of_session ? PF_BYTES(q->sid.raw, PF_SID_RAW) : PF_NULLP,
		q->of_session ? PF_INT4(q->sid.bucket) : PF_NULLP,
		PF_TEXT(field(q, "resource")), PF_INT4(REQUEST_SECONDS),
		PF_BYTES(address, sizeof(address)),
		PF_INT4(s->limits.token_per_address)
	};
	return pf_db_one(q->rq->db, q->rq->arena, &AUTHORIZE_START, v,
	    PF_COUNT(v), row);
}

static enum pf_rc
start(struct asked *q, struct pf_token *id)
{
	struct auth_page page = { .rq = q->rq };
	struct pf_tokenhash hash;
	struct pf_str place;
	struct pf_buf b;
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = pf_token_new("prq_", 0, id)) != PF_OK || (rc = pf_token_hash(
	    pf_bytes(id->text, sizeof(id->text)), &hash)) != PF_OK ||
	    (rc = call(q, &hash, &row)) != PF_OK)
		return rc;
	if (pf_row_is(&row, OUTCOME, "limit"))
		return auth_page_limit(q->rq, pf_row_int(&row, RETRY_S));
	if (!pf_row_is(&row, OUTCOME, "ok")) {
		pf_client_cache_forget(pf_app(q->rq)->proc->clients,
		    q->client->client_id);
		return auth_page_refuse(q->rq, PF_SAY_BLOCKED,
		    "this client is not accepted here");
	}
	pf_buf_init(&b, q->rq->arena, 128);
	pf_buf_addz(&b, "consent/");
	pf_buf_add(&b, pf_bytes(id->text, sizeof(id->text)));
	rc = pf_buf_done(&b, &place);
	return rc != PF_OK ? rc : auth_page_goto(&page, place);
}

enum pf_rc
auth_authorize(struct pf_req *rq)
{
	struct asked q = { .rq = rq };
	struct pf_token id = { { 0 } };
	struct fault fault;
	const char *why;
	enum pf_rc rc;

	if (pf_app(rq)->set.sign_in.direct.n == 0)
		return pf_fail(rq, PF_NOT_FOUND, "There is nothing here.");
	if ((rc = pf_limit_before(rq, PF_LIMIT_REFUSED)) != PF_OK)
		return rc;
	rc = pf_form_parse(rq->arena, rq->method == PF_POST ? rq->body :
	    rq->query, &q.form, &why);
	if (rc == PF_E_INPUT)
		return pf_fail(rq, PF_INVALID_REQUEST, "form: %s", why);
	if (rc != PF_OK || (rc = who_and_where(&q)) != PF_OK ||
	    rq->resp.status != 0)
		return rc;
	q.state = field(&q, "state");
	if ((fault = check_all(&q)).error != NULL)
		return auth_redirect(rq, q.redirect, "error",
		    pf_str(fault.error), fault.why, q.state.n > STATE_MAX ?
		    PF_NOSTR : q.state);
	rc = start(&q, &id);
	pf_token_wipe(&id);
	return rc;
}
