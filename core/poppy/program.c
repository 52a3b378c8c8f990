/*
 * What all programs do alike: start, reload, end.
 */
#include "config.h"

#include "core/poppy/app.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/jose/crypt.h"
#include "core/poppy/audit.h"
#include "core/poppy/client.h"
#include "core/poppy/fetch.h"
#include "core/poppy/limit.h"
#include "core/poppy/password_pool.h"
#include "core/poppy/places.h"
#include "core/poppy/principal.h"
#include "core/poppy/send_code.h"
#include "core/web/challenge.h"
#include "core/web/outbound.h"
#include "core/web/route.h"

#define CONF_ARENA	(64u << 10)
#define CONF_CAP	(16u << 20)
#define RERUNS_MAX	1024u
#define USER_LOG	8	/* bytes of a User's key */
#define LIMIT_PLACES	16384u	/* addresses, Sessions and clients counted */

struct running {
	struct pf_proc proc;
	pthread_mutex_t lock;		/* of app and of all refs */
	struct pf_app *app;
	struct pf_app *first;		/* threads hold on to its strings */
};

static void
app_free(struct pf_app *app)
{
	pf_keys_wipe(&app->keys);
	pf_secret_wipe(&app->login_salt);
	pf_secret_wipe(&app->mail_password);
	pf_arena_free(&app->arena);
	free(app);
}

void
pf_app_complain(const struct pf_app *app, const struct pf_conf_fault *fault)
{
	const struct pf_proc *proc = app->proc;

	if (proc->serve == NULL) {
		pf_conf_complain(stderr, fault);
		return;
	}
	PF_LOG(PF_LOG_ERROR, "settings", PF_F_Z("file", fault->file),
	    PF_F_INT("line", fault->line), PF_F_Z("key", fault->key),
	    PF_F_Z("reason", fault->reason));
}

/* A file of the secrets folder that a setting names. */
static enum pf_rc
read_secret(struct pf_app *app, const char *key, struct pf_str name,
    struct pf_secret *out)
{
	struct pf_conf_fault fault = { 0 };
	const char *folder = app->set.secrets.p, *why = "";
	enum pf_rc rc;

	if (name.n == 0)
		return PF_OK;
	if ((rc = pf_secret_read(folder, name, out, &why)) == PF_OK)
		return PF_OK;
	(void)!pf_conf_refuse(&fault, app->proc->file, 0, key, "%s/%.*s %s",
	    folder, PF_STRF(name), why);
	pf_app_complain(app, &fault);
	return rc;
}

static enum pf_rc
read_secrets(struct pf_app *app)
{
	enum pf_rc rc;

	if (!app->proc->program->passwords)
		return PF_OK;
	if ((rc = read_secret(app, "login.salt_file",
	    app->set.login.salt_file, &app->login_salt)) != PF_OK)
		return rc;
	return read_secret(app, "codes.smtp.password_file",
	    app->set.codes.smtp.password_file, &app->mail_password);
}

static enum pf_rc
app_fill(struct pf_app *app)
{
	struct pf_conf_fault fault = { 0 };
	const char *folder, *why = "";
	enum pf_rc rc;

	rc = pf_arena_init(&app->arena, CONF_ARENA, CONF_CAP);
	if (rc != PF_OK)
		return rc;
	rc = pf_settings_read(app->proc->file, &app->arena, &app->set, &fault);
	if (rc != PF_OK) {
		pf_app_complain(app, &fault);
		return rc;
	}
	folder = pf_keys_folder(app->set.secrets.p);
	rc = pf_keys_load(folder, &app->keys, &why);
	if (rc != PF_OK) {
		(void)!pf_conf_refuse(&fault, app->proc->file, 0, "secrets",
		    "%s/master %s", folder, why);
		pf_app_complain(app, &fault);
		return rc;
	}
	if ((rc = read_secrets(app)) != PF_OK)
		return rc;
	return app->proc->program->build(app);
}

/* NULL, told on standard error, if anything is wrong. */
static struct pf_app *
app_read(struct pf_proc *proc)
{
	struct pf_app *app;

	if ((app = calloc(1, sizeof(*app))) == NULL)
		return NULL;
	app->proc = proc;
	app->refs = 1;
	if (app_fill(app) != PF_OK) {
		app_free(app);
		return NULL;
	}
	return app;
}

