#include "config.h"

#include "tests/unit/tap.h"

#include <unistd.h>

#include "core/base/conf.h"

struct rule {
	int64_t line;
	struct pf_str path;
	struct pf_strs methods;
	bool open;
};

struct settings {
	struct pf_str name;
	int64_t workers;
	struct pf_map listen;
	struct { int64_t seconds; struct pf_str unit; } token;
	struct pf_list rules;
};

static const char *
check_path(struct pf_str s)
{
	return pf_str_starts(s, PF_LIT("/")) ? NULL : "must begin with '/'";
}

static const char *
check_upper(struct pf_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (pf_lower(s.p[i]) != s.p[i])
			return NULL;
	return "must be in upper case";
}

static const struct pf_conf_key rule_keys[] = {
	{ "", PF_CONF_LINE, offsetof(struct rule, line), 0, 0, NULL, NULL,
	    NULL, NULL },
	{ "path", PF_CONF_STR, offsetof(struct rule, path), 1, 20, NULL,
	    "Path it is for.", check_path, NULL },
	{ "methods", PF_CONF_STRS, offsetof(struct rule, methods), 1, 3,
	    "[\"GET\"]", "Methods it is for.", check_upper, NULL },
	{ "open", PF_CONF_BOOL, offsetof(struct rule, open), 0, 0, "false",
	    "No proof is needed.", NULL, NULL },
};
static const struct pf_conf_table rule_table = {
	sizeof(struct rule), rule_keys, PF_COUNT(rule_keys)
};

#define TOKEN(m)	(offsetof(struct settings, token.m) - \
			    offsetof(struct settings, token))
static const struct pf_conf_key token_keys[] = {
	{ "seconds", PF_CONF_INT, TOKEN(seconds), 1, 86400, "3600",
	    "Lifetime.", NULL, NULL },
	{ "unit", PF_CONF_STR, TOKEN(unit), 0, 0, "\"s\"", "Unit.", NULL,
	    NULL },
};
static const struct pf_conf_table token_table = {
	sizeof(((struct settings *)0)->token), token_keys, PF_COUNT(token_keys)
};

static const struct pf_conf_key keys[] = {
	{ "name", PF_CONF_STR, offsetof(struct settings, name), 1, 10, NULL,
	    "Name.", NULL, NULL },
	{ "workers", PF_CONF_INT, offsetof(struct settings, workers), -1, 64,
	    "8", "Threads.", NULL, NULL },
	{ "listen", PF_CONF_MAP, offsetof(struct settings, listen), 0, 2, "{}",
	    "Sockets.", check_path, NULL },
	{ "token", PF_CONF_OBJ, offsetof(struct settings, token), 0, 0, "{}",
	    "Tokens.", NULL, &token_table },
	{ "rules", PF_CONF_LIST, offsetof(struct settings, rules), 0, 3, "[]",
	    "Rules.", NULL, &rule_table },
};
static const struct pf_conf_table table = {
	sizeof(struct settings), keys, PF_COUNT(keys)
};

static struct pf_arena arena;
static struct settings set;
static struct pf_conf_fault fault;

static enum pf_rc
parse(struct pf_str text)
{
	pf_arena_reset(&arena);
	memset(&fault, 0, sizeof(fault));
	return pf_conf_parse("t.conf", text, &table, &arena, &set, &fault);
}

/* The complaint as an operator sees it. */
static struct pf_str
complaint(void)
{
	static char line[1024];
	FILE *f = fmemopen(line, sizeof(line), "w");

	tap_need(f != NULL, "fmemopen");
	pf_conf_complain(f, &fault);
	fclose(f);
	return pf_str(line);
}

#define N	"{\"name\":\"x\","
#define T(s)	PF_LIT_INIT(s)

