/*
 * Settings of Mediated Sign-In, and of how one-time codes are sent.
 */
#include "core/poppy/settings_in.h"

#include "core/poppy/send_code.h"
#include "core/web/url.h"

#define ARGS_MAX	16

static const char *
check_to(struct pf_str s)
{
	return pf_str_eqz(s, "email") || pf_str_eqz(s, "phone") ? NULL :
	    "must be \"email\" or \"phone\"";
}

/* Scheme, host and port alone. */
static const char *
check_smtp(struct pf_str s)
{
	static const char why[] = "must be smtps://host[:port] or "
	    "smtp://host[:port]";
	struct pf_str host;
	size_t colon;
	int64_t port;

	if (s.n == 0)
		return NULL;
	if (pf_str_starts(s, PF_LIT("smtps://")))
		host = pf_str_from(s, 8);
	else if (pf_str_starts(s, PF_LIT("smtp://")))
		host = pf_str_from(s, 7);
	else
		return why;
	colon = host.n;
	while (colon > 0 && host.p[colon - 1] != ':' &&
	    host.p[colon - 1] != ']')
		colon--;
	if (colon > 0 && host.p[colon - 1] == ':') {
		if (pf_str_int(pf_str_from(host, colon), 1, 65535, &port) !=
		    PF_OK)
			return why;
		host = pf_str_head(host, colon - 1);
	}
	for (size_t i = 0; i < host.n; i++)
		if (!pf_is_alpha(host.p[i]) && !pf_is_digit(host.p[i]) &&
		    !pf_str_has(PF_LIT(".-[]:"), host.p[i]))
			return why;
	return host.n != 0 ? NULL : why;
}

static const char *
check_from(struct pf_str s)
{
	return s.n == 0 || pf_send_code_address(s) ? NULL :
	    "must be a mail address alone, such as shop@shop.example";
}

static const char *
check_pem(struct pf_str s)
{
	return s.n == 0 || s.p[0] == '/' ? NULL : "must begin with '/'";
}

static const char *
check_argument(struct pf_str s)
{
	return s.n != 0 ? NULL : "must not be empty";
}

static const char *
check_text(struct pf_str s)
{
	static const struct pf_str code = PF_LIT_INIT("{code}");

	for (size_t i = 0; i + code.n <= s.n; i++)
		if (pf_str_starts(pf_str_from(s, i), code))
			return NULL;
	return "must have {code} in it";
}

static const char *
check_field(struct pf_str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!pf_is_alpha(s.p[i]) && !pf_is_digit(s.p[i]) &&
		    s.p[i] != '_' && s.p[i] != '-')
			return "may have letters, digits, - and _";
	return NULL;
}

static const char *
check_code(struct pf_str s)
{
	return pf_str_eqz(s, "unusual") || pf_str_eqz(s, "always") ||
	    pf_str_eqz(s, "never") ? NULL :
	    "must be \"unusual\", \"always\" or \"never\"";
}

#define SM(m)	(PF_AT(codes.smtp.m) - PF_AT(codes.smtp))
static const struct pf_conf_key smtp_keys[] = {
	{ "url", PF_CONF_STR, SM(url), 0, 300, "\"\"",
	    "The mail server: smtps://host, or smtp://host, which must offer "
	    "STARTTLS unless it is localhost.", check_smtp, NULL },
	{ "from", PF_CONF_STR, SM(from), 0, 254, "\"\"",
	    "Address that codes come from.", check_from, NULL },
	{ "user", PF_CONF_STR, SM(user), 0, 255, "\"\"",
	    "Name at the mail server; \"\": without signing in.", NULL, NULL },
	{ "password_file", PF_CONF_STR, SM(password_file), 0, 64, "\"\"",
	    "File in the secrets folder with its password.", pf_check_file,
	    NULL },
	{ "ca_file", PF_CONF_STR, SM(ca_file), 0, 1000, "\"\"",
	    "PEM file of the authority of the mail server's certificate; "
	    "\"\": the system's.", check_pem, NULL },
};
static const struct pf_conf_table smtp_table = PF_TABLE(codes.smtp, smtp_keys);

#define CO(m)	(PF_AT(codes.m) - PF_AT(codes))
static const struct pf_conf_key codes_keys[] = {
	{ "", PF_CONF_LINE, CO(line), 0, 0, NULL, NULL, NULL, NULL },
	{ "command", PF_CONF_STRS, CO(command), 0, ARGS_MAX, "[]",
	    "Program and its arguments that send a message, which is on its "
	    "standard input.", check_argument, NULL },
	{ "timeout_ms", PF_CONF_INT, CO(timeout_ms), 100, 20000, "10000",
	    "How long sending may take.", NULL, NULL },
	{ "to", PF_CONF_STR, CO(to), 1, 10, "\"email\"",
	    "Where codes go: the customer's \"email\" or \"phone\".", check_to,
	    NULL },
	{ "subject", PF_CONF_STR, CO(subject), 1, 200,
	    "\"Your code for {shop}\"", "Subject of the message.", NULL, NULL },
	{ "text", PF_CONF_STR, CO(text), 1, 2000,
	    "\"Your code for {shop} is {code}.\\n\\n"
	    "{agent} is signing in to your account for you and will ask for "
	    "it. It can be used for {minutes} minutes. If you did not ask "
	    "for this, somebody else knows your password: change it, and tell "
	    "nobody the code.\\n\"",
	    "The message, with {code}, {shop}, {agent} and {minutes} in it.",
	    check_text, NULL },
	{ "smtp", PF_CONF_OBJ, CO(smtp), 0, 0, "{}",
	    "The mail server, where there is no command.", NULL, &smtp_table },
};
const struct pf_conf_table pf_codes_table = PF_TABLE(codes, codes_keys);

