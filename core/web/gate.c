#include <string.h>

#include "core/web/gate.h"

#define FCGI_V1		1
#define BEGIN_REQUEST	1
#define PARAMS		4
#define STDIN		5
#define KEEP_CONN	1

enum phase { WANT_BEGIN, WANT_PARAMS, WANT_STDIN, WANT_NOTHING };
enum part { HEADER, CONTENT, PADDING };
enum pair { NAME_LEN, VALUE_LEN, NAME, VALUE };

void
pf_gate_init(struct pf_gate *g, unsigned role, uint32_t max_body)
{
	memset(g, 0, sizeof(*g));
	g->role = (uint16_t)role;
	g->max_body = max_body;
}

static enum pf_gate_rc
bad(struct pf_gate *g, const char *why)
{
	g->why = why;
	return PF_GATE_BAD;
}

static enum pf_gate_rc
pair_lengths_known(struct pf_gate *g)
{
	if (g->name_left == 0)
		return bad(g, "a parameter without a name");
	if (g->name_left > PF_GATE_MAX_PARAMS ||
	    g->value_left > PF_GATE_MAX_PARAMS ||
	    ++g->count > PF_GATE_MAX_COUNT)
		return PF_GATE_LARGE_PARAMS;
	g->pair = NAME;
	return PF_GATE_MORE;
}

/* One byte of a length: one byte below 128, else four with the top bit set. */
static enum pf_gate_rc
pair_length(struct pf_gate *g, unsigned char c)
{
	if (g->nlen == 0 && c < 0x80) {
		g->len = c;
	} else {
		g->len = g->nlen == 0 ? c & 0x7fu : (g->len << 8) | c;
		if (++g->nlen < 4)
			return PF_GATE_MORE;
	}
	g->nlen = 0;
	if (g->pair == NAME_LEN) {
		g->name_left = g->len;
		g->pair = VALUE_LEN;
		return PF_GATE_MORE;
	}
	g->value_left = g->len;
	return pair_lengths_known(g);
}

/* A '=' in a name would put another variable into libfcgi's "NAME=value". */
static enum pf_gate_rc
pair_name(struct pf_gate *g, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] <= ' ' || p[i] >= 0x7f || p[i] == '=')
			return bad(g, "a parameter's name is no name");
	g->name_left -= (uint32_t)n;
	if (g->name_left == 0)
		g->pair = g->value_left > 0 ? VALUE : NAME_LEN;
	return PF_GATE_MORE;
}

/* libfcgi hands out C strings: a NUL would hide what follows it. */
static enum pf_gate_rc
pair_value(struct pf_gate *g, const unsigned char *p, size_t n)
{
	if (memchr(p, 0, n) != NULL)
		return bad(g, "a parameter holds a NUL");
	g->value_left -= (uint32_t)n;
	if (g->value_left == 0)
		g->pair = NAME_LEN;
	return PF_GATE_MORE;
}

static enum pf_gate_rc
params_content(struct pf_gate *g, const unsigned char *p, size_t n)
{
	enum pf_gate_rc rc;
	size_t take;

	g->params += n;
	if (g->forgive)
		return PF_GATE_MORE;
	if (g->params > PF_GATE_MAX_PARAMS)
		return PF_GATE_LARGE_PARAMS;
	for (; n > 0; p += take, n -= take) {
		take = 1;
		if (g->pair == NAME) {
			take = n < g->name_left ? n : g->name_left;
			rc = pair_name(g, p, take);
		} else if (g->pair == VALUE) {
			take = n < g->value_left ? n : g->value_left;
			rc = pair_value(g, p, take);
		} else {
			rc = pair_length(g, *p);
		}
		if (rc != PF_GATE_MORE)
			return rc;
	}
	return PF_GATE_MORE;
}

static enum pf_gate_rc
begin_known(struct pf_gate *g)
{
	if (((unsigned)g->begin[0] << 8 | g->begin[1]) != g->role)
		return bad(g, "another role than ours");
	g->keep = (g->begin[2] & KEEP_CONN) != 0;
	g->id = (uint16_t)(g->hdr[2] << 8 | g->hdr[3]);
	g->begun = true;
	g->phase = WANT_PARAMS;
	return PF_GATE_MORE;
}

static enum pf_gate_rc
content(struct pf_gate *g, const unsigned char *p, size_t n)
{
	if (g->type == PARAMS)
		return params_content(g, p, n);
	if (g->type == STDIN) {
		g->body += n;
		return g->body > g->max_body && !g->forgive ?
		    PF_GATE_LARGE_BODY : PF_GATE_MORE;
	}
	memcpy(g->begin + g->begin_at, p, n);
	g->begin_at = (uint8_t)(g->begin_at + n);
	return g->begin_at == sizeof(g->begin) ? begin_known(g) : PF_GATE_MORE;
}

