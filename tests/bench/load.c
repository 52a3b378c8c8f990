/*
 * load - signed requests at full speed over a few connections, and how long each
 * took.
 *
 *	load keys DIR
 *		make agent.jwk (private) and jwks.json (public) there
 *	load start|bad|guard DIR ADDRESS:PORT BASE CONNECTIONS REQUESTS CLIENTS
 *		Session starts, the same with a proof whose signature is wrong,
 *		or calls of BASE/api/ping after one start a connection;
 *		everything is signed before the clock starts.
 *		BASE is the public URL that proofs name; CLIENTS is how many
 *		client_ids (BASE/agent/N) take turns. With more than one each
 *		connection comes from its own address, 127.0.0.1 and on; one
 *		agent is on one host.
 *
 * Prints one line of JSON: requests, failed, seconds, p50_us, p99_us, max_us.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/random.h"
#include "core/jose/jws.h"
#include "core/web/url.h"

#define TYPE	"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
#define GRANT	"urn:ietf:params:oauth:grant-type:jwt-bearer"
#define TOKEN_PATH	"/poppy/oauth/token"
#define CALL_PATH	"/api/ping"
#define REPLY_MAX	65536

struct conn {
	pthread_t thread;
	int fd;
	struct pf_arena arena;
	struct pf_key *user_key;	/* DPoP key of this connection's User */
	char token[128];
	struct pf_str *request;
	size_t n, failed;
	int64_t *us;
	char reply[REPLY_MAX];
};

static const char *base;
static struct sockaddr_in server;
static struct pf_key *agent_key;

static void
die(const char *what)
{
	(void)fprintf(stderr, "load: %s\n", what);
	exit(1);
}

static void
need(enum pf_rc rc, const char *what)
{
	if (rc != PF_OK)
		die(what);
}

static void
random_id(char out[23])
{
	unsigned char raw[16];

	need(pf_random(raw, sizeof(raw)), "no randomness");
	out[pf_b64url_encode(raw, sizeof(raw), out)] = '\0';
}

static struct pf_str
sign(struct pf_arena *a, const struct pf_key *k, struct pf_str header,
    const struct pf_buf *claims)
{
	struct pf_str text, jws;

	need(pf_buf_done(claims, &text), "claims");
	need(pf_jws_sign(a, k, PF_ES256, header, text, &jws), "signing");
	return jws;
}

static struct pf_str
assertion(struct pf_arena *a, const char *client, const char *sub)
{
	int64_t now = pf_now_at();
	struct pf_buf b;
	char jti[23];

	random_id(jti);
	pf_buf_init(&b, a, 4096);
	pf_buf_fmt(&b, "{\"iss\":\"%s\",\"sub\":\"%s\",\"aud\":\"%s%s\","
	    "\"iat\":%lld,\"exp\":%lld,\"jti\":\"%s\"}", client, sub, base,
	    TOKEN_PATH, (long long)now, (long long)now + 250, jti);
	return sign(a, agent_key,
	    PF_LIT("{\"alg\":\"ES256\",\"typ\":\"JWT\",\"kid\":\"k1\"}"), &b);
}

