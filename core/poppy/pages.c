/*
 * Reading the pages: see pages.h.
 */
#include "config.h"

#include "core/poppy/pages.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/jose/crypt.h"
#include "core/poppy/pages_builtin.h"

#define FILE_MAX	PF_MO_BYTES
#define VERSION_LEN	12		/* characters */

#define END		{ NULL, PF_TPL_TEXT, NULL }
#define TEXT(name)	{ name, PF_TPL_TEXT, NULL }
#define URL(name)	{ name, PF_TPL_URL, NULL }
#define LIST(name, of)	{ name, PF_TPL_LIST, of }

static const struct pf_tpl_name language_names[] = {
	TEXT("code"), TEXT("name"), TEXT("current"), END
};
static const struct pf_tpl_name hidden_names[] = {
	TEXT("name"), TEXT("value"), END
};
static const struct pf_tpl_name scope_names[] = {
	TEXT("id"), TEXT("scope"), TEXT("title"), TEXT("text"),
	TEXT("checked"), END
};

#define AGENT		TEXT("agent"), TEXT("agent_host"), \
			URL("agent_logo"), TEXT("initial")
#define FORM		URL("action"), LIST("hidden", hidden_names)
#define LEAVE		URL("leave"), LIST("leave_hidden", hidden_names)

static const struct pf_tpl_name connected_names[] = {
	AGENT, LIST("scopes", scope_names), TEXT("since"), TEXT("since_text"),
	TEXT("used"), TEXT("used_text"), TEXT("ends"), TEXT("ends_text"),
	TEXT("sessions"), TEXT("by_direct"), TEXT("by_device"),
	TEXT("by_mediated"), URL("url"), END
};

/* What all pages may name. */
static const struct pf_tpl_name common[] = {
	TEXT("shop"), URL("logo"), URL("home"), URL("style"), TEXT("lang"),
	TEXT("dir"), URL("here"), LIST("languages", language_names), END
};

static const struct pf_tpl_name login_names[] = {
	AGENT, FORM, TEXT("login"), TEXT("failed"), TEXT("missing"), END
};
static const struct pf_tpl_name landing_names[] = {
	AGENT, FORM, TEXT("account"), END
};
static const struct pf_tpl_name consent_names[] = {
	AGENT, FORM, TEXT("account"), LIST("scopes", scope_names),
	TEXT("user_code"), TEXT("redirect_host"),
	TEXT("loopback"), LEAVE, END
};
static const struct pf_tpl_name code_names[] = {
	URL("action"), TEXT("user_code"), TEXT("wrong"), END
};
static const struct pf_tpl_name done_names[] = {
	AGENT, TEXT("approved"), URL("agents"), END
};
static const struct pf_tpl_name agents_names[] = {
	TEXT("account"), LIST("agents", connected_names), TEXT("gone"),
	TEXT("gone_all"), URL("url_all"), URL("back"), LEAVE, END
};
static const struct pf_tpl_name disconnect_names[] = {
	AGENT, FORM, TEXT("all"), URL("back"), END
};
static const struct pf_tpl_name message_names[] = {
	TEXT("title"), TEXT("text"), URL("next"), TEXT("next_text"), END
};
static const struct pf_tpl_name refused_names[] = {
	TEXT("error"), TEXT("scope"), LIST("scopes", scope_names),
	TEXT("sign_in"), TEXT("more"), TEXT("closed"), TEXT("method"),
	TEXT("blocked"), TEXT("odd"), TEXT("busy"), TEXT("wait"), END
};
static const struct pf_tpl_name join_failed_names[] = {
	TEXT("error"), TEXT("busy"), TEXT("wait"), END
};

/* must: what a page of theirs has to show as well. A customer has to see who
 * asks by what can't be forged, and no form works without its hidden fields. */
static const struct {
	const char *file;
	const struct pf_tpl_name *names;
	const char *must;
} pages[PF_PAGE_COUNT] = {
	[PF_PAGE_LOGIN] = { "login.html", login_names, "action hidden login" },
	[PF_PAGE_LANDING] = { "landing.html", landing_names,
	    "action hidden account" },
	[PF_PAGE_CONSENT] = { "consent.html", consent_names, "action hidden "
	    "agent agent_host redirect_host account scopes user_code" },
	[PF_PAGE_CODE] = { "code.html", code_names, "action" },
	[PF_PAGE_DONE] = { "done.html", done_names, "" },
	[PF_PAGE_AGENTS] = { "agents.html", agents_names, "agents" },
	[PF_PAGE_DISCONNECT] = { "disconnect.html", disconnect_names,
	    "action hidden" },
	[PF_PAGE_MESSAGE] = { "message.html", message_names, "title text" },
	[PF_PAGE_REFUSED] = { "refused.html", refused_names,
	    "error scope home" },
	[PF_PAGE_JOIN_FAILED] = { "join-failed.html", join_failed_names,
	    "error" },
};

