/*
 * call METHOD URL: one request to an API, its body to standard output.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/call.h"
#include "tools/poppy-agent/discover.h"

#define DATA_MAX	(1u << 20)

static enum pf_rc
refuse(struct agent *ag, const char *what, const char *which)
{
	ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
	return ag_fault(&ag->fault, PF_E_INPUT, NULL, "%s: %s", which, what);
}

static bool
is_method(const char *m)
{
	size_t n = strlen(m);

	return n > 0 && n <= 16 &&
	    strspn(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == n;
}

/* What the agent itself must say, or what would make the message another. */
static bool
is_ours(struct pf_str name)
{
	static const char *const ours[] = {
		"Authorization", "DPoP", "Host", "Content-Length",
		"Transfer-Encoding", "Connection", "Expect"
	};

	for (size_t i = 0; i < PF_COUNT(ours); i++)
		if (pf_str_eq_nocase(name, pf_str(ours[i])))
			return true;
	return false;
}

static enum pf_rc
read_header(struct agent *ag, const char *text, struct ag_field *out)
{
	struct pf_str s = pf_str(text);
	size_t colon = pf_str_find(s, ':');

	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f ||
		    (i < colon && (s.p[i] == ' ' || s.p[i] == '"')))
			return refuse(ag, "is no header field", text);
	if (colon == 0 || colon == s.n)
		return refuse(ag, "must be \"Name: value\"", text);
	out->name = pf_str_head(s, colon);
	out->value = pf_str_trim(pf_str_from(s, colon + 1));
	if (is_ours(out->name))
		return refuse(ag, "is set by the agent itself", text);
	return PF_OK;
}

static enum pf_rc
read_data(struct agent *ag, struct pf_str *out)
{
	const char *name = ag->opt.data;
	FILE *f = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
	char *p = pf_arena_alloc(&ag->arena, DATA_MAX + 1);
	size_t n;
	bool failed;

	if (f == NULL)
		return refuse(ag, strerror(errno), name);
	n = p == NULL ? 0 : fread(p, 1, DATA_MAX + 1, f);
	failed = p == NULL || ferror(f) != 0;
	if (f != stdin)
		fclose(f);
	if (failed)
		return refuse(ag, "can't be read", name);
	if (n > DATA_MAX)
		return refuse(ag, "is larger than 1 MiB", name);
	*out = pf_bytes(p, n);
	return PF_OK;
}

static enum pf_rc
read_call(struct agent *ag, struct ag_field *field, struct ag_call *call)
{
	bool typed = false;
	enum pf_rc rc;

	*call = (struct ag_call){
		.method = ag->opt.arg[0], .url = pf_str(ag->opt.arg[1]),
		.field = field,
	};
	if (!is_method(call->method))
		return refuse(ag, "is no method (GET, POST, ...)",
		    call->method);
	for (size_t i = 0; i < ag->opt.nheaders; i++) {
		rc = read_header(ag, ag->opt.header[i], &field[i]);
		if (rc != PF_OK)
			return rc;
		typed = typed || pf_str_eq_nocase(field[i].name,
		    PF_LIT("Content-Type"));
		call->nfields++;
	}
	if (ag->opt.data == NULL)
		return PF_OK;
	if (!typed)
		field[call->nfields++] = (struct ag_field){
		    PF_LIT("Content-Type"), PF_LIT("application/json") };
	return read_data(ag, &call->body);
}

/* The one place whose documents name the URL's host; --company decides where
 * two Companies name the same. */
static enum pf_rc
find_place(struct agent *ag, struct pf_str url, struct ag_place **out)
{
	struct pf_str company = pf_str(ag->opt.company);

	*out = NULL;
	for (struct ag_place *p = ag->st.places; p != NULL; p = p->next) {
		if (!ag_place_covers(ag, p, url) || (pf_str_given(company) &&
		    !pf_str_eq(p->domain, company)))
			continue;
		if (*out != NULL && !pf_str_eq((*out)->issuer, p->issuer))
			return refuse(ag, "several Companies name this host: "
			    "say which with --company DOMAIN",
			    ag->opt.arg[1]);
		if (*out == NULL)
			*out = p;
	}
	if (*out == NULL)
		return refuse(ag, "is at no host that the documents of a "
		    "known Company name, so no token goes there; run "
		    "\"poppy-agent discover DOMAIN\" (or visit, which reads "
		    "its API descriptions) first", ag->opt.arg[1]);
	return PF_OK;
}

static enum pf_rc
prepare(struct agent *ag, struct pf_str url, struct ag_company **c)
{
	struct ag_place *place;
	enum pf_rc rc;

	if ((rc = ag_call_check(ag, url)) != PF_OK ||
	    (rc = find_place(ag, url, &place)) != PF_OK)
		return rc;
	ag_step_begin(&ag->show, "discover", "Discovery");
	ag->show.aside = true;
	rc = ag_discover(ag, pf_arena_z(&ag->arena, place->domain), true, c);
	if ((rc = ag_step_end(&ag->show, rc, &ag->fault)) != PF_OK)
		return rc;
	/* The documents may have changed since. */
	place = ag_state_place(ag, (*c)->asked);
	if (place == NULL || !ag_place_covers(ag, place, url))
		return refuse(ag, "is at a host that the Company's documents "
		    "no longer name", ag->opt.arg[1]);
	return PF_OK;
}

static void
put_body(struct agent *ag, struct pf_str body)
{
	struct pf_buf b;

	if (!isatty(STDOUT_FILENO)) {
		fwrite(body.p, 1, body.n, stdout);
		return;
	}
	pf_buf_init(&b, &ag->arena, 32u << 20);
	ag_escape(&b, body, true);
	printf("%.*s\n", PF_STRF(pf_buf_str(&b)));
}

enum pf_rc
ag_cmd_call(struct agent *ag)
{
	struct ag_field field[AG_HEADERS_MAX + 1];
	struct pf_str session = pf_str(ag->opt.session);
	struct ag_company *c;
	struct ag_reply rp;
	struct ag_call call;
	enum pf_rc rc;

	/* Standard output is the body's. */
	ag->show.out = stderr;
	if ((rc = read_call(ag, field, &call)) != PF_OK ||
	    (rc = prepare(ag, call.url, &c)) != PF_OK)
		return rc;
	ag_step_begin(&ag->show, "call", "Call");
	rc = ag_call_send(ag, c, &session, &call, &rp);
	if (rp.status != 0) {
		ag_show_fact_int(&ag->show, "status", rp.status);
		if (ag->show.json)
			ag_show_fact(&ag->show, "body", rp.body);
	}
	rc = ag_step_end(&ag->show, rc, &ag->fault);
	if (rp.status != 0 && !ag->show.json)
		put_body(ag, rp.body);
	return rc;
}
