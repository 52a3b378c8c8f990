/*
 * This host: its settings and its keys, each as the program reads it.
 */
#include "config.h"

#include "tools/poppyctl/check.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/poppy/domain.h"
#include "core/poppy/keys.h"
#include "core/poppy/send_code.h"
#include "core/web/url.h"

#define SESSION_KEY	32	/* characters, of bridge.ini */

/* A file in the folder of poppy.conf; NULL: no memory. */
static char *
beside(struct check *k, const char *name)
{
	const char *conf = k->c->conf, *slash = strrchr(conf, '/');
	struct pf_str folder = slash == NULL ? PF_LIT("./") :
	    pf_bytes(conf, (size_t)(slash - conf) + 1);

	return pf_arena_z(k->c->arena, ck_join(k, folder, name, PF_LIT("")));
}

/* The settings of one program where it has a file of its own beside
 * poppy.conf; NULL if it has none. */
static const char *
own_file(struct check *k, const struct ck_program *p)
{
	char *file = beside(k, p->file);

	return file != NULL && access(file, F_OK) == 0 ? file : NULL;
}

static bool
read_own(struct check *k, const char *file, struct pf_settings *out)
{
	struct pf_conf_fault f = { 0 };

	if (pf_settings_read(file, k->c->arena, out, &f) == PF_OK)
		return true;
	ck_say(k, CK_FAULT, "settings", "%s:%lld: %s%s%s", file,
	    (long long)f.line, f.key, f.key[0] != '\0' ? ": " : "", f.reason);
	return false;
}

static void
compare_own(struct check *k, const struct ck_program *p)
{
	unsigned char shared[PF_SHA256_LEN];
	const char *file = own_file(k, p);
	struct pf_settings s;

	if (file == NULL || !read_own(k, file, &s) ||
	    ck_shared(k->c->arena, &s, shared) != PF_OK)
		return;
	if (memcmp(shared, k->shared, sizeof(shared)) == 0)
		ck_say(k, CK_OK, "settings", "%s says what %s says", file,
		    k->c->conf);
	else
		ck_say(k, CK_FAULT, "settings", "%s and %s differ in more than "
		    "what is a program's own: make it anew, and send %s SIGHUP",
		    file, k->c->conf, p->name);
}

/* What bridge.ini says under a key; of several, PHP takes the last. */
static struct pf_str
ini_get(struct pf_str text, const char *key)
{
	struct pf_str line, v, found = PF_NOSTR;

	while (pf_str_cut(&text, '\n', &line)) {
		size_t eq = pf_str_find(line, '=');

		if (!pf_str_eqz(pf_str_trim(pf_str_head(line, eq)), key))
			continue;
		v = pf_str_trim(pf_str_from(line, eq + 1));
		if (v.n >= 2 && v.p[0] == '"' && v.p[v.n - 1] == '"')
			v = pf_str_from(pf_str_head(v, v.n - 1), 1);
		found = v;
	}
	return found;
}

static bool
ini_says(struct pf_str text, const char *key, struct pf_str value)
{
	return pf_str_eq(ini_get(text, key), value);
}

/* What agents' browsers need of it. */
static void
check_bridge_browser(struct check *k, const char *file, struct pf_str text)
{
	const struct pf_settings *s = &k->c->set;

	if (!pf_str_eqz(s->browser.cookie, "__Host-poppy") &&
	    !ini_says(text, "cookie", s->browser.cookie))
		ck_say(k, CK_FAULT, "bridge", "%s: cookie must be \"%.*s\": "
		    "PHP would not know agents' browsers", file,
		    PF_STRF(s->browser.cookie));
	else if (ini_get(text, "session_key").n < SESSION_KEY)
		ck_say(k, CK_FAULT, "bridge", "%s: session_key is missing or "
		    "shorter than 32 characters: agents' browsers get 503; "
		    "make one by openssl rand -hex 32", file);
	else if (ini_get(text, "adapter").n == 0)
		ck_say(k, CK_WARNING, "bridge", "%s: no adapter: unless the "
		    "shop calls Poppy::actAs(), it knows no customer in an "
		    "agent's browser (poppy-bridge(7))", file);
	else
		ck_say(k, CK_OK, "bridge", "%s is ready for agents' browsers",
		    file);
}

