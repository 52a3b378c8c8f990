/*
 * serve - the runtime of all programs: FastCGI on one event thread and a few
 * workers.
 *
 * The event thread owns the listening sockets and every idle, incomplete or
 * parked connection, the LISTEN connection, timers and signals. A worker only
 * touches a request that is complete. libfcgi parses; records of the reply are
 * written by us, in one piece. Nothing a peer does or fails to do holds a
 * worker:
 *	- a request of up to 16 KiB is dispatched when it is complete; what
 *	  begins with anything but sound FastCGI records of our role is closed
 *	- a bigger one is collected by the event thread as its bytes come (5 s
 *	  without a byte, 20 s in all, 64 MiB over all of them), then
 *	  dispatched
 *	- one over a limit is answered 413 or 431, an incomplete one 400
 *	  after 10 s
 *	- what a peer does not take at once of a reply is sent by the event
 *	  thread, up to 30 s
 * EMFILE pauses accepting for 100 ms. SIGTERM and SIGINT: stop accepting, wake
 * all parked, finish what runs (10 s at most), return. SIGHUP: ops->reload().
 */
#ifndef PF_SERVE_H
#define PF_SERVE_H

#include "core/base/log.h"
#include "core/store/db.h"
#include "core/store/notify.h"
#include "core/web/req.h"

enum pf_role { PF_RESPONDER, PF_AUTHORIZER };

struct pf_serve_ops {
	/* Handle one request on a worker. Whatever is returned but PF_PARKED,
	 * the reply in rq->resp goes out (an error reply is the ops' to
	 * build). */
	enum pf_rc (*handle)(struct pf_req *rq);
	/* Around handle(), on the same thread; take and give back rq->app. */
	void (*begin)(void *ctx, struct pf_req *rq);
	void (*end)(void *ctx, struct pf_req *rq);
	/* SIGHUP, on a worker (it may read files). */
	void (*reload)(void *ctx);
	/* Every tick_ms, on a worker, never twice at once. db may be used. */
	void (*tick)(void *ctx, struct pf_db *db, struct pf_arena *a);
	/* A notification, on the event thread: only pf_park_wake() and the
	 * like. */
	void (*heard)(void *ctx, struct pf_str payload);
	void (*lost)(void *ctx);
	/* Once, on the main thread, before the first request: for threads and
	 * caches that need s. Not PF_OK ends pf_serve_run() with it. */
	enum pf_rc (*start)(void *ctx, struct pf_serve *s);
	/* Once, after the last request, before pf_serve_run() returns. */
	void (*stop)(void *ctx);
	/* Further fields for the log line of a request, at most max; how many.
	 * Nothing secret. Before end(); not for a request that was refused
	 * before begin(). A waiter's line is written when it parks, with
	 * status 0. */
	size_t (*fields)(void *ctx, struct pf_req *rq,
	    struct pf_field *f, size_t max);
};

struct pf_serve_opts {
	/* "/run/poppy/auth.sock" or "127.0.0.1:9001" or "[::1]:9001". NULL:
	 * the inherited descriptor 0 if it is a listening socket, or those of
	 * LISTEN_FDS (LISTEN_PID must be ours). An inherited one wins over a
	 * given one. A socket file is made with mode 0660; a stale one is
	 * replaced, a live one is an error. TCP other than loopback needs
	 * tcp_anywhere; processes of one user share a port. */
	const char *listen;
	bool tcp_anywhere;
	int backlog;			/* 4096 */
	enum pf_role role;
	unsigned workers;		/* 1 to 64 */
	unsigned max_parked;		/* over that parking is PF_E_BUSY */
	size_t arena_first, arena_cap;	/* of a request; 32 KiB, 8 MiB */
	int64_t tick_ms;		/* 0: no ticks */
	struct pf_db_opts db;		/* conninfo NULL: no database */
	const char *notify_conninfo;	/* NULL: no LISTEN */
	const char *notify_channel;
	const struct pf_serve_ops *ops;
	void *ctx;
	size_t max_body;		/* over it 413; 0: 1 MiB */
};

/*
 * Serve until told to stop. Called once, from the main thread, before any other
 * thread exists (signals are blocked here for all to come). PF_OK after an
 * orderly end; PF_E_INPUT when the socket can't be had (logged), PF_E_BUG.
 */
PF_MUST enum pf_rc pf_serve_run(const struct pf_serve_opts *opts);

/*
 * Run fn(arg, db, arena) on a worker soon, between requests; any thread. What
 * the outbound thread brings is worked on this way. On stop, jobs that were
 * taken still run. PF_E_BUSY: more than 256 wait; fn is not called then.
 */
PF_MUST enum pf_rc pf_serve_job(struct pf_serve *s,
    void (*fn)(void *arg, struct pf_db *db, struct pf_arena *a), void *arg);

/* From within: an orderly end, as by SIGTERM. Any thread. */
void pf_serve_stop(struct pf_serve *s);

/* Does it listen on TCP, where anybody on the host may connect? */
bool pf_serve_on_tcp(const struct pf_serve *s);

/* Counters for tests and the log line that is written at the end. */
struct pf_serve_stats {
	uint64_t accepted, requests, refused, parked_now, waiting_now, uploads;
};
void pf_serve_stats(struct pf_serve *s, struct pf_serve_stats *out);

#endif
