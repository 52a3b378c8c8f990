/*
 * form - application/x-www-form-urlencoded, in bodies and query strings.
 */
#ifndef PF_FORM_H
#define PF_FORM_H

#include "core/base/arena.h"

#define PF_FORM_MAX	64	/* fields */

struct pf_form {
	size_t n;
	struct pf_str name[PF_FORM_MAX];
	struct pf_str value[PF_FORM_MAX];
};

/* Decode ('+' is a space). PF_E_INPUT with *why: a bad % sequence, NUL, invalid
 * UTF-8, too many fields. Empty pieces ("a=1&&b=2") are passed over. */
PF_MUST enum pf_rc pf_form_parse(struct pf_arena *a, struct pf_str text,
    struct pf_form *out, const char **why);
/* The one value of a field: PF_E_ABSENT if it isn't there, PF_E_CONFLICT if it
 * stands there twice, whatever the values. */
PF_MUST enum pf_rc pf_form_get(const struct pf_form *f, const char *name,
    struct pf_str *out);
/* The name of a field given twice, or PF_NOSTR. */
struct pf_str pf_form_repeated(const struct pf_form *f);

#endif