static const struct { struct pf_str text; const char *says; } bad[] = {
	/* The text itself. */
	{ T(""), "t.conf:1: the file ends where a value must follow\n" },
	{ T("\n\n// nothing\n"),
	    "t.conf:4: the file ends where a value must follow\n" },
	{ T("[]"), "t.conf:1: must be an object\n" },
	{ T("\"x\""), "t.conf:1: must be an object\n" },
	{ T("\xef\xbb\xbf{}"), "t.conf:1: the file begins with a byte order "
	    "mark; save it without one\n" },
	{ T("{\"name\":\"x\"} x"),
	    "t.conf:1: the end of the file must follow, not 'x'\n" },
	{ T("{\"name\":\"x\"}\n}"),
	    "t.conf:2: the end of the file must follow, not '}'\n" },
	{ T("{\n/* one\ntwo\n"),
	    "t.conf:2: a comment that begins here has no end\n" },
	{ T("{\"name\":\"x\"}/*/"),
	    "t.conf:1: a comment that begins here has no end\n" },
	{ T("{ # one\n}"), "t.conf:1: a setting's name in double quotes must "
	    "follow, not '#'\n" },
	{ T("{name:1}"), "t.conf:1: a setting's name in double quotes must "
	    "follow, not 'n'\n" },
	{ T("{'name':1}"), "t.conf:1: strings have double quotes, not single "
	    "ones\n" },
	{ T("{,}"), "t.conf:1: a setting's name in double quotes must "
	    "follow, not ','\n" },
	{ T("{\"name\" \"x\"}"), "t.conf:1: name: a colon must follow, not "
	    "'\"'\n" },
	{ T("{\"name\""),
	    "t.conf:1: name: the file ends where a colon must follow\n" },
	{ T("{\n\"name\":\n\n}"),
	    "t.conf:4: name: a value must follow, not '}'\n" },
	{ T("{\"name\":"),
	    "t.conf:1: name: the file ends where a value must follow\n" },
	{ T("{\"name\":\"x\""),
	    "t.conf:1: the file ends where a comma or } must follow\n" },
	{ T("{\"name\":\"x\"\n\"workers\":1}"),
	    "t.conf:2: a comma or } must follow, not '\"'\n" },
	{ T("{\"name\":\"x\",,}"), "t.conf:1: a setting's name in double "
	    "quotes must follow, not ','\n" },
	{ T("{\"name\":\"x\",\n\"rules\":[{\"path\":\"/\"}\n{}]}"),
	    "t.conf:3: rules: a comma or ] must follow, not '{'\n" },
	{ T("{\"name\":\0}"),
	    "t.conf:1: name: a value must follow, not byte 0x00\n" },
	{ T("{\"name\":\xc2\xa0\"x\"}"),
	    "t.conf:1: name: a value must follow, not byte 0xc2\n" },
	{ T("{\"name\":'x'}"), "t.conf:1: name: strings have double quotes, "
	    "not single ones\n" },
	{ T("{\"name\":x}"),
	    "t.conf:1: name: x is no value; strings have double quotes\n" },
	{ T("{\"name\":True}"),
	    "t.conf:1: name: True is no value; strings have double quotes\n" },
	{ T("{\n\"name\":\"x\n\"}"),
	    "t.conf:2: name: a string has no closing quote in its line\n" },
	{ T("{\"name\":\"x\\\n\"}"),
	    "t.conf:1: name: a string has no closing quote in its line\n" },
	{ T("{\"name\":\"x"),
	    "t.conf:1: name: the file ends within a string\n" },
	{ T("{\"name\":\"x\\"),
	    "t.conf:1: name: the file ends within a string\n" },
	{ T("{\"name\":\"x\\\""),
	    "t.conf:1: name: the file ends within a string\n" },
	{ T("{\"name\":\"a\tb\"}"),
	    "t.conf:1: name: a control character in a string\n" },
	{ T("{\"name\":\"a\0b\"}"),
	    "t.conf:1: name: a control character in a string\n" },
	{ T("{\"name\":\"a\\u0000b\"}"), "t.conf:1: name: NUL\n" },
	{ T("{\"name\":\"\\ud800\"}"), "t.conf:1: name: a lone surrogate\n" },
	{ T("{\"name\":\"\\x\"}"), "t.conf:1: name: an unknown escape\n" },
	{ T("{\"name\":\"\xff\"}"), "t.conf:1: name: invalid UTF-8\n" },
	{ T("{\"name\":\"x\",\n\"name\":\"y\"}"),
	    "t.conf:2: name: was given in line 1 already\n" },
	{ T("{\"name\":\"x\",\n\"n\\u0061me\":\"y\"}"),
	    "t.conf:2: name: was given in line 1 already\n" },
	{ T(N "\"rules\":[{\"path\":\"/\",\"path\":\"/\"}]}"),
	    "t.conf:1: rules[0].path: was given in line 1 already\n" },
	/* What the table doesn't know, and what it wants. */
	{ T(N "\n\"worker\":1}"),
	    "t.conf:2: worker: there is no such setting\n" },
	{ T(N "\"Workers\":1}"),
	    "t.conf:1: Workers: there is no such setting\n" },
	{ T(N "\"\":1}"), "t.conf:1: there is no such setting\n" },
	{ T(N "\"a\\nb\\u007f\":1}"),
	    "t.conf:1: a?b?: there is no such setting\n" },
	{ T(N "\"rules\":[{\"path\":\"/\"},\n{\"path\":\"/\",\"\":1}]}"),
	    "t.conf:2: rules[1].: there is no such setting\n" },
	{ T(N "\"token\":{\"second\":1}}"),
	    "t.conf:1: token.second: there is no such setting\n" },
	{ T("{}"), "t.conf:1: name: must be given\n" },
	{ T("\n{\n}"), "t.conf:2: name: must be given\n" },
	{ T(N "\n\"rules\":[\n{\"path\":\"/\"},\n{}]}"),
	    "t.conf:4: rules[1].path: must be given\n" },
	/* Types. */
	{ T("{\"name\":1}"), "t.conf:1: name: must be a string\n" },
	{ T("{\"name\":null}"), "t.conf:1: name: must be a string\n" },
	{ T("{\"name\":[\"x\"]}"), "t.conf:1: name: must be a string\n" },
	{ T(N "\"workers\":\"2\"}"),
	    "t.conf:1: workers: must be an integer\n" },
	{ T(N "\"workers\":2.0}"), "t.conf:1: workers: must be an integer\n" },
	{ T(N "\"workers\":1e1}"), "t.conf:1: workers: must be an integer\n" },
	{ T(N "\"workers\":true}"), "t.conf:1: workers: must be an integer\n" },
	{ T(N "\"workers\":null}"), "t.conf:1: workers: must be an integer\n" },
	{ T(N "\"workers\":08}"), "t.conf:1: workers: 08 is no number: "
	    "something follows the value\n" },
	{ T(N "\"workers\":+8}"), "t.conf:1: workers: +8 is no value; strings "
	    "have double quotes\n" },
	{ T(N "\"workers\":8s}"), "t.conf:1: workers: 8s is no number: "
	    "something follows the value\n" },
	{ T(N "\"workers\":0x8}"), "t.conf:1: workers: 0x8 is no number: "
	    "something follows the value\n" },
	{ T(N "\"workers\":9223372036854775808}"), "t.conf:1: workers: "
	    "9223372036854775808 is no number: a number that doesn't fit\n" },
	{ T(N "\"token\":[]}"), "t.conf:1: token: must be an object\n" },
	{ T(N "\"token\":\"x\"}"), "t.conf:1: token: must be an object\n" },
	{ T(N "\"rules\":{}}"),
	    "t.conf:1: rules: must be a list of objects\n" },
	{ T(N "\"rules\":[\n\"x\"]}"),
	    "t.conf:2: rules[0]: must be an object\n" },
	{ T(N "\"rules\":[{\"path\":\"/\",\n\"open\":1}]}"),
	    "t.conf:2: rules[0].open: must be true or false\n" },
	{ T(N "\"rules\":[{\"path\":\"/\",\"open\":\"true\"}]}"),
	    "t.conf:1: rules[0].open: must be true or false\n" },
	{ T(N "\"rules\":[{\"path\":\"/\",\"methods\":\"GET\"}]}"),
	    "t.conf:1: rules[0].methods: must be a list of strings\n" },
	{ T(N "\"rules\":[{\"path\":\"/\",\"methods\":[\"GET\",\n1]}]}"),
	    "t.conf:2: rules[0].methods[1]: must be a string\n" },
	{ T(N "\"listen\":[]}"), "t.conf:1: listen: must be an object whose "
	    "values are strings\n" },
	{ T(N "\"listen\":{\"auth\":1}}"),
	    "t.conf:1: listen.auth: must be a string\n" },
	/* Ranges and checks. */
	{ T("{\"name\":\"\"}"),
	    "t.conf:1: name: must have 1 to 10 bytes, not 0\n" },
	{ T("{\"name\":\"12345678901\"}"),
	    "t.conf:1: name: must have 1 to 10 bytes, not 11\n" },
	{ T(N "\"workers\":65}"),
	    "t.conf:1: workers: must be from -1 to 64, not 65\n" },
	{ T(N "\"workers\":-2}"),
	    "t.conf:1: workers: must be from -1 to 64, not -2\n" },
	{ T(N "\"listen\":{\"a\":\"/\",\"b\":\"/\",\"c\":\"/\"}}"),
	    "t.conf:1: listen: must have 0 to 2 entries, not 3\n" },
	{ T(N "\"listen\":{\"a\":\"x\"}}"),
	    "t.conf:1: listen.a: must begin with '/'\n" },
	{ T(N "\"rules\":[{\"path\":\"x\"}]}"),
	    "t.conf:1: rules[0].path: must begin with '/'\n" },
	{ T(N "\"rules\":[{\"path\":\"/\",\"methods\":[]}]}"),
	    "t.conf:1: rules[0].methods: must have 1 to 3 entries, not 0\n" },
	{ T(N "\"rules\":[{\"path\":\"/\",\"methods\":[\"A\",\"b\"]}]}"),
	    "t.conf:1: rules[0].methods[1]: must be in upper case\n" },
	{ T(N "\"rules\":[{},{},{},{}]}"),
	    "t.conf:1: rules: must have 0 to 3 entries, not 4\n" },
	{ T(N "\"token\":{\"seconds\":0}}"),
	    "t.conf:1: token.seconds: must be from 1 to 86400, not 0\n" },
	{ T(N "\"rules\":[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]}"), "t.conf:1: "
	    "rules[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: "
	    "nested too deeply\n" },
};

