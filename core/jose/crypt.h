/*
 * crypt - digests, MACs and key derivation; the one place that starts OpenSSL.
 *
 * Algorithms are fetched once, contexts are kept per thread: with OpenSSL 3.0
 * that is several times faster than the one-shot calls.
 */
#ifndef PF_CRYPT_H
#define PF_CRYPT_H

#include "core/base/str.h"

#define PF_SHA256_LEN	32
#define PF_KEY_LEN	32

/* Before the first use, once, from one thread. PF_E_BUG if OpenSSL lacks an
 * algorithm that we need. */
PF_MUST enum pf_rc pf_crypt_init(void);
void pf_crypt_end(void);
/* Frees what this thread keeps. */
void pf_crypt_thread_end(void);

PF_MUST enum pf_rc pf_sha256(struct pf_str in,
    unsigned char out[PF_SHA256_LEN]);

/* Others that shops made their hashes with; nothing of ours relies on MD5 or
 * SHA-1. */
enum pf_digest { PF_MD5, PF_SHA1, PF_SHA256, PF_SHA384, PF_SHA512 };
#define PF_DIGEST_MAX	64
size_t pf_digest_len(enum pf_digest d);
/* Over the parts as one text. PF_E_BUG also where this system's OpenSSL has no
 * MD5. */
PF_MUST enum pf_rc pf_digest(enum pf_digest d, const struct pf_str *parts,
    size_t n, unsigned char *out);
/* HMAC of RFC 2104; out has the digest's length. */
PF_MUST enum pf_rc pf_hmac(enum pf_digest d, struct pf_str key,
    struct pf_str in, unsigned char *out);

/* HMAC-SHA-256 over the parts, each preceded by its length as 8 bytes, so that
 * no two lists of parts give the same input. */
PF_MUST enum pf_rc pf_hmac256(const unsigned char key[PF_KEY_LEN],
    const struct pf_str *parts, size_t n, unsigned char out[PF_SHA256_LEN]);
/* HKDF-SHA-256 (RFC 5869) without salt, info = purpose. */
PF_MUST enum pf_rc pf_hkdf(const unsigned char master[PF_KEY_LEN],
    const char *purpose, unsigned char out[PF_KEY_LEN]);

#endif
