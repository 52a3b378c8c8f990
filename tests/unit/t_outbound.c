#include "config.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/web/outbound.h"
#include "tests/unit/tap.h"
#include "tests/unit/tls_server.h"

/*
 * The names of this test. It answers in the place of the system's
 * getaddrinfo(), also for libcurl, and counts: nobody but our resolver may ask.
 */
static const struct { const char *name, *first, *second; int ms; } names[] = {
	{ "good.test", "127.0.0.1", NULL, 0 },
	{ "two.good.test", "127.0.0.1", NULL, 0 },
	{ "three.good.test", "127.0.0.1", NULL, 0 },
	{ "other.test", "127.0.0.1", NULL, 0 },
	{ "inner.good.test", "10.0.0.1", NULL, 0 },
	{ "both.good.test", "127.0.0.1", "10.0.0.1", 0 },
	{ "mapped.good.test", "::ffff:127.0.0.1", NULL, 0 },
	{ "slow.good.test", "127.0.0.1", NULL, 2500 },
	{ "late.good.test", "127.0.0.1", NULL, 150 },
	{ "none.good.test", NULL, NULL, 0 },
};
static atomic_uint asked;

typedef int resolve_fn(const char *, const char *, const struct addrinfo *,
    struct addrinfo **);

/* An address in standard form, as the list that freeaddrinfo() can free. */
static int
numeric(const char *text, struct addrinfo **out)
{
	static resolve_fn *system_one;
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST,
	    .ai_socktype = SOCK_STREAM };
	void *sym = dlsym(RTLD_NEXT, "getaddrinfo");

	memcpy(&system_one, &sym, sizeof(sym));
	return system_one(text, NULL, &hints, out);
}

int
getaddrinfo(const char *node, const char *service,
    const struct addrinfo *hints, struct addrinfo **out)
{
	int err;

	(void)service;
	(void)hints;
	atomic_fetch_add(&asked, 1);
	for (size_t i = 0; i < PF_COUNT(names); i++) {
		if (strcmp(names[i].name, node) != 0)
			continue;
		usleep((useconds_t)names[i].ms * 1000);
		if (names[i].first == NULL)
			return EAI_NONAME;
		err = numeric(names[i].first, out);
		if (err == 0 && names[i].second != NULL)
			err = numeric(names[i].second, &(*out)->ai_next);
		return err;
	}
	return numeric(node, out);
}

struct got {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int calls;
	enum pf_outbound_fault fault;
	int status;
	char why[128], type[128], cache[600], body[4096];
	size_t nbody;
};

static struct pf_outbound *out;
static struct tls_server good, bad;
static char dir[] = "/tmp/t_outbound.XXXXXX";
static char ca_file[64];

static void
keep(char *to, size_t cap, struct pf_str s)
{
	size_t n = s.n < cap ? s.n : cap - 1;

	if (n > 0)
		memcpy(to, s.p, n);
	to[n] = '\0';
}

static void
got_init(struct got *g)
{
	memset(g, 0, sizeof(*g));
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->cond, NULL);
}

static void
on_done(void *ctx, const struct pf_outbound_reply *reply)
{
	struct got *g = ctx;

	pthread_mutex_lock(&g->lock);
	g->calls++;
	g->fault = reply->fault;
	g->status = reply->status;
	keep(g->why, sizeof(g->why), pf_str(reply->why));
	keep(g->type, sizeof(g->type), reply->content_type);
	keep(g->cache, sizeof(g->cache), reply->cache_control);
	keep(g->body, sizeof(g->body), reply->body);
	g->nbody = reply->body.n;
	pthread_cond_signal(&g->cond);
	pthread_mutex_unlock(&g->lock);
}

