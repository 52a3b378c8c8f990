#include "config.h"

#include "tools/poppy-agent/show.h"

#include <stdarg.h>
#include <string.h>

#include "core/base/json.h"

#define OUT_MAX		(4u << 20)
#define NOW_MAX		16384	/* an authorization URL and a few words */
#define NOTE_MAX	600

static const struct {
	const char *bold, *dim, *green, *red, *yellow, *off;
} inks[2] = {
	{ "", "", "", "", "", "" },
	{ "\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[33m", "\033[0m" },
};

static void
add(struct ag_show *sh, enum ag_line_kind kind, struct pf_str name,
    struct pf_str value)
{
	struct ag_line *l;

	if (sh->name == NULL || (l = pf_arena_alloc(sh->arena, sizeof(*l))) ==
	    NULL)
		return;
	l->kind = kind;
	l->name = pf_arena_copy(sh->arena, name);
	l->value = pf_arena_copy(sh->arena, value);
	if (sh->last != NULL)
		sh->last->next = l;
	else
		sh->first = l;
	sh->last = l;
}

static void
add_secret(struct ag_show *sh, enum ag_line_kind kind, struct pf_str name,
    struct pf_str value)
{
	struct pf_buf b;

	pf_buf_init(&b, sh->arena, NOTE_MAX);
	ag_shorten(&b, value);
	add(sh, kind, name, pf_buf_str(&b));
}

void
ag_step_begin(struct ag_show *sh, const char *name, const char *title)
{
	sh->name = name;
	sh->title = title;
	sh->first = sh->last = NULL;
	sh->skipped = NULL;
	sh->aside = false;
	sh->number++;
}

void
ag_show_request(struct ag_show *sh, const char *method, struct pf_str url)
{
	add(sh, AG_LINE_REQUEST, pf_str(method), url);
}

void
ag_show_sent(struct ag_show *sh, const char *name, struct pf_str value)
{
	add(sh, AG_LINE_SENT, pf_str(name), value);
}

void
ag_show_sent_secret(struct ag_show *sh, const char *name, struct pf_str value)
{
	add_secret(sh, AG_LINE_SENT, pf_str(name), value);
}

void
ag_show_status(struct ag_show *sh, int status, const char *how)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", status);
	add(sh, AG_LINE_STATUS, pf_str(text), pf_str(how));
}

void
ag_show_received(struct ag_show *sh, struct pf_str name, struct pf_str value)
{
	add(sh, AG_LINE_RECEIVED, name, value);
}

void
ag_show_received_secret(struct ag_show *sh, struct pf_str name,
    struct pf_str value)
{
	add_secret(sh, AG_LINE_RECEIVED, name, value);
}

void
ag_show_fact(struct ag_show *sh, const char *name, struct pf_str value)
{
	add(sh, AG_LINE_FACT, pf_str(name), value);
}

void
ag_show_fact_int(struct ag_show *sh, const char *name, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	add(sh, AG_LINE_FACT, pf_str(name), pf_str(text));
}

