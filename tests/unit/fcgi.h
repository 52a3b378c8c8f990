/*
 * fcgi - a web server's side of FastCGI for the tests, byte by byte if need be.
 */
#ifndef PF_TEST_FCGI_H
#define PF_TEST_FCGI_H

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/base/str.h"

#define FC_BEGIN	1
#define FC_ABORT	2
#define FC_END		3
#define FC_PARAMS	4
#define FC_STDIN	5
#define FC_RESPONDER	1
#define FC_AUTHORIZER	2

/* A message to be sent. */
struct fc {
	unsigned char *p;
	size_t n, size;
};

static inline void
fc_raw(struct fc *m, const void *p, size_t n)
{
	if (m->size - m->n < n) {
		m->size = (m->size + n) * 2;
		m->p = realloc(m->p, m->size);
		if (m->p == NULL)
			abort();
	}
	if (n > 0)
		memcpy(m->p + m->n, p, n);
	m->n += n;
}

static inline void
fc_free(struct fc *m)
{
	free(m->p);
	memset(m, 0, sizeof(*m));
}

static inline void
fc_record(struct fc *m, int type, int id, const void *p, size_t n, int pad)
{
	const unsigned char h[8] = { 1, (unsigned char)type,
	    (unsigned char)(id >> 8), (unsigned char)id,
	    (unsigned char)(n >> 8), (unsigned char)n, (unsigned char)pad, 0 };
	static const unsigned char zero[256];

	fc_raw(m, h, 8);
	fc_raw(m, p, n);
	fc_raw(m, zero, (size_t)pad);
}

static inline void
fc_begin(struct fc *m, int id, int role, bool keep)
{
	const unsigned char b[8] = { 0, (unsigned char)role, keep ? 1 : 0 };

	fc_record(m, FC_BEGIN, id, b, 8, 0);
}

static inline void
fc_len(struct fc *m, size_t n)
{
	unsigned char b[4] = { (unsigned char)(n >> 24 | 0x80),
	    (unsigned char)(n >> 16), (unsigned char)(n >> 8),
	    (unsigned char)n };

	if (n < 128)
		fc_raw(m, b + 3, 1);
	else
		fc_raw(m, b, 4);
}

static inline void
fc_pair(struct fc *m, struct pf_str name, struct pf_str value)
{
	fc_len(m, name.n);
	fc_len(m, value.n);
	fc_raw(m, name.p, name.n);
	fc_raw(m, value.p, value.n);
}

static inline void
fc_pairz(struct fc *m, const char *name, const char *value)
{
	fc_pair(m, pf_str(name), pf_str(value));
}

/* All content of a stream as records of up to 'most' bytes, without its end. */
static inline void
fc_stream(struct fc *m, int type, int id, struct pf_str s, size_t most)
{
	while (s.n > 0) {
		struct pf_str one = pf_str_head(s, most);

		fc_record(m, type, id, one.p, one.n, 0);
		s = pf_str_from(s, one.n);
	}
}

struct fc_ask {
	int role;		/* 0: responder */
	bool keep;
	const char *method;	/* NULL: GET */
	const char *uri;
	const char *name, *value;	/* one more variable */
	struct pf_str body;
	const char *length;	/* CONTENT_LENGTH; NULL: that of the body */
	bool no_stdin;
};

static inline void
fc_request(struct fc *m, const struct fc_ask *a)
{
	struct fc params = { 0 };
	char length[32];
	int role = a->role != 0 ? a->role : FC_RESPONDER;

	(void)snprintf(length, sizeof(length), "%zu", a->body.n);
	fc_begin(m, 1, role, a->keep);
	fc_pairz(&params, "REQUEST_METHOD", a->method ? a->method : "GET");
	fc_pairz(&params, "REQUEST_URI", a->uri);
	fc_pairz(&params, "REMOTE_ADDR", "192.0.2.7");
	fc_pairz(&params, "HTTP_HOST", "Shop.Example:8443");
	fc_pairz(&params, "CONTENT_LENGTH", a->length ? a->length : length);
	if (a->name != NULL)
		fc_pairz(&params, a->name, a->value);
	fc_stream(m, FC_PARAMS, 1, pf_bytes(params.p, params.n), 65535);
	fc_record(m, FC_PARAMS, 1, "", 0, 0);
	fc_free(&params);
	if (a->no_stdin)
		return;
	fc_stream(m, FC_STDIN, 1, a->body, 32768);
	fc_record(m, FC_STDIN, 1, "", 0, 0);
}

static inline int64_t
fc_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline void
fc_sleep(int ms)
{
	const struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	(void)nanosleep(&t, NULL);
}

