/* JSON: what the scan lets through json-c takes, and writes as the same. */
#include "core/base/json.h"
#include "tests/fuzz/fuzz.h"

static enum pf_rc
member(void *ctx, struct pf_str key, const struct pf_json *v)
{
	const struct pf_json *obj = ctx, *sub;
	struct pf_str s;
	const char *z;
	int64_t n;

	FUZZ_HOLDS(pf_utf8_valid(key));
	if ((z = pf_arena_z(&fuzz_arena, key)) == NULL)
		return PF_E_MEM;
	FUZZ_HOLDS(pf_json_has(obj, z));
	if (v == NULL)
		FUZZ_HOLDS(pf_json_str(obj, z, &s) == PF_E_ABSENT);
	if (pf_json_str(obj, z, &s) == PF_OK)
		FUZZ_HOLDS(pf_utf8_valid(s) &&
		    pf_json_int(obj, z, &n) == PF_E_INPUT);
	if (pf_json_obj(obj, z, &sub) == PF_OK)
		FUZZ_HOLDS(sub == v && pf_json_is_obj(v));
	return PF_OK;
}

static struct pf_str
written(const struct pf_json *v)
{
	struct pf_str out;
	struct pf_buf b;

	pf_buf_init(&b, &fuzz_arena, 1 << 20);
	pf_json_write(&b, v);
	FUZZ_HOLDS(pf_buf_done(&b, &out) == PF_OK);
	return out;
}

static void
again(const struct pf_json *v)
{
	struct pf_str text = written(v);
	const struct pf_json *other;

	FUZZ_HOLDS(pf_json_parse(&fuzz_arena, text, &pf_json_large, &other,
	    NULL) == PF_OK);
	FUZZ_HOLDS(pf_str_eq(text, written(other)));
}

bool
fuzz_one(struct pf_str in)
{
	struct pf_json_fault fault = { 0, NULL };
	const struct pf_json *v = NULL;
	enum pf_rc rc;

	rc = pf_json_scan(in, &pf_json_small, &fault);
	if (rc == PF_E_INPUT)
		FUZZ_HOLDS(fault.why != NULL && fault.at <= in.n);
	FUZZ_HOLDS(pf_json_parse(&fuzz_arena, in, &pf_json_small, &v, &fault)
	    == rc);
	if (rc != PF_OK)
		return false;
	if (pf_json_is_obj(v)) {
		union { const struct pf_json *in; void *out; } u = { v };

		FUZZ_HOLDS(pf_json_each(v, member, u.out) == PF_OK);
	}
	again(v);
	return true;
}
