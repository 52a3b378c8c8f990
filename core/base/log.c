#include "config.h"

#include "core/base/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/json.h"

/* A pipe takes this much in one piece (PIPE_BUF on Linux), so that lines of
 * several processes never mix. */
#define LINE	4096
/* Kept free for what ends a line in any case. */
#define ENDING	48
#define FIELD	512

static struct {
	const char *program;
	atomic_int level;
} self = { "poppy", PF_LOG_INFO };

static const char *const levels[] = {
	[PF_LOG_ERROR] = "error",
	[PF_LOG_WARN] = "warn",
	[PF_LOG_INFO] = "info",
	[PF_LOG_DEBUG] = "debug",
};

void
pf_log_init(const char *program, enum pf_level level)
{
	self.program = program;
	pf_log_level(level);
}

void
pf_log_level(enum pf_level level)
{
	atomic_store_explicit(&self.level, (int)level, memory_order_relaxed);
}

enum pf_rc
pf_log_level_parse(struct pf_str s, enum pf_level *out)
{
	for (size_t i = 0; i < PF_COUNT(levels); i++) {
		if (pf_str_eqz(s, levels[i])) {
			*out = (enum pf_level)i;
			return PF_OK;
		}
	}
	return PF_E_INPUT;
}

bool
pf_log_wants(enum pf_level level)
{
	return (int)level <=
	    atomic_load_explicit(&self.level, memory_order_relaxed);
}

/* At most FIELD bytes, and no half character at the end. */
static struct pf_str
cut(struct pf_str s)
{
	size_t n = FIELD;

	if (s.n <= FIELD)
		return s;
	while (n > FIELD - 3 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return pf_str_head(s, n);
}

static void
add_field(struct pf_jw *w, const struct pf_field *f)
{
	switch (f->kind) {
	case PF_F_KIND_STR:
		pf_jw_str(w, f->name, cut(f->s));
		break;
	case PF_F_KIND_INT:
		pf_jw_int(w, f->name, f->i);
		break;
	case PF_F_KIND_SECRET:
		/* Whether there was one, and how long, is what helps. */
		pf_jw_open(w, f->name, '{');
		pf_jw_int(w, "bytes", (int64_t)f->s.n);
		pf_jw_close(w, '}');
		break;
	}
}

static void
add_head(struct pf_jw *w, enum pf_level level, const char *event)
{
	pf_jw_open(w, NULL, '{');
	pf_buf_addz(w->b, "\"at\":\"");
	pf_buf_rfc3339_ms(w->b, pf_now_ms());
	pf_buf_char(w->b, '"');
	w->comma = true;
	pf_jw_strz(w, "level", levels[level]);
	pf_jw_strz(w, "program", self.program);
	pf_jw_int(w, "pid", getpid());
	pf_jw_str(w, "event", cut(pf_str(event)));
}

/* A log that can't be written has nowhere to say so. */
static void
put(struct pf_str line)
{
	ssize_t n;

	do
		n = write(STDERR_FILENO, line.p, line.n);
	while (n < 0 && errno == EINTR);
}

/* A field that doesn't fit is left out whole and counted. */
void
pf_log_fields(enum pf_level level, const char *event, const struct pf_field *f,
    size_t n)
{
	char line[LINE];
	struct pf_buf b;
	struct pf_jw w;
	int64_t left_out = 0;
	int saved = errno;

	if (!pf_log_wants(level))
		return;
	pf_buf_fixed(&b, line, sizeof(line));
	b.max = sizeof(line) - ENDING;
	w = pf_jw(&b);
	add_head(&w, level, event);
	for (size_t i = 0; i < n; i++) {
		size_t before = b.n;

		add_field(&w, &f[i]);
		if (b.failed) {
			b.failed = false;
			b.n = before;
			left_out++;
		}
	}
	b.max = sizeof(line);
	if (left_out > 0)
		pf_jw_int(&w, "left_out", left_out);
	pf_buf_addz(&b, "}\n");
	put(pf_buf_str(&b));
	errno = saved;
}
