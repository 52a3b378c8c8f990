/*
 * The database as each program reaches it: by its own role, which may call its
 * own functions and nothing else.
 */
#include "config.h"

#include "tools/poppyctl/check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/poppy/app.h"

#define TIMEOUT_MS	8000
#define CLOCK_WARN_MS	2000
#define DAY_S		86400

static const struct pf_stmt STANDING = {
	"standing",
	"SELECT poppy_api.schema_version(), poppy_api.schema_oldest(),"
	" (pg_catalog.date_part('epoch', pg_catalog.clock_timestamp())"
	" * 1000)::bigint"
};
static const struct pf_stmt SCHEMA_FUNCTIONS = {
	"schema_functions", "SELECT poppy_api.schema_functions()"
};
static const struct pf_stmt POWERS = {
	"powers",
	"SELECT r.rolsuper OR r.rolbypassrls OR r.rolreplication"
	" OR r.rolcreaterole OR r.rolcreatedb,"
	" pg_catalog.pg_has_role(r.oid, 'poppy_owner', 'MEMBER')"
	" FROM pg_catalog.pg_roles r WHERE r.rolname = $1::name"
};
/* By oid, since who has no right to a schema can't name what is in it. */
static const struct pf_stmt RELATIONS = {
	"relations",
	"SELECT c.relname::text FROM pg_catalog.pg_class c"
	" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
	" WHERE n.nspname IN ('poppy', 'poppy_api', 'poppy_shop') AND CASE"
	" WHEN c.relkind = 'S' THEN pg_catalog.has_sequence_privilege("
	"$1::name, c.oid, 'USAGE, SELECT, UPDATE')"
	" WHEN c.relkind IN ('r', 'p', 'v', 'm', 'f') THEN"
	" pg_catalog.has_table_privilege($1::name, c.oid, 'SELECT, INSERT,"
	" UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') OR"
	" pg_catalog.has_any_column_privilege($1::name, c.oid, 'SELECT, INSERT,"
	" UPDATE, REFERENCES') ELSE false END"
	" UNION ALL SELECT n.nspname::text FROM pg_catalog.pg_namespace n"
	" WHERE n.nspname IN ('poppy', 'poppy_api', 'poppy_shop')"
	" AND pg_catalog.has_schema_privilege($1::name, n.oid, 'CREATE')"
	" LIMIT 20"
};
static const struct pf_stmt FUNCTIONS = {
	"functions",
	"SELECT p.proname::text FROM pg_catalog.pg_proc p"
	" JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace"
	" WHERE n.nspname IN ('poppy', 'poppy_api')"
	" AND pg_catalog.has_function_privilege($1::name, p.oid, 'EXECUTE')"
};
static const struct pf_stmt HOST_TELL = {
	"host_tell",
	"SELECT other, same_settings, same_master, age_s"
	" FROM poppy_api.host_tell($1, $2, $3)"
};
enum { OTHER, SAME_SETTINGS, SAME_MASTER, AGE_S };

struct look {
	struct check *k;
	const struct ck_program *p;
	struct pf_db *db;
};

/* Do the files of sql/ grant this function to this role? */
static bool
grants(const struct pf_plan *plan, struct pf_str function, const char *role)
{
	static const char head[] = "GRANT EXECUTE ON FUNCTION poppy_api.";

	for (size_t i = 0; i < plan->nfunctions; i++) {
		const char *at = plan->function[i].text.p;

		while ((at = strstr(at, head)) != NULL) {
			const char *end = strchr(at += strlen(head), ';');
			const char *to = strstr(at, role);

			if (strncmp(at, function.p, function.n) == 0 &&
			    at[function.n] == '(' && to != NULL &&
			    end != NULL && to < end)
				return true;
		}
	}
	return false;
}

/* How many functions the files grant to the role. */
static size_t
granted(const struct pf_plan *plan, const char *role)
{
	static const char head[] = "GRANT EXECUTE ON FUNCTION poppy_api.";
	size_t n = 0;

	for (size_t i = 0; i < plan->nfunctions; i++) {
		const char *at = plan->function[i].text.p;

		while ((at = strstr(at, head)) != NULL) {
			const char *end = strchr(at += strlen(head), ';');
			const char *to = strstr(at, role);

			n += to != NULL && end != NULL && to < end;
		}
	}
	return n;
}

static void
check_functions(struct look *l)
{
	const struct pf_param role = PF_TEXT(pf_str(l->p->role));
	const struct pf_rows *rows;
	size_t n, alien = 0;

	if (!l->k->plan_read || pf_db_many(l->db, l->k->c->arena, &FUNCTIONS,
	    &role, 1, &rows, &n) != PF_OK)
		return;
	for (size_t i = 0; i < n; i++) {
		struct pf_row r = pf_rows_at(rows, i);
		struct pf_str name = pf_row_str(&r, 0);

		if (grants(&l->k->plan, name, l->p->role))
			continue;
		alien++;
		ck_say(l->k, CK_FAULT, "roles", "%s may call %.*s, which is "
		    "not its own: REVOKE it, also from PUBLIC", l->p->role,
		    PF_STRF(name));
	}
	if (n - alien < granted(&l->k->plan, l->p->role))
		ck_say(l->k, CK_FAULT, "roles", "%s may call %zu of its %zu "
		    "functions: run poppyctl db migrate", l->p->role,
		    n - alien, granted(&l->k->plan, l->p->role));
	else if (alien == 0)
		ck_say(l->k, CK_OK, "roles", "%s may call its %zu functions "
		    "and no others", l->p->role, n);
}

