/*
 * poppyctl check: does this host, as it stands, serve agents?
 */
#include "config.h"

#include "tools/poppyctl/check.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define JSON_MAX	(1u << 20)

const struct ck_program ck_programs[] = {
	{ "poppy-auth", "poppy_auth", "auth.conf" },
	{ "poppy-guard", "poppy_guard", "guard.conf" },
	{ "poppy-browser", "poppy_browser", "browser.conf" },
};
const size_t ck_nprograms = PF_COUNT(ck_programs);

bool
ck_runs(const struct check *k, const struct ck_program *p)
{
	return strcmp(p->name, "poppy-browser") != 0 ||
	    k->c->set.browser.enabled;
}

static const char *const words[] = {
	[CK_OK] = "ok",
	[CK_LEFT_OUT] = "left out",
	[CK_WARNING] = "warning",
	[CK_FAULT] = "fault",
};

/* Documents of anybody may be quoted in it: nothing that moves a terminal. */
static void
plain(char *z)
{
	for (; *z != '\0'; z++)
		if ((unsigned char)*z < ' ' || *z == 0x7f)
			*z = '?';
}

void
ck_say(struct check *k, enum ck_level level, const char *area, const char *fmt,
    ...)
{
	char text[1600];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	plain(text);
	k->count[level]++;
	if (k->json == NULL) {
		(void)printf("%-9s%-11s%s\n", words[level], area, text);
		(void)fflush(stdout);
		return;
	}
	pf_jw_open(k->json, NULL, '{');
	pf_jw_strz(k->json, "result", words[level]);
	pf_jw_strz(k->json, "area", area);
	pf_jw_strz(k->json, "text", text);
	pf_jw_close(k->json, '}');
}

bool
ck_uid(const struct ck_program *p, uid_t *out)
{
	const struct passwd *pw;

	if ((pw = getpwnam(p->role)) == NULL)
		return false;
	*out = pw->pw_uid;
	return true;
}

void
ck_be(uid_t uid)
{
	/* What fails here shows in what is then refused. */
	if (getuid() == 0)
		(void)!seteuid(uid);
}

void
ck_be_self(void)
{
	(void)!seteuid(getuid());
}

struct pf_str
ck_join(struct check *k, struct pf_str a, const char *b, struct pf_str c)
{
	struct pf_buf buf;

	pf_buf_init(&buf, k->c->arena, 8192);
	pf_buf_add(&buf, a);
	pf_buf_addz(&buf, b);
	pf_buf_add(&buf, c);
	return pf_buf_str(&buf);
}

static void
all(struct check *k)
{
	ck_settings(k);
	ck_secrets(k);
	ck_database(k);
	ck_documents(k);
	ck_guarded(k);
	ck_pages(k);
	ck_browsers(k);
	ck_say(k, CK_LEFT_OUT, "streaming",
	    "nothing of this release streams its answers");
}

static int
end(const struct check *k)
{
	if (k->json == NULL)
		(void)printf("%u ok, %u warnings, %u faults\n",
		    k->count[CK_OK], k->count[CK_WARNING], k->count[CK_FAULT]);
	return k->count[CK_FAULT] != 0 ? CTL_WRONG :
	    k->count[CK_WARNING] != 0 ? CTL_BEHIND : CTL_OK;
}

static int
as_json(struct check *k)
{
	struct pf_buf b;
	struct pf_jw w;

	pf_buf_init(&b, k->c->arena, JSON_MAX);
	w = pf_jw(&b);
	k->json = &w;
	pf_jw_open(&w, NULL, '{');
	pf_jw_open(&w, "points", '[');
	all(k);
	pf_jw_close(&w, ']');
	pf_jw_int(&w, "warnings", k->count[CK_WARNING]);
	pf_jw_int(&w, "faults", k->count[CK_FAULT]);
	pf_jw_close(&w, '}');
	if (b.failed)
		return ctl_fail(k->c, CTL_WRONG, "no memory");
	(void)printf("%.*s\n", PF_STRF(pf_buf_str(&b)));
	return end(k);
}

int
ctl_check(struct ctl *c)
{
	struct check k = { .c = c };
	int status;

	if (ctl_http_new(c->ca, &k.http) != PF_OK)
		return ctl_fail(c, CTL_WRONG, "libcurl can't be started");
	if (c->json) {
		status = as_json(&k);
	} else {
		all(&k);
		status = end(&k);
	}
	ctl_http_free(k.http);
	return fflush(stdout) == 0 ? status : CTL_WRONG;
}
