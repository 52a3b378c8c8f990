/*
 * fetch - public documents (poppy.json, metadata, OpenAPI): GET without any
 * identity, over HTTPS-only redirects, kept as their caching headers say.
 */
#ifndef AG_FETCH_H
#define AG_FETCH_H

#include "core/base/json.h"

struct agent;

extern const struct pf_json_limits ag_doc_limits;

/*
 * The document at url as JSON; *at (may be NULL) is where it was found after
 * redirects. The exchange goes to the step being told. Rules are what a missing
 * document and a redirect to something else than https break (may be NULL).
 */
PF_MUST enum pf_rc ag_fetch(struct agent *ag, struct pf_str url,
    const char *rule_absent, const char *rule_redirect,
    const struct pf_json **doc, struct pf_str *at);

#endif
