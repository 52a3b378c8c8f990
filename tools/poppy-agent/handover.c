#include "config.h"

#include "tools/poppy-agent/handover.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/web/page.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/browser.h"
#include "tools/poppy-agent/httpd.h"
#include "tools/poppy-agent/sign.h"

#define PAGE_MAX	65536
#define SEND_MS		5000
/* Browsers open connections ahead and say nothing on them. */
#define PEERS_MAX	8

struct peer {
	int fd;			/* -1: free */
	size_t n;
	char in[AG_HEAD_MAX];
};

struct waiting {
	struct agent *ag;
	const struct ag_handover *to;
	const struct ag_joining *joining;
	struct peer peer[PEERS_MAX];
	bool served;
};

enum pf_rc
ag_handover_page(struct pf_arena *a, struct pf_str action,
    struct pf_str assertion, struct pf_str nonce, struct pf_str *out)
{
	struct pf_buf b;

	pf_buf_init(&b, a, PAGE_MAX);
	pf_buf_addz(&b, "<!DOCTYPE html>\n<html lang=\"en\">\n"
	    "<meta charset=\"utf-8\">\n<title>Joining a Session</title>\n"
	    "<form method=\"post\" action=\"");
	pf_html(&b, action);
	pf_buf_addz(&b, "\">\n<input type=\"hidden\" name=\"assertion\" "
	    "value=\"");
	pf_html(&b, assertion);
	pf_buf_addz(&b, "\">\n<p>This browser joins the Personal Agent's "
	    "Session.\n<button>Go on</button>\n</form>\n<script nonce=\"");
	pf_html(&b, nonce);
	pf_buf_addz(&b, "\">document.forms[0].submit();</script>\n</html>\n");
	return pf_buf_done(&b, out);
}

enum pf_rc
ag_handover_policy(struct pf_arena *a, struct pf_str domain,
    struct pf_str nonce, struct pf_str *out)
{
	struct pf_buf b;

	pf_buf_init(&b, a, 1024);
	pf_buf_fmt(&b, "default-src 'none'; script-src 'nonce-%.*s'; "
	    "form-action https://%.*s:* https://*.%.*s:*; base-uri 'none'; "
	    "frame-ancestors 'none'", PF_STRF(nonce), PF_STRF(domain),
	    PF_STRF(domain));
	return pf_buf_done(&b, out);
}

enum pf_rc
ag_handover_open(struct agent *ag, struct ag_handover *h)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(sin);
	struct pf_buf b;

	if (ag_random_id(&ag->arena, "/", &h->path) != PF_OK)
		return ag_fault(&ag->fault, PF_E_BUG, NULL, "no randomness");
	h->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->fd < 0 || bind(h->fd, (void *)&sin, sizeof(sin)) != 0 ||
	    listen(h->fd, PEERS_MAX) != 0 ||
	    getsockname(h->fd, (void *)&sin, &n) != 0) {
		int error = errno;

		if (h->fd >= 0)
			close(h->fd);
		return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL,
		    "can't listen on 127.0.0.1: %s", strerror(error));
	}
	pf_buf_init(&b, &ag->arena, 256);
	pf_buf_fmt(&b, "http://127.0.0.1:%d%.*s", ntohs(sin.sin_port),
	    PF_STRF(h->path));
	return pf_buf_done(&b, &h->url);
}

static enum pf_rc
put_page(struct waiting *w, struct pf_buf *out)
{
	struct pf_arena *a = &w->ag->arena;
	const struct ag_company *c = w->joining->company;
	struct pf_str nonce, assertion, page, policy;
	enum pf_rc rc;

	if ((rc = ag_random_id(a, "", &nonce)) != PF_OK ||
	    (rc = ag_browser_assert(w->ag, w->joining, &assertion)) != PF_OK ||
	    (rc = ag_handover_page(a, c->browser_endpoint, assertion, nonce,
	    &page)) != PF_OK ||
	    (rc = ag_handover_policy(a, c->domain, nonce, &policy)) != PF_OK)
		return rc;
	pf_buf_fmt(out, "HTTP/1.1 200 OK\r\nServer: poppy-agent\r\n"
	    "Connection: close\r\nContent-Type: text/html; charset=utf-8\r\n"
	    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
	    "X-Content-Type-Options: nosniff\r\n"
	    "Content-Security-Policy: %.*s\r\nContent-Length: %zu\r\n\r\n",
	    PF_STRF(policy), page.n);
	pf_buf_add(out, page);
	return PF_OK;
}

