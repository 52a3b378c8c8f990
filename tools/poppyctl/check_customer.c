/*
 * The shop's customers as poppy-fcgi sees them: the view that an adapter makes.
 */
#include "tools/poppyctl/check.h"

#include "core/poppy/password.h"

#define SLOW_MS		50

static const struct pf_stmt CUSTOMER_CHECK = {
	"customer_check",
	"SELECT what, detail, more, n FROM poppy_api.customer_check()"
};
enum { WHAT, DETAIL, MORE, N };

/* What must not be, and what to do where it is. */
static const struct {
	const char *what;
	enum ck_level level;
	const char *said;
} wrongs[] = {
	{ "id_twice", CK_FAULT, "ids are there more than once: a row of the "
	    "view is one account" },
	{ "login_twice", CK_FAULT, "logins are there more than once, so "
	    "nobody can log in with them: a row of the view is one account" },
	{ "upper", CK_FAULT, "logins have capital letters, so nobody can log "
	    "in with them: let the view say lower(...)" },
	{ "empty", CK_FAULT, "rows have no id or no login: leave them out of "
	    "the view" },
};

/* How hashes begin that tell of themselves. */
static const char *const heads[] = {
	"$2y$", "$2b$", "$2a$", "$argon2i$", "$argon2id$", "$wp$", "$P$", "$H$",
	"$S$", "U$S$", "U$P$", "U$H$"
};

static const char *const statuses[] = {
	"ok", "disabled", "unverified", "privileged"
};

struct looking {
	struct check *k;
	struct pf_buf seen;	/* for the line that says that all is well */
	unsigned good;		/* with status ok */
};

static bool
among(struct pf_str s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pf_str_eqz(s, list[i]))
			return true;
	return false;
}

static void
judge_status(struct looking *l, struct pf_str status, long long n)
{
	if (pf_str_eqz(status, "ok"))
		l->good += (unsigned)n;
	if (among(status, statuses, PF_COUNT(statuses)))
		pf_buf_fmt(&l->seen, ", %lld %.*s", n, PF_STRF(status));
	else
		ck_say(l->k, CK_WARNING, "customers", "status \"%.*s\" of "
		    "%lld is none of ok, disabled, unverified, privileged: "
		    "they are refused", PF_STRF(status), n);
}

/* Only where we check passwords do hashes matter. */
static void
judge_hash(struct looking *l, struct pf_str kind, struct pf_str head,
    long long n)
{
	const char *why = kind.n == 0 ? NULL : pf_password_kind_fault(kind);

	if (l->k->c->set.login.by_shop)
		return;
	if (why != NULL)
		ck_say(l->k, CK_WARNING, "customers", "hash_kind \"%.*s\" of "
		    "%lld %s: they can't log in by password", PF_STRF(kind),
		    n, why);
	else if (kind.n == 0 && !among(head, heads, PF_COUNT(heads)))
		ck_say(l->k, CK_WARNING, "customers", "%lld hashes that begin "
		    "with \"%.*s\" are of no kind that tells of itself: name "
		    "it in hash_kind, or set login.by to \"shop\"", n,
		    PF_STRF(head));
	else
		pf_buf_fmt(&l->seen, ", %lld hashed by %.*s", n,
		    PF_STRF(kind.n != 0 ? kind : head));
}

static void
judge_row(struct looking *l, const struct pf_row *r)
{
	struct pf_str what = pf_row_str(r, WHAT), detail = pf_row_str(r, DETAIL);
	long long n = (long long)pf_row_int(r, N);

	for (size_t i = 0; i < PF_COUNT(wrongs) && n > 0; i++)
		if (pf_str_eqz(what, wrongs[i].what))
			ck_say(l->k, wrongs[i].level, "customers", "%lld %s",
			    n, wrongs[i].said);
	if (pf_str_eqz(what, "status"))
		judge_status(l, detail, n);
	else if (pf_str_eqz(what, "hash"))
		judge_hash(l, detail, pf_row_str(r, MORE), n);
	else if (pf_str_starts(what, PF_LIT("slow_")) && n > SLOW_MS)
		ck_say(l->k, CK_WARNING, "customers", "to find one by %.*s "
		    "takes %lld ms: give the shop's table an index for it",
		    PF_STRF(pf_str_from(what, 5)), n);
}

/* Nothing to look at, or nothing that can be looked at. */
static bool
judge_whole(struct looking *l, const struct pf_rows *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct pf_row r = pf_rows_at(rows, i);

		if (pf_row_is(&r, WHAT, "error")) {
			ck_say(l->k, CK_FAULT, "customers", "the view "
			    "poppy_shop.customer can't be read: %.*s: it must "
			    "belong to who owns the shop's table, and "
			    "poppy_owner may SELECT it; the end of "
			    "sql/adapters/demo.sql does that",
			    PF_STRF(pf_row_str(&r, MORE)));
			return false;
		}
		if (!pf_row_is(&r, WHAT, "rows"))
			continue;
		if (pf_row_int(&r, N) == 0) {
			ck_say(l->k, CK_FAULT, "customers", "the view "
			    "poppy_shop.customer shows nobody, so nobody can "
			    "sign in: install the shop's adapter");
			return false;
		}
		pf_buf_fmt(&l->seen, "%lld looked at",
		    (long long)pf_row_int(&r, N));
	}
	return true;
}

void
ck_customers(struct check *k, struct pf_db *db)
{
	unsigned before = k->count[CK_FAULT] + k->count[CK_WARNING];
	struct looking l = { .k = k };
	const struct pf_rows *rows;
	struct pf_row r;
	size_t n;

	if (!ck_signs_in(k)) {
		ck_say(k, CK_LEFT_OUT, "customers", "no type of sign-in is on");
		return;
	}
	pf_buf_init(&l.seen, k->c->arena, 8192);
	if (pf_db_many(db, k->c->arena, &CUSTOMER_CHECK, NULL, 0, &rows, &n) !=
	    PF_OK) {
		ck_say(k, CK_FAULT, "customers", "%s: run poppyctl db migrate",
		    pf_db_trouble(db));
		return;
	}
	if (!judge_whole(&l, rows, n))
		return;
	for (size_t i = 0; i < n; i++) {
		r = pf_rows_at(rows, i);
		judge_row(&l, &r);
	}
	if (l.good == 0)
		ck_say(k, CK_WARNING, "customers", "none has status ok, so "
		    "nobody can sign in: look at the view's status");
	if (k->count[CK_FAULT] + k->count[CK_WARNING] == before)
		ck_say(k, CK_OK, "customers", "%.*s",
		    PF_STRF(pf_buf_str(&l.seen)));
}
