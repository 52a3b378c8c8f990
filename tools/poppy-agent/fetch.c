#include "config.h"

#include "tools/poppy-agent/fetch.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/web/url.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/fresh.h"
#include "tools/poppy-agent/http.h"
#include "tools/poppy-agent/wait.h"

#define REDIRECTS_MAX	5
#define DOC_MAX		(2u << 20)

const struct pf_json_limits ag_doc_limits = { DOC_MAX, 64, 200000 };

/* One fetch and what has been learned in it so far. */
struct fetch {
	struct pf_str url;		/* that was asked for */
	struct pf_str at;		/* where we are now */
	struct ag_doc *old;		/* what we have, or NULL */
	struct ag_reply reply;
	const char *rule_absent, *rule_redirect;
};

static bool
is_redirect(int status)
{
	return status == 301 || status == 302 || status == 303 ||
	    status == 307 || status == 308;
}

static void
show_reply(struct agent *ag, const struct ag_reply *rp)
{
	static const char *const told[] = {
		"content-type", "cache-control", "etag", "location",
		"retry-after"
	};

	ag_show_status(&ag->show, rp->status, NULL);
	for (size_t i = 0; i < PF_COUNT(told); i++) {
		struct pf_str v = ag_reply_field(rp, told[i], 0);

		if (pf_str_given(v))
			ag_show_received(&ag->show, pf_str(told[i]), v);
	}
}

static enum pf_rc
get(struct agent *ag, struct fetch *f)
{
	struct ag_field field[2] = {
		{ PF_LIT("Accept"), PF_LIT("application/json") },
	};
	struct ag_request rq = {
		.method = "GET", .url = f->at, .field = field, .nfields = 1,
		.body = PF_NOSTR, .max = DOC_MAX,
	};
	enum pf_rc rc;

	/* The ETag is that of the document at the end of the redirects. */
	if (f->old != NULL && f->old->etag.n > 0 &&
	    pf_str_eq(f->old->final_url, f->at))
		field[rq.nfields++] = (struct ag_field){
		    PF_LIT("If-None-Match"), f->old->etag };
	ag_show_request(&ag->show, "GET", f->at);
	for (size_t i = 0; i < rq.nfields; i++)
		ag_show_sent(&ag->show, field[i].name.p, field[i].value);
	if ((rc = ag_wait_before(ag, rq.method, rq.url)) != PF_OK ||
	    (rc = ag_http_send(ag, &rq, &f->reply)) != PF_OK)
		return rc;
	show_reply(ag, &f->reply);
	return PF_OK;
}

static enum pf_rc
follow(struct agent *ag, struct fetch *f)
{
	struct pf_str location = ag_reply_field(&f->reply, "location", 0);
	struct pf_str next;

	if (!pf_str_given(location) ||
	    ag_url_resolve(&ag->arena, f->at, location, &next) != PF_OK)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, f->rule_redirect,
		    "%d with a Location that can't be followed",
		    f->reply.status);
	if (!pf_url_is_https(next))
		return ag_fault(&ag->fault, PF_E_UPSTREAM, f->rule_redirect,
		    "a redirect to %.*s, which is not HTTPS", PF_STRF(next));
	f->at = next;
	return PF_OK;
}

static enum pf_rc
get_over_redirects(struct agent *ag, struct fetch *f)
{
	struct ag_patience patience = { 0 };
	bool again;
	enum pf_rc rc;

	for (int hops = 0;;) {
		if ((rc = get(ag, f)) != PF_OK)
			return rc;
		rc = ag_wait_after(ag, &patience, "GET", f->at, &f->reply,
		    &again);
		if (rc != PF_OK)
			return rc;
		if (again)
			continue;
		if (!is_redirect(f->reply.status))
			return PF_OK;
		if (++hops > REDIRECTS_MAX)
			return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL,
			    "more than %d redirects in a row", REDIRECTS_MAX);
		if ((rc = follow(ag, f)) != PF_OK)
			return rc;
	}
}

/* A copy of the document that can live in another state than it came from. */
struct keep { struct ag_doc doc; bool store; };

