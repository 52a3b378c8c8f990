/*
 * poppy-browser: the browser of a Personal Agent joins a Session, and gets a
 * cookie that stands for it (section 5).
 *
 * One endpoint, and one page for whatever fails: who asks learns nothing from
 * it but that it failed. Why is in the log and in the audit.
 */
#include "fcgi/browser/browser.h"

#define FORM_MAX	(16u << 10)

static struct pf_str
listen_at(const struct pf_settings *s)
{
	return s->listen.browser;
}

static int64_t
workers(const struct pf_settings *s)
{
	return s->workers.browser;
}

static const struct pf_route rows[] = {
	{ PF_POST, "", PF_NEEDS_NOTHING, PF_FORM, FORM_MAX, browser_join },
};
static const struct pf_routes routes = { rows, PF_COUNT(rows) };

static enum pf_rc
build(struct pf_app *app)
{
	struct pf_conf_fault fault = { 0 };
	struct browser *own;
	enum pf_rc rc;

	if ((own = pf_arena_alloc(&app->arena, sizeof(*own))) == NULL)
		return PF_E_MEM;
	own->mount = (struct pf_mount){ app->set.mounts.browser, &routes };
	app->own = own;
	rc = pf_pages_load(&app->arena, &app->set, &fault, &own->pages);
	if (rc == PF_E_INPUT)
		pf_app_complain(app, &fault);
	return rc;
}

static enum pf_rc
needs(struct pf_req *rq, unsigned bits)
{
	(void)rq;
	return bits == 0 ? PF_OK : PF_E_BUG;
}

/* No script has any business here, so OPTIONS is refused like the rest. */
static enum pf_rc
handle(struct pf_req *rq)
{
	const struct browser *own = browser_of(rq);

	if (pf_str_eq(rq->path, own->mount.path) && rq->method != PF_POST)
		return pf_fail(rq, PF_METHOD_NOT_ALLOWED,
		    "only POST works here");
	return pf_route_run(rq, &own->mount, 1, needs);
}

/* What is not said to be something else is 400 (section 5). */
static int
status_of(const struct pf_req *rq)
{
	switch (rq->resp.status) {
	case 404:
	case 405:
	case 429:
	case 500:
	case 503:
		return rq->resp.status;
	default:
		return 400;
	}
}

static enum pf_rc
send_page(struct pf_req *rq, int status)
{
	const struct pf_pages *pages = browser_of(rq)->pages;
	const bool wait = status == 429, busy = status >= 500;
	const struct pf_var v[] = {
		PF_VAR("error", wait ? PF_LIT("rate_limited") :
		    busy ? PF_LIT("unavailable") : PF_LIT("join_failed")),
		PF_VAR_IF("wait", wait),
		PF_VAR_IF("busy", busy),
	};
	const struct pf_page page = {
		.id = PF_PAGE_JOIN_FAILED, .status = status,
		.lang = pf_langs_pick(&pages->langs, rq->accept_language),
		.v = v, .n = PF_COUNT(v),
	};

	pf_resp_reset(rq);
	if (status == 405)
		pf_resp_header(rq, "Allow", PF_LIT("POST"));
	if (rq->retry_after > 0)
		pf_resp_headerf(rq, "Retry-After", "%d", rq->retry_after);
	return pf_pages_send(rq, pages, &page);
}

static void
replied(struct pf_req *rq, enum pf_rc rc)
{
	int status;

	if (rc == PF_OK)
		return;
	status = status_of(rq);
	if (send_page(rq, status) == PF_OK)
		return;
	/* No memory for a page: the status alone must do. */
	pf_resp_reset(rq);
	rq->resp.status = status;
	rq->resp.body = PF_LIT("");
}

static const struct pf_program program = {
	.name = "poppy-browser",
	.role = "poppy_browser",
	.fcgi = PF_RESPONDER,
	.fetches = true,
	.listen = listen_at,
	.workers = workers,
	.build = build,
	.handle = handle,
	.replied = replied,
};

int
main(int argc, char **argv)
{
	return pf_program_main(&program, argc, argv);
}
