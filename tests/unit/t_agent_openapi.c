/*
 * poppy-agent finding calls in OpenAPI descriptions.
 */
#include "config.h"

#include <string.h>

#include "tests/unit/tap.h"
#include "tools/poppy-agent/openapi.h"

#define AT	"https://api.example/v1/openapi.json"

static struct pf_arena arena;

/* want: the URL of the first operation, or NULL for none; rule: refused. */
static const struct { const char *why, *doc, *want, *rule; } cases[] = {
	{ "no parameters", "{'openapi':'3.1.0','paths':{'/a':{'get':{}}}}",
	    "https://api.example/a", NULL },
	{ "a server of its own", "{'openapi':'3.0.3','servers':"
	    "[{'url':'https://b.example/x/'}],'paths':{'/a':{'get':{}}}}",
	    "https://b.example/x/a", NULL },
	{ "a relative server", "{'openapi':'3.1.0','servers':"
	    "[{'url':'../v2'}],'paths':{'/a':{'get':{}}}}",
	    "https://api.example/v2/a", NULL },
	{ "a server with variables", "{'openapi':'3.1.0','servers':"
	    "[{'url':'https://{r}.example/{v}','variables':{'r':"
	    "{'default':'eu'},'v':{'default':'2'}}}],"
	    "'paths':{'/a':{'get':{}}}}", "https://eu.example/2/a", NULL },
	{ "parameters of path and operation", "{'openapi':'3.1.0','paths':{"
	    "'/a/{x}':{'parameters':[{'name':'x','in':'path','required':true,"
	    "'example':'1/2'}],'get':{'parameters':[{'name':'q','in':'query',"
	    "'required':true,'schema':{'enum':['a&b','c']}}]}}}}",
	    "https://api.example/a/1%2F2?q=a%26b", NULL },
	{ "optional parameters stay out", "{'openapi':'3.1.0','paths':{"
	    "'/a':{'get':{'parameters':[{'name':'q','in':'query',"
	    "'example':'x'}]}}}}", "https://api.example/a", NULL },
	{ "numbers and booleans", "{'openapi':'3.1.0','paths':{'/{n}':{'get':"
	    "{'parameters':[{'name':'n','in':'path','required':true,"
	    "'schema':{'default':7}},{'name':'b','in':'query',"
	    "'required':true,'schema':{'example':false}}]}}}}",
	    "https://api.example/7?b=false", NULL },
	{ "named examples", "{'openapi':'3.1.0','paths':{'/{n}':{'get':"
	    "{'parameters':[{'name':'n','in':'path','required':true,"
	    "'examples':{'one':{'value':'v'}}}]}}}}",
	    "https://api.example/v", NULL },
	{ "references", "{'openapi':'3.1.0','components':{'parameters':{"
	    "'N':{'name':'n','in':'path','required':true,'schema':"
	    "{'$ref':'#/components/schemas/S'}}},'schemas':{'S':"
	    "{'example':'s'}}},'paths':{'/{n}':{'get':{'parameters':"
	    "[{'$ref':'#/components/parameters/N'}]}}}}",
	    "https://api.example/s", NULL },
	{ "past what can't be called", "{'openapi':'3.1.0','paths':{"
	    "'/{n}':{'get':{'parameters':[{'name':'n','in':'path'}]}},"
	    "'/p':{'post':{}},'/b':{'get':{}}}}", "https://api.example/b",
	    NULL },
	{ "what needs no scope comes first", "{'openapi':'3.1.0','paths':{"
	    "'/a':{'get':{'security':[{'p':['x']}]}},"
	    "'/b':{'get':{'security':[{'p':['x']},{}]}}}}",
	    "https://api.example/b", NULL },
	{ "scopes for all, and an exception", "{'openapi':'3.1.0',"
	    "'security':[{'p':['x']}],'paths':{'/a':{'get':{}},"
	    "'/b':{'get':{'security':[]}}}}", "https://api.example/b", NULL },
	{ "a scoped one where there is no other", "{'openapi':'3.1.0',"
	    "'paths':{'/a':{'get':{'security':[{'p':['x']}]}}}}",
	    "https://api.example/a", NULL },
	{ "a required header", "{'openapi':'3.1.0','paths':{'/a':{'get':"
	    "{'parameters':[{'name':'h','in':'header','required':true,"
	    "'example':'x'}]}}}}", NULL, NULL },
	{ "a reference to itself", "{'openapi':'3.1.0','paths':{'/a':{'get':"
	    "{'parameters':[{'$ref':'#/paths/~1a/get/parameters/0'}]}},"
	    "'/b':{'$ref':'#/paths//b'}}}", NULL, NULL },
	{ "a reference to elsewhere", "{'openapi':'3.1.0','paths':{'/a':"
	    "{'get':{'parameters':[{'$ref':'https://evil.example/p'}]}}}}",
	    NULL, NULL },
	{ "a path that leads to another host", "{'openapi':'3.1.0','servers':"
	    "[{'url':'https://b.example'}],'paths':{'.evil.example/':"
	    "{'get':{}},'@evil.example/':{'get':{}}}}", NULL, NULL },
	{ "a path with a space", "{'openapi':'3.1.0','paths':{'/a b':"
	    "{'get':{}}}}", NULL, NULL },
	{ "no paths", "{'openapi':'3.1.0'}", NULL, NULL },
	{ "paths as a list", "{'openapi':'3.1.0','paths':[1]}", NULL, NULL },
	{ "operations of wrong types", "{'openapi':'3.1.0','paths':{'/a':1,"
	    "'/b':{'get':[]},'/c':null}}", NULL, NULL },
	{ "Swagger 2.0", "{'swagger':'2.0','paths':{}}", NULL, "R-6-2" },
	{ "a later version", "{'openapi':'4.0.0'}", NULL, "R-6-2" },
	{ "version as number", "{'openapi':3.1}", NULL, "R-6-2" },
	{ "an array", "[]", NULL, "R-6-2" },
	{ "a server by http", "{'openapi':'3.1.0','servers':"
	    "[{'url':'http://api.example/'}]}", NULL, "R-6-2" },
	{ "a server with userinfo", "{'openapi':'3.1.0','servers':"
	    "[{'url':'https://a@b.example/'}]}", NULL, "R-6-2" },
	{ "a server without url", "{'openapi':'3.1.0','servers':[{}]}", NULL,
	    "R-6-2" },
	{ "a variable without default", "{'openapi':'3.1.0','servers':"
	    "[{'url':'https://{r}.example/','variables':{'r':{}}}]}", NULL,
	    "R-6-2" },
};