/* PF_OK for whatever was asked; *w says whether it was the page. */
static enum pf_rc
answer(struct waiting *w, struct ag_ask *ask, struct pf_buf *out)
{
	ask->keep_alive = false;
	if (ask->refused != 0)
		(void)ag_httpd_say(out, ask->refused, ask, "Not like this.");
	else if (!pf_str_eq(ask->path, w->to->path))
		(void)ag_httpd_say(out, 404, ask, "There is nothing here.");
	else if (!pf_str_eqz(ask->method, "GET"))
		(void)ag_httpd_say(out, 405, ask, "Only GET.");
	else {
		w->served = true;
		return put_page(w, out);
	}
	return PF_OK;
}

static bool
send_all(int fd, struct pf_str s)
{
	int64_t until_ms = pf_mono_ms() + SEND_MS;

	while (s.n > 0) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL);

		if (n > 0)
			s = pf_str_from(s, (size_t)n);
		else if (errno != EAGAIN || pf_mono_ms() >= until_ms ||
		    poll(&p, 1, SEND_MS) <= 0)
			return false;
	}
	(void)shutdown(fd, SHUT_WR);
	return true;
}

static void
drop(struct peer *p)
{
	close(p->fd);
	p->fd = -1;
}

static enum pf_rc
read_peer(struct waiting *w, struct peer *p)
{
	ssize_t n = recv(p->fd, p->in + p->n, sizeof(p->in) - p->n, 0);
	struct ag_ask ask = { .refused = 431 };
	struct pf_buf out;
	size_t head;
	enum pf_rc rc;

	if (n <= 0) {
		drop(p);
		return PF_OK;
	}
	p->n += (size_t)n;
	head = ag_httpd_head(pf_bytes(p->in, p->n));
	if (head == 0 && p->n < sizeof(p->in))
		return PF_OK;
	if (head > 0)
		ag_httpd_parse(pf_bytes(p->in, head), &ask);
	pf_buf_init(&out, &w->ag->arena, PAGE_MAX);
	rc = answer(w, &ask, &out);
	if (rc == PF_OK && !send_all(p->fd, pf_buf_str(&out)) && w->served)
		rc = ag_fault(&w->ag->fault, PF_E_UPSTREAM, NULL,
		    "the browser went away while it fetched the page");
	drop(p);
	return rc;
}

static void
take_peer(struct waiting *w)
{
	int fd = accept4(w->to->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	for (size_t i = 0; fd >= 0 && i < PEERS_MAX; i++)
		if (w->peer[i].fd < 0) {
			w->peer[i].fd = fd;
			w->peer[i].n = 0;
			return;
		}
	if (fd < 0)
		return;
	/* Who has said nothing for longest gives way. */
	drop(&w->peer[0]);
	memmove(&w->peer[0], &w->peer[1],
	    (PEERS_MAX - 1) * sizeof(w->peer[0]));
	w->peer[PEERS_MAX - 1].fd = fd;
	w->peer[PEERS_MAX - 1].n = 0;
}

static enum pf_rc
serve(struct waiting *w, int64_t until_ms)
{
	struct pollfd p[PEERS_MAX + 1];
	enum pf_rc rc = PF_OK;
	int64_t left;

	while (rc == PF_OK && !w->served &&
	    (left = until_ms - pf_mono_ms()) > 0) {
		for (size_t i = 0; i < PEERS_MAX; i++)
			p[i] = (struct pollfd){ .fd = w->peer[i].fd,
			    .events = POLLIN };
		p[PEERS_MAX] = (struct pollfd){ .fd = w->to->fd,
		    .events = POLLIN };
		if (poll(p, PF_COUNT(p), (int)left) <= 0)
			continue;
		for (size_t i = 0; i < PEERS_MAX && rc == PF_OK && !w->served;
		    i++)
			if (p[i].fd >= 0 && p[i].revents != 0)
				rc = read_peer(w, &w->peer[i]);
		if (p[PEERS_MAX].revents != 0)
			take_peer(w);
	}
	return rc;
}

enum pf_rc
ag_handover_wait(struct agent *ag, struct ag_handover *h,
    const struct ag_joining *j, int seconds)
{
	struct waiting *w = pf_arena_alloc(&ag->arena, sizeof(*w));
	enum pf_rc rc = PF_E_MEM;

	if (w != NULL) {
		*w = (struct waiting){ .ag = ag, .to = h, .joining = j };
		for (size_t i = 0; i < PEERS_MAX; i++)
			w->peer[i].fd = -1;
		rc = serve(w, pf_mono_ms() + seconds * INT64_C(1000));
		for (size_t i = 0; i < PEERS_MAX; i++)
			if (w->peer[i].fd >= 0)
				drop(&w->peer[i]);
	}
	close(h->fd);
	if (rc == PF_OK && !w->served)
		return ag_fault(&ag->fault, PF_E_ABSENT, NULL,
		    "no browser fetched the page within %d seconds", seconds);
	return rc;
}
