/*
 * serve: the client metadata document and the key set over HTTPS.
 *
 * A thread a connection, 64 at most; each request has ten seconds in all, so a
 * silent peer holds its thread no longer.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/jose/crypt.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/callback.h"
#include "tools/poppy-agent/client.h"
#include "tools/poppy-agent/httpd.h"
#include "tools/poppy-agent/pages.h"
#include "tools/poppy-agent/serve.h"
#include "tools/poppy-agent/tls.h"

#define CONNECTIONS_MAX	64
#define REQUESTS_MAX	50	/* on one connection */
#define REQUEST_MS	10000
#define DRAIN_MS	1000
#define ANSWER_MAX	(128u << 10)

struct server {
	struct agent *ag;
	struct ag_tls *tls;
	struct ag_pages *pages;
	struct ag_client client;
	atomic_int active;
	atomic_bool stopping;
};

struct connection {
	struct server *server;
	int fd;
};

static void
log_request(const struct server *s, const struct ag_ask *ask, int status)
{
	char line[512];
	struct pf_buf b;

	if (!s->ag->show.verbose)
		return;
	pf_buf_fixed(&b, line, sizeof(line));
	ag_escape(&b, pf_str_head(ask->method, 16), false);
	pf_buf_char(&b, ' ');
	ag_escape(&b, pf_str_head(ask->path, 80), false);
	pf_buf_fmt(&b, " %d", status);
	fprintf(stderr, "poppy-agent: %.*s\n", PF_STRF(pf_buf_str(&b)));
}

/* The User's browser coming back from a Direct Sign-In. */
static bool
is_callback(const struct server *s, const struct ag_ask *ask)
{
	return ask->refused == 0 && pf_str_eqz(ask->method, "GET") &&
	    pf_str_given(ask->query) &&
	    pf_str_eq(ask->path, s->client.redirect_path);
}

/* One request and its answer. False when the connection is done. in holds *n
 * bytes that were read already. */
static bool
serve_one(struct server *s, struct ag_tls_conn *c, struct pf_arena *a, char *in,
    size_t *n)
{
	int64_t deadline_ms = pf_mono_ms() + REQUEST_MS;
	struct ag_page page[AG_PAGES];
	struct ag_ask ask;
	struct pf_buf out;
	size_t head;
	int got;

	while ((head = ag_httpd_head(pf_bytes(in, *n))) == 0 &&
	    *n < AG_HEAD_MAX) {
		got = ag_tls_read(c, in + *n, AG_HEAD_MAX - *n, deadline_ms);
		if (got <= 0)
			return false;
		*n += (size_t)got;
	}
	if (head > 0)
		ag_httpd_parse(pf_bytes(in, head), &ask);
	else
		ask = (struct ag_ask){ .refused = 431 };
	if (ag_pages_copy(s->pages, a, page) != PF_OK)
		return false;
	ask.keep_alive = ask.keep_alive && !atomic_load(&s->stopping);
	pf_buf_init(&out, a, ANSWER_MAX);
	log_request(s, &ask, is_callback(s, &ask) ?
	    ag_callback(s->ag, &ask, &out) :
	    ag_httpd_answer(&out, &ask, page, AG_PAGES));
	if (out.failed || !ag_tls_write(c, pf_buf_str(&out), deadline_ms))
		return false;
	memmove(in, in + head, *n - head);
	*n -= head;
	return ask.keep_alive;
}

static void
serve_requests(struct server *s, struct ag_tls_conn *c)
{
	char in[AG_HEAD_MAX];
	struct pf_arena a;
	size_t n = 0;
	bool more = true;

	if (pf_arena_init(&a, 16384, 1u << 20) != PF_OK)
		return;
	for (int i = 1; more && i <= REQUESTS_MAX; i++) {
		more = serve_one(s, c, &a, in, &n);
		pf_arena_reset(&a);
	}
	pf_arena_free(&a);
}

static void *
serve_connection(void *arg)
{
	struct connection *k = arg;
	struct server *s = k->server;
	struct ag_tls_conn *c;

	c = ag_tls_accept(s->tls, k->fd, pf_mono_ms() + REQUEST_MS);
	if (c != NULL)
		serve_requests(s, c);
	ag_tls_close(c);
	close(k->fd);
	free(k);
	pf_crypt_thread_end();
	atomic_fetch_sub(&s->active, 1);
	return NULL;
}

static void
take_connection(struct server *s, int fd)
{
	struct connection *k = malloc(sizeof(*k));
	pthread_t thread;

	if (k == NULL || atomic_load(&s->active) >= CONNECTIONS_MAX) {
		free(k);
		close(fd);
		return;
	}
	k->server = s;
	k->fd = fd;
	atomic_fetch_add(&s->active, 1);
	if (pthread_create(&thread, NULL, serve_connection, k) != 0) {
		atomic_fetch_sub(&s->active, 1);
		close(fd);
		free(k);
		return;
	}
	pthread_detach(thread);
}