static void
got_wait(struct got *g)
{
	pthread_mutex_lock(&g->lock);
	while (g->calls == 0)
		pthread_cond_wait(&g->cond, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

static enum pf_rc
ask(struct got *g, const char *host, int port, const char *path, size_t max,
    int timeout_ms)
{
	char url[512];
	struct pf_outbound_get get = { .max_bytes = max,
	    .timeout_ms = timeout_ms, .accept = "application/json" };

	got_init(g);
	snprintf(url, sizeof(url), "https://%s:%d%s", host, port, path);
	get.url = pf_str(url);
	return pf_outbound_fetch(out, &get, on_done, g);
}

static void
fetch(struct got *g, const char *host, const char *path, size_t max,
    int timeout_ms)
{
	tap_is(ask(g, host, good.port, path, max, timeout_ms), PF_OK,
	    "begun: %s", host);
	got_wait(g);
}

static void
fetch_url(struct got *g, const char *url)
{
	struct pf_outbound_get get = { .url = pf_str(url), .max_bytes = 100,
	    .timeout_ms = 5000 };

	got_init(g);
	tap_is(pf_outbound_fetch(out, &get, on_done, g), PF_OK, "begun: %s",
	    url);
	got_wait(g);
}

static void
start(unsigned inflight, unsigned per_host, bool loopback)
{
	static const struct pf_str any[] = { PF_LIT_INIT("*") };
	static const struct pf_str nets[] = { PF_LIT_INIT("127.0.0.0/8") };
	struct pf_outbound_opts o = { .max_inflight = inflight,
	    .max_per_host = per_host, .ports = { any, 1 },
	    .extra_ca = pf_str(ca_file) };

	if (loopback)
		o.allow_nets = (struct pf_strs){ nets, 1 };
	tap_need(pf_outbound_start(&o, &out) == PF_OK, "outbound");
}

static void
test_answers(void)
{
	static const struct {
		const char *path;
		int status;
		const char *type, *cache, *body;
	} row[] = {
		{ "/ok", 200, "application/json; charset=utf-8",
		    "public, max-age=60", "{ } " },
		{ "/chunked", 200, "text/plain", NULL, "abcde" },
		{ "/empty", 204, "", "", "" },
		{ "/404", 404, "", "", "no" },
		{ "/302", 302, "", "", "" },
		{ "/308", 308, "", "", "" },
		{ "/hints", 200, "a/b", "late", "x" },
		{ "/gzip", 200, "a/b", "", "abc" },
		{ "/ok", 200, "application/json; charset=utf-8",
		    "public, max-age=60", "{ } " },
	};
	unsigned before = *good.connections;
	struct got g;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		fetch(&g, "good.test", row[i].path, 5, 5000);
		tap_is(g.fault, PF_OUT_OK, "%s: complete (%s)", row[i].path,
		    g.why);
		tap_is(g.status, row[i].status, "status");
		tap_is_z(pf_str(g.type), row[i].type, "type");
		if (row[i].cache != NULL)
			tap_is_z(pf_str(g.cache), row[i].cache, "caching");
		tap_is_z(pf_str(g.body), row[i].body, "body");
	}
	tap_is(*good.connections - before, PF_COUNT(row),
	    "one connection each: none is kept, no redirect is followed");
}

static void
test_request(void)
{
	struct got g;

	fetch(&g, "GOOD.test", "/a/../%2e/echo", 4096, 5000);
	tap_ok(strncmp(g.body, "GET /a/../%2e/echo HTTP/1.1\r\n", 29) == 0,
	    "the path goes out as it was written");
	tap_ok(strstr(g.body, "User-Agent: poppy-fcgi\r\n") != NULL,
	    "user agent");
	tap_ok(strstr(g.body, "Accept: application/json\r\n") != NULL,
	    "accept");
	tap_ok(strstr(g.body, "ookie") == NULL &&
	    strstr(g.body, "uthorization") == NULL &&
	    strstr(g.body, "Encoding") == NULL, "nothing else is said");
}

static void
test_faults(void)
{
	static const struct {
		const char *host, *path;
		enum pf_outbound_fault fault;
	} row[] = {
		{ "good.test", "/endless", PF_OUT_TOO_LARGE },
		{ "good.test", "/headers", PF_OUT_TOO_LARGE },
		{ "good.test", "/claims", PF_OUT_TOO_LARGE },
		{ "good.test", "/short", PF_OUT_NETWORK },
		{ "good.test", "/badchunk", PF_OUT_NETWORK },
		{ "good.test", "/garbage", PF_OUT_NETWORK },
		{ "good.test", "/nothing", PF_OUT_NETWORK },
		{ "none.good.test", "/ok", PF_OUT_NETWORK },
		{ "other.test", "/ok", PF_OUT_NETWORK },
		{ "inner.good.test", "/ok", PF_OUT_REFUSED },
		{ "both.good.test", "/ok", PF_OUT_REFUSED },
		{ "mapped.good.test", "/ok", PF_OUT_REFUSED },
		{ "[::1]", "/ok", PF_OUT_REFUSED },
		{ "[::ffff:127.0.0.1]", "/ok", PF_OUT_REFUSED },
		{ "10.0.0.1", "/ok", PF_OUT_REFUSED },
		{ "2130706433", "/ok", PF_OUT_REFUSED },
		{ "0x7f.1", "/ok", PF_OUT_REFUSED },
		{ "017700000001", "/ok", PF_OUT_REFUSED },
		{ "127.0.0.1.", "/ok", PF_OUT_REFUSED },
		{ "good.test.", "/ok", PF_OUT_REFUSED },
		{ "u:p@good.test", "/ok", PF_OUT_REFUSED },
		{ "good.test", "/ok#f", PF_OUT_REFUSED },
		{ "good.test", "/ok\r\nX: y", PF_OUT_REFUSED },
	};
	struct got g;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		fetch(&g, row[i].host, row[i].path, 4000, 5000);
		tap_is(g.fault, row[i].fault, "%s: %s", row[i].host, g.why);
		tap_ok(g.status == 0 && g.nbody == 0, "and nothing of it");
	}
	tap_is(ask(&g, "good.test", bad.port, "/ok", 100, 5000), PF_OK,
	    "begun: a certificate that nobody signed");
	got_wait(&g);
	tap_is(g.fault, PF_OUT_NETWORK, "not trusted: %s", g.why);
	fetch_url(&g, "http://good.test/ok");
	tap_is(g.fault, PF_OUT_REFUSED, "http: %s", g.why);
	fetch_url(&g, "");
	tap_is(g.fault, PF_OUT_REFUSED, "no URL: %s", g.why);
	fetch_url(&g, "file:///etc/passwd");
	tap_is(g.fault, PF_OUT_REFUSED, "a file: %s", g.why);
	fetch(&g, "127.0.0.1", "/ok", 100, 5000);
	tap_ok(g.fault == PF_OUT_OK && g.status == 200,
	    "an allowed address as the host (%s)", g.why);
}

