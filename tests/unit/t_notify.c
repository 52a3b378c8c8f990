/*
 * notify against a real PostgreSQL, driven as the event thread drives it.
 */
#include "config.h"

#include <poll.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "core/store/notify.h"
#include "tests/unit/pg.h"

static struct {
	int lost, heard, steps;
	char last[64];
} seen;

static void
on_heard(void *ctx, struct pf_str payload)
{
	tap_need(ctx == &seen, "ctx");
	seen.heard++;
	(void)snprintf(seen.last, sizeof(seen.last), "%.*s", PF_STRF(payload));
}

static void
on_lost(void *ctx)
{
	tap_need(ctx == &seen, "ctx");
	seen.lost++;
}

static const struct pf_notify_ops ops = { on_heard, on_lost };

/* Drive it until *what is at least want, or ms are over. */
static bool
drive(struct pf_notify *n, const int *what, int want, int ms)
{
	int64_t end = pf_mono_ms() + ms, now, till;
	struct pollfd p;
	uint32_t events;

	while (*what < want && (now = pf_mono_ms()) < end) {
		p.fd = pf_notify_fd(n, &events);
		p.events = (short)(((events & EPOLLIN) ? POLLIN : 0) |
		    ((events & EPOLLOUT) ? POLLOUT : 0));
		till = pf_notify_due_ms(n) < end ? pf_notify_due_ms(n) : end;
		if (poll(&p, 1, till > now ? (int)(till - now) : 0) == 0 &&
		    pf_mono_ms() < pf_notify_due_ms(n))
			continue;
		pf_notify_step(n);
		seen.steps++;
	}
	return *what >= want;
}

static struct pf_notify *
open_notify(const char *conninfo, const char *channel)
{
	struct pf_notify *n;

	memset(&seen, 0, sizeof(seen));
	tap_need(pf_notify_new(conninfo, channel, &ops, &seen, &n) == PF_OK,
	    "pf_notify_new");
	return n;
}

static void
hears(void)
{
	struct pf_notify *n = open_notify(pg.conninfo, "a \"b\"; SELECT");

	tap_ok(drive(n, &seen.lost, 1, 5000), "lost is told once it listens");
	tap_is(seen.heard, 0, "... before anything is heard");
	pg_sql("SELECT pg_notify('a \"b\"; SELECT', 'first')");
	tap_ok(drive(n, &seen.heard, 1, 5000), "a notification");
	tap_is_z(pf_str(seen.last), "first", "its payload");
	pg_sql("SELECT pg_notify('other', 'x'); "
	    "SELECT pg_notify('a \"b\"; SELECT', '')");
	tap_ok(drive(n, &seen.heard, 2, 5000), "an empty one");
	tap_is_z(pf_str(seen.last), "", "... is empty");
	tap_ok(!drive(n, &seen.heard, 3, 300), "another channel is not heard");
	tap_is(seen.lost, 1, "nothing was lost meanwhile");

	pg_sql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
	    "WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()");
	tap_ok(drive(n, &seen.lost, 2, 3000),
	    "listener ended: it listens anew and says lost");
	pg_sql("SELECT pg_notify('a \"b\"; SELECT', 'again')");
	tap_ok(drive(n, &seen.heard, 3, 5000), "and hears");
	pf_notify_free(n);
}

/* Not inside a transaction: the queue could not be emptied. */
static void
idle(void)
{
	struct pf_notify *n = open_notify(pg.conninfo, "quiet");
	clock_t cpu;

	tap_ok(drive(n, &seen.lost, 1, 5000), "listens");
	pg_sql("DO $$ BEGIN ASSERT (SELECT count(*) = 1 FROM pg_stat_activity "
	    "WHERE query LIKE 'LISTEN%' AND state = 'idle'); END $$");
	cpu = clock();
	(void)drive(n, &seen.heard, 1, 1000);
	cpu = clock() - cpu;
	tap_ok(cpu < CLOCKS_PER_SEC / 20, "an idle second takes %ld us",
	    (long)(cpu * 1000000 / CLOCKS_PER_SEC));
	pf_notify_free(n);
}

static void
away(void)
{
	struct pf_notify *n = open_notify(pg.conninfo, "c");
	uint32_t events;
	clock_t cpu;

	tap_ok(drive(n, &seen.lost, 1, 5000), "listens");
	tap_need(pg_cluster("stop", "fast") == 0, "stop");
	cpu = clock();
	seen.steps = 0;
	(void)drive(n, &seen.lost, 2, 1500);
	cpu = clock() - cpu;
	tap_ok(seen.steps > 2 && seen.steps < 30,
	    "server stopped: %d steps in 1.5 s", seen.steps);
	tap_ok(cpu < CLOCKS_PER_SEC * 15 / 200, "... and %ld us of CPU",
	    (long)(cpu * 1000000 / CLOCKS_PER_SEC));
	tap_is(pf_notify_fd(n, &events), -1, "nothing to poll in the pause");
	tap_need(pg_cluster("start", "") == 0, "start");
	tap_ok(drive(n, &seen.lost, 2, 5000), "started: listens again");
	pf_notify_free(n);

	n = open_notify(pg.other, "c");
	tap_ok(!drive(n, &seen.lost, 1, 300), "nobody there");
	pf_notify_free(n);
	n = open_notify(pg.conninfo, "c");
	pf_notify_step(n);
	pf_notify_free(n);
	tap_ok(true, "freed while connecting");
}

int
main(void)
{
	pg_start();
	hears();
	idle();
	away();
	return tap_done();
}
