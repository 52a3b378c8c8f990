/*
 * outbound - see outbound.h. One thread drives libcurl; a fetch is looked up,
 * judged, transferred and answered there, and its place is free again before
 * its answer is given, so that done() may ask for the next document.
 */
#include "config.h"

#include <netinet/in.h>

#include <curl/curl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/web/outbound_in.h"
#include "core/web/url.h"

#define URL_MAX		2048
#define HOST_MAX	255
#define ADDRS_MAX	8		/* tried; all are judged */
#define HEAD_MAX	(16u << 10)
#define INFLIGHT_MAX	1024

struct fetch {
	struct fetch *next;
	struct pf_outbound *o;
	void (*done)(void *ctx, const struct pf_outbound_reply *reply);
	void *ctx;
	const char *refused;		/* why, before anything was asked */
	char url[URL_MAX + 1];
	char host[HOST_MAX + 1];	/* lower-cased, without brackets */
	int port;
	bool literal;			/* the host is an address */
	const char *accept;
	size_t max_bytes;
	int64_t deadline_ms;		/* pf_mono_ms() */

	struct pf_lookup *lookup;
	struct sockaddr_storage addr[ADDRS_MAX];
	size_t naddrs;

	CURL *easy;
	CURLSH *names;			/* its own: pins nothing for others */
	struct curl_slist *pins, *headers;
	enum pf_outbound_fault fault;	/* of a callback that ended it */
	char *body;
	size_t body_n, body_size, head_n;
	char cache_control[512];
	size_t cache_control_n;
};

struct pf_outbound {
	CURLM *multi;
	struct pf_resolver *resolver;
	struct pf_policy policy;
	pthread_t thread;
	char *ca;
	size_t ca_n;
	unsigned max_inflight, max_per_host;

	struct fetch *live;		/* the thread's own */

	pthread_mutex_t lock;		/* for what follows */
	struct fetch *arrived;
	struct fetch **place;		/* max_inflight of them, or NULL */
	bool stopping;
};

/* --- callbacks of a transfer --- */

static size_t
on_body(char *p, size_t size, size_t n, void *arg)
{
	struct fetch *f = arg;
	size_t want;
	char *more;

	(void)size;			/* always 1 */
	if (n > f->max_bytes - f->body_n) {
		f->fault = PF_OUT_TOO_LARGE;
		return CURL_WRITEFUNC_ERROR;
	}
	if (n > f->body_size - f->body_n) {
		want = f->body_n + n + f->body_size;
		if (want > f->max_bytes)
			want = f->max_bytes;
		if ((more = realloc(f->body, want)) == NULL)
			return CURL_WRITEFUNC_ERROR;
		f->body = more;
		f->body_size = want;
	}
	memcpy(f->body + f->body_n, p, n);
	f->body_n += n;
	return n;
}

/* What does not fit is left out whole: a directive is never cut. */
static void
join_cache_control(struct fetch *f, struct pf_str v)
{
	size_t comma = f->cache_control_n > 0 ? 2 : 0;

	if (v.n + comma > sizeof(f->cache_control) - f->cache_control_n)
		return;
	memcpy(f->cache_control + f->cache_control_n, ", ", comma);
	f->cache_control_n += comma;
	memcpy(f->cache_control + f->cache_control_n, v.p, v.n);
	f->cache_control_n += v.n;
}

static size_t
on_header(char *p, size_t size, size_t n, void *arg)
{
	static const struct pf_str name = PF_LIT_INIT("cache-control:");
	struct fetch *f = arg;
	struct pf_str line = { p, n };

	(void)size;
	f->head_n += n;
	if (f->head_n > HEAD_MAX) {
		f->fault = PF_OUT_TOO_LARGE;
		return 0;
	}
	/* A new block of headers: what came before was an interim answer. */
	if (pf_str_starts(line, PF_LIT("HTTP/")))
		f->cache_control_n = 0;
	while (line.n > 0 && (line.p[line.n - 1] == '\n' ||
	    line.p[line.n - 1] == '\r'))
		line.n--;
	if (pf_str_eq_nocase(pf_str_head(line, name.n), name))
		join_cache_control(f, pf_str_trim(pf_str_from(line, name.n)));
	return n;
}

