#include "core/web/url.h"
#include "tests/unit/tap.h"

static struct pf_arena arena;

static void
test_parse_good(void)
{
	struct pf_url u;

	tap_is(pf_url_parse(PF_LIT("https://a.example/p/q?x=1&y#f"), &u),
	    PF_OK, "a whole URL");
	tap_is_z(u.scheme, "https", "scheme");
	tap_is_z(u.host, "a.example", "host");
	tap_is(u.port, 443, "port by default");
	tap_ok(!u.port_given && !u.userinfo, "no port, no userinfo");
	tap_is_z(u.path, "/p/q", "path");
	tap_is_z(u.query, "x=1&y", "query");
	tap_is_z(u.fragment, "f", "fragment");
	tap_is(pf_url_parse(PF_LIT("HTTP://H.Example:8080"), &u), PF_OK,
	    "no path");
	tap_is_z(u.scheme, "HTTP", "scheme as written");
	tap_is_z(u.host, "H.Example", "host as written");
	tap_ok(u.port == 8080 && u.port_given, "port as given");
	tap_is_z(u.path, "", "path is empty");
	tap_is_z(u.query, NULL, "no query");
	tap_is_z(u.fragment, NULL, "no fragment");
	tap_is(pf_url_parse(PF_LIT("http://[2001:db8::1]:1/?"), &u), PF_OK,
	    "IPv6");
	tap_is_z(u.host, "[2001:db8::1]", "brackets are kept");
	tap_is_z(u.query, "", "an empty query is given");
	tap_is(pf_url_parse(PF_LIT("https://u:p@h.example/"), &u), PF_OK,
	    "userinfo parses");
	tap_ok(u.userinfo, "and is told");
	tap_is_z(u.host, "h.example", "the host is behind the @");
	tap_is(pf_url_parse(PF_LIT("https://@h.example/"), &u), PF_OK,
	    "empty userinfo parses");
	tap_ok(u.userinfo, "and is told too");
	tap_is(pf_url_parse(PF_LIT("https://h.example?a/b@c"), &u), PF_OK,
	    "query without path");
	tap_is_z(u.host, "h.example", "the query is no host");
	tap_ok(!u.userinfo, "an @ of the query is no userinfo");
}