struct loading {
	struct pf_arena *arena;
	struct pf_str folder;
	struct pf_conf_fault *fault;
};

static enum pf_rc
unreadable(const struct loading *l, const char *path, const char *why)
{
	return pf_conf_refuse(l->fault, path, 0, "pages.folder", "%s", why);
}

static enum pf_rc
read_whole(const struct loading *l, const char *path, FILE *f,
    struct pf_str *text)
{
	struct pf_str whole;
	char piece[4096];
	struct pf_buf b;
	size_t n;

	pf_buf_init(&b, l->arena, FILE_MAX);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		pf_buf_add(&b, pf_bytes(piece, n));
	if (ferror(f))
		return unreadable(l, path, strerror(errno));
	if (pf_buf_done(&b, &whole) != PF_OK)
		return unreadable(l, path, "it is longer than 1 MiB");
	*text = whole.n > 0 ? whole : PF_LIT("");
	return PF_OK;
}

/* A file of the operator's folder; PF_E_ABSENT. */
static enum pf_rc
read_own(const struct loading *l, struct pf_str name, struct pf_str *text,
    const char **path)
{
	struct pf_str joined;
	struct pf_buf b;
	enum pf_rc rc;
	FILE *f;

	if (l->folder.n == 0)
		return PF_E_ABSENT;
	pf_buf_init(&b, l->arena, 4096);
	pf_buf_add(&b, l->folder);
	pf_buf_char(&b, '/');
	pf_buf_add(&b, name);
	pf_buf_char(&b, '\0');
	if ((rc = pf_buf_done(&b, &joined)) != PF_OK)
		return rc;
	if ((f = fopen(joined.p, "re")) == NULL)
		return errno == ENOENT ? PF_E_ABSENT :
		    unreadable(l, joined.p, strerror(errno));
	*path = joined.p;
	rc = read_whole(l, joined.p, f, text);
	(void)fclose(f);
	return rc;
}

static enum pf_rc
read_builtin(struct pf_str name, struct pf_str *text, const char **shown)
{
	for (size_t i = 0; i < pf_builtin_npages; i++) {
		const struct pf_builtin *b = &pf_builtin_pages[i];

		if (!pf_str_eqz(name, b->name))
			continue;
		*text = pf_bytes(b->p, b->n);
		*shown = b->name;
		return PF_OK;
	}
	return PF_E_ABSENT;
}

/* No way out of the folder. */
static bool
is_plain(struct pf_str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!pf_is_alpha(name.p[i]) && !pf_is_digit(name.p[i]) &&
		    (i == 0 || !pf_str_has(PF_LIT("-_."), name.p[i])))
			return false;
	return name.n > 0 && name.n <= 64;
}

static enum pf_rc
find_file(void *ctx, struct pf_str name, struct pf_str *text,
    const char **shown)
{
	const struct loading *l = ctx;
	enum pf_rc rc;

	if (!is_plain(name))
		return PF_E_ABSENT;
	rc = read_own(l, name, text, shown);
	return rc == PF_E_ABSENT ? read_builtin(name, text, shown) : rc;
}

static enum pf_rc
add_language(struct loading *l, struct pf_pages *p, struct pf_str name)
{
	const char *shown = "", *why = "";
	struct pf_str text, code;
	enum pf_rc rc;

	code = pf_arena_copy(l->arena, pf_str_head(name, name.n - 3));
	if (code.p == NULL)
		return PF_E_MEM;
	if ((rc = find_file(l, name, &text, &shown)) != PF_OK)
		return rc == PF_E_ABSENT ? PF_OK : rc;
	if (pf_langs_add(&p->langs, code, text, &why) != PF_OK)
		return pf_conf_refuse(l->fault, shown, 0, "pages", "%s", why);
	return PF_OK;
}

static int
is_catalogue(const struct dirent *d)
{
	return pf_str_ends(pf_str(d->d_name), PF_LIT(".mo"));
}

