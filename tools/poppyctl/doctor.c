/*
 * poppyctl doctor: for as long as it runs, and an hour at most, an agent of our
 * own is published on the issuer's host and tests the shop as any agent could.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/random.h"
#include "core/store/db.h"
#include "tools/poppyctl/check.h"
#include "tools/poppyctl/doctor.h"

#define MOUNT		"/poppy/doctor/"
#define TIMEOUT_MS	20000
#define JSON_MAX	(1u << 20)
#define JWKS_MAX	8192

static const struct pf_stmt PUBLISH = {
	"doctor_publish", "SELECT poppy_api.doctor_publish($1, $2, $3, $4)"
};
static const struct pf_stmt END = {
	"doctor_end", "SELECT poppy_api.doctor_end($1, $2)"
};

struct doctor {
	struct ctl *c;
	struct pf_db *db;
	const char *folder, *state;
	struct pf_str id, client_id, jwks_uri;
	struct pf_str metadata, jwks;
	struct doctor_show show;
};

static struct pf_str
join(struct doctor *d, struct pf_str a, const char *b, struct pf_str c,
    const char *e)
{
	struct pf_buf buf;

	pf_buf_init(&buf, d->c->arena, 4096);
	pf_buf_add(&buf, a);
	pf_buf_addz(&buf, b);
	pf_buf_add(&buf, c);
	pf_buf_addz(&buf, e);
	return pf_buf_str(&buf);
}

/* poppy-agent with its state, the operator's authorities, and args. */
static int
run_agent(struct doctor *d, const char *const args[], size_t nargs,
    void (*on_line)(void *ctx, struct pf_str line), void *ctx)
{
	const char *argv[16] = { d->c->agent, "--state", d->state };
	const char *why = "";
	size_t n = 3;
	int status;

	if (d->c->ca != NULL) {
		argv[n++] = "--ca";
		argv[n++] = d->c->ca;
	}
	(void)memcpy(&argv[n], args, nargs * sizeof(*args));
	if ((status = doctor_run(argv, on_line, ctx, &why)) == -1)
		(void)ctl_fail(d->c, CTL_WRONG, "%s %s", d->c->agent, why);
	return status;
}

static void
ignore_line(void *ctx, struct pf_str line)
{
	(void)ctx;
	(void)line;
}

static void
keep_line(void *ctx, struct pf_str line)
{
	pf_buf_add(ctx, line);
}

/* Keys of its own, which end with its folder. */
static bool
make_agent(struct doctor *d)
{
	const char *id = pf_arena_z(d->c->arena, d->client_id);
	const char *const init[] = { "init", "--client-id", id };
	const char *const keys[] = { "keys", "jwks" };
	struct pf_buf jwks;
	int status;

	pf_buf_init(&jwks, d->c->arena, JWKS_MAX);
	if (id == NULL ||
	    (status = run_agent(d, init, 3, ignore_line, NULL)) == -1)
		return false;
	if (status == 0)
		status = run_agent(d, keys, 2, keep_line, &jwks);
	if (status == 0 && pf_buf_done(&jwks, &d->jwks) == PF_OK)
		return true;
	if (status != -1)
		(void)ctl_fail(d->c, CTL_WRONG,
		    "poppy-agent can't make its keys");
	return false;
}

/* Client ID Metadata Document; section 4.1 of the protocol. */
static enum pf_rc
write_metadata(struct doctor *d)
{
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, d->c->arena, 8192);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "client_id", d->client_id);
	pf_jw_strz(&w, "client_name", "poppyctl doctor");
	pf_jw_str(&w, "jwks_uri", d->jwks_uri);
	/* Where poppy-agent takes a client's to be; nobody is sent there. */
	pf_jw_open(&w, "redirect_uris", '[');
	pf_jw_str(&w, NULL, join(d, d->c->set.issuer_host->base, MOUNT,
	    PF_LIT("oauth/callback"), ""));
	pf_jw_close(&w, ']');
	pf_jw_strz(&w, "token_endpoint_auth_method", "private_key_jwt");
	pf_jw_close(&w, '}');
	return pf_buf_done(&b, &d->metadata);
}

