/* The runtime as a web server meets it: requests, good and bad. */
#include "config.h"

#include "tests/unit/serve_child.h"

static void
get_is(const char *why, const struct fc_ask *a, int status, const char *body)
{
	struct fc_reply r;

	tap_is(fc_get(child_path, a, &r, 5000), status, "%s: status", why);
	if (body != NULL)
		tap_is_z(fc_body(&r), body, "%s: body", why);
	fc_reply_free(&r);
}

static void
plain(void)
{
	get_is("hello", &(struct fc_ask){ .uri = "/hello" }, 200, "hello");
	get_is("HEAD", &(struct fc_ask){ .uri = "/hello", .method = "HEAD" },
	    200, "");
	get_is("POST", &(struct fc_ask){ .uri = "/echo", .method = "POST",
	    .body = PF_LIT("a=b") }, 200, "a=b");
	get_is("variables", &(struct fc_ask){ .uri = "/env?q=1&r",
	    .name = "HTTP_DPOP", .value = "proof" }, 200,
	    "GET|/env|q=1&r|shop.example||proof");
	get_is("POPPY_HOST wins", &(struct fc_ask){ .uri = "/env",
	    .name = "POPPY_HOST", .value = "front.example" }, 200,
	    "GET|/env||front.example||");
	get_is("after a rewrite", &(struct fc_ask){ .uri = "/env",
	    .name = "REDIRECT_HTTP_AUTHORIZATION", .value = "DPoP t" }, 200,
	    "GET|/env||shop.example|DPoP t|");
	get_is("404", &(struct fc_ask){ .uri = "/none" }, 404, NULL);
	get_is("a handler without a reply",
	    &(struct fc_ask){ .uri = "/silent" }, 500, NULL);
	get_is("no database", &(struct fc_ask){ .uri = "/busy" }, 503, NULL);
}

static void
refused_with_400(void)
{
	get_is("a header twice", &(struct fc_ask){ .uri = "/env",
	    .name = "HTTP_HOST", .value = "evil.example" }, 400, NULL);
	get_is("the URI twice", &(struct fc_ask){ .uri = "/env",
	    .name = "REQUEST_URI", .value = "/hello" }, 400, NULL);
	get_is("body longer than announced", &(struct fc_ask){
	    .uri = "/echo", .method = "POST", .body = PF_LIT("abc"),
	    .length = "2" }, 400, NULL);
	get_is("length is no number", &(struct fc_ask){ .uri = "/echo",
	    .length = "0x0" }, 400, NULL);
}

/* What the web server has lost is sent once more: it is no fault of the client. */
static void
lost_on_the_way(void)
{
	const struct pf_str bodies[] = { PF_LIT(""), PF_LIT("abc") };
	struct fc_reply r;

	for (size_t i = 0; i < PF_COUNT(bodies); i++) {
		tap_is(fc_get(child_path, &(struct fc_ask){ .uri = "/echo",
		    .method = "POST", .body = bodies[i], .length = "4" }, &r,
		    5000), 503, "%zu of 4 bytes: status", bodies[i].n);
		tap_ok(r.p != NULL && strstr(r.p, "\r\nRetry-After: 1\r\n") !=
		    NULL, "%zu of 4 bytes: when to come again", bodies[i].n);
		fc_reply_free(&r);
	}
}