static bool
same_address(const struct sockaddr *a, const struct sockaddr *b)
{
	struct sockaddr_in a4, b4;
	struct sockaddr_in6 a6, b6;

	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET) {
		memcpy(&a4, a, sizeof(a4));
		memcpy(&b4, b, sizeof(b4));
		return a4.sin_addr.s_addr == b4.sin_addr.s_addr;
	}
	memcpy(&a6, a, sizeof(a6));
	memcpy(&b6, b, sizeof(b6));
	return memcmp(&a6.sin6_addr, &b6.sin6_addr,
	    sizeof(a6.sin6_addr)) == 0;
}

/*
 * The second wall: whatever libcurl makes of the URL, it connects to an address
 * that was judged for this fetch, or to none.
 */
static curl_socket_t
on_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct fetch *f = arg;

	(void)purpose;
	for (size_t i = 0; i < f->naddrs; i++)
		if (same_address((const struct sockaddr *)&f->addr[i],
		    &to->addr))
			return socket(to->family, to->socktype | SOCK_CLOEXEC,
			    to->protocol);
	f->fault = PF_OUT_REFUSED;
	return CURL_SOCKET_BAD;
}

/* --- the way of one fetch --- */

static void
fetch_free(struct fetch *f)
{
	if (f->easy != NULL) {
		curl_multi_remove_handle(f->o->multi, f->easy);
		curl_easy_cleanup(f->easy);
	}
	if (f->names != NULL)
		curl_share_cleanup(f->names);
	curl_slist_free_all(f->pins);
	curl_slist_free_all(f->headers);
	pf_resolver_drop(f->o->resolver, f->lookup);
	free(f->body);
	free(f);
}

static void
leave(struct pf_outbound *o, struct fetch *f)
{
	struct fetch **at;

	for (at = &o->live; *at != f; at = &(*at)->next)
		;
	*at = f->next;
	pthread_mutex_lock(&o->lock);
	for (unsigned i = 0; i < o->max_inflight; i++)
		if (o->place[i] == f)
			o->place[i] = NULL;
	pthread_mutex_unlock(&o->lock);
}

static void
finish(struct fetch *f, enum pf_outbound_fault fault, const char *why)
{
	struct pf_outbound_reply reply = { .fault = fault, .why = why };
	char *type = NULL;
	long status = 0;

	leave(f->o, f);
	if (fault == PF_OUT_OK) {
		curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
		curl_easy_getinfo(f->easy, CURLINFO_CONTENT_TYPE, &type);
		reply.status = (int)status;
		reply.content_type = pf_str(type);
		reply.cache_control = pf_bytes(f->cache_control,
		    f->cache_control_n);
		reply.body = f->body_n > 0 ? pf_bytes(f->body, f->body_n) :
		    PF_LIT("");
	}
	f->done(f->ctx, &reply);
	fetch_free(f);
}

/* "host:port:address,address" for CURLOPT_RESOLVE. */
static bool
pin(struct fetch *f)
{
	char text[HOST_MAX + 16 + ADDRS_MAX * (INET6_ADDRSTRLEN + 1)];
	char one[INET6_ADDRSTRLEN];
	size_t n;

	n = (size_t)snprintf(text, sizeof(text), "%s:%d:", f->host, f->port);
	for (size_t i = 0; i < f->naddrs; i++) {
		if (getnameinfo((const struct sockaddr *)&f->addr[i],
		    sizeof(f->addr[i]), one, sizeof(one), NULL, 0,
		    NI_NUMERICHOST) != 0)
			return false;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
		    i > 0 ? "," : "", one);
	}
	f->pins = curl_slist_append(NULL, text);
	return f->pins != NULL;
}

static bool
put_headers(struct fetch *f)
{
	char accept[256];

	if (f->accept == NULL)
		return true;
	snprintf(accept, sizeof(accept), "Accept: %s", f->accept);
	f->headers = curl_slist_append(NULL, accept);
	return f->headers != NULL;
}

static const struct { CURLoption opt; long value; } numbers[] = {
	{ CURLOPT_FOLLOWLOCATION, 0 },
	{ CURLOPT_DISALLOW_USERNAME_IN_URL, 1 },
	{ CURLOPT_SSL_VERIFYPEER, 1 },
	{ CURLOPT_SSL_VERIFYHOST, 2 },
	{ CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 },
	/* A kept connection would go to what an earlier fetch was judged by. */
	{ CURLOPT_FRESH_CONNECT, 1 },
	{ CURLOPT_FORBID_REUSE, 1 },
	{ CURLOPT_NOSIGNAL, 1 },
	{ CURLOPT_HTTPGET, 1 },
	{ CURLOPT_PATH_AS_IS, 1 },
};

