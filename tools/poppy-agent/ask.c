/*
 * What a person types; declared in signin.h.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tools/poppy-agent/signin.h"

#define LINE_MAX_	8192

/* Byte by byte, so that what follows the line stays for the next one. */
static enum pf_rc
read_line(struct agent *ag, int64_t deadline_ms, struct pf_str *out)
{
	char *p = pf_arena_alloc(&ag->arena, LINE_MAX_);
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	size_t n = 0;
	ssize_t got;

	if (p == NULL)
		return PF_E_MEM;
	for (;;) {
		int64_t left = deadline_ms - pf_mono_ms();

		if (n == 0 && deadline_ms != INT64_MAX &&
		    poll(&in, 1, left > 0 ? (int)left : 0) <= 0)
			return PF_E_ABSENT;
		got = read(STDIN_FILENO, p + n, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 && n == 0)
			return PF_E_UPSTREAM;
		if (got <= 0 || p[n] == '\n')
			break;
		if (++n == LINE_MAX_)
			return PF_E_INPUT;
	}
	if (n > 0 && p[n - 1] == '\r')
		n--;
	*out = pf_bytes(p, n);
	return PF_OK;
}

enum pf_rc
ag_read_line_until(struct agent *ag, int64_t deadline_ms, struct pf_str *out)
{
	return read_line(ag, deadline_ms, out);
}

enum pf_rc
ag_read_line(struct agent *ag, const char *prompt, bool secret,
    struct pf_str *out)
{
	bool terminal = isatty(STDIN_FILENO) != 0;
	struct termios shown, hidden;
	enum pf_rc rc;

	if (terminal && prompt != NULL)
		(void)fprintf(stderr, "%s", prompt);
	secret = secret && terminal &&
	    tcgetattr(STDIN_FILENO, &shown) == 0;
	if (secret) {
		hidden = shown;
		hidden.c_lflag &= ~(tcflag_t)ECHO;
		(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
	}
	rc = read_line(ag, INT64_MAX, out);
	if (secret) {
		(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
		(void)fputc('\n', stderr);
	}
	if (rc == PF_E_INPUT)
		return ag_fault(&ag->fault, rc, NULL, "the line is too long");
	return rc == PF_OK ? rc : ag_fault(&ag->fault, PF_E_ABSENT, NULL,
	    "nothing more was typed");
}
