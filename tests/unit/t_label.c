/* What agents call themselves, and whose a host is. */
#include <string.h>

#include "core/poppy/client.h"
#include "core/poppy/domain.h"
#include "core/poppy/label.h"
#include "tests/unit/tap.h"

#define TEN	"0123456789"
#define SNOWMAN	"\xe2\x98\x83"
#define ACUTE	"\xcc\x81"

static const struct { const char *why, *raw, *want; } names[] = {
	{ "plain", "Example Agent", "Example Agent" },
	{ "accents and other scripts", "Caf\xc3\xa9 \xd0\x96 \xe6\x97\xa5",
	    "Caf\xc3\xa9 \xd0\x96 \xe6\x97\xa5" },
	{ "markup stays, for the page to escape", "<b>&\"'", "<b>&\"'" },
	{ "an emoji", "A \xf0\x9f\xa4\x96", "A \xf0\x9f\xa4\x96" },
	{ "a letter with its mark", "e" ACUTE, "e" ACUTE },
	{ "white space", " \t a \r\n\n b\xc2\xa0\xe3\x80\x80" "c ", "a b c" },
	{ "line and paragraph separators", "a\xe2\x80\xa8" "b\xe2\x80\xa9" "c",
	    "a b c" },
	{ "next line", "a\xc2\x85" "b", "a b" },
	{ "C0 and DEL", "a\x01\x1b[31mb\x7f", "a[31mb" },
	{ "C1", "a\xc2\x9b" "31m", "a31m" },
	{ "right-to-left override", "Bank\xe2\x80\xae" "gpj.exe",
	    "Bankgpj.exe" },
	{ "embeddings and isolates",
	    "\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x81\xa6"
	    "\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9x", "x" },
	{ "direction marks", "a\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c" "b", "ab" },
	{ "zero width", "a\xe2\x80\x8b\xe2\x80\x8c\xe2\x80\x8d\xe2\x81\xa0"
	    "\xef\xbb\xbf" "b", "ab" },
	{ "soft hyphen, joiner", "a\xc2\xad\xcd\x8f" "b", "ab" },
	{ "tags", "a\xf3\xa0\x81\x81" "b", "ab" },
	{ "variation selectors", "a\xef\xb8\x8f\xf3\xa0\x84\x80" "b", "ab" },
	{ "blank letters", "a\xe1\x85\x9f\xe3\x85\xa4\xef\xbe\xa0" "b", "ab" },
	{ "private use", "a\xee\x80\x80\xf4\x8f\xbf\xbd" "b", "ab" },
	{ "noncharacters", "a\xef\xbf\xbe\xef\xbf\xbf" "b", "ab" },
	{ "a heap of marks", "a" ACUTE ACUTE ACUTE ACUTE ACUTE "b",
	    "a" ACUTE ACUTE ACUTE "b" },
	{ "a heap with joiners between", "a" ACUTE "\xe2\x80\x8d" ACUTE
	    "\xe2\x80\x8d" ACUTE "\xe2\x80\x8d" ACUTE "b",
	    "a" ACUTE ACUTE ACUTE "b" },
	{ "a mark at the beginning", ACUTE "a", "a" },
	{ "a mark behind a space", "a " ACUTE "b", "a b" },
	{ "80 characters", TEN TEN TEN TEN TEN TEN TEN TEN,
	    TEN TEN TEN TEN TEN TEN TEN TEN },
	{ "81 characters", TEN TEN TEN TEN TEN TEN TEN TEN "x",
	    TEN TEN TEN TEN TEN TEN TEN TEN },
	{ "characters, not bytes", SNOWMAN SNOWMAN TEN TEN TEN TEN TEN TEN TEN
	    TEN, SNOWMAN SNOWMAN TEN TEN TEN TEN TEN TEN TEN "01234567" },
	{ "hidden ones don't count", "\xe2\x80\x8b\xe2\x80\x8b" TEN TEN TEN TEN
	    TEN TEN TEN TEN, TEN TEN TEN TEN TEN TEN TEN TEN },
	{ "empty", "", NULL },
	{ "nothing visible", " \xe2\x80\x8b\xe2\x80\xae\t", NULL },
	{ "no UTF-8", "a\xff", NULL },
	{ "a surrogate", "a\xed\xa0\x80", NULL },
	{ "overlong", "a\xc0\x80", NULL },
};

