#include "config.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/tls_server.h"

#define OK(type)	"HTTP/1.1 200 OK\r\nContent-Type: " type "\r\n"

/* Endings of the path, and the whole answer. */
static const struct { const char *path, *answer; } fixed[] = {
	{ "/ok", OK("application/json; charset=utf-8")
	    "Content-Length: 4\r\nCache-Control: public\r\n"
	    "X-Cache-Control: no\r\ncache-control:  max-age=60 \r\n\r\n{ } " },
	{ "/chunked", OK("text/plain") "Transfer-Encoding: chunked\r\n\r\n"
	    "3\r\nabc\r\n2\r\nde\r\n0\r\nCache-Control: trailer\r\n\r\n" },
	{ "/empty", "HTTP/1.1 204 No Content\r\n\r\n" },
	{ "/404", "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno" },
	{ "/302", "HTTP/1.1 302 Found\r\nLocation: /ok\r\n"
	    "Content-Length: 0\r\n\r\n" },
	{ "/308", "HTTP/1.1 308 Permanent Redirect\r\n"
	    "Location: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n" },
	{ "/hints", "HTTP/1.1 103 Early Hints\r\nCache-Control: early\r\n\r\n"
	    OK("a/b") "Content-Length: 1\r\nCache-Control: late\r\n\r\nx" },
	{ "/short", OK("a/b") "Content-Length: 100\r\n\r\nonly this" },
	{ "/badchunk", OK("a/b") "Transfer-Encoding: chunked\r\n\r\n"
	    "zz\r\nabc\r\n" },
	{ "/claims", OK("a/b") "Content-Length: 1000000000000\r\n\r\nx" },
	{ "/garbage", "this is no HTTP\r\n\r\nat all" },
	{ "/nothing", "" },
	{ "/gzip", OK("a/b") "Content-Encoding: gzip\r\n"
	    "Content-Length: 3\r\n\r\nabc" },
};

static void
say(SSL *ssl, const char *text)
{
	if (text[0] != '\0')
		SSL_write(ssl, text, (int)strlen(text));
}

/* Sizes that outgrow every cap; ends when the peer hangs up. */
static void
endless(SSL *ssl, const char *head, const char *piece)
{
	say(ssl, head);
	while (SSL_write(ssl, piece, (int)strlen(piece)) > 0)
		;
}

static void
echo(SSL *ssl, const char *request, size_t n)
{
	char head[128];

	snprintf(head, sizeof(head), OK("text/plain")
	    "Content-Length: %zu\r\n\r\n", n);
	say(ssl, head);
	SSL_write(ssl, request, (int)n);
}

static bool
ends_in(const char *path, const char *tail)
{
	size_t n = strlen(path), t = strlen(tail);

	return n >= t && strcmp(path + n - t, tail) == 0;
}

static void
answer(SSL *ssl, const char *path, const char *request, size_t n)
{
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (ends_in(path, fixed[i].path)) {
			say(ssl, fixed[i].answer);
			return;
		}
	}
	if (ends_in(path, "/echo"))
		echo(ssl, request, n);
	else if (ends_in(path, "/endless"))
		endless(ssl, OK("a/b") "\r\n", "0123456789abcdef");
	else if (ends_in(path, "/headers"))
		endless(ssl, OK("a/b"), "X-Header: 0123456789abcdef\r\n");
	else if (ends_in(path, "/hold")) {
		usleep(600000);
		say(ssl, OK("a/b") "Content-Length: 1\r\n\r\nx");
	} else if (ends_in(path, "/drip")) {
		say(ssl, OK("a/b") "\r\n");
		for (int i = 0; i < 100 && SSL_write(ssl, "x", 1) > 0; i++)
			usleep(50000);
	} else
		sleep(20);
}

/* One request with its headers, or false when the peer is gone. */
static bool
read_request(SSL *ssl, char *request, size_t cap, size_t *n)
{
	int got;

	*n = 0;
	while (*n < cap - 1) {
		got = SSL_read(ssl, request + *n, (int)(cap - 1 - *n));
		if (got <= 0)
			return false;
		*n += (size_t)got;
		request[*n] = '\0';
		if (strstr(request, "\r\n\r\n") != NULL)
			return true;
	}
	return false;
}

/* A connection is kept after "/ok", for whoever would use it again. */
static void
serve_one(SSL_CTX *ctx, int fd)
{
	char request[8192], path[4096] = "";
	SSL *ssl = SSL_new(ctx);
	size_t n;

	SSL_set_fd(ssl, fd);
	if (SSL_accept(ssl) != 1)
		return;
	do {
		if (!read_request(ssl, request, sizeof(request), &n))
			return;
		if (sscanf(request, "GET %4095s HTTP/1.1", path) == 1)
			answer(ssl, path, request, n);
	} while (ends_in(path, "/ok"));
	SSL_shutdown(ssl);
	SSL_free(ssl);
}

static void
serve(int fd, const char *cert, const char *key, volatile unsigned *count)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	int c;

	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (SSL_CTX_use_certificate_file(ctx, cert, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
		_exit(1);
	while ((c = accept(fd, NULL, NULL)) >= 0) {
		++*count;
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve_one(ctx, c);
			_exit(0);
		}
		close(c);
	}
	_exit(0);
}

bool
tls_server_start(const char *cert, const char *key, struct tls_server *out)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	void *page;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || page == MAP_FAILED ||
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(fd, 64) != 0 ||
	    getsockname(fd, (struct sockaddr *)&at, &n) != 0)
		return false;
	out->port = ntohs(at.sin_port);
	out->connections = page;
	out->pid = fork();
	if (out->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd, cert, key, out->connections);
	}
	close(fd);
	return out->pid > 0;
}

void
tls_server_stop(struct tls_server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
}

bool
tls_server_certificates(const char *dir)
{
	static const char script[] =
	    "cd '%s' && exec 2>log && "
	    "ec='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes' && "
	    "openssl req -x509 $ec -keyout ca.key -out ca.pem "
	    "-subj /CN=test-ca -days 2 && "
	    "openssl req $ec -keyout good.key -out good.csr "
	    "-subj /CN=good.test && "
	    "echo 'subjectAltName=DNS:good.test,DNS:*.good.test,"
	    "DNS:localhost,IP:127.0.0.1' >san && "
	    "openssl x509 -req -in good.csr -CA ca.pem -CAkey ca.key "
	    "-CAcreateserial -days 2 -extfile san -out good.pem && "
	    "openssl req -x509 $ec -keyout bad.key -out bad.pem "
	    "-subj /CN=good.test -addext subjectAltName=DNS:good.test "
	    "-days 2";
	char command[2048];

	snprintf(command, sizeof(command), script, dir);
	return system(command) == 0;
}
