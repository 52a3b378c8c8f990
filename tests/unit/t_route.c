#include "config.h"

#include "core/web/page.h"
#include "core/web/route.h"
#include "tests/unit/tap.h"

static struct pf_arena arena;
static const char *called;	/* the handler */
static unsigned asked;		/* the bits that needs() saw, and one more */
static enum pf_rc needs_rc;

#define HANDLER(name)							\
static enum pf_rc							\
name(struct pf_req *rq)							\
{									\
	called = #name;							\
	return pf_resp_empty(rq, 204);					\
}
HANDLER(root)
HANDLER(token)
HANDLER(list)
HANDLER(start)
HANDLER(messages)
HANDLER(event)
HANDLER(files)
HANDLER(well_known)
HANDLER(other_group)
HANDLER(four)

static const struct pf_route oauth[] = {
	{ PF_POST, "/token", PF_NEEDS_CLIENT, PF_FORM, 0, token },
};
static const struct pf_route oauth_more[] = {
	{ PF_GET, "/authorize", 0, PF_NONE, 0, other_group },
};
static const struct pf_route talk[] = {
	{ PF_GET, "", 0, PF_NONE, 0, list },
	{ PF_POST, "", PF_NEEDS_PROOF, PF_JSON, 10, start },
	{ PF_POST, "/{id}/messages", PF_NEEDS_PROOF, PF_JSON, 0, messages },
	{ PF_GET, "/{id}/events/{event}", 0, PF_NONE, 0, event },
	{ PF_GET, "/files/{path...}", 0, PF_NONE, 0, files },
	{ PF_OPTIONS, "/files/{path...}", 0, PF_NONE, 0, files },
	{ PF_GET, "/4/{a}/{b}/{c}/{d}", 0, PF_NONE, 0, four },
};
static const struct pf_route bare[] = {
	{ PF_GET, "/", 0, PF_NONE, 0, root },
	{ PF_GET, "/.well-known/poppy.json", 0, PF_NONE, 0, well_known },
	{ PF_GET, "/poppy/oauth/hidden", 0, PF_NONE, 0, well_known },
};

static const struct pf_routes g_oauth = { oauth, PF_COUNT(oauth) };
static const struct pf_routes g_more = { oauth_more, PF_COUNT(oauth_more) };
static const struct pf_routes g_talk = { talk, PF_COUNT(talk) };
static const struct pf_routes g_bare = { bare, PF_COUNT(bare) };
static const struct pf_mount mounts[] = {
	{ PF_LIT_INIT(""), &g_bare },
	{ PF_LIT_INIT("/poppy/oauth"), &g_oauth },
	{ PF_LIT_INIT("/poppy/oauth"), &g_more },
	{ PF_LIT_INIT("/poppy/talk"), &g_talk },
};

static enum pf_rc
needs(struct pf_req *rq, unsigned bits)
{
	(void)rq;
	asked = bits | 1u << 31;
	return needs_rc;
}

static struct pf_req
fresh(enum pf_method method, const char *path)
{
	struct pf_req rq = { 0 };

	pf_arena_reset(&arena);
	called = NULL;
	asked = 0;
	needs_rc = PF_OK;
	rq.arena = &arena;
	rq.method = method;
	rq.path = pf_str(path);
	rq.body = PF_LIT("");
	pf_resp_init(&rq);
	return rq;
}

static enum pf_rc
go(struct pf_req *rq)
{
	return pf_route_run(rq, mounts, PF_COUNT(mounts), needs);
}

static bool
has_line(struct pf_req *rq, const char *line)
{
	struct pf_str head = pf_buf_str(&rq->resp.head);

	return head.n > 0 &&
	    memmem(head.p, head.n, line, strlen(line)) != NULL;
}

