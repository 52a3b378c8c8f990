/*
 * keys - secrets of the company, from files; and who a User is to us.
 *
 * One master lies on every host, in the secrets folder (two during a rotation:
 * master.h); each use has a key of its own, derived from it with a purpose
 * (HKDF), so that no key serves two ends.
 */
#ifndef PF_KEYS_H
#define PF_KEYS_H

#include "core/jose/crypt.h"

struct pf_keys {
	unsigned char user[PF_KEY_LEN];
	unsigned char nonce[PF_KEY_LEN];	/* of DPoP */
	/* The same of the other master, for judging alone; that of the one in
	 * use if there is no other. */
	unsigned char other_nonce[PF_KEY_LEN];
	unsigned char audit[PF_KEY_LEN];	/* addresses, where hashed */
	unsigned char csrf[PF_KEY_LEN];		/* of forms */
	unsigned char other_csrf[PF_KEY_LEN];
	/* One-time codes, and login names as limits count them. */
	unsigned char code[PF_KEY_LEN];
	unsigned char other_code[PF_KEY_LEN];
	/* An Account Token's successor is made from it with this key: the same
	 * one again while a master is not replaced. */
	unsigned char successor[PF_KEY_LEN];
};

/*
 * Where the master is: $CREDENTIALS_DIRECTORY if systemd handed it over there
 * (LoadCredential=), since each program has a user of its own and none of them
 * owns the setting's folder; else that folder.
 */
const char *pf_keys_folder(const char *setting);
/*
 * Open a secret by its name, there or here: a regular file that only its owner
 * may read, this user or root. PF_E_ABSENT or PF_E_INPUT with *why, a constant.
 */
PF_MUST enum pf_rc pf_keys_open(const char *setting, const char *name,
    int *out, const char **why);

/*
 * Read FOLDER/master: a regular file as master.h has it that only its owner may
 * read. PF_E_ABSENT or PF_E_INPUT with *why, a constant.
 */
PF_MUST enum pf_rc pf_keys_load(const char *folder, struct pf_keys *out,
    const char **why);
void pf_keys_wipe(struct pf_keys *k);

/*
 * A User as the database knows it: HMAC over client_id and the User ID, so that
 * the ID itself is kept nowhere. Its first twelve bits are the bucket.
 */
struct pf_user {
	unsigned char key[PF_SHA256_LEN];
	unsigned bucket;
};
PF_MUST enum pf_rc pf_user_of(const struct pf_keys *k, struct pf_str client_id,
    struct pf_str sub, struct pf_user *out);

#endif
