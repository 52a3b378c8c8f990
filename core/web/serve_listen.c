#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/web/serve_int.h"

#define LISTEN_FDS_START	3

union address {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static enum pf_rc
refuse(const char *listen_at, const char *why)
{
	PF_LOG(PF_LOG_ERROR, "listen", PF_F_Z("listen", listen_at),
	    PF_F_Z("why", why));
	return PF_E_INPUT;
}

/* The same where errno has the reason; no thread runs yet. */
static enum pf_rc
failed(const char *listen_at, const char *what)
{
	PF_LOG(PF_LOG_ERROR, "listen", PF_F_Z("listen", listen_at),
	    PF_F_Z("why", what), PF_F_Z("error", strerror(errno)));
	return PF_E_INPUT;
}

static bool
is_loopback(const union address *a)
{
	if (a->any.sa_family == AF_INET)
		return ntohl(a->in.sin_addr.s_addr) >> 24 == 127;
	if (a->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&a->in6.sin6_addr) ||
		    (IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr) &&
		    a->in6.sin6_addr.s6_addr[12] == 127);
	return true;
}

static bool
is_listening(int fd)
{
	int on = 0;
	socklen_t n = sizeof(on);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &n) == 0 &&
	    on != 0;
}

static enum pf_rc
take(struct pf_serve *s, int fd, const char *name)
{
	union address a = { .any.sa_family = AF_UNIX };
	socklen_t n = sizeof(a);
	int on = 1, flags;

	if (s->nlis == MAX_LISTEN)
		return refuse(name, "more than 16 sockets");
	if (getsockname(fd, &a.any, &n) < 0)
		return failed(name, "not a socket");
	if (!is_loopback(&a) && !s->o.tcp_anywhere)
		return refuse(name, "FastCGI has no authentication: only "
		    "loopback addresses, unless the settings say otherwise");
	if (a.any.sa_family != AF_UNIX &&
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
		return failed(name, "TCP_NODELAY");
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return failed(name, "fcntl");
	s->tcp = s->tcp || a.any.sa_family != AF_UNIX;
	s->lis[s->nlis++].fd = fd;
	return PF_OK;
}

bool
pf_serve_on_tcp(const struct pf_serve *s)
{
	return s->tcp;
}

/* Sockets of systemd: LISTEN_FDS of them from 3 on, if they are meant for
 * us. */
static enum pf_rc
take_passed(struct pf_serve *s)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	enum pf_rc rc = PF_OK;
	int64_t n, to;

	if (pf_str_int(pf_str(pid), 1, INT32_MAX, &to) != PF_OK ||
	    to != getpid())
		return PF_OK;
	if (pf_str_int(pf_str(fds), 0, MAX_LISTEN, &n) != PF_OK)
		return refuse("LISTEN_FDS", "not a number up to 16");
	for (int i = 0; rc == PF_OK && i < n; i++) {
		if (!is_listening(LISTEN_FDS_START + i))
			return refuse("LISTEN_FDS", "not a listening socket");
		rc = take(s, LISTEN_FDS_START + i, "LISTEN_FDS");
	}
	/* Not for the children of this process. */
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	return rc;
}

/* A socket file that nobody answers is left from a killed process. */
static enum pf_rc
make_way(const char *path, const struct sockaddr_un *un)
{
	struct stat st;
	int fd, rc, why;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? PF_OK : failed(path, "lstat");
	if (!S_ISSOCK(st.st_mode))
		return refuse(path, "exists and is no socket");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return failed(path, "socket");
	rc = connect(fd, (const struct sockaddr *)un, sizeof(*un));
	why = errno;
	close(fd);
	errno = why;
	if (rc == 0 || why == EAGAIN)
		return refuse(path, "another process listens there");
	if (why != ECONNREFUSED)
		return failed(path, "a socket is there, perhaps another "
		    "process's");
	return unlink(path) == 0 ? PF_OK : failed(path, "unlink");
}