static void
check_tables(struct look *l)
{
	const struct pf_param role = PF_TEXT(pf_str(l->p->role));
	const struct pf_rows *rows;
	struct pf_row r;
	size_t n;

	if (pf_db_many(l->db, l->k->c->arena, &RELATIONS, &role, 1, &rows,
	    &n) != PF_OK)
		return;
	for (size_t i = 0; i < n; i++) {
		r = pf_rows_at(rows, i);
		ck_say(l->k, CK_FAULT, "roles", "%s has rights to %.*s itself: "
		    "REVOKE ALL on it from %s and from PUBLIC", l->p->role,
		    PF_STRF(pf_row_str(&r, 0)), l->p->role);
	}
	if (n == 0)
		ck_say(l->k, CK_OK, "roles", "%s has no right to any table",
		    l->p->role);
}

static void
check_role(struct look *l)
{
	const struct pf_param role = PF_TEXT(pf_str(l->p->role));
	struct pf_row r;

	if (pf_db_one(l->db, l->k->c->arena, &POWERS, &role, 1, &r) != PF_OK)
		return;
	if (pf_row_bool(&r, 0))
		ck_say(l->k, CK_FAULT, "roles", "%s is a superuser, or may "
		    "make roles or databases, replicate or pass row security: "
		    "ALTER ROLE %s NOSUPERUSER NOCREATEROLE NOCREATEDB "
		    "NOREPLICATION NOBYPASSRLS", l->p->role, l->p->role);
	else if (pf_row_bool(&r, 1))
		ck_say(l->k, CK_FAULT, "roles", "%s is a member of "
		    "poppy_owner: REVOKE poppy_owner FROM %s", l->p->role,
		    l->p->role);
	else {
		check_tables(l);
		check_functions(l);
	}
}

/* The version is that of the last file; then its functions must be, too. */
static void
check_schema(struct look *l, int64_t version, int64_t oldest)
{
	const struct pf_plan *plan = &l->k->plan;
	struct pf_str sum;
	struct pf_row r;

	if (version < PF_SCHEMA_MIN || oldest > PF_SCHEMA_MAX) {
		ck_say(l->k, CK_FAULT, "database", "%s: the schema is version "
		    "%lld and serves programs from %lld on, this release needs "
		    "%d and is %d: %s", l->p->role, (long long)version,
		    (long long)oldest, PF_SCHEMA_MIN, PF_SCHEMA_MAX,
		    version < PF_SCHEMA_MIN ? "run poppyctl db migrate" :
		    "update this host");
		return;
	}
	if (!l->k->plan_read)
		return;
	if (version != (int64_t)plan->nmigrate) {
		ck_say(l->k, CK_FAULT, "database", "%s: the schema is version "
		    "%lld, the files have %zu: %s", l->p->role,
		    (long long)version, plan->nmigrate,
		    version < (int64_t)plan->nmigrate ?
		    "run poppyctl db migrate" : "update this host");
		return;
	}
	if (pf_db_one(l->db, l->k->c->arena, &SCHEMA_FUNCTIONS, NULL, 0, &r) ==
	    PF_OK && (sum = pf_row_bytes(&r, 0)).n == PF_SHA256_LEN &&
	    memcmp(sum.p, plan->functions_sha256, sum.n) == 0)
		ck_say(l->k, CK_OK, "database", "%s: reached, schema version "
		    "%lld is current", l->p->role, (long long)version);
	else
		ck_say(l->k, CK_FAULT, "database", "%s: schema version %lld "
		    "with functions of another release: run poppyctl db "
		    "migrate", l->p->role, (long long)version);
}

/* Proofs are judged by this host's clock, and all else by the database's. */
static void
check_clock(struct look *l, int64_t theirs_ms, int64_t from_ms, int64_t to_ms)
{
	int64_t off = theirs_ms < from_ms ? from_ms - theirs_ms :
	    theirs_ms > to_ms ? theirs_ms - to_ms : 0;
	int64_t may = l->k->c->set.proofs.future_seconds * 1000;

	if (off < CLOCK_WARN_MS)
		ck_say(l->k, CK_OK, "clock",
		    "this host and the database agree");
	else
		ck_say(l->k, off < may ? CK_WARNING : CK_FAULT, "clock",
		    "this host and the database differ by %lld ms: run NTP "
		    "on both", (long long)off);
}