static void
test_found(void)
{
	static const struct {
		enum pf_method method;
		const char *path, *want, *var[2];
	} row[] = {
		{ PF_GET, "/", "root", { NULL, NULL } },
		{ PF_HEAD, "/", "root", { NULL, NULL } },
		{ PF_POST, "/poppy/oauth/token", "token", { NULL, NULL } },
		{ PF_GET, "/poppy/oauth/authorize", "other_group",
		    { NULL, NULL } },
		{ PF_GET, "/poppy/talk", "list", { NULL, NULL } },
		{ PF_HEAD, "/poppy/talk", "list", { NULL, NULL } },
		{ PF_POST, "/poppy/talk", "start", { NULL, NULL } },
		{ PF_POST, "/poppy/talk/c1/messages", "messages",
		    { "c1", NULL } },
		{ PF_GET, "/poppy/talk/c%201/events/7;x", "event",
		    { "c%201", "7;x" } },
		{ PF_GET, "/poppy/talk/files/a", "files", { "a", NULL } },
		{ PF_GET, "/poppy/talk/files/a/b/c/", "files",
		    { "a/b/c/", NULL } },
		{ PF_OPTIONS, "/poppy/talk/files/a", "files", { "a", NULL } },
		{ PF_GET, "/poppy/talk/4/1/2/3/4", "four", { "1", "2" } },
		{ PF_GET, "/.well-known/poppy.json", "well_known",
		    { NULL, NULL } },
	};
	struct pf_req rq;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		rq = fresh(row[i].method, row[i].path);
		tap_is(go(&rq), PF_OK, "found: %s", row[i].path);
		tap_is_z(pf_str(called), row[i].want, "its handler");
		tap_ok(rq.route != NULL && asked != 0, "row and needs");
		tap_is_z(rq.var[0], row[i].var[0], "first variable");
		tap_is_z(rq.var[1], row[i].var[1], "second variable");
	}
}

static void
test_not_found(void)
{
	static const struct {
		enum pf_method method;
		const char *path;
		enum pf_err err;
	} row[] = {
		{ PF_GET, "/nothing", PF_NOT_FOUND },
		{ PF_GET, "/poppy", PF_NOT_FOUND },
		{ PF_GET, "/poppy/oauth", PF_NOT_FOUND },
		{ PF_POST, "/poppy/oauth/token/", PF_NOT_FOUND },
		{ PF_POST, "/poppy/oauth/Token", PF_NOT_FOUND },
		{ PF_POST, "/poppy/oauth/token;x", PF_NOT_FOUND },
		{ PF_POST, "/poppy/oauth/%74oken", PF_NOT_FOUND },
		{ PF_POST, "/poppy/oauth/token/x", PF_NOT_FOUND },
		{ PF_POST, "/poppy/oauthtoken", PF_NOT_FOUND },
		{ PF_POST, "/poppy/oauthxtoken", PF_NOT_FOUND },
		{ PF_GET, "/poppy/oauth/hidden", PF_NOT_FOUND },
		{ PF_GET, "/poppy/talks", PF_NOT_FOUND },
		{ PF_GET, "/poppy/talk/", PF_NOT_FOUND },
		{ PF_POST, "/poppy/talk/a/b/messages", PF_NOT_FOUND },
		{ PF_GET, "/poppy/talk/files", PF_NOT_FOUND },
		{ PF_GET, "/poppy/talk/files/", PF_NOT_FOUND },
		{ PF_GET, "/poppy/talk/{id}/events", PF_NOT_FOUND },
		{ PF_GET, "/poppy//talk", PF_INVALID_REQUEST },
		{ PF_GET, "//poppy/talk", PF_INVALID_REQUEST },
		{ PF_GET, "/x/../poppy/talk", PF_INVALID_REQUEST },
		{ PF_GET, "/x/%2e%2E/poppy/talk", PF_INVALID_REQUEST },
		{ PF_GET, "/poppy%2Ftalk", PF_INVALID_REQUEST },
		{ PF_GET, "/poppy%5ctalk", PF_INVALID_REQUEST },
		{ PF_GET, "/poppy/talk/files/%00", PF_INVALID_REQUEST },
		{ PF_GET, "/poppy/talk/files/../x", PF_INVALID_REQUEST },
		{ PF_GET, "", PF_INVALID_REQUEST },
		{ PF_OPTIONS, "*", PF_INVALID_REQUEST },
		{ PF_GET, "http://h.example/poppy/talk", PF_INVALID_REQUEST },
	};
	struct pf_req rq;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		rq = fresh(row[i].method, row[i].path);
		tap_is(go(&rq), pf_err_info(row[i].err)->rc, "refused: %s",
		    row[i].path);
		tap_is(rq.err, row[i].err, "by its error");
		tap_ok(called == NULL && asked == 0, "and nobody is asked");
	}
}

