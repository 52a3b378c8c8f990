/*
 * jwt - the claims of assertions (RFC 7519; RFC 7523, 3) judged by rules.
 */
#ifndef PF_JWT_H
#define PF_JWT_H

#include "core/jose/jws.h"

struct pf_claims {
	struct pf_str iss, sub, jti;
	int64_t iat, exp;		/* Unix seconds */
};

struct pf_jwt_rules {
	int64_t now_at;
	int64_t skew;		/* seconds, both ways, for iat, exp, nbf */
	int64_t max_life;	/* seconds, exp - iat; no skew on this one */
	size_t jti_min, jti_max;	/* bytes; 8-bit characters that are not
					 * printable ASCII are refused */
	const struct pf_str *aud;	/* any of these, byte for byte */
	size_t naud;
	bool aud_single;	/* aud must be a string, not an array */
	/* NULL: free, but never dpop+jwt or poppy-browser+jwt; else exactly
	 * this one. Compared without case and a leading application/. */
	const char *typ;
};

/*
 * iss, sub, iat, exp, jti and aud must stand there with the right type. An nbf
 * in the future is refused too. PF_E_INPUT with *why, a constant that names the
 * claim ("exp is past", "jti missing"). The signature is the caller's matter.
 */
PF_MUST enum pf_rc pf_jwt_check(const struct pf_jws *jws,
    const struct pf_jwt_rules *rules, struct pf_claims *out, const char **why);
/*
 * A NumericDate (RFC 7519, 2) in whole seconds, rounded down or up: agents send
 * fractions too. PF_E_ABSENT; PF_E_INPUT: no number, negative or past 2^53.
 */
PF_MUST enum pf_rc pf_jwt_time(const struct pf_json *claims, const char *name,
    bool up, int64_t *out);
/* Does typ name this type? Without case, application/ optional. */
bool pf_jwt_typ_is(struct pf_str typ, const char *want);

#endif
