/*
 * Mediated Sign-In (4.7): the User's credentials, and a one-time code if the
 * Company asks for one. They are typed for this one request, sent to the
 * Company's endpoint alone, and neither kept nor shown.
 */
#include "config.h"

#include "tools/poppy-agent/signin.h"

#include "core/web/url.h"
#include "tools/poppy-agent/call.h"

#define BODY_MAX	65536
#define TRIES_MAX	20

static const struct pf_json_limits limits = { BODY_MAX, 8, 1000 };

struct mediated {
	const struct ag_signin *signin;
	struct pf_str session;
	struct pf_str status;
	const struct pf_json *doc;
};

static enum pf_rc
post(struct agent *ag, struct mediated *m, struct pf_str url,
    struct pf_str body)
{
	const struct ag_field field[] = {
		{ PF_LIT("Content-Type"), PF_LIT("application/json") },
		{ PF_LIT("Accept"), PF_LIT("application/json") },
	};
	const struct ag_call call = {
		"POST", url, field, PF_COUNT(field), body
	};
	struct ag_reply rp;
	enum pf_rc rc;

	rc = ag_call_send(ag, m->signin->company, &m->session, &call, &rp);
	if (rc != PF_OK)
		return rc;
	if (pf_json_parse(&ag->arena, rp.body, &limits, &m->doc, NULL) !=
	    PF_OK || pf_json_str(m->doc, "status", &m->status) != PF_OK)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.7-4",
		    "a reply without a status");
	ag_show_fact(&ag->show, "status", m->status);
	return PF_OK;
}

static enum pf_rc
ask_field(struct agent *ag, struct pf_jw *w, const struct pf_json *field)
{
	struct pf_str name, label, value;
	bool secret = true;
	struct pf_buf b;
	enum pf_rc rc;

	if (pf_json_str(field, "name", &name) != PF_OK ||
	    pf_json_str(field, "label", &label) != PF_OK ||
	    pf_json_bool(field, "secret", &secret) != PF_OK)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-3.1-9",
		    "a field without name, label and secret");
	pf_buf_init(&b, &ag->arena, 1024);
	ag_escape(&b, pf_str_head(label, 200), false);
	pf_buf_addz(&b, ": ");
	rc = ag_read_line(ag, pf_arena_z(&ag->arena, pf_buf_str(&b)), secret,
	    &value);
	if (rc != PF_OK)
		return rc;
	pf_jw_str(w, pf_arena_z(&ag->arena, name), value);
	return PF_OK;
}

static enum pf_rc
write_credentials(struct agent *ag, const struct ag_signin *s,
    struct pf_str *out)
{
	const struct pf_json *fields = s->company->mediated_fields;
	struct pf_buf b;
	struct pf_jw w;
	enum pf_rc rc;

	if (pf_json_len(fields) == 0)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-3.1-9",
		    "auth.mediated without fields");
	pf_buf_init(&b, &ag->arena, BODY_MAX);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "scope", s->scope);
	pf_jw_open(&w, "credentials", '{');
	for (size_t i = 0; i < pf_json_len(fields); i++)
		if ((rc = ask_field(ag, &w, pf_json_at(fields, i))) != PF_OK)
			return rc;
	pf_jw_close(&w, '}');
	pf_jw_close(&w, '}');
	return pf_buf_done(&b, out);
}

static enum pf_rc
code_url(struct agent *ag, const struct mediated *m, struct pf_str *out)
{
	struct pf_str id;
	struct pf_buf b;

	if (pf_json_str(m->doc, "sign_in_id", &id) != PF_OK || id.n == 0)
		return ag_fault(&ag->fault, PF_E_UPSTREAM, "R-4.7-5",
		    "code_required without a sign_in_id");
	pf_buf_init(&b, &ag->arena, 4096);
	pf_buf_add(&b, m->signin->company->mediated_endpoint);
	pf_buf_char(&b, '/');
	pf_url_escape(&b, id);
	return pf_buf_done(&b, out);
}

static enum pf_rc
send_code(struct agent *ag, struct mediated *m)
{
	const struct pf_json *told;
	struct pf_str sent_to = PF_NOSTR, url, code, body;
	struct pf_buf b;
	struct pf_jw w;
	enum pf_rc rc;

	if ((rc = code_url(ag, m, &url)) != PF_OK)
		return rc;
	if (pf_json_obj(m->doc, "code", &told) != PF_OK ||
	    pf_json_str(told, "sent_to", &sent_to) != PF_OK)
		ag_show_note(&ag->show, "code.sent_to is missing (R-4.7-5)");
	pf_buf_init(&b, &ag->arena, 4096);
	ag_escape(&b, pf_str_head(sent_to, 300), false);
	ag_show_now(&ag->show, "a code was sent: %.*s",
	    PF_STRF(pf_buf_str(&b)));
	if ((rc = ag_read_line(ag, "Code: ", false, &code)) != PF_OK)
		return rc;
	pf_buf_init(&b, &ag->arena, 4096);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	pf_jw_str(&w, "code", code);
	pf_jw_close(&w, '}');
	if ((rc = pf_buf_done(&b, &body)) != PF_OK)
		return rc;
	return post(ag, m, url, body);
}

enum pf_rc
ag_signin_mediated(struct agent *ag, const struct ag_signin *s)
{
	struct mediated m = { .signin = s, .session = s->session_id };
	struct pf_str body;
	enum pf_rc rc;

	if ((rc = write_credentials(ag, s, &body)) != PF_OK ||
	    (rc = post(ag, &m, s->company->mediated_endpoint, body)) != PF_OK)
		return rc;
	for (int i = 0; i < TRIES_MAX &&
	    pf_str_eqz(m.status, "code_required"); i++)
		if ((rc = send_code(ag, &m)) != PF_OK)
			return rc;
	if (pf_str_eqz(m.status, "complete"))
		return ag_signin_take(ag, s, m.doc);
	return ag_fault(&ag->fault, PF_E_AUTH, NULL, "status %.*s",
	    PF_STRF(m.status));
}
