#include "config.h"

#include "tools/poppy-agent/openapi.h"

#include <string.h>

#include "core/web/url.h"
#include "tools/poppy-agent/http.h"

#define URL_MAX		2048
#define REFS_MAX	4	/* a reference to a reference to ... */

/* One operation while its URL is put together. */
struct building {
	struct pf_arena *arena;
	const struct pf_json *doc;
	struct pf_str path;		/* templates not yet replaced */
	struct pf_buf query;
	bool impossible;
};

static const struct pf_json *
member(const struct pf_json *o, const char *key)
{
	const struct pf_json *v;

	return pf_json_obj(o, key, &v) == PF_OK ? v : NULL;
}

/* Follow "#/a/b/c" within the document (RFC 6901, without its escapes). */
static const struct pf_json *
resolve(struct pf_arena *a, const struct pf_json *doc, const struct pf_json *o)
{
	struct pf_str ref, one;

	for (int i = 0; o != NULL && pf_json_has(o, "$ref"); i++) {
		if (i == REFS_MAX || pf_json_str(o, "$ref", &ref) != PF_OK ||
		    !pf_str_starts(ref, PF_LIT("#/")))
			return NULL;
		ref = pf_str_from(ref, 2);
		o = doc;
		while (o != NULL && pf_str_given(ref) &&
		    pf_str_cut(&ref, '/', &one)) {
			const char *key = pf_arena_z(a, one);

			o = key == NULL ? NULL : member(o, key);
		}
	}
	return o;
}

/* A string, number or boolean as it goes into a URL. */
static struct pf_str
scalar(struct pf_arena *a, const struct pf_json *o, const char *key)
{
	struct pf_str s = PF_NOSTR;
	struct pf_buf b;
	int64_t i;
	double d;
	bool yes;

	pf_buf_init(&b, a, 64);
	if (o == NULL || !pf_json_has(o, key))
		return PF_NOSTR;
	if (pf_json_str(o, key, &s) == PF_OK)
		return s;
	if (pf_json_int(o, key, &i) == PF_OK)
		pf_buf_int(&b, i);
	else if (pf_json_num(o, key, &d) == PF_OK)
		pf_buf_fmt(&b, "%g", d);
	else if (pf_json_bool(o, key, &yes) == PF_OK)
		pf_buf_addz(&b, yes ? "true" : "false");
	return pf_buf_str(&b);
}

static struct pf_str
first_of(const struct pf_json *o, const char *key)
{
	const struct pf_json *list;
	struct pf_str s;

	if (o == NULL || pf_json_arr(o, key, &list) != PF_OK ||
	    pf_json_len(list) == 0 ||
	    pf_json_as_str(pf_json_at(list, 0), &s) != PF_OK)
		return PF_NOSTR;
	return s;
}

struct seen { struct building *b; struct pf_str value; };

static enum pf_rc
take_example(void *ctx, struct pf_str key, const struct pf_json *v)
{
	struct seen *s = ctx;

	(void)key;
	if (!pf_str_given(s->value))
		s->value = scalar(s->b->arena,
		    resolve(s->b->arena, s->b->doc, v), "value");
	return PF_OK;
}

/* In the order in which the writer of the description most likely meant it. */
static struct pf_str
example_of(struct building *b, const struct pf_json *param)
{
	const struct pf_json *schema = resolve(b->arena, b->doc,
	    member(param, "schema"));
	const struct pf_json *examples = member(param, "examples");
	struct seen seen = { b, scalar(b->arena, param, "example") };

	if (pf_str_given(seen.value))
		return seen.value;
	if (examples != NULL && pf_json_each(examples, take_example, &seen) ==
	    PF_OK && pf_str_given(seen.value))
		return seen.value;
	seen.value = scalar(b->arena, schema, "example");
	if (!pf_str_given(seen.value))
		seen.value = first_of(schema, "examples");
	if (!pf_str_given(seen.value))
		seen.value = scalar(b->arena, schema, "default");
	if (!pf_str_given(seen.value))
		seen.value = first_of(schema, "enum");
	return seen.value;
}