static void
test_parse_bad(void)
{
	static const struct { const char *why; struct pf_str text; } bad[] = {
		{ "empty", PF_LIT_INIT("") },
		{ "no scheme", PF_LIT_INIT("//h.example/") },
		{ "foreign scheme", PF_LIT_INIT("ftp://h.example/") },
		{ "scheme with a prefix", PF_LIT_INIT("xhttps://h.example/") },
		{ "javascript", PF_LIT_INIT("javascript://h.example/%0ax") },
		{ "one slash", PF_LIT_INIT("https:/h.example/") },
		{ "no slashes", PF_LIT_INIT("https:h.example") },
		{ "backslashes", PF_LIT_INIT("https:\\\\h.example/") },
		{ "backslash for a slash",
		    PF_LIT_INIT("https://h.example\\@evil.example/") },
		{ "no host", PF_LIT_INIT("https:///x") },
		{ "userinfo only", PF_LIT_INIT("https://u@/x") },
		{ "two @", PF_LIT_INIT("https://a@b@h.example/") },
		{ "encoded @ in the host",
		    PF_LIT_INIT("https://a.example%40evil.example/") },
		{ "encoded dot in the host",
		    PF_LIT_INIT("https://a%2eexample/") },
		{ "leading space", PF_LIT_INIT(" https://h.example/") },
		{ "trailing space", PF_LIT_INIT("https://h.example/ ") },
		{ "tab in the host", PF_LIT_INIT("https://h.exa\tmple/") },
		{ "tab in the scheme", PF_LIT_INIT("ht\ttps://h.example/") },
		{ "newline", PF_LIT_INIT("https://h.example/\n") },
		{ "CR LF and a header",
		    PF_LIT_INIT("https://h.example/\r\nX: y") },
		{ "NUL", PF_LIT_INIT("https://h.example\0.evil.example/") },
		{ "DEL", PF_LIT_INIT("https://h.example/\x7f") },
		{ "unicode host", PF_LIT_INIT("https://\xc3\xa9.example/") },
		{ "ideographic dots",
		    PF_LIT_INIT("https://127\xe3\x80\x82" "0.0.1/") },
		{ "fullwidth digits",
		    PF_LIT_INIT("https://\xef\xbc\x91.1.1.1/") },
		{ "trailing dot", PF_LIT_INIT("https://h.example./") },
		{ "leading dot", PF_LIT_INIT("https://.h.example/") },
		{ "empty label", PF_LIT_INIT("https://h..example/") },
		{ "only a dot", PF_LIT_INIT("https://./") },
		{ "star", PF_LIT_INIT("https://*.example/") },
		{ "label of 64", PF_LIT_INIT("https://aaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example/") },
		{ "port empty", PF_LIT_INIT("https://h.example:/") },
		{ "port 0", PF_LIT_INIT("https://h.example:0/") },
		{ "port 65536", PF_LIT_INIT("https://h.example:65536/") },
		{ "port past 32 bits",
		    PF_LIT_INIT("https://h.example:4294967739/") },
		{ "port with a zero", PF_LIT_INIT("https://h.example:0443/") },
		{ "port with a sign", PF_LIT_INIT("https://h.example:+443/") },
		{ "negative port", PF_LIT_INIT("https://h.example:-1/") },
		{ "port with letters", PF_LIT_INIT("https://h.example:44x/") },
		{ "two ports", PF_LIT_INIT("https://h.example:1:2/") },
		{ "IPv6 without brackets", PF_LIT_INIT("https://::1/") },
		{ "bracket left open", PF_LIT_INIT("https://[::1/") },
		{ "empty brackets", PF_LIT_INIT("https://[]/") },
		{ "a name in brackets", PF_LIT_INIT("https://[h.example]/") },
		{ "IPv4 in brackets", PF_LIT_INIT("https://[127.0.0.1]/") },
		{ "IPv6 with a zone", PF_LIT_INIT("https://[fe80::1%25lo]/") },
		{ "something behind the bracket",
		    PF_LIT_INIT("https://[::1]x/") },
		{ "IPvFuture", PF_LIT_INIT("https://[v1.x]/") },
		{ "one number", PF_LIT_INIT("https://2130706433/") },
		{ "hexadecimal", PF_LIT_INIT("https://0x7f000001/") },
		{ "capital hexadecimal", PF_LIT_INIT("https://0X7F.1/") },
		{ "bare 0x", PF_LIT_INIT("https://127.0.0.0x/") },
		{ "octal", PF_LIT_INIT("https://017700000001/") },
		{ "dotted octal", PF_LIT_INIT("https://0177.0.0.1/") },
		{ "two parts", PF_LIT_INIT("https://127.1/") },
		{ "five parts", PF_LIT_INIT("https://1.2.3.4.5/") },
		{ "part past 255", PF_LIT_INIT("https://1.2.3.256/") },
		{ "name that ends in a number", PF_LIT_INIT("https://h.1/") },
		{ "% at the end", PF_LIT_INIT("https://h.example/%") },
		{ "% and one digit", PF_LIT_INIT("https://h.example/%4") },
		{ "% and no hex", PF_LIT_INIT("https://h.example/%4g") },
		{ "%u", PF_LIT_INIT("https://h.example/%u0041") },
		{ "double quote", PF_LIT_INIT("https://h.example/\"") },
		{ "less than", PF_LIT_INIT("https://h.example/<x>") },
		{ "caret", PF_LIT_INIT("https://h.example/^") },
		{ "backquote", PF_LIT_INIT("https://h.example/`") },
		{ "braces", PF_LIT_INIT("https://h.example/{x}") },
		{ "bar", PF_LIT_INIT("https://h.example/|") },
		{ "two fragments", PF_LIT_INIT("https://h.example/#a#b") },
	};
	struct pf_url u;

	for (size_t i = 0; i < PF_COUNT(bad); i++)
		tap_is(pf_url_parse(bad[i].text, &u), PF_E_INPUT,
		    "refused: %s", bad[i].why);
}

