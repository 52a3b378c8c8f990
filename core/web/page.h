/*
 * page - HTML that we show to people: escaping and the headers that every page
 * carries.
 */
#ifndef PF_PAGE_H
#define PF_PAGE_H

#include "core/base/conf.h"
#include "core/web/req.h"

/* Text for element content and quoted attributes: & < > " ' escaped. */
void pf_html(struct pf_buf *b, struct pf_str s);

/* What one page may do beyond what all may. */
struct pf_page_allow {
	/* Where its form leads in the end, and from there on: Chromium judges
	 * form-action by each redirect, too. A URL; PF_NOSTR: our own origin
	 * alone. */
	struct pf_str redirect;
	/* Where any form may lead besides: the origin of this URL, or
	 * PF_NOSTR. */
	struct pf_str form;
	/* Images from the origins of these https URLs; others are passed
	 * over. */
	struct pf_strs images;
};

/*
 * Send a page with the headers of all pages: CSP without script or inline
 * style, frame-ancestors 'none', X-Frame-Options DENY, Referrer-Policy
 * same-origin (with no-referrer a browser calls the Origin of our own forms
 * null), X-Content-Type-Options nosniff, Permissions-Policy and Cache-Control
 * no-store. There is no Cross-Origin-Opener-Policy: it would cut the tie
 * between an agent and the popup that it opened for good, and the page behind
 * the redirect needs it. allow may be NULL.
 */
PF_MUST enum pf_rc pf_page_send(struct pf_req *rq, int status,
    struct pf_str html, const struct pf_page_allow *allow);

#endif