static void
test_cap(void)
{
	struct got g;

	fetch(&g, "good.test", "/ok", 4, 5000);
	tap_is(g.fault, PF_OUT_OK, "just fits");
	fetch(&g, "good.test", "/ok", 3, 5000);
	tap_is(g.fault, PF_OUT_TOO_LARGE, "one byte too many");
	fetch(&g, "good.test", "/chunked", 4, 5000);
	tap_is(g.fault, PF_OUT_TOO_LARGE, "also without a length");
}

static void
test_time(void)
{
	static const char *const path[] = { "/silent", "/drip" };
	int64_t began;
	struct got g, h;

	for (size_t i = 0; i < PF_COUNT(path); i++) {
		began = pf_mono_ms();
		fetch(&g, "good.test", path[i], 4000, 400);
		tap_is(g.fault, PF_OUT_TIMEOUT, "%s: %s", path[i], g.why);
		tap_ok(pf_mono_ms() - began < 2000, "in time");
	}
	tap_is(ask(&g, "slow.good.test", good.port, "/ok", 99, 400), PF_OK,
	    "begun: a name server that is slow");
	began = pf_mono_ms();
	fetch(&h, "good.test", "/ok", 99, 5000);
	tap_is(h.fault, PF_OUT_OK, "others don't wait for it");
	got_wait(&g);
	tap_is(g.fault, PF_OUT_TIMEOUT, "slow name: %s", g.why);
	tap_ok(pf_mono_ms() - began < 2000, "in time");
	fetch(&g, "late.good.test", "/hold", 99, 500);
	tap_is(g.fault, PF_OUT_TIMEOUT, "resolving counts too");
}

