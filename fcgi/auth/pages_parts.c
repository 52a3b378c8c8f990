/*
 * Agents, scopes, codes and places, as pages show and forms send them: see
 * pages.h.
 */
#include "fcgi/auth/pages.h"

#include "core/poppy/scope.h"
#include "core/store/token.h"
#include "core/web/url.h"

#define CODE_LETTERS	8
#define SCOPE_VARS	5
#define ID_MAX		16

enum pf_rc
auth_agent_of(struct pf_req *rq, struct pf_str client_id, struct pf_str name,
    struct pf_str logo, struct auth_agent *out)
{
	struct pf_url u;
	struct pf_buf b;
	enum pf_rc rc;

	*out = (struct auth_agent){ .name = name, .logo = logo };
	if (pf_url_parse(client_id, &u) != PF_OK)
		return PF_E_BUG;
	pf_buf_init(&b, rq->arena, 512);
	pf_buf_add(&b, u.host);
	if (u.port_given && u.port != 443)
		pf_buf_fmt(&b, ":%d", u.port);
	if ((rc = pf_buf_done(&b, &out->host)) != PF_OK)
		return rc;
	if (out->name.n == 0)
		out->name = out->host;
	out->initial = pf_pages_initial(out->name);
	return PF_OK;
}

static enum pf_rc
scope_row(struct auth_page *p, struct pf_str scope, size_t i, struct pf_var *v)
{
	struct pf_str title, text, id;
	struct pf_buf b;
	enum pf_rc rc;

	pf_pages_scope(&pf_app(p->rq)->set, p->lang, scope, &title, &text);
	pf_buf_init(&b, p->rq->arena, ID_MAX);
	pf_buf_fmt(&b, "scope-%zu", i);
	if ((rc = pf_buf_done(&b, &id)) != PF_OK)
		return rc;
	v[0] = (struct pf_var)PF_VAR("id", id);
	v[1] = (struct pf_var)PF_VAR("scope", scope);
	v[2] = (struct pf_var)PF_VAR("title", title);
	v[3] = (struct pf_var)PF_VAR("text", text);
	v[4] = (struct pf_var)PF_VAR_IF("checked", true);
	return PF_OK;
}

static size_t
count_scopes(struct pf_str list)
{
	struct pf_str one;
	size_t n = 0;

	while (pf_str_cut(&list, ' ', &one))
		n += one.n > 0;
	return n;
}

enum pf_rc
auth_scope_rows(struct auth_page *p, struct pf_str scopes,
    struct pf_vars **rows, size_t *n)
{
	size_t count = count_scopes(scopes);
	struct pf_str one;
	struct pf_var *v;
	enum pf_rc rc;

	*n = 0;
	*rows = pf_arena_alloc(p->rq->arena, count * sizeof(**rows));
	v = pf_arena_alloc(p->rq->arena, count * SCOPE_VARS * sizeof(*v));
	if (*rows == NULL || v == NULL)
		return PF_E_MEM;
	while (pf_str_cut(&scopes, ' ', &one)) {
		if (one.n == 0)
			continue;
		if ((rc = scope_row(p, one, *n, v)) != PF_OK)
			return rc;
		(*rows)[(*n)++] = (struct pf_vars){ v, SCOPE_VARS, NULL };
		v += SCOPE_VARS;
	}
	return PF_OK;
}

/* What is no scope is left out; the request says which may be granted. */
struct pf_str
auth_scopes_ticked(struct auth_page *p)
{
	struct pf_str list;
	struct pf_buf b;

	pf_buf_init(&b, p->rq->arena, 8192);
	for (size_t i = 0; i < p->form.n; i++)
		if (pf_str_eqz(p->form.name[i], "scope") &&
		    pf_scope_token(p->form.value[i]))
			pf_scope_add(&b, p->form.value[i]);
	if (pf_buf_done(&b, &list) != PF_OK)
		return PF_NOSTR;
	return pf_str_given(list) ? list : PF_LIT("");
}

enum pf_rc
auth_user_code(struct pf_req *rq, struct pf_str typed, struct pf_str *shown,
    struct pf_str *bare)
{
	char c, code[CODE_LETTERS];
	struct pf_buf b;
	size_t n = 0;

	for (size_t i = 0; i < typed.n; i++) {
		c = pf_lower(typed.p[i]);
		if (c == '-' || c == ' ')
			continue;
		if (c < 'a' || c > 'z' || n == CODE_LETTERS)
			return PF_E_INPUT;
		code[n++] = (char)(c - 'a' + 'A');
	}
	if (n != CODE_LETTERS)
		return PF_E_INPUT;
	*bare = pf_arena_copy(rq->arena, pf_bytes(code, n));
	pf_buf_init(&b, rq->arena, CODE_LETTERS + 1);
	pf_buf_add(&b, pf_str_head(*bare, CODE_LETTERS / 2));
	pf_buf_char(&b, '-');
	pf_buf_add(&b, pf_str_from(*bare, CODE_LETTERS / 2));
	return bare->p == NULL ? PF_E_MEM : pf_buf_done(&b, shown);
}

struct pf_str
auth_page_next(struct pf_req *rq, struct pf_str raw)
{
	static const struct pf_str consent = PF_LIT_INIT("consent/");
	static const struct pf_str device = PF_LIT_INIT("device?user_code=");
	struct pf_str shown, bare, next;
	struct pf_buf b;

	if (pf_str_starts(raw, consent) && pf_token_parse("prq_",
	    pf_str_from(raw, consent.n), NULL) == PF_OK)
		return raw;
	if (pf_str_eqz(raw, "device"))
		return raw;
	if (!pf_str_starts(raw, device))
		return PF_LIT("agents");
	if (auth_user_code(rq, pf_str_from(raw, device.n), &shown, &bare) !=
	    PF_OK)
		return PF_LIT("device");
	pf_buf_init(&b, rq->arena, 64);
	pf_buf_add(&b, device);
	pf_buf_add(&b, shown);
	return pf_buf_done(&b, &next) == PF_OK ? next : PF_NOSTR;
}

static void
add_parameter(struct pf_buf *b, const char *name, struct pf_str value)
{
	struct pf_str so_far = pf_buf_str(b);
	char last = so_far.n > 0 ? so_far.p[so_far.n - 1] : '?';

	if (!pf_str_has(so_far, '?'))
		pf_buf_char(b, '?');
	else if (last != '?' && last != '&')
		pf_buf_char(b, '&');
	pf_buf_addz(b, name);
	pf_buf_char(b, '=');
	pf_url_escape(b, value);
}

enum pf_rc
auth_redirect(struct pf_req *rq, struct pf_str redirect_uri, const char *name,
    struct pf_str value, const char *description, struct pf_str state)
{
	struct pf_str url;
	struct pf_buf b;
	enum pf_rc rc;

	pf_buf_init(&b, rq->arena, 14u << 10);
	pf_buf_add(&b, redirect_uri);
	add_parameter(&b, name, value);
	if (description != NULL)
		add_parameter(&b, "error_description", pf_str(description));
	if (pf_str_given(state))
		add_parameter(&b, "state", state);
	add_parameter(&b, "iss", pf_app(rq)->set.issuer);
	if ((rc = pf_buf_done(&b, &url)) != PF_OK)
		return rc;
	pf_resp_header(rq, "Location", url);
	pf_resp_header(rq, "Cache-Control", PF_LIT("no-store"));
	/* Nothing of ours is to be seen there, least of all the code. */
	pf_resp_header(rq, "Referrer-Policy", PF_LIT("no-referrer"));
	return pf_resp_empty(rq, 303);
}
