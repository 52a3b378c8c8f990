/*
 * serve_child - a small program on the real runtime, in a child process.
 */
#ifndef PF_TEST_SERVE_CHILD_H
#define PF_TEST_SERVE_CHILD_H

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/jose/crypt.h"
#include "core/web/challenge.h"
#include "core/web/park.h"
#include "core/web/serve.h"
#include "tests/unit/fcgi.h"
#include "tests/unit/tap.h"

#define CHILD_IDS	20000

/* The sanitizers keep what is freed for a while: memory can't be measured. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHILD_MEASURES	false
#else
#define CHILD_MEASURES	true
#endif

static struct {
	pthread_mutex_t lock;
	pf_parkid ids[CHILD_IDS];
	size_t nids;
	int gone, reloads, ticks, ticking, jobs, started, heard, lost;
	int64_t wait_ms;
	struct pf_serve *serve;
} child = { .lock = PTHREAD_MUTEX_INITIALIZER, .wait_ms = 20000 };

static int child_descriptors;	/* their limit, if not 0 */
static char child_path[108], child_dir[64];

static inline void
child_count(int *n, int by)
{
	pthread_mutex_lock(&child.lock);
	*n += by;
	pthread_mutex_unlock(&child.lock);
}

static inline void
child_remember(pf_parkid id)
{
	pthread_mutex_lock(&child.lock);
	if (child.nids < CHILD_IDS)
		child.ids[child.nids++] = id;
	pthread_mutex_unlock(&child.lock);
}

static inline enum pf_rc
child_text(struct pf_req *rq, struct pf_str s)
{
	return pf_resp_send(rq, 200, "text/plain", pf_arena_copy(rq->arena, s));
}

static inline enum pf_rc PF_PRINTF(2, 3)
child_fmt(struct pf_req *rq, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return child_text(rq, pf_str(text));
}

static inline int64_t
child_number(struct pf_req *rq)
{
	int64_t n = 0;

	return pf_str_int(rq->query, 0, 1 << 30, &n) == PF_OK ? n : 0;
}

static inline enum pf_rc
child_hello(struct pf_req *rq)
{
	return child_text(rq, PF_LIT("hello"));
}

static inline enum pf_rc
child_echo(struct pf_req *rq)
{
	return pf_resp_send(rq, 200, "application/octet-stream", rq->body);
}

static inline enum pf_rc
child_env(struct pf_req *rq)
{
	return child_fmt(rq, "%.*s|%.*s|%.*s|%.*s|%.*s|%.*s",
	    PF_STRF(rq->method_name), PF_STRF(rq->path), PF_STRF(rq->query),
	    PF_STRF(rq->host), PF_STRF(rq->authorization), PF_STRF(rq->dpop));
}

static inline enum pf_rc
child_big(struct pf_req *rq)
{
	size_t n = (size_t)child_number(rq);
	char *p = pf_arena_alloc(rq->arena, n);

	if (p == NULL)
		return PF_E_MEM;
	memset(p, 'x', n);
	return pf_resp_send(rq, 200, "text/plain", pf_bytes(p, n));
}

static inline enum pf_rc
child_sleep(struct pf_req *rq)
{
	fc_sleep((int)child_number(rq));
	return child_text(rq, PF_LIT("slept"));
}

static inline enum pf_rc
child_silent(struct pf_req *rq)
{
	(void)rq;
	return PF_OK;
}

static inline enum pf_rc
child_busy(struct pf_req *rq)
{
	(void)rq;
	return PF_E_DB;
}

static inline enum pf_rc
child_stats(struct pf_req *rq)
{
	struct pf_serve_stats st;
	enum pf_rc rc;

	pf_serve_stats(rq->serve, &st);
	pthread_mutex_lock(&child.lock);
	rc = child_fmt(rq, "parked=%llu waiting=%llu uploads=%llu gone=%d "
	    "reloads=%d ticks=%d jobs=%d refused=%llu started=%d "
	    "heard=%d lost=%d",
	    (unsigned long long)st.parked_now,
	    (unsigned long long)st.waiting_now,
	    (unsigned long long)st.uploads, child.gone, child.reloads,
	    child.ticks, child.jobs, (unsigned long long)st.refused,
	    child.started, child.heard, child.lost);
	pthread_mutex_unlock(&child.lock);
	return rc;
}

