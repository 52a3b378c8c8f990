/*
 * lang - the languages that pages are written in, and whose is whose.
 *
 * The texts of the templates are English and are their own message ids. Each
 * further language is a catalogue (mo.h) that also says, under the ids
 * LANGUAGE and DIRECTION, what it is called by those who speak it and whether
 * it is written "ltr" or "rtl".
 */
#ifndef PF_LANG_H
#define PF_LANG_H

#include "core/base/arena.h"
#include "core/web/mo.h"

#define PF_LANGS_MAX	32

struct pf_lang {
	struct pf_str code;	/* RFC 5646, lower case: "de", "pt-br" */
	struct pf_str name;	/* "Deutsch" */
	bool rtl;
	bool bare;		/* English without a catalogue */
	struct pf_mo mo;
};

struct pf_langs {
	size_t n;		/* the first is the default */
	struct pf_lang v[PF_LANGS_MAX];
};

/* Begin with English. */
void pf_langs_init(struct pf_langs *l);
/*
 * Add one, or put it in the place of the one with that code. Every {name} of a
 * translation must stand in what it translates. PF_E_INPUT with *why; text and
 * code must live as long as l.
 */
PF_MUST enum pf_rc pf_langs_add(struct pf_langs *l, struct pf_str code,
    struct pf_str file, const char **why);
/* By its exact code, in any case; NULL if there is none. */
const struct pf_lang *pf_langs_get(const struct pf_langs *l,
    struct pf_str code);
/*
 * The best for an Accept-Language header (RFC 9110, 12.5.4) by lookup (RFC
 * 4647, 3.4): the range of the highest q that fits, the first of equals; "*"
 * and no fit at all give the default. Never NULL.
 */
const struct pf_lang *pf_langs_pick(const struct pf_langs *l,
    struct pf_str accept_language);
/* The text for id in that language; id itself if it has none. */
struct pf_str pf_lang_text(const struct pf_lang *lang, struct pf_str id);

/* The name in "{name}" at s[at]; PF_NOSTR if no such thing stands there. */
struct pf_str pf_lang_slot(struct pf_str s, size_t at);

#endif
