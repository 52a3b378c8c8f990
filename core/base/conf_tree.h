/*
 * conf_tree - a settings file as a tree that knows its lines. Only for conf*.c.
 */
#ifndef PF_CONF_TREE_H
#define PF_CONF_TREE_H

#include "core/base/conf.h"

/* The longest file, the most values in it, and how deep they may lie. */
#define PF_CONF_BYTES	(1024 * 1024)
#define PF_CONF_VALUES	20000
#define PF_CONF_DEPTH	16

enum pf_node_type {
	PF_NODE_NULL,
	PF_NODE_BOOL,
	PF_NODE_NUMBER,
	PF_NODE_STRING,
	PF_NODE_ARRAY,
	PF_NODE_OBJECT
};

struct pf_node {
	struct pf_node *next;		/* in the same array or object */
	struct pf_str name;		/* of a member */
	enum pf_node_type type;
	int64_t line;
	struct pf_str text;		/* of a string or a number */
	bool truth;
	struct pf_node *first;
	size_t n;
};

/* Where in the file we are, for faults: "guard.rules[2].path". */
struct pf_conf_where {
	const char *file;
	struct pf_conf_fault *fault;
	bool in_default;		/* the text is a default of the table */
	size_t n;
	char key[128];
};

/* Go one name or place down; gives what pf_conf_up() needs to come back. */
size_t pf_conf_down(struct pf_conf_where *w, struct pf_str name);
size_t pf_conf_down_at(struct pf_conf_where *w, size_t i);
void pf_conf_up(struct pf_conf_where *w, size_t back);
/* The fault at this place; PF_E_INPUT. */
PF_MUST enum pf_rc pf_conf_bad(struct pf_conf_where *w, int64_t line,
    const char *fmt, ...) PF_PRINTF(3, 4);
/* The same, that memory ran out; PF_E_MEM. */
PF_MUST enum pf_rc pf_conf_nomem(struct pf_conf_where *w, int64_t line);

/* text, whose first line has the number 'line', as a tree in the arena. */
PF_MUST enum pf_rc pf_conf_tree(struct pf_conf_where *w, struct pf_str text,
    int64_t line, struct pf_arena *a, struct pf_node **out);

#endif
