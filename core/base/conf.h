/*
 * conf - settings described by tables, read from JSON with comments.
 *
 * A program says in one table what each setting is called, what it may be and
 * what it is by default; this file reads poppy.conf (strict JSON plus // and
 * slash-star comments and trailing commas) into a struct by that table. Any
 * fault names file, line, key and reason. An unknown or repeated key is one.
 */
#ifndef PF_CONF_H
#define PF_CONF_H

#include <stdio.h>

#include "core/base/arena.h"

enum pf_conf_type {
	PF_CONF_STR,	/* struct pf_str; NUL-terminated behind .n */
	PF_CONF_INT,	/* int64_t */
	PF_CONF_BOOL,	/* bool */
	PF_CONF_STRS,	/* struct pf_strs: a list of strings */
	PF_CONF_MAP,	/* struct pf_map: an object whose values are strings */
	PF_CONF_OBJ,	/* an embedded struct, by sub */
	PF_CONF_LIST,	/* struct pf_list: a list of objects, by sub */
	PF_CONF_LINE	/* int64_t: the line of the member of that name, or
			 * where this object begins if it has none; not a
			 * setting */
};

struct pf_strs { const struct pf_str *v; size_t n; };
struct pf_map { const struct pf_str *key, *value; size_t n; };
struct pf_list { const void *v; size_t n; };	/* of structs sub->size long */

struct pf_conf_table;

struct pf_conf_key {
	const char *name;
	enum pf_conf_type type;
	size_t at;		/* offsetof() in the struct */
	int64_t min, max;	/* INT: value; STR: bytes; lists and maps:
				 * elements. Both 0: any. */
	const char *def;	/* as it would stand in the file; NULL: must be
				 * given. For OBJ: "{}" takes all defaults. */
	const char *doc;	/* one sentence, for the example and man page */
	/* NULL if the text will do, else why not (STR, STRS, MAP values);
	 * empty texts and defaults are asked about, too. */
	const char *(*check)(struct pf_str text);
	const struct pf_conf_table *sub;
};

struct pf_conf_table {
	size_t size;		/* of the struct */
	const struct pf_conf_key *keys;
	size_t nkeys;
};

struct pf_conf_fault {
	char file[256];
	int64_t line;			/* 0: of the file as a whole */
	char key[128];		/* "guard.rules[2].path" */
	char reason[256];
};

/*
 * Read file into *out (table->size bytes). All memory is the arena's.
 * PF_E_INPUT with *fault for a bad file, PF_E_ABSENT if it can't be opened,
 * PF_E_MEM (the fault says why there, too). At most 1 MiB.
 */
PF_MUST enum pf_rc pf_conf_read(const char *file,
    const struct pf_conf_table *table, struct pf_arena *a, void *out,
    struct pf_conf_fault *fault);
/* The same from memory; file is only a name for faults. */
PF_MUST enum pf_rc pf_conf_parse(const char *file, struct pf_str text,
    const struct pf_conf_table *table, struct pf_arena *a, void *out,
    struct pf_conf_fault *fault);
/* Fill a fault for a check that spans keys; returns PF_E_INPUT. */
PF_MUST enum pf_rc pf_conf_refuse(struct pf_conf_fault *fault,
    const char *file, int64_t line, const char *key, const char *fmt, ...)
    PF_PRINTF(5, 6);
/* "poppy.conf:12: guard.rules[0].path: must begin with /" */
void pf_conf_complain(FILE *to, const struct pf_conf_fault *fault);
/* Every setting with type, range, default and doc, one a line. */
void pf_conf_document(FILE *to, const struct pf_conf_table *table);

#endif
