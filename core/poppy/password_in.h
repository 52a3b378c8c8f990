/*
 * password_in - what the files of the password check share. Not for others.
 *
 * A hash is read into a struct pf_pw, whose work says what a check costs; then
 * that is done. The two are apart so that a hash over the caps costs nothing,
 * and so that the work can be done for a customer who isn't there.
 */
#ifndef PF_PASSWORD_IN_H
#define PF_PASSWORD_IN_H

#include "core/jose/crypt.h"
#include "core/poppy/password.h"

#define PF_PW_SALT_MAX	64
#define PF_PW_STEPS_MAX	4		/* versions of Magento in a chain */

enum pf_pw_family {
	PF_PW_QUICK,			/* a few digests */
	PF_PW_BCRYPT,
	PF_PW_ARGON2,
	PF_PW_ROUNDS			/* phpass and Drupal */
};

/* What costs: numbers alone, compared as bytes. */
struct pf_pw_work {
	uint32_t family;
	uint32_t kind;		/* Argon2: 1 i, 2 id; rounds: enum pf_digest */
	uint32_t cost;		/* bcrypt, rounds: binary logarithm */
	uint32_t kib, passes, lanes, version;	/* Argon2 */
	uint32_t length;	/* of its result */
};

struct pf_pw {
	/* Does it fit? PF_OK, PF_E_AUTH; PF_E_MEM, PF_E_BUG. */
	enum pf_rc (*fits)(const struct pf_pw *pw, struct pf_str password);
	struct pf_pw_work work;
	struct pf_str text;	/* bcrypt, rounds: all of it */
	unsigned char salt[PF_PW_SALT_MAX];
	size_t nsalt;
	unsigned char digest[PF_DIGEST_MAX];
	size_t ndigest;
	struct pf_str more;	/* salt or key of any length: quick ones */
	/* Magento: what is done, one after the other. */
	enum pf_digest step[PF_PW_STEPS_MAX];
	size_t nsteps;
	size_t argon2_at;	/* which of them is Argon2; nsteps: none */
};

enum pf_pw_before {
	PF_PW_AS_IS,
	PF_PW_SYMFONY,	/* base64 of the SHA-512 of what bcrypt would cut */
	PF_PW_WORDPRESS	/* base64 of HMAC-SHA-384 */
};

/* A hash, and how its password is prepared. */
struct pf_pw_plan {
	struct pf_pw pw;
	bool trim;
	bool md5_first;			/* "U" before it: Drupal */
	enum pf_pw_before before;
};

/* *out must be zeroed; what it says lives as long as hash. */
PF_MUST enum pf_rc pf_pw_read(struct pf_str kind, struct pf_str hash,
    struct pf_pw_plan *out);

/* The families' reading; PF_E_INPUT for what is none or costs too much. */
typedef enum pf_rc pf_pw_reader(struct pf_str hash, struct pf_pw *out);
pf_pw_reader pf_pw_bcrypt_read, pf_pw_argon2_read, pf_pw_rounds_read;
pf_pw_reader pf_pw_md5_read, pf_pw_magento_read, pf_pw_prestashop_read;
pf_pw_reader pf_pw_opencart_read;

/* The work alone; what comes out is compared with nothing. */
void pf_pw_bcrypt_waste(const struct pf_pw_work *w, struct pf_str password);
void pf_pw_argon2_waste(const struct pf_pw_work *w, struct pf_str password);
void pf_pw_rounds_waste(const struct pf_pw_work *w, struct pf_str password);

/* PF_E_INPUT if it costs too much, or nothing that Argon2 allows. */
PF_MUST enum pf_rc pf_pw_argon2_caps(const struct pf_pw_work *w);
PF_MUST enum pf_rc pf_pw_argon2(const struct pf_pw_work *w,
    struct pf_str password, struct pf_str salt, unsigned char *out);

/* password_text.c: hex, base64 and the alphabet of crypt(3). */
PF_MUST enum pf_rc pf_pw_unhex(struct pf_str hex, unsigned char *out,
    size_t cap, size_t *n);
void pf_pw_hex(const unsigned char *p, size_t n, char *out);
PF_MUST enum pf_rc pf_pw_unbase64(struct pf_str s, unsigned char *out,
    size_t cap, size_t *n);
/* With padding; how many characters. out has room for 4 of 3 and 4 more. */
size_t pf_pw_base64(const unsigned char *p, size_t n, char *out);
/* Place in "./0-9A-Za-z", or -1. */
int pf_pw_itoa64(char c);
/* The first nout characters of what phpass makes of p. */
void pf_pw_encode64(const unsigned char *p, size_t n, char *out, size_t nout);

/* password_cost.c: which work is usual. Any thread. */
void pf_pw_cost_note(const struct pf_pw_work *w);
void pf_pw_cost_usual(struct pf_pw_work *out);

#endif