static void
app_drop(struct running *r, struct pf_app *app)
{
	bool last;

	(void)pthread_mutex_lock(&r->lock);
	last = --app->refs == 0;
	(void)pthread_mutex_unlock(&r->lock);
	if (last)
		app_free(app);
}

/* Behind a proxy the peer is the proxy: from here on it is the client. What is
 * done twice, on a rerun, finds the client there already. */
static void
find_client(struct pf_req *rq)
{
	const struct pf_list *proxies = &pf_app(rq)->set.proxy_networks;
	char text[PF_ADDRESS_TEXT];
	struct pf_address a;
	struct pf_str copy;

	if (proxies->n == 0)
		return;
	pf_address_of(proxies, rq->remote_addr, rq->forwarded_for, &a);
	pf_address_write(&a, text);
	copy = pf_arena_copy(rq->arena, pf_str(text));
	if (copy.n != 0)
		rq->remote_addr = copy;
}

static void
on_begin(void *ctx, struct pf_req *rq)
{
	struct running *r = ctx;

	(void)pthread_mutex_lock(&r->lock);
	r->app->refs++;
	rq->app = r->app;
	(void)pthread_mutex_unlock(&r->lock);
	find_client(rq);
	rq->judged = false;
	rq->scheme = "DPoP";
	rq->db_trips = rq->db != NULL ? pf_db_trips(rq->db) : 0;
}

/* Enough of a User's key to follow one through the log; the User ID itself is
 * not known any more. */
static struct pf_str
short_user(struct pf_req *rq)
{
	struct pf_buf b;

	pf_buf_init(&b, rq->arena, 2 * USER_LOG);
	pf_buf_hex(&b, rq->who->user.p, USER_LOG);
	return pf_buf_str(&b);
}

/* Whose request it was, and what it cost the database. */
static size_t
on_fields(void *ctx, struct pf_req *rq, struct pf_field *f, size_t room)
{
	size_t n = 0;

	(void)ctx;
	if (room < 3)
		return 0;
	if (rq->db != NULL)
		f[n++] = (struct pf_field)PF_F_INT("db_trips",
		    pf_db_trips(rq->db) - rq->db_trips);
	if (rq->who != NULL) {
		f[n++] = (struct pf_field)PF_F_STR("client_id",
		    rq->who->client_id);
		f[n++] = (struct pf_field)PF_F_STR("user", short_user(rq));
	}
	return n;
}

static void
on_end(void *ctx, struct pf_req *rq)
{
	struct running *r = ctx;
	struct pf_app *app;

	/* rq->app is the app itself, const for those who handle requests. */
	(void)memcpy(&app, &rq->app, sizeof(app));
	rq->app = NULL;
	app_drop(r, app);
}

static void
on_reload(void *ctx)
{
	struct running *r = ctx;
	struct pf_app *fresh, *old;
	enum pf_level level;

	if ((fresh = app_read(&r->proc)) == NULL) {
		PF_LOG(PF_LOG_ERROR, "reload",
		    PF_F_Z("outcome", "refused, the old settings stay"));
		return;
	}
	(void)pthread_mutex_lock(&r->lock);
	old = r->app;
	r->app = fresh;
	(void)pthread_mutex_unlock(&r->lock);
	app_drop(r, old);
	if (pf_log_level_parse(fresh->set.log, &level) == PF_OK)
		pf_log_level(level);
	PF_LOG(PF_LOG_INFO, "reload", PF_F_Z("outcome", "ok"));
}

/* Why a request was refused, once, where the request ends. Its path may hold a
 * secret, so the row that was found for it must do; the line of the request
 * has more. */
static void
log_refusal(const struct pf_req *rq, enum pf_rc rc)
{
	enum pf_level level = rc < PF_E_BUSY ? PF_LOG_INFO : PF_LOG_WARN;
	const char *trouble = "";

	if (rc == PF_E_DB && rq->db != NULL)
		trouble = pf_db_trouble(rq->db);
	PF_LOG(level, "refused", PF_F_Z("result", pf_rc_name(rc)),
	    PF_F_Z("error", pf_err_info(rq->err)->code),
	    PF_F_STR("why", rq->err_text), PF_F_Z("database", trouble),
	    PF_F_Z("route", rq->route != NULL ? rq->route->path : ""),
	    PF_F_STR("address", rq->remote_addr));
}

