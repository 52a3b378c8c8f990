#include "config.h"

#include <stdio.h>
#include <time.h>

#include "tools/poppyctl/table.h"

#define CELL	40		/* bytes of a number or a time as text */
#define HEX_MAX	32		/* digits of bytes that are shown */
#define JSON_MAX (48u << 20)

struct ctl_cell *
ctl_at(const struct ctl_table *t, size_t row, size_t col)
{
	return &t->cell[row * t->ncols + col];
}

static enum pf_rc
read_cell(struct pf_arena *a, const struct pf_row *r, int at,
    enum ctl_type type, struct ctl_cell *out)
{
	struct pf_str raw;
	struct pf_buf b;

	switch (type) {
	case CTL_TEXT:
		out->s = pf_row_null(r, at) ? PF_NOSTR : pf_row_str(r, at);
		return PF_OK;
	case CTL_BYTES:
		raw = pf_row_bytes(r, at);
		pf_buf_init(&b, a, HEX_MAX);
		pf_buf_hex(&b, raw.p, raw.n > HEX_MAX / 2 ? HEX_MAX / 2 : raw.n);
		if (pf_row_null(r, at))
			return PF_OK;
		return pf_buf_done(&b, &out->s);
	case CTL_FLAG:
		out->n = pf_row_bool(r, at);
		return PF_OK;
	case CTL_NUMBER:
	case CTL_TIME:
		out->n = pf_row_int(r, at);
		return PF_OK;
	}
	return PF_E_BUG;
}

enum pf_rc
ctl_query(struct pf_db *db, struct pf_arena *a, const struct pf_stmt *st,
    const struct pf_param *v, size_t n, const struct ctl_col *col, size_t ncols,
    struct ctl_table *out, const struct pf_rows **raw)
{
	const struct pf_rows *rows;
	struct pf_row r;
	enum pf_rc rc;

	*out = (struct ctl_table){ .col = col, .ncols = ncols };
	rc = pf_db_many(db, a, st, v, n, &rows, &out->nrows);
	if (rc != PF_OK)
		return rc;
	out->cell = pf_arena_alloc(a, (out->nrows * ncols + 1) *
	    sizeof(*out->cell));
	if (out->cell == NULL)
		return PF_E_MEM;
	for (size_t i = 0; i < out->nrows; i++) {
		r = pf_rows_at(rows, i);
		for (size_t k = 0; k < ncols; k++) {
			*ctl_at(out, i, k) = (struct ctl_cell){ PF_NOSTR, 0 };
			if ((rc = read_cell(a, &r, (int)k, col[k].type,
			    ctl_at(out, i, k))) != PF_OK)
				return rc;
		}
	}
	if (raw != NULL)
		*raw = rows;
	return PF_OK;
}

/* As people read it; buf is for what has to be made. */
static struct pf_str
shown(enum ctl_type type, const struct ctl_cell *cell, char buf[CELL])
{
	const struct pf_str none = PF_LIT("-");
	time_t at = (time_t)cell->n;
	struct tm tm;

	switch (type) {
	case CTL_TEXT:
	case CTL_BYTES:
		return cell->s.n != 0 ? cell->s : none;
	case CTL_FLAG:
		return cell->n != 0 ? PF_LIT("yes") : PF_LIT("no");
	case CTL_NUMBER:
		(void)snprintf(buf, CELL, "%lld", (long long)cell->n);
		return pf_str(buf);
	case CTL_TIME:
		if (cell->n == 0 || gmtime_r(&at, &tm) == NULL ||
		    strftime(buf, CELL, "%Y-%m-%d %H:%M:%SZ", &tm) == 0)
			return none;
		return pf_str(buf);
	}
	return none;
}

/* Characters, as far as a terminal takes one column for each. */
static size_t
width(struct pf_str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return n;
}

/* Without what a terminal would obey. */
static void
put(struct pf_str s, size_t pad)
{
	size_t wide = width(s);

	for (size_t i = 0; i < s.n; i++)
		(void)putchar((unsigned char)s.p[i] < 0x20 ||
		    s.p[i] == 0x7f ? '?' : s.p[i]);
	for (; wide < pad; wide++)
		(void)putchar(' ');
}

static size_t
column_width(const struct ctl_table *t, size_t k)
{
	char buf[CELL];
	size_t most = width(pf_str(t->col[k].head)), n;

	for (size_t i = 0; i < t->nrows; i++) {
		n = width(shown(t->col[k].type, ctl_at(t, i, k), buf));
		if (n > most)
			most = n;
	}
	return most;
}

/* Row by row, the heads first. The last column needs no padding. */
void
ctl_columns(const struct ctl_table *t, const char *what)
{
	size_t wide[32] = { 0 }, last = t->ncols - 1;
	char buf[CELL];

	if (t->nrows == 0) {
		(void)printf("no %s\n", what);
		return;
	}
	for (size_t k = 0; k < t->ncols && k < PF_COUNT(wide); k++)
		wide[k] = column_width(t, k);
	for (size_t i = 0; i <= t->nrows; i++) {
		for (size_t k = 0; k <= last; k++)
			put(i == 0 ? pf_str(t->col[k].head) :
			    shown(t->col[k].type, ctl_at(t, i - 1, k), buf),
			    k == last ? 0 : wide[k] + 2);
		(void)putchar('\n');
	}
}

void
ctl_card(const struct ctl_table *t, size_t row)
{
	char buf[CELL];
	size_t most = 0, n;

	for (size_t k = 0; k < t->ncols; k++)
		if ((n = width(pf_str(t->col[k].head))) > most)
			most = n;
	for (size_t k = 0; k < t->ncols; k++) {
		put(pf_str(t->col[k].head), most + 2);
		put(shown(t->col[k].type, ctl_at(t, row, k), buf), 0);
		(void)putchar('\n');
	}
}

void
ctl_members(struct pf_jw *w, const struct ctl_table *t, size_t row)
{
	for (size_t k = 0; k < t->ncols; k++) {
		const struct ctl_cell *cell = ctl_at(t, row, k);
		const char *name = t->col[k].name;

		switch (t->col[k].type) {
		case CTL_TEXT:
		case CTL_BYTES:
			if (pf_str_given(cell->s))
				pf_jw_str(w, name, cell->s);
			else
				pf_jw_null(w, name);
			break;
		case CTL_FLAG:
			pf_jw_bool(w, name, cell->n != 0);
			break;
		case CTL_TIME:
			if (cell->n == 0) {
				pf_jw_null(w, name);
				break;
			}
			pf_jw_int(w, name, cell->n);
			break;
		case CTL_NUMBER:
			pf_jw_int(w, name, cell->n);
			break;
		}
	}
}

void
ctl_list_of(struct pf_jw *w, const char *name, const struct ctl_table *t)
{
	pf_jw_open(w, name, '[');
	for (size_t i = 0; i < t->nrows; i++) {
		pf_jw_open(w, NULL, '{');
		ctl_members(w, t, i);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
}

void
ctl_json_begin(struct ctl *c, struct pf_buf *b, struct pf_jw *w)
{
	pf_buf_init(b, c->arena, JSON_MAX);
	*w = pf_jw(b);
	pf_jw_open(w, NULL, '{');
}

int
ctl_json_end(struct ctl *c, struct pf_buf *b, struct pf_jw *w)
{
	struct pf_str text;

	pf_jw_close(w, '}');
	if (pf_buf_done(b, &text) != PF_OK)
		return ctl_fail(c, CTL_WRONG, "too much for one answer: ask "
		    "for less with --limit");
	(void)printf("%.*s\n", PF_STRF(text));
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}