static void
test_limits(void)
{
	struct got g[4], extra;

	for (int i = 0; i < 2; i++)
		tap_is(ask(&g[i], "good.test", good.port, "/hold", 9, 5000),
		    PF_OK, "two at a host");
	tap_is(ask(&extra, "Good.test", good.port, "/ok", 9, 5000), PF_E_BUSY,
	    "a third is too many");
	tap_is(ask(&extra, "good.test", bad.port, "/ok", 9, 5000), PF_E_BUSY,
	    "also at another port");
	tap_is(ask(&g[2], "two.good.test", good.port, "/hold", 9, 5000),
	    PF_OK, "another host");
	tap_is(ask(&g[3], "three.good.test", good.port, "/hold", 9, 5000),
	    PF_OK, "and one more");
	tap_is(ask(&extra, "late.good.test", good.port, "/ok", 9, 5000),
	    PF_E_BUSY, "four are all");
	for (int i = 0; i < 4; i++) {
		got_wait(&g[i]);
		tap_is(g[i].fault, PF_OUT_OK, "each is answered");
	}
	tap_is(extra.calls, 0, "what was not begun is not answered");
	fetch(&extra, "good.test", "/ok", 9, 5000);
	tap_is(extra.fault, PF_OUT_OK, "the places are free again");
}

static struct got chained;

/* The next document is asked for as the first comes: its place is free. */
static void
chain(void *ctx, const struct pf_outbound_reply *reply)
{
	struct got *g = ctx;

	if (reply->fault != PF_OUT_OK ||
	    ask(&chained, "good.test", good.port, "/404", 9, 5000) != PF_OK)
		on_done(&chained, reply);
	on_done(g, reply);
}

static void
test_chain(void)
{
	struct pf_outbound_get get = { .max_bytes = 99, .timeout_ms = 5000 };
	struct got g;
	char url[64];

	pf_outbound_stop(out);
	start(1, 1, true);
	got_init(&g);
	snprintf(url, sizeof(url), "https://good.test:%d/ok", good.port);
	get.url = pf_str(url);
	tap_is(pf_outbound_fetch(out, &get, chain, &g), PF_OK, "begun");
	memset(url, 'x', sizeof(url));
	got_wait(&g);
	tap_is(g.status, 200, "the first");
	got_wait(&chained);
	tap_is(chained.status, 404, "and from its answer the second");
}

static void
test_stop(void)
{
	static const char *const host[] = {
		"good.test", "two.good.test", "slow.good.test",
		"three.good.test",
	};
	static const char *const path[] = {
		"/silent", "/drip", "/ok", "/hold",
	};
	struct got g[4];
	int64_t began;

	pf_outbound_stop(out);
	start(4, 2, true);
	for (int i = 0; i < 4; i++)
		tap_is(ask(&g[i], host[i], good.port, path[i], 999, 9000),
		    PF_OK, "under way: %s", host[i]);
	usleep(200000);
	began = pf_mono_ms();
	pf_outbound_stop(out);
	tap_ok(pf_mono_ms() - began < 1000, "stops at once");
	for (int i = 0; i < 4; i++) {
		tap_is(g[i].calls, 1, "answered once: %s", host[i]);
		tap_is(g[i].fault, PF_OUT_NETWORK, "by: %s", g[i].why);
	}
	start(4, 2, true);
	tap_is(ask(&g[0], "good.test", good.port, "/ok", 9, 9000), PF_OK,
	    "begun just before the end");
	pf_outbound_stop(out);
	tap_is(g[0].calls, 1, "answered once");
}

