#include "core/poppy/audit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/poppy/address.h"
#include "core/web/challenge.h"

#define DETAIL_MAX	120
#define HASH_SHOWN	16	/* bytes of the keyed hash of an address */

struct place {
	char detail[DETAIL_MAX];
	char address[PF_ADDRESS_TEXT];
	unsigned char detail_n, address_n;
	int64_t n;
};

/* The last place is for others; it has an empty address. */
struct counted {
	size_t n;
	struct place place[PF_AUDIT_PLACES + 1];
};

struct pf_audit {
	pthread_mutex_t lock;
	struct counted now;
};

static const struct pf_stmt AUDIT_ADD = {
	"audit_add", "SELECT poppy_api.audit_add($1)"
};

enum pf_rc
pf_audit_new(struct pf_audit **out)
{
	struct pf_audit *au;

	if ((au = calloc(1, sizeof(*au))) == NULL)
		return PF_E_MEM;
	(void)pthread_mutex_init(&au->lock, NULL);
	*out = au;
	return PF_OK;
}

void
pf_audit_free(struct pf_audit *au)
{
	if (au == NULL)
		return;
	(void)pthread_mutex_destroy(&au->lock);
	free(au);
}

/* Not known, if it can't be hashed as the settings ask. */
static struct pf_str
hashed(const struct pf_req *rq, struct pf_str text)
{
	unsigned char sum[PF_SHA256_LEN];
	struct pf_str out;
	struct pf_buf b;

	if (pf_hmac256(pf_app(rq)->keys.audit, &text, 1, sum) != PF_OK)
		return PF_NOSTR;
	pf_buf_init(&b, rq->arena, 64);
	pf_buf_addz(&b, "hmac:");
	pf_buf_b64url(&b, sum, HASH_SHOWN);
	return pf_buf_done(&b, &out) == PF_OK ? out : PF_NOSTR;
}

struct pf_str
pf_audit_address(const struct pf_req *rq)
{
	struct pf_address a;

	/* Anything else than an address is not for us to write down. */
	if (pf_address_read(rq->remote_addr, &a) != PF_OK)
		return PF_NOSTR;
	return pf_str_eqz(pf_app(rq)->set.audit.addresses, "hashed") ?
	    hashed(rq, rq->remote_addr) : rq->remote_addr;
}

static bool
is(const struct place *p, struct pf_str detail, struct pf_str address)
{
	return pf_str_eq(pf_bytes(p->detail, p->detail_n), detail) &&
	    pf_str_eq(pf_bytes(p->address, p->address_n), address);
}

static struct place *
find_l(struct counted *c, struct pf_str detail, struct pf_str address)
{
	struct place *p;

	for (size_t i = 0; i < c->n; i++)
		if (is(&c->place[i], detail, address))
			return &c->place[i];
	if (c->n >= PF_AUDIT_PLACES) {
		detail = PF_LIT("others");
		address = PF_LIT("");
		p = &c->place[PF_AUDIT_PLACES];
		c->n = PF_AUDIT_PLACES + 1;
	} else
		p = &c->place[c->n++];
	(void)memcpy(p->detail, detail.p, detail.n);
	p->detail_n = (unsigned char)detail.n;
	if (address.n != 0)
		(void)memcpy(p->address, address.p, address.n);
	p->address_n = (unsigned char)address.n;
	return p;
}

void
pf_audit_count(struct pf_audit *au, struct pf_str detail,
    struct pf_str address, int64_t n)
{
	if (detail.n == 0 || n <= 0)
		return;
	detail = pf_str_head(detail, DETAIL_MAX);
	address = pf_str_head(address, PF_ADDRESS_TEXT - 1);
	(void)pthread_mutex_lock(&au->lock);
	find_l(&au->now, detail, address)->n += n;
	(void)pthread_mutex_unlock(&au->lock);
}

void
pf_audit_refused(struct pf_audit *au, const struct pf_req *rq)
{
	struct pf_str detail;
	struct pf_buf b;

	/* Descriptions never hold what the client sent: core/web/challenge.h. */
	pf_buf_init(&b, rq->arena, 1024);
	pf_buf_addz(&b, pf_err_info(rq->err)->code);
	if (rq->err_text.n != 0)
		pf_buf_fmt(&b, ": %.*s", PF_STRF(rq->err_text));
	if (pf_buf_done(&b, &detail) == PF_OK)
		pf_audit_count(au, detail, pf_audit_address(rq), 1);
}

/* [{"detail":"invalid_request: ...","address":"192.0.2.1","n":12},...] */
static enum pf_rc
write_rows(const struct counted *c, struct pf_arena *a, struct pf_str *out)
{
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, a, 256u << 10);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '[');
	for (size_t i = 0; i < c->n; i++) {
		const struct place *p = &c->place[i];

		pf_jw_open(&w, NULL, '{');
		pf_jw_str(&w, "detail", pf_bytes(p->detail, p->detail_n));
		if (p->address_n != 0)
			pf_jw_str(&w, "address",
			    pf_bytes(p->address, p->address_n));
		pf_jw_int(&w, "n", p->n);
		pf_jw_close(&w, '}');
	}
	pf_jw_close(&w, ']');
	return pf_buf_done(&b, out);
}

static enum pf_rc
add(const struct counted *c, struct pf_db *db, struct pf_arena *a)
{
	struct pf_param rows;
	struct pf_str text;
	struct pf_row row;
	enum pf_rc rc;

	if ((rc = write_rows(c, a, &text)) != PF_OK)
		return rc;
	rows = PF_TEXT(text);
	return pf_db_one(db, a, &AUDIT_ADD, &rows, 1, &row);
}

enum pf_rc
pf_audit_flush(struct pf_audit *au, struct pf_db *db, struct pf_arena *a)
{
	struct counted *c;
	enum pf_rc rc;

	if ((c = pf_arena_alloc(a, sizeof(*c))) == NULL)
		return PF_E_MEM;
	(void)pthread_mutex_lock(&au->lock);
	*c = au->now;
	(void)memset(&au->now, 0, sizeof(au->now));
	(void)pthread_mutex_unlock(&au->lock);
	if (c->n == 0)
		return PF_OK;
	if ((rc = add(c, db, a)) == PF_OK)
		return PF_OK;
	for (size_t i = 0; i < c->n; i++)
		pf_audit_count(au,
		    pf_bytes(c->place[i].detail, c->place[i].detail_n),
		    pf_bytes(c->place[i].address, c->place[i].address_n),
		    c->place[i].n);
	return rc;
}
