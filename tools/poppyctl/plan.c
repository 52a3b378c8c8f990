#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/poppyctl/plan.h"

static const struct pf_stmt SCHEMAS = {
	"schemas",
	"SELECT pg_catalog.to_regnamespace('poppy') IS NOT NULL,"
	" pg_catalog.to_regnamespace('poppy_api') IS NOT NULL,"
	" pg_catalog.to_regclass('poppy.schema_migration') IS NOT NULL"
};
static const struct pf_stmt MIGRATIONS = {
	"migrations",
	"SELECT number, name, sha256 FROM poppy.schema_migration"
	" ORDER BY number"
};

/* Read folder/sub; the name in the plan is the file's, without .sql. */
static enum pf_rc
read_script(struct pf_arena *a, const char *folder, struct pf_str sub,
    struct pf_script *out, char *why, size_t size)
{
	char path[1024];
	enum pf_rc rc;
	int n;

	n = snprintf(path, sizeof(path), "%s/%.*s", folder, PF_STRF(sub));
	if (n < 0 || (size_t)n >= sizeof(path)) {
		(void)snprintf(why, size, "%s: too long a path", folder);
		return PF_E_INPUT;
	}
	if ((rc = ctl_read(a, path, &out->text)) != PF_OK) {
		(void)snprintf(why, size, "%s: %s", path, strerror(errno));
		return rc;
	}
	if (out->text.n == 0 || strlen(out->text.p) != out->text.n) {
		(void)snprintf(why, size, "%s: is empty or holds a NUL", path);
		return PF_E_INPUT;
	}
	out->name = pf_arena_copy(a, pf_str_head(sub, sub.n - strlen(".sql")));
	if (out->name.p == NULL)
		return PF_E_MEM;
	return pf_sha256(out->text, out->sha256);
}

static enum pf_rc
read_folder(struct pf_arena *a, const char *folder, const char *sub,
    struct pf_script **out, size_t *n, char *why, size_t size)
{
	struct pf_strs names;
	char path[1024];
	enum pf_rc rc;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, sub);
	if ((rc = ctl_list(a, path, &names)) != PF_OK || names.n == 0) {
		(void)snprintf(why, size, "%s: no *.sql in it", path);
		return rc != PF_OK ? rc : PF_E_ABSENT;
	}
	if ((*out = pf_arena_alloc(a, names.n * sizeof(**out))) == NULL)
		return PF_E_MEM;
	for (*n = 0; *n < names.n; (*n)++)
		if ((rc = read_script(a, path, names.v[*n], &(*out)[*n], why,
		    size)) != PF_OK)
			return rc;
	return PF_OK;
}

/* 0001-, 0002-, ... without a gap: a lost file must not go unseen. */
static enum pf_rc
check_numbers(const struct pf_plan *p, char *why, size_t size)
{
	char want[8];

	for (size_t i = 0; i < p->nmigrate; i++) {
		(void)snprintf(want, sizeof(want), "%04u-",
		    (unsigned)((i + 1) % 10000));
		if (pf_str_starts(p->migrate[i].name, pf_str(want)))
			continue;
		(void)snprintf(why, size, "migrate/%.*s.sql stands where "
		    "%sNAME.sql should", PF_STRF(p->migrate[i].name), want);
		return PF_E_INPUT;
	}
	return PF_OK;
}

/* Of all functions together: names and hashes, so a renamed file counts. */
static enum pf_rc
hash_functions(struct pf_arena *a, struct pf_plan *p)
{
	struct pf_str text;
	struct pf_buf b;
	enum pf_rc rc;

	pf_buf_init(&b, a, 1u << 20);
	for (size_t i = 0; i < p->nfunctions; i++) {
		pf_buf_add(&b, p->function[i].name);
		pf_buf_char(&b, '=');
		pf_buf_hex(&b, p->function[i].sha256, PF_SHA256_LEN);
		pf_buf_char(&b, '\n');
	}
	if ((rc = pf_buf_done(&b, &text)) != PF_OK)
		return rc;
	return pf_sha256(text, p->functions_sha256);
}