static bool
name_agent(struct doctor *d)
{
	struct pf_str base = d->c->set.issuer_host->base;
	unsigned char raw[16];
	struct pf_buf b;

	if (pf_random(raw, sizeof(raw)) != PF_OK)
		return false;
	pf_buf_init(&b, d->c->arena, 64);
	pf_buf_b64url(&b, raw, sizeof(raw));
	d->id = pf_buf_str(&b);
	d->client_id = join(d, base, MOUNT, d->id, ".json");
	d->jwks_uri = join(d, base, MOUNT, d->id, ".jwks.json");
	return write_metadata(d) == PF_OK;
}

/* As the program's own Unix user, where a connection must be made. */
static enum pf_rc
call(struct doctor *d, const struct pf_stmt *st, const struct pf_param *v,
    size_t n, struct pf_row *r)
{
	enum pf_rc rc;
	uid_t uid;

	if (ck_uid(&ck_programs[0], &uid))
		ck_be(uid);
	rc = pf_db_one(d->db, d->c->arena, st, v, n, r);
	ck_be_self();
	return rc;
}

static bool
publish(struct doctor *d)
{
	const struct pf_param v[] = {
		PF_TEXT(d->id), PF_TEXT(d->client_id), PF_TEXT(d->metadata),
		PF_TEXT(d->jwks)
	};
	struct pf_row r;

	if (call(d, &PUBLISH, v, PF_COUNT(v), &r) != PF_OK)
		(void)ctl_fail(d->c, CTL_WRONG, "%s: see poppyctl check",
		    pf_db_trouble(d->db));
	else if (pf_row_is(&r, 0, "full"))
		(void)ctl_fail(d->c, CTL_WRONG, "eight of these run already, "
		    "or were cut off within the hour: wait for their end");
	else if (pf_row_is(&r, 0, "blocked"))
		(void)ctl_fail(d->c, CTL_WRONG, "agents on the issuer's own "
		    "host are blocked: allow %.*s", PF_STRF(d->client_id));
	else
		return pf_row_is(&r, 0, "ok");
	return false;
}

/* Is this document where agents' companies would look for it? */
static bool
is_at(struct doctor *d, struct ctl_http *http, struct pf_str url,
    struct pf_str text)
{
	const struct ctl_ask ask = { .method = "GET", .url = url };
	struct ctl_reply rp;

	if (ctl_http_send(http, d->c->arena, &ask, &rp) != PF_OK)
		(void)ctl_fail(d->c, CTL_WRONG, "%.*s: no answer: %s",
		    PF_STRF(url), rp.why);
	else if (rp.status != 200 || !pf_str_eq(rp.body, text))
		(void)ctl_fail(d->c, CTL_WRONG, "%.*s: status %d, and not what "
		    "was published: lead " MOUNT " to poppy-auth, and see "
		    "poppyctl check", PF_STRF(url), rp.status);
	else
		return true;
	return false;
}

static bool
is_published(struct doctor *d)
{
	struct ctl_http *http;
	bool there;

	if (ctl_http_new(d->c->ca, &http) != PF_OK)
		return false;
	there = is_at(d, http, d->client_id, d->metadata) &&
	    is_at(d, http, d->jwks_uri, d->jwks);
	ctl_http_free(http);
	return there;
}

/* A domain, with the port of its host if that has one. */
static const char *
with_port(struct doctor *d, struct pf_str name)
{
	const struct pf_host *h = pf_settings_host(&d->c->set, name);

	if (h != NULL)
		name = pf_str_from(h->base, strlen("https://"));
	return pf_arena_z(d->c->arena, name);
}

static bool
visit_one(struct doctor *d, struct pf_str name)
{
	const char *const args[] = {
		"check", with_port(d, name), "--client-url",
		pf_arena_z(d->c->arena, d->client_id)
	};

	d->show.domain = name;
	d->show.planned = false;
	if (d->c->tap || !d->c->json)
		(void)printf("# %.*s\n", PF_STRF(name));
	if (args[1] == NULL || args[3] == NULL ||
	    run_agent(d, args, PF_COUNT(args), doctor_line, &d->show) == -1)
		return false;
	if (d->show.planned)
		return true;
	(void)ctl_fail(d->c, CTL_WRONG, "poppy-agent did not come to its end");
	return false;
}

