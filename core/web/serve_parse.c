#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fcgiapp.h>

#include "core/base/log.h"
#include "core/web/serve_int.h"

/*
 * libfcgi parses, and does nothing else: it gets a descriptor from which a
 * whole request can be read that has passed the gate, never accepts, writes or
 * closes. Its public struct is what it is told by; a request that was
 * collected is given to it as a memory file.
 */
struct pf_parse {
	FCGX_Request rq;
	int memfd;
};

enum pf_rc
pf_parse_init(void)
{
	/* Should libfcgi ever close a connection by itself, it must not wait
	 * up to 2 s for the peer. Read in FCGX_Init(), before there are
	 * threads. */
	if (setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "0", 0) != 0)
		return PF_E_MEM;
	return FCGX_Init() == 0 ? PF_OK : PF_E_BUG;
}

static bool
open_memory(struct pf_parse *p)
{
	p->memfd = memfd_create("poppy-request", MFD_CLOEXEC);
	return p->memfd >= 0;
}

enum pf_rc
pf_parse_new(struct pf_parse **out)
{
	struct pf_parse *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return PF_E_MEM;
	if (!open_memory(p)) {
		PF_LOG(PF_LOG_ERROR, "memfd", PF_F_INT("errno", errno));
		free(p);
		return PF_E_BUG;
	}
	*out = p;
	return PF_OK;
}

void
pf_parse_free(struct pf_parse *p)
{
	if (p == NULL)
		return;
	if (p->memfd >= 0)
		close(p->memfd);
	free(p);
}

static bool
fill_memory(struct pf_parse *p, const struct pf_slot *sl)
{
	size_t skip = sl->gate.stray ? PF_GATE_STRAY : 0, done = skip;
	ssize_t n;

	if (p->memfd < 0 && !open_memory(p))
		return false;
	while (done < sl->nbytes) {
		n = pwrite(p->memfd, sl->bytes + done, sl->nbytes - done,
		    (off_t)(done - skip));
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return lseek(p->memfd, 0, SEEK_SET) == 0;
}

/* libfcgi takes a request that begins with the end of another for a broken
 * one. */
static bool
skip_stray(const struct pf_slot *sl)
{
	char b[PF_GATE_STRAY];

	return !sl->gate.stray ||
	    recv(sl->fd, b, sizeof(b), MSG_DONTWAIT) == (ssize_t)sizeof(b);
}

/* The body, to its end. Its size is known: the gate counted it. */
static enum pf_rc
read_body(struct pf_parse *p, const struct pf_slot *sl, struct pf_req *rq)
{
	size_t n = (size_t)sl->gate.body;
	char *body;

	if ((body = pf_arena_alloc(rq->arena, n + 1)) == NULL)
		return PF_E_MEM;
	if (n > 0 && FCGX_GetStr(body, (int)n, p->rq.in) != (int)n)
		return PF_E_BUG;
	if (FCGX_GetChar(p->rq.in) != -1)
		return PF_E_BUG;
	rq->body = pf_bytes(body, n);
	return PF_OK;
}

/* What is behind the last byte that libfcgi wanted: padding, or the empty STDIN
 * that is never read for an authorizer. Left there, it would reset the
 * connection when that is closed. */
static void
drain(const struct pf_slot *sl)
{
	char b[512];

	if (sl->gate.role != PF_GATE_AUTHORIZER && sl->gate.tail == 0)
		return;
	if (recv(sl->fd, b, sizeof(b), MSG_DONTWAIT) < 0 && errno != EAGAIN)
		PF_LOG(PF_LOG_DEBUG, "drain", PF_F_INT("errno", errno));
}

static enum pf_rc
parse(struct pf_parse *p, const struct pf_slot *sl, struct pf_req *rq)
{
	enum pf_rc rc, body = PF_OK;
	const char *length;

	rq->body = PF_LIT("");
	rc = pf_req_read(rq, p->rq.envp);
	/* Also of a request that is refused: the connection may be kept. */
	if (sl->gate.role == PF_GATE_RESPONDER)
		body = read_body(p, sl, rq);
	if (body != PF_OK || rc != PF_OK)
		return body != PF_OK ? body : rc;
	length = FCGX_GetParam("CONTENT_LENGTH", p->rq.envp);
	if (sl->gate.role == PF_GATE_RESPONDER)
		return pf_req_check_length(rq, pf_str(length));
	return PF_OK;
}

enum pf_rc
pf_parse_request(struct pf_parse *p, struct pf_slot *sl, struct pf_req *rq)
{
	bool collected = sl->bytes != NULL;
	enum pf_rc rc;

	if (collected ? !fill_memory(p, sl) : !skip_stray(sl)) {
		PF_LOG(PF_LOG_ERROR, "fcgi_read", PF_F_INT("errno", errno));
		return PF_E_BUG;
	}
	FCGX_InitRequest(&p->rq, -1, 0);
	/* With keepConnection set libfcgi leaves the descriptor open. */
	p->rq.ipcFd = collected ? p->memfd : sl->fd;
	p->rq.keepConnection = 1;
	if (FCGX_Accept_r(&p->rq) < 0) {
		/* It has closed the descriptor. */
		*(collected ? &p->memfd : &sl->fd) = -1;
		PF_LOG(PF_LOG_ERROR, "fcgi_parse", PF_F_INT("errno", errno));
		return PF_E_BUG;
	}
	rc = parse(p, sl, rq);
	FCGX_Free(&p->rq, 0);
	if (!collected)
		drain(sl);
	else if (ftruncate(p->memfd, 0) != 0)
		PF_LOG(PF_LOG_ERROR, "memfd", PF_F_INT("errno", errno));
	return rc;
}