static const struct { CURLoption opt; const char *value; } texts[] = {
	{ CURLOPT_PROTOCOLS_STR, "https" },
	{ CURLOPT_PROXY, "" },		/* none of the environment's */
	/*
	 * Without a directory libcurl keeps the parsed bundle between fetches.
	 */
	{ CURLOPT_CAPATH, NULL },
	{ CURLOPT_USERAGENT, "poppy-fcgi" },
};

/* What is the same for every fetch. */
static bool
set_constants(CURL *e)
{
	for (size_t i = 0; i < PF_COUNT(numbers); i++)
		if (curl_easy_setopt(e, numbers[i].opt, numbers[i].value) !=
		    CURLE_OK)
			return false;
	for (size_t i = 0; i < PF_COUNT(texts); i++)
		if (curl_easy_setopt(e, texts[i].opt, texts[i].value) !=
		    CURLE_OK)
			return false;
	return true;
}

/* Each by its own macro, so that the compiler checks its type. */
static bool
set_own(struct fetch *f, CURL *e, int64_t left_ms)
{
	struct curl_blob ca = { f->o->ca, f->o->ca_n, CURL_BLOB_NOCOPY };
	CURLcode bad = CURLE_OK;

	bad |= curl_easy_setopt(e, CURLOPT_URL, f->url);
	bad |= curl_easy_setopt(e, CURLOPT_SHARE, f->names);
	if (!f->literal)
		bad |= curl_easy_setopt(e, CURLOPT_RESOLVE, f->pins);
	if (f->o->ca != NULL)
		bad |= curl_easy_setopt(e, CURLOPT_CAINFO_BLOB, &ca);
	bad |= curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_socket);
	bad |= curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, f);
	bad |= curl_easy_setopt(e, CURLOPT_HTTPHEADER, f->headers);
	bad |= curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)left_ms);
	bad |= curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)left_ms);
	/* Of an announced length; on_body() counts what really comes. */
	bad |= curl_easy_setopt(e, CURLOPT_MAXFILESIZE_LARGE,
	    (curl_off_t)f->max_bytes);
	bad |= curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body);
	bad |= curl_easy_setopt(e, CURLOPT_WRITEDATA, f);
	bad |= curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header);
	bad |= curl_easy_setopt(e, CURLOPT_HEADERDATA, f);
	bad |= curl_easy_setopt(e, CURLOPT_PRIVATE, f);
	return bad == CURLE_OK;
}

static bool
begin_transfer(struct fetch *f, int64_t left_ms)
{
	CURL *e;

	if (!pin(f) || !put_headers(f) ||
	    (f->names = curl_share_init()) == NULL ||
	    curl_share_setopt(f->names, CURLSHOPT_SHARE,
	    CURL_LOCK_DATA_DNS) != CURLSHE_OK ||
	    (e = curl_easy_init()) == NULL)
		return false;
	f->easy = e;
	return set_constants(e) && set_own(f, e, left_ms) &&
	    curl_multi_add_handle(f->o->multi, e) == CURLM_OK;
}

/* Keep the addresses to try. One that is refused refuses all. */
static bool
judge(struct fetch *f, const struct addrinfo *found)
{
	for (; found != NULL; found = found->ai_next) {
		if (!pf_policy_sockaddr_ok(&f->o->policy, found->ai_addr))
			return false;
		if (f->naddrs < ADDRS_MAX &&
		    found->ai_addrlen <= sizeof(f->addr[0]))
			memcpy(&f->addr[f->naddrs++], found->ai_addr,
			    found->ai_addrlen);
	}
	return true;
}

/* From a name to a transfer; may end the fetch. */
static void
step(struct fetch *f)
{
	const struct addrinfo *found;
	int64_t left_ms = f->deadline_ms - pf_mono_ms();

	if (left_ms <= 0)
		finish(f, PF_OUT_TIMEOUT, "the name was not resolved in time");
	else if (!pf_resolver_ended(f->o->resolver, f->lookup, &found))
		return;
	else if (found == NULL)
		finish(f, PF_OUT_NETWORK, "the name does not resolve");
	else if (!judge(f, found))
		finish(f, PF_OUT_REFUSED,
		    "an address of the host may not be reached");
	else if (!begin_transfer(f, left_ms))
		finish(f, PF_OUT_NETWORK, "no memory to begin with");
}

