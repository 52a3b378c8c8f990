#include "config.h"

#include "tools/poppy-agent/check_person.h"

#include "core/web/url.h"

#define PAGE_MAX	(1u << 20)
#define FORM_MAX	65536
#define HOPS_MAX	10

static void
keep_cookie(struct ck_person *p, struct pf_str set)
{
	struct pf_str one = pf_str_head(set, pf_str_find(set, ';'));
	size_t mark = pf_str_find(one, '='), i;

	for (i = 0; i < p->ncookies; i++)
		if (pf_str_eq(p->cookie[i].name, pf_str_head(one, mark)))
			break;
	if (mark == one.n || i == CK_COOKIES_MAX)
		return;
	p->cookie[i].name = pf_str_head(one, mark);
	p->cookie[i].value = pf_str_from(one, mark + 1);
	if (i == p->ncookies)
		p->ncookies++;
}

static struct pf_str
cookies(const struct ck_person *p)
{
	struct pf_buf b;

	pf_buf_init(&b, &p->ck->ag->arena, 16384);
	for (size_t i = 0; i < p->ncookies; i++) {
		if (p->cookie[i].value.n == 0)
			continue;
		if (b.n > 0)
			pf_buf_addz(&b, "; ");
		pf_buf_add(&b, p->cookie[i].name);
		pf_buf_char(&b, '=');
		pf_buf_add(&b, p->cookie[i].value);
	}
	return pf_buf_str(&b);
}

/* One request; body PF_NOSTR: GET. */
static enum pf_rc
send(struct ck_person *p, struct pf_str url, struct pf_str body)
{
	struct agent *ag = p->ck->ag;
	struct pf_str origin = PF_NOSTR;
	const struct ag_field all[] = {
		{ PF_LIT("Cookie"), cookies(p) },
		{ PF_LIT("Content-Type"),
		    PF_LIT("application/x-www-form-urlencoded") },
		{ PF_LIT("Origin"), ag_origin(&ag->arena, url, &origin) ==
		    PF_OK ? origin : PF_LIT("null") },
	};
	struct ag_field field[PF_COUNT(all)];
	struct ag_request rq = {
		.method = pf_str_given(body) ? "POST" : "GET", .url = url,
		.field = field, .body = body, .max = PAGE_MAX,
	};
	enum pf_rc rc;

	for (size_t i = 0; i < PF_COUNT(all); i++)
		if ((i == 0 && all[0].value.n > 0) ||
		    (i > 0 && pf_str_given(body)))
			field[rq.nfields++] = all[i];
	p->url = url;
	p->away = PF_NOSTR;
	if ((rc = ag_http_send(ag, &rq, &p->page)) != PF_OK)
		return rc;
	for (size_t i = 0; ; i++) {
		struct pf_str set = ag_reply_field(&p->page, "set-cookie", i);

		if (!pf_str_given(set))
			return PF_OK;
		keep_cookie(p, set);
	}
}

/* Does a URL stay with the Company's sign-in pages? */
static bool
at_home(struct ck_person *p, struct pf_str url)
{
	struct pf_str here, there;
	struct pf_arena *a = &p->ck->ag->arena;

	return ag_origin(a, p->ck->company->authorization_endpoint, &here) ==
	    PF_OK && ag_origin(a, url, &there) == PF_OK &&
	    pf_str_eq(here, there);
}

static enum pf_rc
follow(struct ck_person *p, struct pf_str url, struct pf_str body)
{
	struct pf_str to;
	enum pf_rc rc;

	for (int i = 0; i < HOPS_MAX; i++) {
		if ((rc = send(p, url, body)) != PF_OK)
			return rc;
		to = ag_reply_field(&p->page, "location", 0);
		if (p->page.status < 300 || p->page.status > 399 ||
		    !pf_str_given(to))
			return PF_OK;
		rc = ag_url_resolve(&p->ck->ag->arena, url, to, &url);
		if (rc != PF_OK)
			return rc;
		if (!at_home(p, url)) {
			p->away = to;
			return PF_OK;
		}
		body = PF_NOSTR;
	}
	return ag_fault(&p->ck->ag->fault, PF_E_UPSTREAM, NULL,
	    "the pages redirect round in circles");
}