/* Every domain, for each may have a host, a certificate and rules of its own. */
static bool
visit(struct doctor *d)
{
	const struct pf_strs *names = &d->c->set.domains;

	for (size_t i = 0; i < names->n; i++)
		if (!visit_one(d, names->v[i]))
			return false;
	return true;
}

static int
sum(struct doctor *d)
{
	if (d->c->tap)
		(void)printf("1..%u\n", d->show.points);
	else if (!d->c->json)
		(void)printf("%u of %u points failed\n", d->show.failed,
		    d->show.points);
	return d->show.failed == 0 ? CTL_OK : CTL_WRONG;
}

/* An error told on the way has been the one JSON object already. */
static int
tell_visit(struct doctor *d)
{
	struct pf_buf b;
	struct pf_jw w;

	if (d->c->tap)
		(void)printf("TAP version 13\n");
	if (!d->c->json || d->c->tap)
		return visit(d) ? sum(d) : CTL_WRONG;
	pf_buf_init(&b, d->c->arena, JSON_MAX);
	w = pf_jw(&b);
	d->show.json = &w;
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "client_id", d->client_id);
	pf_jw_open(&w, "points", '[');
	if (!visit(d))
		return CTL_WRONG;
	pf_jw_close(&w, ']');
	pf_jw_int(&w, "failed", d->show.failed);
	pf_jw_close(&w, '}');
	if (b.failed)
		return ctl_fail(d->c, CTL_WRONG, "no memory");
	(void)printf("%.*s\n", PF_STRF(pf_buf_str(&b)));
	return sum(d);
}

/* What can't be taken away now is gone in an hour. */
static bool
take_away(struct doctor *d)
{
	int64_t bucket = 0;
	struct pf_row r;

	do {
		const struct pf_param v[] = { PF_TEXT(d->id), PF_INT4(bucket) };

		if (call(d, &END, v, PF_COUNT(v), &r) != PF_OK) {
			(void)fprintf(stderr, "poppyctl: the agent could not "
			    "be taken away, it ends within the hour: %s\n",
			    pf_db_trouble(d->db));
			return false;
		}
		bucket = pf_row_int(&r, 0);
	} while (!pf_row_null(&r, 0));
	return true;
}

static int
with_agent(struct doctor *d)
{
	int status = CTL_WRONG;

	if (!make_agent(d) || !publish(d))
		return CTL_WRONG;
	if (is_published(d))
		status = tell_visit(d);
	return take_away(d) ? status : CTL_WRONG;
}

/* Owns the folder; with_agent() may return anywhere. */
static int
with_folder(struct doctor *d)
{
	int status;

	if ((d->folder = doctor_folder(d->c->arena)) == NULL)
		return ctl_fail(d->c, CTL_WRONG, "/tmp: %s", strerror(errno));
	d->state = join(d, pf_str(d->folder), "/state", PF_LIT(""), "").p;
	status = with_agent(d);
	doctor_folder_remove(d->folder);
	return status;
}

/* Owns the connection, which is poppy-auth's. */
static int
with_db(struct doctor *d)
{
	struct pf_db_opts opts = { .timeout_ms = TIMEOUT_MS, .quiet = true };
	int status;

	opts.conninfo = ck_conninfo(d->c, &ck_programs[0]);
	opts.prepare = d->c->set.database.prepare;
	if (opts.conninfo == NULL || pf_db_new(&opts, &d->db) != PF_OK)
		return ctl_fail(d->c, CTL_WRONG, "no memory");
	status = with_folder(d);
	pf_db_free(d->db);
	return status;
}

int
ctl_doctor(struct ctl *c)
{
	struct doctor d = { .c = c, .show = { .c = c } };

	if (c->set.issuer.n == 0 || c->set.domains.n == 0)
		return ctl_fail(c, CTL_WRONG, "poppy.conf has no issuer or no "
		    "domain, so no agent can start a Session");
	if (!name_agent(&d))
		return ctl_fail(c, CTL_WRONG, "no memory or no randomness");
	return with_db(&d);
}