static enum pf_rc
open_unix(struct pf_serve *s, const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct pf_listen *l = &s->lis[s->nlis];
	struct stat st;
	enum pf_rc rc;
	mode_t mask;
	int fd, bound;

	if (strlen(path) >= sizeof(un.sun_path))
		return refuse(path, "the path is too long");
	memcpy(un.sun_path, path, strlen(path) + 1);
	if ((rc = make_way(path, &un)) != PF_OK)
		return rc;
	if ((fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) < 0)
		return failed(path, "socket");
	/* The file is never wider than 0660, not even for a moment. */
	mask = umask(0117);
	bound = bind(fd, (struct sockaddr *)&un, sizeof(un));
	umask(mask);
	if (bound < 0)
		rc = failed(path, "the socket can't be made: its folder must "
		    "be there, and this user may write to it");
	else if (listen(fd, s->o.backlog) < 0 || stat(path, &st) < 0)
		rc = failed(path, "listen");
	else
		rc = take(s, fd, path);
	if (rc != PF_OK) {
		if (bound == 0)
			unlink(path);
		close(fd);
		return rc;
	}
	memcpy(l->path, un.sun_path, sizeof(l->path));
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	return PF_OK;
}

/* "127.0.0.1:9001", "[::1]:9001"; numbers only, no names. */
static bool
tcp_address(struct pf_str at, union address *a, socklen_t *n)
{
	char host[INET6_ADDRSTRLEN + 2];
	struct pf_str h, p;
	size_t colon = at.n;
	int64_t port;

	while (colon > 0 && at.p[colon - 1] != ':')
		colon--;
	if (colon == 0)
		return false;
	h = pf_str_head(at, colon - 1);
	p = pf_str_from(at, colon);
	if (pf_str_int(p, 1, 65535, &port) != PF_OK || h.n >= sizeof(host))
		return false;
	memset(a, 0, sizeof(*a));
	if (h.n > 2 && h.p[0] == '[' && h.p[h.n - 1] == ']') {
		memcpy(host, h.p + 1, h.n - 2);
		host[h.n - 2] = '\0';
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons((uint16_t)port);
		*n = sizeof(a->in6);
		return inet_pton(AF_INET6, host, &a->in6.sin6_addr) == 1;
	}
	memcpy(host, h.p, h.n);
	host[h.n] = '\0';
	a->in.sin_family = AF_INET;
	a->in.sin_port = htons((uint16_t)port);
	*n = sizeof(a->in);
	return inet_pton(AF_INET, host, &a->in.sin_addr) == 1;
}

static enum pf_rc
open_tcp(struct pf_serve *s, const char *at)
{
	union address a;
	enum pf_rc rc;
	socklen_t n;
	int fd, on = 1;

	if (!tcp_address(pf_str(at), &a, &n))
		return refuse(at, "neither /path nor address:port");
	if (!is_loopback(&a) && !s->o.tcp_anywhere)
		return refuse(at, "FastCGI has no authentication: only "
		    "loopback addresses, unless the settings say otherwise");
	fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return failed(at, "socket");
	/* Processes of one user may share a port: a web server that knows one
	 * address of ours reaches them all. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0 ||
	    bind(fd, &a.any, n) < 0 || listen(fd, s->o.backlog) < 0)
		rc = failed(at, "bind");
	else
		rc = take(s, fd, at);
	if (rc != PF_OK)
		close(fd);
	return rc;
}

enum pf_rc
pf_listen_open(struct pf_serve *s)
{
	enum pf_rc rc = PF_OK;

	if (is_listening(0))
		rc = take(s, 0, "descriptor 0");
	if (rc == PF_OK)
		rc = take_passed(s);
	if (rc != PF_OK || s->nlis > 0)
		return rc;
	if (s->o.listen == NULL)
		return refuse("", "no socket was inherited and none is set");
	return s->o.listen[0] == '/' ? open_unix(s, s->o.listen) :
	    open_tcp(s, s->o.listen);
}

/* Never shutdown(): an inherited socket is shared with others. */
void
pf_listen_close(struct pf_serve *s)
{
	struct pf_listen *l;
	struct stat st;

	for (unsigned i = 0; i < s->nlis; i++) {
		l = &s->lis[i];
		close(l->fd);
		/* A successor may have put its own there. */
		if (l->path[0] != '\0' && lstat(l->path, &st) == 0 &&
		    st.st_dev == l->dev && st.st_ino == l->ino)
			unlink(l->path);
	}
	s->nlis = 0;
}
