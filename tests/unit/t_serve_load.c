/* What others do, or fail to do, holds nobody up. */
#include "config.h"

#include "tests/unit/serve_child.h"

#define SILENT	200
#define STALLED	10

static int64_t
slowest_of(int n)
{
	int64_t worst = 0, began;

	for (int i = 0; i < n; i++) {
		began = fc_ms();
		if (fc_get_status(child_path, "/hello", 5000) != 200)
			return 99999;
		if (fc_ms() - began > worst)
			worst = fc_ms() - began;
	}
	return worst;
}

static void
silent(void)
{
	static int fd[SILENT];
	struct fc m = { 0 };
	int64_t ms;
	int closed = 0, answered = 0;
	struct fc_reply r;

	fc_request(&m, &(struct fc_ask){ .uri = "/hello" });
	for (int i = 0; i < SILENT; i++) {
		fd[i] = fc_connect(child_path);
		if (i % 2 == 1)
			(void)fc_send(fd[i], m.p, m.n / 2, 1000);
	}
	ms = slowest_of(200);
	tap_ok(ms < 500, "100 silent and 100 half requests hold nobody "
	    "(%d ms)", (int)ms);
	for (int i = 0; i < SILENT; i++) {
		fc_read(fd[i], &r, 12000);
		closed += r.eof && r.n == 0;
		answered += fc_status(&r) == 400;
		fc_reply_free(&r);
		close(fd[i]);
	}
	tap_is(closed, SILENT / 2, "after 10 s the silent ones are closed");
	tap_is(answered, SILENT / 2, "and the half ones answered 400");
	fc_free(&m);
}

static void
stalled_uploads(void)
{
	static char body[600000];
	struct fc m = { 0 };
	struct fc_reply r;
	struct fc_ask a = { .uri = "/echo", .method = "POST",
	    .body = PF_LIT_INIT("") };
	int fd[STALLED], answered = 0;
	int64_t ms, began = fc_ms();

	a.body = pf_bytes(body, sizeof(body));
	fc_request(&m, &a);
	for (int i = 0; i < STALLED; i++) {
		fd[i] = fc_connect(child_path);
		(void)fc_send(fd[i], m.p, m.n / 2, 3000);
	}
	ms = slowest_of(200);
	tap_ok(ms < 500, "%d stalled uploads hold nobody (%d ms)", STALLED,
	    (int)ms);
	tap_is(fc_get(child_path, &a, &r, 5000), 200,
	    "another upload goes through meanwhile");
	tap_is((long long)fc_body(&r).n, (long long)sizeof(body), "whole");
	fc_reply_free(&r);
	/* One of them was only slow. */
	(void)fc_send(fd[0], m.p + m.n / 2, m.n - m.n / 2, 3000);
	fc_read(fd[0], &r, 5000);
	tap_is(fc_status(&r), 200, "a slow one is served");
	fc_reply_free(&r);
	for (int i = 1; i < STALLED; i++) {
		fc_read(fd[i], &r, 8000);
		answered += fc_status(&r) == 400;
		fc_reply_free(&r);
	}
	tap_is(answered, STALLED - 1, "the others are answered 400");
	tap_ok(fc_ms() - began < 8000, "after 5 s without a byte");
	for (int i = 0; i < STALLED; i++)
		close(fd[i]);
	fc_free(&m);
}

static void
stalled_readers(void)
{
	int fd[STALLED];
	struct fc_reply r;
	int64_t ms;

	for (int i = 0; i < STALLED; i++)
		fd[i] = fc_ask_later(child_path, "/big?3145728");
	fc_sleep(200);
	ms = slowest_of(200);
	tap_ok(ms < 500, "%d readers that don't read 3 MiB hold nobody "
	    "(%d ms)", STALLED, (int)ms);
	for (int i = 0; i < STALLED / 2; i++) {
		fc_read(fd[i], &r, 5000);
		if (fc_status(&r) != 200 || fc_body(&r).n != 3145728)
			break;
		fc_reply_free(&r);
		if (i == STALLED / 2 - 1)
			tap_ok(true, "who reads in the end gets all of it");
	}
	for (int i = 0; i < STALLED; i++)
		close(fd[i]);
}

