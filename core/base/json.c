#include "core/base/json.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json_names.h"

/*
 * A struct pf_json is never defined: a pointer to one is json-c's pointer, and
 * NULL is json-c's null. Values are only read, also where json-c's own
 * declarations have no const.
 */
static struct json_object *
raw(const struct pf_json *v)
{
	return (struct json_object *)(uintptr_t)v;
}

static const struct pf_json *
cooked(struct json_object *v)
{
	return (const struct pf_json *)(const void *)v;
}

static void
put(void *v)
{
	json_object_put(v);
}

static struct json_object *
build(struct json_tokener *t, struct pf_str text)
{
	struct json_object *v;

	json_tokener_set_flags(t, JSON_TOKENER_STRICT);
	v = json_tokener_parse_ex(t, text.p, (int)text.n);
	/* A number alone ends only where the text does: a NUL says so. */
	if (json_tokener_get_error(t) == json_tokener_continue)
		v = json_tokener_parse_ex(t, "", 1);
	return v;
}

/* After the scan json-c has nothing to refuse; what it says would be ours. */
static enum pf_rc
outcome(enum json_tokener_error e, size_t at, struct pf_json_fault *fault)
{
	if (e == json_tokener_success)
		return PF_OK;
	if (fault != NULL)
		*fault = (struct pf_json_fault){ at,
		    json_tokener_error_desc(e) };
	return PF_E_INPUT;
}

enum pf_rc
pf_json_parse(struct pf_arena *a, struct pf_str text,
    const struct pf_json_limits *lim, const struct pf_json **out,
    struct pf_json_fault *fault)
{
	struct json_tokener *t;
	struct json_object *v;
	enum pf_rc rc;

	*out = NULL;
	if ((rc = pf_json_scan(text, lim, fault)) != PF_OK)
		return rc;
	/* One tokener a call: keeping one for each thread would save 0.2 us,
	 * and keep a request's bytes for the next. json-c counts one level more
	 * than is open. */
	if ((t = json_tokener_new_ex(PF_JSON_DEPTH + 2)) == NULL)
		return PF_E_MEM;
	v = build(t, text);
	rc = outcome(json_tokener_get_error(t), json_tokener_get_parse_end(t),
	    fault);
	json_tokener_free(t);
	if (rc != PF_OK) {
		put(v);
		return rc;
	}
	if (v != NULL && pf_arena_defer(a, put, v) != PF_OK)
		return PF_E_MEM;
	*out = cooked(v);
	return PF_OK;
}

static enum pf_rc
member(const struct pf_json *obj, const char *key, enum json_type type,
    struct json_object **out)
{
	if (!pf_json_is_obj(obj))
		return PF_E_INPUT;
	if (!json_object_object_get_ex(raw(obj), key, out) || *out == NULL)
		return PF_E_ABSENT;
	return json_object_get_type(*out) == type ? PF_OK : PF_E_INPUT;
}

enum pf_rc
pf_json_str(const struct pf_json *obj, const char *key, struct pf_str *out)
{
	struct json_object *v;
	enum pf_rc rc;

	if ((rc = member(obj, key, json_type_string, &v)) != PF_OK)
		return rc;
	return pf_json_as_str(cooked(v), out);
}

enum pf_rc
pf_json_int(const struct pf_json *obj, const char *key, int64_t *out)
{
	struct json_object *v;
	enum pf_rc rc;

	if ((rc = member(obj, key, json_type_int, &v)) == PF_OK)
		*out = json_object_get_int64(v);
	return rc;
}

enum pf_rc
pf_json_num(const struct pf_json *obj, const char *key, double *out)
{
	struct json_object *v;
	enum pf_rc rc;

	rc = member(obj, key, json_type_double, &v);
	if (rc == PF_E_INPUT)
		rc = member(obj, key, json_type_int, &v);
	if (rc == PF_OK)
		*out = json_object_get_double(v);
	return rc;
}

enum pf_rc
pf_json_bool(const struct pf_json *obj, const char *key, bool *out)
{
	struct json_object *v;
	enum pf_rc rc;

	if ((rc = member(obj, key, json_type_boolean, &v)) == PF_OK)
		*out = json_object_get_boolean(v);
	return rc;
}

enum pf_rc
pf_json_obj(const struct pf_json *obj, const char *key,
    const struct pf_json **out)
{
	struct json_object *v;
	enum pf_rc rc;

	if ((rc = member(obj, key, json_type_object, &v)) == PF_OK)
		*out = cooked(v);
	return rc;
}

