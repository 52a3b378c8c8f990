/*
 * poppyctl sessions: which there are, and their end.
 */
#include <stdio.h>
#include <string.h>

#include "core/store/token.h"
#include "tools/poppyctl/agents.h"
#include "tools/poppyctl/table.h"

enum { ID, BUCKET = 8, SID };
static const struct ctl_col cols[] = {
	{ "session_id",	"SESSION",	CTL_TEXT },
	{ "state",	"STATE",	CTL_TEXT },
	{ "client_id",	"CLIENT_ID",	CTL_TEXT },
	{ "user",	"USER",		CTL_BYTES },
	{ "started_at",	"STARTED",	CTL_TIME },
	{ "used_at",	"LAST USED",	CTL_TIME },
	{ "ends_at",	"ENDS",		CTL_TIME },
	{ "tokens",	"TOKENS",	CTL_NUMBER },
};
static const struct pf_stmt LIST = {
	"sessions",
	"SELECT NULL::text, CASE WHEN s.ended_at IS NOT NULL THEN 'ended'"
	" WHEN s.ends_at <= poppy.now_at() THEN 'over' ELSE 'live' END,"
	" c.client_id, substr(s.user_key, 1, 8), s.started_at, s.used_at,"
	" coalesce(s.ended_at, s.ends_at), (SELECT count(*) FROM poppy.token t"
	" WHERE t.bucket = s.bucket AND t.sid = s.sid"
	" AND t.expires_at > poppy.now_at()), s.bucket, s.sid"
	" FROM poppy.session s LEFT JOIN poppy.client c USING (client_no)"
	" WHERE ($1::text IS NULL OR c.client_id = $1)"
	" AND ($2 OR (s.ended_at IS NULL AND s.ends_at > poppy.now_at()))"
	" ORDER BY s.used_at DESC, s.sid LIMIT $3"
};

/* An audit row for each, in the same statement. */
#define ENDED \
	"SELECT count(*) FROM (SELECT poppy.audit_put('session_ended'," \
	" e.client_no, e.user_key, e.bucket::int, e.sid, NULL, NULL) FROM e" \
	" OFFSET 0) x"
#define RETURNING " RETURNING s.client_no, s.user_key, s.bucket, s.sid)"
static const struct pf_stmt END_ONE = {
	"end_one",
	"WITH e AS (UPDATE poppy.session s SET ended_at = poppy.now_at()"
	" WHERE s.bucket = ($1::int)::smallint AND s.sid = $2"
	" AND s.ended_at IS NULL AND s.ends_at > poppy.now_at()"
	RETURNING ENDED
};
static const struct pf_stmt END_CLIENT = {
	"end_client",
	"WITH e AS (UPDATE poppy.session s SET ended_at = poppy.now_at()"
	" FROM poppy.client c WHERE c.client_id = $1"
	" AND s.client_no = c.client_no"
	" AND s.ended_at IS NULL AND s.ends_at > poppy.now_at()"
	RETURNING ENDED
};
static const struct pf_stmt KNOWN = {
	"known", "SELECT count(*) FROM poppy.client c WHERE c.client_id = $1"
};

int
ctl_client_known(struct ctl *c, struct pf_db *db)
{
	const struct pf_param v[] = { PF_TEXT(pf_str(c->client)) };
	struct pf_row r;

	if (c->client == NULL)
		return CTL_OK;
	if (pf_db_one(db, c->arena, &KNOWN, v, 1, &r) != PF_OK)
		return ctl_db_trouble(c, db);
	if (pf_row_int(&r, 0) == 0)
		return ctl_fail(c, CTL_ABSENT, "%s: no such client", c->client);
	return CTL_OK;
}

/* The id that agents know, from the key of its row. */
static enum pf_rc
session_id(struct pf_arena *a, const struct pf_row *r, struct ctl_cell *out)
{
	struct pf_str raw = pf_row_bytes(r, SID);
	char text[PF_SID_TEXT];
	struct pf_sid sid;

	if (raw.n != PF_SID_RAW)
		return PF_E_BUG;
	(void)memcpy(sid.raw, raw.p, PF_SID_RAW);
	sid.bucket = (unsigned)pf_row_int(r, BUCKET);
	pf_sid_text(&sid, text);
	out->s = pf_arena_copy(a, pf_bytes(text, sizeof(text)));
	return pf_str_given(out->s) ? PF_OK : PF_E_MEM;
}

static int
list(struct ctl *c, struct pf_db *db)
{
	const struct pf_param v[] = {
		PF_TEXT(pf_str(c->client)), PF_BOOL(c->all), PF_INT8(c->limit)
	};
	const struct pf_rows *rows;
	struct ctl_table t;
	struct pf_buf b;
	struct pf_jw w;
	struct pf_row r;
	int status;

	if ((status = ctl_client_known(c, db)) != CTL_OK)
		return status;
	if (ctl_query(db, c->arena, &LIST, v, PF_COUNT(v), cols, PF_COUNT(cols),
	    &t, &rows) != PF_OK)
		return ctl_db_trouble(c, db);
	for (size_t i = 0; i < t.nrows; i++) {
		r = pf_rows_at(rows, i);
		if (session_id(c->arena, &r, ctl_at(&t, i, ID)) != PF_OK)
			return ctl_fail(c, CTL_WRONG, "no memory");
	}
	if (c->json) {
		ctl_json_begin(c, &b, &w);
		ctl_list_of(&w, "sessions", &t);
		return ctl_json_end(c, &b, &w);
	}
	ctl_columns(&t, "Sessions");
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

static int
tell(struct ctl *c, int64_t ended)
{
	struct pf_buf b;
	struct pf_jw w;

	if (c->json) {
		ctl_json_begin(c, &b, &w);
		pf_jw_int(&w, "ended", ended);
		return ctl_json_end(c, &b, &w);
	}
	(void)printf("Sessions ended: %lld\n", (long long)ended);
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}

static int
end_client(struct ctl *c, struct pf_db *db)
{
	const struct pf_param v[] = { PF_TEXT(pf_str(c->client)) };
	struct pf_row r;
	int status;

	if ((status = ctl_client_known(c, db)) != CTL_OK)
		return status;
	if (pf_db_one(db, c->arena, &END_CLIENT, v, 1, &r) != PF_OK)
		return ctl_db_trouble(c, db);
	return tell(c, pf_row_int(&r, 0));
}

static int
end_one(struct ctl *c, struct pf_db *db)
{
	struct pf_row r;
	struct pf_sid sid;

	if (pf_sid_parse(pf_str(c->operand[0]), &sid) != PF_OK)
		return ctl_fail(c, CTL_USAGE, "%s is no Session's id",
		    c->operand[0]);
	const struct pf_param v[] = {
		PF_INT4(sid.bucket), PF_BYTES(sid.raw, PF_SID_RAW)
	};
	if (pf_db_one(db, c->arena, &END_ONE, v, 2, &r) != PF_OK)
		return ctl_db_trouble(c, db);
	if (pf_row_int(&r, 0) == 0)
		return ctl_fail(c, CTL_ABSENT, "%s: no live Session",
		    c->operand[0]);
	return tell(c, 1);
}

int
ctl_sessions_list(struct ctl *c)
{
	return ctl_with_db(c, list);
}

int
ctl_sessions_end(struct ctl *c)
{
	if ((c->client != NULL) == (c->operand[0] != NULL))
		return ctl_fail(c, CTL_USAGE,
		    "sessions end wants a Session's id or --client");
	return ctl_with_db(c, c->client != NULL ? end_client : end_one);
}
