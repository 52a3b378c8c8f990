/* Passwords on threads of their own: a storm, peers that leave, the end. */
#include "config.h"

#include "core/poppy/kept.h"
#include "core/poppy/password_pool.h"
#include "tests/unit/serve_child.h"

/* Of "correct horse" at cost 5; of nothing, at 16 times that. */
#define QUICK	"$2y$05$rI5SzKefugml4pg/Lx8oYeod65zjJ0hfxAV5WeP4mWoyJZ/aqo..i"
#define SLOW	"$2y$09$fjWUS6t9xPdm4A2JWMuOp.jF6Kg.tfrDvDW0Zk1Rs3LHnKZzj7d9."
#define DEAR	"$2y$15$fjWUS6t9xPdm4A2JWMuOp.jF6Kg.tfrDvDW0Zk1Rs3LHnKZzj7d9."
#define PRESTA	"810e3d12f0f10777a679d9ca1ad7a8d9"
#define COOKIE	"M2uZ122bSHJ4Mi54tXGY0lqcv1r28mUluSkyw37ou5oia4i239ujqw0l"

#define STORM	50
#define QUEUE	32		/* of one thread */

static struct pf_password_pool *pool;
static unsigned pool_threads = 1;

static const struct {
	const char *path, *kind;
	struct pf_str hash;
} hashes[] = {
	{ "/quick", "", PF_LIT_INIT(QUICK) },
	{ "/slow", "", PF_LIT_INIT(SLOW) },
	{ "/dear", "", PF_LIT_INIT(DEAR) },
	{ "/strange", "", PF_LIT_INIT("a secret that is no hash") },
	{ "/nobody", "symfony", { NULL, 0 } },
	{ "/presta", "prestashop", PF_LIT_INIT(PRESTA) },
	{ "/twice", "", PF_LIT_INIT(QUICK) },
};

/* Ask; "/twice" waits for something else then, and asks again. */
static enum pf_rc
ask(struct pf_req *rq, size_t i)
{
	static const char waited[] = "waited";
	enum pf_rc rc, answer;
	pf_parkid id;

	rc = pf_password_ask(rq, pool, pf_str(hashes[i].kind), hashes[i].hash,
	    rq->body, &answer);
	if (rc != PF_OK)
		return rc;
	if (pf_str_eqz(rq->path, "/twice") &&
	    pf_kept_find(rq, waited) == NULL) {
		if (pf_kept_add(rq, waited, rq) != PF_OK ||
		    pf_park_rerun_begin(rq, &id) != PF_OK)
			return PF_E_BUG;
		return pf_park_rerun(rq, pf_mono_ms() + 20);
	}
	return child_fmt(rq, "%s after %u", pf_rc_name(answer), rq->runs);
}

static enum pf_rc
handle(struct pf_req *rq)
{
	enum pf_rc rc;

	for (size_t i = 0; i < PF_COUNT(hashes); i++) {
		if (!pf_str_eqz(rq->path, hashes[i].path))
			continue;
		if ((rc = ask(rq, i)) != PF_OK && rc != PF_PARKED)
			pf_fail_reply(rq, rc);
		return rc;
	}
	return child_handle(rq);
}

static enum pf_rc
start(void *ctx, struct pf_serve *s)
{
	const struct pf_password_pool_opts o = { pool_threads, PF_LIT(COOKIE) };

	(void)ctx;
	(void)s;
	return pf_password_pool_start(&o, &pool);
}

static void
stop(void *ctx)
{
	(void)ctx;
	pf_password_pool_stop(pool);
}

static const struct pf_serve_ops ops = {
	.handle = handle, .start = start, .stop = stop,
};

static int
later(const char *uri, const char *password)
{
	struct fc_ask a = {
		.method = "POST", .uri = uri, .body = pf_str(password),
	};
	struct fc m = { 0 };
	int fd = fc_connect(child_path);

	fc_request(&m, &a);
	(void)fc_send(fd, m.p, m.n, 1000);
	fc_free(&m);
	return fd;
}

/* The status; whether it took Retry-After along. */
static int
answer(int fd, const char *body, bool *retry)
{
	struct fc_reply r;
	int status;

	fc_read(fd, &r, 20000);
	status = fc_status(&r);
	if (body != NULL)
		tap_is_z(fc_body(&r), body, "%s", body);
	if (retry != NULL)
		*retry = r.p != NULL && strstr(r.p, "Retry-After: ") != NULL;
	fc_reply_free(&r);
	close(fd);
	return status;
}

static bool
log_has(const char *what)
{
	FILE *f = fopen(child_log_path(), "r");
	char line[4096];
	bool found = false;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		found |= strstr(line, what) != NULL;
	if (f != NULL)
		fclose(f);
	return found;
}