enum pf_rc
pf_json_arr(const struct pf_json *obj, const char *key,
    const struct pf_json **out)
{
	struct json_object *v;
	enum pf_rc rc;

	if ((rc = member(obj, key, json_type_array, &v)) == PF_OK)
		*out = cooked(v);
	return rc;
}

bool
pf_json_has(const struct pf_json *obj, const char *key)
{
	return pf_json_is_obj(obj) &&
	    json_object_object_get_ex(raw(obj), key, NULL);
}

bool
pf_json_is_obj(const struct pf_json *v)
{
	return json_object_is_type(raw(v), json_type_object);
}

bool
pf_json_is_arr(const struct pf_json *v)
{
	return json_object_is_type(raw(v), json_type_array);
}

enum pf_rc
pf_json_as_str(const struct pf_json *v, struct pf_str *out)
{
	struct json_object *s = raw(v);

	if (!json_object_is_type(s, json_type_string))
		return PF_E_INPUT;
	*out = pf_bytes(json_object_get_string(s),
	    (size_t)json_object_get_string_len(s));
	return PF_OK;
}

size_t
pf_json_len(const struct pf_json *arr)
{
	return pf_json_is_arr(arr) ? json_object_array_length(raw(arr)) : 0;
}

const struct pf_json *
pf_json_at(const struct pf_json *arr, size_t i)
{
	if (i >= pf_json_len(arr))
		return NULL;
	return cooked(json_object_array_get_idx(raw(arr), i));
}

enum pf_rc
pf_json_each(const struct pf_json *obj,
    enum pf_rc (*fn)(void *ctx, struct pf_str key, const struct pf_json *v),
    void *ctx)
{
	struct json_object_iterator i, end;
	enum pf_rc rc;

	if (!pf_json_is_obj(obj))
		return PF_E_INPUT;
	i = json_object_iter_begin(raw(obj));
	end = json_object_iter_end(raw(obj));
	for (; !json_object_iter_equal(&i, &end); json_object_iter_next(&i)) {
		rc = fn(ctx, pf_str(json_object_iter_peek_name(&i)),
		    cooked(json_object_iter_peek_value(&i)));
		if (rc != PF_OK)
			return rc;
	}
	return PF_OK;
}

/* The shortest of some that reads back as the same, and as no integer. */
static void
write_double(struct pf_buf *b, double v)
{
	char text[40];
	int n = 0;

	for (int digits = 15; digits <= 17; digits++) {
		n = snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	/* A locale of the host program may write a comma. */
	for (int i = 0; i < n; i++)
		if (text[i] == ',')
			text[i] = '.';
	pf_buf_addz(b, text);
	if (strpbrk(text, ".e") == NULL)
		pf_buf_addz(b, ".0");
}

static void write_value(struct pf_jw *w, const char *key,
    struct json_object *v);

static enum pf_rc
write_member(void *ctx, struct pf_str key, const struct pf_json *v)
{
	write_value(ctx, key.p, raw(v));
	return PF_OK;
}

static void
write_array(struct pf_jw *w, const char *key, const struct pf_json *v)
{
	pf_jw_open(w, key, '[');
	for (size_t i = 0; i < pf_json_len(v); i++)
		write_value(w, NULL, raw(pf_json_at(v, i)));
	pf_jw_close(w, ']');
}

/* Recursion goes no deeper than PF_JSON_DEPTH: the value was scanned. */
static void
write_value(struct pf_jw *w, const char *key, struct json_object *v)
{
	struct pf_str s;

	switch (json_object_get_type(v)) {
	case json_type_null:
		pf_jw_null(w, key);
		break;
	case json_type_boolean:
		pf_jw_bool(w, key, json_object_get_boolean(v));
		break;
	case json_type_int:
		pf_jw_int(w, key, json_object_get_int64(v));
		break;
	case json_type_double:
		pf_jw_raw(w, key, PF_LIT(""));
		write_double(w->b, json_object_get_double(v));
		break;
	case json_type_string:
		if (pf_json_as_str(cooked(v), &s) == PF_OK)
			pf_jw_str(w, key, s);
		break;
	case json_type_array:
		write_array(w, key, cooked(v));
		break;
	case json_type_object:
		pf_jw_open(w, key, '{');
		if (pf_json_each(cooked(v), write_member, w) == PF_OK)
			pf_jw_close(w, '}');
		break;
	}
}

void
pf_json_write(struct pf_buf *b, const struct pf_json *v)
{
	struct pf_jw w = pf_jw(b);

	write_value(&w, NULL, raw(v));
}