/*
 * A refusal that the database has not written down is counted for the audit;
 * who is refused for what can't be a mistake of the day takes from the bucket
 * of its address. A nonce is asked for in the course of things.
 */
static void
count_refusal(struct pf_req *rq, enum pf_rc rc)
{
	if (rq->judged || rq->err == PF_USE_DPOP_NONCE ||
	    (rc != PF_E_INPUT && rc != PF_E_AUTH && rc != PF_E_LIMIT))
		return;
	pf_audit_refused(pf_app(rq)->proc->audit, rq);
	if (rc != PF_E_LIMIT)
		pf_limit_refused(rq);
}

static enum pf_rc
on_handle(struct pf_req *rq)
{
	const struct pf_program *p = pf_app(rq)->proc->program;
	enum pf_rc rc;

	if ((rc = p->handle(rq)) == PF_PARKED)
		return rc;
	if (rc != PF_OK) {
		log_refusal(rq, rc);
		pf_fail_reply(rq, rc);
		count_refusal(rq, rc);
	}
	if (p->replied != NULL)
		p->replied(rq, rc);
	return rc;
}

static void
on_tick(void *ctx, struct pf_db *db, struct pf_arena *a)
{
	struct running *r = ctx;
	struct pf_app *app;

	/* What fails is logged by db, and done at the next tick. */
	if (pf_audit_flush(r->proc.audit, db, a) != PF_OK)
		return;
	if (r->proc.program->tick == NULL)
		return;
	(void)pthread_mutex_lock(&r->lock);
	app = r->app;
	app->refs++;
	(void)pthread_mutex_unlock(&r->lock);
	r->proc.program->tick(app, db, a);
	app_drop(r, app);
}

static enum pf_rc
start_fetching(struct running *r)
{
	const struct pf_settings *s = &r->app->set;
	struct pf_outbound_opts opts = {
		.max_inflight = PF_PLACES,
		.max_per_host = PF_PLACES_HOST,
		.ports = s->agents.ports,
		.allow_nets = s->agents.allow_networks,
		.extra_ca = s->agents.extra_ca,
	};
	enum pf_rc rc;

	if ((rc = pf_outbound_start(&opts, &r->proc.outbound)) != PF_OK)
		return rc;
	return pf_flights_new(&r->proc.flights);
}

static enum pf_rc
start_passwords(struct running *r)
{
	const struct pf_password_pool_opts opts = {
		.threads = (unsigned)r->app->set.login.threads,
		.salt = pf_secret_str(&r->app->login_salt),
	};
	enum pf_rc rc;

	if ((rc = pf_password_pool_start(&opts, &r->proc.passwords)) != PF_OK)
		return rc;
	return pf_send_code_start(&r->proc.messages);
}

static enum pf_rc
on_start(void *ctx, struct pf_serve *serve)
{
	struct running *r = ctx;
	enum pf_rc rc;

	r->proc.serve = serve;
	if ((rc = pf_limiter_new(LIMIT_PLACES, &r->proc.limits)) != PF_OK ||
	    (rc = pf_audit_new(&r->proc.audit)) != PF_OK)
		return rc;
	if (r->proc.program->passwords && (rc = start_passwords(r)) != PF_OK)
		return rc;
	if (!r->proc.program->fetches)
		return PF_OK;
	rc = pf_client_cache_new((size_t)r->app->set.agents.cached,
	    &r->proc.clients);
	return rc != PF_OK ? rc : start_fetching(r);
}

static void
on_stop(void *ctx)
{
	struct running *r = ctx;

	if (r->proc.outbound != NULL)
		pf_outbound_stop(r->proc.outbound);
	pf_password_pool_stop(r->proc.passwords);
	pf_aside_stop(r->proc.messages);
	pf_flights_free(r->proc.flights);
	pf_client_cache_free(r->proc.clients);
	pf_limiter_free(r->proc.limits);
	pf_audit_free(r->proc.audit);
}

static const struct pf_serve_ops ops = {
	.handle = on_handle,
	.begin = on_begin,
	.end = on_end,
	.fields = on_fields,
	.reload = on_reload,
	.tick = on_tick,
	.start = on_start,
	.stop = on_stop,
};

