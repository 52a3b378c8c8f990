/*
 * table - what a command found, as columns for people or JSON for machines.
 */
#ifndef PF_CTL_TABLE_H
#define PF_CTL_TABLE_H

#include "core/store/db.h"
#include "tools/poppyctl/ctl.h"

enum ctl_type {
	CTL_TEXT,	/* JSON: a string, or null */
	CTL_NUMBER,
	CTL_TIME,	/* Unix seconds; 0 is never: JSON null */
	CTL_FLAG,	/* yes or no; JSON: true or false */
	CTL_BYTES	/* of the database; hexadecimal */
};

struct ctl_col {
	const char *name;	/* of the JSON member */
	const char *head;	/* of the column */
	enum ctl_type type;
};

struct ctl_cell {
	struct pf_str s;	/* TEXT */
	int64_t n;		/* the others */
};

struct ctl_table {
	const struct ctl_col *col;
	size_t ncols, nrows;
	struct ctl_cell *cell;	/* row by row */
};

/* The rows of a query, whose first columns are those of the table. raw, if not
 * NULL, gets the rows themselves. */
PF_MUST enum pf_rc ctl_query(struct pf_db *db, struct pf_arena *a,
    const struct pf_stmt *st, const struct pf_param *v, size_t n,
    const struct ctl_col *col, size_t ncols, struct ctl_table *out,
    const struct pf_rows **raw);
struct ctl_cell *ctl_at(const struct ctl_table *t, size_t row, size_t col);

/* Aligned columns under their heads; "no WHAT" for none. */
void ctl_columns(const struct ctl_table *t, const char *what);
/* One row, a line for each column. */
void ctl_card(const struct ctl_table *t, size_t row);
/* Members of the open object: one row, or a list of all. */
void ctl_members(struct pf_jw *w, const struct ctl_table *t, size_t row);
void ctl_list_of(struct pf_jw *w, const char *name, const struct ctl_table *t);

/* A JSON writer whose object is printed by ctl_json_end(). */
void ctl_json_begin(struct ctl *c, struct pf_buf *b, struct pf_jw *w);
int ctl_json_end(struct ctl *c, struct pf_buf *b, struct pf_jw *w);

#endif