static inline enum pf_rc
child_fds(struct pf_req *rq)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return child_fmt(rq, "%d", n);
}

static inline enum pf_rc
child_rss(struct pf_req *rq)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (f != NULL && fscanf(f, "%*s %ld", &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	return child_fmt(rq, "%ld", pages * 4);
}

static inline enum pf_rc
child_stop(struct pf_req *rq)
{
	pf_serve_stop(rq->serve);
	return child_text(rq, PF_LIT("stopping"));
}

static inline void
child_job_run(void *arg, struct pf_db *db, struct pf_arena *a)
{
	(void)arg;
	if (db == NULL && pf_arena_alloc(a, 100) != NULL)
		child_count(&child.jobs, 1);
}

static inline enum pf_rc
child_job(struct pf_req *rq)
{
	int taken = 0;

	for (int64_t i = child_number(rq); i > 0; i--)
		if (pf_serve_job(rq->serve, child_job_run, NULL) == PF_OK)
			taken++;
	return child_fmt(rq, "%d", taken);
}

/* Waiters: /wait replies at the wake, /stream writes a piece at each. */
struct child_state {
	int kind, wakes;
};

static inline enum pf_rc
child_wake(struct pf_waiting *w, enum pf_wake why)
{
	static const char *const names[] = { "event", "time", "stop" };
	struct child_state *st = pf_waiting_state(w);
	struct pf_buf b;

	st->wakes++;
	pf_buf_init(&b, pf_waiting_arena(w), 4096);
	if (st->kind == 's' && why == PF_WAKE_EVENT) {
		pf_buf_fmt(&b, "data: %d\n\n", st->wakes);
		pf_waiting_deadline(w, pf_mono_ms() + child.wait_ms);
		return pf_waiting_write(w, pf_buf_str(&b)) ? PF_PARKED :
		    PF_E_LIMIT;
	}
	if (st->kind == 'f') {
		/* A flood: what does not fit drops the peer. */
		char *p = pf_arena_alloc(pf_waiting_arena(w), 1 << 20);

		(void)pf_waiting_write(w, pf_bytes(p, p ? 1 << 20 : 0));
		return PF_PARKED;
	}
	if (st->kind != 's')
		pf_buf_addz(&b, "Status: 200 OK\r\n\r\n");
	pf_buf_addz(&b, names[why]);
	return pf_waiting_write(w, pf_buf_str(&b)) ? PF_OK : PF_E_LIMIT;
}

static inline void
child_gone(void *ctx, void *state)
{
	(void)ctx;
	if (((struct child_state *)state)->kind != 0)
		child_count(&child.gone, 1);
}

static const struct pf_waiter_ops child_waiter = {
	.wake = child_wake, .gone = child_gone
};

static inline enum pf_rc
child_wait(struct pf_req *rq)
{
	bool stream = pf_str_eqz(rq->path, "/stream");
	struct child_state st = { stream ? 's' :
	    pf_str_eqz(rq->path, "/flood") ? 'f' : 'w', 0 };
	struct pf_str head = PF_LIT("");
	int64_t ms = child_number(rq);
	pf_parkid id;
	enum pf_rc rc;

	if ((rc = pf_park_waiter_begin(rq, &id)) != PF_OK)
		return rc;
	if (stream)
		head = PF_LIT("Status: 200 OK\r\n"
		    "Content-Type: text/event-stream\r\n\r\n: hello\n\n");
	if (pf_str_eqz(rq->path, "/race"))
		pf_park_wake(rq->serve, id);
	else
		child_remember(id);
	return pf_park_waiter(rq, &child_waiter, &st, sizeof(st), head,
	    pf_mono_ms() + (ms > 0 ? ms : child.wait_ms));
}

static inline enum pf_rc
child_cancel(struct pf_req *rq)
{
	pf_parkid id;

	if (pf_park_waiter_begin(rq, &id) != PF_OK)
		return PF_E_BUSY;
	child_remember(id);
	pf_park_waiter_cancel(rq);
	pf_park_wake(rq->serve, id);
	return child_text(rq, PF_LIT("cancelled"));
}

static inline enum pf_rc
child_rerun(struct pf_req *rq)
{
	int64_t ms = child_number(rq);
	pf_parkid id;
	enum pf_rc rc;

	if (rq->runs > 1)
		return child_fmt(rq, "run %u why %d kept %s path %.*s",
		    rq->runs, (int)pf_park_woken(rq), (char *)rq->kept,
		    PF_STRF(rq->path));
	rq->kept = pf_arena_z(rq->arena, PF_LIT("treasure"));
	if ((rc = pf_park_rerun_begin(rq, &id)) != PF_OK)
		return rc;
	if (pf_str_eqz(rq->path, "/rerun-race"))
		pf_park_wake(rq->serve, id);
	else
		child_remember(id);
	return pf_park_rerun(rq, pf_mono_ms() + (ms > 0 ? ms :
	    child.wait_ms));
}

/* Wake all who ever parked; most of the ids are stale. */
static inline size_t
child_wake_ids(struct pf_serve *s)
{
	size_t n;

	pthread_mutex_lock(&child.lock);
	n = child.nids;
	pthread_mutex_unlock(&child.lock);
	for (size_t i = 0; i < n; i++)
		pf_park_wake(s, child.ids[i]);
	return n;
}

static inline enum pf_rc
child_wakeall(struct pf_req *rq)
{
	return child_fmt(rq, "%zu", child_wake_ids(rq->serve));
}

static inline void
child_heard(void *ctx, struct pf_str payload)
{
	(void)ctx;
	if (pf_str_eqz(payload, "wake"))
		(void)child_wake_ids(child.serve);
	child_count(&child.heard, 1);
}

static inline void
child_lost(void *ctx)
{
	(void)ctx;
	child_count(&child.lost, 1);
}

static inline enum pf_rc
child_db(struct pf_req *rq)
{
	static const struct pf_stmt st = { "one", "SELECT 41 + 1" };
	struct pf_row row;
	enum pf_rc rc;

	if (rq->db == NULL)
		return PF_E_BUG;
	rc = pf_db_one(rq->db, rq->arena, &st, NULL, 0, &row);
	if (rc != PF_OK)
		return rc;
	return child_fmt(rq, "%lld", (long long)pf_row_int(&row, 0));
}

static const struct {
	const char *path;
	enum pf_rc (*handle)(struct pf_req *rq);
} child_routes[] = {
	{ "/hello", child_hello }, { "/echo", child_echo },
	{ "/env", child_env }, { "/big", child_big },
	{ "/sleep", child_sleep }, { "/silent", child_silent },
	{ "/busy", child_busy }, { "/stats", child_stats },
	{ "/fds", child_fds }, { "/rss", child_rss },
	{ "/stop", child_stop }, { "/job", child_job },
	{ "/wait", child_wait }, { "/race", child_wait },
	{ "/stream", child_wait }, { "/flood", child_wait },
	{ "/cancel", child_cancel }, { "/rerun", child_rerun },
	{ "/rerun-race", child_rerun }, { "/wakeall", child_wakeall },
	{ "/db", child_db },
};

static inline enum pf_rc
child_handle(struct pf_req *rq)
{
	enum pf_rc rc = PF_E_ABSENT;

	for (size_t i = 0; i < PF_COUNT(child_routes); i++)
		if (pf_str_eqz(rq->path, child_routes[i].path))
			rc = child_routes[i].handle(rq);
	if (rc != PF_OK && rc != PF_PARKED)
		pf_fail_reply(rq, rc);
	return rc;
}

static inline void
child_reload(void *ctx)
{
	(void)ctx;
	child_count(&child.reloads, 1);
}

static inline void
child_tick(void *ctx, struct pf_db *db, struct pf_arena *a)
{
	(void)ctx;
	(void)db;
	(void)a;
	pthread_mutex_lock(&child.lock);
	/* Twice at once leaves a wild number behind. */
	child.ticks += ++child.ticking == 1 ? 1 : 1000000;
	pthread_mutex_unlock(&child.lock);
	fc_sleep(30);
	child_count(&child.ticking, -1);
}

static inline enum pf_rc
child_start(void *ctx, struct pf_serve *s)
{
	(void)ctx;
	child.serve = s;
	child.started++;
	return PF_OK;
}

static const struct pf_serve_ops child_ops = {
	.handle = child_handle, .reload = child_reload, .tick = child_tick,
	.start = child_start, .heard = child_heard, .lost = child_lost,
};

/* Settings of the next child; the tests change what they need. */
static struct pf_serve_opts child_opts = {
	.listen = child_path, .workers = 2, .max_parked = 5000,
	.ops = &child_ops,
};

/* The log of the child goes to this file. */
static inline const char *
child_log_path(void)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/log", child_dir);
	return path;
}