static enum pf_rc
keep_doc(struct agent *ag, void *arg)
{
	struct keep *k = arg;
	struct ag_doc **d = &ag->st.docs;

	while (*d != NULL)
		if (pf_str_eq((*d)->url, k->doc.url))
			*d = (*d)->next;
		else
			d = &(*d)->next;
	if (k->store) {
		k->doc.next = ag->st.docs;
		ag->st.docs = &k->doc;
	}
	return PF_OK;
}

static enum pf_rc
remember(struct agent *ag, const struct fetch *f, struct pf_str body)
{
	const struct ag_reply *rp = &f->reply;
	const struct ag_caching headers = {
		ag_reply_field(rp, "cache-control", 0),
		ag_reply_field(rp, "age", 0),
		ag_reply_field(rp, "expires", 0),
		ag_reply_field(rp, "date", 0),
	};
	int64_t now_at = pf_now_at();
	struct ag_fresh fresh = ag_fresh(&headers, now_at);
	struct keep *k = pf_arena_alloc(&ag->arena, sizeof(*k));

	if (k == NULL)
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no memory");
	k->doc.url = f->url;
	k->doc.final_url = f->at;
	k->doc.body = body;
	k->doc.etag = ag_reply_field(rp, "etag", 0);
	if (!pf_str_given(k->doc.etag) && rp->status == 304)
		k->doc.etag = f->old->etag;
	k->doc.fetched_at = now_at;
	k->doc.fresh_until_at = now_at + fresh.seconds;
	/* Neither fresh nor to be asked about by its ETag: of no use. */
	k->store = fresh.store && (fresh.seconds > 0 || k->doc.etag.n > 0);
	return ag_state_change(ag, keep_doc, k);
}

static enum pf_rc
parse(struct agent *ag, struct pf_str body, const char *rule,
    const struct pf_json **doc)
{
	struct pf_json_fault fault = { 0, "" };

	if (pf_json_parse(&ag->arena, body, &ag_doc_limits, doc, &fault) !=
	    PF_OK)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, rule,
		    "a body that is no strict JSON: %s at byte %zu", fault.why,
		    fault.at);
	return PF_OK;
}

static enum pf_rc
fetch_fresh(struct agent *ag, struct fetch *f, const struct pf_json **doc)
{
	struct pf_str body;
	enum pf_rc rc;

	if ((rc = get_over_redirects(ag, f)) != PF_OK)
		return rc;
	if (f->reply.status == 304 && f->old != NULL)
		body = f->old->body;
	else if (f->reply.status == 200)
		body = f->reply.body;
	else
		return ag_fault(&ag->fault, PF_E_UPSTREAM, f->rule_absent,
		    "status %d instead of the document", f->reply.status);
	/* What can't be read is not kept. */
	if ((rc = parse(ag, body, f->rule_absent, doc)) != PF_OK)
		return rc;
	return remember(ag, f, body);
}

enum pf_rc
ag_fetch(struct agent *ag, struct pf_str url, const char *rule_absent,
    const char *rule_redirect, const struct pf_json **doc, struct pf_str *at)
{
	struct fetch f = {
		.url = url, .at = url, .old = ag_state_doc(ag, url),
		.rule_absent = rule_absent, .rule_redirect = rule_redirect,
	};
	int64_t now_at = pf_now_at();
	enum pf_rc rc;

	if (f.old != NULL && !ag->opt.refresh && f.old->fetched_at <= now_at &&
	    f.old->fresh_until_at > now_at) {
		ag_fault_asked(&ag->fault, "GET", url);
		ag_show_note(&ag->show, "%.*s is in the cache, fresh for "
		    "another %lld s", PF_STRF(url),
		    (long long)(f.old->fresh_until_at - now_at));
		f.at = f.old->final_url;
		rc = parse(ag, f.old->body, rule_absent, doc);
	} else
		rc = fetch_fresh(ag, &f, doc);
	if (rc == PF_OK && at != NULL)
		*at = f.at;
	return rc;
}
