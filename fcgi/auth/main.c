/*
 * poppy-auth: who a Personal Agent is, and Sessions for its Users.
 */
#include "fcgi/auth/auth.h"

#include <stdatomic.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/poppy/limit.h"
#include "core/poppy/nonce.h"
#include "core/poppy/principal.h"
#include "fcgi/auth/pages.h"

static struct pf_str
listen_at(const struct pf_settings *s)
{
	return s->listen.auth;
}

static int64_t
workers(const struct pf_settings *s)
{
	return s->workers.auth;
}

static enum pf_rc
load_pages(struct pf_app *app, struct auth *auth)
{
	struct pf_conf_fault fault = { 0 };
	enum pf_rc rc;

	rc = pf_pages_load(&app->arena, &app->set, &fault, &auth->pages);
	if (rc == PF_E_INPUT)
		pf_app_complain(app, &fault);
	return rc;
}

static enum pf_rc
build(struct pf_app *app)
{
	struct auth *auth;
	enum pf_rc rc;

	if ((auth = pf_arena_alloc(&app->arena, sizeof(*auth))) == NULL)
		return PF_E_MEM;
	auth->mounts[auth->nmounts++] = (struct pf_mount){
		PF_LIT(""), &auth_root_routes
	};
	if (app->set.issuer.n != 0) {
		auth->mounts[auth->nmounts++] = (struct pf_mount){
			app->set.mounts.oauth, &auth_oauth_routes
		};
		auth->mounts[auth->nmounts++] = (struct pf_mount){
			app->set.mounts.pages, &auth_pages_routes
		};
		auth->mounts[auth->nmounts++] = (struct pf_mount){
			PF_LIT("/poppy/doctor"), &auth_doctor_routes
		};
	}
	if (app->set.issuer.n != 0 && app->set.sign_in.mediated.n != 0)
		auth->mounts[auth->nmounts++] = (struct pf_mount){
			app->set.mounts.pages, &auth_mediated_routes
		};
	if (app->set.issuer_path.n != 0)
		auth->mounts[auth->nmounts++] = (struct pf_mount){
			app->set.issuer_path, &auth_issuer_routes
		};
	app->own = auth;
	auth_mediated_warn(&app->set);
	rc = load_pages(app, auth);
	return rc != PF_OK ? rc : auth_write_documents(app, auth);
}

static enum pf_rc
needs(struct pf_req *rq, unsigned bits)
{
	enum pf_rc rc = PF_OK;

	if ((bits & ~(unsigned)(PF_OPEN | PF_NO_SESSION_COOKIE |
	    PF_NEEDS_PROOF)) != 0)
		return PF_E_BUG;
	if ((bits & PF_OPEN) != 0)
		rc = pf_limit_open(rq);
	if (rc == PF_OK && (bits & PF_NO_SESSION_COOKIE) != 0)
		rc = auth_page_needs(rq);
	/* Once a request: a rerun would find its own proof spent. */
	if (rc == PF_OK && (bits & PF_NEEDS_PROOF) != 0 && rq->who == NULL)
		rc = pf_principal_by_proof(rq, PF_LIT(""));
	return rc;
}

static enum pf_rc
handle(struct pf_req *rq)
{
	const struct auth *auth = auth_of(rq);

	return pf_route_run(rq, auth->mounts, auth->nmounts, needs);
}

/* The endpoints whose proofs have nonces: whatever they answer, the next one
 * goes along (RFC 9449, 8.2). */
static bool
takes_nonces(const struct pf_req *rq)
{
	struct pf_str mount = pf_app(rq)->set.mounts.oauth, rest;

	if (rq->route != NULL && (rq->route->needs & PF_NEEDS_PROOF) != 0)
		return true;
	rest = pf_str_from(rq->path, mount.n);
	return pf_str_starts(rq->path, mount) &&
	    (pf_str_eqz(rest, "/token") || pf_str_eqz(rest, "/device") ||
	    pf_str_eqz(rest, "/revoke"));
}

static void
replied(struct pf_req *rq, enum pf_rc rc)
{
	if (rc != PF_OK && rq->route != NULL &&
	    (rq->route->needs & PF_NO_SESSION_COOKIE) != 0)
		auth_page_error(rq);
	if (rq->method != PF_OPTIONS && takes_nonces(rq))
		pf_nonce_reply(rq);
	auth_cors(rq);
}

static const struct pf_stmt REPLAY_ROTATE = {
	"replay_rotate", "SELECT emptied FROM poppy_api.replay_rotate()"
};
static const struct pf_stmt CLEAN = {
	"clean", "SELECT sessions, tokens, audits, grants, others"
	" FROM poppy_api.clean($1, $2, $3, $4, $5, $6, $7)"
};

static const struct pf_stmt CLEAN_CLIENTS = {
	"clean_clients", "SELECT poppy_api.clean_clients($1, $2)"
};

#define HOUR	3600

/* Agents that don't come back, once an hour: it reads every Session. */
static enum pf_rc
clean_clients(const struct pf_app *app, struct pf_db *db, struct pf_arena *a)
{
	static _Atomic int64_t due;	/* in whichever thread */
	const struct pf_param limit[] = {
		PF_INT4(10000), PF_INT8(app->set.agents.keep_days * 86400)
	};
	struct pf_row row;
	int64_t now = pf_now_at();

	if (now < due)
		return PF_OK;
	due = now + HOUR;
	return pf_db_one(db, a, &CLEAN_CLIENTS, limit, PF_COUNT(limit), &row);
}

/* What fails here is logged by db, and done at the next tick. */
static void
tick(const struct pf_app *app, struct pf_db *db, struct pf_arena *a)
{
	const struct pf_settings *s = &app->set;
	const struct pf_param limit[] = {
		PF_INT4(1000), PF_INT8(s->audit.days * 86400),
		PF_INT8(s->retention.request_hours * 3600),
		PF_INT8(s->retention.code_hours * 3600),
		PF_INT8(s->retention.device_hours * 3600),
		PF_INT8(s->retention.login_hours * 3600),
		PF_INT8(s->retention.ended_grant_days * 86400)
	};
	struct pf_row row;
	enum pf_rc rc;

	rc = pf_db_one(db, a, &REPLAY_ROTATE, NULL, 0, &row);
	if (rc == PF_OK)
		rc = pf_db_one(db, a, &CLEAN, limit, PF_COUNT(limit), &row);
	if (rc == PF_OK)
		rc = clean_clients(app, db, a);
	if (rc != PF_OK)
		PF_LOG(PF_LOG_WARN, "tick", PF_F_Z("result", pf_rc_name(rc)));
}

static const struct pf_program program = {
	.name = "poppy-auth",
	.role = "poppy_auth",
	.fcgi = PF_RESPONDER,
	.fetches = true,
	.passwords = true,
	.listen = listen_at,
	.workers = workers,
	.build = build,
	.handle = handle,
	.replied = replied,
	.tick = tick,
};

int
main(int argc, char **argv)
{
	return pf_program_main(&program, argc, argv);
}