static inline void
child_main(void)
{
	int fd = open(child_log_path(), O_WRONLY | O_CREAT | O_APPEND, 0600);
	enum pf_rc rc;

	if (fd >= 0)
		dup2(fd, 2);
	close(fd);
	if (child_descriptors > 0)
		(void)setrlimit(RLIMIT_NOFILE, &(struct rlimit){
		    (rlim_t)child_descriptors, (rlim_t)child_descriptors });
	pf_log_init("t_serve", PF_LOG_INFO);
	if (pf_crypt_init() != PF_OK)
		_exit(9);
	rc = pf_serve_run(&child_opts);
	pf_crypt_end();
	/* exit(), so that LeakSanitizer has its say. */
	exit(rc == PF_OK ? 0 : 10 + (int)rc);
}

static inline pid_t
child_start_quiet(void)
{
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == 0)
		child_main();
	tap_need(pid > 0, "fork");
	return pid;
}

static inline pid_t
child_begin(void)
{
	pid_t pid = child_start_quiet();

	for (int i = 0; i < 1000; i++) {
		int fd = fc_connect(child_path);

		if (fd >= 0) {
			close(fd);
			return pid;
		}
		fc_sleep(10);
	}
	tap_need(false, "the child does not listen");
	return pid;
}

/* The exit status, or -1 if it had to be killed. */
static inline int
child_wait_end(pid_t pid, int ms)
{
	int64_t until = fc_ms() + ms;
	int status;

	while (fc_ms() < until) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
		fc_sleep(5);
	}
	kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	return -1;
}

