#include "config.h"

#include "tools/poppy-agent/headless.h"

#include <string.h>

#include "core/base/clock.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/chromium.h"
#include "tools/poppy-agent/process.h"

#define LOAD_MS		30000
#define READ_MS		5000
#define SCRIPT_MAX	65536
#define KEPT_MAX	4096

/* What the browser's events tell of the one navigation that counts. */
struct trip {
	struct agent *ag;
	struct ag_chromium chromium;
	struct pf_str endpoint;
	char url[KEPT_MAX], failed[128], request[128];
	int64_t status;
	bool joined, landed, loaded;
};

static void
keep(char *to, size_t size, struct pf_str s)
{
	size_t n = s.n < size - 1 ? s.n : size - 1;

	if (n > 0)
		memcpy(to, s.p, n);
	to[n] = '\0';
}

/* Of the document, not of what it loads; frames have requests of their own but
 * come after it. */
static bool
is_document(const struct trip *t, const struct pf_json *params)
{
	struct pf_str type, id;

	return !t->landed && pf_json_str(params, "type", &type) == PF_OK &&
	    pf_str_eqz(type, "Document") &&
	    pf_json_str(params, "requestId", &id) == PF_OK &&
	    (t->request[0] == '\0' || pf_str_eqz(id, t->request));
}

static void
on_request(struct trip *t, const struct pf_json *params)
{
	const struct pf_json *from;
	struct pf_str id, url;
	int64_t status;

	if (!is_document(t, params) ||
	    pf_json_str(params, "requestId", &id) != PF_OK)
		return;
	keep(t->request, sizeof(t->request), id);
	if (pf_json_obj(params, "redirectResponse", &from) == PF_OK &&
	    pf_json_int(from, "status", &status) == PF_OK &&
	    pf_json_str(from, "url", &url) == PF_OK)
		t->joined = t->joined || (status == 303 &&
		    pf_str_eq(url, t->endpoint));
}

static void
on_response(struct trip *t, const struct pf_json *params)
{
	const struct pf_json *rp;

	if (is_document(t, params) &&
	    pf_json_obj(params, "response", &rp) == PF_OK)
		(void)!pf_json_int(rp, "status", &t->status);
}

static void
on_failed(struct trip *t, const struct pf_json *params)
{
	struct pf_str why;

	if (is_document(t, params) &&
	    pf_json_str(params, "errorText", &why) == PF_OK)
		keep(t->failed, sizeof(t->failed), why);
}

static void
on_navigated(struct trip *t, const struct pf_json *params)
{
	const struct pf_json *frame;
	struct pf_str url;

	if (pf_json_obj(params, "frame", &frame) != PF_OK ||
	    pf_json_has(frame, "parentId") ||
	    pf_json_str(frame, "url", &url) != PF_OK ||
	    pf_str_eqz(url, "about:blank"))
		return;
	if (t->landed)
		return;		/* it goes on by itself */
	keep(t->url, sizeof(t->url), url);
	t->landed = true;
}

static void
on_event(void *arg, struct pf_str method, const struct pf_json *params)
{
	struct trip *t = arg;

	if (pf_str_eqz(method, "Network.requestWillBeSent"))
		on_request(t, params);
	else if (pf_str_eqz(method, "Network.responseReceived"))
		on_response(t, params);
	else if (pf_str_eqz(method, "Network.loadingFailed"))
		on_failed(t, params);
	else if (pf_str_eqz(method, "Page.frameNavigated"))
		on_navigated(t, params);
	else if (pf_str_eqz(method, "Page.loadEventFired"))
		t->loaded = t->landed;
	else if (pf_str_eqz(method, "Inspector.targetCrashed"))
		keep(t->failed, sizeof(t->failed), PF_LIT("the page crashed"));
	else if (pf_str_eqz(method, "Page.javascriptDialogOpening"))
		/* A page that asks something waits for no one. */
		(void)!ag_devtools_send(&t->chromium.tools,
		    "Page.handleJavaScriptDialog",
		    PF_LIT("{\"accept\":false}"));
}

static enum pf_rc
evaluate(struct trip *t, struct pf_str script, int64_t until_ms,
    const struct pf_json **value)
{
	const struct pf_json *result, *o;
	struct pf_str params;
	struct pf_buf b;
	struct pf_jw w;
	enum pf_rc rc;

	pf_buf_init(&b, &t->ag->arena, 2 * SCRIPT_MAX);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "expression", script);
	pf_jw_bool(&w, "returnByValue", true);
	pf_jw_close(&w, '}');
	if ((rc = pf_buf_done(&b, &params)) != PF_OK ||
	    (rc = ag_devtools_call(&t->chromium.tools, "Runtime.evaluate",
	    params, until_ms, &result)) != PF_OK ||
	    (rc = pf_json_obj(result, "result", &o)) != PF_OK)
		return rc;
	return value == NULL ? PF_OK : pf_json_obj(o, "value", value);
}

