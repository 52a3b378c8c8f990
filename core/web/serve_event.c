#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/web/serve_int.h"

#define EVENTS		64
#define TICK_FIRST_MS	100

/* epoll's data of what is no connection: an index past the last slot. */
enum special { KEY_WAKE = MAX_SLOTS, KEY_SIGNAL, KEY_NOTIFY, KEY_LISTEN };

static bool
watch(struct pf_serve *s, int op, int fd, uint32_t events, uint32_t key)
{
	struct epoll_event ev = { .events = events, .data.u64 = key };

	return epoll_ctl(s->ep, op, fd, &ev) == 0;
}

/* EPOLLEXCLUSIVE: of several processes on one socket not all wake for one
 * connection. */
static bool
listen_all(struct pf_serve *s)
{
	for (unsigned i = 0; i < s->nlis; i++)
		if (!watch(s, EPOLL_CTL_ADD, s->lis[i].fd,
		    EPOLLIN | EPOLLEXCLUSIVE, KEY_LISTEN + i))
			return false;
	s->accepting = true;
	return true;
}

/* Ours from here on, in every thread to come: libfcgi's handlers never run. */
static int
take_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGPIPE);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	sigdelset(&set, SIGPIPE);
	sigdelset(&set, SIGUSR1);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

enum pf_rc
pf_event_open(struct pf_serve *s)
{
	s->event_thread = pthread_self();
	s->ep = epoll_create1(EPOLL_CLOEXEC);
	s->wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->sigfd = take_signals();
	s->notify_fd = -1;
	s->scratch = malloc(SCRATCH);
	if (s->scratch == NULL)
		return PF_E_MEM;
	if (s->ep < 0 || s->wakefd < 0 || s->sigfd < 0 ||
	    !watch(s, EPOLL_CTL_ADD, s->wakefd, EPOLLIN, KEY_WAKE) ||
	    !watch(s, EPOLL_CTL_ADD, s->sigfd, EPOLLIN, KEY_SIGNAL) ||
	    !listen_all(s)) {
		PF_LOG(PF_LOG_ERROR, "epoll", PF_F_INT("errno", errno));
		return PF_E_BUG;
	}
	return PF_OK;
}

