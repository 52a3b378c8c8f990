/*
 * The documents of poppyctl doctor's agent, from the database: ID.json and
 * ID.jwks.json, on the issuer's host alone. Nobody who asks here can make one.
 */
#include "fcgi/auth/auth.h"

#define ID_LEN		22
#define CACHE_CONTROL	"public, max-age=60"

static const struct pf_stmt DOCTOR_GET = {
	"doctor_get", "SELECT metadata, jwks FROM poppy_api.doctor_get($1)"
};
enum { METADATA, JWKS };

/* What can't be a name of ours costs no round trip. */
static bool
read_name(struct pf_str file, struct pf_str *id, int *column)
{
	struct pf_str end = pf_str_from(file, ID_LEN);

	*id = pf_str_head(file, ID_LEN);
	for (size_t i = 0; i < id->n; i++)
		if (!pf_is_b64url(id->p[i]))
			return false;
	*column = pf_str_eqz(end, ".jwks.json") ? JWKS : METADATA;
	return id->n == ID_LEN &&
	    (*column == JWKS || pf_str_eqz(end, ".json"));
}

enum pf_rc
auth_doctor(struct pf_req *rq)
{
	const struct pf_settings *s = &pf_app(rq)->set;
	struct pf_row row;
	struct pf_str id;
	enum pf_rc rc;
	int column;

	if (pf_settings_host(s, rq->host) != s->issuer_host ||
	    !read_name(rq->var[0], &id, &column))
		return pf_fail(rq, PF_NOT_FOUND, "no such document");
	const struct pf_param v[] = { PF_TEXT(id) };
	rc = pf_db_one(rq->db, rq->arena, &DOCTOR_GET, v, PF_COUNT(v), &row);
	if (rc != PF_OK)
		return rc;
	if (pf_row_null(&row, column))
		return pf_fail(rq, PF_NOT_FOUND, "no such document");
	return pf_resp_cached(rq, "application/json", pf_row_str(&row, column),
	    CACHE_CONTROL);
}
