#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/log.h"
#include "core/jose/crypt.h"
#include "core/web/req.h"

#define HEAD_MAX	16384
#define VALUE_MAX	4096
#define ETAG_BYTES	18	/* of the digest: 24 characters */

static const struct {
	int status;
	const char *text;
} reasons[] = {
	{ 200, "OK" }, { 201, "Created" }, { 202, "Accepted" },
	{ 204, "No Content" }, { 302, "Found" }, { 303, "See Other" },
	{ 304, "Not Modified" }, { 307, "Temporary Redirect" },
	{ 400, "Bad Request" }, { 401, "Unauthorized" },
	{ 403, "Forbidden" }, { 404, "Not Found" },
	{ 405, "Method Not Allowed" }, { 406, "Not Acceptable" },
	{ 409, "Conflict" }, { 410, "Gone" }, { 412, "Precondition Failed" },
	{ 413, "Content Too Large" }, { 415, "Unsupported Media Type" },
	{ 422, "Unprocessable Content" }, { 428, "Precondition Required" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" }, { 501, "Not Implemented" },
	{ 502, "Bad Gateway" }, { 503, "Service Unavailable" },
	{ 504, "Gateway Timeout" },
};

static const char *
reason(int status)
{
	for (size_t i = 0; i < PF_COUNT(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "Unknown";
}

void
pf_resp_init(struct pf_req *rq)
{
	memset(&rq->resp, 0, sizeof(rq->resp));
	pf_buf_init(&rq->resp.head, rq->arena, HEAD_MAX);
}

void
pf_resp_reset(struct pf_req *rq)
{
	pf_resp_init(rq);
}

/* RFC 9110, 5.6.2 token, as far as our own names and Variable-POPPY_* need. */
static bool
name_ok(const char *name)
{
	if (*name == '\0')
		return false;
	for (; *name != '\0'; name++)
		if (!pf_is_alpha(*name) && !pf_is_digit(*name) &&
		    *name != '-' && *name != '_')
			return false;
	return true;
}

static bool
value_ok(struct pf_str v)
{
	for (size_t i = 0; i < v.n; i++)
		if ((unsigned char)v.p[i] < ' ' || v.p[i] == 0x7f)
			return false;
	return true;
}

/* A line break here would let a stranger write headers of ours. */
void
pf_resp_header(struct pf_req *rq, const char *name, struct pf_str value)
{
	struct pf_buf *b = &rq->resp.head;

	if (!name_ok(name) || !value_ok(value)) {
		PF_LOG(PF_LOG_ERROR, "header_left_out",
		    PF_F_Z("name", name), PF_F_SECRET("value", value));
		return;
	}
	pf_buf_addz(b, name);
	pf_buf_addz(b, ": ");
	pf_buf_add(b, value);
	pf_buf_addz(b, "\r\n");
}

void
pf_resp_headerf(struct pf_req *rq, const char *name, const char *fmt, ...)
{
	char value[VALUE_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(value)) {
		PF_LOG(PF_LOG_ERROR, "header_left_out", PF_F_Z("name", name),
		    PF_F_INT("length", n));
		return;
	}
	pf_resp_header(rq, name, pf_bytes(value, (size_t)n));
}

static bool
never_a_body(int status)
{
	return status == 204 || status == 304;
}

enum pf_rc
pf_resp_send(struct pf_req *rq, int status, const char *type,
    struct pf_str body)
{
	struct pf_resp *r = &rq->resp;

	if (body.n > PF_RESP_MAX)
		return PF_E_MEM;
	if (type != NULL)
		pf_resp_header(rq, "Content-Type", pf_str(type));
	if (r->head.failed)
		return PF_E_MEM;
	r->status = status;
	r->body = body;
	r->no_body = rq->method == PF_HEAD || never_a_body(status);
	return PF_OK;
}

enum pf_rc
pf_resp_json(struct pf_req *rq, int status, const struct pf_buf *json)
{
	struct pf_str body;
	enum pf_rc rc;

	if ((rc = pf_buf_done(json, &body)) != PF_OK)
		return rc;
	return pf_resp_send(rq, status, "application/json", body);
}

enum pf_rc
pf_resp_empty(struct pf_req *rq, int status)
{
	return pf_resp_send(rq, status, NULL, PF_LIT(""));
}

/* One entity-tag of If-None-Match, quotes included, W/ cut; PF_NOSTR at the end
 * or at the first that is none. Tags may hold commas. */
static struct pf_str
next_tag(struct pf_str *rest)
{
	struct pf_str s = *rest, tag;
	size_t end;

	while (s.n > 0 && (*s.p == ',' || *s.p == ' ' || *s.p == '\t'))
		s = pf_str_from(s, 1);
	if (pf_str_starts(s, PF_LIT("W/")))
		s = pf_str_from(s, 2);
	if (s.n == 0 || *s.p != '"')
		return PF_NOSTR;
	end = pf_str_find(pf_str_from(s, 1), '"');
	if (end + 2 > s.n)
		return PF_NOSTR;
	tag = pf_str_head(s, end + 2);
	*rest = pf_str_from(s, end + 2);
	return tag;
}

/* Weak comparison (RFC 9110, 8.8.3.2), as If-None-Match wants it. */
static bool
names_tag(struct pf_str if_none_match, struct pf_str etag)
{
	struct pf_str rest = pf_str_trim(if_none_match), tag;

	if (pf_str_eqz(rest, "*"))
		return true;
	while (pf_str_given(tag = next_tag(&rest)))
		if (pf_str_eq(tag, etag))
			return true;
	return false;
}

enum pf_rc
pf_resp_cached(struct pf_req *rq, const char *type, struct pf_str body,
    const char *cache_control)
{
	unsigned char digest[PF_SHA256_LEN];
	char etag[PF_B64URL_LEN(ETAG_BYTES) + 2];
	struct pf_str tag;
	enum pf_rc rc;
	size_t n;

	if ((rc = pf_sha256(body, digest)) != PF_OK)
		return rc;
	n = pf_b64url_encode(digest, ETAG_BYTES, etag + 1);
	etag[0] = etag[n + 1] = '"';
	tag = pf_bytes(etag, n + 2);
	pf_resp_header(rq, "ETag", tag);
	if (cache_control != NULL)
		pf_resp_header(rq, "Cache-Control", pf_str(cache_control));
	if ((rq->method == PF_GET || rq->method == PF_HEAD) &&
	    names_tag(rq->if_none_match, tag))
		return pf_resp_empty(rq, 304);
	return pf_resp_send(rq, 200, type, body);
}

/*
 * Content-Length only where there is content: an authorizer's success must
 * carry nothing but its variables, and a web server counts an empty body
 * itself.
 */
enum pf_rc
pf_resp_block(struct pf_req *rq, struct pf_str *out)
{
	struct pf_resp *r = &rq->resp;
	struct pf_buf b;

	if (r->head.failed)
		return PF_E_MEM;
	pf_buf_init(&b, rq->arena, HEAD_MAX + 256);
	pf_buf_addz(&b, "Status: ");
	pf_buf_int(&b, r->status);
	pf_buf_char(&b, ' ');
	pf_buf_addz(&b, reason(r->status));
	pf_buf_addz(&b, "\r\n");
	pf_buf_add(&b, pf_buf_str(&r->head));
	if (r->body.n > 0 && !never_a_body(r->status)) {
		pf_buf_addz(&b, "Content-Length: ");
		pf_buf_int(&b, (int64_t)r->body.n);
		pf_buf_addz(&b, "\r\n");
	}
	pf_buf_addz(&b, "\r\n");
	return pf_buf_done(&b, out);
}