static void
test_bad(void)
{
	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		if (parse(bad[i].text) != PF_E_INPUT)
			tap_ok(false, "refused: %zu", i);
		tap_is_z(complaint(), bad[i].says, "refused: %.*s",
		    (int)strcspn(bad[i].says, "\n"), bad[i].says);
	}
}

/* Neither a long key nor a long value makes a fault more than one line. */
static void
test_long_names(void)
{
	char text[1200];
	struct pf_str says;

	memset(text, 'k', sizeof(text));
	memcpy(text, "{\"name\":\"x\",\n\"", 14);
	memcpy(text + 1190, "\":1}", 4);
	tap_is(parse(pf_bytes(text, 1194)), PF_E_INPUT, "refused: a long key");
	tap_is((long long)strlen(fault.key), sizeof(fault.key) - 1,
	    "which is cut");
	says = complaint();
	tap_is((long long)pf_str_find(says, '\n'), (long long)says.n - 1,
	    "in one line");
	tap_ok(pf_str_starts(says, PF_LIT("t.conf:2: kkk")) &&
	    pf_str_ends(says, PF_LIT("k: there is no such setting\n")),
	    "with line and reason");
	memset(text, '1', sizeof(text));
	memcpy(text, "{\"name\":", 8);
	tap_is(parse(pf_bytes(text, sizeof(text))), PF_E_INPUT,
	    "refused: a long number");
	tap_is_z(complaint(), "t.conf:1: name: "
	    "1111111111111111111111111111111111111111 is no number: "
	    "a number that doesn't fit\n", "which is cut, too");
}

