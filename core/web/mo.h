/*
 * mo - compiled message catalogues, as msgfmt writes them.
 *
 * libintl chooses its language by the locale of the process and wants that
 * locale installed; a server that answers each visitor in theirs needs neither.
 * The format is described in the manual of GNU gettext, "The Format of GNU MO
 * Files"; its hash table isn't used: the texts are sorted.
 */
#ifndef PF_MO_H
#define PF_MO_H

#include "core/base/str.h"

#define PF_MO_MAX	20000u	/* messages */
#define PF_MO_BYTES	(1u << 20)

struct pf_mo {
	struct pf_str file;	/* must live as long */
	size_t n;
	size_t ids, texts;	/* where the two tables begin */
	bool swapped;		/* written on a machine of other byte order */
};

/*
 * Take a catalogue after checking all of it: lengths and offsets within the
 * file, texts in UTF-8 that end where they say, ids sorted and each there
 * once, a charset of UTF-8 in its header. PF_E_INPUT with *why.
 */
PF_MUST enum pf_rc pf_mo_open(struct pf_str file, struct pf_mo *out,
    const char **why);
/* The translation of id, the first form if there are plural ones. PF_NOSTR if
 * there is none, or an empty one. */
struct pf_str pf_mo_text(const struct pf_mo *mo, struct pf_str id);
/* The message at place i < n. */
void pf_mo_at(const struct pf_mo *mo, size_t i, struct pf_str *id,
    struct pf_str *text);

#endif
