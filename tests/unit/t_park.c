/* Requests that wait without a thread. */
#include "config.h"

#include "tests/unit/serve_child.h"

#define MANY	1000

static void
is_reply(int fd, int ms, int status, const char *body, const char *why)
{
	struct fc_reply r;

	fc_read(fd, &r, ms);
	tap_is(fc_status(&r), status, "%s: status", why);
	if (body != NULL)
		tap_is_z(fc_body(&r), body, "%s: body", why);
	fc_reply_free(&r);
	close(fd);
}

static void
woken(const char *uri, const char *stat, const char *body)
{
	int fd = fc_ask_later(child_path, uri);

	tap_ok(child_stat_becomes(stat, 1, 3000), "%s: parked", uri);
	tap_is(fc_get_status(child_path, "/wakeall", 3000), 200, "wake");
	is_reply(fd, 3000, 200, body, uri);
	tap_is(child_stat(stat), 0, "%s: parked no more", uri);
}

static void
one_by_one(void)
{
	woken("/wait", "waiting", "event");
	woken("/rerun", "parked", "run 2 why 0 kept treasure path /rerun");
	is_reply(fc_ask_later(child_path, "/wait?50"), 3000, 200, "time",
	    "a deadline");
	is_reply(fc_ask_later(child_path, "/rerun?50"), 3000, 200,
	    "run 2 why 1 kept treasure path /rerun", "a rerun's deadline");
	is_reply(fc_ask_later(child_path, "/cancel"), 3000, 200, "cancelled",
	    "begun, not parked, and woken");
	tap_is(child_stat("gone"), 2, "every waiter was told its end, once");
}

/* The wake came between begin() and the return of the handler. */
static void
races(void)
{
	int64_t began = fc_ms();
	int good = 0;
	struct fc_reply r;

	for (int i = 0; i < 500; i++) {
		struct fc_ask a = { .uri = i % 2 ? "/race" : "/rerun-race" };

		good += fc_get(child_path, &a, &r, 3000) == 200;
		fc_reply_free(&r);
	}
	tap_is(good, 500, "500 wakes before the park was complete");
	tap_ok(fc_ms() - began < 10000, "none of them waited for a deadline");
}

static bool
line_is(int fd, struct fc_reply *r, const char *want)
{
	size_t before = r->n;

	if (!fc_read_record(fd, r, fc_ms() + 3000))
		return false;
	return strcmp(r->p + before, want) == 0;
}

static void
stream(void)
{
	int fd = fc_ask_later(child_path, "/stream");
	struct fc_reply r = { 0 };

	tap_ok(fc_read_record(fd, &r, fc_ms() + 3000) &&
	    strstr(r.p, ": hello") != NULL, "the head comes at once");
	tap_ok(child_stat_becomes("waiting", 1, 3000), "then it waits");
	for (int i = 1; i <= 3; i++) {
		char want[32];

		(void)snprintf(want, sizeof(want), "data: %d\n\n", i);
		(void)fc_get_status(child_path, "/wakeall", 3000);
		tap_ok(line_is(fd, &r, want), "piece %d", i);
		tap_ok(child_stat_becomes("waiting", 1, 3000), "waits on");
	}
	close(fd);
	tap_ok(child_stat_becomes("waiting", 0, 3000), "gone with its peer");
	fc_reply_free(&r);
}

static void
peers_go(void)
{
	long gone = child_stat("gone");
	int fd[20];

	for (int i = 0; i < 20; i++)
		fd[i] = fc_ask_later(child_path, i % 2 ? "/wait" : "/rerun");
	tap_ok(child_stat_becomes("waiting", 10, 3000) &&
	    child_stat_becomes("parked", 10, 3000), "20 are parked");
	for (int i = 0; i < 20; i++)
		close(fd[i]);
	tap_ok(child_stat_becomes("waiting", 0, 3000) &&
	    child_stat_becomes("parked", 0, 3000), "20 peers went away");
	tap_is(child_stat("gone") - gone, 10, "10 waiters were told");
	tap_is(fc_get_status(child_path, "/wakeall", 3000), 200,
	    "waking their ids harms nobody");
}

/* Whoever does not read his stream is dropped, not waited for. */
static void
flood(void)
{
	int fd = fc_ask_later(child_path, "/flood");

	tap_ok(child_stat_becomes("waiting", 1, 3000), "a stream");
	(void)fc_get_status(child_path, "/wakeall", 3000);
	tap_ok(child_stat_becomes("waiting", 0, 3000),
	    "1 MiB that the peer does not read drops it");
	close(fd);
}

/* Bytes on a parked connection end it: nobody has any to send. */
static void
chatter(void)
{
	int fd = fc_ask_later(child_path, "/wait");
	char b;

	tap_ok(child_stat_becomes("waiting", 1, 3000), "a waiter");
	(void)fc_send(fd, "\1\2\0\1\0\0\0\0", 8, 1000);
	tap_ok(child_stat_becomes("waiting", 0, 3000), "ABORT_REQUEST ends it");
	tap_ok(recv(fd, &b, 1, 0) <= 0, "and its connection");
	close(fd);
}

