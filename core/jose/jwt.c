#include "core/jose/jwt.h"
#include "core/jose/why.h"

/* Past this a double has no whole seconds; no sum of ours overflows below. */
#define TIME_MAX	((int64_t)1 << 53)

bool
pf_jwt_typ_is(struct pf_str typ, const char *want)
{
	const struct pf_str tree = PF_LIT("application/");

	if (pf_str_eq_nocase(pf_str_head(typ, tree.n), tree))
		typ = pf_str_from(typ, tree.n);
	return pf_str_eq_nocase(typ, pf_str(want));
}

/* These mean something else, wherever a type is free. */
static enum pf_rc
check_typ(struct pf_str typ, const char *want, const char **why)
{
	if (want != NULL)
		return pf_jwt_typ_is(typ, want) ? PF_OK :
		    pf_refuse(why, "typ is another one");
	if (pf_jwt_typ_is(typ, "dpop+jwt") ||
	    pf_jwt_typ_is(typ, "poppy-browser+jwt"))
		return pf_refuse(why, "typ belongs to another use");
	return PF_OK;
}

static enum pf_rc
text_of(const struct pf_json *claims, const char *name, struct pf_str *out,
    const char *missing, const char *bad, const char **why)
{
	enum pf_rc rc = pf_json_str(claims, name, out);

	if (rc == PF_E_ABSENT)
		return pf_refuse(why, missing);
	if (rc != PF_OK || out->n == 0)
		return pf_refuse(why, bad);
	return PF_OK;
}

enum pf_rc
pf_jwt_time(const struct pf_json *claims, const char *name, bool up,
    int64_t *out)
{
	enum pf_rc rc;
	double v;

	if ((rc = pf_json_int(claims, name, out)) == PF_E_INPUT) {
		if ((rc = pf_json_num(claims, name, &v)) != PF_OK)
			return rc;
		if (!(v >= 0 && v <= (double)TIME_MAX))
			return PF_E_INPUT;
		*out = (int64_t)v;
		if (up && (double)*out < v)
			(*out)++;
	}
	if (rc != PF_OK)
		return rc;
	return *out >= 0 && *out <= TIME_MAX ? PF_OK : PF_E_INPUT;
}

static enum pf_rc
time_of(const struct pf_json *claims, const char *name, bool up, int64_t *out,
    const char *missing, const char *bad, const char **why)
{
	enum pf_rc rc = pf_jwt_time(claims, name, up, out);

	if (rc == PF_E_ABSENT)
		return pf_refuse(why, missing);
	return rc == PF_OK ? PF_OK : pf_refuse(why, bad);
}

/* In fractions, where an agent's clock has them, so that 60 s from one moment to
 * another are not 61 by rounding; they come to us within a microsecond. */
static bool
outlives(const struct pf_json *claims, int64_t max_life)
{
	double iat, exp;

	return pf_json_num(claims, "iat", &iat) != PF_OK ||
	    pf_json_num(claims, "exp", &exp) != PF_OK ||
	    exp - iat > (double)max_life + 1e-5;
}

static enum pf_rc
check_times(const struct pf_jws *jws, const struct pf_jwt_rules *r,
    struct pf_claims *c, const char **why)
{
	enum pf_rc rc;
	int64_t nbf;

	rc = time_of(jws->claims, "iat", false, &c->iat, "iat missing",
	    "iat is not a time", why);
	if (rc != PF_OK)
		return rc;
	rc = time_of(jws->claims, "exp", true, &c->exp, "exp missing",
	    "exp is not a time", why);
	if (rc != PF_OK)
		return rc;
	if (c->exp <= c->iat)
		return pf_refuse(why, "exp is not after iat");
	if (outlives(jws->claims, r->max_life))
		return pf_refuse(why, "exp is too long after iat");
	if (c->exp <= r->now_at - r->skew)
		return pf_refuse(why, "exp is past");
	if (c->iat > r->now_at + r->skew)
		return pf_refuse(why, "iat is in the future");
	if (!pf_json_has(jws->claims, "nbf"))
		return PF_OK;
	if (pf_jwt_time(jws->claims, "nbf", false, &nbf) != PF_OK)
		return pf_refuse(why, "nbf is not a time");
	if (nbf > r->now_at + r->skew)
		return pf_refuse(why, "nbf is in the future");
	return PF_OK;
}

static bool
meant(struct pf_str aud, const struct pf_jwt_rules *r)
{
	for (size_t i = 0; i < r->naud; i++)
		if (pf_str_eq(aud, r->aud[i]))
			return true;
	return false;
}

static enum pf_rc
check_list(const struct pf_json *list, const struct pf_jwt_rules *r,
    const char **why)
{
	struct pf_str aud;
	bool ok = false;

	for (size_t i = 0; i < pf_json_len(list); i++) {
		if (pf_json_as_str(pf_json_at(list, i), &aud) != PF_OK)
			return pf_refuse(why, "aud holds something else than "
			    "strings");
		ok = ok || meant(aud, r);
	}
	return ok ? PF_OK : pf_refuse(why, "aud is not the endpoint's URL");
}

static enum pf_rc
check_aud(const struct pf_jws *jws, const struct pf_jwt_rules *r,
    const char **why)
{
	const struct pf_json *list;
	struct pf_str one;
	enum pf_rc rc;

	rc = pf_json_str(jws->claims, "aud", &one);
	if (rc == PF_E_ABSENT)
		return pf_refuse(why, "aud missing");
	if (rc == PF_OK)
		return meant(one, r) ? PF_OK :
		    pf_refuse(why, "aud is not the endpoint's URL");
	if (pf_json_arr(jws->claims, "aud", &list) != PF_OK)
		return pf_refuse(why, "aud is neither string nor array");
	if (r->aud_single)
		return pf_refuse(why, "aud must be a single string");
	return check_list(list, r, why);
}

static enum pf_rc
check_jti(struct pf_str jti, const struct pf_jwt_rules *r, const char **why)
{
	if (jti.n < r->jti_min)
		return pf_refuse(why, "jti is too short");
	if (jti.n > r->jti_max)
		return pf_refuse(why, "jti is too long");
	for (size_t i = 0; i < jti.n; i++)
		if (jti.p[i] < 0x20 || jti.p[i] > 0x7e)
			return pf_refuse(why, "jti is not printable ASCII");
	return PF_OK;
}

enum pf_rc
pf_jwt_check(const struct pf_jws *jws, const struct pf_jwt_rules *rules,
    struct pf_claims *out, const char **why)
{
	enum pf_rc rc;

	*out = (struct pf_claims){ 0 };
	*why = "";
	if ((rc = check_typ(jws->typ, rules->typ, why)) != PF_OK)
		return rc;
	rc = text_of(jws->claims, "iss", &out->iss, "iss missing",
	    "iss is not a string", why);
	if (rc != PF_OK)
		return rc;
	rc = text_of(jws->claims, "sub", &out->sub, "sub missing",
	    "sub is not a string", why);
	if (rc != PF_OK)
		return rc;
	if ((rc = check_aud(jws, rules, why)) != PF_OK)
		return rc;
	rc = text_of(jws->claims, "jti", &out->jti, "jti missing",
	    "jti is not a string", why);
	if (rc != PF_OK)
		return rc;
	if ((rc = check_jti(out->jti, rules, why)) != PF_OK)
		return rc;
	return check_times(jws, rules, out, why);
}
