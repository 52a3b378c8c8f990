/*
 * page - HTML that we show to people: escaping and the headers that every page
 * carries.
 */
#ifndef PF_PAGE_H
#define PF_PAGE_H

#include "core/web/req.h"

/* Text for element content and quoted attributes: & < > " ' escaped. */
void pf_html(struct pf_buf *b, struct pf_str s);

/*
 * Send a page with the headers of all pages: CSP without inline script or
 * style, frame-ancestors 'none', X-Frame-Options DENY, Referrer-Policy
 * no-referrer, X-Content-Type-Options nosniff, Cache-Control no-store.
 */
PF_MUST enum pf_rc pf_page_send(struct pf_req *rq, int status,
    struct pf_str html);
/* A whole page of a title and one paragraph, for errors. */
PF_MUST enum pf_rc pf_page_message(struct pf_req *rq, int status,
    struct pf_str title, struct pf_str text);

#endif