static void
test_defaults(void)
{
	tap_is(parse(PF_LIT("{\"name\":\"x\"}")), PF_OK, "only what must be");
	tap_is(set.workers, 8, "an integer by default");
	tap_is((long long)set.listen.n, 0, "a map by default");
	tap_is(set.token.seconds, 3600, "an object's member by default");
	tap_is_z(set.token.unit, "s", "another");
	tap_is((long long)set.rules.n, 0, "a list by default");
}

static void
test_good(void)
{
	const struct rule *r;

	tap_is(parse(PF_LIT("// a comment\r\n"
	    "{\t/* another\n * of three\n * lines **/\n"
	    "\t\"name\": \"a//b/*\\u00e9\",\t// \"name\": \"c\"\n"
	    "\t\"workers\": -1,\n"
	    "\t\"listen\": { \"auth\": \"/run/a\", \"guard\": \"/run/g\", },\n"
	    "\t\"token\": { \"unit\": \"\", \"seconds\": 60 },\n"
	    "\t\"rules\": [\n"
	    "\t\t{ \"path\": \"/api/\", \"methods\": [\"GET\", \"POST\",],\n"
	    "\t\t  \"open\": true },\n"
	    "\n"
	    "\t\t{ \"path\": \"/\" },\n"
	    "\t],\n"
	    "}\n// end")), PF_OK, "comments and commas");
	tap_is_z(set.name, "a//b/*\xc3\xa9", "no comment within a string");
	tap_is(set.name.p[set.name.n], '\0', "a NUL behind it");
	tap_is(set.workers, -1, "an integer");
	tap_is((long long)set.listen.n, 2, "a map");
	tap_is_z(set.listen.key[1], "guard", "its key");
	tap_is_z(set.listen.value[1], "/run/g", "its value");
	tap_is(set.token.seconds, 60, "an object within");
	tap_is_z(set.token.unit, "", "an empty string is given");
	tap_need(set.rules.n == 2, "two rules");
	r = set.rules.v;
	tap_is(r[0].line, 10, "the line where an object begins");
	tap_is((long long)r[0].methods.n, 2, "a list of strings");
	tap_is_z(r[0].methods.v[1], "POST", "its second");
	tap_ok(r[0].open && !r[1].open, "booleans");
	tap_is(r[1].line, 13, "the line of the next");
	tap_is_z(r[1].methods.v[0], "GET", "a list by default");
}

