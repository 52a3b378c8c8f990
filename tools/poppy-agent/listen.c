#include "config.h"

#include "tools/poppy-agent/serve.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/poppy-agent/agent.h"

static bool
split_listen(char *text, char **host, char **port)
{
	char *colon = strrchr(text, ':');

	if (colon == NULL || colon[1] == '\0')
		return false;
	*colon = '\0';
	*port = colon + 1;
	*host = text;
	if (text[0] == '[' && colon[-1] == ']') {	/* [::1]:8000 */
		colon[-1] = '\0';
		*host = text + 1;
	}
	return true;
}

static int
listen_on(const struct addrinfo *ai)
{
	const int yes = 1;
	int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, ai->ai_protocol);

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && listen(fd, 128) == 0)
		return fd;
	close(fd);
	return -1;
}

enum pf_rc
ag_listen(struct agent *ag, int *fd)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
	    .ai_flags = AI_PASSIVE }, *ai = NULL;
	char *text = pf_arena_z(&ag->arena, pf_str(ag->opt.listen));
	char *host, *port;
	int error;

	if (text == NULL || !split_listen(text, &host, &port))
		return ag_fault(&ag->fault, PF_E_INPUT, NULL,
		    "--listen must be ADDR:PORT");
	error = getaddrinfo(host[0] != '\0' ? host : NULL, port, &hints, &ai);
	if (error != 0)
		return ag_fault(&ag->fault, PF_E_INPUT, NULL, "--listen %s: %s",
		    ag->opt.listen, gai_strerror(error));
	*fd = listen_on(ai);
	error = errno;
	freeaddrinfo(ai);
	if (*fd < 0)
		return ag_fault(&ag->fault, PF_E_INPUT, NULL,
		    "can't listen on %s: %s%s", ag->opt.listen,
		    strerror(error), error == EADDRINUSE ?
		    "; end what listens there, or take another port" : "");
	return PF_OK;
}
