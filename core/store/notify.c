#include "config.h"

#include <errno.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/store/notify.h"

#define PAUSE_MIN_MS	100
#define PAUSE_MAX_MS	2000
#define CONNECT_MS	5000

struct pf_notify {
	const char *conninfo;
	char *listen;			/* the LISTEN command */
	const struct pf_notify_ops *ops;
	void *ctx;
	PGconn *c;
	enum { PAUSING, CONNECTING, ASKING, LISTENING } state;
	uint32_t events;
	int64_t due_ms;
	int pause_ms;
	bool down;			/* the trouble is in the log already */
};

static void
fail(struct pf_notify *n, const char *why)
{
	if (!n->down)
		PF_LOG(PF_LOG_ERROR, "notify_down", PF_F_Z("trouble", why));
	n->down = true;
	PQfinish(n->c);
	n->c = NULL;
	n->pause_ms = n->pause_ms == 0 ? PAUSE_MIN_MS : n->pause_ms * 2;
	if (n->pause_ms > PAUSE_MAX_MS)
		n->pause_ms = PAUSE_MAX_MS;
	n->due_ms = pf_mono_ms() + n->pause_ms;
	n->state = PAUSING;
	n->events = 0;
}

static void
fail_pq(struct pf_notify *n)
{
	fail(n, PQerrorMessage(n->c));
}

/* What the server says unasked; libpq would print it. */
static void
ignore(void *ctx, const PGresult *res)
{
	(void)ctx;
	(void)res;
}

/* As in db.c: ours in front are defaults, conninfo goes over them. */
static void
start(struct pf_notify *n)
{
	static const char *const key[] = {
		"fallback_application_name", "keepalives", "keepalives_idle",
		"keepalives_interval", "keepalives_count", "tcp_user_timeout",
		"dbname", "client_encoding", NULL
	};
	const char *value[] = {
		program_invocation_short_name, "1", "15", "5", "3", "5000",
		n->conninfo, "UTF8", NULL
	};

	n->c = PQconnectStartParams(key, value, 1);
	if (n->c == NULL) {
		fail(n, "no memory for a connection");
		return;
	}
	(void)PQsetNoticeReceiver(n->c, ignore, NULL);
	if (PQstatus(n->c) == CONNECTION_BAD) {
		fail_pq(n);
		return;
	}
	n->state = CONNECTING;
	n->events = EPOLLOUT;
	n->due_ms = pf_mono_ms() + CONNECT_MS;
}

/* Send what libpq holds back; EPOLLOUT while there is more. */
static void
flush(struct pf_notify *n)
{
	switch (PQflush(n->c)) {
	case 0:
		n->events = EPOLLIN;
		break;
	case 1:
		n->events = EPOLLIN | EPOLLOUT;
		break;
	default:
		fail_pq(n);
	}
}

static void
go_on_connecting(struct pf_notify *n)
{
	switch (PQconnectPoll(n->c)) {
	case PGRES_POLLING_READING:
		n->events = EPOLLIN;
		return;
	case PGRES_POLLING_WRITING:
		n->events = EPOLLOUT;
		return;
	case PGRES_POLLING_OK:
		break;
	case PGRES_POLLING_FAILED:
	case PGRES_POLLING_ACTIVE:
	default:
		fail_pq(n);
		return;
	}
	if (PQsetnonblocking(n->c, 1) != 0 || !PQsendQuery(n->c, n->listen)) {
		fail_pq(n);
		return;
	}
	n->state = ASKING;
	flush(n);
}

/* From now on nothing is missed; what was before may have been. */
static void
begin_listening(struct pf_notify *n)
{
	if (n->down)
		pf_log_fields(PF_LOG_INFO, "notify_up", NULL, 0);
	n->down = false;
	n->state = LISTENING;
	n->pause_ms = 0;
	n->due_ms = INT64_MAX;
	n->ops->lost(n->ctx);
}

/* The answer to LISTEN, up to its end. */
static void
read_answer(struct pf_notify *n)
{
	PGresult *res;
	bool bad;

	while (!PQisBusy(n->c)) {
		if ((res = PQgetResult(n->c)) == NULL) {
			begin_listening(n);
			return;
		}
		bad = PQresultStatus(res) != PGRES_COMMAND_OK;
		PQclear(res);
		if (bad) {
			fail_pq(n);
			return;
		}
	}
}

static void
deliver(struct pf_notify *n)
{
	PGnotify *got;

	while ((got = PQnotifies(n->c)) != NULL) {
		n->ops->heard(n->ctx, pf_str(got->extra));
		PQfreemem(got);
	}
}

static void
read_some(struct pf_notify *n)
{
	if (!PQconsumeInput(n->c)) {
		fail_pq(n);
		return;
	}
	flush(n);
	if (n->state == ASKING)
		read_answer(n);
	if (n->state == LISTENING)
		deliver(n);
}

void
pf_notify_step(struct pf_notify *n)
{
	bool late = pf_mono_ms() >= n->due_ms;

	switch (n->state) {
	case PAUSING:
		if (late)
			start(n);
		break;
	case CONNECTING:
	case ASKING:
		if (late)
			fail(n, "PostgreSQL took no connection in time");
		else if (n->state == CONNECTING)
			go_on_connecting(n);
		else
			read_some(n);
		break;
	case LISTENING:
		read_some(n);
		break;
	}
}

int
pf_notify_fd(const struct pf_notify *n, uint32_t *events)
{
	*events = n->events;
	return n->c == NULL ? -1 : PQsocket(n->c);
}

int64_t
pf_notify_due_ms(const struct pf_notify *n)
{
	return n->due_ms;
}

/* "LISTEN \"channel\"", quoted as an identifier. */
static char *
listen_command(const char *channel)
{
	size_t at = 0;
	char *z;

	if ((z = malloc(2 * strlen(channel) + 16)) == NULL)
		return NULL;
	memcpy(z, "LISTEN \"", 8);
	at = 8;
	for (; *channel != '\0'; channel++) {
		if (*channel == '"')
			z[at++] = '"';
		z[at++] = *channel;
	}
	z[at++] = '"';
	z[at] = '\0';
	return z;
}

enum pf_rc
pf_notify_new(const char *conninfo, const char *channel,
    const struct pf_notify_ops *ops, void *ctx, struct pf_notify **out)
{
	struct pf_notify *n;

	*out = NULL;
	if ((n = calloc(1, sizeof(*n))) == NULL)
		return PF_E_MEM;
	if ((n->listen = listen_command(channel)) == NULL) {
		free(n);
		return PF_E_MEM;
	}
	n->conninfo = conninfo;
	n->ops = ops;
	n->ctx = ctx;
	n->state = PAUSING;
	n->due_ms = pf_mono_ms();
	*out = n;
	return PF_OK;
}

void
pf_notify_free(struct pf_notify *n)
{
	if (n == NULL)
		return;
	PQfinish(n->c);
	free(n->listen);
	free(n);
}
