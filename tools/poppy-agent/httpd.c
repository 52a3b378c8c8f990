#include "config.h"

#include "tools/poppy-agent/httpd.h"

#include <string.h>

#include "core/jose/crypt.h"

#define MAX_AGE		"max-age=300"
#define ETAG_MAX	32

static const struct { int status; const char *reason; } reasons[] = {
	{ 200, "OK" },
	{ 304, "Not Modified" },
	{ 400, "Bad Request" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 413, "Content Too Large" },
	{ 431, "Request Header Fields Too Large" },
	{ 505, "HTTP Version Not Supported" },
};

static const char *
reason(int status)
{
	for (size_t i = 0; i < PF_COUNT(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Error";
}

size_t
ag_httpd_head(struct pf_str text)
{
	for (size_t i = 3; i < text.n; i++)
		if (memcmp(text.p + i - 3, "\r\n\r\n", 4) == 0)
			return i + 1;
	return 0;
}

static struct pf_str
without_cr(struct pf_str line)
{
	return line.n > 0 && line.p[line.n - 1] == '\r' ?
	    pf_str_head(line, line.n - 1) : line;
}

/* "GET /path HTTP/1.1": single spaces, visible ASCII, origin form. */
static void
parse_line(struct pf_str line, struct ag_ask *out)
{
	struct pf_str rest = line, target, version;

	out->refused = 400;
	for (size_t i = 0; i < line.n; i++)
		if (line.p[i] < ' ' || line.p[i] > '~')
			return;
	if (!pf_str_cut(&rest, ' ', &out->method) ||
	    !pf_str_cut(&rest, ' ', &target) ||
	    !pf_str_cut(&rest, ' ', &version) || pf_str_given(rest) ||
	    out->method.n == 0 || !pf_str_starts(target, PF_LIT("/")))
		return;
	out->path = pf_str_head(target, pf_str_find(target, '?'));
	out->query = out->path.n < target.n ?
	    pf_str_from(target, out->path.n + 1) : PF_NOSTR;
	out->keep_alive = pf_str_eqz(version, "HTTP/1.1");
	out->refused = out->keep_alive || pf_str_eqz(version, "HTTP/1.0") ? 0 :
	    pf_str_starts(version, PF_LIT("HTTP/")) ? 505 : 400;
}

static bool
is_read(struct pf_str method)
{
	return pf_str_eqz(method, "GET") || pf_str_eqz(method, "HEAD");
}

static void
parse_field(struct pf_str line, struct ag_ask *out)
{
	size_t colon = pf_str_find(line, ':');
	struct pf_str name = pf_str_head(line, colon);
	struct pf_str value = pf_str_trim(pf_str_from(line, colon + 1));

	/* A folded line or a space before the colon is how requests are
	 * smuggled. */
	if (colon == 0 || colon == line.n || pf_str_has(name, ' ') ||
	    pf_str_has(name, '\t')) {
		out->refused = 400;
		return;
	}
	if (pf_str_eq_nocase(name, PF_LIT("If-None-Match")))
		out->if_none_match = value;
	else if (pf_str_eq_nocase(name, PF_LIT("Connection")) &&
	    pf_str_eq_nocase(value, PF_LIT("close")))
		out->keep_alive = false;
	else if (pf_str_eq_nocase(name, PF_LIT("Transfer-Encoding")) ||
	    (pf_str_eq_nocase(name, PF_LIT("Content-Length")) &&
	    !pf_str_eqz(value, "0")))
		out->refused = is_read(out->method) ? 413 : 405;
}

void
ag_httpd_parse(struct pf_str head, struct ag_ask *out)
{
	struct pf_str rest = head, line;

	memset(out, 0, sizeof(*out));
	if (!pf_str_cut(&rest, '\n', &line))
		line = PF_NOSTR;
	parse_line(without_cr(line), out);
	while (out->refused == 0 && pf_str_cut(&rest, '\n', &line)) {
		line = without_cr(line);
		if (line.n == 0)
			break;
		parse_field(line, out);
	}
	if (out->refused != 0)
		out->keep_alive = false;
}

static struct pf_str
etag_of(struct pf_str body, char out[ETAG_MAX])
{
	unsigned char hash[PF_SHA256_LEN];
	size_t n;

	if (pf_sha256(body, hash) != PF_OK)
		return PF_NOSTR;
	out[0] = '"';
	n = pf_b64url_encode(hash, 16, out + 1);
	out[n + 1] = '"';
	return pf_bytes(out, n + 2);
}

/* A list of tags, W/ before each perhaps, or "*" (RFC 9110, 13.1.2). */
static bool
matches(struct pf_str list, struct pf_str etag)
{
	struct pf_str one;

	while (pf_str_given(list) && pf_str_cut(&list, ',', &one)) {
		one = pf_str_trim(one);
		if (pf_str_starts(one, PF_LIT("W/")))
			one = pf_str_from(one, 2);
		if (pf_str_eqz(one, "*") || pf_str_eq(one, etag))
			return true;
	}
	return false;
}

static void
put_head(struct pf_buf *b, int status, const struct ag_ask *ask)
{
	pf_buf_fmt(b, "HTTP/1.1 %d %s\r\nServer: poppy-agent\r\n", status,
	    reason(status));
	if (!ask->keep_alive)
		pf_buf_addz(b, "Connection: close\r\n");
}

int
ag_httpd_say(struct pf_buf *b, int status, const struct ag_ask *ask,
    const char *text)
{
	put_head(b, status, ask);
	if (status == 405)
		pf_buf_addz(b, "Allow: GET, HEAD\r\n");
	pf_buf_fmt(b, "Content-Type: text/plain\r\nCache-Control: no-store\r\n"
	    "Referrer-Policy: no-referrer\r\n"
	    "Content-Length: %zu\r\n\r\n", strlen(text) + 1);
	if (!pf_str_eqz(ask->method, "HEAD"))
		pf_buf_fmt(b, "%s\n", text);
	return status;
}

static int
put_error(struct pf_buf *b, int status, const struct ag_ask *ask)
{
	return ag_httpd_say(b, status, ask, reason(status));
}

static int
put_page(struct pf_buf *b, const struct ag_ask *ask,
    const struct ag_page *page)
{
	char raw[ETAG_MAX];
	struct pf_str etag = etag_of(page->body, raw);
	int status = matches(ask->if_none_match, etag) ? 304 : 200;

	put_head(b, status, ask);
	pf_buf_addz(b, "Cache-Control: public, " MAX_AGE "\r\nETag: ");
	pf_buf_add(b, etag);
	pf_buf_addz(b, "\r\nX-Content-Type-Options: nosniff\r\n");
	if (status == 200)
		pf_buf_fmt(b, "Content-Type: %.*s\r\n"
		    "Content-Length: %zu\r\n", PF_STRF(page->type),
		    page->body.n);
	pf_buf_addz(b, "\r\n");
	if (status == 200 && !pf_str_eqz(ask->method, "HEAD"))
		pf_buf_add(b, page->body);
	return status;
}

int
ag_httpd_answer(struct pf_buf *b, struct ag_ask *ask,
    const struct ag_page *page, size_t npages)
{
	if (ask->refused != 0)
		return put_error(b, ask->refused, ask);
	for (size_t i = 0; i < npages; i++) {
		if (!pf_str_eq(page[i].path, ask->path))
			continue;
		if (!is_read(ask->method))
			return put_error(b, 405, ask);
		return put_page(b, ask, &page[i]);
	}
	return put_error(b, 404, ask);
}
