#include "config.h"

#include "tools/poppyctl/http.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"

#define CONNECT_SECONDS	5L
#define TOTAL_SECONDS	15L
#define HEADER_MAX	16384u
#define POLICY		PF_LIT("content-security-policy")

struct ctl_http {
	CURL *curl;
	const char *ca;
};

struct exchange {
	struct pf_arena *arena;
	struct ctl_reply *reply;
	struct pf_buf body;
};

enum pf_rc
ctl_http_new(const char *ca, struct ctl_http **out)
{
	struct ctl_http *h;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
	    (h = calloc(1, sizeof(*h))) == NULL)
		return PF_E_MEM;
	h->ca = ca;
	if ((h->curl = curl_easy_init()) == NULL) {
		free(h);
		return PF_E_MEM;
	}
	*out = h;
	return PF_OK;
}

void
ctl_http_free(struct ctl_http *h)
{
	if (h == NULL)
		return;
	curl_easy_cleanup(h->curl);
	curl_global_cleanup();
	free(h);
}

static size_t
on_body(char *p, size_t size, size_t n, void *ctx)
{
	struct exchange *x = ctx;

	pf_buf_add(&x->body, pf_bytes(p, size * n));
	return x->body.failed ? 0 : size * n;
}

static size_t
on_header(char *p, size_t size, size_t n, void *ctx)
{
	struct exchange *x = ctx;
	const struct { struct pf_str name, *value; } wanted[] = {
		{ PF_LIT("content-type"), &x->reply->content_type },
		{ PF_LIT("www-authenticate"), &x->reply->challenge },
		{ PF_LIT("dpop-nonce"), &x->reply->nonce },
		{ PF_LIT("location"), &x->reply->location },
		{ POLICY, &x->reply->policy },
	};
	struct pf_str line = pf_bytes(p, size * n), name;
	size_t colon = pf_str_find(line, ':');

	while (line.n > 0 && (line.p[line.n - 1] == '\n' ||
	    line.p[line.n - 1] == '\r'))
		line.n--;
	name = pf_str_head(line, colon);
	x->reply->policies += pf_str_eq_nocase(name, POLICY);
	for (size_t i = 0; i < PF_COUNT(wanted); i++)
		if (pf_str_eq_nocase(name, wanted[i].name) &&
		    !pf_str_given(*wanted[i].value))
			*wanted[i].value = pf_arena_copy(x->arena,
			    pf_str_trim(pf_str_from(line, colon + 1)));
	return size * n;
}

/* NULL: no memory; what there was is freed. */
static struct curl_slist *
add(struct curl_slist *list, struct pf_arena *a, const char *name,
    struct pf_str value)
{
	struct curl_slist *more = NULL;
	struct pf_buf b;
	char *z;

	pf_buf_init(&b, a, HEADER_MAX);
	pf_buf_addz(&b, name);
	pf_buf_add(&b, value);
	z = b.failed ? NULL : pf_arena_z(a, pf_buf_str(&b));
	if (z == NULL || (more = curl_slist_append(list, z)) == NULL)
		curl_slist_free_all(list);
	return more;
}

static struct curl_slist *
header_list(struct pf_arena *a, const struct ctl_ask *ask)
{
	struct curl_slist *list;

	/* No "Expect: 100-continue": it costs a round trip or a second. */
	list = add(NULL, a, "Expect:", PF_LIT(""));
	if (list != NULL && pf_str_given(ask->authorization))
		list = add(list, a, "Authorization: ", ask->authorization);
	if (list != NULL && pf_str_given(ask->dpop))
		list = add(list, a, "DPoP: ", ask->dpop);
	if (list != NULL && pf_str_given(ask->cookie))
		list = add(list, a, "Cookie: ", ask->cookie);
	return list;
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
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl_easy_setopt(c, CURLOPT_TIMEOUT, TOTAL_SECONDS);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	/* htu is the URL as it is written: so it must go out. */
	curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "poppyctl/" PACKAGE_VERSION);
	if (ca != NULL)
		curl_easy_setopt(c, CURLOPT_CAINFO, ca);
}

static enum pf_rc
perform(CURL *c, struct exchange *x, const char *error)
{
	CURLcode code = curl_easy_perform(c);
	const char *hint = "";
	long status = 0;

	if (code == CURLE_OK) {
		(void)curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
		x->reply->status = (int)status;
		x->reply->body = pf_buf_str(&x->body);
		return PF_OK;
	}
	if (code == CURLE_PEER_FAILED_VERIFICATION ||
	    code == CURLE_SSL_CACERT_BADFILE)
		hint = "; a private authority is named with --ca";
	(void)snprintf(x->reply->why, sizeof(x->reply->why), "%s%s",
	    x->body.failed ? "the answer is longer than 1 MiB" :
	    error[0] != '\0' ? error : curl_easy_strerror(code), hint);
	return PF_E_UPSTREAM;
}

enum pf_rc
ctl_http_send(struct ctl_http *h, struct pf_arena *a,
    const struct ctl_ask *ask, struct ctl_reply *out)
{
	struct exchange x = { .arena = a, .reply = out };
	struct curl_slist *headers = header_list(a, ask);
	char *url = pf_arena_z(a, ask->url);
	char error[CURL_ERROR_SIZE] = "";
	CURL *c = h->curl;
	enum pf_rc rc;

	*out = (struct ctl_reply){ 0 };
	pf_buf_init(&x.body, a, CTL_HTTP_MAX);
	if (headers == NULL || url == NULL) {
		curl_slist_free_all(headers);
		(void)snprintf(out->why, sizeof(out->why), "no memory");
		return PF_E_MEM;
	}
	curl_easy_reset(c);	/* keeps connections */
	set_rules(c, h->ca);
	/* An empty body must be said, too: some servers want a length. */
	if (pf_str_given(ask->form) || strcmp(ask->method, "GET") != 0) {
		curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE,
		    (curl_off_t)ask->form.n);
		curl_easy_setopt(c, CURLOPT_POSTFIELDS,
		    ask->form.n != 0 ? ask->form.p : "");
	}
	curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, ask->method);
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, &x);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &x);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, error);
	rc = perform(c, &x, error);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, NULL);
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(headers);
	return rc;
}