/* Settings of the shop's PHP: who reads them may speak for every customer. */
static void
check_bridge(struct check *k)
{
	const struct pf_settings *s = &k->c->set;
	const char *file = beside(k, "bridge.ini");
	struct pf_str text, pages;
	struct stat st;

	if (!ck_signs_in(k) || file == NULL)
		return;
	if (stat(file, &st) == -1) {
		ck_say(k, s->login.by_shop ? CK_WARNING : CK_LEFT_OUT, "bridge",
		    "%s: %s: PHP on this host ends no sign-ins when a password "
		    "changes%s; README says how to install it", file,
		    strerror(errno), s->login.by_shop ? ", and gives no "
		    "tickets" : "");
		return;
	}
	pages = ck_join(k, s->issuer_host->base, "", s->mounts.pages);
	if ((st.st_mode & 07) != 0)
		ck_say(k, CK_FAULT, "bridge", "%s: everybody may read it: "
		    "chmod 0400, and chown it to PHP's user", file);
	else if (ctl_read(k->c->arena, file, &text) != PF_OK)
		ck_say(k, CK_LEFT_OUT, "bridge", "%s: %s: run this as root to "
		    "see it", file, strerror(errno));
	else if (!ini_says(text, "pages", pages))
		ck_say(k, CK_FAULT, "bridge", "%s: pages must be \"%.*s\": "
		    "tickets would go astray", file, PF_STRF(pages));
	else {
		ck_say(k, CK_OK, "bridge", "%s is closed to others and names "
		    "our pages", file);
		if (s->browser.enabled)
			check_bridge_browser(k, file, text);
	}
}

/* Who has the password alone must not get in from anywhere (section 4.7). */
static void
check_mediated(struct check *k)
{
	const struct pf_settings *s = &k->c->set;

	if (s->sign_in.mediated.n == 0)
		return;
	if (pf_str_eqz(s->mediated.code, "never"))
		ck_say(k, CK_WARNING, "settings", "mediated.code is never, so "
		    "a stolen password signs any agent in: set it to unusual "
		    "or always");
	else if (!pf_send_code_ready(s))
		ck_say(k, CK_WARNING, "settings", "sign_in.mediated is on, and "
		    "codes names no way to send one-time codes: name "
		    "codes.command or codes.smtp, or sign-ins that want one "
		    "fail");
}

/*
 * People write www. before what they know as a company's domain, and so do links
 * to it: a request for that host must not end in 404. Of names below a
 * registrable domain nobody expects it.
 */
static void
check_www(struct check *k, struct pf_str domain)
{
	struct pf_str own, www;

	if (pf_domain_of(k->c->arena, domain, &own) != PF_OK ||
	    !pf_str_eq(own, domain) || pf_host_is_ip(domain))
		return;
	www = ck_join(k, PF_LIT("www."), "", domain);
	if (pf_settings_host(&k->c->set, www) == NULL)
		ck_say(k, CK_WARNING, "settings", "%.*s is none of hosts, so "
		    "it has no poppy.json: add it with domain %.*s if it "
		    "leads here", PF_STRF(www), PF_STRF(domain));
}

void
ck_settings(struct check *k)
{
	const struct pf_settings *s = &k->c->set;

	ck_say(k, CK_OK, "settings", "%s: %zu hosts, issuer %.*s", k->c->conf,
	    s->hosts.n, PF_STRF(s->issuer));
	if (ck_shared(k->c->arena, s, k->shared) != PF_OK)
		ck_say(k, CK_FAULT, "settings", "no memory to compare them");
	for (size_t i = 0; i < ck_nprograms; i++)
		if (ck_runs(k, &ck_programs[i]))
			compare_own(k, &ck_programs[i]);
	check_bridge(k);
	check_mediated(k);
	for (size_t i = 0; i < s->domains.n; i++)
		check_www(k, s->domains.v[i]);
	if (s->agents.allow_networks.n != 0 || s->agents.extra_ca.n != 0)
		ck_say(k, CK_WARNING, "settings", "agents.allow_networks or "
		    "agents.extra_ca is set, which lets agents' documents come "
		    "from inner networks: for tests only, take them out");
}

/* Who should own a key: root, who runs this, or a user made for it. */
static void
check_owner(struct check *k, const char *path, uid_t uid)
{
	const struct passwd *pw = getpwuid(uid);

	if (uid != 0 && uid != getuid() && (pw == NULL ||
	    strncmp(pw->pw_name, "poppy", strlen("poppy")) != 0))
		ck_say(k, CK_WARNING, "secrets", "%s belongs to %s, who may "
		    "run other programs too: give each program a Unix user of "
		    "its own", path, pw == NULL ? "nobody known" : pw->pw_name);
}

