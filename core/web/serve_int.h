/*
 * serve_int - what the files of the runtime share; nobody else includes it.
 *
 * Every connection is a slot. One lock guards slots, timers and the queue of
 * work, for a few hundred nanoseconds at a time; the only system calls under it
 * are epoll_ctl() and the eventfd. Who may touch a slot follows from its state:
 *	GATE, COLLECT, SENDING, LINGER	the event thread alone
 *	QUEUED				nobody (it stands in the queue)
 *	RUNNING				the worker that took it
 *	PARKED				whoever holds the lock and moves it on
 * so a request has one owner at any time. A closed descriptor's number is used
 * again at once: events carry slot and a generation that changes with every
 * arming, and one that doesn't match any more is ignored.
 */
#ifndef PF_SERVE_INT_H
#define PF_SERVE_INT_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/uio.h>

#include "core/web/gate.h"
#include "core/web/park.h"
#include "core/web/serve.h"

#define GATE_BYTES	16384	/* more is collected */
#define GATE_MS		10000	/* for a request to be complete */
#define COLLECT_MS	20000	/* for a big one */
#define COLLECT_IDLE_MS	5000	/* without a byte of it */
#define SEND_MS		30000	/* for the peer to take a reply */
#define LINGER_MS	5000
#define COLLECT_TOTAL	(64u << 20)	/* over all connections */
#define SEND_TOTAL	(128u << 20)
#define SCRATCH		65536
#define STOP_MS		10000	/* for running requests at the end */
/* A connection between requests: edges, as the bytes are only looked at. */
#define GATE_EVENTS	(EPOLLIN | EPOLLRDHUP | EPOLLET)
#define ONCE_IN		(EPOLLIN | EPOLLRDHUP | EPOLLONESHOT)
#define ONCE_OUT	(EPOLLOUT | EPOLLONESHOT)

#define MAX_LISTEN	16
#define MAX_JOBS	256
#define MAX_SLOTS	(1u << 24)
#define SLOT_CHUNK	256

enum slot_state {
	SLOT_FREE, SLOT_GATE, SLOT_COLLECT, SLOT_QUEUED, SLOT_RUNNING,
	SLOT_PARKED, SLOT_SENDING, SLOT_LINGER
};

/* A link of the queue: a slot, a job of the program, or one of our own. */
struct pf_work {
	struct pf_work *next;
	enum { WORK_SLOT, WORK_JOB, WORK_TICK, WORK_RELOAD } kind;
};

struct pf_job {
	struct pf_work work;
	void (*fn)(void *arg, struct pf_db *db, struct pf_arena *a);
	void *arg;
};

struct pf_slot;
struct pf_worker;

/* A request's link to the runtime: rq->wait. */
struct pf_wait {
	struct pf_slot *slot;
	struct pf_worker *worker;
	enum pf_wake why;
	enum { WANT_NO_PARK, WANT_RERUN, WANT_WAITER } want;
	bool dead;		/* the peer did not take the head */
	int64_t deadline_ms;
};

struct pf_slot {
	struct pf_work work;
	struct pf_slot *free_next;
	uint32_t index;
	uint32_t arm;		/* generation of epoll's data */
	uint64_t park;		/* generation of park ids, 40 bits */
	int fd;
	enum slot_state state;
	bool polled;		/* fd is in the epoll set */
	bool reused;		/* kept, after an earlier request */
	bool begun;		/* a park id is out */
	bool woken;		/* a wake came; why says which */
	bool keep;		/* of the request that runs or waits */
	bool rest;		/* bytes of the request are still to come */
	uint16_t id;
	uint8_t looks;		/* that found part of a request */
	uint16_t refuse;	/* status of a request that isn't served */
	enum pf_wake why;
	size_t heap_at;		/* place in the timers, 0 is none */
	int64_t due_ms;
	int64_t last_ms;	/* collecting and lingering end here at last */

	struct pf_gate gate;
	char *bytes;		/* collected, or to be sent */
	size_t nbytes, size, sent;
	size_t *charged;	/* the total that size counts in */

	struct pf_req *rq;	/* a rerun, with its arena */
	struct pf_arena *arena;
	const struct pf_waiter_ops *ops;	/* a waiter */
	void *state_copy;
	struct pf_wait wait;
};