/* Languages that only the operator has, by their names. */
static enum pf_rc
add_own_languages(struct loading *l, struct pf_pages *p)
{
	enum pf_rc rc = PF_OK;
	struct dirent **list;
	int n;

	if (l->folder.n == 0)
		return PF_OK;
	if ((n = scandir(l->folder.p, &list, is_catalogue, alphasort)) == -1)
		return unreadable(l, l->folder.p, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (rc == PF_OK)
			rc = add_language(l, p, pf_str(list[i]->d_name));
		free(list[i]);
	}
	free(list);
	return rc;
}

static enum pf_rc
load_languages(struct loading *l, struct pf_pages *p)
{
	enum pf_rc rc;

	pf_langs_init(&p->langs);
	for (size_t i = 0; i < pf_builtin_npages; i++) {
		struct pf_str name = pf_str(pf_builtin_pages[i].name);

		if (pf_str_ends(name, PF_LIT(".mo")) &&
		    (rc = add_language(l, p, name)) != PF_OK)
			return rc;
	}
	return add_own_languages(l, p);
}

static enum pf_rc
check_shown(const struct loading *l, const struct pf_pages *p, size_t i)
{
	struct pf_str rest = pf_str(pages[i].must), name;

	while (pf_str_cut(&rest, ' ', &name))
		if (name.n > 0 && !pf_tpl_shows(p->page[i], name))
			return pf_conf_refuse(l->fault, pages[i].file, 0,
			    "pages", "must show {{%.*s}}", PF_STRF(name));
	return PF_OK;
}

static enum pf_rc
load_templates(struct loading *l, struct pf_pages *p)
{
	const struct pf_tpl_files files = { find_file, l };
	enum pf_rc rc;

	for (size_t i = 0; i < PF_PAGE_COUNT; i++) {
		rc = pf_tpl_read(l->arena, &files, pages[i].file,
		    pages[i].names, common, l->fault, &p->page[i]);
		if (rc != PF_OK || (rc = check_shown(l, p, i)) != PF_OK)
			return rc;
	}
	return PF_OK;
}

/* The version is in its URL, so that a new sheet is seen at once. */
static enum pf_rc
load_style(struct loading *l, const struct pf_settings *s, struct pf_pages *p)
{
	struct pf_str sheet, own = PF_LIT("");
	unsigned char digest[PF_SHA256_LEN];
	const char *shown;
	struct pf_buf b;
	enum pf_rc rc;

	if ((rc = find_file(l, PF_LIT("style.css"), &sheet, &shown)) != PF_OK)
		return rc;
	rc = read_own(l, PF_LIT("shop.css"), &own, &shown);
	if (rc != PF_OK && rc != PF_E_ABSENT)
		return rc;
	pf_buf_init(&b, l->arena, 2 * FILE_MAX);
	pf_buf_add(&b, sheet);
	pf_buf_add(&b, own);
	if ((rc = pf_buf_done(&b, &p->css)) != PF_OK ||
	    (rc = pf_sha256(p->css, digest)) != PF_OK)
		return rc;
	pf_buf_init(&b, l->arena, 64);
	pf_buf_b64url(&b, digest, sizeof(digest));
	if ((rc = pf_buf_done(&b, &p->css_version)) != PF_OK)
		return rc;
	p->css_version = pf_str_head(p->css_version, VERSION_LEN);
	pf_buf_init(&b, l->arena, 512);
	pf_buf_add(&b, s->mounts.pages);
	pf_buf_addz(&b, "/style.css?v=");
	pf_buf_add(&b, p->css_version);
	return pf_buf_done(&b, &p->style);
}

enum pf_rc
pf_pages_load(struct pf_arena *a, const struct pf_settings *s,
    struct pf_conf_fault *fault, const struct pf_pages **out)
{
	struct loading l = { a, s->pages.folder, fault };
	struct pf_pages *p;
	enum pf_rc rc;

	if ((p = pf_arena_alloc(a, sizeof(*p))) == NULL)
		return PF_E_MEM;
	p->shop = s->pages.shop_name.n != 0 ? s->pages.shop_name :
	    s->organization.name;
	p->logo = s->pages.logo;
	p->shop_login = s->login.by_shop ? s->login.shop_url : PF_NOSTR;
	p->home = s->pages.home_url.n != 0 ? s->pages.home_url : PF_LIT("/");
	if ((rc = load_languages(&l, p)) != PF_OK ||
	    (rc = load_templates(&l, p)) != PF_OK ||
	    (rc = load_style(&l, s, p)) != PF_OK)
		return rc;
	*out = p;
	return PF_OK;
}
