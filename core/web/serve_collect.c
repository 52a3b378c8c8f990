#include "config.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/web/serve_int.h"

#define READS		4	/* per event: the others get their turn */

static int64_t
at_most(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * What was read so far only by looking is still in the socket. It is read again
 * by the lingering end, which needs to know where the request ends.
 */
static void
look_again(struct pf_serve *s, struct pf_slot *sl)
{
	pf_gate_init(&sl->gate, s->role, s->max_body);
}

void
pf_refuse(struct pf_serve *s, struct pf_slot *sl, int status)
{
	struct pf_gate seen = sl->gate;
	bool looked = sl->state == SLOT_GATE;

	pf_lock(s);
	s->stats.refused++;
	pf_unlock(s);
	pf_slot_drop_bytes(s, sl);
	sl->refuse = (uint16_t)status;
	sl->rest = true;
	if (looked) {
		look_again(s, sl);
		sl->gate.id = seen.id;
		sl->gate.keep = seen.keep;
	}
	sl->gate.forgive = true;
	pf_slot_push(s, sl);
}

void
pf_collect_begin(struct pf_serve *s, struct pf_slot *sl)
{
	if (!pf_slot_room(s, sl, GATE_BYTES, &s->collected, COLLECT_TOTAL)) {
		pf_refuse(s, sl, 503);
		return;
	}
	look_again(s, sl);
	sl->last_ms = pf_mono_ms() + COLLECT_MS;
	pf_lock(s);
	s->stats.uploads++;
	sl->state = SLOT_COLLECT;
	pf_unlock(s);
	pf_collect_read(s, sl);
}

static void
collect_wait(struct pf_serve *s, struct pf_slot *sl)
{
	pf_slot_watch(s, sl, SLOT_COLLECT, ONCE_IN,
	    at_most(sl->last_ms, pf_mono_ms() + COLLECT_IDLE_MS));
}

/* True to read on. */
static bool
collected(struct pf_serve *s, struct pf_slot *sl, enum pf_gate_rc rc)
{
	switch (rc) {
	case PF_GATE_MORE:
		return true;
	case PF_GATE_COMPLETE:
		pf_slot_push(s, sl);
		return false;
	case PF_GATE_LARGE_PARAMS:
		pf_refuse(s, sl, 431);
		return false;
	case PF_GATE_LARGE_BODY:
		pf_refuse(s, sl, 413);
		return false;
	case PF_GATE_BAD:
		break;
	}
	pf_gate_refused(s, sl);
	return false;
}

void
pf_collect_read(struct pf_serve *s, struct pf_slot *sl)
{
	enum pf_gate_rc rc;
	ssize_t n;

	for (int i = 0; i < READS; i++) {
		if (sl->nbytes == sl->size && !pf_slot_room(s, sl,
		    sl->size * 2, &s->collected, COLLECT_TOTAL)) {
			pf_refuse(s, sl, 503);
			return;
		}
		n = recv(sl->fd, sl->bytes + sl->nbytes, sl->size - sl->nbytes,
		    MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n <= 0) {
			pf_slot_end(s, sl);
			return;
		}
		rc = pf_gate_feed(&sl->gate, sl->bytes + sl->nbytes, (size_t)n);
		sl->nbytes += (size_t)n;
		if (!collected(s, sl, rc))
			return;
	}
	collect_wait(s, sl);
}

/*
 * The reply is out and the request is still coming. Closing now would reset the
 * connection and take the reply with it, so what comes is read and thrown away.
 */
void
pf_linger_begin(struct pf_serve *s, struct pf_slot *sl)
{
	int64_t now = pf_mono_ms();

	if (!sl->keep)
		shutdown(sl->fd, SHUT_WR);
	sl->last_ms = now + COLLECT_MS;
	pf_slot_watch(s, sl, SLOT_LINGER, ONCE_IN, now + LINGER_MS);
}

void
pf_linger_read(struct pf_serve *s, struct pf_slot *sl)
{
	ssize_t n;

	for (int i = 0; i < READS; i++) {
		n = recv(sl->fd, s->scratch, SCRATCH, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n <= 0) {
			pf_slot_end(s, sl);
			return;
		}
		switch (pf_gate_feed(&sl->gate, s->scratch, (size_t)n)) {
		case PF_GATE_COMPLETE:
			sl->rest = false;
			pf_reply_done(s, sl, SENT_ALL);
			return;
		case PF_GATE_BAD:
			pf_slot_end(s, sl);
			return;
		case PF_GATE_MORE:
		case PF_GATE_LARGE_PARAMS:
		case PF_GATE_LARGE_BODY:
			break;
		}
	}
	pf_slot_watch(s, sl, SLOT_LINGER, ONCE_IN,
	    at_most(sl->last_ms, pf_mono_ms() + LINGER_MS));
}
