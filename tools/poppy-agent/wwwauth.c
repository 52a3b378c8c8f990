#include "config.h"

#include "tools/poppy-agent/wwwauth.h"

#include <string.h>

/* tchar of RFC 9110, 5.6.2 */
static bool
is_token_char(char c)
{
	return pf_is_alpha(c) || pf_is_digit(c) ||
	    (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static void
skip(struct pf_str *s, bool commas)
{
	while (s->n > 0 && (s->p[0] == ' ' || s->p[0] == '\t' ||
	    (commas && s->p[0] == ',')))
		*s = pf_str_from(*s, 1);
}

static struct pf_str
take_token(struct pf_str *s)
{
	struct pf_str t;
	size_t n = 0;

	while (n < s->n && is_token_char(s->p[n]))
		n++;
	t = pf_str_head(*s, n);
	*s = pf_str_from(*s, n);
	return t;
}

static enum pf_rc
take_quoted(struct pf_arena *a, struct pf_str *s, struct pf_str *out)
{
	char *p = pf_arena_alloc(a, s->n + 1);
	size_t n = 0, i;

	if (p == NULL)
		return PF_E_MEM;
	for (i = 1; i < s->n && s->p[i] != '"'; i++) {
		if (s->p[i] == '\\' && ++i == s->n)
			return PF_E_INPUT;
		p[n++] = s->p[i];
	}
	if (i >= s->n)
		return PF_E_INPUT;
	*s = pf_str_from(*s, i + 1);
	*out = pf_bytes(p, n);
	return PF_OK;
}

/* "name = value" or "name = "value""; s stands behind the name. */
static enum pf_rc
take_value(struct pf_arena *a, struct pf_str *s, struct pf_str *out)
{
	skip(s, false);
	if (s->n == 0 || s->p[0] != '=')
		return PF_E_INPUT;
	*s = pf_str_from(*s, 1);
	skip(s, false);
	if (s->n > 0 && s->p[0] == '"')
		return take_quoted(a, s, out);
	*out = take_token(s);
	return out->n > 0 ? PF_OK : PF_E_INPUT;
}

static void
keep(struct ag_challenge *c, struct pf_str name, struct pf_str value)
{
	struct { const char *name; struct pf_str *to; } known[] = {
		{ "error", &c->error },
		{ "error_description", &c->description },
		{ "scope", &c->scope },
		{ "algs", &c->algs },
	};

	for (size_t i = 0; i < PF_COUNT(known); i++)
		if (pf_str_eq_nocase(name, pf_str(known[i].name)) &&
		    !pf_str_given(*known[i].to))
			*known[i].to = value;
}

/* Is what follows a token a parameter's '='? "==" is token68 padding. */
static bool
is_param(struct pf_str s)
{
	skip(&s, false);
	if (s.n == 0 || s.p[0] != '=')
		return false;
	s = pf_str_from(s, 1);
	skip(&s, false);
	return s.n > 0 && s.p[0] != '=' && s.p[0] != ',';
}

enum pf_rc
ag_challenge_parse(struct pf_arena *a, struct pf_str h, const char *scheme,
    struct ag_challenge *out)
{
	struct pf_str name, value;
	bool ours = false, found = false;
	enum pf_rc rc;

	memset(out, 0, sizeof(*out));
	for (skip(&h, true); h.n > 0; skip(&h, true)) {
		name = take_token(&h);
		if (name.n == 0)
			return PF_E_INPUT;
		if (!is_param(h)) {
			/* a scheme; "Negotiate abc==" has token68 behind it */
			if (h.n > 0 && h.p[0] == '=')
				h = pf_str_from(h, pf_str_find(h, ','));
			ours = !found && pf_str_eq_nocase(name, pf_str(scheme));
			found = found || ours;
			continue;
		}
		if ((rc = take_value(a, &h, &value)) != PF_OK)
			return rc;
		if (ours)
			keep(out, name, value);
	}
	return found ? PF_OK : PF_E_ABSENT;
}
