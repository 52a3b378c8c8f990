/*
 * json_names - which members an object has had already. Only for json_scan.c.
 *
 * A set of 64-bit hashes over the object's number and the name as it is meant,
 * escapes resolved. The hash is SipHash-1-3 under a key that this process drew
 * at random: nobody outside can make two names meet, or a search slow.
 */
#ifndef PF_JSON_NAMES_H
#define PF_JSON_NAMES_H

#include "core/base/str.h"

/* What a scan can nest at all, whatever the limits say. */
#define PF_JSON_DEPTH	32
/* Enough for the names of a text of some 600 bytes. */
#define PF_JSON_NAMES	256

struct pf_json_names {
	uint64_t *slot;		/* 0: free */
	size_t mask;
	uint64_t few[PF_JSON_NAMES];
};

struct pf_json_hash {
	uint64_t v[4];
	uint64_t word;		/* bytes that don't fill one yet */
	size_t n;
};

/* For a text of n bytes with at most 'values' values. PF_E_MEM, PF_E_BUG. */
PF_MUST enum pf_rc pf_json_names_init(struct pf_json_names *s, size_t n,
    size_t values);
void pf_json_names_free(struct pf_json_names *s);
/* False if it is there already. */
bool pf_json_names_add(struct pf_json_names *s, uint64_t hash);

void pf_json_hash_init(struct pf_json_hash *h, uint64_t object);
void pf_json_hash_bytes(struct pf_json_hash *h, const char *p, size_t n);
/* A character, as its UTF-8. */
void pf_json_hash_char(struct pf_json_hash *h, uint32_t c);
uint64_t pf_json_hash_done(struct pf_json_hash *h);

#endif
