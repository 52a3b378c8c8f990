#include "core/poppy/password_pool.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/poppy/aside.h"
#include "core/poppy/password.h"

/* How many wait for each thread: some eight seconds' work at bcrypt's usual
 * cost. */
#define QUEUE_EACH	32u
#define PATIENCE_MS	15000
#define NICE		5
#define HEAD_MAX	12		/* of a hash, in the log */
#define KIND_MAX	32
#define SALT_MAX	256

struct pf_password_pool {
	struct pf_aside *aside;
	char salt[SALT_MAX];
	size_t nsalt;
};

enum { KIND, HASH, SALT, PASSWORD, PARTS };

/* What may be shown of a hash that we don't know: its kind and cost. */
static struct pf_str
head_of(struct pf_str hash)
{
	size_t n = 0, dollars = 0;

	for (; n < hash.n && n < HEAD_MAX && dollars < 3; n++)
		dollars += hash.p[n] == '$';
	return hash.n != 0 && hash.p[0] == '$' ? pf_str_head(hash, n) :
	    PF_LIT("");
}

/* PrestaShop keeps its salt beside its database. */
static enum pf_rc
check_salted(const struct pf_str part[PF_ASIDE_PARTS])
{
	char text[PF_PASSWORD_HASH_MAX + 1 + SALT_MAX];
	struct pf_str hash = part[HASH];
	struct pf_buf b;
	enum pf_rc rc;

	if (part[SALT].n == 0 || !pf_str_eqz(part[KIND], "prestashop") ||
	    pf_str_starts(hash, PF_LIT("$")) || pf_str_has(hash, ':'))
		return pf_password_check(part[KIND], hash, part[PASSWORD]);
	pf_buf_fixed(&b, text, sizeof(text));
	pf_buf_add(&b, hash);
	pf_buf_char(&b, ':');
	pf_buf_add(&b, part[SALT]);
	rc = pf_buf_done(&b, &hash) == PF_OK ?
	    pf_password_check(part[KIND], hash, part[PASSWORD]) : PF_E_INPUT;
	pf_wipe(text, sizeof(text));
	return rc;
}

/* Nothing but its end is ever said of why it does not fit; nor does the time
 * say so. */
static enum pf_rc
check(const struct pf_str part[PF_ASIDE_PARTS])
{
	enum pf_rc rc;

	if (part[HASH].n != 0) {
		if ((rc = check_salted(part)) != PF_E_INPUT)
			return rc;
		PF_LOG(PF_LOG_WARN, "password_hash",
		    PF_F_Z("why", "a customer's hash is of no kind that we "
		    "know, or costs too much"),
		    PF_F_STR("kind", part[KIND]),
		    PF_F_STR("begins", head_of(part[HASH])));
	}
	pf_password_dummy(part[PASSWORD]);
	return PF_E_AUTH;
}

enum pf_rc
pf_password_pool_start(const struct pf_password_pool_opts *opts,
    struct pf_password_pool **out)
{
	const struct pf_aside_opts aside = {
		.threads = opts->threads,
		.queue_each = QUEUE_EACH,
		.nice = NICE,
		.patience_ms = PATIENCE_MS,
		.busy = "too many customers are logging in",
	};
	struct pf_password_pool *p;
	enum pf_rc rc;

	if (opts->salt.n > SALT_MAX)
		return PF_E_INPUT;
	if ((p = calloc(1, sizeof(*p))) == NULL)
		return PF_E_MEM;
	if ((rc = pf_aside_start(&aside, &p->aside)) != PF_OK) {
		free(p);
		return rc;
	}
	if (opts->salt.n != 0)
		(void)memcpy(p->salt, opts->salt.p, opts->salt.n);
	p->nsalt = opts->salt.n;
	*out = p;
	return PF_OK;
}

void
pf_password_pool_stop(struct pf_password_pool *p)
{
	if (p == NULL)
		return;
	pf_aside_stop(p->aside);
	pf_wipe(p->salt, sizeof(p->salt));
	free(p);
}

enum pf_rc
pf_password_ask(struct pf_req *rq, struct pf_password_pool *p,
    struct pf_str kind, struct pf_str hash, struct pf_str password,
    enum pf_rc *answer)
{
	static const struct pf_aside_task task = { "password", check };
	/* Over the limits all are alike: one byte more stands for them. */
	const struct pf_str part[PARTS] = {
		[KIND] = pf_str_head(kind, KIND_MAX),
		[HASH] = pf_str_head(hash, PF_PASSWORD_HASH_MAX + 1),
		[SALT] = p != NULL ? pf_bytes(p->salt, p->nsalt) : PF_NOSTR,
		[PASSWORD] = pf_str_head(password, PF_PASSWORD_MAX + 1),
	};
	enum pf_rc rc;

	*answer = PF_E_AUTH;
	if (p == NULL)
		return PF_E_BUG;
	rc = pf_aside_ask(rq, p->aside, &task, part, PARTS, answer);
	if (rc != PF_OK || *answer == PF_OK || *answer == PF_E_AUTH)
		return rc;
	/* It could not be checked, for want of memory. */
	rc = *answer;
	*answer = PF_E_AUTH;
	return rc;
}