void
ag_show_note(struct ag_show *sh, const char *fmt, ...)
{
	char text[NOTE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	add(sh, AG_LINE_NOTE, PF_NOSTR, pf_str(text));
}

void
ag_show_now(const struct ag_show *sh, const char *fmt, ...)
{
	char text[NOW_MAX];
	struct pf_buf b;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pf_buf_init(&b, sh->arena, OUT_MAX);
	ag_escape(&b, pf_str(text), true);
	fprintf(stderr, "poppy-agent: %.*s\n", PF_STRF(pf_buf_str(&b)));
	fflush(stderr);
}

/* One line for people, into b. */
static void
people_line(const struct ag_show *sh, const struct ag_line *l, struct pf_buf *b)
{
	static const char *const marks[] = {
		[AG_LINE_REQUEST] = "   \xe2\x86\x92 ",
		[AG_LINE_SENT] = "       ",
		[AG_LINE_STATUS] = "   \xe2\x86\x90 ",
		[AG_LINE_RECEIVED] = "       ",
		[AG_LINE_FACT] = "   ",
		[AG_LINE_NOTE] = "   note: ",
	};
	bool head = l->kind == AG_LINE_REQUEST || l->kind == AG_LINE_STATUS;
	int width = l->kind == AG_LINE_FACT ? 22 : 26;

	pf_buf_addz(b, l->kind == AG_LINE_NOTE ? inks[sh->colour].yellow :
	    l->kind == AG_LINE_FACT ? "" :
	    head ? inks[sh->colour].bold : inks[sh->colour].dim);
	pf_buf_addz(b, marks[l->kind]);
	if (l->name.n > 0) {
		ag_escape(b, l->name, false);
		for (size_t i = l->name.n; !head && i < (size_t)width; i++)
			pf_buf_char(b, ' ');
		if (l->value.n > 0)
			pf_buf_char(b, ' ');
	}
	ag_escape(b, l->value, false);
	pf_buf_addz(b, inks[sh->colour].off);
	pf_buf_char(b, '\n');
}

static bool
wanted(const struct ag_show *sh, const struct ag_line *l)
{
	return sh->verbose || l->kind == AG_LINE_FACT ||
	    l->kind == AG_LINE_NOTE;
}

static void
people_step(const struct ag_show *sh, enum pf_rc rc)
{
	struct pf_buf b;

	pf_buf_init(&b, sh->arena, OUT_MAX);
	if (sh->numbered)
		pf_buf_fmt(&b, "%s%d. %s%s\n", inks[sh->colour].bold,
		    sh->number, sh->title, inks[sh->colour].off);
	else
		pf_buf_fmt(&b, "%s%s%s\n", inks[sh->colour].bold, sh->title,
		    inks[sh->colour].off);
	for (const struct ag_line *l = sh->first; l != NULL; l = l->next)
		if (wanted(sh, l))
			people_line(sh, l, &b);
	if (rc != PF_OK)
		pf_buf_fmt(&b, "   %sfailed%s\n", inks[sh->colour].red,
		    inks[sh->colour].off);
	else if (sh->skipped != NULL)
		pf_buf_fmt(&b, "   %sskipped: %s%s\n", inks[sh->colour].yellow,
		    sh->skipped, inks[sh->colour].off);
	else
		pf_buf_fmt(&b, "   %sok%s\n", inks[sh->colour].green,
		    inks[sh->colour].off);
	fprintf(sh->out, "%.*s", PF_STRF(pf_buf_str(&b)));
	fflush(sh->out);
}

/* A name twice in one object would be no strict JSON: the first one counts. */
static bool
told_before(const struct ag_line *from, const struct ag_line *l)
{
	for (; from != l; from = from->next)
		if (from->kind == l->kind && pf_str_eq(from->name, l->name))
			return true;
	return false;
}

static const struct ag_line *
json_members(struct pf_jw *w, const char *key, const struct ag_line *l,
    enum ag_line_kind kind, struct pf_arena *a)
{
	const struct ag_line *from = l;

	pf_jw_open(w, key, '{');
	for (; l != NULL && l->kind == kind; l = l->next)
		if (!told_before(from, l))
			pf_jw_str(w, pf_arena_z(a, l->name), l->value);
	pf_jw_close(w, '}');
	return l;
}

/* From a request line on; returns the first line that is not part of it. */
static const struct ag_line *
json_exchange(struct pf_jw *w, const struct ag_line *l, struct pf_arena *a)
{
	int64_t status;

	pf_jw_open(w, NULL, '{');
	pf_jw_str(w, "method", l->name);
	pf_jw_str(w, "url", l->value);
	l = json_members(w, "sent", l->next, AG_LINE_SENT, a);
	if (l != NULL && l->kind == AG_LINE_STATUS) {
		if (pf_str_int(l->name, 0, 999, &status) == PF_OK)
			pf_jw_int(w, "status", status);
		l = json_members(w, "received", l->next, AG_LINE_RECEIVED, a);
	}
	pf_jw_close(w, '}');
	return l;
}

static void
json_lines(struct pf_jw *w, const struct ag_show *sh)
{
	const struct ag_line *l;

	pf_jw_open(w, "exchanges", '[');
	for (l = sh->first; l != NULL;)
		l = l->kind == AG_LINE_REQUEST ?
		    json_exchange(w, l, sh->arena) : l->next;
	pf_jw_close(w, ']');
	pf_jw_open(w, "facts", '{');
	for (l = sh->first; l != NULL; l = l->next)
		if (l->kind == AG_LINE_FACT && !told_before(sh->first, l))
			pf_jw_str(w, pf_arena_z(sh->arena, l->name), l->value);
	pf_jw_close(w, '}');
	pf_jw_open(w, "notes", '[');
	for (l = sh->first; l != NULL; l = l->next)
		if (l->kind == AG_LINE_NOTE)
			pf_jw_str(w, NULL, l->value);
	pf_jw_close(w, ']');
}

static void
json_fault(struct pf_jw *w, const struct ag_fault *f)
{
	pf_jw_open(w, "fault", '{');
	pf_jw_strz(w, "asked", f->asked);
	pf_jw_strz(w, "got", f->got);
	if (f->rule != NULL)
		pf_jw_strz(w, "breaks", f->rule);
	if (ag_rule_text(f->rule) != NULL)
		pf_jw_strz(w, "requirement", ag_rule_text(f->rule));
	pf_jw_close(w, '}');
}

static void
json_step(const struct ag_show *sh, enum pf_rc rc, const struct ag_fault *f)
{
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, sh->arena, OUT_MAX);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_strz(&w, "step", sh->name != NULL ? sh->name : "start");
	pf_jw_bool(&w, "ok", rc == PF_OK);
	if (sh->skipped != NULL)
		pf_jw_strz(&w, "skipped", sh->skipped);
	json_lines(&w, sh);
	if (rc != PF_OK)
		json_fault(&w, f);
	pf_jw_close(&w, '}');
	printf("%.*s\n", PF_STRF(pf_buf_str(&b)));
	fflush(stdout);
}

