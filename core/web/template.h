/*
 * template - HTML with places for values, that can't be filled unsafely.
 *
 *	{{name}}		the value, HTML-escaped
 *	{{_ Hello, {name}.}}	the text in the visitor's language, which may
 *				name values; all of it HTML-escaped
 *	{{#if name}} .. {{else}} .. {{/if}}	by whether it is empty
 *	{{#each name}} .. {{/each}}		for each row of a list
 *	{{> file}}		the text of another file, here
 *	{{! remark}}
 *
 * One line break behind a tag that prints nothing is dropped. Nothing can be
 * printed unescaped. A template is read once, at the start, and then immutable.
 * It is refused, with file and line, if a name in it is not one of the page's,
 * or a place is none where escaping makes any value harmless: within scripts,
 * styles, tags, comments, unquoted attributes and those that run code. Where a
 * URL begins only values of kind PF_TPL_URL may stand, further on in it values
 * are percent-encoded.
 */
#ifndef PF_TEMPLATE_H
#define PF_TEMPLATE_H

#include "core/base/buf.h"
#include "core/base/conf.h"
#include "core/web/lang.h"

#define PF_TPL_DEPTH	12		/* blocks and files in one another */
#define PF_TPL_NODES	4000		/* of one page, all files together */
#define PF_TPL_BYTES	(128u << 10)	/* of one file */
#define PF_TPL_OUT	(512u << 10)	/* of a page */

enum pf_tpl_kind {
	PF_TPL_TEXT,
	/* https://, http://, or begins with '?', or with '/' that no second one
	 * follows; anything else prints nothing. */
	PF_TPL_URL,
	PF_TPL_LIST
};

/* What a page may name; the last has no name. */
struct pf_tpl_name {
	const char *name;
	enum pf_tpl_kind kind;
	const struct pf_tpl_name *of;	/* LIST: what its rows have; names
					 * from outside hold there, too */
};

struct pf_tpl;

/* Finds the text of a file, and what to call it in faults. PF_E_ABSENT if there
 * is none; for another error it fills the fault itself. */
struct pf_tpl_files {
	enum pf_rc (*find)(void *ctx, struct pf_str name, struct pf_str *text,
	    const char **shown);
	void *ctx;
};

/*
 * Read the page in the file of that name. All is in the arena but the texts of
 * the files, which must live as long. PF_E_INPUT with *fault (its key is what
 * stands at the place), PF_E_MEM.
 */
PF_MUST enum pf_rc pf_tpl_read(struct pf_arena *a,
    const struct pf_tpl_files *files, const char *file,
    const struct pf_tpl_name *names, const struct pf_tpl_name *common,
    struct pf_conf_fault *fault, const struct pf_tpl **out);
/* Does it print that value, or the rows of that list, or is it in a text? */
bool pf_tpl_shows(const struct pf_tpl *t, struct pf_str name);
/* Call fn with each text of the page that is to be translated. */
void pf_tpl_messages(const struct pf_tpl *t,
    void (*fn)(void *ctx, struct pf_str id), void *ctx);

struct pf_vars;

/* A value. One that is not there is empty. */
struct pf_var {
	const char *name;
	struct pf_str text;
	const struct pf_vars *rows;
	size_t nrows;
};

struct pf_vars {
	const struct pf_var *v;
	size_t n;
	const struct pf_vars *outer;	/* looked into next; NULL */
};

#define PF_VAR(name, text)	{ (name), (text), NULL, 0 }
#define PF_VAR_IF(name, on)	\
	{ (name), (on) ? PF_LIT("1") : PF_LIT(""), NULL, 0 }
#define PF_VAR_LIST(name, rows, n)	{ (name), { NULL, 0 }, (rows), (n) }

/* Append the page; what does not fit fails the buffer. */
void pf_tpl_render(const struct pf_tpl *t, const struct pf_lang *lang,
    const struct pf_vars *vars, struct pf_buf *out);
/* Append one text in that language, not escaped. */
void pf_tpl_text(const struct pf_lang *lang, struct pf_str id,
    const struct pf_vars *vars, struct pf_buf *out);

#endif
