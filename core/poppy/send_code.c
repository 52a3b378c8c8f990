#include "config.h"

#include "core/poppy/send_code.h"

#include <string.h>

#include "core/base/log.h"
#include "core/poppy/app.h"
#include "core/poppy/command.h"
#include "core/web/outbound.h"

#define THREADS		4
#define QUEUE_EACH	32
#define MARGIN_MS	2000
#define PATIENCE_MS	30000
#define MESSAGE_MAX	8192
#define ARGS_MAX	16

/* How, its settings (each with a NUL behind it), timeout, recipient, text. */
enum { HOW, SETTINGS, TIMEOUT, TO, TEXT };

static int
timeout_of(struct pf_str s)
{
	int64_t ms;

	return pf_str_int(s, 1, 60000, &ms) == PF_OK ? (int)ms : 1;
}

/* The n strings of a text; all "" behind its end. */
static void
split(struct pf_str text, char **out, size_t n)
{
	static char none[] = "";
	size_t len;

	for (size_t i = 0; i < n; i++) {
		out[i] = none;
		if (text.n == 0)
			continue;
		/* It is the job's own memory, and writable. */
		out[i] = (char *)(uintptr_t)text.p;
		len = pf_str_find(text, '\0') + 1;
		text = pf_str_from(text, len);
	}
}

static enum pf_rc
by_command(const struct pf_str *part, int *status, const char **why)
{
	char *argv[ARGS_MAX + 1];

	split(part[SETTINGS], argv, ARGS_MAX);
	for (size_t i = 0; i < ARGS_MAX; i++)
		if (argv[i][0] == '\0')
			argv[i] = NULL;
	argv[ARGS_MAX] = NULL;
	if (argv[0] == NULL)
		return PF_E_BUG;
	return pf_command_run(argv, part[TEXT], timeout_of(part[TIMEOUT]),
	    status, why);
}

static enum pf_rc
by_mail(const struct pf_str *part, const char **why)
{
	char *set[5], *to;
	struct pf_mail m = {
		.text = part[TEXT], .timeout_ms = timeout_of(part[TIMEOUT]),
	};

	split(part[SETTINGS], set, PF_COUNT(set));
	split(part[TO], &to, 1);
	m.url = set[0];
	m.from = set[1];
	m.user = set[2];
	m.password = set[3];
	m.ca_file = set[4];
	m.to = to;
	return pf_mail_send(&m, why);
}

static enum pf_rc
deliver(const struct pf_str part[PF_ASIDE_PARTS])
{
	const char *why = "";
	int status = -1;
	enum pf_rc rc;

	if (pf_str_eqz(part[HOW], "command"))
		rc = by_command(part, &status, &why);
	else
		rc = by_mail(part, &why);
	if (rc != PF_OK)
		PF_LOG(PF_LOG_ERROR, "code_not_sent", PF_F_STR("by", part[HOW]),
		    PF_F_Z("why", why), PF_F_INT("exit", status));
	return rc;
}

enum pf_rc
pf_send_code_start(struct pf_aside **out)
{
	const struct pf_aside_opts opts = {
		.threads = THREADS,
		.queue_each = QUEUE_EACH,
		.patience_ms = PATIENCE_MS,
		.busy = "too many messages are being sent",
	};

	return pf_aside_start(&opts, out);
}

bool
pf_send_code_ready(const struct pf_settings *s)
{
	return s->codes.command.n != 0 || s->codes.smtp.url.n != 0;
}

static void
add(struct pf_buf *b, struct pf_str s)
{
	pf_buf_add(b, s);
	pf_buf_char(b, '\0');
}

/* A copy of what the settings say: they may be others before it is sent. */
static struct pf_str
settings_of(struct pf_req *rq, struct pf_buf *b)
{
	const struct pf_settings *s = &pf_app(rq)->set;

	pf_buf_init(b, rq->arena, MESSAGE_MAX);
	for (size_t i = 0; i < s->codes.command.n; i++)
		add(b, s->codes.command.v[i]);
	if (s->codes.command.n != 0)
		return PF_LIT("command");
	add(b, s->codes.smtp.url);
	add(b, s->codes.smtp.from);
	add(b, s->codes.smtp.user);
	add(b, pf_secret_str(&pf_app(rq)->mail_password));
	add(b, s->codes.smtp.ca_file);
	return PF_LIT("smtp");
}

enum pf_rc
pf_send_code(struct pf_req *rq, const struct pf_message *m, enum pf_rc *sent)
{
	static const struct pf_aside_task task = { "message", deliver };
	const struct pf_settings *s = &pf_app(rq)->set;
	struct pf_str part[PF_ASIDE_PARTS];
	struct pf_buf settings, text, timeout, to;

	if (!pf_send_code_ready(s))
		return PF_E_ABSENT;
	*sent = PF_E_INPUT;
	if (s->codes.by_phone ? !pf_send_code_number(m->to) :
	    !pf_send_code_address(m->to))
		return PF_OK;
	part[HOW] = settings_of(rq, &settings);
	pf_buf_init(&text, rq->arena, MESSAGE_MAX);
	pf_send_code_write(&text, m, s->codes.smtp.from,
	    s->codes.command.n != 0 ? "\n" : "\r\n", rq->now_at);
	pf_buf_init(&timeout, rq->arena, 20);
	pf_buf_int(&timeout, s->codes.timeout_ms);
	pf_buf_init(&to, rq->arena, MESSAGE_MAX);
	add(&to, m->to);
	if (pf_buf_done(&settings, &part[SETTINGS]) != PF_OK ||
	    pf_buf_done(&timeout, &part[TIMEOUT]) != PF_OK ||
	    pf_buf_done(&to, &part[TO]) != PF_OK ||
	    pf_buf_done(&text, &part[TEXT]) != PF_OK)
		return PF_E_MEM;
	return pf_aside_ask(rq, pf_app(rq)->proc->messages, &task, part,
	    PF_ASIDE_PARTS, sent);
}
