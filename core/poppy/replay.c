#include "core/poppy/replay.h"

#include <string.h>

enum pf_rc
pf_spend_assertion(struct pf_str client_id, struct pf_str jti, int64_t iat,
    struct pf_spend *out)
{
	unsigned char parts[2 * PF_SHA256_LEN], sum[PF_SHA256_LEN];
	enum pf_rc rc;

	/* Hash by hash, so that no client can reach into another's names. */
	if ((rc = pf_sha256(client_id, parts)) != PF_OK ||
	    (rc = pf_sha256(jti, parts + PF_SHA256_LEN)) != PF_OK ||
	    (rc = pf_sha256(pf_bytes(parts, sizeof(parts)), sum)) != PF_OK)
		return rc;
	(void)memcpy(out->key, sum, sizeof(out->key));
	out->iat = iat;
	return PF_OK;
}
