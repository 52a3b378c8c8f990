/*
 * discover - from a domain to a Company that may be used (sections 3 to 3.2).
 */
#ifndef AG_DISCOVER_H
#define AG_DISCOVER_H

#include "tools/poppy-agent/documents.h"

struct agent;
struct ag_place;

/*
 * Both documents fetched (or taken from the cache), every MUST checked, the
 * place remembered. In the arena. The exchange goes to the step being told.
 * need_auth: a Company without auth is PF_E_UPSTREAM.
 */
PF_MUST enum pf_rc ag_discover(struct agent *ag, const char *domain,
    bool need_auth, struct ag_company **out);
/* Remember where the API description says its server is: this Company's tokens
 * may go there too. It takes the place of what an earlier description said. */
PF_MUST enum pf_rc ag_place_allow(struct agent *ag, struct pf_str domain,
    struct pf_str origin);
/* May tokens of this place go to that URL? */
bool ag_place_covers(struct agent *ag, const struct ag_place *place,
    struct pf_str url);

#endif
