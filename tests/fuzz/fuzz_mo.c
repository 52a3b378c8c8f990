/* Message catalogues. */
#include "core/web/lang.h"
#include "tests/fuzz/fuzz.h"

bool
fuzz_one(struct pf_str in)
{
	struct pf_str id, text;
	struct pf_langs langs;
	const char *why = NULL;
	struct pf_mo mo;

	pf_langs_init(&langs);
	if (pf_langs_add(&langs, PF_LIT("xx"), in, &why) == PF_OK)
		FUZZ_HOLDS(langs.n == 2 && pf_utf8_valid(langs.v[1].name));
	if (pf_mo_open(in, &mo, &why) != PF_OK) {
		FUZZ_HOLDS(why != NULL);
		return false;
	}
	for (size_t i = 0; i < mo.n; i++) {
		pf_mo_at(&mo, i, &id, &text);
		FUZZ_HOLDS(fuzz_within(id, in) && fuzz_within(text, in));
		FUZZ_HOLDS(pf_utf8_valid(text));
		FUZZ_HOLDS(text.n == 0 ?
		    !pf_str_given(pf_mo_text(&mo, id)) :
		    pf_str_eq(pf_mo_text(&mo, id), text));
	}
	return true;
}