/* The settings' connection string with this program's role behind it: the last
 * one of two that libpq reads wins. */
static char *
with_role(const struct pf_settings *s, const struct pf_program *p)
{
	char *z;

	if (asprintf(&z, "%s user=%s application_name=%s connect_timeout=3",
	    s->database.conninfo.p, p->role, p->name) == -1)
		return NULL;
	return z;
}

struct options {
	const char *file;
	const char *listen;
	bool only_check;
};

static enum pf_rc
serve(struct running *r, const struct options *o)
{
	const struct pf_program *p = r->proc.program;
	const struct pf_settings *s = &r->app->set;
	struct pf_str path = p->listen(s);
	struct pf_serve_opts so = {
		.listen = o->listen != NULL ? o->listen :
		    path.n != 0 ? path.p : NULL,
		.tcp_anywhere = s->listen_anywhere,
		.backlog = 4096,
		.role = p->fcgi,
		.workers = (unsigned)p->workers(s),
		/* A request that waits for a fetch keeps its arena. */
		.max_parked = p->fetches ? RERUNS_MAX :
		    (unsigned)s->max_parked,
		.arena_first = 32u << 10,
		.arena_cap = 8u << 20,
		.tick_ms = 10000,
		.db = {
			.conninfo = r->proc.conninfo,
			.prepare = s->database.prepare,
			.timeout_ms = (int)s->database.timeout_ms,
			.schema_min = PF_SCHEMA_MIN,
			.schema_max = PF_SCHEMA_MAX,
		},
		.ops = &ops,
		.ctx = r,
	};

	return pf_serve_run(&so);
}

static int
run(struct running *r, const struct options *o)
{
	enum pf_level level;
	char *conninfo;
	enum pf_rc rc;

	if (pf_log_level_parse(r->app->set.log, &level) == PF_OK)
		pf_log_level(level);
	if (r->app->set.agents.allow_networks.n != 0)
		PF_LOG(PF_LOG_WARN, "settings", PF_F_Z("warning",
		    "agents.allow_networks is set: a test setting that lets "
		    "agents' documents come from inner networks"));
	if ((conninfo = with_role(&r->app->set, r->proc.program)) == NULL)
		return EXIT_FAILURE;
	r->proc.conninfo = conninfo;
	rc = serve(r, o);
	free(conninfo);
	return rc == PF_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void
usage(FILE *to, const char *name)
{
	(void)fprintf(to, "usage: %s [-htV] [-c settings] [-l socket]\n", name);
}

/* -1: go on; else the exit status. */
static int
read_options(const char *name, int argc, char **argv, struct options *o)
{
	int c;

	while ((c = getopt(argc, argv, "c:hl:tV")) != -1) {
		switch (c) {
		case 'c':
			o->file = optarg;
			break;
		case 'l':
			o->listen = optarg;
			break;
		case 't':
			o->only_check = true;
			break;
		case 'V':
			(void)printf("%s %s\n", name, PACKAGE_VERSION);
			return EXIT_SUCCESS;
		case 'h':
			usage(stdout, name);
			return EXIT_SUCCESS;
		default:
			usage(stderr, name);
			return 2;
		}
	}
	if (optind == argc)
		return -1;
	usage(stderr, name);
	return 2;
}

int
pf_program_main(const struct pf_program *program, int argc, char **argv)
{
	struct options o = { PF_SYSCONFDIR "/poppy/poppy.conf", NULL, false };
	struct running r = {
		.proc = { .program = program },
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	int status;

	if ((status = read_options(program->name, argc, argv, &o)) != -1)
		return status;
	pf_log_init(program->name, PF_LOG_INFO);
	r.proc.file = o.file;
	if (pf_crypt_init() != PF_OK) {
		(void)fprintf(stderr, "%s: OpenSSL lacks an algorithm\n",
		    program->name);
		return EXIT_FAILURE;
	}
	status = EX_CONFIG;
	if ((r.app = app_read(&r.proc)) != NULL) {
		r.first = r.app;
		r.first->refs++;
		status = o.only_check ? EXIT_SUCCESS : run(&r, &o);
		app_drop(&r, r.app);
		app_drop(&r, r.first);
	}
	pf_crypt_end();
	return status;
}