static void
kept_connection(void)
{
	struct fc m = { 0 };
	struct fc_reply r;
	int fd = fc_connect(child_path), good = 0;
	char tail;

	for (int i = 0; i < 50; i++) {
		m.n = 0;
		fc_request(&m, &(struct fc_ask){ .uri = "/echo", .keep = true,
		    .method = "POST", .body = PF_LIT("ping") });
		(void)fc_send(fd, m.p, m.n, 1000);
		fc_read(fd, &r, 3000);
		good += fc_status(&r) == 200 &&
		    pf_str_eqz(fc_body(&r), "ping");
		fc_reply_free(&r);
	}
	tap_is(good, 50, "50 requests on one kept connection");
	m.n = 0;
	fc_request(&m, &(struct fc_ask){ .uri = "/env", .keep = true,
	    .name = "HTTP_HOST", .value = "x" });
	(void)fc_send(fd, m.p, m.n, 1000);
	fc_read(fd, &r, 3000);
	tap_is(fc_status(&r), 400, "a refused one on it");
	fc_reply_free(&r);
	m.n = 0;
	fc_request(&m, &(struct fc_ask){ .uri = "/hello" });
	(void)fc_send(fd, m.p, m.n, 1000);
	fc_read(fd, &r, 3000);
	tap_is(fc_status(&r), 200, "and a last one that isn't kept");
	tap_ok(recv(fd, &tail, 1, 0) == 0, "closed after it");
	fc_reply_free(&r);
	fc_free(&m);
	close(fd);
}

static void
pieces(void)
{
	struct fc m = { 0 };
	struct fc_reply r;
	int fd = fc_connect(child_path);

	fc_request(&m, &(struct fc_ask){ .uri = "/echo", .method = "POST",
	    .body = PF_LIT("byte by byte") });
	for (size_t i = 0; i < m.n; i++) {
		/* The socket must not fill up with what is only looked at. */
		(void)fc_send(fd, m.p + i, 1, 1000);
		if (i % 64 == 0)
			fc_sleep(1);
	}
	fc_read(fd, &r, 3000);
	tap_is(fc_status(&r), 200, "byte by byte");
	tap_is_z(fc_body(&r), "byte by byte", "its body");
	fc_reply_free(&r);
	fc_free(&m);
	close(fd);
}

/* Send bytes; true if the connection is closed without a reply. */
static bool
is_closed(const struct fc *m, int ms)
{
	int fd = fc_connect(child_path);
	struct pollfd pfd = { fd, POLLIN, 0 };
	char b[64];
	bool closed;

	(void)fc_send(fd, m->p, m->n, 1000);
	closed = poll(&pfd, 1, ms) == 1 && recv(fd, b, sizeof(b), 0) <= 0;
	close(fd);
	return closed;
}