/* The folder of one file of settings, its owner and who may enter. */
static bool
check_folder(struct check *k, const char *folder, uid_t *owner)
{
	struct stat st;

	if (lstat(folder, &st) == -1) {
		ck_say(k, CK_FAULT, "secrets", "%s: %s: poppyctl secrets init "
		    "makes it", folder, strerror(errno));
		return false;
	}
	*owner = st.st_uid;
	if (!S_ISDIR(st.st_mode) || (st.st_mode & 077) != 0) {
		ck_say(k, CK_FAULT, "secrets", "%s: others than its owner may "
		    "enter: chmod 700", folder);
		return false;
	}
	check_owner(k, folder, st.st_uid);
	return true;
}

/*
 * A mark by which two masters can be told apart and which says nothing about
 * them. First kept, then compared: all programs of a host must have one key.
 */
static void
mark(struct check *k, const char *folder, const struct pf_keys *keys)
{
	const struct pf_str what = PF_LIT("poppyctl check");
	unsigned char sum[PF_SHA256_LEN];

	if (pf_hmac256(keys->user, &what, 1, sum) != PF_OK)
		return;
	if (!k->master_known)
		(void)memcpy(k->master, sum, sizeof(k->master));
	k->master_known = true;
	if (memcmp(k->master, sum, sizeof(k->master)) == 0)
		ck_say(k, CK_OK, "secrets", "%s/master is closed to others",
		    folder);
	else
		ck_say(k, CK_FAULT, "secrets", "%s/master is another key than "
		    "that of %s: copy it anew, or Users are strangers to one "
		    "of the programs", folder, k->c->set.secrets.p);
}

static void
check_master(struct check *k, const char *folder, uid_t as)
{
	struct pf_keys keys = { .user = { 0 } };
	const char *why = "";
	enum pf_rc rc;

	ck_be(as);
	rc = pf_keys_load(folder, &keys, &why);
	ck_be_self();
	if (rc == PF_OK)
		mark(k, folder, &keys);
	else
		ck_say(k, CK_FAULT, "secrets", "%s/master %s%s", folder, why,
		    getuid() == 0 ? "" : " (run this as root to see all)");
	pf_keys_wipe(&keys);
}

/* The secret by which the guard knows Apache: poppy-guard says at its start what
 * else is wrong with it. */
static void
check_gate(struct check *k, const struct pf_settings *s)
{
	const char *path = pf_arena_z(k->c->arena,
	    ck_join(k, s->secrets, "/", s->gate));
	struct stat st;

	if (s->gate.n == 0 || path == NULL)
		return;
	if (lstat(path, &st) == -1)
		ck_say(k, CK_FAULT, "secrets", "%s: %s: make it with "
		    "poppyctl secrets init, or leave gate out", path,
		    strerror(errno));
	else if (!S_ISREG(st.st_mode) || (st.st_mode & 077) != 0)
		ck_say(k, CK_FAULT, "secrets", "%s: others than its owner may "
		    "read it, and pass for the web server: chmod 0400", path);
	else
		ck_say(k, CK_OK, "secrets", "%s is closed to others", path);
}

/* A program's own copy is read as that program's user. */
static void
check_own_secrets(struct check *k, const struct ck_program *p)
{
	const char *file = own_file(k, p);
	struct pf_conf_fault f;
	struct pf_settings s;
	uid_t owner, as;

	if (file == NULL || pf_settings_read(file, k->c->arena, &s, &f) !=
	    PF_OK || pf_str_eq(s.secrets, k->c->set.secrets) ||
	    !check_folder(k, s.secrets.p, &owner))
		return;
	check_master(k, s.secrets.p, ck_uid(p, &as) ? as : owner);
	if (strcmp(p->name, "poppy-guard") == 0)
		check_gate(k, &s);
}

void
ck_secrets(struct check *k)
{
	const char *folder = k->c->set.secrets.p;
	uid_t owner;

	if (check_folder(k, folder, &owner))
		check_master(k, folder, owner);
	check_gate(k, &k->c->set);
	for (size_t i = 0; i < ck_nprograms; i++)
		if (ck_runs(k, &ck_programs[i]))
			check_own_secrets(k, &ck_programs[i]);
}