/* A default that its own check refuses is our fault, and said so; what an
 * absent object lacks is not the fault of its default. */
static void
test_bad_default(void)
{
	static const struct pf_conf_key must[] = {
		{ "name", PF_CONF_STR, 0, 1, 9, NULL, "", NULL, NULL },
	};
	static const struct pf_conf_table inner = {
		sizeof(struct pf_str), must, 1
	};
	static const struct pf_conf_key outer[] = {
		{ "org", PF_CONF_OBJ, 0, 0, 0, "{}", "", NULL, &inner },
	};
	static const struct pf_conf_table three = {
		sizeof(struct pf_str), outer, 1
	};
	static const struct pf_conf_key k[] = {
		{ "path", PF_CONF_STR, 0, 1, 9, "\"x\"", "", check_path, NULL },
		{ "n", PF_CONF_INT, 0, 1, 9, "10", "", NULL, NULL },
	};
	static const struct pf_conf_table one = { sizeof(struct pf_str), k, 1 };
	static const struct pf_conf_table two = { 8, k + 1, 1 };
	struct pf_str s;

	tap_is(pf_conf_parse("t.conf", PF_LIT("\n{}"), &one, &arena, &s,
	    &fault), PF_E_INPUT, "refused");
	tap_is_z(complaint(), "t.conf:2: path: the default must begin with "
	    "'/'\n", "as the default's fault");
	tap_is(pf_conf_parse("t.conf", PF_LIT("{}"), &two, &arena, &s,
	    &fault), PF_E_INPUT, "refused: out of its range");
	tap_is_z(complaint(), "t.conf:1: n: the default must be from 1 to 9, "
	    "not 10\n", "as the default's fault");
	tap_is(pf_conf_parse("t.conf", PF_LIT("{}"), &three, &arena, &s,
	    &fault), PF_E_INPUT, "refused: lacks what must be given");
	tap_is_z(complaint(), "t.conf:1: org.name: must be given\n",
	    "as the file's fault");
}

