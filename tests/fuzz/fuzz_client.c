/* Client metadata: a line with the URL it came from, then the document. */
#include "core/poppy/client.h"
#include "core/poppy/fetch.h"
#include "core/web/url.h"
#include "tests/fuzz/fuzz.h"

bool
fuzz_one(struct pf_str in)
{
	struct pf_client_doc doc;
	struct pf_str rest = in, id;
	struct pf_url u, keys;
	const char *why = NULL;

	if (!pf_str_cut(&rest, '\n', &id) || !pf_client_id_ok(id))
		return false;
	FUZZ_HOLDS(pf_url_is_https(id) && id.n <= PF_CLIENT_ID_MAX);
	FUZZ_HOLDS(pf_url_parse(id, &u) == PF_OK && u.path.n > 0);
	if (pf_client_doc(&fuzz_arena, id, rest, false, &doc, &why) != PF_OK) {
		FUZZ_HOLDS(why != NULL);
		return false;
	}
	FUZZ_HOLDS(pf_url_is_https(doc.jwks_uri));
	FUZZ_HOLDS(pf_url_parse(doc.jwks_uri, &keys) == PF_OK);
	FUZZ_HOLDS(pf_host_within(keys.host, u.host) ||
	    pf_str_eq_nocase(keys.host, u.host));
	return true;
}
