/* The scopes of a sign-in: what may be asked for, and what is left of it. */
#include "core/poppy/scope.h"
#include "tests/unit/tap.h"

static const struct pf_str list[] = {
	PF_LIT_INIT("poppy:read"), PF_LIT_INIT("poppy:write"),
	PF_LIT_INIT("addresses"),
};
static const struct pf_strs allowed = { list, PF_COUNT(list) };

static const struct { const char *why, *text; } bad[] = {
	{ "nothing", "" },
	{ "a space alone", " " },
	{ "a space before", " poppy:read" },
	{ "a space behind", "poppy:read " },
	{ "two spaces", "poppy:read  poppy:write" },
	{ "a tab", "poppy:read\tpoppy:write" },
	{ "a comma", "poppy:read,poppy:write" },
	{ "one that is unknown", "poppy:read orders" },
	{ "other case", "Poppy:Read" },
	{ "the beginning of one", "poppy:rea" },
	{ "more than one", "poppy:reads" },
	{ "a quote", "\"poppy:read\"" },
	{ "a control character", "poppy:read\x01" },
};

static const struct { const char *text, *want; } good[] = {
	{ "poppy:read", "poppy:read" },
	{ "addresses poppy:read", "addresses poppy:read" },
	{ "poppy:read poppy:read", "poppy:read" },
};

static const struct { const char *list, *to, *want; } cuts[] = {
	{ "poppy:read poppy:write", "poppy:read", "poppy:read" },
	{ "poppy:write poppy:read", "poppy:read poppy:write",
	    "poppy:write poppy:read" },
	{ "poppy:pay", "poppy:read", "" },
	{ "", "poppy:read", "" },
	{ "poppy:read", "", "" },
	{ "poppy:read poppy:read", "poppy:read", "poppy:read" },
	{ "poppy:re", "poppy:read", "" },
};

int
main(void)
{
	struct pf_arena a;
	struct pf_str s;

	tap_need(pf_arena_init(&a, 4096, 1u << 20) == PF_OK, "an arena");
	for (size_t i = 0; i < PF_COUNT(bad); i++)
		tap_is(pf_scope_wanted(&a, pf_str(bad[i].text), &allowed, &s),
		    PF_E_INPUT, "refused: %s", bad[i].why);
	tap_is(pf_scope_wanted(&a, PF_LIT("poppy:read\0x"), &allowed, &s),
	    PF_E_INPUT, "refused: a NUL");
	for (size_t i = 0; i < PF_COUNT(good); i++) {
		tap_is(pf_scope_wanted(&a, pf_str(good[i].text), &allowed, &s),
		    PF_OK, "taken: %s", good[i].text);
		tap_ok(pf_str_eqz(s, good[i].want), "as %s", good[i].want);
	}
	for (size_t i = 0; i < PF_COUNT(cuts); i++) {
		s = pf_scope_cut(&a, pf_str(cuts[i].list), pf_str(cuts[i].to));
		tap_ok(s.p != NULL && pf_str_eqz(s, cuts[i].want),
		    "\"%s\" cut to \"%s\"", cuts[i].list, cuts[i].to);
	}
	pf_arena_free(&a);
	return tap_done();
}
