#include <string.h>

#include "core/store/wire.h"

/* pg_type.dat: these numbers never change. */
enum { OID_BYTEA = 17, OID_INT8 = 20 };

static void
put_be(unsigned char *p, uint64_t v, size_t n)
{
	while (n-- > 0) {
		p[n] = (unsigned char)(v & 0xff);
		v >>= 8;
	}
}

static void
put_int(struct pf_wire *w, size_t at, int64_t v, int n)
{
	put_be(w->raw[at], (uint64_t)v, (size_t)n);
	w->v[at] = (const char *)w->raw[at];
	w->len[at] = n;
}

/* The n elements of a list, one after the other. */
static struct pf_str
element(const struct pf_param *p, size_t i, unsigned char raw[8])
{
	if (p->type == PF_P_BYTES_LIST)
		return ((const struct pf_str *)p->list)[i];
	put_be(raw, (uint64_t)((const int64_t *)p->list)[i], 8);
	return pf_bytes(raw, 8);
}

/* A one-dimensional array as array_recv() reads it: five numbers, elements. */
static enum pf_rc
put_list(struct pf_arena *a, struct pf_wire *w, size_t at,
    const struct pf_param *p)
{
	unsigned char raw[8], *q;
	size_t i, n = (size_t)p->i, size = 20;
	struct pf_str e;
	const char *start;

	for (i = 0; i < n; i++) {
		e = element(p, i, raw);
		if (e.n > INT32_MAX / 2 || size > INT32_MAX / 2 - e.n)
			return PF_E_MEM;
		size += 4 + e.n;
	}
	if ((q = pf_arena_alloc(a, size)) == NULL)
		return PF_E_MEM;
	start = (const char *)q;
	put_be(q, n > 0 ? 1 : 0, 4);
	put_be(q + 4, 0, 4);
	put_be(q + 8, p->type == PF_P_BYTES_LIST ? OID_BYTEA : OID_INT8, 4);
	put_be(q + 12, n, 4);
	put_be(q + 16, 1, 4);
	q += 20;
	for (i = 0; i < n; i++) {
		e = element(p, i, raw);
		put_be(q, e.n, 4);
		if (e.n > 0)
			memcpy(q + 4, e.p, e.n);
		q += 4 + e.n;
	}
	w->v[at] = start;
	w->len[at] = n > 0 ? (int)size : 12;
	return PF_OK;
}

static enum pf_rc
put_param(struct pf_arena *a, struct pf_wire *w, size_t at,
    const struct pf_param *p)
{
	w->v[at] = NULL;
	w->len[at] = 0;
	w->format[at] = 1;
	switch (p->type) {
	case PF_P_NULL:
		break;
	case PF_P_TEXT:
	case PF_P_BYTES:
		if (p->s.n > INT32_MAX / 2)
			return PF_E_MEM;
		w->v[at] = p->s.p;
		w->len[at] = (int)p->s.n;
		break;
	case PF_P_INT8:
		put_int(w, at, p->i, 8);
		break;
	case PF_P_INT4:
		put_int(w, at, p->i, 4);
		break;
	case PF_P_BOOL:
		put_int(w, at, p->i, 1);
		break;
	case PF_P_BYTES_LIST:
	case PF_P_INT8_LIST:
		return put_list(a, w, at, p);
	}
	return PF_OK;
}

enum pf_rc
pf_wire_put(struct pf_arena *a, const struct pf_param *v, size_t n,
    struct pf_wire *w)
{
	enum pf_rc rc;

	if (n > PF_DB_PARAMS)
		return PF_E_BUG;
	for (size_t i = 0; i < n; i++)
		if ((rc = put_param(a, w, i, &v[i])) != PF_OK)
			return rc;
	return PF_OK;
}