static void
test_length(void)
{
	char text[2049] = "https://h.example/";
	struct pf_url u;

	memset(text + 18, 'a', sizeof(text) - 18);
	tap_is(pf_url_parse(pf_bytes(text, 2048), &u), PF_OK, "2,048 bytes");
	tap_is(pf_url_parse(pf_bytes(text, 2049), &u), PF_E_INPUT, "2,049");
}

static void
test_https(void)
{
	tap_ok(pf_url_is_https(PF_LIT("HTTPS://h.example:8443/x?y")), "https");
	tap_ok(!pf_url_is_https(PF_LIT("http://h.example/")), "http is not");
	tap_ok(!pf_url_is_https(PF_LIT("https://u@h.example/")), "userinfo");
	tap_ok(!pf_url_is_https(PF_LIT("https://@h.example/")),
	    "empty userinfo");
	tap_ok(!pf_url_is_https(PF_LIT("https://h.example/#")),
	    "empty fragment");
	tap_ok(!pf_url_is_https(PF_LIT("https://h.example:/")), "no URL");
	tap_ok(!pf_url_is_https(PF_NOSTR), "nothing");
}

static void
test_within(void)
{
	static const struct {
		const char *host, *domain;
		bool want;
	} row[] = {
		{ "example.com", "example.com", true },
		{ "EXAMPLE.com", "example.COM", true },
		{ "a.example.com", "example.com", true },
		{ "a.b.Example.com", "example.com", true },
		{ "1.2.3.4", "1.2.3.4", true },
		{ "[::1]", "[::1]", true },
		{ "example.com", "a.example.com", false },
		{ "evilexample.com", "example.com", false },
		{ "example.com.evil.com", "example.com", false },
		{ "example.com@evil.com", "evil.com", false },
		{ "evil.com/.example.com", "example.com", false },
		{ "evil.com:1.example.com", "example.com", false },
		{ "evil.com\\.example.com", "example.com", false },
		{ "example.com.", "example.com", false },
		{ "a.example.com.", "example.com", false },
		{ ".example.com", "example.com", false },
		{ "a..example.com", "example.com", false },
		{ "a.example.com", ".example.com", false },
		{ "example.com", "", false },
		{ "", "example.com", false },
		{ "", "", false },
		{ "1.2.3.4", "3.4", false },
		{ "5.1.2.3.4", "1.2.3.4", false },
		{ "a.1.2.3.4", "1.2.3.4", false },
		{ "[::1]", "::1", false },
	};

	for (size_t i = 0; i < PF_COUNT(row); i++)
		tap_is(pf_host_within(pf_str(row[i].host),
		    pf_str(row[i].domain)), row[i].want, "%s %s %s",
		    row[i].host, row[i].want ? "within" : "not within",
		    row[i].domain);
	tap_ok(pf_host_is_ip(PF_LIT("10.0.0.1")) &&
	    pf_host_is_ip(PF_LIT("[::1]")) && pf_host_is_ip(PF_LIT("::1")) &&
	    pf_host_is_ip(PF_LIT("0x7f.1")), "addresses");
	tap_ok(!pf_host_is_ip(PF_LIT("1.example")) &&
	    !pf_host_is_ip(PF_LIT("0x7f.1x")) && !pf_host_is_ip(PF_NOSTR) &&
	    !pf_host_is_ip(PF_LIT("example.")), "no addresses");
}

