/*
 * page - see page.h.
 */
#include "core/web/page.h"

#include "core/web/url.h"

#define CSP_MAX		4000
#define IMAGES_MAX	16	/* origins */

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

/* Is it a host-source of CSP 3 as well? An IPv6 address is none, and none of
 * what pf_url_parse() takes for a host could end the directive. */
static bool
is_source(const struct pf_url *u)
{
	return !pf_str_starts(u->host, PF_LIT("["));
}

static void
add_origin(struct pf_buf *b, const struct pf_url *u)
{
	pf_buf_add(b, u->scheme);
	pf_buf_addz(b, "://");
	pf_buf_add(b, u->host);
	if (u->port_given)
		pf_buf_fmt(b, ":%d", u->port);
}

/*
 * Chromium judges each redirect that follows a form, not the first alone: an
 * agent whose redirect_uri leads on to its app on another host would leave the
 * customer with a button that seems to do nothing. So any https page may follow
 * on the page that has such a form, and by name the agent's own, which may be
 * one on this computer; at [::1] no source can name it, and its scheme must do.
 */
static void
add_redirect(struct pf_buf *b, struct pf_str url)
{
	struct pf_url u;

	if (!pf_str_given(url) || pf_url_parse(url, &u) != PF_OK)
		return;
	pf_buf_char(b, ' ');
	if (is_source(&u)) {
		add_origin(b, &u);
	} else {
		pf_buf_add(b, u.scheme);
		pf_buf_char(b, ':');
	}
	pf_buf_addz(b, " https:");
}

static void
add_form(struct pf_buf *b, struct pf_str url)
{
	struct pf_url u;

	if (!pf_str_given(url) || pf_url_parse(url, &u) != PF_OK ||
	    !is_source(&u))
		return;
	pf_buf_char(b, ' ');
	add_origin(b, &u);
}

static void
add_images(struct pf_buf *b, const struct pf_strs *urls)
{
	struct pf_url u;
	size_t n = 0;

	for (size_t i = 0; i < urls->n && n < IMAGES_MAX; i++) {
		if (!pf_url_is_https(urls->v[i]) ||
		    pf_url_parse(urls->v[i], &u) != PF_OK || !is_source(&u))
			continue;
		pf_buf_char(b, ' ');
		add_origin(b, &u);
		n++;
	}
}

static void
put_csp(struct pf_req *rq, const struct pf_page_allow *allow)
{
	struct pf_buf b;

	pf_buf_init(&b, rq->arena, CSP_MAX);
	pf_buf_addz(&b, "default-src 'none'; style-src 'self'; "
	    "base-uri 'none'; frame-ancestors 'none'; img-src 'self'");
	if (allow != NULL)
		add_images(&b, &allow->images);
	pf_buf_addz(&b, "; form-action 'self'");
	if (allow != NULL) {
		add_form(&b, allow->form);
		add_redirect(&b, allow->redirect);
	}
	pf_resp_header(rq, "Content-Security-Policy", pf_buf_str(&b));
}

enum pf_rc
pf_page_send(struct pf_req *rq, int status, struct pf_str html,
    const struct pf_page_allow *allow)
{
	put_csp(rq, allow);
	/* For browsers that don't know frame-ancestors. */
	pf_resp_header(rq, "X-Frame-Options", PF_LIT("DENY"));
	pf_resp_header(rq, "Referrer-Policy", PF_LIT("same-origin"));
	pf_resp_header(rq, "X-Content-Type-Options", PF_LIT("nosniff"));
	pf_resp_header(rq, "Permissions-Policy", PF_LIT("camera=(), "
	    "display-capture=(), geolocation=(), microphone=(), payment=(), "
	    "usb=()"));
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	return pf_resp_send(rq, status, "text/html; charset=utf-8", html);
}