enum pf_rc
pf_plan_read(struct pf_arena *a, const char *folder, struct pf_plan *out,
    char *why, size_t size)
{
	struct pf_script roles;
	enum pf_rc rc;

	(void)snprintf(why, size, "the files don't fit into memory");
	if ((rc = read_script(a, folder, PF_LIT("roles.sql"), &roles, why,
	    size)) != PF_OK)
		return rc;
	out->roles = roles.text;
	if ((rc = read_folder(a, folder, "migrate", &out->migrate,
	    &out->nmigrate, why, size)) != PF_OK ||
	    (rc = check_numbers(out, why, size)) != PF_OK ||
	    (rc = read_folder(a, folder, "functions", &out->function,
	    &out->nfunctions, why, size)) != PF_OK)
		return rc;
	return hash_functions(a, out);
}

static enum pf_rc PF_PRINTF(2, 3)
wrong(struct pf_state *s, const char *fmt, ...)
{
	va_list ap;

	s->standing = PF_WRONG;
	va_start(ap, fmt);
	(void)vsnprintf(s->why, sizeof(s->why), fmt, ap);
	va_end(ap);
	return PF_OK;
}

/* One row of schema_migration against its file. */
static void
compare_row(const struct pf_plan *plan, const struct pf_row *r,
    struct pf_state *s)
{
	int64_t number = pf_row_int(r, 0);
	struct pf_str name = pf_row_str(r, 1), sha = pf_row_bytes(r, 2);
	const struct pf_script *file;

	if (number == 0) {
		s->functions = sha.n == PF_SHA256_LEN &&
		    memcmp(sha.p, plan->functions_sha256, sha.n) == 0;
		return;
	}
	if (number != (int64_t)s->applied + 1) {
		(void)wrong(s, "schema_migration has number %lld where %zu "
		    "should follow", (long long)number, s->applied + 1);
		return;
	}
	if (number > (int64_t)plan->nmigrate) {
		(void)wrong(s, "the database is newer than these files: it has "
		    "%.*s, the last file is number %zu", PF_STRF(name),
		    plan->nmigrate);
		return;
	}
	file = &plan->migrate[s->applied++];
	if (sha.n != PF_SHA256_LEN || memcmp(sha.p, file->sha256, sha.n) != 0)
		(void)wrong(s, "migration %.*s was applied with another text "
		    "than %.*s.sql has now", PF_STRF(name),
		    PF_STRF(file->name));
}

static enum pf_rc
compare_rows(struct pf_db *db, struct pf_arena *a, const struct pf_plan *plan,
    struct pf_state *out)
{
	const struct pf_rows *rows;
	struct pf_row r;
	size_t n;
	enum pf_rc rc;

	rc = pf_db_many(db, a, &MIGRATIONS, NULL, 0, &rows, &n);
	if (rc != PF_OK)
		return rc;
	for (size_t i = 0; i < n && out->standing != PF_WRONG; i++) {
		r = pf_rows_at(rows, i);
		compare_row(plan, &r, out);
	}
	if (out->standing == PF_WRONG)
		return PF_OK;
	if (out->applied == 0)
		return wrong(out, "schema_migration holds no migration");
	out->standing = out->applied < plan->nmigrate || !out->functions ?
	    PF_BEHIND : PF_CURRENT;
	return PF_OK;
}

enum pf_rc
pf_plan_compare(struct pf_db *db, struct pf_arena *a,
    const struct pf_plan *plan, struct pf_state *out)
{
	struct pf_row r;
	bool tables, api, record;
	enum pf_rc rc;

	*out = (struct pf_state){ .standing = PF_ABSENT };
	if ((rc = pf_db_one(db, a, &SCHEMAS, NULL, 0, &r)) != PF_OK)
		return rc;
	tables = pf_row_bool(&r, 0);
	api = pf_row_bool(&r, 1);
	record = pf_row_bool(&r, 2);
	if (!tables && !api)
		return PF_OK;
	if (!tables || !api)
		return wrong(out, "schema %s is there without schema %s: "
		    "half an installation, or another program's",
		    tables ? "poppy" : "poppy_api",
		    tables ? "poppy_api" : "poppy");
	if (!record)
		return wrong(out, "schema poppy is there without "
		    "poppy.schema_migration: half an installation, or another "
		    "program's");
	return compare_rows(db, a, plan, out);
}