static void
test_limits(void)
{
	struct pf_arena small;
	struct pf_str text;
	char *p = malloc(1024 * 1024 + 1);

	tap_need(p != NULL, "memory");
	memset(p, ' ', 1024 * 1024 + 1);
	memcpy(p, "{\"name\":\"x\"}", 12);
	text = pf_bytes(p, 1024 * 1024);
	tap_is(parse(text), PF_OK, "1 MiB");
	text.n++;
	tap_is(parse(text), PF_E_INPUT, "refused: a byte more");
	tap_is_z(complaint(), "t.conf:1: the file is longer than 1 MiB\n",
	    "and says so");
	free(p);
	tap_need(pf_arena_init(&small, 64, 128) == PF_OK, "an arena");
	tap_is(pf_conf_parse("t.conf", PF_LIT("{\"name\":\"x\"}"), &table,
	    &small, &set, &fault), PF_E_MEM, "no memory left");
	tap_is(fault.line, 1, "and where");
	pf_arena_free(&small);
}

static void
test_files(void)
{
	char path[] = "/tmp/t_conf.XXXXXX";
	int fd = mkstemp(path);

	tap_need(fd >= 0 && write(fd, "{\n\"name\":1}", 11) == 11, "a file");
	close(fd);
	pf_arena_reset(&arena);
	tap_is(pf_conf_read(path, &table, &arena, &set, &fault), PF_E_INPUT,
	    "refused from a file");
	tap_ok(strcmp(fault.file, path) == 0 && fault.line == 2,
	    "with its name and line");
	unlink(path);
	tap_is(pf_conf_read(path, &table, &arena, &set, &fault), PF_E_ABSENT,
	    "refused: no such file");
	tap_is_z(pf_str(fault.reason), "No such file or directory", "says so");
	tap_is(pf_conf_read("/", &table, &arena, &set, &fault), PF_E_ABSENT,
	    "refused: a directory");
	tap_is(pf_conf_read("/dev/zero", &table, &arena, &set, &fault),
	    PF_E_ABSENT, "refused: a device without end");
	tap_is_z(complaint(), "/dev/zero: is no regular file\n", "says so");
}

static void
test_document(void)
{
	static char text[4096];
	FILE *f = fmemopen(text, sizeof(text), "w");

	tap_need(f != NULL, "fmemopen");
	pf_conf_document(f, &table);
	fclose(f);
	tap_is_z(pf_str(text),
	    "name: string, 1 to 10 bytes, must be given. Name.\n"
	    "workers: integer, -1 to 64, default 8. Threads.\n"
	    "listen: object of strings, 0 to 2 entries, default {}. Sockets.\n"
	    "token: object. Tokens.\n"
	    "token.seconds: integer, 1 to 86400, default 3600. Lifetime.\n"
	    "token.unit: string, default \"s\". Unit.\n"
	    "rules: list of objects, 0 to 3 entries, default []. Rules.\n"
	    "rules[].path: string, 1 to 20 bytes, must be given. Path it is "
	    "for.\n"
	    "rules[].methods: list of strings, 1 to 3 entries, default "
	    "[\"GET\"]. Methods it is for.\n"
	    "rules[].open: true or false, default false. No proof is "
	    "needed.\n", "the table as a document");
}

int
main(void)
{
	tap_need(pf_arena_init(&arena, 16384, 4 << 20) == PF_OK, "an arena");
	test_bad();
	test_long_names();
	test_defaults();
	test_good();
	test_bad_default();
	test_limits();
	test_files();
	test_document();
	pf_arena_free(&arena);
	return tap_done();
}