/* Every {name} of the path. */
static void
put_in_path(struct building *b, struct pf_str name, struct pf_str value)
{
	struct pf_str rest = b->path, inner;
	struct pf_buf out;
	size_t open, close;

	pf_buf_init(&out, b->arena, URL_MAX);
	while ((open = pf_str_find(rest, '{')) < rest.n) {
		close = pf_str_find(rest, '}');
		if (close == rest.n || close < open)
			break;
		inner = pf_str_head(pf_str_from(rest, open + 1),
		    close - open - 1);
		pf_buf_add(&out, pf_str_head(rest, open));
		if (pf_str_eq(inner, name))
			pf_url_escape(&out, value);
		else
			pf_buf_add(&out, pf_str_head(pf_str_from(rest, open),
			    close - open + 1));
		rest = pf_str_from(rest, close + 1);
	}
	pf_buf_add(&out, rest);
	if (pf_buf_done(&out, &b->path) != PF_OK)
		b->impossible = true;
}

static void
put_param(struct building *b, const struct pf_json *param)
{
	struct pf_str name, in, value;
	bool required = false;

	param = resolve(b->arena, b->doc, param);
	if (param == NULL || pf_json_str(param, "name", &name) != PF_OK ||
	    pf_json_str(param, "in", &in) != PF_OK) {
		b->impossible = true;
		return;
	}
	if (pf_json_bool(param, "required", &required) != PF_OK)
		required = false;
	if (!required && !pf_str_eqz(in, "path"))
		return;
	value = example_of(b, param);
	if (!pf_str_given(value)) {
		b->impossible = true;
	} else if (pf_str_eqz(in, "path")) {
		put_in_path(b, name, value);
	} else if (pf_str_eqz(in, "query")) {
		pf_buf_char(&b->query, b->query.n == 0 ? '?' : '&');
		pf_url_escape(&b->query, name);
		pf_buf_char(&b->query, '=');
		pf_url_escape(&b->query, value);
	} else
		b->impossible = true;	/* required header or cookie */
}

static void
put_params(struct building *b, const struct pf_json *o)
{
	const struct pf_json *list;

	if (pf_json_arr(o, "parameters", &list) != PF_OK)
		return;
	for (size_t i = 0; i < pf_json_len(list); i++)
		put_param(b, pf_json_at(list, i));
}

static enum pf_rc
scheme_scopes(void *ctx, struct pf_str key, const struct pf_json *v)
{
	(void)key;
	*(size_t *)ctx += pf_json_len(v);
	return PF_OK;
}

/* Scopes in every one of the alternatives mean that a signed-out token won't
 * do. */
static bool
is_scoped(const struct pf_json *doc, const struct pf_json *op)
{
	const struct pf_json *list;
	size_t scopes;

	if (pf_json_arr(op, "security", &list) != PF_OK &&
	    pf_json_arr(doc, "security", &list) != PF_OK)
		return false;
	for (size_t i = 0; i < pf_json_len(list); i++) {
		scopes = 0;
		if (pf_json_each(pf_json_at(list, i), scheme_scopes,
		    &scopes) == PF_OK && scopes == 0)
			return false;
	}
	return pf_json_len(list) > 0;
}

struct reading {
	struct pf_arena *arena;
	const struct pf_json *doc;
	struct ag_openapi *out;
	bool scoped;		/* which operations this round is for */
};

