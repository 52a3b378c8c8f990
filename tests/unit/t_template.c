/* Templates: what is refused, where, and that no value leaves its place. */
#include "config.h"

#include "core/web/template.h"
#include "tests/unit/tap.h"

static struct pf_arena arena;

/* The one file that others may take in, and the one that takes itself in. */
static enum pf_rc
find_file(void *ctx, struct pf_str name, struct pf_str *text,
    const char **shown)
{
	*shown = "other.html";
	if (pf_str_eqz(name, "page.html")) {
		*text = *(const struct pf_str *)ctx;
		*shown = "page.html";
	} else if (pf_str_eqz(name, "part"))
		*text = PF_LIT("<b>{{a}}</b>\n");
	else if (pf_str_eqz(name, "self"))
		*text = PF_LIT("x{{> self}}");
	else if (pf_str_eqz(name, "open"))
		*text = PF_LIT("\n{{/if}}");
	else
		return PF_E_ABSENT;
	return PF_OK;
}

static const struct pf_tpl_name inner[] = {
	{ "c", PF_TPL_TEXT, NULL }, { NULL, PF_TPL_TEXT, NULL }
};
static const struct pf_tpl_name rows[] = {
	{ "b", PF_TPL_TEXT, NULL }, { "more", PF_TPL_LIST, inner },
	{ NULL, PF_TPL_TEXT, NULL }
};
static const struct pf_tpl_name names[] = {
	{ "a", PF_TPL_TEXT, NULL }, { "u", PF_TPL_URL, NULL },
	{ "list", PF_TPL_LIST, rows }, { NULL, PF_TPL_TEXT, NULL }
};

static enum pf_rc
read_text(struct pf_str text, struct pf_conf_fault *fault,
    const struct pf_tpl **out)
{
	struct pf_tpl_files files = { find_file, &text };

	memset(fault, 0, sizeof(*fault));
	return pf_tpl_read(&arena, &files, "page.html", names, NULL, fault,
	    out);
}

