/*
 * json - strict JSON in (RFC 8259, I-JSON RFC 7493), JSON out.
 *
 * Bytes from strangers are scanned by our own code before json-c sees them:
 * duplicate members (also "a" and "\u0061"), NUL (also \u0000), single quotes,
 * NaN, comments, control characters, lone surrogates, invalid UTF-8, numbers
 * that don't fit, trailing bytes and nesting past the limit are refused. json-c
 * then builds the tree. Noncharacters such as U+FFFF pass: people's text has
 * them, and nothing depends on them.
 *
 * A number without fraction and exponent is an integer and must fit into
 * int64_t; -0 is the integer 0. Any other is a double ("1.0", "1e3") and must
 * be below 1e308 in magnitude; too small a one is 0.
 */
#ifndef PF_JSON_H
#define PF_JSON_H

#include "core/base/buf.h"

/* One value; owned by the arena of its parse. NULL is the value null. Values
 * are only read, so that threads may share them. */
struct pf_json;

struct pf_json_limits {
	size_t bytes;		/* longest text */
	unsigned depth;		/* deepest nesting; 1 = a flat object; never
				 * more than 32 */
	size_t values;		/* most values in all */
};
extern const struct pf_json_limits pf_json_small;   /* 16 KiB, 8, 512 */
extern const struct pf_json_limits pf_json_large;   /* 1 MiB, 16, 20000 */

/* Where and why a text was refused. why is a constant. */
struct pf_json_fault {
	size_t at;
	const char *why;
};

/* Only the scan. PF_E_INPUT with *fault set (fault may be NULL), PF_E_MEM. */
PF_MUST enum pf_rc pf_json_scan(struct pf_str text,
    const struct pf_json_limits *lim, struct pf_json_fault *fault);
/* Scan and parse. The value is freed when the arena is reset; unlike the arena
 * json-c's memory is not wiped. PF_E_MEM. */
PF_MUST enum pf_rc pf_json_parse(struct pf_arena *a, struct pf_str text,
    const struct pf_json_limits *lim, const struct pf_json **out,
    struct pf_json_fault *fault);

/*
 * Members of an object. PF_OK; PF_E_ABSENT: no such member, or it is null;
 * PF_E_INPUT: another type (or obj is no object). Nothing is ever coerced:
 * "2" is no number, 1.0 and 1e3 are no integers. Strings live as long as the
 * value, are valid UTF-8 without NUL, and may be empty.
 */
PF_MUST enum pf_rc pf_json_str(const struct pf_json *obj, const char *key,
    struct pf_str *out);
PF_MUST enum pf_rc pf_json_int(const struct pf_json *obj, const char *key,
    int64_t *out);
PF_MUST enum pf_rc pf_json_num(const struct pf_json *obj, const char *key,
    double *out);
PF_MUST enum pf_rc pf_json_bool(const struct pf_json *obj, const char *key,
    bool *out);
PF_MUST enum pf_rc pf_json_obj(const struct pf_json *obj, const char *key,
    const struct pf_json **out);
PF_MUST enum pf_rc pf_json_arr(const struct pf_json *obj, const char *key,
    const struct pf_json **out);
/* Whether the member stands there, null included. */
bool pf_json_has(const struct pf_json *obj, const char *key);

bool pf_json_is_obj(const struct pf_json *v);
bool pf_json_is_arr(const struct pf_json *v);
/* The value itself as a string; PF_E_INPUT if it is none. */
PF_MUST enum pf_rc pf_json_as_str(const struct pf_json *v, struct pf_str *out);
size_t pf_json_len(const struct pf_json *arr);	/* 0 for anything else */
const struct pf_json *pf_json_at(const struct pf_json *arr, size_t i);
/* Call fn for each member until it returns other than PF_OK; return that. */
PF_MUST enum pf_rc pf_json_each(const struct pf_json *obj,
    enum pf_rc (*fn)(void *ctx, struct pf_str key, const struct pf_json *v),
    void *ctx);
/* A value written again, compact, members in their order. */
void pf_json_write(struct pf_buf *b, const struct pf_json *v);

/* Text as a JSON string with its quotes; null if it is not given. Invalid UTF-8
 * becomes U+FFFD; C1 controls and U+2028, U+2029 are escaped like C0 ones, so
 * that no reader sees a line end or a terminal command in it. */
void pf_json_quote(struct pf_buf *b, struct pf_str s);

/*
 * A writer that sets the commas:
 *	pf_jw_open(&w, NULL, '{');
 *	pf_jw_str(&w, "scope", PF_LIT(""));
 *	pf_jw_open(&w, "domains", '[');  pf_jw_str(&w, NULL, d);
 *	pf_jw_close(&w, ']');  pf_jw_close(&w, '}');
 * key is NULL for elements of an array and for the outermost value.
 */
struct pf_jw {
	struct pf_buf *b;
	bool comma;
};
struct pf_jw pf_jw(struct pf_buf *b);
void pf_jw_open(struct pf_jw *w, const char *key, char bracket);
void pf_jw_close(struct pf_jw *w, char bracket);
void pf_jw_str(struct pf_jw *w, const char *key, struct pf_str v);
void pf_jw_strz(struct pf_jw *w, const char *key, const char *v);
void pf_jw_int(struct pf_jw *w, const char *key, int64_t v);
void pf_jw_bool(struct pf_jw *w, const char *key, bool v);
void pf_jw_null(struct pf_jw *w, const char *key);
/* A value that is JSON already. */
void pf_jw_raw(struct pf_jw *w, const char *key, struct pf_str json);

#endif
