/*
 * token - opaque bearer secrets: Session and Account Tokens, codes, cookies.
 *
 * Prefix of four characters, two bucket characters, 32 random bytes as 43
 * characters of base64url; shown once. The database sees only the SHA-256 of
 * the whole text, so a stolen table opens no Session.
 */
#ifndef PF_TOKEN_H
#define PF_TOKEN_H

#include "core/base/arena.h"
#include "core/jose/crypt.h"

#define PF_TOKEN_TEXT	(4 + 2 + 43)
#define PF_BUCKETS	4096

struct pf_token { char text[PF_TOKEN_TEXT]; };	/* no NUL; wipe when done */
/* May be stored. */
struct pf_tokenhash { unsigned char b[PF_SHA256_LEN]; };

/* prefix is four characters, "pst_". PF_E_BUG only without randomness. */
PF_MUST enum pf_rc pf_token_new(const char *prefix, unsigned bucket,
    struct pf_token *out);
/* One made of 32 bytes that somebody who has their key can make again. */
PF_MUST enum pf_rc pf_token_of(const char *prefix, unsigned bucket,
    const unsigned char raw[PF_SHA256_LEN], struct pf_token *out);
/* Strict: another prefix, length or alphabet, or stray low bits, is
 * PF_E_INPUT. bucket may be NULL. */
PF_MUST enum pf_rc pf_token_parse(const char *prefix, struct pf_str text,
    unsigned *bucket);
PF_MUST enum pf_rc pf_token_hash(struct pf_str text, struct pf_tokenhash *out);
void pf_token_wipe(struct pf_token *t);

/*
 * Session ids: "ses_", two bucket characters, 16 random bytes as 22 characters.
 * Not a credential. The 16 bytes are its key in the database.
 */
#define PF_SID_RAW	16
#define PF_SID_TEXT	(4 + 2 + 22)
struct pf_sid { unsigned char raw[PF_SID_RAW]; unsigned bucket; };
PF_MUST enum pf_rc pf_sid_new(unsigned bucket, struct pf_sid *out);
PF_MUST enum pf_rc pf_sid_parse(struct pf_str text, struct pf_sid *out);
/* Without NUL. */
void pf_sid_text(const struct pf_sid *s, char out[PF_SID_TEXT]);

#endif