static enum pf_rc
read_path(void *ctx, struct pf_str path, const struct pf_json *item)
{
	struct reading *r = ctx;
	struct ag_openapi *out = r->out;
	struct ag_operation *op = &out->op[out->n];
	struct building b = { .arena = r->arena, .doc = r->doc, .path = path };
	const struct pf_json *get;
	struct pf_buf url;

	item = resolve(r->arena, r->doc, item);
	if (item == NULL || (get = member(item, "get")) == NULL ||
	    is_scoped(r->doc, get) != r->scoped || out->n == AG_OPERATIONS_MAX)
		return PF_OK;
	pf_buf_init(&b.query, r->arena, URL_MAX);
	put_params(&b, item);
	put_params(&b, get);
	pf_buf_init(&url, r->arena, URL_MAX);
	pf_buf_add(&url, out->base);
	pf_buf_add(&url, b.path);
	pf_buf_add(&url, pf_buf_str(&b.query));
	if (b.impossible || b.query.failed || !pf_str_starts(path,
	    PF_LIT("/")) || pf_buf_done(&url, &op->url) != PF_OK ||
	    !pf_url_is_https(op->url)) {
		out->skipped++;
		return PF_OK;
	}
	if (pf_json_str(get, "summary", &op->summary) != PF_OK &&
	    pf_json_str(get, "description", &op->summary) != PF_OK)
		op->summary = PF_NOSTR;
	op->scoped = r->scoped;
	out->n++;
	return PF_OK;
}

static enum pf_rc
put_variable(void *ctx, struct pf_str name, const struct pf_json *v)
{
	struct building *b = ctx;
	struct pf_str value = scalar(b->arena, v, "default");

	if (pf_str_given(value))
		put_in_path(b, name, value);
	return PF_OK;
}

static enum pf_rc
read_server(struct pf_arena *a, const struct pf_json *doc, struct pf_str at,
    struct ag_openapi *out, struct ag_fault *f)
{
	struct building b = { .arena = a, .doc = doc, .path = PF_LIT("/") };
	const struct pf_json *list, *o;
	struct pf_str base;

	if (pf_json_arr(doc, "servers", &list) == PF_OK &&
	    pf_json_len(list) > 0) {
		o = pf_json_at(list, 0);
		if (pf_json_str(o, "url", &b.path) != PF_OK)
			return ag_fault(f, PF_E_UPSTREAM, "R-6-2",
			    "servers[0] without a url");
		if (member(o, "variables") != NULL && pf_json_each(
		    member(o, "variables"), put_variable, &b) != PF_OK)
			return PF_E_BUG;
	}
	if (b.impossible || ag_url_resolve(a, at, b.path, &base) != PF_OK ||
	    !pf_url_is_https(base))
		return ag_fault(f, PF_E_UPSTREAM, "R-6-2",
		    "servers[0].url \"%.*s\", which leads to no HTTPS URL",
		    PF_STRF(b.path));
	if (pf_str_ends(base, PF_LIT("/")))
		base = pf_str_head(base, base.n - 1);
	out->base = base;
	return PF_OK;
}

enum pf_rc
ag_openapi_read(struct pf_arena *a, const struct pf_json *doc,
    struct pf_str at, struct ag_openapi *out, struct ag_fault *f)
{
	struct reading r = { a, doc, out, false };
	const struct pf_json *info = member(doc, "info"), *paths;
	struct pf_str version;
	enum pf_rc rc;

	memset(out, 0, sizeof(*out));
	if (pf_json_str(doc, "openapi", &version) != PF_OK ||
	    (!pf_str_starts(version, PF_LIT("3.0")) &&
	    !pf_str_starts(version, PF_LIT("3.1"))))
		return ag_fault(f, PF_E_UPSTREAM, "R-6-2",
		    "a document that is no OpenAPI 3.0 or 3.1 description");
	if (info == NULL || pf_json_str(info, "title", &out->title) != PF_OK)
		out->title = PF_NOSTR;
	if ((rc = read_server(a, doc, at, out, f)) != PF_OK)
		return rc;
	if ((paths = member(doc, "paths")) == NULL)
		return PF_OK;
	if ((rc = pf_json_each(paths, read_path, &r)) != PF_OK)
		return rc;
	r.scoped = true;
	return pf_json_each(paths, read_path, &r);
}