static void
test_refused_by_default(void)
{
	unsigned before = *good.connections;
	struct got g;

	start(4, 2, false);
	fetch(&g, "good.test", "/ok", 99, 5000);
	tap_is(g.fault, PF_OUT_REFUSED, "loopback: %s", g.why);
	fetch(&g, "127.0.0.1", "/ok", 99, 5000);
	tap_is(g.fault, PF_OUT_REFUSED, "loopback as the host: %s", g.why);
	tap_is(*good.connections, before, "and nobody connected");
	pf_outbound_stop(out);
}

static void
test_bad_settings(void)
{
	static const struct pf_str net[] = { PF_LIT_INIT("127.0.0.1") };
	static const struct pf_str port[] = { PF_LIT_INIT("0") };
	struct pf_outbound_opts o = { .max_inflight = 1, .max_per_host = 1 };
	struct got g;

	tap_is(pf_outbound_start(&o, &out), PF_OK, "443 alone");
	fetch_url(&g, "https://good.test:8443/ok");
	tap_is(g.fault, PF_OUT_REFUSED, "another port");
	tap_is_z(pf_str(g.why), "the port is not allowed", "says so");
	pf_outbound_stop(out);
	o.max_inflight = 0;
	tap_is(pf_outbound_start(&o, &out), PF_E_INPUT, "none in flight");
	o.max_inflight = 1;
	o.allow_nets = (struct pf_strs){ net, 1 };
	tap_is(pf_outbound_start(&o, &out), PF_E_INPUT, "no network");
	o.allow_nets.n = 0;
	o.ports = (struct pf_strs){ port, 1 };
	tap_is(pf_outbound_start(&o, &out), PF_E_INPUT, "no port");
	o.ports.n = 0;
	o.extra_ca = PF_LIT("/nowhere/ca.pem");
	tap_is(pf_outbound_start(&o, &out), PF_E_INPUT, "no such file");
	tap_ok(out == NULL, "and nothing to stop");
	pf_outbound_stop(out);
}

static void
set_up(void)
{
	char cert[64], key[64];

	tap_need(mkdtemp(dir) != NULL && tls_server_certificates(dir),
	    "certificates by openssl");
	snprintf(ca_file, sizeof(ca_file), "%s/ca.pem", dir);
	snprintf(cert, sizeof(cert), "%s/good.pem", dir);
	snprintf(key, sizeof(key), "%s/good.key", dir);
	tap_need(tls_server_start(cert, key, &good), "a server");
	snprintf(cert, sizeof(cert), "%s/bad.pem", dir);
	snprintf(key, sizeof(key), "%s/bad.key", dir);
	tap_need(tls_server_start(cert, key, &bad), "another server");
	/* Whoever listened to these would never reach the server. */
	setenv("https_proxy", "http://127.0.0.1:1", 1);
	setenv("HTTPS_PROXY", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
}

static void
clean_up(void)
{
	char command[128];

	tls_server_stop(&good);
	tls_server_stop(&bad);
	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	tap_need(system(command) == 0, "to clean up");
}

int
main(void)
{
	struct got g;

	set_up();
	start(4, 2, true);
	fetch(&g, "good.test", "/ok", 99, 5000);
	tap_is(g.fault, PF_OUT_OK, "a first fetch (%s)", g.why);
	tap_is(atomic_load(&asked), 1, "the name is resolved once, by us");
	test_answers();
	test_request();
	test_faults();
	test_cap();
	test_time();
	test_limits();
	test_chain();
	test_stop();
	test_refused_by_default();
	test_bad_settings();
	clean_up();
	return tap_done();
}