/* The empty record that ends PARAMS or STDIN. */
static enum pf_gate_rc
stream_end(struct pf_gate *g)
{
	if (g->type == PARAMS) {
		if (!g->forgive && (g->pair != NAME_LEN || g->nlen != 0))
			return bad(g, "the parameters end within one");
		if (g->pad != 0)
			return bad(g, "the parameters' end is padded");
		g->phase = WANT_STDIN;
		return PF_GATE_MORE;
	}
	g->body_end = true;
	g->phase = WANT_NOTHING;
	g->tail = g->pad;
	return PF_GATE_MORE;
}

static enum pf_gate_rc
header_in_phase(struct pf_gate *g)
{
	static const uint8_t wanted[] = {
		[WANT_BEGIN] = BEGIN_REQUEST, [WANT_PARAMS] = PARAMS,
		[WANT_STDIN] = STDIN,
	};

	if (g->phase == WANT_NOTHING)
		return bad(g, "bytes behind the request");
	if (g->type != wanted[g->phase])
		return bad(g, "a record that has no place here");
	if (g->type == BEGIN_REQUEST)
		return g->left == sizeof(g->begin) && g->pad == 0 ?
		    PF_GATE_MORE : bad(g, "BEGIN_REQUEST of another length");
	if (g->left == 0)
		return stream_end(g);
	if (g->type == STDIN && g->role == PF_GATE_AUTHORIZER)
		return bad(g, "a body for an authorizer");
	return PF_GATE_MORE;
}

static enum pf_gate_rc
header(struct pf_gate *g)
{
	unsigned id = (unsigned)g->hdr[2] << 8 | g->hdr[3];

	if (g->hdr[0] != FCGI_V1)
		return bad(g, "not FastCGI version 1");
	g->type = g->hdr[1];
	g->left = (uint16_t)(g->hdr[4] << 8 | g->hdr[5]);
	g->pad = g->hdr[6];
	if (id == 0)
		return bad(g, "a management record");
	if (g->begun && id != g->id)
		return bad(g, "a second request on the connection");
	/*
	 * On a kept connection an authorizer's empty STDIN may come after the
	 * reply to its request.
	 */
	if (!g->begun && g->role == PF_GATE_AUTHORIZER && g->type == STDIN &&
	    g->left == 0 && g->pad == 0 && !g->stray) {
		g->stray = true;
		return PF_GATE_MORE;
	}
	return header_in_phase(g);
}

static void
next_part(struct pf_gate *g)
{
	if (g->part == CONTENT && g->left == 0)
		g->part = PADDING;
	if (g->part == PADDING && g->pad == 0) {
		g->part = HEADER;
		g->nhdr = 0;
	}
}

/* Take a piece of the part that is at hand; *took is at least 1. */
static enum pf_gate_rc
piece(struct pf_gate *g, const unsigned char *p, size_t n, size_t *took)
{
	enum pf_gate_rc rc = PF_GATE_MORE;
	size_t take;

	if (g->part == HEADER) {
		take = sizeof(g->hdr) - g->nhdr;
		take = n < take ? n : take;
		memcpy(g->hdr + g->nhdr, p, take);
		g->nhdr = (uint8_t)(g->nhdr + take);
		if (g->nhdr == sizeof(g->hdr)) {
			rc = header(g);
			g->part = CONTENT;
		}
	} else if (g->part == CONTENT) {
		take = n < g->left ? n : g->left;
		g->left = (uint16_t)(g->left - take);
		rc = content(g, p, take);
	} else {
		take = n < g->pad ? n : g->pad;
		g->pad = (uint8_t)(g->pad - take);
	}
	next_part(g);
	g->used += take;
	*took = take;
	return rc;
}

static bool
complete(const struct pf_gate *g)
{
	if (g->part != HEADER || g->nhdr != 0)
		return false;
	if (g->phase == WANT_NOTHING)
		return true;
	return g->phase == WANT_STDIN && g->role == PF_GATE_AUTHORIZER;
}

enum pf_gate_rc
pf_gate_feed(struct pf_gate *g, const void *bytes, size_t n)
{
	enum pf_gate_rc rc, large = PF_GATE_MORE;
	const unsigned char *p = bytes;
	size_t took;

	for (; n > 0; p += took, n -= took) {
		rc = piece(g, p, n, &took);
		if (rc == PF_GATE_BAD)
			return rc;
		if (rc != PF_GATE_MORE) {
			/* The rest of these bytes is counted all the same. */
			g->forgive = true;
			large = rc;
		}
	}
	if (large != PF_GATE_MORE)
		return large;
	return complete(g) ? PF_GATE_COMPLETE : PF_GATE_MORE;
}
