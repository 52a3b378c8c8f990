/*
 * db_int - what the files of db share. Only for db*.c.
 */
#ifndef PF_DB_INT_H
#define PF_DB_INT_H

struct pg_result;	/* libpq's PGresult */

struct pf_rows {
	struct pg_result *res;
};

#endif
