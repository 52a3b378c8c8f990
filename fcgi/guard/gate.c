/*
 * gate - whether it is the web server that asks. A Unix socket's permissions
 * say so; on TCP, the only way that Apache knows, a secret must.
 */
#include "config.h"

#include "fcgi/guard/guard.h"

#include <stdio.h>
#include <unistd.h>

#include "core/jose/crypt.h"
#include "core/web/serve.h"

#define GATE_MIN	32
#define GATE_MAX	128

/* The secret itself is kept nowhere: hashes are compared. */
struct guard_gate {
	bool closed;		/* there is a secret to be shown */
	unsigned char hash[PF_SHA256_LEN];
};

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
read_gate(int fd, struct guard_gate *g)
{
	char text[GATE_MAX + 2];
	const char *why;
	ssize_t n;

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
guard_gate_load(struct pf_app *app, const struct guard_gate **out)
{
	const struct pf_settings *s = &app->set;
	const char *why = NULL;
	struct guard_gate *g;
	int fd;

	if ((g = pf_arena_alloc(&app->arena, sizeof(*g))) == NULL)
		return PF_E_MEM;
	*g = (struct guard_gate){ .closed = s->gate.n != 0 };
	*out = g;
	if (!g->closed)
		return PF_OK;
	if (pf_keys_open(s->secrets.p, s->gate.p, &fd, &why) == PF_OK) {
		why = read_gate(fd, g);
		(void)close(fd);
	}
	if (why == NULL)
		return PF_OK;
	(void)fprintf(stderr, "%s: gate: %s/%s %s\n", app->proc->file,
	    s->secrets.p, s->gate.p, why);
	return PF_E_INPUT;
}

enum pf_rc
guard_gate_check(struct pf_req *rq)
{
	const struct guard_gate *g = guard_of(rq)->gate;
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