#define FI(m)	offsetof(struct pf_mediated_field, m)
static const struct pf_conf_key field_keys[] = {
	{ "", PF_CONF_LINE, FI(line), 0, 0, NULL, NULL, NULL, NULL },
	{ "name", PF_CONF_STR, FI(name), 1, 64, NULL,
	    "Key of the credentials that agents send.", check_field, NULL },
	{ "label", PF_CONF_STR, FI(label), 1, 100, NULL,
	    "What agents ask their User for.", NULL, NULL },
	{ "secret", PF_CONF_BOOL, FI(secret), 0, 0, NULL,
	    "True for the password.", NULL, NULL },
};
static const struct pf_conf_table field_table = {
	sizeof(struct pf_mediated_field), PF_KEYS(field_keys)
};

#define ME(m)	(PF_AT(mediated.m) - PF_AT(mediated))
static const struct pf_conf_key mediated_keys[] = {
	{ "", PF_CONF_LINE, ME(line), 0, 0, NULL, NULL, NULL, NULL },
	{ "fields", PF_CONF_LIST, ME(fields), 2, 2,
	    "[{ \"name\": \"email\", \"label\": \"Email\", \"secret\": false },"
	    " { \"name\": \"password\", \"label\": \"Password\", "
	    "\"secret\": true }]", "The login name and the password, as agents "
	    "ask for them.", NULL, &field_table },
	{ "code", PF_CONF_STR, ME(code), 1, 10, "\"unusual\"",
	    "When a one-time code is wanted: \"unusual\" (a client or an "
	    "address that is new to the account, or after failures), "
	    "\"always\" or \"never\".", check_code, NULL },
	{ "code_seconds", PF_CONF_INT, ME(code_seconds), 60, 3600, "600",
	    "How long a code can be used.", NULL, NULL },
	{ "tries", PF_CONF_INT, ME(tries), 1, 10, "5",
	    "Wrong codes until a sign-in has failed.", NULL, NULL },
	{ "failures_per_client", PF_CONF_INT, ME(failures_per_client), 1,
	    1000000, "100", "Failed sign-ins of a client_id in a quarter of an "
	    "hour; those of an account and of an address are login's.", NULL,
	    NULL },
};
const struct pf_conf_table pf_mediated_table =
    PF_TABLE(mediated, mediated_keys);

static enum pf_rc
check_codes(const char *file, struct pf_settings *s,
    struct pf_conf_fault *fault)
{
	s->codes.by_phone = pf_str_eqz(s->codes.to, "phone");
	if (s->codes.command.n != 0 && s->codes.command.v[0].p[0] != '/')
		return pf_conf_refuse(fault, file, s->codes.line,
		    "codes.command", "must begin with a path");
	if (s->codes.smtp.url.n == 0)
		return PF_OK;
	if (s->codes.command.n != 0)
		return pf_conf_refuse(fault, file, s->codes.line, "codes.smtp",
		    "there is a command already");
	if (s->codes.smtp.from.n == 0)
		return pf_conf_refuse(fault, file, s->codes.line,
		    "codes.smtp.from", "must be given");
	if (s->codes.by_phone)
		return pf_conf_refuse(fault, file, s->codes.line, "codes.to",
		    "must be \"email\" where a mail server sends");
	if ((s->codes.smtp.user.n == 0) != (s->codes.smtp.password_file.n == 0))
		return pf_conf_refuse(fault, file, s->codes.line,
		    "codes.smtp.password_file", "goes with user");
	return PF_OK;
}

/* Which of the two is which. */
static enum pf_rc
check_fields(const char *file, struct pf_settings *s,
    struct pf_conf_fault *fault)
{
	const struct pf_mediated_field *f = s->mediated.fields.v;

	if (f[0].secret == f[1].secret)
		return pf_conf_refuse(fault, file, f[1].line,
		    "mediated.fields", "must be a login name and a secret");
	if (pf_str_eq(f[0].name, f[1].name))
		return pf_conf_refuse(fault, file, f[1].line,
		    "mediated.fields.name", "stands there twice");
	s->mediated.login_field = f[f[0].secret ? 1 : 0].name;
	s->mediated.secret_field = f[f[0].secret ? 0 : 1].name;
	return PF_OK;
}

enum pf_rc
pf_settings_mediated(const char *file, struct pf_settings *s,
    struct pf_conf_fault *fault)
{
	enum pf_rc rc;

	if ((rc = check_codes(file, s, fault)) != PF_OK)
		return rc;
	return check_fields(file, s, fault);
}