static void
begin(struct fetch *f)
{
	f->next = f->o->live;
	f->o->live = f;
	if (f->refused != NULL)
		finish(f, PF_OUT_REFUSED, f->refused);
	else if (pf_resolver_ask(f->o->resolver, f->host, &f->lookup) !=
	    PF_OK)
		finish(f, PF_OUT_NETWORK, "no memory to resolve the name");
}

static void
conclude(struct fetch *f, CURLcode code)
{
	if (code == CURLE_OK)
		finish(f, PF_OUT_OK, "complete");
	else if (f->fault == PF_OUT_REFUSED)
		finish(f, PF_OUT_REFUSED,
		    "the connection would have gone elsewhere");
	else if (f->fault == PF_OUT_TOO_LARGE ||
	    code == CURLE_FILESIZE_EXCEEDED)
		finish(f, PF_OUT_TOO_LARGE, "the answer is too large");
	else if (code == CURLE_OPERATION_TIMEDOUT)
		finish(f, PF_OUT_TIMEOUT, "the answer did not come in time");
	else
		finish(f, PF_OUT_NETWORK, curl_easy_strerror(code));
}

/* --- the thread --- */

static void
reap(struct pf_outbound *o)
{
	struct fetch *f;
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(o->multi, &left)) != NULL) {
		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &f);
		conclude(f, m->data.result);
	}
}

/* Oldest first. */
static struct fetch *
take_arrived(struct pf_outbound *o, bool *stopping)
{
	struct fetch *list = NULL, *f, *next;

	pthread_mutex_lock(&o->lock);
	for (f = o->arrived; f != NULL; f = next) {
		next = f->next;
		f->next = list;
		list = f;
	}
	o->arrived = NULL;
	*stopping = o->stopping;
	pthread_mutex_unlock(&o->lock);
	return list;
}

/* Move each that waits for its name; how long until the next must be looked at
 * without a wake. */
static int
step_all(struct pf_outbound *o)
{
	struct fetch *f, *next;
	int64_t wait_ms = 60000, left_ms;

	for (f = o->live; f != NULL; f = next) {
		next = f->next;
		if (f->easy != NULL)
			continue;
		left_ms = f->deadline_ms - pf_mono_ms();
		if (left_ms > 0 && left_ms < wait_ms)
			wait_ms = left_ms;
		step(f);
	}
	return (int)wait_ms;
}

static void *
run(void *arg)
{
	struct pf_outbound *o = arg;
	struct fetch *f, *next;
	bool stopping;
	int running, wait_ms;

	do {
		for (f = take_arrived(o, &stopping); f != NULL; f = next) {
			next = f->next;
			begin(f);
		}
		if (stopping)
			break;
		wait_ms = step_all(o);
		curl_multi_perform(o->multi, &running);
		reap(o);
		curl_multi_poll(o->multi, NULL, 0, wait_ms, NULL);
	} while (true);
	while (o->live != NULL)
		finish(o->live, PF_OUT_NETWORK, "the program ends");
	return NULL;
}

/* On a resolver's thread. */
static void
on_resolved(void *arg)
{
	struct pf_outbound *o = arg;

	curl_multi_wakeup(o->multi);
}

/* --- for the others --- */

static void
outbound_free(struct pf_outbound *o)
{
	if (o->resolver != NULL)
		pf_resolver_stop(o->resolver);
	if (o->multi != NULL)
		curl_multi_cleanup(o->multi);
	curl_global_cleanup();
	pthread_mutex_destroy(&o->lock);
	free(o->place);
	free(o->ca);
	free(o);
}

static void
warn(const struct pf_outbound_opts *opts)
{
	for (size_t i = 0; i < opts->allow_nets.n; i++)
		PF_LOG(PF_LOG_WARN, "outbound_unsafe",
		    PF_F_Z("why", "agents may be fetched from this network; "
		    "this is for tests and demos"),
		    PF_F_STR("network", opts->allow_nets.v[i]));
	if (opts->extra_ca.n > 0)
		PF_LOG(PF_LOG_WARN, "outbound_unsafe",
		    PF_F_Z("why", "this authority is trusted for agents too; "
		    "this is for tests and demos"),
		    PF_F_STR("file", opts->extra_ca));
}

