/*
 * page - see page.h.
 */
#include "core/web/page.h"

#define PAGE_MAX	(64u << 10)

static const char *
entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void
pf_html(struct pf_buf *b, struct pf_str s)
{
	size_t from = 0;

	for (size_t i = 0; i < s.n; i++) {
		const char *e = entity(s.p[i]);

		if (e == NULL)
			continue;
		pf_buf_add(b, (struct pf_str){ s.p + from, i - from });
		pf_buf_addz(b, e);
		from = i + 1;
	}
	pf_buf_add(b, pf_str_from(s, from));
}

enum pf_rc
pf_page_send(struct pf_req *rq, int status, struct pf_str html)
{
	pf_resp_header(rq, "Content-Security-Policy",
	    PF_LIT("default-src 'none'; style-src 'self'; img-src 'self'; "
	    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"));
	/* For browsers that don't know frame-ancestors. */
	pf_resp_header(rq, "X-Frame-Options", PF_LIT("DENY"));
	pf_resp_header(rq, "Referrer-Policy", PF_LIT("no-referrer"));
	pf_resp_header(rq, "X-Content-Type-Options", PF_LIT("nosniff"));
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	return pf_resp_send(rq, status, "text/html; charset=utf-8", html);
}

enum pf_rc
pf_page_message(struct pf_req *rq, int status, struct pf_str title,
    struct pf_str text)
{
	struct pf_buf b;
	struct pf_str html;
	enum pf_rc rc;

	pf_buf_init(&b, rq->arena, PAGE_MAX);
	pf_buf_addz(&b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, "
	    "initial-scale=1\">\n<title>");
	pf_html(&b, title);
	pf_buf_addz(&b, "</title>\n"
	    "<link rel=\"stylesheet\" href=\"/poppy/style.css\">\n"
	    "</head>\n<body>\n<main>\n<h1>");
	pf_html(&b, title);
	pf_buf_addz(&b, "</h1>\n<p>");
	pf_html(&b, text);
	pf_buf_addz(&b, "</p>\n</main>\n</body>\n</html>\n");
	if ((rc = pf_buf_done(&b, &html)) != PF_OK)
		return rc;
	return pf_page_send(rq, status, html);
}