static void
garbage(void)
{
	static const struct pf_str text[] = {
		PF_LIT_INIT("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
		PF_LIT_INIT("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
		PF_LIT_INIT("\x01\x01\x00\x01\x00\x08\x00\x00\x00\x03......"),
	};
	struct fc m = { 0 };

	for (size_t i = 0; i < PF_COUNT(text); i++) {
		m.n = 0;
		fc_raw(&m, text[i].p, text[i].n);
		tap_ok(is_closed(&m, 3000), "garbage %zu is closed", i);
	}
	m.n = 0;
	fc_request(&m, &(struct fc_ask){ .uri = "/hello",
	    .role = FC_AUTHORIZER });
	tap_ok(is_closed(&m, 3000), "another role is closed");
	m.n = 0;
	fc_request(&m, &(struct fc_ask){ .uri = "/hello" });
	fc_request(&m, &(struct fc_ask){ .uri = "/hello" });
	tap_ok(is_closed(&m, 3000), "two requests at once are closed");
	m.n = 0;
	fc_record(&m, 9, 0, "\x0e\x00" "FCGI_MAX_CONNS", 16, 0);
	tap_ok(is_closed(&m, 3000), "a management record is closed");
	fc_free(&m);
}

static void
body_of(const char *why, size_t n, int status, bool keep)
{
	char *p = malloc(n);
	struct fc_reply r;
	struct fc_ask a = { .uri = "/echo", .method = "POST", .keep = keep };

	memset(p, 'b', n);
	p[n - 1] = 'e';
	a.body = pf_bytes(p, n);
	tap_is(fc_get(child_path, &a, &r, 8000), status, "%s: status", why);
	if (status == 200)
		tap_ok(pf_str_eq(fc_body(&r), a.body), "%s: came back", why);
	fc_reply_free(&r);
	free(p);
}

static void
sizes(void)
{
	char *big = malloc(70001);
	struct fc_reply r;
	struct fc_ask a = { .uri = "/hello", .name = "HTTP_X", .value = big };

	body_of("just below the gate", 16000, 200, false);
	body_of("about the gate", 16384, 200, false);
	body_of("17 KiB", 17 << 10, 200, false);
	body_of("1 MiB", 1 << 20, 200, false);
	body_of("one byte more", (1 << 20) + 1, 413, false);
	body_of("3 MiB", 3 << 20, 413, false);
	body_of("3 MiB, kept", 3 << 20, 413, true);
	memset(big, 'h', 70000);
	big[60000] = '\0';
	tap_is(fc_get(child_path, &a, &r, 5000), 200, "60,000 bytes of header");
	fc_reply_free(&r);
	big[60000] = 'h';
	big[70000] = '\0';
	tap_is(fc_get(child_path, &a, &r, 5000), 431, "70,000 bytes of header");
	fc_reply_free(&r);
	free(big);
}

/* After a body that was too large the kept connection goes on. */
static void
kept_after_413(void)
{
	size_t n = 2 << 20;
	char *p = calloc(1, n);
	struct fc m = { 0 };
	struct fc_reply r;
	int fd = fc_connect(child_path);

	fc_request(&m, &(struct fc_ask){ .uri = "/echo", .keep = true,
	    .method = "POST", .body = pf_bytes(p, n) });
	tap_ok(fc_send(fd, m.p, m.n, 3000), "all of a 2 MiB body is taken");
	fc_read(fd, &r, 3000);
	tap_is(fc_status(&r), 413, "and answered 413");
	fc_reply_free(&r);
	m.n = 0;
	fc_request(&m, &(struct fc_ask){ .uri = "/hello", .keep = true });
	(void)fc_send(fd, m.p, m.n, 1000);
	fc_read(fd, &r, 3000);
	tap_is(fc_status(&r), 200, "the next one on the connection is served");
	fc_reply_free(&r);
	fc_free(&m);
	free(p);
	close(fd);
}

static void
big_replies(void)
{
	static const struct { const char *uri; size_t n; } big[] = {
		{ "/big?65400", 65400 }, { "/big?65535", 65535 },
		{ "/big?200000", 200000 }, { "/big?3145728", 3145728 },
		{ "/big?4194304", 4194304 },
	};
	struct fc_reply r;

	for (size_t i = 0; i < PF_COUNT(big); i++) {
		tap_is(fc_get(child_path, &(struct fc_ask){ .uri =
		    big[i].uri }, &r, 8000), 200, "%s: status", big[i].uri);
		tap_is((long long)fc_body(&r).n, (long long)big[i].n,
		    "%s: length", big[i].uri);
		fc_reply_free(&r);
	}
	get_is("over the reply's limit", &(struct fc_ask){
	    .uri = "/big?4194305" }, 500, NULL);
}

/* No secret is in any line; long path segments go by their length. */
static void
log_lines(void)
{
	char text[65536] = "";
	FILE *f;
	size_t n;

	get_is("a secret here and there", &(struct fc_ask){
	    .uri = "/cart/Secret-Secret-Secret-Secret-Secret?t=Secret-Query",
	    .name = "HTTP_AUTHORIZATION", .value = "DPoP Secret-Token" },
	    404, NULL);
	fc_sleep(100);
	f = fopen(child_log_path(), "r");
	tap_need(f != NULL, "the child's log");
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	tap_ok(strstr(text, "\"path\":\"/cart/{34}\"") != NULL,
	    "the line of the request is there");
	tap_ok(strstr(text, "\"remote\":\"192.0.2.7\"") != NULL,
	    "with the address");
	tap_ok(strstr(text, "Secret") == NULL, "and without its secrets");
}

int
main(void)
{
	pid_t pid;

	child_setup();
	pid = child_begin();
	plain();
	refused_with_400();
	lost_on_the_way();
	log_lines();
	kept_connection();
	pieces();
	garbage();
	sizes();
	kept_after_413();
	big_replies();
	tap_is(child_stat("started"), 1, "start() was called once");
	tap_is(child_end(pid), 0, "orderly end");
	return child_teardown();
}
