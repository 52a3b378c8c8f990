/*
 * FastCGI records: a byte that says the role, one that says into how large
 * pieces the rest is cut, then the records. What the gate lets through, libfcgi
 * reads without a fault, and the gate's verdict does not depend on the pieces.
 */
#include "config.h"

#include "core/web/serve_int.h"
#include "tests/fuzz/fuzz.h"

#define MAX_BODY	4096

static enum pf_gate_rc
in_pieces(struct pf_str s, unsigned role, size_t most)
{
	enum pf_gate_rc rc = PF_GATE_MORE;
	struct pf_gate g;
	size_t n;

	pf_gate_init(&g, role, MAX_BODY);
	for (; s.n > 0; s = pf_str_from(s, n)) {
		n = s.n < most ? s.n : most;
		rc = pf_gate_feed(&g, s.p, n);
		/* An authorizer's may be complete before its empty STDIN. */
		if (rc != PF_GATE_MORE && rc != PF_GATE_COMPLETE)
			return rc;
	}
	return rc;
}

static struct pf_parse *
parser(void)
{
	static struct pf_parse *p;

	if (p == NULL)
		FUZZ_HOLDS(pf_parse_init() == PF_OK &&
		    pf_parse_new(&p) == PF_OK);
	return p;
}

static void
parse(struct pf_str s, const struct pf_gate *g)
{
	struct pf_slot sl = { .fd = -1, .gate = *g, .nbytes = s.n };
	struct pf_req rq = { .arena = &fuzz_arena, .runs = 1 };
	enum pf_rc rc;

	sl.bytes = pf_arena_alloc(&fuzz_arena, s.n);
	FUZZ_HOLDS(sl.bytes != NULL);
	for (size_t i = 0; i < s.n; i++)
		sl.bytes[i] = s.p[i];
	pf_resp_init(&rq);
	rc = pf_parse_request(parser(), &sl, &rq);
	/* PF_E_BUSY: the body is shorter than was said. */
	FUZZ_HOLDS(rc == PF_OK || rc == PF_E_INPUT || rc == PF_E_BUSY);
	FUZZ_HOLDS(rq.body.n == g->body);
	if (rc == PF_OK)
		FUZZ_HOLDS(rq.path.n <= rq.uri.n && rq.method_name.p != NULL);
}

bool
fuzz_one(struct pf_str in)
{
	enum pf_gate_rc rc, other;
	struct pf_gate g;
	struct pf_str s;
	unsigned role;

	if (in.n < 2)
		return false;
	role = in.p[0] & 1 ? PF_GATE_RESPONDER : PF_GATE_AUTHORIZER;
	s = pf_str_from(in, 2);
	pf_gate_init(&g, role, MAX_BODY);
	rc = pf_gate_feed(&g, s.p, s.n);
	FUZZ_HOLDS(rc != PF_GATE_BAD || g.why != NULL);
	other = in_pieces(s, role, (unsigned char)in.p[1] + 1u);
	FUZZ_HOLDS((rc == PF_GATE_COMPLETE) == (other == PF_GATE_COMPLETE));
	if (rc != PF_GATE_COMPLETE)
		return false;
	FUZZ_HOLDS(g.used == s.n && g.body <= MAX_BODY);
	parse(s, &g);
	return true;
}