enum pf_rc
ck_person_open(struct ck_person *p, struct pf_str url)
{
	return follow(p, url, PF_NOSTR);
}

static void
pair(struct pf_buf *b, struct pf_str name, struct pf_str value)
{
	if (b->n > 0)
		pf_buf_char(b, '&');
	pf_url_escape(b, name);
	pf_buf_char(b, '=');
	pf_url_escape(b, value);
}

static void
hidden(struct pf_buf *b, const struct ag_form *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (pf_str_eqz(f->input[i].type, "hidden"))
			pair(b, f->input[i].name, f->input[i].value);
}

static enum pf_rc
submit(struct ck_person *p, const struct ag_form *f, struct pf_buf *b)
{
	struct pf_str url = p->url, body;
	enum pf_rc rc;

	if (pf_str_given(f->action) && (rc = ag_url_resolve(
	    &p->ck->ag->arena, p->url, f->action, &url)) != PF_OK)
		return rc;
	if (!at_home(p, url))
		return ag_fault(&p->ck->ag->fault, PF_E_UPSTREAM, NULL,
		    "a form that leads elsewhere");
	if ((rc = pf_buf_done(b, &body)) != PF_OK)
		return rc;
	return follow(p, url, body);
}

/* The form that asks to allow or decline. */
static bool
asks(struct ck_person *p, struct ag_form *f)
{
	size_t at = 0;

	while (ag_html_form(&p->ck->ag->arena, p->page.body, &at, f))
		for (size_t i = 0; i < f->n; i++)
			if (pf_str_eqz(f->input[i].value, "decline"))
				return true;
	return false;
}

static bool
wants_password(struct ck_person *p, struct ag_form *f)
{
	size_t at = 0;

	while (ag_html_form(&p->ck->ag->arena, p->page.body, &at, f))
		if (ag_form_typed(f, "password") != NULL &&
		    ag_form_typed(f, "text") != NULL)
			return true;
	return false;
}

enum pf_rc
ck_person_login(struct ck_person *p)
{
	const struct ck *ck = p->ck;
	struct ag_form f;
	struct pf_buf b;
	enum pf_rc rc;

	if (asks(p, &f))
		return PF_OK;
	if (!wants_password(p, &f))
		return ag_fault(&p->ck->ag->fault, PF_E_ABSENT, NULL,
		    "status %d: neither a login page nor one that asks",
		    p->page.status);
	pf_buf_init(&b, &p->ck->ag->arena, FORM_MAX);
	hidden(&b, &f);
	pair(&b, ag_form_typed(&f, "text")->name, ck->login);
	pair(&b, ag_form_typed(&f, "password")->name, ck->password);
	if ((rc = submit(p, &f, &b)) != PF_OK)
		return rc;
	return asks(p, &f) ? PF_OK : ag_fault(&p->ck->ag->fault, PF_E_ABSENT,
	    NULL, "status %d behind the login: is the password of --login "
	    "right?", p->page.status);
}

enum pf_rc
ck_person_decide(struct ck_person *p, bool approve, size_t without)
{
	struct ag_form f;
	struct pf_buf b;

	if (!asks(p, &f))
		return ag_fault(&p->ck->ag->fault, PF_E_ABSENT, NULL,
		    "status %d: no page that asks", p->page.status);
	pf_buf_init(&b, &p->ck->ag->arena, FORM_MAX);
	hidden(&b, &f);
	for (size_t i = 0; i < f.n; i++) {
		const struct ag_input *in = &f.input[i];
		bool declines = pf_str_eqz(in->value, "decline");

		if (pf_str_eqz(in->type, "checkbox") && without > 0)
			without--;
		else if (pf_str_eqz(in->type, "checkbox") || (pf_str_eqz(
		    in->type, "submit") && declines == !approve))
			pair(&b, in->name, in->value);
	}
	return submit(p, &f, &b);
}