static volatile sig_atomic_t stop;

static void
on_signal(int n)
{
	(void)n;
	stop = 1;
}

/* Signals reach the process only inside ppoll(), so none is missed. */
static void
accept_until_stopped(struct server *s, int fd, const sigset_t *unblocked)
{
	const struct timespec pause = { 0, 50 * 1000 * 1000 };
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int peer;

	while (!stop) {
		if (ppoll(&p, 1, NULL, unblocked) <= 0)
			continue;
		peer = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (peer >= 0)
			take_connection(s, peer);
		else if (errno == EMFILE || errno == ENFILE ||
		    errno == ENOMEM || errno == ENOBUFS)
			nanosleep(&pause, NULL);	/* until others end */
	}
}

static enum pf_rc
open_tls(struct agent *ag, struct server *s)
{
	struct pf_str host = pf_str_from(s->client.origin,
	    sizeof("https://") - 1);
	struct pf_buf b;
	const char *file;
	size_t port = host.n;

	while (port > 0 && pf_is_digit(host.p[port - 1]))
		port--;
	if (port > 0 && host.p[port - 1] == ':')
		host = pf_str_head(host, port - 1);
	pf_buf_init(&b, &ag->arena, 4096);
	pf_buf_addz(&b, ag->opt.state);
	pf_buf_addz(&b, ".crt");
	if ((file = pf_arena_z(&ag->arena, pf_buf_str(&b))) == NULL)
		return PF_E_MEM;
	if (ag->opt.cert == NULL)
		ag_show_note(&ag->show, "the certificate is self-signed, for "
		    "trying things out: companies must trust %s", file);
	return ag_tls_new(ag->opt.cert, ag->opt.key, host, file, &s->tls,
	    &ag->fault);
}

static enum pf_rc
open_server(struct agent *ag, struct server *s, int *fd)
{
	const char *why = "";
	bool changed;
	enum pf_rc rc;

	ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
	if (ag->opt.listen == NULL)
		return ag_fault(&ag->fault, PF_E_INPUT, NULL,
		    "serve needs --listen ADDR:PORT");
	if ((ag->opt.cert == NULL) != (ag->opt.key == NULL))
		return ag_fault(&ag->fault, PF_E_INPUT, NULL,
		    "--cert and --key go together");
	if ((rc = ag_client_setup(ag, &changed)) != PF_OK ||
	    (rc = ag_client_ready(ag)) != PF_OK)
		return rc;
	if (ag_client_urls(&ag->arena, ag->st.client_id, &s->client, &why) !=
	    PF_OK)
		return ag_fault(&ag->fault, PF_E_INPUT, NULL, "client_id %s",
		    why);
	if (changed)
		ag_show_note(&ag->show, "another client_id than before: the "
		    "old one's Sessions are forgotten");
	if ((rc = ag_pages_new(&ag->opt, &s->client, &s->pages)) != PF_OK ||
	    (rc = open_tls(ag, s)) != PF_OK)
		return rc;
	return ag_listen(ag, fd);
}

static void
drain(struct server *s)
{
	const struct timespec pause = { 0, 10 * 1000 * 1000 };
	int64_t deadline_ms = pf_mono_ms() + DRAIN_MS;

	atomic_store(&s->stopping, true);
	while (atomic_load(&s->active) > 0 && pf_mono_ms() < deadline_ms)
		nanosleep(&pause, NULL);
}

static enum pf_rc
run(struct agent *ag, struct server *s)
{
	struct sigaction act = { .sa_handler = on_signal };
	sigset_t block, before;
	enum pf_rc rc;
	int fd = -1;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &block, &before);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	ag_step_begin(&ag->show, "serve", "The agent publishes itself");
	rc = open_server(ag, s, &fd);
	if (rc == PF_OK) {
		ag_show_fact(&ag->show, "listening on", pf_str(ag->opt.listen));
		ag_show_fact(&ag->show, "client_id", s->client.id);
		ag_show_fact(&ag->show, "jwks_uri", s->client.jwks_uri);
	}
	rc = ag_step_end(&ag->show, rc, &ag->fault);
	if (rc == PF_OK) {
		accept_until_stopped(s, fd, &before);
		drain(s);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

enum pf_rc
ag_cmd_serve(struct agent *ag)
{
	struct server *s = calloc(1, sizeof(*s));
	enum pf_rc rc;

	if (s == NULL)
		return PF_E_MEM;
	s->ag = ag;
	rc = run(ag, s);
	/* Threads that did not end in time still look at it. */
	if (atomic_load(&s->active) > 0)
		_exit(rc == PF_OK ? EXIT_SUCCESS : EXIT_FAILURE);
	ag_tls_free(s->tls);
	ag_pages_free(s->pages);
	free(s);
	return rc;
}
