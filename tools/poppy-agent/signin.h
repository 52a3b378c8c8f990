/*
 * signin - the three types of sign-in (4.5 to 4.7), each in a file of its own;
 * of signin*.c alone.
 */
#ifndef AG_SIGNIN_H
#define AG_SIGNIN_H

#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/token.h"

/* What is to be signed in, and for what. */
struct ag_signin {
	const struct ag_company *company;
	struct ag_user *user;
	struct pf_str session_id;
	struct pf_str scope;
};

/* Ask the token endpoint; *answer is what came back, whatever it is. */
PF_MUST enum pf_rc ag_signin_ask(struct agent *ag, const struct ag_signin *s,
    const struct ag_param *param, size_t n, struct ag_token_answer *answer);
/* A reply that ends the sign-in: judged, kept and shown. */
PF_MUST enum pf_rc ag_signin_take(struct agent *ag, const struct ag_signin *s,
    const struct pf_json *doc);

/* Each runs from the request to the Account Token. Fault set. */
PF_MUST enum pf_rc ag_signin_direct(struct agent *ag,
    const struct ag_signin *s);
PF_MUST enum pf_rc ag_signin_device(struct agent *ag,
    const struct ag_signin *s);
PF_MUST enum pf_rc ag_signin_mediated(struct agent *ag,
    const struct ag_signin *s);

/* A line that a person types; secret: without echo on a terminal. The line end
 * is cut. PF_E_ABSENT at the end of the input. Fault set. */
PF_MUST enum pf_rc ag_read_line(struct agent *ag, const char *prompt,
    bool secret, struct pf_str *out);
/* The same, but no longer than until a deadline of pf_mono_ms(): PF_E_ABSENT
 * if nothing was typed by then, PF_E_UPSTREAM at the end of the input. */
PF_MUST enum pf_rc ag_read_line_until(struct agent *ag, int64_t deadline_ms,
    struct pf_str *out);

#endif