void
ag_show_fault(const struct ag_show *sh, struct ag_fault *f)
{
	const char *text = ag_rule_text(f->rule);
	struct pf_buf b;

	f->shown = true;
	if (sh->json) {
		json_step(sh, PF_E_BUG, f);
		return;
	}
	pf_buf_init(&b, sh->arena, OUT_MAX);
	if (f->asked[0] != '\0') {
		pf_buf_addz(&b, "   asked   ");
		ag_escape(&b, pf_str(f->asked), false);
		pf_buf_addz(&b, "\n   got     ");
	} else
		pf_buf_addz(&b, "poppy-agent: ");
	ag_escape(&b, pf_str(f->got), false);
	if (f->rule != NULL)
		pf_buf_fmt(&b, "\n   breaks  %s%s%s", f->rule,
		    text != NULL ? ": " : "", text != NULL ? text : "");
	fprintf(sh->faults, "%.*s\n", PF_STRF(pf_buf_str(&b)));
	fflush(sh->faults);
}

enum pf_rc
ag_step_end(struct ag_show *sh, enum pf_rc rc, struct ag_fault *f)
{
	if (sh->json) {
		json_step(sh, rc, f);
		f->shown = true;
	} else if (rc != PF_OK) {
		people_step(sh, rc);
		ag_show_fault(sh, f);
	} else if (!sh->aside || sh->verbose)
		people_step(sh, rc);
	sh->name = NULL;
	sh->first = sh->last = NULL;
	sh->skipped = NULL;
	return rc;
}
