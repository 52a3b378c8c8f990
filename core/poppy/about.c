/*
 * What a client says about itself. Processes keep its keys alone, since a
 * document may be big and is seldom asked for.
 */
#include "core/poppy/fetch.h"

#include "core/poppy/app.h"

static const struct pf_stmt CLIENT_METADATA = {
	"client_metadata", "SELECT poppy_api.client_metadata($1)"
};

enum pf_rc
pf_client_about(struct pf_req *rq, const struct pf_client *client,
    struct pf_client_doc *out)
{
	const struct pf_param v[] = { PF_INT8(client->no) };
	const char *why = "";
	struct pf_row row;
	enum pf_rc rc;

	rc = pf_db_one(rq->db, rq->arena, &CLIENT_METADATA, v, PF_COUNT(v),
	    &row);
	if (rc != PF_OK)
		return rc;
	if (pf_row_null(&row, 0))
		return pf_fail(rq, PF_INVALID_CLIENT,
		    "the client's document is gone");
	rc = pf_client_doc(rq->arena, client->client_id, pf_row_str(&row, 0),
	    pf_app(rq)->set.mcp_public, out, &why);
	return rc == PF_E_INPUT ? pf_fail(rq, PF_INVALID_CLIENT, "%s", why) :
	    rc;
}
