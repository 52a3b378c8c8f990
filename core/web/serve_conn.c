#include "config.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/web/serve_int.h"

#define ACCEPT_BATCH	16	/* then the others get their turn */
/* Bytes that are only looked at fill the socket: a peer that writes in small
 * pieces could not write its last one. Then they are read for good. */
#define LOOKS		2
#define EMFILE_MS	100
#define LOG_MS		10000	/* between lines that a peer can cause */
#define STOP_SILENT_MS	250	/* accepted just before the stop */
#define STOP_PARTIAL_MS	1500

static void
count_refused(struct pf_serve *s)
{
	pf_lock(s);
	s->stats.refused++;
	pf_unlock(s);
}

/* At most one line in LOG_MS; the counter in the last line tells the rest. */
static bool
may_log(int64_t *next_ms)
{
	int64_t now = pf_mono_ms();

	if (now < *next_ms)
		return false;
	*next_ms = now + LOG_MS;
	return true;
}

void
pf_gate_refused(struct pf_serve *s, struct pf_slot *sl)
{
	if (may_log(&s->bad_log_ms))
		PF_LOG(PF_LOG_WARN, "not_fastcgi", PF_F_Z("why", sl->gate.why));
	count_refused(s);
	pf_slot_end(s, sl);
}

/* What has come is sound and not yet all. */
static void
gate_more(struct pf_serve *s, struct pf_slot *sl, size_t n, uint32_t events)
{
	if (n >= GATE_BYTES || (n > 0 && ++sl->looks > LOOKS)) {
		pf_collect_begin(s, sl);
	} else if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
		pf_slot_end(s, sl);
	} else if (!sl->polled) {
		pf_slot_watch(s, sl, SLOT_GATE, GATE_EVENTS,
		    pf_mono_ms() + GATE_MS);
	} else if (n > 0) {
		/* A kept connection may be silent for good, not half spoken. */
		pf_lock(s);
		if (sl->heap_at == 0)
			pf_timer_set_l(s, sl, pf_mono_ms() + GATE_MS);
		pf_unlock(s);
	}
}

/* Look at what has come; a worker reads it when it is a whole request. */
static void
gate_read(struct pf_serve *s, struct pf_slot *sl, uint32_t events)
{
	enum pf_gate_rc rc = PF_GATE_MORE;
	size_t seen = (size_t)sl->gate.used;
	ssize_t n;

	n = recv(sl->fd, s->scratch, GATE_BYTES, MSG_PEEK | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		gate_more(s, sl, 0, events);
		return;
	}
	if (n <= 0) {
		pf_slot_end(s, sl);
		return;
	}
	if ((size_t)n > seen)
		rc = pf_gate_feed(&sl->gate, s->scratch + seen,
		    (size_t)n - seen);
	switch (rc) {
	case PF_GATE_MORE:
		gate_more(s, sl, (size_t)n, events);
		return;
	case PF_GATE_COMPLETE:
		pf_slot_push(s, sl);
		return;
	case PF_GATE_LARGE_PARAMS:
		pf_refuse(s, sl, 431);
		return;
	case PF_GATE_LARGE_BODY:
		pf_refuse(s, sl, 413);
		return;
	case PF_GATE_BAD:
		pf_gate_refused(s, sl);
		return;
	}
}

/* No descriptor left: the listening sockets would be ready for ever. */
static void
accept_pause(struct pf_serve *s, int why)
{
	s->accepting = false;
	s->accept_at_ms = pf_mono_ms() + EMFILE_MS;
	for (unsigned i = 0; i < s->nlis; i++)
		epoll_ctl(s->ep, EPOLL_CTL_DEL, s->lis[i].fd, NULL);
	if (may_log(&s->emfile_log_ms))
		PF_LOG(PF_LOG_ERROR, "accept", PF_F_INT("errno", why),
		    PF_F_Z("hint", "raise LimitNOFILE"));
}

bool
pf_conn_accept(struct pf_serve *s, int lfd)
{
	struct pf_slot *sl;
	int fd;

	for (int i = 0; i < ACCEPT_BATCH; i++) {
		fd = accept4(lfd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0) {
			if (errno == EMFILE || errno == ENFILE ||
			    errno == ENOBUFS || errno == ENOMEM)
				accept_pause(s, errno);
			return false;
		}
		if ((sl = pf_slot_new(s, fd)) == NULL) {
			close(fd);
			continue;
		}
		/* Web servers write at once: mostly it is all there. */
		gate_read(s, sl, 0);
	}
	return true;
}