static void
test_methods(void)
{
	static const struct {
		enum pf_method method;
		const char *path, *allow;
	} row[] = {
		{ PF_GET, "/poppy/oauth/token", "Allow: POST, OPTIONS\r\n" },
		{ PF_HEAD, "/poppy/oauth/token", "Allow: POST, OPTIONS\r\n" },
		{ PF_METHOD_OTHER, "/poppy/oauth/token",
		    "Allow: POST, OPTIONS\r\n" },
		{ PF_DELETE, "/poppy/talk",
		    "Allow: GET, HEAD, POST, OPTIONS\r\n" },
		{ PF_PUT, "/poppy/talk/files/x",
		    "Allow: GET, HEAD, OPTIONS\r\n" },
	};
	struct pf_req rq;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		rq = fresh(row[i].method, row[i].path);
		tap_is(go(&rq), PF_E_INPUT, "no such method: %s", row[i].path);
		tap_is(rq.err, PF_METHOD_NOT_ALLOWED, "405");
		pf_fail_reply(&rq, PF_E_INPUT);
		tap_ok(rq.resp.status == 405 && has_line(&rq, row[i].allow),
		    "with %.*s", (int)strlen(row[i].allow) - 2, row[i].allow);
		tap_ok(called == NULL && asked == 0, "and nobody is asked");
	}
	rq = fresh(PF_OPTIONS, "/poppy/talk");
	tap_is(go(&rq), PF_OK, "OPTIONS is answered");
	tap_ok(rq.resp.status == 204 &&
	    has_line(&rq, "Allow: GET, HEAD, POST, OPTIONS\r\n"), "with Allow");
	tap_ok(called == NULL && asked == 0, "by the table alone");
	rq = fresh(PF_OPTIONS, "/nothing");
	tap_is(go(&rq), PF_E_ABSENT, "OPTIONS of nothing is 404");
}

static void
test_bodies(void)
{
	static const struct {
		const char *path, *type, *body;
		enum pf_err err;
	} row[] = {
		{ "/poppy/talk", "application/json", "{}", PF_ERR_NONE },
		{ "/poppy/talk", "Application/JSON ; charset=utf-8", "{}",
		    PF_ERR_NONE },
		{ "/poppy/talk", "application/json;x", "0123456789",
		    PF_ERR_NONE },
		{ "/poppy/talk", NULL, "", PF_ERR_NONE },
		{ "/poppy/talk", "application/json", "", PF_ERR_NONE },
		{ "/poppy/oauth/token",
		    "application/x-www-form-urlencoded", "a=b", PF_ERR_NONE },
		{ "/poppy/talk", "application/json", "01234567890",
		    PF_TOO_LARGE },
		{ "/poppy/talk", "text/plain", "01234567890", PF_TOO_LARGE },
		{ "/poppy/talk", NULL, "{}", PF_UNSUPPORTED_MEDIA_TYPE },
		{ "/poppy/talk", "", "{}", PF_UNSUPPORTED_MEDIA_TYPE },
		{ "/poppy/talk", "text/plain", "", PF_UNSUPPORTED_MEDIA_TYPE },
		{ "/poppy/talk", "application/json5", "{}",
		    PF_UNSUPPORTED_MEDIA_TYPE },
		{ "/poppy/talk", "application/jso", "{}",
		    PF_UNSUPPORTED_MEDIA_TYPE },
		{ "/poppy/talk", "text/plain; application/json", "{}",
		    PF_UNSUPPORTED_MEDIA_TYPE },
		{ "/poppy/talk", "text/plain, application/json", "{}",
		    PF_UNSUPPORTED_MEDIA_TYPE },
		{ "/poppy/talk", "application/x-www-form-urlencoded", "{}",
		    PF_UNSUPPORTED_MEDIA_TYPE },
		{ "/poppy/oauth/token", "application/json", "{}",
		    PF_UNSUPPORTED_MEDIA_TYPE },
		{ "/poppy/oauth/token", "multipart/form-data; boundary=x",
		    "a=b", PF_UNSUPPORTED_MEDIA_TYPE },
	};
	struct pf_req rq;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		rq = fresh(PF_POST, row[i].path);
		rq.content_type = pf_str(row[i].type);
		rq.body = pf_str(row[i].body);
		tap_is(go(&rq), row[i].err == PF_ERR_NONE ? PF_OK :
		    PF_E_INPUT, "body %zu", i);
		tap_is(rq.err, row[i].err, "by its error");
		tap_is(called != NULL, row[i].err == PF_ERR_NONE, "handler");
	}
}

