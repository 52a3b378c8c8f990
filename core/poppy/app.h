/*
 * app - what a program has while it runs.
 *
 * struct pf_app is one reading of the settings and all that is made of it;
 * immutable, counted, replaced as a whole on SIGHUP, so that a request sees one
 * state from beginning to end. struct pf_proc lives as long as the process.
 */
#ifndef PF_APP_H
#define PF_APP_H

#include "core/poppy/keys.h"
#include "core/poppy/secret.h"
#include "core/poppy/settings.h"
#include "core/web/serve.h"

struct pf_aside;
struct pf_audit;
struct pf_client_cache;
struct pf_flights;
struct pf_limiter;
struct pf_outbound;
struct pf_password_pool;
struct pf_program;

struct pf_proc {
	const struct pf_program *program;
	const char *file;		/* poppy.conf */
	const char *conninfo;		/* with the program's own role */
	struct pf_serve *serve;
	struct pf_outbound *outbound;	/* NULL if the program never fetches */
	struct pf_client_cache *clients;
	struct pf_flights *flights;
	unsigned strangers;		/* of fetch.c; atomic */
	struct pf_limiter *limits;
	struct pf_audit *audit;
	struct pf_password_pool *passwords;	/* NULL if it checks none */
	struct pf_aside *messages;	/* of send_code.h; the same */
};

struct pf_app {
	struct pf_proc *proc;
	struct pf_arena arena;
	struct pf_settings set;
	struct pf_keys keys;
	struct pf_secret login_salt;	/* login.salt_file; empty if none */
	struct pf_secret mail_password;	/* codes.smtp.password_file */
	void *own;			/* the program's, made by build() */
	int refs;			/* under the lock of program.c */
};

/* The app of a request. */
static inline const struct pf_app *
pf_app(const struct pf_req *rq)
{
	return rq->app;
}

/* A program, as its main() describes it. */
struct pf_program {
	const char *name;		/* "poppy-auth" */
	const char *role;		/* of the database: "poppy_auth" */
	enum pf_role fcgi;
	bool fetches;			/* agents' documents */
	bool passwords;			/* it checks customers' passwords */
	/* Its socket and threads in the settings. */
	struct pf_str (*listen)(const struct pf_settings *s);
	int64_t (*workers)(const struct pf_settings *s);
	/* Make app->own in app->arena. */
	enum pf_rc (*build)(struct pf_app *app);
	/* One request; an error is replied to by the caller. */
	enum pf_rc (*handle)(struct pf_req *rq);
	/* Its reply is complete, an error's too (rc is handle's): add headers
	 * that such replies must have. NULL if none. */
	void (*replied)(struct pf_req *rq, enum pf_rc rc);
	/* Housekeeping that its role may do; NULL if none. */
	void (*tick)(const struct pf_app *app, struct pf_db *db,
	    struct pf_arena *a);
};

/* What keeps the settings from being used, for build(): at the start a line for
 * people, later one in the log like everything else. */
void pf_app_complain(const struct pf_app *app,
    const struct pf_conf_fault *fault);

/* The schema versions of poppy_api that this release works with. */
#define PF_SCHEMA_MIN	8
#define PF_SCHEMA_MAX	8

/*
 * main() of every program: options, settings, keys, database, then serve until
 * told to stop. Options: -c FILE (settings), -l SOCKET, -t (check the settings
 * and end), -h, -V. Returns the exit status: 0, 1 (could not run), 2 (usage), 78
 * (EX_CONFIG: bad settings or secrets).
 */
int pf_program_main(const struct pf_program *program, int argc, char **argv);

#endif