static struct pf_str
proof(struct pf_arena *a, const struct pf_key *k, const char *method,
    const char *path, const char *token)
{
	unsigned char hash[PF_SHA256_LEN];
	struct pf_str header;
	struct pf_buf b, h;
	char jti[23];

	pf_buf_init(&h, a, 1024);
	pf_buf_addz(&h, "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":");
	pf_key_write(&h, k, PF_NOSTR, false);
	pf_buf_char(&h, '}');
	need(pf_buf_done(&h, &header), "header");
	random_id(jti);
	pf_buf_init(&b, a, 4096);
	pf_buf_fmt(&b, "{\"jti\":\"%s\",\"htm\":\"%s\",\"htu\":\"%s%s\","
	    "\"iat\":%lld", jti, method, base, path, (long long)pf_now_at());
	if (*token != '\0') {
		need(pf_sha256(pf_str(token), hash), "hash");
		pf_buf_addz(&b, ",\"ath\":\"");
		pf_buf_b64url(&b, hash, sizeof(hash));
		pf_buf_char(&b, '"');
	}
	pf_buf_char(&b, '}');
	return sign(a, k, header, &b);
}

/* The first character of a signature's last third, changed. */
static void
spoil(struct pf_str jws)
{
	char *p = (char *)(uintptr_t)jws.p + jws.n - 30;

	*p = *p == 'A' ? 'B' : 'A';
}

static struct pf_str
start_request(struct conn *c, size_t client_no, bool bad)
{
	char client[256], sub[23];
	struct pf_str body, req, jws;
	struct pf_buf b;

	(void)snprintf(client, sizeof(client), "%s/agent/%zu", base, client_no);
	random_id(sub);
	pf_buf_init(&b, &c->arena, 8192);
	pf_buf_addz(&b, "grant_type=");
	pf_url_escape(&b, PF_LIT(GRANT));
	pf_buf_addz(&b, "&client_assertion_type=");
	pf_url_escape(&b, PF_LIT(TYPE));
	pf_buf_addz(&b, "&client_id=");
	pf_url_escape(&b, pf_str(client));
	pf_buf_addz(&b, "&client_assertion=");
	pf_buf_add(&b, assertion(&c->arena, client, client));
	pf_buf_addz(&b, "&assertion=");
	pf_buf_add(&b, assertion(&c->arena, client, sub));
	need(pf_buf_done(&b, &body), "body");
	pf_buf_init(&b, &c->arena, 16384);
	pf_buf_fmt(&b, "POST " TOKEN_PATH " HTTP/1.1\r\nHost: %s\r\n"
	    "Content-Type: application/x-www-form-urlencoded\r\n"
	    "Content-Length: %zu\r\nDPoP: ", base + 8, body.n);
	jws = proof(&c->arena, c->user_key, "POST", TOKEN_PATH, "");
	if (bad)
		spoil(jws);
	pf_buf_add(&b, jws);
	pf_buf_addz(&b, "\r\n\r\n");
	pf_buf_add(&b, body);
	need(pf_buf_done(&b, &req), "request");
	return req;
}

static struct pf_str
call_request(struct conn *c)
{
	struct pf_str req;
	struct pf_buf b;

	pf_buf_init(&b, &c->arena, 8192);
	pf_buf_fmt(&b, "GET " CALL_PATH " HTTP/1.1\r\nHost: %s\r\n"
	    "Authorization: DPoP %s\r\nDPoP: ", base + 8, c->token);
	pf_buf_add(&b, proof(&c->arena, c->user_key, "GET", CALL_PATH,
	    c->token));
	pf_buf_addz(&b, "\r\n\r\n");
	need(pf_buf_done(&b, &req), "request");
	return req;
}

static void
open_conn(struct conn *c, uint32_t from)
{
	struct sockaddr_in own = { .sin_family = AF_INET };
	int one = 1;

	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK + from);
	if ((c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) == -1 ||
	    bind(c->fd, (struct sockaddr *)&own, sizeof(own)) != 0 ||
	    connect(c->fd, (struct sockaddr *)&server, sizeof(server)) != 0)
		die("can't connect");
	(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static bool
complete(const char *reply)
{
	const char *body = strstr(reply, "\r\n\r\n"), *length;

	if (body == NULL)
		return false;
	body += 4;
	if (strcasestr(reply, "\r\nTransfer-Encoding: chunked") != NULL)
		return strstr(body, "0\r\n\r\n") != NULL;
	length = strcasestr(reply, "\r\nContent-Length:");
	return length == NULL ||
	    strlen(body) >= strtoul(length + 17, NULL, 10);
}

/* True for a 200; the reply is NUL-terminated. */
static bool
ask(struct conn *c, struct pf_str req)
{
	size_t n = 0;
	ssize_t k;

	if (send(c->fd, req.p, req.n, MSG_NOSIGNAL) != (ssize_t)req.n)
		return false;
	do {
		k = recv(c->fd, c->reply + n, sizeof(c->reply) - 1 - n, 0);
		if (k <= 0)
			return false;
		n += (size_t)k;
		c->reply[n] = '\0';
	} while (!complete(c->reply));
	return strncmp(c->reply, "HTTP/1.1 200", 12) == 0;
}

static void
first_start(struct conn *c)
{
	char *p;

	if (!ask(c, start_request(c, 0, false)) ||
	    (p = strstr(c->reply, "\"access_token\":\"")) == NULL) {
		(void)fprintf(stderr, "%s\n", c->reply);
		die("no Session to call with");
	}
	p += 16;
	p[strcspn(p, "\"")] = '\0';
	(void)snprintf(c->token, sizeof(c->token), "%s", p);
}

static void *
run_conn(void *arg)
{
	struct conn *c = arg;

	for (size_t i = 0; i < c->n; i++) {
		int64_t t = pf_mono_us();

		if (!ask(c, c->request[i]) && c->failed++ == 0)
			(void)fprintf(stderr, "%.300s\n", c->reply);
		c->us[i] = pf_mono_us() - t;
	}
	return NULL;
}

static int
by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void
prepare(struct conn *c, const char *mode, size_t n, size_t clients,
    uint32_t from)
{
	bool guard = strcmp(mode, "guard") == 0;
	bool bad = strcmp(mode, "bad") == 0;

	need(pf_arena_init(&c->arena, 1 << 20, (size_t)1 << 30), "memory");
	need(pf_key_generate(PF_ES256, &c->user_key), "a key");
	c->n = n;
	c->us = calloc(n, sizeof(*c->us));
	c->request = calloc(n, sizeof(*c->request));
	if (c->us == NULL || c->request == NULL)
		die("no memory");
	open_conn(c, from);
	if (guard)
		first_start(c);
	for (size_t i = 0; i < n; i++)
		c->request[i] = guard ? call_request(c) :
		    start_request(c, i % clients, bad);
}

static void
measure(const char *mode, size_t nconns, size_t total, size_t clients)
{
	struct conn *c = calloc(nconns, sizeof(*c));
	size_t n = total / nconns, failed = 0;
	int64_t *all = calloc(total, sizeof(*all)), t;

	if (c == NULL || all == NULL)
		die("no memory");
	for (size_t i = 0; i < nconns; i++)
		prepare(&c[i], mode, n, clients,
		    clients > 1 ? (uint32_t)i : 0);
	t = pf_mono_us();
	for (size_t i = 0; i < nconns; i++)
		if (pthread_create(&c[i].thread, NULL, run_conn, &c[i]) != 0)
			die("no thread");
	for (size_t i = 0; i < nconns; i++)
		(void)pthread_join(c[i].thread, NULL);
	t = pf_mono_us() - t;
	for (size_t i = 0; i < nconns; i++) {
		(void)memcpy(all + i * n, c[i].us, n * sizeof(*all));
		failed += c[i].failed;
		pf_key_free(c[i].user_key);
		pf_arena_free(&c[i].arena);
	}
	n *= nconns;
	qsort(all, n, sizeof(*all), by_size);
	(void)printf("{\"requests\":%zu,\"failed\":%zu,\"seconds\":%.3f,"
	    "\"p50_us\":%lld,\"p99_us\":%lld,\"max_us\":%lld}\n", n, failed,
	    (double)t / 1e6, (long long)all[n / 2],
	    (long long)all[n * 99 / 100], (long long)all[n - 1]);
}

static void
write_file(const char *dir, const char *name, struct pf_str text)
{
	char path[1024];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	if ((f = fopen(path, "w")) == NULL ||
	    fwrite(text.p, 1, text.n, f) != text.n || fclose(f) != 0)
		die("can't write keys");
}

static void
make_keys(const char *dir)
{
	struct pf_arena a;
	struct pf_str text;
	struct pf_key *k;
	struct pf_buf b;

	need(pf_arena_init(&a, 8192, 65536), "memory");
	need(pf_key_generate(PF_ES256, &k), "a key");
	pf_buf_init(&b, &a, 4096);
	pf_key_write(&b, k, PF_LIT("k1"), true);
	need(pf_buf_done(&b, &text), "a key");
	write_file(dir, "agent.jwk", text);
	pf_buf_init(&b, &a, 4096);
	pf_buf_addz(&b, "{\"keys\":[");
	pf_key_write(&b, k, PF_LIT("k1"), false);
	pf_buf_addz(&b, "]}");
	need(pf_buf_done(&b, &text), "a key set");
	write_file(dir, "jwks.json", text);
	pf_key_free(k);
	pf_arena_free(&a);
}

static void
read_key(const char *dir)
{
	char path[1024], text[4096];
	const struct pf_json *jwk;
	struct pf_arena a;
	const char *why;
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/agent.jwk", dir);
	if ((f = fopen(path, "r")) == NULL)
		die("no agent.jwk: make it with load keys");
	n = fread(text, 1, sizeof(text), f);
	(void)fclose(f);
	need(pf_arena_init(&a, 8192, 65536), "memory");
	need(pf_json_parse(&a, pf_bytes(text, n), &pf_json_small, &jwk, NULL),
	    "agent.jwk");
	need(pf_jwk_parse_private(jwk, &agent_key, &why), "agent.jwk");
	pf_arena_free(&a);
}

static size_t
number(const char *z, int64_t max)
{
	int64_t v;

	need(pf_str_int(pf_str(z), 1, max, &v), "a number is out of range");
	return (size_t)v;
}

int
main(int argc, char **argv)
{
	char *colon;

	need(pf_crypt_init(), "OpenSSL");
	if (argc == 3 && strcmp(argv[1], "keys") == 0) {
		make_keys(argv[2]);
		return 0;
	}
	if (argc != 8 || (colon = strrchr(argv[3], ':')) == NULL)
		die("usage: load keys DIR | load start|bad|guard DIR ADDRESS:PORT "
		    "BASE CONNECTIONS REQUESTS CLIENTS");
	read_key(argv[2]);
	*colon = '\0';
	server.sin_family = AF_INET;
	server.sin_port = htons((uint16_t)number(colon + 1, 65535));
	if (inet_pton(AF_INET, argv[3], &server.sin_addr) != 1)
		die("no IPv4 address");
	base = argv[4];
	measure(argv[1], number(argv[5], 256), number(argv[6], 1000000),
	    number(argv[7], 100000));
	pf_key_free(agent_key);
	pf_crypt_end();
	return 0;
}
