/*
 * check - one deployment looked at from all sides; what is found is said one
 * line a point. Only for check*.c, and for doctor.c, which connects alike.
 */
#ifndef PF_CTL_CHECK_H
#define PF_CTL_CHECK_H

#include <sys/types.h>

#include "core/jose/jwk.h"
#include "core/store/db.h"
#include "tools/poppyctl/ctl.h"
#include "tools/poppyctl/http.h"
#include "tools/poppyctl/plan.h"

enum ck_level {
	CK_OK,
	CK_LEFT_OUT,	/* nothing to look at; counts for nothing */
	CK_WARNING,	/* works, and should be otherwise */
	CK_FAULT	/* does not work, or is open where it must not be */
};

struct check {
	struct ctl *c;
	struct ctl_http *http;
	struct pf_jw *json;		/* NULL: lines for people */
	struct pf_plan plan;
	bool plan_read;			/* the files of sql/ are there */
	unsigned char shared[PF_SHA256_LEN];
	unsigned char master[8];	/* of FOLDER/master, see check_local.c */
	bool master_known;
	unsigned count[CK_FAULT + 1];
};

/* The programs, and what is known of each on a host. */
struct ck_program {
	const char *name;
	const char *role;	/* also its Unix user, where there is one */
	const char *file;	/* its own settings, beside poppy.conf */
};
extern const struct ck_program ck_programs[];
extern const size_t ck_nprograms;
/* Does it run with these settings? */
bool ck_runs(const struct check *k, const struct ck_program *p);

/* One point. area is one word; the text ends with what to do. */
void ck_say(struct check *k, enum ck_level level, const char *area,
    const char *fmt, ...) PF_PRINTF(4, 5);

/*
 * Be the program's Unix user for what follows, if root asks and there is one;
 * uid_of() says which. Always followed by ck_be_self().
 */
bool ck_uid(const struct ck_program *p, uid_t *out);
void ck_be(uid_t uid);
void ck_be_self(void);

/* How to connect as the program does; NULL: no memory. */
const char *ck_conninfo(const struct ctl *c, const struct ck_program *p);

/* SHA-256 over all settings that the hosts of a company must share. */
PF_MUST enum pf_rc ck_shared(struct pf_arena *a, const struct pf_settings *s,
    unsigned char out[PF_SHA256_LEN]);

/* A DPoP Proof by a key of its own (RFC 9449, 4.2); token and nonce may be
 * PF_NOSTR. */
struct ck_proof { const char *method; struct pf_str url, token, nonce; };
PF_MUST enum pf_rc ck_sign(struct pf_arena *a, const struct pf_key *key,
    const struct ck_proof *what, struct pf_str *out);

/* The points, in this order. */
void ck_settings(struct check *k);
void ck_secrets(struct check *k);
void ck_database(struct check *k);
void ck_documents(struct check *k);
void ck_guarded(struct check *k);
void ck_pages(struct check *k);
void ck_browsers(struct check *k);
/* By poppy-auth's connection; part of ck_database(). */
void ck_customers(struct check *k, struct pf_db *db);
/* What the browser of a joined Session sends. Nobody issued this one: the name
 * alone closes a page. */
struct pf_str ck_agent_cookie(struct check *k);
/* Is any type of sign-in on? */
bool ck_signs_in(const struct check *k);

/* A JSON object from a URL; NULL: said why not. */
const struct pf_json *ck_get(struct check *k, const char *area,
    struct pf_str url);
/* Ask; false: said why no answer came. */
bool ck_ask(struct check *k, const char *area, const struct ctl_ask *ask,
    struct ctl_reply *out);
/* a and b and c, in the arena. */
struct pf_str ck_join(struct check *k, struct pf_str a, const char *b,
    struct pf_str c);

#endif