/* The form is posted by an empty page, as a navigation of the whole window. */
static enum pf_rc
post(struct trip *t, struct pf_str assertion, int64_t until_ms)
{
	struct pf_buf b;
	struct pf_str script;
	enum pf_rc rc;

	pf_buf_init(&b, &t->ag->arena, SCRIPT_MAX);
	pf_buf_addz(&b, "{const f=document.createElement('form'),"
	    "i=document.createElement('input');f.method='post';f.action=");
	pf_json_quote(&b, t->endpoint);
	pf_buf_addz(&b, ";i.type='hidden';i.name='assertion';i.value=");
	pf_json_quote(&b, assertion);
	pf_buf_addz(&b, ";f.append(i);document.body.append(f);f.submit();0}");
	if ((rc = pf_buf_done(&b, &script)) != PF_OK)
		return rc;
	return evaluate(t, script, until_ms, NULL);
}

static enum pf_rc
ride(struct trip *t, struct pf_str assertion)
{
	int64_t until_ms = pf_mono_ms() + LOAD_MS, id;
	const struct pf_json *msg;
	enum pf_rc rc;

	t->chromium.tools.on_event = on_event;
	t->chromium.tools.arg = t;
	rc = post(t, assertion, until_ms);
	while (rc == PF_OK && !t->loaded && t->failed[0] == '\0')
		rc = ag_devtools_next(&t->chromium.tools, until_ms, &id, &msg);
	if (ag_process_stopped())
		return ag_fault(&t->ag->fault, PF_E_CONFLICT, NULL,
		    "interrupted");
	if (t->failed[0] != '\0')
		return ag_fault(&t->ag->fault, PF_E_UPSTREAM, NULL,
		    "the browser could not open it: %s", t->failed);
	if (rc == PF_E_ABSENT && t->landed) {
		ag_show_note(&t->ag->show, "the page was still loading after "
		    "%d seconds", LOAD_MS / 1000);
		return PF_OK;
	}
	return rc == PF_OK ? PF_OK : ag_fault(&t->ag->fault, PF_E_UPSTREAM,
	    NULL, rc == PF_E_ABSENT ? "no page came within %d seconds" :
	    "the browser has ended (of %d seconds that it had)",
	    LOAD_MS / 1000);
}

/* Title and text as the page shows them: any text, of any page. */
static void
read_page(struct trip *t, struct pf_str *text)
{
	static const char script[] =
	    "(()=>{const w=(s)=>{s=String(s).slice(0,1e6).replace(/\\0/g,'');"
	    "return s.toWellFormed?s.toWellFormed():s};return{"
	    "title:w(document.title),"
	    "text:w(document.body?document.body.innerText:'')}})()";
	struct pf_arena *a = &t->ag->arena;
	const struct pf_json *v;
	struct pf_str s;

	if (evaluate(t, pf_str(script), pf_mono_ms() + READ_MS, &v) != PF_OK) {
		ag_show_note(&t->ag->show, "the page can't be read");
		return;
	}
	if (pf_json_str(v, "title", &s) == PF_OK)
		ag_show_fact(&t->ag->show, "title", s);
	if (!t->ag->opt.text || pf_json_str(v, "text", &s) != PF_OK)
		return;
	*text = pf_str(pf_arena_z(a, s));
	if (t->ag->show.json)
		ag_show_fact(&t->ag->show, "text", *text);
}

static enum pf_rc
judge(struct trip *t)
{
	struct ag_fault *f = &t->ag->fault;

	if (!t->joined)
		return ag_fault(f, PF_E_UPSTREAM, "R-5-13",
		    "the browser has not joined: no 303 of the endpoint, but "
		    "status %d", (int)t->status);
	if (t->status < 200 || t->status >= 400)
		return ag_fault(f, PF_E_UPSTREAM, NULL,
		    "the browser has joined, but the page's status is %d",
		    (int)t->status);
	return PF_OK;
}

enum pf_rc
ag_headless(struct agent *ag, const struct ag_joining *j, struct pf_str *text)
{
	struct trip *t = pf_arena_alloc(&ag->arena, sizeof(*t));
	struct pf_str assertion;
	enum pf_rc rc;

	*text = PF_NOSTR;
	if (t == NULL)
		return PF_E_MEM;
	memset(t, 0, sizeof(*t));
	t->ag = ag;
	t->endpoint = j->company->browser_endpoint;
	if ((rc = ag_chromium_start(ag, &t->chromium)) == PF_OK &&
	    (rc = ag_browser_assert(ag, j, &assertion)) == PF_OK &&
	    (rc = ride(t, assertion)) == PF_OK) {
		ag_show_fact(&ag->show, "URL", pf_str(t->url));
		ag_show_fact_int(&ag->show, "status", t->status);
		read_page(t, text);
		rc = judge(t);
	}
	ag_chromium_stop(&t->chromium);
	return rc;
}