/* All workers are busy; what came first is served first. */
static void
in_order(void)
{
	int busy[2], fd[8];
	struct fc_reply r;

	busy[0] = fc_ask_later(child_path, "/sleep?300");
	busy[1] = fc_ask_later(child_path, "/sleep?300");
	fc_sleep(50);
	for (int i = 0; i < 8; i++)
		fd[i] = fc_ask_later(child_path, "/sleep?40");
	fc_read(fd[7], &r, 5000);
	tap_is(fc_status(&r), 200, "the last of eight is served");
	fc_reply_free(&r);
	for (int i = 0; i < 6; i++) {
		struct pollfd pfd = { fd[i], POLLIN, 0 };

		if (poll(&pfd, 1, 0) != 1)
			tap_ok(false, "%d came before it", i);
	}
	for (int i = 0; i < 8; i++)
		close(fd[i]);
	close(busy[0]);
	close(busy[1]);
}

/* Nothing grows: 10,000 requests, a tenth of them bad. */
static void
flat(void)
{
	long fds, rss;
	int bad = 0;

	for (int i = 0; i < 1000; i++)
		(void)fc_get_status(child_path, "/hello", 3000);
	fds = child_get_number("/fds");
	rss = child_get_number("/rss");
	for (int i = 0; i < 10000; i++) {
		if (i % 10 == 0) {
			int fd = fc_connect(child_path);

			(void)fc_send(fd, "GET / HTTP/1.1\r\n",
			    (size_t)i % 17, 1000);
			close(fd);
		} else if (fc_get_status(child_path, "/hello", 3000) != 200) {
			bad++;
		}
	}
	tap_is(bad, 0, "9,000 of 10,000 requests were good");
	fc_sleep(50);
	tap_is(child_get_number("/fds"), fds, "as many descriptors as before");
	rss = child_get_number("/rss") - rss;
	tap_ok(rss < 512 || !CHILD_MEASURES,
	    "and as much memory (%ld KiB more)", rss);
}

static void
jobs_and_ticks(void)
{
	long n = child_get_number("/job?100"), most;
	int busy;

	tap_is(n, 100, "100 jobs are taken");
	tap_ok(child_stat_becomes("jobs", 100, 3000), "and run");
	/* The one worker is busy, and the other one asks. */
	busy = fc_ask_later(child_path, "/sleep?300");
	fc_sleep(50);
	most = child_get_number("/job?5000");
	tap_is(most, 256, "the queue of jobs has an end");
	close(busy);
	tap_ok(child_stat_becomes("jobs", 100 + most, 3000), "all taken ran");
	n = child_stat("ticks");
	fc_sleep(300);
	most = child_stat("ticks");
	tap_ok(most > n && most < 1000, "ticks come, one at a time (%ld)",
	    most);
}

/* Out of descriptors: wait, and go on when there are some again. */
static void
out_of_descriptors(void)
{
	int fd[60];
	pid_t pid;

	child_descriptors = 40;
	pid = child_begin();
	for (int i = 0; i < 60; i++)
		fd[i] = fc_connect(child_path);
	fc_sleep(300);
	tap_is(fc_get_status(child_path, "/hello", 500), 0,
	    "40 descriptors are not enough for 60 connections");
	for (int i = 0; i < 60; i++)
		close(fd[i]);
	tap_is(fc_get_status(child_path, "/hello", 3000), 200,
	    "when they are gone it serves again");
	tap_is(child_end(pid), 0, "orderly end");
}

int
main(void)
{
	pid_t pid;

	child_setup();
	child_opts.tick_ms = 50;
	pid = child_begin();
	jobs_and_ticks();
	in_order();
	stalled_readers();
	stalled_uploads();
	silent();
	flat();
	tap_is(child_end(pid), 0, "orderly end");
	child_opts.tick_ms = 0;
	out_of_descriptors();
	return child_teardown();
}