static inline int
child_end(pid_t pid)
{
	kill(pid, SIGTERM);
	return child_wait_end(pid, 15000);
}

static inline void
child_setup(void)
{
	(void)snprintf(child_dir, sizeof(child_dir), "/tmp/pf-serve.XXXXXX");
	tap_need(mkdtemp(child_dir) != NULL, "mkdtemp");
	(void)snprintf(child_path, sizeof(child_path), "%s/s", child_dir);
}

/* Shows the log of the child if anything failed. */
static inline int
child_teardown(void)
{
	int rc = tap_done();
	char line[512];
	FILE *f = rc != 0 ? fopen(child_log_path(), "r") : NULL;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strstr(line, "\"event\":\"request\"") == NULL)
			printf("# %s", line);
	if (f != NULL)
		fclose(f);
	unlink(child_log_path());
	unlink(child_path);
	rmdir(child_dir);
	return rc;
}

/* Body of a GET as a number, -1 if it failed. */
static inline long
child_get_number(const char *uri)
{
	struct fc_reply r;
	long n = -1;

	if (fc_get(child_path, &(struct fc_ask){ .uri = uri }, &r, 5000) == 200)
		n = strtol(fc_body(&r).p, NULL, 10);
	fc_reply_free(&r);
	return n;
}

/* A counter of /stats. */
static inline long
child_stat(const char *name)
{
	struct fc_reply r;
	const char *at;
	long n = -1;

	if (fc_get(child_path, &(struct fc_ask){ .uri = "/stats" }, &r,
	    5000) == 200 && (at = strstr(fc_body(&r).p, name)) != NULL)
		n = strtol(at + strlen(name) + 1, NULL, 10);
	fc_reply_free(&r);
	return n;
}

static inline bool
child_stat_becomes(const char *name, long want, int ms)
{
	int64_t until = fc_ms() + ms;

	while (child_stat(name) != want) {
		if (fc_ms() > until)
			return false;
		fc_sleep(20);
	}
	return true;
}

#endif
