/*
 * str - views of bytes, and what is done with text from strangers.
 *
 * A pf_str owns nothing and need not end in NUL. Its bytes live in an arena,
 * in a constant or in the request. {NULL, 0} means "not given", {"", 0} means
 * "given and empty".
 */
#ifndef PF_STR_H
#define PF_STR_H

#include "core/base/pf.h"

struct pf_str {
	const char *p;
	size_t n;
};

/* A literal as a view; also in initialisers. */
#define PF_LIT(s)	((struct pf_str){ "" s, sizeof(s) - 1 })
#define PF_LIT_INIT(s)	{ "" s, sizeof(s) - 1 }
#define PF_NOSTR	((struct pf_str){ NULL, 0 })
/* For "%.*s". */
#define PF_STRF(s)	(int)(s).n, (s).n ? (s).p : ""

struct pf_str pf_str(const char *z);	/* NULL gives PF_NOSTR */
struct pf_str pf_bytes(const void *p, size_t n);

bool pf_str_given(struct pf_str s);	/* s.p != NULL */
bool pf_str_eq(struct pf_str a, struct pf_str b);
bool pf_str_eqz(struct pf_str a, const char *z);
bool pf_str_eq_nocase(struct pf_str a, struct pf_str b);	/* ASCII only */
bool pf_str_starts(struct pf_str s, struct pf_str head);
bool pf_str_ends(struct pf_str s, struct pf_str tail);
bool pf_str_has(struct pf_str s, char c);
/* Index of c, or s.n. */
size_t pf_str_find(struct pf_str s, char c);
/* From byte 'from' on; empty if that is behind the end. */
struct pf_str pf_str_from(struct pf_str s, size_t from);
struct pf_str pf_str_head(struct pf_str s, size_t n);
/* Without spaces and tabs at both ends (OWS of RFC 9110, 5.6.3). */
struct pf_str pf_str_trim(struct pf_str s);

/*
 * Take the text up to the next sep from *rest. False when rest is exhausted;
 * "a,,b" gives a, empty, b; "" gives one empty piece.
 *	struct pf_str rest = s, one;
 *	while (pf_str_cut(&rest, ',', &one)) ...
 */
bool pf_str_cut(struct pf_str *rest, char sep, struct pf_str *one);

/* Decimal digits only, no sign but a leading '-', min <= value <= max;
 * anything else is PF_E_INPUT. Leading zeros are digits like others. */
PF_MUST enum pf_rc pf_str_int(struct pf_str s, int64_t min, int64_t max,
    int64_t *out);

char pf_lower(char c);			/* ASCII only, no locale */
bool pf_is_alpha(char c);
bool pf_is_digit(char c);
bool pf_is_b64url(char c);		/* A-Z a-z 0-9 - _ */

/* Well-formed UTF-8 by RFC 3629: no surrogates, no overlong forms, no NUL. */
bool pf_utf8_valid(struct pf_str s);
/* Bytes of the first character of s; 0 if it is empty or not well-formed. */
size_t pf_utf8_next(struct pf_str s);

/* Equal content in time that depends on the length only. */
bool pf_equal_ct(const void *a, const void *b, size_t n);
/* Zero that the compiler can't leave out. */
void pf_wipe(void *p, size_t n);

/*
 * base64url without padding (RFC 4648, 5; RFC 7515, 2). Decoding is strict:
 * a foreign character, '=', white space, NUL, an impossible length or stray
 * low bits are PF_E_INPUT, as is a result longer than cap.
 */
#define PF_B64URL_LEN(n)	(((n) * 4 + 2) / 3)
size_t pf_b64url_encode(const void *in, size_t n, char *out);	/* no NUL */
PF_MUST enum pf_rc pf_b64url_decode(struct pf_str s, void *out, size_t cap,
    size_t *n);

#endif