static inline int
fc_connect(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Blocks, up to ms without progress; false if the peer takes no more. */
static inline bool
fc_send(int fd, const void *p, size_t n, int ms)
{
	const char *at = p;

	while (n > 0) {
		struct pollfd pfd = { fd, POLLOUT, 0 };
		ssize_t did;

		if (poll(&pfd, 1, ms) <= 0)
			return false;
		did = send(fd, at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (did < 0 && errno != EAGAIN)
			return false;
		at += did > 0 ? did : 0;
		n -= did > 0 ? (size_t)did : 0;
	}
	return true;
}

/* What came back: STDOUT, put together, with a NUL behind it. */
struct fc_reply {
	char *p;
	size_t n, size;
	bool ended;		/* END_REQUEST, complete, status 0 */
	bool eof, failed;
};

static inline void
fc_reply_free(struct fc_reply *r)
{
	free(r->p);
	memset(r, 0, sizeof(*r));
}

static inline bool
fc_exactly(int fd, void *p, size_t n, int64_t until)
{
	unsigned char *at = p;

	while (n > 0) {
		struct pollfd pfd = { fd, POLLIN, 0 };
		int64_t left = until - fc_ms();
		ssize_t did;

		if (left <= 0 || poll(&pfd, 1, (int)left) <= 0) {
			errno = ETIMEDOUT;
			return false;
		}
		did = recv(fd, at, n, 0);
		if (did <= 0) {
			errno = did == 0 ? 0 : errno;
			return false;
		}
		at += did;
		n -= (size_t)did;
	}
	return true;
}

/* One record; false at the end of the reply or of the connection. */
static inline bool
fc_read_record(int fd, struct fc_reply *r, int64_t until)
{
	unsigned char h[8], pad[255], end[8];
	size_t n;

	if (!fc_exactly(fd, h, 8, until)) {
		r->eof = errno == 0 || errno == ECONNRESET;
		r->failed = true;
		return false;
	}
	n = (size_t)h[4] << 8 | h[5];
	if (h[0] != 1 || h[2] != 0 || h[3] != 1 ||
	    (h[1] == FC_END ? n != 8 : h[1] != 6)) {
		r->failed = true;
		return false;
	}
	if (h[1] == FC_END) {
		r->ended = fc_exactly(fd, end, 8, until) && end[4] == 0;
		r->failed = !r->ended;
		return false;
	}
	if (r->size - r->n < n + 1) {
		r->size = (r->size + n + 1) * 2;
		if ((r->p = realloc(r->p, r->size)) == NULL)
			abort();
	}
	if (!fc_exactly(fd, r->p + r->n, n, until) ||
	    !fc_exactly(fd, pad, h[6], until)) {
		r->failed = true;
		return false;
	}
	r->n += n;
	r->p[r->n] = '\0';
	return true;
}

static inline void
fc_read(int fd, struct fc_reply *r, int ms)
{
	int64_t until = fc_ms() + ms;

	memset(r, 0, sizeof(*r));
	while (fc_read_record(fd, r, until))
		;
}

static inline int
fc_status(const struct fc_reply *r)
{
	int status = 0;

	if (r->p == NULL || !r->ended ||
	    sscanf(r->p, "Status: %d", &status) != 1)
		return 0;
	return status;
}

static inline struct pf_str
fc_body(const struct fc_reply *r)
{
	const char *b = r->p != NULL ? strstr(r->p, "\r\n\r\n") : NULL;

	if (b == NULL)
		return PF_NOSTR;
	return pf_bytes(b + 4, r->n - (size_t)(b + 4 - r->p));
}

/* A whole exchange on a connection of its own: the status, 0 if none came. */
static inline int
fc_get(const char *path, const struct fc_ask *a, struct fc_reply *r, int ms)
{
	struct fc m = { 0 };
	int fd = fc_connect(path);

	memset(r, 0, sizeof(*r));
	if (fd < 0)
		return 0;
	fc_request(&m, a);
	if (fc_send(fd, m.p, m.n, ms))
		fc_read(fd, r, ms);
	fc_free(&m);
	close(fd);
	return fc_status(r);
}

/* A GET, of which only the status matters. */
static inline int
fc_get_status(const char *path, const char *uri, int ms)
{
	struct fc_reply r;
	int status = fc_get(path, &(struct fc_ask){ .uri = uri }, &r, ms);

	fc_reply_free(&r);
	return status;
}

/* Connect and send a request; the reply is for later. */
static inline int
fc_ask_later(const char *path, const char *uri)
{
	struct fc m = { 0 };
	int fd = fc_connect(path);

	if (fd < 0)
		return -1;
	fc_request(&m, &(struct fc_ask){ .uri = uri });
	(void)fc_send(fd, m.p, m.n, 1000);
	fc_free(&m);
	return fd;
}

#endif
