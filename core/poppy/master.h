/*
 * master - the file of the company's master key, and the key's rotation.
 *
 * While two masters are valid, the one in use makes things and both are good for
 * judging what was made. So hosts may take each step one after the other:
 *
 *	begin	a new one is made; it is accepted, and not used yet
 *	switch	it is used; the old one is still accepted
 *	finish	the old one is gone
 *
 * The User key never changes, or all Users would be strangers: from the first
 * rotation on it stands in the file itself, as it was derived from the first
 * master. The file: 32 bytes of master; or these and 32 of the User key; or these
 * and 32 of the other master and one byte, 'n' (next) or 'o' (old).
 */
#ifndef PF_MASTER_H
#define PF_MASTER_H

#include "core/jose/crypt.h"

#define PF_MASTER_MAX	(3 * PF_KEY_LEN + 1)

struct pf_master {
	unsigned char now[PF_KEY_LEN];
	unsigned char user[PF_KEY_LEN];		/* derived, or kept */
	unsigned char other[PF_KEY_LEN];
	char other_is;				/* 'n', 'o'; 0: there is none */
	bool kept;				/* user stands in the file */
};

/* PF_E_INPUT: no such file. */
PF_MUST enum pf_rc pf_master_parse(const void *p, size_t n,
    struct pf_master *out);
/* As the file has it; how many bytes. */
size_t pf_master_write(const struct pf_master *m,
    unsigned char out[PF_MASTER_MAX]);
/* A step. PF_E_CONFLICT: it is not the one that comes next. */
PF_MUST enum pf_rc pf_master_begin(struct pf_master *m);
PF_MUST enum pf_rc pf_master_switch(struct pf_master *m);
PF_MUST enum pf_rc pf_master_finish(struct pf_master *m);
void pf_master_wipe(struct pf_master *m);

#endif