static const struct { const char *text; int line; } bad[] = {
	{ "{{nobody}}", 1 },
	{ "\n\n{{ nobody }}", 3 },
	{ "{{}}", 1 },
	{ "{{a", 1 },
	{ "{{a}", 1 },
	{ "{{list}}", 1 },
	{ "{{#each a}}{{/each}}", 1 },
	{ "{{#each nobody}}{{/each}}", 1 },
	{ "{{#if nobody}}{{/if}}", 1 },
	{ "{{#if a}}", 1 },
	{ "{{#if a}}\n{{/each}}", 2 },
	{ "{{#if a}}{{else}}{{else}}{{/if}}", 1 },
	{ "{{#each list}}{{else}}{{/each}}", 1 },
	{ "{{#each list}}", 1 },
	{ "{{/if}}", 1 },
	{ "{{else}}", 1 },
	{ "{{elsewhere}}", 1 },
	{ "{{#each list}}{{/each}}{{b}}", 1 },
	{ "{{#each list}}{{c}}{{/each}}", 1 },
	{ "{{> nobody}}", 1 },
	{ "{{> ../part}}", 1 },
	{ "{{> self}}", 1 },
	{ "{{#if a}}{{> open}}", 2 },
	{ "{{_ }}", 1 },
	{ "{{_ Hello {nobody}.}}", 1 },
	{ "{{_ Hello {list}.}}", 1 },
	{ "{{{a}}}", 1 },
	/* places where escaping is not enough */
	{ "<script>{{a}}</script>", 1 },
	{ "<script src=\"/x.js\"></script>", 1 },
	{ "<SCRIPT>", 1 },
	{ "<style>\n{{a}}</style>", 1 },
	{ "<iframe src=\"{{u}}\"></iframe>", 1 },
	{ "<svg>", 1 }, { "<math>", 1 }, { "<object>", 1 }, { "<embed>", 1 },
	{ "<base href=\"/\">", 1 },
	{ "<template>", 1 }, { "<textarea>", 1 }, { "<noscript>", 1 },
	{ "<p onclick=\"{{a}}\">", 1 },
	{ "<p ONCLICK=\"x\">", 1 },
	{ "<p style=\"color: {{a}}\">", 1 },
	{ "<img srcset=\"{{u}}\">", 1 },
	{ "<p class={{a}}>", 1 },
	{ "<p class=x>", 1 },
	{ "<p {{a}}>", 1 },
	{ "<p {{a}}=\"x\">", 1 },
	{ "<{{a}}>", 1 },
	{ "</{{a}}>", 1 },
	{ "<p title{{a}}=\"x\">", 1 },
	{ "<p title=\"x\"\"y\">", 1 },
	{ "<!-- {{a}} -->", 1 },
	{ "<!-->", 1 },
	{ "<!doctype {{a}}>", 1 },
	{ "a < b", 1 },
	{ "<//p>", 1 },
	{ "<p", 0 },
	{ "<p title=\"", 0 },
	{ "<p title=\"{{#if a}}\">{{/if}}", 1 },
	{ "{{#if a}}<p title=\"{{else}}<p>{{/if}}", 1 },
	{ "{{#if a}}<p {{/if}}>", 1 },
	{ "{{#each list}}<p{{/each}}", 1 },
	{ "<p o{{#if a}}{{/if}}nclick=\"{{a}}\">", 1 },
	{ "<p {{#if a}}o{{/if}}nclick=\"{{a}}\">", 1 },
	{ "<p {{#if a}}onclick{{/if}}=\"{{a}}\">", 1 },
	/* URLs */
	{ "<a href=\"{{a}}\">", 1 },
	{ "<a href='{{a}}'>", 1 },
	{ "<a href=\"{{_ text}}\">", 1 },
	{ "<a href=\"/{{_ text}}\">", 1 },
	{ "<form action=\"{{a}}\">", 1 },
	{ "<button formaction=\"{{a}}\">", 1 },
	{ "<img src=\"{{a}}\">", 1 },
	{ "<a xlink:href=\"{{a}}\">", 1 },
	{ "<meta http-equiv=\"refresh\" content=\"{{a}}\">", 1 },
	{ "<meta content=\"{{a}}\" HTTP-equiv=\"refresh\">", 1 },
	{ "<a href=\"{{#if a}}/{{/if}}{{a}}\">", 1 },
	{ "<a href=\"{{#if a}}{{else}}/{{/if}}{{a}}\">", 1 },
	{ "\xff", 1 }, { "a\n\xc0\x80", 2 },
};

static void
test_bad(void)
{
	struct pf_conf_fault fault;
	const struct pf_tpl *t;

	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		tap_is(read_text(pf_str(bad[i].text), &fault, &t), PF_E_INPUT,
		    "refused: %s", bad[i].text);
		tap_is(fault.line, bad[i].line, "its line");
		tap_ok(fault.reason[0] != '\0', "a reason: %s %s", fault.key,
		    fault.reason);
		pf_arena_reset(&arena);
	}
	tap_is(read_text(PF_LIT("a\0b"), &fault, &t), PF_E_INPUT,
	    "refused: a NUL");
}

/* Too deep, too many pieces, too long. */
static void
test_caps(void)
{
	struct pf_conf_fault fault;
	const struct pf_tpl *t;
	struct pf_str text;
	struct pf_buf b;

	pf_buf_init(&b, &arena, 1 << 20);
	for (int i = 0; i < 5000; i++)
		pf_buf_addz(&b, "{{#if a}}");
	tap_is(read_text(pf_buf_str(&b), &fault, &t), PF_E_INPUT,
	    "refused: 5000 deep");
	pf_buf_init(&b, &arena, 1 << 20);
	for (int i = 0; i < PF_TPL_NODES + 1; i++)
		pf_buf_addz(&b, "{{a}}");
	tap_is(read_text(pf_buf_str(&b), &fault, &t), PF_E_INPUT,
	    "refused: too many pieces");
	pf_buf_init(&b, &arena, 1 << 20);
	for (unsigned i = 0; i < PF_TPL_BYTES + 1; i++)
		pf_buf_char(&b, 'x');
	text = pf_buf_str(&b);
	tap_is(read_text(text, &fault, &t), PF_E_INPUT, "refused: too long");
	tap_is(read_text(pf_str_head(text, PF_TPL_BYTES), &fault, &t), PF_OK,
	    "as long as may be");
	pf_arena_reset(&arena);
}