static void
test_host_key(void)
{
	static const struct { const char *header, *want; } row[] = {
		{ "Shop.Example", "shop.example" },
		{ "shop.example:8443", "shop.example" },
		{ "shop.example.", "shop.example" },
		{ "SHOP.example.:443", "shop.example" },
		{ "127.0.0.1:80", "127.0.0.1" },
		{ "[2001:DB8::1]:443", "[2001:db8::1]" },
		{ "xn--e1afmkfd.example", "xn--e1afmkfd.example" },
		{ "", NULL },
		{ ".", NULL },
		{ ":443", NULL },
		{ "shop.example:", NULL },
		{ "shop.example:0", NULL },
		{ "shop.example:99999", NULL },
		{ "shop.example:4a", NULL },
		{ "shop.example..", NULL },
		{ "shop.example, evil.example", NULL },
		{ "shop.example evil.example", NULL },
		{ " shop.example", NULL },
		{ "shop.example/x", NULL },
		{ "u@shop.example", NULL },
		{ "shop.example?x", NULL },
		{ "shop.example#x", NULL },
		{ "sh\xc3\xb6p.example", NULL },
		{ "shop.example\r\n", NULL },
		{ "[::1", NULL },
		{ "[::1]443", NULL },
		{ "::1", NULL },
		{ "2130706433", NULL },
		{ "../etc", NULL },
	};
	struct pf_str key;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		tap_is(pf_host_key(&arena, pf_str(row[i].header), &key),
		    row[i].want != NULL ? PF_OK : PF_E_INPUT,
		    "host key %zu", i);
		tap_is_z(key, row[i].want, "key %zu", i);
	}
	tap_is(pf_host_key(&arena, PF_LIT("a\0b"), &key), PF_E_INPUT, "NUL");
	tap_is(pf_host_key(&arena, PF_NOSTR, &key), PF_E_INPUT, "no Host");
}

static void
test_path_check(void)
{
	static const char *const good[] = {
		"/", "/a", "/a/", "/a/b.c/...", "/a;b=c/d,e", "/a%20b",
		"/%E2%82%AC", "/%2520", "/.well-known/poppy.json", "/a..b/..c",
		"/x.php/foo", "/%61", "/;x", "/a:b@c$d&e'(f)*+=!~-_", "/....",
	};
	static const struct { const char *why; struct pf_str raw; } bad[] = {
		{ "empty", PF_LIT_INIT("") },
		{ "no slash first", PF_LIT_INIT("a/b") },
		{ "star", PF_LIT_INIT("*") },
		{ "absolute form", PF_LIT_INIT("http://h.example/") },
		{ "two slashes first", PF_LIT_INIT("//evil.example/") },
		{ "two slashes within", PF_LIT_INIT("/a//b") },
		{ "two slashes last", PF_LIT_INIT("/a//") },
		{ "%2F", PF_LIT_INIT("/a%2Fb") },
		{ "%2f", PF_LIT_INIT("/a%2fb") },
		{ "%5C", PF_LIT_INIT("/a%5Cb") },
		{ "%5c", PF_LIT_INIT("/a%5c..") },
		{ "backslash", PF_LIT_INIT("/a\\b") },
		{ "%00", PF_LIT_INIT("/a%00.php") },
		{ "NUL", PF_LIT_INIT("/a\0b") },
		{ "dot", PF_LIT_INIT("/./a") },
		{ "dot at the end", PF_LIT_INIT("/a/.") },
		{ "two dots", PF_LIT_INIT("/a/../b") },
		{ "two dots at the end", PF_LIT_INIT("/a/..") },
		{ "%2e", PF_LIT_INIT("/%2e/a") },
		{ "%2E%2E", PF_LIT_INIT("/a/%2E%2E/b") },
		{ ".%2e", PF_LIT_INIT("/a/.%2e") },
		{ "%2e.", PF_LIT_INIT("/a/%2e./") },
		{ "dots with a parameter", PF_LIT_INIT("/a/..;x=1/b") },
		{ "dots with an empty parameter", PF_LIT_INIT("/a/..;/b") },
		{ "dots with an encoded one", PF_LIT_INIT("/a/..%3Bx/b") },
		{ "space", PF_LIT_INIT("/a b") },
		{ "tab", PF_LIT_INIT("/a\tb") },
		{ "newline", PF_LIT_INIT("/a\nb") },
		{ "DEL", PF_LIT_INIT("/a\x7f") },
		{ "raw UTF-8", PF_LIT_INIT("/\xc3\xa9") },
		{ "query", PF_LIT_INIT("/a?b") },
		{ "fragment", PF_LIT_INIT("/a#b") },
		{ "% alone", PF_LIT_INIT("/%") },
		{ "% and one digit", PF_LIT_INIT("/%2") },
		{ "% and no hex", PF_LIT_INIT("/%zz") },
		{ "%u002f", PF_LIT_INIT("/%u002f") },
	};

	for (size_t i = 0; i < PF_COUNT(good); i++)
		tap_is(pf_path_check(pf_str(good[i])), PF_OK, "path %s",
		    good[i]);
	for (size_t i = 0; i < PF_COUNT(bad); i++)
		tap_is(pf_path_check(bad[i].raw), PF_E_INPUT, "refused: %s",
		    bad[i].why);
}

