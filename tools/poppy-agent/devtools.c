#include "config.h"

#include "tools/poppy-agent/devtools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/poppy-agent/process.h"

#define READ_SIZE	65536
#define MESSAGE_MAX	(16u << 20)

static const struct pf_json_limits limits = { MESSAGE_MAX, 32, 500000 };

enum pf_rc
ag_devtools_init(struct ag_devtools *d, int to, int from)
{
	memset(d, 0, sizeof(*d));
	d->to = to;
	d->from = from;
	return pf_arena_init(&d->arena, READ_SIZE, 256u << 20);
}

void
ag_devtools_free(struct ag_devtools *d)
{
	pf_arena_free(&d->arena);
	free(d->in);
	d->in = NULL;
}

static enum pf_rc
put(struct ag_devtools *d, struct pf_str s)
{
	while (s.n > 0) {
		ssize_t n = write(d->to, s.p, s.n);

		if (n < 0 && errno != EINTR)
			return PF_E_UPSTREAM;
		if (n > 0)
			s = pf_str_from(s, (size_t)n);
	}
	return PF_OK;
}

enum pf_rc
ag_devtools_send(struct ag_devtools *d, const char *method,
    struct pf_str params)
{
	struct pf_arena a;
	struct pf_buf b;
	struct pf_jw w;
	struct pf_str text;
	enum pf_rc rc;

	/* Not d->arena: an event may be at hand. */
	if ((rc = pf_arena_init(&a, READ_SIZE, MESSAGE_MAX)) != PF_OK)
		return rc;
	pf_buf_init(&b, &a, 1u << 20);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_int(&w, "id", ++d->last_id);
	pf_jw_strz(&w, "method", method);
	if (pf_str_given(d->page))
		pf_jw_str(&w, "sessionId", d->page);
	pf_jw_raw(&w, "params", params);
	pf_jw_close(&w, '}');
	pf_buf_add(&b, pf_bytes("", 1));
	if ((rc = pf_buf_done(&b, &text)) == PF_OK)
		rc = put(d, text);
	pf_arena_free(&a);
	return rc;
}

static enum pf_rc
read_more(struct ag_devtools *d, int64_t until_ms)
{
	ssize_t n;

	if (d->skip > 0) {
		memmove(d->in, d->in + d->skip, d->n - d->skip);
		d->n -= d->skip;
		d->skip = 0;
	}
	if (d->n + READ_SIZE > d->size) {
		size_t size = d->size * 2 + READ_SIZE;
		char *in = size > 2 * MESSAGE_MAX ? NULL :
		    realloc(d->in, size);

		if (in == NULL)
			return PF_E_MEM;
		d->in = in;
		d->size = size;
	}
	if (ag_process_poll(d->from, until_ms) == 0)
		return PF_E_ABSENT;
	n = read(d->from, d->in + d->n, READ_SIZE);
	if (n == 0 || (n < 0 && errno != EINTR))
		return PF_E_UPSTREAM;
	d->n += n > 0 ? (size_t)n : 0;
	return PF_OK;
}

/* The next whole text; it stays until more is read. */
static enum pf_rc
next_text(struct ag_devtools *d, int64_t until_ms, struct pf_str *out)
{
	size_t seen = d->skip;
	enum pf_rc rc;

	for (;;) {
		for (; seen < d->n; seen++)
			if (d->in[seen] == '\0') {
				*out = pf_bytes(d->in + d->skip,
				    seen - d->skip);
				d->skip = seen + 1;
				return PF_OK;
			}
		seen -= d->skip;	/* read_more() moves what is left */
		if ((rc = read_more(d, until_ms)) != PF_OK)
			return rc;
	}
}

enum pf_rc
ag_devtools_next(struct ag_devtools *d, int64_t until_ms, int64_t *id,
    const struct pf_json **msg)
{
	const struct pf_json *params;
	struct pf_str text, method;
	enum pf_rc rc;

	*id = 0;
	if ((rc = next_text(d, until_ms, &text)) != PF_OK)
		return rc;
	pf_arena_reset(&d->arena);
	/* A page can bring about texts that our reader refuses, such as half
	 * characters in a header: they say nothing that is needed. */
	if (pf_json_parse(&d->arena, text, &limits, msg, NULL) != PF_OK)
		return PF_OK;
	if (pf_json_int(*msg, "id", id) == PF_OK)
		return PF_OK;
	*id = 0;
	if (d->on_event != NULL &&
	    pf_json_str(*msg, "method", &method) == PF_OK &&
	    pf_json_obj(*msg, "params", &params) == PF_OK)
		d->on_event(d->arg, method, params);
	return PF_OK;
}

enum pf_rc
ag_devtools_call(struct ag_devtools *d, const char *method,
    struct pf_str params, int64_t until_ms, const struct pf_json **result)
{
	const struct pf_json *msg = NULL;
	int64_t id, mine;
	enum pf_rc rc;

	if ((rc = ag_devtools_send(d, method, params)) != PF_OK)
		return rc;
	/* on_event may send too. */
	mine = d->last_id;
	do {
		rc = ag_devtools_next(d, until_ms, &id, &msg);
	} while (rc == PF_OK && id != mine);
	if (rc != PF_OK)
		return rc;
	return pf_json_obj(msg, "result", result) == PF_OK ? PF_OK :
	    PF_E_INPUT;
}
