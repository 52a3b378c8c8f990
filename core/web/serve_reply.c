#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "core/base/clock.h"
#include "core/web/serve_int.h"

#define FCGI_V1		1
#define END_REQUEST	3
#define STDOUT		6
#define RECORD_MAX	65528u	/* of content: a multiple of eight below 2^16 */
#define RECORDS		((PF_RESP_MAX + 65536u) / RECORD_MAX + 2)

/* A reply as records, without a copy of what it says. */
struct out {
	struct iovec v[RECORDS * 2 + 2];
	size_t nv, total;
	unsigned char head[RECORDS][8];
	size_t nhead;
	unsigned char end[24];
};

static void
record_header(unsigned char *h, unsigned type, unsigned id, size_t n)
{
	h[0] = FCGI_V1;
	h[1] = (unsigned char)type;
	h[2] = (unsigned char)(id >> 8);
	h[3] = (unsigned char)id;
	h[4] = (unsigned char)(n >> 8);
	h[5] = (unsigned char)n;
	h[6] = h[7] = 0;
}

static void
add(struct out *o, const void *p, size_t n)
{
	/* iovec has no const for what is only read. */
	o->v[o->nv].iov_base = (void *)(uintptr_t)p;
	o->v[o->nv].iov_len = n;
	o->nv++;
	o->total += n;
}

/* STDOUT records over head and body together; false if there is no room. */
static bool
add_stdout(struct out *o, unsigned id, struct pf_str head, struct pf_str body)
{
	size_t n, take;

	while (head.n + body.n > 0) {
		if (o->nhead == RECORDS)
			return false;
		n = head.n + body.n;
		n = n < RECORD_MAX ? n : RECORD_MAX;
		record_header(o->head[o->nhead], STDOUT, id, n);
		add(o, o->head[o->nhead++], 8);
		take = n < head.n ? n : head.n;
		if (take > 0)
			add(o, head.p, take);
		head = pf_str_from(head, take);
		n -= take;
		if (n > 0)
			add(o, body.p, n);
		body = pf_str_from(body, n);
	}
	return true;
}

/* The empty STDOUT and END_REQUEST: application status 0, request complete. */
static void
add_end(struct out *o, unsigned id)
{
	memset(o->end, 0, sizeof(o->end));
	record_header(o->end, STDOUT, id, 0);
	record_header(o->end + 8, END_REQUEST, id, 8);
	add(o, o->end, sizeof(o->end));
}

/* Keep for the event thread what the socket did not take. */
static enum pf_sent
keep_rest(struct pf_serve *s, struct pf_slot *sl, const struct out *o,
    size_t sent)
{
	size_t skip;

	if (!pf_slot_room(s, sl, o->total - sent, &s->unsent, SEND_TOTAL))
		return SENT_DEAD;
	sl->nbytes = sl->sent = 0;
	for (size_t i = 0; i < o->nv; i++) {
		skip = sent < o->v[i].iov_len ? sent : o->v[i].iov_len;
		sent -= skip;
		memcpy(sl->bytes + sl->nbytes,
		    (const char *)o->v[i].iov_base + skip,
		    o->v[i].iov_len - skip);
		sl->nbytes += o->v[i].iov_len - skip;
	}
	return SENT_PART;
}

enum pf_sent
pf_reply_send(struct pf_serve *s, struct pf_slot *sl, struct pf_str head,
    struct pf_str body, bool end, bool drop)
{
	struct out o;
	struct msghdr m = { .msg_iov = o.v };
	ssize_t n;

	o.nv = o.total = o.nhead = 0;
	if (!add_stdout(&o, sl->id, head, body))
		return SENT_DEAD;
	if (end)
		add_end(&o, sl->id);
	if (o.total == 0)
		return SENT_ALL;
	m.msg_iovlen = o.nv;
	do
		n = sendmsg(sl->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		n = 0;
	if (n < 0 || (drop && (size_t)n < o.total))
		return SENT_DEAD;
	if ((size_t)n == o.total)
		return SENT_ALL;
	return keep_rest(s, sl, &o, (size_t)n);
}

void
pf_reply_done(struct pf_serve *s, struct pf_slot *sl, enum pf_sent sent)
{
	if (sent == SENT_PART)
		pf_slot_watch(s, sl, SLOT_SENDING, ONCE_OUT,
		    pf_mono_ms() + SEND_MS);
	else if (sent == SENT_DEAD)
		pf_slot_end(s, sl);
	else if (sl->rest)
		pf_linger_begin(s, sl);
	else if (sl->keep)
		pf_slot_again(s, sl);
	else
		pf_slot_end(s, sl);
}

void
pf_reply_more(struct pf_serve *s, struct pf_slot *sl)
{
	ssize_t n;

	do
		n = send(sl->fd, sl->bytes + sl->sent, sl->nbytes - sl->sent,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != EAGAIN) {
		pf_slot_end(s, sl);
		return;
	}
	sl->sent += n > 0 ? (size_t)n : 0;
	if (sl->sent < sl->nbytes) {
		pf_slot_watch(s, sl, SLOT_SENDING, ONCE_OUT, sl->due_ms);
		return;
	}
	pf_slot_drop_bytes(s, sl);
	pf_reply_done(s, sl, SENT_ALL);
}