static void
many(void)
{
	static int fd[MANY];
	struct fc_reply r;
	int64_t began;
	int good = 0;
	long rss;

	rss = child_get_number("/rss");
	for (int i = 0; i < MANY; i++)
		fd[i] = fc_ask_later(child_path, "/wait");
	tap_ok(child_stat_becomes("waiting", MANY, 10000), "%d wait", MANY);
	rss = child_get_number("/rss") - rss;
	tap_ok(rss < MANY || !CHILD_MEASURES,
	    "and cost less than 1 KiB each (%ld KiB)", rss);
	began = fc_ms();
	(void)fc_get_status(child_path, "/wakeall", 5000);
	for (int i = 0; i < MANY; i++) {
		fc_read(fd[i], &r, 5000);
		good += fc_status(&r) == 200;
		fc_reply_free(&r);
		close(fd[i]);
	}
	tap_is(good, MANY, "all are answered");
	tap_ok(fc_ms() - began < 2000, "in %d ms", (int)(fc_ms() - began));
}

static void
kept(void)
{
	struct fc m = { 0 };
	struct fc_reply r;
	int fd = fc_connect(child_path), good = 0;

	for (int i = 0; i < 20; i++) {
		m.n = 0;
		fc_request(&m, &(struct fc_ask){ .uri = i % 3 == 0 ? "/race" :
		    i % 3 == 1 ? "/wait?10" : "/rerun?10", .keep = true });
		(void)fc_send(fd, m.p, m.n, 1000);
		fc_read(fd, &r, 3000);
		good += fc_status(&r) == 200;
		fc_reply_free(&r);
	}
	tap_is(good, 20, "20 parks on one kept connection");
	fc_free(&m);
	close(fd);
}

static void
full(void)
{
	int fd[5];

	child_opts.max_parked = 5;
	pid_t pid = child_begin();

	for (int i = 0; i < 5; i++)
		fd[i] = fc_ask_later(child_path, i % 2 ? "/wait" : "/rerun");
	tap_ok(child_stat_becomes("waiting", 2, 3000) &&
	    child_stat_becomes("parked", 3, 3000), "5 places are taken");
	tap_is(fc_get_status(child_path, "/wait", 3000), 503, "no sixth");
	tap_is(fc_get_status(child_path, "/rerun", 3000), 503, "nor rerun");
	close(fd[1]);
	tap_ok(child_stat_becomes("waiting", 1, 3000), "one goes");
	tap_is(fc_get_status(child_path, "/wait?10", 3000), 200, "one comes");
	/* The end: everybody gets an answer. */
	kill(pid, SIGTERM);
	is_reply(fd[3], 3000, 200, "stop", "a waiter at the stop");
	for (int i = 0; i < 5; i += 2)
		is_reply(fd[i], 3000, 503, NULL, "a rerun at the stop");
	tap_is(child_wait_end(pid, 2000), 0, "an end within 2 s");
	child_opts.max_parked = 5000;
}

/* httpd sends an authorizer no STDIN; others may send an empty one,
 * whenever. */
static void
authorizer(void)
{
	struct fc_ask a = { .uri = "/env", .role = FC_AUTHORIZER,
	    .no_stdin = true, .keep = true, .length = "77" };
	struct fc m = { 0 };
	struct fc_reply r;
	int fd, good = 0;
	pid_t pid;

	child_opts.role = PF_AUTHORIZER;
	pid = child_begin();
	fd = fc_connect(child_path);
	for (int i = 0; i < 12; i++) {
		a.uri = i % 3 == 2 ? "/rerun?50" : "/env";
		a.no_stdin = i % 2 == 0;
		m.n = 0;
		fc_request(&m, &a);
		(void)fc_send(fd, m.p, m.n, 1000);
		m.n = 0;
		fc_record(&m, FC_STDIN, 1, "", 0, 0);
		/* A late one, while it runs or waits, or after the reply. */
		if (i % 4 == 0)
			(void)fc_send(fd, m.p, m.n, 1000);
		fc_read(fd, &r, 3000);
		if (i % 4 == 2) {
			(void)fc_send(fd, m.p, m.n, 1000);
			fc_sleep(i % 8 == 2 ? 20 : 0);
		}
		good += fc_status(&r) == 200;
		fc_reply_free(&r);
	}
	tap_is(good, 12, "an authorizer with and without STDIN, kept");
	close(fd);
	m.n = 0;
	fd = fc_connect(child_path);
	fc_request(&m, &(struct fc_ask){ .uri = "/env",
	    .role = FC_AUTHORIZER, .body = PF_LIT("body") });
	(void)fc_send(fd, m.p, m.n, 1000);
	fc_read(fd, &r, 3000);
	tap_ok(r.eof && r.n == 0, "a body for an authorizer is closed");
	fc_reply_free(&r);
	fc_free(&m);
	close(fd);
	tap_is(child_end(pid), 0, "orderly end");
	child_opts.role = PF_RESPONDER;
}

int
main(void)
{
	pid_t pid;

	child_setup();
	pid = child_begin();
	one_by_one();
	races();
	stream();
	peers_go();
	flood();
	chatter();
	kept();
	many();
	tap_is(child_end(pid), 0, "orderly end");
	full();
	authorizer();
	return child_teardown();
}