static void
test_size(void)
{
	static char text[(64u << 10) + 1];
	struct pf_req rq = fresh(PF_POST, "/poppy/oauth/token");

	rq.content_type = PF_LIT("application/x-www-form-urlencoded");
	rq.body = pf_bytes(text, sizeof(text) - 1);
	tap_is(go(&rq), PF_OK, "64 KiB");
	rq.body = pf_bytes(text, sizeof(text));
	tap_is(go(&rq), PF_E_INPUT, "one byte more");
	tap_is(rq.err, PF_TOO_LARGE, "is 413");
}

static void
test_needs(void)
{
	struct pf_req rq = fresh(PF_POST, "/poppy/talk/c1/messages");

	rq.body = PF_LIT("{}");
	rq.content_type = PF_LIT("application/json");
	needs_rc = PF_E_AUTH;
	tap_is(go(&rq), PF_E_AUTH, "needs may refuse");
	tap_is(asked, PF_NEEDS_PROOF | 1u << 31, "it sees the row's bits");
	tap_ok(called == NULL, "the handler is not reached");
	needs_rc = PF_PARKED;
	tap_is(go(&rq), PF_PARKED, "or park");
	tap_ok(called == NULL, "the handler is not reached");
	tap_is(pf_route_run(&rq, mounts, PF_COUNT(mounts), NULL), PF_OK,
	    "without needs");
	tap_is(pf_route_run(&rq, mounts, 0, NULL), PF_E_ABSENT, "no mounts");
}

static void
test_page(void)
{
	static const char *const lines[] = {
		"Content-Type: text/html; charset=utf-8\r\n",
		"X-Frame-Options: DENY\r\n", "Referrer-Policy: same-origin\r\n",
		"X-Content-Type-Options: nosniff\r\n",
		"Cache-Control: no-store\r\n", "frame-ancestors 'none'",
		"default-src 'none'", "base-uri 'none'",
	};
	struct pf_req rq = fresh(PF_GET, "/");
	struct pf_buf b;

	pf_buf_init(&b, &arena, 4096);
	pf_html(&b, PF_LIT("a&b<script>\"x\"='y'</script>\xc3\xa9&amp;"));
	tap_is_z(pf_buf_str(&b), "a&amp;b&lt;script&gt;&quot;x&quot;=&#39;y"
	    "&#39;&lt;/script&gt;\xc3\xa9&amp;amp;", "escaped");
	pf_html(&b, PF_LIT(""));
	tap_is(pf_page_send(&rq, 400, PF_LIT("<p>x</p>"), NULL), PF_OK,
	    "a page");
	tap_is(rq.resp.status, 400, "its status");
	for (size_t i = 0; i < PF_COUNT(lines); i++)
		tap_ok(has_line(&rq, lines[i]), "header %zu", i);
	tap_ok(!has_line(&rq, "unsafe"), "no inline script or style");
}

int
main(void)
{
	tap_need(pf_arena_init(&arena, 16384, 1 << 20) == PF_OK, "an arena");
	test_found();
	test_not_found();
	test_methods();
	test_bodies();
	test_size();
	test_needs();
	test_page();
	pf_arena_free(&arena);
	return tap_done();
}