void
pf_event_close(struct pf_serve *s)
{
	const int fds[] = { s->ep, s->wakefd, s->sigfd };

	for (size_t i = 0; i < PF_COUNT(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (s->scratch != NULL)
		pf_wipe(s->scratch, SCRATCH);
	free(s->scratch);
}

/* Queue our own work once; while it runs it is noted and comes again. */
static void
want_reload(struct pf_serve *s)
{
	if (s->o.ops->reload == NULL)
		return;
	pf_lock(s);
	if (s->reload_out)
		s->reload_again = true;
	else
		pf_worker_wake(pf_push_l(s, &s->reload));
	s->reload_out = true;
	pf_unlock(s);
}

static void
on_signals(struct pf_serve *s)
{
	struct signalfd_siginfo si;

	while (read(s->sigfd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGHUP) {
			want_reload(s);
			continue;
		}
		pf_lock(s);
		s->stop_wanted = true;
		pf_unlock(s);
	}
}

static void
on_wake(struct pf_serve *s)
{
	uint64_t n;

	/* Before the flag: a poke in between is one look too many, not one too
	 * few. */
	if (read(s->wakefd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		PF_LOG(PF_LOG_ERROR, "eventfd", PF_F_INT("errno", errno));
	pf_lock(s);
	s->poked = false;
	pf_unlock(s);
}

/* The LISTEN connection changes its descriptor as it pleases; libpq closes the
 * old one, which takes it out of the epoll set. */
static void
step_notify(struct pf_serve *s)
{
	uint32_t events = 0;
	int fd;

	pf_notify_step(s->notify);
	fd = pf_notify_fd(s->notify, &events);
	if (fd >= 0 && !watch(s, EPOLL_CTL_MOD, fd, events, KEY_NOTIFY) &&
	    (errno != ENOENT ||
	    !watch(s, EPOLL_CTL_ADD, fd, events, KEY_NOTIFY)))
		PF_LOG(PF_LOG_ERROR, "epoll", PF_F_INT("errno", errno));
	s->notify_fd = fd;
}

static void
on_event(struct pf_serve *s, const struct epoll_event *ev)
{
	uint32_t key = (uint32_t)ev->data.u64;

	if (key < MAX_SLOTS)
		pf_conn_event(s, key, (uint32_t)(ev->data.u64 >> 32),
		    ev->events);
	else if (key == KEY_WAKE)
		on_wake(s);
	else if (key == KEY_SIGNAL)
		on_signals(s);
	else if (key == KEY_NOTIFY)
		step_notify(s);
	else if (s->accepting)
		(void)pf_conn_accept(s, s->lis[key - KEY_LISTEN].fd);
}

static void
begin_stop(struct pf_serve *s, int64_t now)
{
	/* Those who are connected already are served, if the socket goes. */
	for (unsigned i = 0; i < s->nlis; i++)
		while (s->accepting && s->lis[i].path[0] != '\0' &&
		    pf_conn_accept(s, s->lis[i].fd))
			;
	s->accepting = false;
	s->accept_at_ms = INT64_MAX;
	pf_listen_close(s);
	pf_lock(s);
	s->stopping = true;
	s->stop_by_ms = now + STOP_MS;
	pf_unlock(s);
	pf_conn_stop(s, now);
}

static void
tick_l(struct pf_serve *s, int64_t now)
{
	if (s->o.ops->tick == NULL || s->o.tick_ms <= 0 || s->stopping ||
	    s->tick_out || now < s->tick_at_ms)
		return;
	s->tick_out = true;
	pf_worker_wake(pf_push_l(s, &s->tick));
}

static void
sooner(int64_t *due, bool is, int64_t at)
{
	if (is && at < *due)
		*due = at;
}

/* Do what is due; how long may the thread sleep? */
static int
timers(struct pf_serve *s, int64_t now)
{
	int64_t due = INT64_MAX;

	if (!s->accepting && now >= s->accept_at_ms && !listen_all(s))
		s->accept_at_ms = now + 1000;
	if (s->notify != NULL && pf_notify_due_ms(s->notify) <= now)
		step_notify(s);
	pf_conn_timers(s, now);
	pf_lock(s);
	tick_l(s, now);
	sooner(&due, s->nheap > 0, s->nheap > 0 ? s->heap[1]->due_ms : 0);
	sooner(&due, s->o.tick_ms > 0 && !s->tick_out && !s->stopping,
	    s->tick_at_ms);
	/* The timers may have ended the last one that was waited for. */
	sooner(&due, s->stopping, s->used == 0 ? now : s->stop_by_ms);
	sooner(&due, !s->accepting, s->accept_at_ms);
	if (s->notify != NULL)
		sooner(&due, true, pf_notify_due_ms(s->notify));
	s->sleep_until_ms = due;
	pf_unlock(s);
	if (due == INT64_MAX)
		return -1;
	return due <= now ? 0 : due - now > 60000 ? 60000 : (int)(due - now);
}

static bool
finished(struct pf_serve *s, int64_t now)
{
	bool stop, done;

	pf_lock(s);
	stop = s->stop_wanted && !s->stopping;
	pf_unlock(s);
	if (stop)
		begin_stop(s, now);
	pf_lock(s);
	done = s->stopping && (s->used == 0 || now >= s->stop_by_ms);
	pf_unlock(s);
	return done;
}

void
pf_event_loop(struct pf_serve *s)
{
	struct epoll_event ev[EVENTS];
	int64_t now;
	int n;

	for (;;) {
		now = pf_mono_ms();
		if (finished(s, now))
			return;
		n = epoll_wait(s->ep, ev, EVENTS, timers(s, now));
		for (int i = 0; i < n; i++)
			on_event(s, &ev[i]);
	}
}