/* An authorizer's empty STDIN may come while it is parked; all else a parked
 * peer does is to go away. */
static bool
parked_gone(struct pf_serve *s, struct pf_slot *sl)
{
	unsigned char b[8];
	ssize_t n;

	n = recv(sl->fd, b, sizeof(b), MSG_PEEK | MSG_DONTWAIT);
	if (n < 0)
		return errno != EAGAIN && errno != EINTR;
	if (n != sizeof(b) || s->role != PF_GATE_AUTHORIZER ||
	    b[0] != 1 || b[1] != 5 || b[4] != 0 || b[5] != 0 || b[6] != 0)
		return true;
	return recv(sl->fd, b, sizeof(b), MSG_DONTWAIT) != sizeof(b);
}

/* True if the slot is the caller's to end. */
static bool
parked_event_l(struct pf_serve *s, struct pf_slot *sl)
{
	if (!parked_gone(s, sl) && pf_slot_watch_l(s, sl, SLOT_PARKED,
	    ONCE_IN, sl->heap_at != 0 ? sl->due_ms : 0))
		return false;
	pf_park_take_l(s, sl);
	return true;
}

void
pf_conn_event(struct pf_serve *s, uint32_t index, uint32_t arm,
    uint32_t events)
{
	struct pf_slot *sl;
	enum slot_state state = SLOT_FREE;
	bool gone = false;

	pf_lock(s);
	if ((sl = pf_slot_at_l(s, index)) != NULL && sl->arm == arm)
		state = sl->state;
	if (state == SLOT_PARKED)
		gone = parked_event_l(s, sl);
	pf_unlock(s);
	if (state == SLOT_PARKED && gone)
		pf_slot_end(s, sl);
	else if (state == SLOT_GATE)
		gate_read(s, sl, events);
	else if (state == SLOT_COLLECT)
		pf_collect_read(s, sl);
	else if (state == SLOT_LINGER)
		pf_linger_read(s, sl);
	else if (state == SLOT_SENDING)
		pf_reply_more(s, sl);
	/* Else a worker has it, or it is of a connection that is closed. */
}

/* The event thread's own connections whose time is over. */
static void
overdue(struct pf_serve *s, struct pf_slot *sl)
{
	bool gated = sl->state == SLOT_GATE || sl->state == SLOT_COLLECT;

	if (gated && sl->gate.begun) {
		pf_refuse(s, sl, 400);
		return;
	}
	if (gated)
		count_refused(s);
	pf_slot_end(s, sl);
}

void
pf_conn_timers(struct pf_serve *s, int64_t now_ms)
{
	struct pf_slot *sl;

	pf_lock(s);
	while ((sl = pf_timer_due_l(s, now_ms)) != NULL) {
		if (sl->state == SLOT_PARKED) {
			pf_park_wake_l(s, sl, PF_WAKE_TIME);
			continue;
		}
		pf_unlock(s);
		overdue(s, sl);
		pf_lock(s);
	}
	pf_unlock(s);
}

/* A slot at the moment of the stop. True if it is to be ended. */
static bool
stop_one_l(struct pf_serve *s, struct pf_slot *sl, int64_t now_ms)
{
	int64_t due;

	if (sl->state == SLOT_PARKED)
		pf_park_wake_l(s, sl, PF_WAKE_STOP);
	if (sl->state == SLOT_LINGER)
		return true;
	if (sl->state != SLOT_GATE && sl->state != SLOT_COLLECT)
		return false;
	if (sl->reused && sl->gate.used == 0)
		return true;
	due = now_ms + (sl->gate.used > 0 ? STOP_PARTIAL_MS : STOP_SILENT_MS);
	if (sl->heap_at == 0 || sl->due_ms > due)
		pf_timer_set_l(s, sl, due);
	return false;
}

void
pf_conn_stop(struct pf_serve *s, int64_t now_ms)
{
	struct pf_slot *sl;
	size_t n;
	bool end;

	pf_lock(s);
	n = s->nchunks * SLOT_CHUNK;
	pf_unlock(s);
	for (size_t i = 0; i < n; i++) {
		pf_lock(s);
		sl = pf_slot_at_l(s, (uint32_t)i);
		end = stop_one_l(s, sl, now_ms);
		pf_unlock(s);
		if (end)
			pf_slot_end(s, sl);
	}
}