static void
say_host(struct look *l, const struct pf_row *r)
{
	struct pf_str other = pf_row_str(r, OTHER);
	long long days = (long long)(pf_row_int(r, AGE_S) / DAY_S);

	if (!pf_row_null(r, SAME_MASTER) && !pf_row_bool(r, SAME_MASTER))
		ck_say(l->k, CK_FAULT, "hosts", "%.*s had another master key "
		    "%lld days ago: copy it, or each User is two, and run "
		    "poppyctl check there", PF_STRF(other), days);
	if (!pf_row_bool(r, SAME_SETTINGS))
		ck_say(l->k, CK_FAULT, "hosts", "%.*s had other settings %lld "
		    "days ago: make poppy.conf the same, SIGHUP its programs, "
		    "and run poppyctl check there", PF_STRF(other), days);
}

/* Tell the database what this host has, and hear about the others. */
static void
check_hosts(struct look *l)
{
	struct check *k = l->k;
	char name[256] = "";
	const struct pf_rows *rows;
	struct pf_row r;
	unsigned before = k->count[CK_FAULT];
	size_t n;

	if (gethostname(name, sizeof(name) - 1) == -1 || name[0] == '\0') {
		ck_say(k, CK_WARNING, "hosts", "this host has no name, so "
		    "others can't be compared with it: hostnamectl sets one");
		return;
	}
	const struct pf_param v[] = {
		PF_TEXT(pf_str(name)), PF_BYTES(k->shared, sizeof(k->shared)),
		k->master_known ? PF_BYTES(k->master, sizeof(k->master)) :
		    PF_NULLP
	};
	if (pf_db_many(l->db, k->c->arena, &HOST_TELL, v, PF_COUNT(v), &rows,
	    &n) != PF_OK) {
		ck_say(k, CK_FAULT, "hosts", "%s: run poppyctl db migrate",
		    pf_db_trouble(l->db));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		r = pf_rows_at(rows, i);
		say_host(l, &r);
	}
	if (k->count[CK_FAULT] == before)
		ck_say(k, CK_OK, "hosts", "%s and %zu others known have the "
		    "same settings and master key", name, n);
}

/* The role of the shop's PHP: we can't connect as it, and need not. */
static void
check_bridge(struct look *l)
{
	static const struct ck_program bridge = {
		"poppy.php", "poppy_bridge", "bridge.ini"
	};
	struct look its = { l->k, &bridge, l->db };

	check_role(&its);
}

static void
check_reached(struct look *l)
{
	int64_t from_ms = pf_now_ms();
	struct pf_row r;

	if (pf_db_one(l->db, l->k->c->arena, &STANDING, NULL, 0, &r) != PF_OK) {
		ck_say(l->k, CK_FAULT, "database", "%s: %s: is the schema "
		    "installed (poppyctl db status), and does pg_hba.conf let "
		    "this user in as %s?", l->p->role, pf_db_trouble(l->db),
		    l->p->role);
		return;
	}
	check_schema(l, pf_row_int(&r, 0), pf_row_int(&r, 1));
	check_role(l);
	if (l->p != ck_programs)
		return;
	/* Once is enough for these. */
	check_clock(l, pf_row_int(&r, 2), from_ms, pf_now_ms());
	check_hosts(l);
	ck_customers(l->k, l->db);
	check_bridge(l);
}

const char *
ck_conninfo(const struct ctl *c, const struct ck_program *p)
{
	struct pf_buf b;

	/* The last user= is the one that libpq takes. */
	pf_buf_init(&b, c->arena, 4096);
	pf_buf_fmt(&b, "%s user=%s application_name=poppyctl connect_timeout=3",
	    c->conninfo != NULL ? c->conninfo : c->set.database.conninfo.p,
	    p->role);
	return pf_arena_z(c->arena, pf_buf_str(&b));
}

/* Owns the connection; check_reached() may return anywhere. */
static void
check_program(struct check *k, const struct ck_program *p)
{
	struct look l = { .k = k, .p = p };
	struct pf_db_opts opts = { .timeout_ms = TIMEOUT_MS, .quiet = true };
	uid_t uid;

	if ((opts.conninfo = ck_conninfo(k->c, p)) == NULL)
		return;
	opts.prepare = k->c->set.database.prepare;
	if (ck_uid(p, &uid))
		ck_be(uid);
	if (pf_db_new(&opts, &l.db) == PF_OK) {
		check_reached(&l);
		pf_db_free(l.db);
	}
	ck_be_self();
}

void
ck_database(struct check *k)
{
	char why[1200];

	k->plan_read = pf_plan_read(k->c->arena, k->c->sql, &k->plan, why,
	    sizeof(why)) == PF_OK;
	if (!k->plan_read)
		ck_say(k, CK_WARNING, "database", "%s: so schema and rights "
		    "can't be compared with this release", why);
	for (size_t i = 0; i < ck_nprograms; i++)
		if (ck_runs(k, &ck_programs[i]))
			check_program(k, &ck_programs[i]);
}
