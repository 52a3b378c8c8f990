/*
 * password - does a customer's password fit the hash that the shop keeps?
 *
 * The hash is one text. What a shop has in more columns than one is joined by
 * the contract view: "HASH:SALT". kind says how to read it; "" goes by the
 * beginning of the hash alone:
 *
 *	$2y$ $2b$ $2a$		bcrypt as PHP's password_verify()
 *	$argon2i$ $argon2id$	PHP and libsodium
 *	$wp$2y$			WordPress 6.8 and later
 *	$P$ $H$			phpass
 *	$S$			Drupal 7 to 10
 *	U$...			Drupal: one of these over the password's MD5
 *
 * and these kinds know more, each beside what goes by its beginning:
 *
 *	symfony		bcrypt over the SHA-512 of what bcrypt would cut
 *	wordpress	the password without white space around it; 32 hex
 *			digits are an MD5
 *	phpass, drupal	nothing more
 *	magento		HASH:SALT, HASH:SALT:VERSION, or a chain of versions
 *	prestashop	MD5:COOKIE_KEY
 *	opencart	SHA1:SALT
 *
 * All of it is work for password_pool.h: one check takes up to a second.
 */
#ifndef PF_PASSWORD_H
#define PF_PASSWORD_H

#include "core/base/str.h"

/* A longer password fits nothing, nor does an empty one. */
#define PF_PASSWORD_MAX		4096
/* A longer hash is none. */
#define PF_PASSWORD_HASH_MAX	512

/* What a hash may cost at most; a dearer one is refused before any work. */
#define PF_BCRYPT_COST_MAX	14
#define PF_ARGON2_KIB_MAX	262144
#define PF_ARGON2_PASSES_MAX	16
#define PF_ARGON2_LANES_MAX	16
/* Memory times passes. */
#define PF_ARGON2_WORK_MAX	(4 * PF_ARGON2_KIB_MAX)
/* The binary logarithm of the rounds. */
#define PF_PHPASS_COST_MAX	20
#define PF_DRUPAL_COST_MAX	20

/* NULL if the settings or a view may name this kind, else why not. */
const char *pf_password_kind_fault(struct pf_str kind);

/*
 * PF_OK: it fits. PF_E_AUTH: it doesn't. PF_E_INPUT: a kind or a hash that we
 * don't know, or one that costs too much: log that once, and answer as if it
 * did not fit. PF_E_MEM, PF_E_BUG.
 */
PF_MUST enum pf_rc pf_password_check(struct pf_str kind, struct pf_str hash,
    struct pf_str password);

/*
 * The work of a check, for a customer who isn't there: that of the hashes which
 * were checked most often in this process; before there was one, that of
 * bcrypt at cost 12. Any thread.
 */
void pf_password_dummy(struct pf_str password);

#endif
