#include "config.h"

#include "tools/poppy-agent/http.h"

#include <curl/curl.h>
#include <string.h>

#include "core/base/buf.h"
#include "tools/poppy-agent/agent.h"

#define CONNECT_SECONDS	10L
#define TOTAL_SECONDS	40L
#define USER_AGENT	"poppy-agent/" PACKAGE_VERSION

struct ag_http {
	CURL *curl;
};

/* One exchange, as libcurl's callbacks see it. */
struct exchange {
	struct pf_arena *arena;
	struct ag_reply *reply;
	struct pf_buf body;
};

static void
close_http(void *arg)
{
	struct ag_http *h = arg;

	curl_easy_cleanup(h->curl);
	curl_global_cleanup();
}

enum pf_rc
ag_http_open(struct agent *ag)
{
	struct ag_http *h = pf_arena_alloc(&ag->arena, sizeof(*h));

	if (h == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return PF_E_MEM;
	if ((h->curl = curl_easy_init()) == NULL)
		return PF_E_MEM;
	ag->http = h;
	return PF_OK;
}

void
ag_http_close(struct agent *ag)
{
	if (ag->http != NULL)
		close_http(ag->http);
	ag->http = NULL;
}

static size_t
on_body(char *p, size_t size, size_t n, void *ctx)
{
	struct exchange *x = ctx;

	pf_buf_add(&x->body, pf_bytes(p, size * n));
	return x->body.failed ? 0 : size * n;
}

/* A line of the header; "HTTP/1.1 100 Continue" begins another one. */
static size_t
on_header(char *p, size_t size, size_t n, void *ctx)
{
	struct exchange *x = ctx;
	struct ag_reply *rp = x->reply;
	struct pf_str line = pf_bytes(p, size * n);
	size_t colon = pf_str_find(line, ':');

	while (line.n > 0 && (line.p[line.n - 1] == '\n' ||
	    line.p[line.n - 1] == '\r'))
		line.n--;
	if (pf_str_starts(line, PF_LIT("HTTP/")))
		rp->nfields = 0;
	else if (colon < line.n && rp->nfields < AG_FIELDS_MAX) {
		struct ag_field *f = &rp->field[rp->nfields++];

		f->name = pf_arena_copy(x->arena, pf_str_head(line, colon));
		f->value = pf_arena_copy(x->arena,
		    pf_str_trim(pf_str_from(line, colon + 1)));
	}
	return size * n;
}

static struct curl_slist *
header_list(struct agent *ag, const struct ag_request *rq)
{
	struct curl_slist *list, *more;
	struct pf_buf b;
	char *z;

	/* No "Expect: 100-continue": it costs a round trip or a second. */
	if ((list = curl_slist_append(NULL, "Expect:")) == NULL)
		return NULL;
	for (size_t i = 0; i < rq->nfields; i++) {
		pf_buf_init(&b, &ag->arena, 32768);
		pf_buf_add(&b, rq->field[i].name);
		pf_buf_addz(&b, ": ");
		pf_buf_add(&b, rq->field[i].value);
		z = b.failed ? NULL : pf_arena_z(&ag->arena, pf_buf_str(&b));
		if (z == NULL || (more = curl_slist_append(list, z)) == NULL) {
			curl_slist_free_all(list);
			return NULL;
		}
		list = more;
	}
	return list;
}

static void
set_method(CURL *c, const struct ag_request *rq)
{
	if (strcmp(rq->method, "HEAD") == 0) {
		curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
		return;
	}
	if (pf_str_given(rq->body)) {
		curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE,
		    (curl_off_t)rq->body.n);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS,
		    rq->body.n > 0 ? rq->body.p : "");
	} else if (strcmp(rq->method, "POST") == 0)
		curl_easy_setopt(c, CURLOPT_POSTFIELDS, "");
	curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, rq->method);
}

static void
set_rules(CURL *c, const char *ca)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "https");
#else
	curl_easy_setopt(c, CURLOPT_PROTOCOLS, CURLPROTO_HTTPS);
#endif
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(c, CURLOPT_TIMEOUT, TOTAL_SECONDS);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	/* htu is the URL as the agent wrote it: so it must go out. */
	curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(c, CURLOPT_USERAGENT, USER_AGENT);
	if (ca != NULL)
		curl_easy_setopt(c, CURLOPT_CAINFO, ca);
}

static enum pf_rc
perform(struct agent *ag, struct exchange *x, size_t max,
    const char *error)
{
	CURL *c = ag->http->curl;
	CURLcode code = curl_easy_perform(c);
	long status = 0;

	if (x->body.failed)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL,
		    "an answer longer than %zu bytes", max);
	if (code == CURLE_PEER_FAILED_VERIFICATION ||
	    code == CURLE_SSL_CACERT_BADFILE)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL,
		    "a certificate that can't be trusted (%s); a private CA "
		    "is named with --ca",
		    error[0] != '\0' ? error : curl_easy_strerror(code));
	if (code != CURLE_OK)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL,
		    "no answer: %s",
		    error[0] != '\0' ? error : curl_easy_strerror(code));
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	x->reply->status = (int)status;
	x->reply->body = pf_buf_str(&x->body);
	return PF_OK;
}

enum pf_rc
ag_http_send(struct agent *ag, const struct ag_request *rq,
    struct ag_reply *rp)
{
	CURL *c = ag->http->curl;
	struct exchange x = { .arena = &ag->arena, .reply = rp };
	struct curl_slist *headers = header_list(ag, rq);
	char *url = pf_arena_z(&ag->arena, rq->url);
	char error[CURL_ERROR_SIZE] = "";
	enum pf_rc rc;

	memset(rp, 0, sizeof(*rp));
	pf_buf_init(&x.body, &ag->arena, rq->max);
	ag_fault_asked(&ag->fault, rq->method, rq->url);
	if (headers == NULL || url == NULL) {
		curl_slist_free_all(headers);
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no memory");
	}
	curl_easy_reset(c);	/* keeps connections */
	set_rules(c, ag->opt.ca);
	set_method(c, rq);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, &x);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &x);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, error);
	rc = perform(ag, &x, rq->max, error);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, NULL);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(headers);
	return rc;
}

struct pf_str
ag_reply_field(const struct ag_reply *rp, const char *name, size_t i)
{
	for (size_t k = 0; k < rp->nfields; k++)
		if (pf_str_eq_nocase(rp->field[k].name, pf_str(name)) &&
		    i-- == 0)
			return rp->field[k].value;
	return PF_NOSTR;
}

enum pf_rc
ag_url_resolve(struct pf_arena *a, struct pf_str base, struct pf_str reference,
    struct pf_str *out)
{
	char *b = pf_arena_z(a, base), *r = pf_arena_z(a, reference);
	char *got = NULL;
	CURLU *u = curl_url();
	enum pf_rc rc = PF_E_INPUT;

	if (u != NULL && b != NULL && r != NULL &&
	    curl_url_set(u, CURLUPART_URL, b, 0) == CURLUE_OK &&
	    curl_url_set(u, CURLUPART_URL, r, 0) == CURLUE_OK &&
	    curl_url_get(u, CURLUPART_URL, &got, 0) == CURLUE_OK) {
		*out = pf_arena_copy(a, pf_str(got));
		rc = pf_str_given(*out) ? PF_OK : PF_E_MEM;
	}
	curl_free(got);
	curl_url_cleanup(u);
	return rc;
}