static void
test_path_decode(void)
{
	static const struct { const char *raw, *want; } row[] = {
		{ "/", "/" },
		{ "/api/stock.php", "/api/stock.php" },
		{ "/a%20b", "/a b" },
		{ "/%E2%82%AC", "/\xe2\x82\xac" },
		{ "/%252e%252e/a", "/%2e%2e/a" },
		{ "/%252F", "/%2F" },
		{ "/x.php/foo", "/x.php/foo" },
		{ "/api;x/stock", "/api;x/stock" },
		{ "/api%3bx/stock", "/api;x/stock" },
		{ "/a%3Fb%23", "/a?b#" },
		{ "/%61pi/stock", NULL },
		{ "/ap%69/stock", NULL },
		{ "/%41", NULL },
		{ "/%7Eme", NULL },
		{ "/a%2Db", NULL },
		{ "/a%2ephp", NULL },
		{ "/%5f", NULL },
		{ "/%31", NULL },
		{ "/%2e%2e/a", NULL },
		{ "/a%2fb", NULL },
		{ "/a%00", NULL },
		{ "/a%0a", NULL },
		{ "/a%0D%0A", NULL },
		{ "/a%7f", NULL },
		{ "/%c0%af", NULL },
		{ "/%c0%ae%c0%ae/a", NULL },
		{ "/%e0%80%af", NULL },
		{ "/%f0%80%80%af", NULL },
		{ "/%ed%a0%80", NULL },
		{ "/%ff", NULL },
		{ "/%e2%82", NULL },
		{ "api", NULL },
	};
	struct pf_str out;

	for (size_t i = 0; i < PF_COUNT(row); i++) {
		tap_is(pf_path_decode(&arena, pf_str(row[i].raw), &out),
		    row[i].want != NULL ? PF_OK : PF_E_INPUT, "decode %s",
		    row[i].raw);
		tap_is_z(out, row[i].want, "decoded %s", row[i].raw);
	}
}

static void
test_escape(void)
{
	struct pf_buf b;

	pf_buf_init(&b, &arena, 4096);
	pf_url_escape(&b, PF_LIT("aZ09-._~ /?&=+%\"<\0\xc3\xa9"));
	tap_is_z(pf_buf_str(&b), "aZ09-._~%20%2F%3F%26%3D%2B%25%22%3C%00%C3%A9",
	    "escaped");
}

int
main(void)
{
	tap_need(pf_arena_init(&arena, 4096, 1 << 20) == PF_OK, "an arena");
	test_parse_good();
	test_parse_bad();
	test_length();
	test_https();
	test_within();
	test_host_key();
	test_path_check();
	test_path_decode();
	test_escape();
	pf_arena_free(&arena);
	return tap_done();
}