/* Every value is the same text. */
static struct pf_str
render(const struct pf_tpl *t, struct pf_str value, bool rtl)
{
	const struct pf_var c[] = { PF_VAR("c", value) };
	const struct pf_vars deep = { c, 1, NULL };
	const struct pf_var b[] = {
		PF_VAR("b", value), PF_VAR_LIST("more", &deep, 1)
	};
	const struct pf_vars two[] = { { b, 2, NULL }, { b, 2, NULL } };
	const struct pf_var v[] = {
		PF_VAR("a", value), PF_VAR("u", value),
		PF_VAR_LIST("list", two, 2)
	};
	const struct pf_vars vars = { v, PF_COUNT(v), NULL };
	struct pf_langs langs;
	struct pf_str out;
	struct pf_buf buf;

	pf_langs_init(&langs);
	langs.v[0].rtl = rtl;
	pf_buf_init(&buf, &arena, 65536);
	pf_tpl_render(t, &langs.v[0], &vars, &buf);
	return pf_buf_done(&buf, &out) == PF_OK ? out : PF_LIT("?");
}

#define FSI	"\xe2\x81\xa8"
#define PDI	"\xe2\x81\xa9"
#define EVIL	"\"'><&{{a}}"
#define ESC	"&quot;&#39;&gt;&lt;&amp;{{a}}"

static const struct { const char *text, *value, *want; } good[] = {
	{ "", "x", "" },
	{ "plain } { text", "x", "plain } { text" },
	{ "{{a}}{{ a }}", "x", "xx" },
	{ "{{a}}\n", "x", "x\n" },
	{ "{{! remark }}\nx{{!}}", "x", "x" },
	{ "{{#if a}}\nyes\n{{else}}\nno\n{{/if}}\n", "x", "yes\n" },
	{ "{{#if a}}yes{{else}}no{{/if}}", "", "no" },
	{ "{{#if list}}yes{{/if}}", "", "yes" },
	{ "{{#each list}}[{{a}}{{b}}{{#each more}}{{c}}{{b}}{{/each}}]"
	    "{{/each}}", "x", "[xxxx][xxxx]" },
	{ "{{> part}}{{> part}}", "x", "<b>x</b>\n<b>x</b>\n" },
	{ "{{_ Hello {a}}}", "x", "Hello x" },
	{ "{{_ Hello\n  {a}.\n}}", "x", "Hello x." },
	{ "{{_ a < b & {not one} {A} {a}}}", "x",
	    "a &lt; b &amp; {not one} {A} x" },
	/* hostile values, in every place that takes one */
	{ "<p>{{a}}</p>", EVIL, "<p>" ESC "</p>" },
	{ "<title>{{a}}</title>", "</title><script>",
	    "<title>&lt;/title&gt;&lt;script&gt;</title>" },
	{ "<p title=\"{{a}}\">", EVIL, "<p title=\"" ESC "\">" },
	{ "<p title='x{{a}}'>", EVIL, "<p title='x" ESC "'>" },
	{ "<p title=\"{{_ {a}}}\">", EVIL, "<p title=\"" ESC "\">" },
	{ "{{_ {a} and {a}}}", EVIL, ESC " and " ESC },
	{ "<p{{#if a}} title=\"{{a}}\"{{/if}}>", EVIL,
	    "<p title=\"" ESC "\">" },
	{ "<input {{#if a}}checked{{/if}}>", "x", "<input checked>" },
	{ "<input{{#if a}} checked{{/if}}/>", "x", "<input checked/>" },
	{ "<a href=\"{{u}}\">", "javascript:alert(1)", "<a href=\"\">" },
	{ "<a href=\"{{u}}\">", " javascript:alert(1)", "<a href=\"\">" },
	{ "<a href=\"{{u}}\">", "JAVASCRIPT:alert(1)", "<a href=\"\">" },
	{ "<a href=\"{{u}}\">", "data:text/html,x", "<a href=\"\">" },
	{ "<a href=\"{{u}}\">", "//evil.example", "<a href=\"\">" },
	{ "<a href=\"{{u}}\">", "/\\evil.example", "<a href=\"\">" },
	{ "<a href=\"{{u}}\">", "x", "<a href=\"\">" },
	{ "<a href=\"{{u}}\">", "https://a.example/?a=1&b=\"2\"",
	    "<a href=\"https://a.example/?a=1&amp;b=&quot;2&quot;\">" },
	{ "<a href=\"{{u}}\">", "/", "<a href=\"/\">" },
	{ "<a href=\"{{u}}x\">", "?a=b&", "<a href=\"?a=b&amp;x\">" },
	{ "<a href=\"/x?{{a}}\">", "a&b=/..\"",
	    "<a href=\"/x?a%26b%3D%2F..%22\">" },
	{ "<a href=\"{{u}}{{a}}\">", "/&", "<a href=\"/&amp;%2F%26\">" },
	/* text of the other direction stays in its place */
	{ "{{_ {a} asks}}", "\xd7\x90", FSI "\xd7\x90" PDI " asks" },
	{ "{{a}}", "\xd7\x90", "\xd7\x90" },
	{ "{{_ {a} asks}}", "", " asks" },
};