struct pf_worker {
	struct pf_serve *s;
	pthread_t thread;
	bool started;
	struct pf_db *db;
	struct pf_arena *arena;	/* of the next new request */
	struct pf_arena *spare;	/* takes its place when that one parks */
	struct pf_parse *parse;
	sem_t wake;
	struct pf_worker *below;	/* in the stack of idle ones */
};

struct pf_listen {
	int fd;
	char path[108];		/* of a socket file that we made; or "" */
	uint64_t dev, ino;
};

struct pf_serve {
	struct pf_serve_opts o;
	unsigned role;		/* as on the wire */
	uint32_t max_body;
	struct pf_notify *notify;
	struct pf_notify_ops notify_ops;
	int ep, wakefd, sigfd;
	int notify_fd;
	uint32_t notify_events;
	pthread_t event_thread;
	char *scratch;		/* SCRATCH bytes of the event thread */
	struct pf_listen lis[MAX_LISTEN];
	unsigned nlis;
	bool tcp;		/* one of them is no Unix socket */
	bool accepting;
	int64_t accept_at_ms;	/* when to accept again after EMFILE */
	int64_t emfile_log_ms, bad_log_ms;

	pthread_mutex_t lock;
	/* All below is guarded by lock. */
	struct pf_work *head, **tail;
	struct pf_worker *idle;	/* who came last goes first: see next() */
	struct pf_work tick, reload;
	bool tick_out, reload_out, reload_again;
	int64_t tick_at_ms;
	unsigned njobs;
	bool closed;		/* no more jobs are taken, workers end */

	struct pf_slot **chunk;
	size_t nchunks;
	struct pf_slot *free;
	size_t used;
	struct pf_slot **heap;	/* from 1 */
	size_t nheap;
	int64_t sleep_until_ms;
	bool poked;

	bool stop_wanted, stopping;
	int64_t stop_by_ms;
	unsigned parked;	/* ids that are out */
	size_t collected, unsent;
	struct pf_serve_stats stats;

	struct pf_worker *workers;
	unsigned nworkers;
};

/* serve_slot.c. "_l": the lock is held. */
void pf_lock(struct pf_serve *s);
void pf_unlock(struct pf_serve *s);
struct pf_slot *pf_slot_new(struct pf_serve *s, int fd);
struct pf_slot *pf_slot_at_l(struct pf_serve *s, uint32_t index);
/* Close the descriptor, give back all that it holds; ends a waiter. */
void pf_slot_end(struct pf_serve *s, struct pf_slot *sl);
void pf_slot_drop_bytes(struct pf_serve *s, struct pf_slot *sl);
/* Give the slot at least size bytes, those it has kept, counted in total, which
 * stays below max. */
bool pf_slot_room(struct pf_serve *s, struct pf_slot *sl, size_t size,
    size_t *total, size_t max);
/* Hand a connection to the epoll set in a state; due_ms 0: no deadline. One
 * that can't be watched is still the caller's (false), or ended. */
bool pf_slot_watch_l(struct pf_serve *s, struct pf_slot *sl,
    enum slot_state state, uint32_t events, int64_t due_ms);
void pf_slot_watch(struct pf_serve *s, struct pf_slot *sl,
    enum slot_state state, uint32_t events, int64_t due_ms);
/* Wait for the next request of a kept connection. */
void pf_slot_again(struct pf_serve *s, struct pf_slot *sl);
/* Queue work. The idle worker that must be woken for it, or NULL. */
PF_MUST struct pf_worker *pf_push_l(struct pf_serve *s, struct pf_work *w);
void pf_worker_wake(struct pf_worker *w);	/* NULL: nobody */
void pf_slot_push(struct pf_serve *s, struct pf_slot *sl);
/* Make the event thread look up. */
void pf_poke_l(struct pf_serve *s);

/* serve_timer.c: a heap of deadlines. */
void pf_timer_set_l(struct pf_serve *s, struct pf_slot *sl, int64_t due_ms);
void pf_timer_clear_l(struct pf_serve *s, struct pf_slot *sl);
struct pf_slot *pf_timer_due_l(struct pf_serve *s, int64_t now_ms);

