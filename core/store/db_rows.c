/*
 * Rows and columns of an answer, out of PostgreSQL's binary formats.
 */
#include "config.h"

#include <libpq-fe.h>

#include "core/base/log.h"
#include "core/store/db.h"
#include "core/store/db_int.h"

/* pg_type.dat: these numbers never change. */
enum {
	OID_BOOL = 16, OID_BYTEA = 17, OID_NAME = 19, OID_INT8 = 20,
	OID_INT2 = 21, OID_INT4 = 23, OID_TEXT = 25, OID_VARCHAR = 1043
};

struct pf_row
pf_rows_at(const struct pf_rows *rows, size_t i)
{
	return (struct pf_row){ rows, (int)i };
}

/* The column's type; 0 for NULL. A column that is not there is NULL. */
static Oid
column_type(const struct pf_row *r, int col)
{
	const PGresult *res = r->rows->res;

	if (col < 0 || col >= PQnfields(res) || PQgetisnull(res, r->at, col))
		return 0;
	return PQftype(res, col);
}

static struct pf_str
column_bytes(const struct pf_row *r, int col)
{
	return pf_bytes(PQgetvalue(r->rows->res, r->at, col),
	    (size_t)PQgetlength(r->rows->res, r->at, col));
}

static void
wrong_type(const struct pf_row *r, int col)
{
	PF_LOG(PF_LOG_ERROR, "db_column", PF_F_INT("column", col),
	    PF_F_INT("type", PQftype(r->rows->res, col)));
}

bool
pf_row_null(const struct pf_row *r, int col)
{
	return column_type(r, col) == 0;
}

struct pf_str
pf_row_str(const struct pf_row *r, int col)
{
	switch (column_type(r, col)) {
	case OID_TEXT:
	case OID_VARCHAR:
	case OID_NAME:
		return column_bytes(r, col);
	case 0:
		return PF_NOSTR;
	default:
		wrong_type(r, col);
		return PF_NOSTR;
	}
}

struct pf_str
pf_row_bytes(const struct pf_row *r, int col)
{
	switch (column_type(r, col)) {
	case OID_BYTEA:
		return column_bytes(r, col);
	case 0:
		return PF_NOSTR;
	default:
		wrong_type(r, col);
		return PF_NOSTR;
	}
}

int64_t
pf_row_int(const struct pf_row *r, int col)
{
	struct pf_str raw;
	uint64_t v;

	switch (column_type(r, col)) {
	case OID_INT2:
	case OID_INT4:
	case OID_INT8:
		raw = column_bytes(r, col);
		/* Big end first, sign carried from the first byte. */
		v = ((unsigned char)raw.p[0] & 0x80) ? UINT64_MAX : 0;
		for (size_t i = 0; i < raw.n; i++)
			v = (v << 8) | (unsigned char)raw.p[i];
		return (int64_t)v;
	case 0:
		return 0;
	default:
		wrong_type(r, col);
		return 0;
	}
}

bool
pf_row_bool(const struct pf_row *r, int col)
{
	switch (column_type(r, col)) {
	case OID_BOOL:
		return column_bytes(r, col).p[0] != 0;
	case 0:
		return false;
	default:
		wrong_type(r, col);
		return false;
	}
}

bool
pf_row_is(const struct pf_row *r, int col, const char *text)
{
	struct pf_str s = pf_row_str(r, col);

	return pf_str_given(s) && pf_str_eqz(s, text);
}
