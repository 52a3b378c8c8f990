/*
 * template_int - what template*.c share.
 */
#ifndef PF_TEMPLATE_INT_H
#define PF_TEMPLATE_INT_H

#include "core/web/template.h"

/* How a value must be written where it stands. */
enum pf_tpl_place {
	PF_PLACE_HTML,		/* text, or an attribute between quotes */
	PF_PLACE_URL,		/* the beginning of a URL */
	PF_PLACE_URL_PART	/* further on in it */
};

enum pf_tpl_op {
	PF_OP_TEXT, PF_OP_VALUE, PF_OP_MESSAGE, PF_OP_IF, PF_OP_EACH
};

struct pf_tpl_node {
	enum pf_tpl_op op;
	enum pf_tpl_place place;
	struct pf_str s;		/* text, message id or name */
	struct pf_tpl_node *kids, *otherwise, *next;
};

struct pf_tpl {
	struct pf_tpl_node *first;
};

/*
 * Where we are in the HTML, followed byte by byte through the literal text, as
 * a browser would; what it can't be sure of it refuses.
 */
enum pf_tpl_state {
	PF_IN_TEXT,
	PF_IN_OPEN,		/* behind '<' */
	PF_IN_NAME,		/* of a tag */
	PF_IN_TAG,		/* between attributes */
	PF_IN_ATTR,		/* in the name of one */
	PF_IN_EQUALS,		/* behind its '=' */
	PF_IN_VALUE,		/* between quotes */
	PF_IN_DECL		/* <!doctype ...> */
};

struct pf_tpl_html {
	enum pf_tpl_state state;
	char quote;
	char name[16];		/* of the tag or attribute, lower case */
	size_t n;
	bool url;		/* a value that is a URL */
	bool begun;		/* something of it has been written */
	bool glued;		/* a block's edge has cut a name short */
};

/* Follow text; NULL, or why it is refused. *bad is how far we got. */
const char *pf_tpl_html_feed(struct pf_tpl_html *h, struct pf_str text,
    size_t *bad);
/* A value is printed here: NULL and how, or why not. */
const char *pf_tpl_html_value(struct pf_tpl_html *h, enum pf_tpl_kind kind,
    enum pf_tpl_place *place);
/* A block begins, turns or ends here: a name of a tag or attribute must end as
 * well. NULL, or why not. */
const char *pf_tpl_html_edge(struct pf_tpl_html *h);
bool pf_tpl_html_same(const struct pf_tpl_html *a, const struct pf_tpl_html *b);

#endif
