/* The forms of a page, as poppy-agent check reads them. */
#include "tests/unit/tap.h"
#include "tools/poppy-agent/html.h"

static const char page[] =
    "<FORM method=get action='/a?x=1&amp;y=2'>\n"
    "<input name=q></form>"
    "<form action=\"b\"><input type=\"hidden\" name=\"csrf\" value=\"a&lt;"
    "&quot;&amp;lt;\">\n<input class=x type='checkbox' name='scope' value='s' "
    "checked>\n<button name=\"answer\" value=\"decline\">No</button>"
    "<input value=nameless></form><form><input name=last";

int
main(void)
{
	const struct ag_input *in;
	struct pf_arena a;
	struct ag_form f;
	size_t at = 0;

	tap_need(pf_arena_init(&a, 4096, 1u << 24) == PF_OK, "an arena");
	tap_ok(ag_html_form(&a, pf_str(page), &at, &f), "the first form");
	tap_is_z(f.action, "/a?x=1&y=2", "its action, decoded");
	tap_ok(f.n == 1 && pf_str_eqz(f.input[0].name, "q") &&
	    pf_str_eqz(f.input[0].type, "text"), "a field without quotes");
	tap_ok(ag_html_form(&a, pf_str(page), &at, &f), "the second");
	tap_is((int)f.n, 3, "three with a name");
	in = ag_form_named(&f, "csrf");
	tap_need(in != NULL, "a hidden field");
	tap_is_z(in->value, "a<\"&lt;", "its value, decoded once");
	in = ag_form_typed(&f, "checkbox");
	tap_ok(in != NULL && in->checked, "a box that is ticked");
	in = ag_form_named(&f, "answer");
	tap_ok(in != NULL && pf_str_eqz(in->type, "submit"), "a button");
	tap_ok(ag_form_named(&f, "other") == NULL &&
	    ag_form_typed(&f, "password") == NULL, "nothing else");
	tap_ok(ag_html_form(&a, pf_str(page), &at, &f) && f.n == 1,
	    "one that was cut off");
	tap_ok(!ag_html_form(&a, pf_str(page), &at, &f), "no more");
	tap_is_z(ag_html_title(&a, PF_LIT("<TITLE>\tA &amp; B </title>")),
	    "A & B", "a title");
	tap_ok(!pf_str_given(ag_html_title(&a, pf_str(page))), "none");
	tap_ok(!pf_str_given(ag_html_title(&a, PF_LIT("<title>A"))),
	    "one without an end");
	for (size_t n = 0, forms; n < sizeof(page); n++) {
		at = forms = 0;
		while (forms < 9 &&
		    ag_html_form(&a, pf_bytes(page, n), &at, &f))
			forms++;
		tap_ok(forms <= 3, "cut off after %zu: %zu forms", n, forms);
		pf_arena_reset(&a);
	}
	pf_arena_free(&a);
	return tap_done();
}