/* serve_listen.c */
PF_MUST enum pf_rc pf_listen_open(struct pf_serve *s);
void pf_listen_close(struct pf_serve *s);

/* serve_event.c */
PF_MUST enum pf_rc pf_event_open(struct pf_serve *s);
void pf_event_loop(struct pf_serve *s);
void pf_event_close(struct pf_serve *s);

/* serve_conn.c: what the event thread does with connections. */
/* True: there may be more. */
bool pf_conn_accept(struct pf_serve *s, int fd);
void pf_conn_event(struct pf_serve *s, uint32_t index, uint32_t arm,
    uint32_t events);
/* Log and end what is no FastCGI. */
void pf_gate_refused(struct pf_serve *s, struct pf_slot *sl);
/* End or wake what is due; then the connections that a stop ends at once. */
void pf_conn_timers(struct pf_serve *s, int64_t now_ms);
void pf_conn_stop(struct pf_serve *s, int64_t now_ms);

/* serve_collect.c: requests over GATE_BYTES. */
void pf_collect_begin(struct pf_serve *s, struct pf_slot *sl);
void pf_collect_read(struct pf_serve *s, struct pf_slot *sl);
/* Answer with this status instead of serving; bytes of it may still come. */
void pf_refuse(struct pf_serve *s, struct pf_slot *sl, int status);
void pf_linger_begin(struct pf_serve *s, struct pf_slot *sl);
void pf_linger_read(struct pf_serve *s, struct pf_slot *sl);

/* serve_worker.c */
void *pf_worker_main(void *arg);
struct pf_arena *pf_worker_arena(struct pf_serve *s);	/* NULL: no memory */
void pf_worker_arena_free(struct pf_arena *a);

/* serve_parse.c: libfcgi. */
struct pf_parse;
PF_MUST enum pf_rc pf_parse_init(void);
PF_MUST enum pf_rc pf_parse_new(struct pf_parse **out);
void pf_parse_free(struct pf_parse *p);
/* Read the slot's request, which is complete, into rq. PF_E_INPUT has been
 * noted by pf_fail(); with PF_E_BUG the connection can't be used any more. */
PF_MUST enum pf_rc pf_parse_request(struct pf_parse *p, struct pf_slot *sl,
    struct pf_req *rq);

/* req.c: the variables ("NAME=value") that count, copied into rq's arena. */
PF_MUST enum pf_rc pf_req_read(struct pf_req *rq, char **envp);
/* The body against CONTENT_LENGTH, if that is given: a peer that broke off. */
PF_MUST enum pf_rc pf_req_check_length(struct pf_req *rq, struct pf_str length);

/* serve_reply.c: records to the peer. */
enum pf_sent { SENT_ALL, SENT_PART, SENT_DEAD };
/*
 * head and body as STDOUT, then the end of the request if end is set. Never
 * blocks; with SENT_PART the slot holds what is left. If drop is set, what does
 * not fit is SENT_DEAD.
 */
enum pf_sent pf_reply_send(struct pf_serve *s, struct pf_slot *sl,
    struct pf_str head, struct pf_str body, bool end, bool drop);
/* After a complete reply: keep, close, linger, or let the rest be sent. */
void pf_reply_done(struct pf_serve *s, struct pf_slot *sl, enum pf_sent sent);
/* The peer can take more (event thread). */
void pf_reply_more(struct pf_serve *s, struct pf_slot *sl);

/* park.c */
void pf_wait_init(struct pf_wait *w, struct pf_slot *sl,
    struct pf_worker *worker);
/* An id that was given out and not used is void. */
void pf_park_forget(struct pf_serve *s, struct pf_slot *sl);
/* The handler returned PF_PARKED, as it said by rq->wait. */
void pf_park_commit(struct pf_serve *s, struct pf_slot *sl);
/* Run a woken waiter on this worker. */
void pf_park_run_waiter(struct pf_worker *w, struct pf_slot *sl);
/* Parked no more: the caller owns it. */
void pf_park_take_l(struct pf_serve *s, struct pf_slot *sl);
void pf_park_wake_l(struct pf_serve *s, struct pf_slot *sl, enum pf_wake why);

#endif
