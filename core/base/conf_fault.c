#include "core/base/conf_tree.h"

#include <stdarg.h>

static void PF_PRINTF(5, 0)
fill(struct pf_conf_fault *f, const char *file, int64_t line, const char *key,
    const char *fmt, va_list ap)
{
	snprintf(f->file, sizeof(f->file), "%s", file);
	snprintf(f->key, sizeof(f->key), "%s", key);
	f->line = line;
	vsnprintf(f->reason, sizeof(f->reason), fmt, ap);
}

enum pf_rc
pf_conf_refuse(struct pf_conf_fault *fault, const char *file, int64_t line,
    const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(fault, file, line, key, fmt, ap);
	va_end(ap);
	return PF_E_INPUT;
}

void
pf_conf_complain(FILE *to, const struct pf_conf_fault *fault)
{
	fputs(fault->file, to);
	if (fault->line > 0)
		fprintf(to, ":%lld", (long long)fault->line);
	if (fault->key[0] != '\0')
		fprintf(to, ": %s", fault->key);
	fprintf(to, ": %s\n", fault->reason);
}

/* Whatever a file calls its keys, a fault is one line of plain text. A key too
 * long for the place is cut. */
static void
append(struct pf_conf_where *w, struct pf_str s)
{
	for (size_t i = 0; i < s.n && w->n < sizeof(w->key) - 1; i++) {
		unsigned char c = (unsigned char)s.p[i];

		w->key[w->n++] = c < ' ' || c == 0x7f ? '?' : s.p[i];
	}
	w->key[w->n] = '\0';
}

size_t
pf_conf_down(struct pf_conf_where *w, struct pf_str name)
{
	size_t back = w->n;

	if (w->n > 0)
		append(w, PF_LIT("."));
	append(w, name);
	return back;
}

size_t
pf_conf_down_at(struct pf_conf_where *w, size_t i)
{
	size_t back = w->n;
	char text[32];

	snprintf(text, sizeof(text), "[%zu]", i);
	append(w, pf_str(text));
	return back;
}

void
pf_conf_up(struct pf_conf_where *w, size_t back)
{
	w->n = back;
	w->key[back] = '\0';
}

enum pf_rc
pf_conf_bad(struct pf_conf_where *w, int64_t line, const char *fmt, ...)
{
	char reason[sizeof(w->fault->reason)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	return pf_conf_refuse(w->fault, w->file, line, w->key, "%s%s",
	    w->in_default ? "the default " : "", reason);
}

enum pf_rc
pf_conf_nomem(struct pf_conf_where *w, int64_t line)
{
	(void)!pf_conf_bad(w, line, "needs more memory than there is");
	return PF_E_MEM;
}