/* The cases are written with ' for ", to be read at all. */
static const struct pf_json *
parse(const char *text)
{
	const struct pf_json *v = NULL;
	char *z = pf_arena_z(&arena, pf_str(text));

	tap_need(z != NULL, "memory");
	for (char *p = z; *p != '\0'; p++)
		if (*p == '\'')
			*p = '"';
	tap_need(pf_json_parse(&arena, pf_str(z), &pf_json_large, &v, NULL) ==
	    PF_OK, text);
	return v;
}

static void
test_bounds(void)
{
	struct ag_openapi *o = pf_arena_alloc(&arena, sizeof(*o));
	struct ag_fault f;
	struct pf_buf b;

	pf_buf_init(&b, &arena, 65536);
	pf_buf_addz(&b, "{'openapi':'3.1.0','paths':{'/x':{'get':{}}");
	for (int i = 0; i < 200; i++)
		pf_buf_fmt(&b, ",'/p%d':{'get':{}}", i);
	pf_buf_addz(&b, "}}");
	tap_need(o != NULL && !b.failed, "memory");
	tap_is(ag_openapi_read(&arena, parse(pf_arena_z(&arena,
	    pf_buf_str(&b))), PF_LIT(AT), o, &f), PF_OK, "201 operations");
	tap_is((long long)o->n, AG_OPERATIONS_MAX, "the first few are taken");
}

int
main(void)
{
	struct ag_openapi o;
	struct ag_fault f;
	enum pf_rc rc;
	bool good;

	tap_need(pf_arena_init(&arena, 65536, 8 << 20) == PF_OK, "memory");
	for (size_t i = 0; i < PF_COUNT(cases); i++) {
		ag_fault_asked(&f, NULL, PF_NOSTR);
		rc = ag_openapi_read(&arena, parse(cases[i].doc), PF_LIT(AT),
		    &o, &f);
		if (cases[i].rule != NULL)
			good = rc == PF_E_UPSTREAM && f.rule != NULL &&
			    strcmp(f.rule, cases[i].rule) == 0;
		else if (cases[i].want == NULL)
			good = rc == PF_OK && o.n == 0;
		else
			good = rc == PF_OK && o.n > 0 &&
			    pf_str_eqz(o.op[0].url, cases[i].want);
		if (!tap_ok(good, "OpenAPI: %s", cases[i].why) && o.n > 0)
			tap_show("got", o.op[0].url);
	}
	test_bounds();
	pf_arena_free(&arena);
	return tap_done();
}