static const struct { const char *host, *want; } domains[] = {
	{ "example.com", "example.com" },
	{ "a.b.example.com", "example.com" },
	{ "A.Example.COM", "example.com" },
	{ "a.example.co.uk", "example.co.uk" },
	{ "example.co.uk", "example.co.uk" },
	{ "co.uk", "co.uk" },
	{ "com", "com" },
	{ "someone.github.io", "someone.github.io" },
	{ "x.someone.github.io", "someone.github.io" },
	{ "github.io", "github.io" },
	{ "agent.example", "agent.example" },
	{ "localhost", "localhost" },
	{ "127.0.0.1", "127.0.0.1" },
	{ "[2001:db8::1]", "[2001:db8::1]" },
};

static const struct { const char *host; bool want; } suffixes[] = {
	{ "com", true }, { "co.uk", true }, { "github.io", true },
	{ "GitHub.IO", true }, { "localhost", true }, { "example.com", false },
	{ "someone.github.io", false }, { "127.0.0.1", false },
};

static const struct { const char *why, *members, *name, *logo; } docs[] = {
	{ "both", "\"client_name\":\"An\\u202eA\","
	    "\"logo_uri\":\"https://cdn.example/l.png\"", "AnA",
	    "https://cdn.example/l.png" },
	{ "neither", "\"x\":1", NULL, NULL },
	{ "name of another type", "\"client_name\":[\"a\"]", NULL, NULL },
	{ "nothing in the name", "\"client_name\":\"\\u200b\"", NULL, NULL },
	{ "http logo", "\"logo_uri\":\"http://cdn.example/l.png\"", NULL, NULL },
	{ "data logo", "\"logo_uri\":\"data:image/png;base64,AA\"", NULL, NULL },
	{ "a script", "\"logo_uri\":\"javascript:alert(1)\"", NULL, NULL },
	{ "user in the logo", "\"logo_uri\":\"https://a@cdn.example/\"", NULL,
	    NULL },
	{ "quote in the logo", "\"logo_uri\":\"https://cdn.example/\\\"x\"",
	    NULL, NULL },
	{ "logo of another type", "\"logo_uri\":7", NULL, NULL },
};

static void
document(struct pf_arena *a, size_t i)
{
	struct pf_client_doc doc;
	const char *why;
	char text[500];

	(void)snprintf(text, sizeof(text), "{\"client_id\":"
	    "\"https://agent.example/c\",\"jwks_uri\":"
	    "\"https://agent.example/j\",%s}", docs[i].members);
	tap_is(pf_client_doc(a, PF_LIT("https://agent.example/c"),
	    pf_str(text), false, &doc, &why), PF_OK, "document: %s", docs[i].why);
	tap_is_z(doc.name, docs[i].name, "... its name");
	tap_is_z(doc.logo_uri, docs[i].logo, "... its logo");
}

int
main(void)
{
	struct pf_arena a;
	struct pf_str got;

	tap_need(pf_arena_init(&a, 65536, 1u << 20) == PF_OK, "arena");
	for (size_t i = 0; i < PF_COUNT(names); i++) {
		tap_is(pf_label(&a, pf_str(names[i].raw), &got), PF_OK,
		    "name: %s", names[i].why);
		tap_is_z(got, names[i].want, "... is as it should be");
	}
	tap_is(pf_label(&a, pf_bytes("a\0b", 3), &got), PF_OK, "name: NUL");
	tap_ok(!pf_str_given(got), "... is none");
	for (size_t i = 0; i < PF_COUNT(domains); i++) {
		tap_is(pf_domain_of(&a, pf_str(domains[i].host), &got), PF_OK,
		    "domain of %s", domains[i].host);
		tap_is_z(got, domains[i].want, "... is %s", domains[i].want);
	}
	for (size_t i = 0; i < PF_COUNT(suffixes); i++)
		tap_is(pf_domain_is_suffix(pf_str(suffixes[i].host)),
		    suffixes[i].want, "a public suffix? %s", suffixes[i].host);
	for (size_t i = 0; i < PF_COUNT(docs); i++)
		document(&a, i);
	pf_arena_free(&a);
	return tap_done();
}
