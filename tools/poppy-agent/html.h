/*
 * html - the forms of a page, as far as checking a deployment needs them.
 */
#ifndef AG_HTML_H
#define AG_HTML_H

#include "core/base/arena.h"

#define AG_INPUTS_MAX	48

struct ag_input {
	struct pf_str name, value, type;	/* type in lower case */
	bool checked;
};

struct ag_form {
	struct pf_str action;		/* as written; PF_NOSTR if not given */
	struct ag_input input[AG_INPUTS_MAX];
	size_t n;
};

/*
 * The next form behind *at, which moves on; false if there is none. Inputs and
 * buttons, with character references decoded; more than AG_INPUTS_MAX are
 * passed over. PF_E_MEM counts as none.
 */
bool ag_html_form(struct pf_arena *a, struct pf_str page, size_t *at,
    struct ag_form *out);
/* The text of the first title element, or PF_NOSTR. */
struct pf_str ag_html_title(struct pf_arena *a, struct pf_str page);
/* The input of that type, or with that name; NULL. */
const struct ag_input *ag_form_typed(const struct ag_form *f, const char *type);
const struct ag_input *ag_form_named(const struct ag_form *f, const char *name);

#endif
