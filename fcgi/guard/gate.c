/*
 * gate - whether it is the web server that asks. A Unix socket's permissions
 * say so; on TCP, the only way that Apache knows, a secret must.
 */
#include "config.h"

#include "fcgi/guard/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/jose/crypt.h"
#include "core/web/serve.h"

#define GATE_MIN	32
#define GATE_MAX	128

/* The secret itself is kept nowhere: hashes are compared. */
struct gate {
	bool closed;		/* there is a secret to be shown */
	unsigned char hash[PF_SHA256_LEN];
};

/* Nobody but the owner, and the owner is us or root. */
static const char *
file_fault(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return "is no regular file";
	if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return "may be read by others: chmod 0400";
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return "belongs to somebody else";
	return NULL;
}

/* One line of letters, digits, - and _, so that the web server's settings need
 * no quoting. */
static const char *
text_fault(struct pf_str s)
{
	if (s.n < GATE_MIN || s.n > GATE_MAX)
		return "must have 32 to 128 characters";
	for (size_t i = 0; i < s.n; i++)
		if (!pf_is_alpha(s.p[i]) && !pf_is_digit(s.p[i]) &&
		    s.p[i] != '-' && s.p[i] != '_')
			return "must be letters, digits, - and _ alone";
	return NULL;
}

static const char *
read_gate(int fd, struct gate *g)
{
	char text[GATE_MAX + 2];
	const char *why;
	ssize_t n;

	if ((why = file_fault(fd)) != NULL)
		return why;
	if ((n = read(fd, text, sizeof(text))) < 0)
		return "can't be read";
	if (n > 0 && text[n - 1] == '\n')
		n--;
	why = text_fault(pf_bytes(text, (size_t)n));
	if (why == NULL && pf_sha256(pf_bytes(text, (size_t)n), g->hash) !=
	    PF_OK)
		why = "can't be hashed";
	pf_wipe(text, sizeof(text));
	return why;
}

enum pf_rc
guard_gate_load(struct pf_app *app)
{
	const char *why = "can't be opened by this user";
	const struct pf_settings *s = &app->set;
	char path[1200];
	struct gate *g;
	int fd, n;

	if ((g = pf_arena_alloc(&app->arena, sizeof(*g))) == NULL)
		return PF_E_MEM;
	*g = (struct gate){ .closed = s->gate.n != 0 };
	app->own = g;
	if (!g->closed)
		return PF_OK;
	n = snprintf(path, sizeof(path), "%s/%s", s->secrets.p, s->gate.p);
	if (n < 0 || (size_t)n >= sizeof(path))
		return PF_E_INPUT;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd != -1) {
		why = read_gate(fd, g);
		(void)close(fd);
	}
	if (why == NULL)
		return PF_OK;
	(void)fprintf(stderr, "%s: gate: %s %s\n", app->proc->file, path, why);
	return PF_E_INPUT;
}

enum pf_rc
guard_gate_check(struct pf_req *rq)
{
	const struct gate *g = pf_app(rq)->own;
	unsigned char hash[PF_SHA256_LEN];
	enum pf_rc rc;

	if (!g->closed)
		return !pf_serve_on_tcp(rq->serve) ? PF_OK :
		    pf_fail(rq, PF_SERVER_ERROR,
		    "a guard on TCP needs a gate in the settings");
	if ((rc = pf_sha256(rq->gate, hash)) != PF_OK)
		return rc;
	if (!pf_str_given(rq->gate) ||
	    !pf_equal_ct(hash, g->hash, sizeof(hash)))
		return pf_fail(rq, PF_SERVER_ERROR,
		    "the web server did not show the gate secret");
	return PF_OK;
}

void
guard_gate_hide(struct pf_req *rq)
{
	if (pf_str_given(rq->gate))
		pf_resp_header(rq, "Variable-POPPY_GATE", PF_LIT("open"));
}
