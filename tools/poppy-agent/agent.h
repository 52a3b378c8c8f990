/*
 * agent - what all parts of poppy-agent share during one run.
 */
#ifndef AG_AGENT_H
#define AG_AGENT_H

#include "core/base/arena.h"
#include "tools/poppy-agent/fault.h"
#include "tools/poppy-agent/show.h"
#include "tools/poppy-agent/state.h"

#define AG_HEADERS_MAX	16

struct ag_options {
	const char *state;	/* the state file */
	const char *ca;		/* PEM file to trust, or NULL: the system's */
	const char *user;	/* the agent's own name for its User */
	bool refresh;		/* ask again for cached documents */
	int64_t max_wait;	/* longest Retry-After to sit out, seconds */
	const char *listen, *client_id, *cert, *key;	/* serve */
	const char *alg, *name;				/* init, keys, serve */
	const char *data, *session, *company;		/* call, renew, open */
	const char *scope;				/* signin, refresh */
	const char *login;				/* check */
	bool headless, text;				/* open */
	const char *header[AG_HEADERS_MAX];
	size_t nheaders;
	char **arg;		/* what follows the command */
	int narg;
};

struct ag_http;

struct agent {
	struct pf_arena arena;	/* for the whole run */
	struct ag_options opt;
	struct ag_state st;
	struct ag_show show;
	struct ag_fault fault;
	struct ag_http *http;
};

/* One file a command; each shows its own steps. */
PF_MUST enum pf_rc ag_cmd_init(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_keys(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_serve(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_discover(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_session(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_renew(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_signin(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_refresh(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_signout(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_call(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_open(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_visit(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_check(struct agent *ag);
PF_MUST enum pf_rc ag_cmd_status(struct agent *ag);

#endif