static void
answers(void)
{
	static char longest[4098];

	memset(longest, 'a', sizeof(longest) - 1);
	tap_is(answer(later("/quick", "correct horse"), "ok after 2", NULL),
	    200, "it fits");
	tap_is(answer(later("/quick", "correct horsf"), "auth after 2", NULL),
	    200, "it doesn't");
	tap_is(answer(later("/quick", ""), "auth after 2", NULL), 200,
	    "an empty one");
	tap_is(answer(later("/quick", longest), "auth after 2", NULL), 200,
	    "one that is too long");
	tap_is(answer(later("/nobody", "correct horse"), "auth after 2", NULL),
	    200, "nobody");
	tap_is(answer(later("/presta", "hashcat"), "ok after 2", NULL), 200,
	    "the shop's salt");
	tap_is(answer(later("/twice", "correct horse"), "ok after 3", NULL),
	    200, "asked again after another wait");
	tap_is(answer(later("/dear", "correct horse"), "auth after 2", NULL),
	    200, "a hash that costs too much");
	tap_is(answer(later("/strange", "correct horse"), "auth after 2",
	    NULL), 200, "a hash that is none");
	tap_ok(log_has("\"begins\":\"$2y$15$\""), "which is told");
	tap_ok(log_has("\"begins\":\"\""), "of the other nothing is");
	tap_ok(!log_has("correct horse") && !log_has("fjWUS6") &&
	    !log_has("secret that"), "and no secret");
}

/* One thread, more logins than may wait, and the others go on meanwhile. */
static void
storm(bool too_many)
{
	int fd[STORM], good = 0, busy = 0, with = 0, status;
	int64_t began, slowest = 0;
	bool retry;

	for (int i = 0; i < STORM; i++)
		fd[i] = later("/slow", "guess");
	tap_ok(child_stat("parked") > 0, "they wait");
	for (int i = 0; i < 20; i++) {
		began = fc_ms();
		(void)fc_get_status(child_path, "/hello", 5000);
		began = fc_ms() - began;
		slowest = began > slowest ? began : slowest;
	}
	tap_ok(slowest < 1000, "others are answered in %d ms", (int)slowest);
	for (int i = 0; i < STORM; i++) {
		status = answer(fd[i], NULL, &retry);
		good += status == 200;
		busy += status == 503;
		with += status == 503 && retry;
	}
	tap_is(good + busy, STORM, "all are answered");
	tap_ok(good >= QUEUE, "%d checked", good);
	tap_ok(busy > 0 || !too_many, "%d turned away", busy);
	tap_is(with, busy, "with Retry-After");
}

/* What a peer who went away asked for is not done. */
static void
leavers(void)
{
	int fd[QUEUE];
	int64_t began;

	for (int i = 0; i < QUEUE; i++)
		fd[i] = later("/slow", "guess");
	tap_ok(child_stat("parked") > 0, "they wait");
	for (int i = 0; i < QUEUE; i++)
		close(fd[i]);
	tap_ok(child_stat_becomes("parked", 0, 3000), "they went away");
	began = fc_ms();
	tap_is(answer(later("/quick", "correct horse"), "ok after 2", NULL),
	    200, "the next");
	tap_ok(fc_ms() - began < 2000, "after %d ms", (int)(fc_ms() - began));
}

static void
end(pid_t pid)
{
	int fd[8], answered = 0, status;

	for (size_t i = 0; i < PF_COUNT(fd); i++)
		fd[i] = later("/slow", "guess");
	tap_ok(child_stat("parked") > 0, "they wait");
	kill(pid, SIGTERM);
	for (size_t i = 0; i < PF_COUNT(fd); i++) {
		status = answer(fd[i], NULL, NULL);
		answered += status == 200 || status == 503;
	}
	tap_is(answered, (int)PF_COUNT(fd), "all are answered at the stop");
	tap_is(child_wait_end(pid, 5000), 0, "an orderly end");
}

static void
refused(void)
{
	struct pf_password_pool_opts o = { .threads = 0 };
	struct pf_password_pool *p = NULL;

	tap_is(pf_password_pool_start(&o, &p), PF_E_INPUT, "no thread");
	o.threads = 17;
	tap_is(pf_password_pool_start(&o, &p), PF_E_INPUT, "17 of them");
	o.threads = 16;
	tap_is(pf_password_pool_start(&o, &p), PF_OK, "16");
	pf_password_pool_stop(p);
	pf_password_pool_stop(NULL);
}

int
main(void)
{
	pid_t pid;

	child_setup();
	child_opts.ops = &ops;
	pid = child_begin();
	answers();
	storm(true);
	leavers();
	end(pid);
	pool_threads = 4;
	pid = child_begin();
	storm(false);
	tap_is(child_end(pid), 0, "the end of four threads");
	refused();
	return child_teardown();
}