static void
test_good(void)
{
	struct pf_conf_fault fault;
	const struct pf_tpl *t;

	for (size_t i = 0; i < PF_COUNT(good); i++) {
		if (tap_is(read_text(pf_str(good[i].text), &fault, &t), PF_OK,
		    "read: %s %s", good[i].text, fault.reason))
			tap_is_z(render(t, pf_str(good[i].value), false),
			    good[i].want, "written: %s", good[i].value);
		pf_arena_reset(&arena);
	}
	tap_need(read_text(PF_LIT("{{_ {a} asks}}"), &fault, &t) == PF_OK,
	    "a text");
	tap_is_z(render(t, PF_LIT("x"), true), FSI "x" PDI " asks",
	    "a name in a language from right to left");
}

static const struct { const char *text, *name; bool want; } shown[] = {
	{ "{{a}}", "a", true }, { "{{a}}", "u", false },
	{ "{{#if a}}{{/if}}", "a", false },
	{ "{{#if a}}{{else}}{{u}}{{/if}}", "u", true },
	{ "{{_ Hello {a}}}", "a", true }, { "{{_ Hello a}}", "a", false },
	{ "{{#each list}}{{b}}{{/each}}", "list", true },
	{ "{{#each list}}{{b}}{{/each}}", "b", true },
	{ "{{> part}}", "a", true },
};

static void
test_shown(void)
{
	struct pf_conf_fault fault;
	const struct pf_tpl *t;

	for (size_t i = 0; i < PF_COUNT(shown); i++) {
		tap_need(read_text(pf_str(shown[i].text), &fault, &t) == PF_OK,
		    "a page");
		tap_is(pf_tpl_shows(t, pf_str(shown[i].name)), shown[i].want,
		    "%s in %s", shown[i].name, shown[i].text);
		pf_arena_reset(&arena);
	}
}

/* A name that the handler forgot prints nothing; what is too long fails. */
static void
test_render(void)
{
	const struct pf_vars none = { NULL, 0, NULL };
	struct pf_conf_fault fault;
	const struct pf_tpl *t;
	struct pf_langs langs;
	struct pf_str out;
	struct pf_buf b;

	pf_langs_init(&langs);
	tap_need(read_text(PF_LIT("[{{a}}{{u}}{{#if a}}x{{/if}}"
	    "{{#each list}}x{{/each}}{{_ {a}}}]"), &fault, &t) == PF_OK,
	    "a page");
	pf_buf_init(&b, &arena, 100);
	pf_tpl_render(t, &langs.v[0], &none, &b);
	tap_is_z(pf_buf_str(&b), "[]", "values that are not there");
	pf_buf_init(&b, &arena, 1);
	pf_tpl_render(t, &langs.v[0], &none, &b);
	tap_is(pf_buf_done(&b, &out), PF_E_MEM, "a page over its cap");
	pf_buf_init(&b, &arena, 100);
	pf_tpl_text(&langs.v[0], PF_LIT("<{a}>"), &none, &b);
	tap_is_z(pf_buf_str(&b), "<>", "a text that is not HTML");
}

int
main(void)
{
	tap_need(pf_arena_init(&arena, 65536, 8 << 20) == PF_OK, "an arena");
	test_bad();
	test_caps();
	test_good();
	test_shown();
	test_render();
	return tap_done();
}