static enum pf_rc
set_up(struct pf_outbound *o, const struct pf_outbound_opts *opts)
{
	enum pf_rc rc;

	if (opts->max_inflight == 0 || opts->max_inflight > INFLIGHT_MAX ||
	    opts->max_per_host == 0)
		return PF_E_INPUT;
	if ((rc = pf_policy_read(opts, &o->policy)) != PF_OK)
		return rc;
	if (opts->extra_ca.n > 0 && (rc = pf_outbound_ca(
	    curl_version_info(CURLVERSION_NOW)->cainfo, opts->extra_ca,
	    &o->ca, &o->ca_n)) != PF_OK)
		return rc;
	o->max_inflight = opts->max_inflight;
	o->max_per_host = opts->max_per_host;
	o->place = calloc(o->max_inflight, sizeof(*o->place));
	o->multi = curl_multi_init();
	if (o->place == NULL || o->multi == NULL)
		return PF_E_MEM;
	/* Twice as many: a look-up may outlive its fetch by a while. */
	rc = pf_resolver_start(2 * o->max_inflight, on_resolved, o,
	    &o->resolver);
	if (rc != PF_OK)
		return rc;
	return pf_outbound_thread(run, o, &o->thread);
}

enum pf_rc
pf_outbound_start(const struct pf_outbound_opts *opts,
    struct pf_outbound **out)
{
	struct pf_outbound *o;
	enum pf_rc rc;

	*out = NULL;
	if ((o = calloc(1, sizeof(*o))) == NULL)
		return PF_E_MEM;
	pthread_mutex_init(&o->lock, NULL);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		pthread_mutex_destroy(&o->lock);
		free(o);
		return PF_E_MEM;
	}
	if ((rc = set_up(o, opts)) != PF_OK) {
		outbound_free(o);
		return rc;
	}
	warn(opts);
	*out = o;
	return PF_OK;
}

void
pf_outbound_stop(struct pf_outbound *o)
{
	if (o == NULL)
		return;
	pthread_mutex_lock(&o->lock);
	o->stopping = true;
	pthread_mutex_unlock(&o->lock);
	curl_multi_wakeup(o->multi);
	pthread_join(o->thread, NULL);
	outbound_free(o);
}

/* NULL, or why the URL is refused before anything is asked. */
static const char *
read_url(struct fetch *f, struct pf_str text)
{
	struct pf_str host;
	struct pf_url u;

	if (!pf_url_is_https(text) || pf_url_parse(text, &u) != PF_OK)
		return "not an https URL that can be fetched";
	if (!pf_policy_port_ok(&f->o->policy, u.port))
		return "the port is not allowed";
	host = u.host;
	if (host.p[0] == '[') {
		host.p++;
		host.n -= 2;
	}
	memcpy(f->url, text.p, text.n);
	for (size_t i = 0; i < host.n; i++)
		f->host[i] = pf_lower(host.p[i]);
	f->port = u.port;
	f->literal = pf_host_is_ip(u.host);
	return NULL;
}

/* A place for it, with the lock held. One that is refused already counts for no
 * host. */
static enum pf_rc
admit(struct pf_outbound *o, struct fetch *f)
{
	struct fetch **free_place = NULL;
	unsigned same = 0;

	if (o->stopping)
		return PF_E_BUSY;
	for (unsigned i = 0; i < o->max_inflight; i++) {
		if (o->place[i] == NULL)
			free_place = &o->place[i];
		else if (f->refused == NULL &&
		    strcmp(o->place[i]->host, f->host) == 0)
			same++;
	}
	if (free_place == NULL || same >= o->max_per_host)
		return PF_E_BUSY;
	*free_place = f;
	f->next = o->arrived;
	o->arrived = f;
	return PF_OK;
}

enum pf_rc
pf_outbound_fetch(struct pf_outbound *o, const struct pf_outbound_get *get,
    void (*done)(void *ctx, const struct pf_outbound_reply *reply), void *ctx)
{
	struct fetch *f = calloc(1, sizeof(*f));
	enum pf_rc rc;

	if (f == NULL)
		return PF_E_MEM;
	f->o = o;
	f->done = done;
	f->ctx = ctx;
	f->accept = get->accept;
	f->max_bytes = get->max_bytes;
	f->deadline_ms = pf_mono_ms() + get->timeout_ms;
	f->refused = read_url(f, get->url);
	pthread_mutex_lock(&o->lock);
	rc = admit(o, f);
	if (rc == PF_OK)
		curl_multi_wakeup(o->multi);
	pthread_mutex_unlock(&o->lock);
	if (rc != PF_OK)
		free(f);
	return rc;
}
