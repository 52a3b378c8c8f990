#include "config.h"

#include "tools/poppy-agent/chromium.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/process.h"

#define CA_MAX		(1u << 20)
#define START_MS	20000
#define CLOSE_MS	3000

static bool
in_path(const char *name)
{
	struct pf_str rest = pf_str(getenv("PATH")), dir;
	char file[PATH_MAX];
	struct stat st;

	while (pf_str_given(rest) && pf_str_cut(&rest, ':', &dir)) {
		int n = snprintf(file, sizeof(file), "%.*s/%s", PF_STRF(dir),
		    name);

		if (n > 0 && (size_t)n < sizeof(file) &&
		    stat(file, &st) == 0 && S_ISREG(st.st_mode) &&
		    access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static const char *
find_browser(void)
{
	static const char *const names[] = {
		"chromium", "chromium-browser", "google-chrome"
	};
	const char *given = getenv("CHROMIUM");

	if (given != NULL && given[0] != '\0')
		return strchr(given, '/') != NULL ?
		    (access(given, X_OK) == 0 ? given : NULL) :
		    (in_path(given) ? given : NULL);
	for (size_t i = 0; i < PF_COUNT(names); i++)
		if (in_path(names[i]))
			return names[i];
	return NULL;
}

static bool
write_file(const char *name, struct pf_str text)
{
	FILE *f = fopen(name, "we");
	bool good;

	if (f == NULL)
		return false;
	good = fwrite(text.p, 1, text.n, f) == text.n;
	return fclose(f) == 0 && good;
}

static size_t
find(struct pf_str s, size_t at, struct pf_str part)
{
	for (; at + part.n <= s.n; at++)
		if (memcmp(s.p + at, part.p, part.n) == 0)
			return at;
	return s.n;
}

/* certutil takes one certificate a file. */
static bool
trust_each(const char *home, struct pf_str pem)
{
	const struct pf_str begin = PF_LIT("-----BEGIN CERTIFICATE-----");
	const struct pf_str end = PF_LIT("-----END CERTIFICATE-----");
	char db[PATH_MAX + 32], file[PATH_MAX + 32], name[16];
	const char *make[] = { "certutil", "-d", db, "-N", "--empty-password",
	    NULL };
	const char *add[] = { "certutil", "-d", db, "-A", "-n", name, "-t",
	    "C,,", "-i", file, NULL };
	struct ag_process p = { make, home, -1, -1 };
	size_t from, to;
	int i = 0;

	snprintf(db, sizeof(db), "%s/.pki", home);
	if (mkdir(db, 0700) != 0)
		return false;
	snprintf(db, sizeof(db), "%s/.pki/nssdb", home);
	if (mkdir(db, 0700) != 0)
		return false;
	snprintf(db, sizeof(db), "sql:%s/.pki/nssdb", home);
	snprintf(file, sizeof(file), "%s/ca.pem", home);
	if (!ag_process_run(&p))
		return false;
	p.argv = add;
	for (to = 0; (from = find(pem, to, begin)) < pem.n; i++) {
		to = find(pem, from, end) + end.n;
		snprintf(name, sizeof(name), "ca %d", i);
		if (to > pem.n || !write_file(file, pf_bytes(pem.p + from,
		    to - from)) || !ag_process_run(&p))
			return false;
	}
	return i > 0;
}

/* As the owner of a computer would tell a browser: a wrong certificate stays an
 * error. */
static enum pf_rc
trust(struct agent *ag, const char *home)
{
	char *pem = pf_arena_alloc(&ag->arena, CA_MAX);
	FILE *f = fopen(ag->opt.ca, "re");
	size_t n = f == NULL || pem == NULL ? 0 : fread(pem, 1, CA_MAX, f);

	if (f != NULL)
		fclose(f);
	if (!in_path("certutil"))
		return ag_fault(&ag->fault, PF_E_ABSENT, NULL, "to have the "
		    "browser trust --ca, certutil is needed (libnss3-tools)");
	if (n == 0 || n == CA_MAX || !trust_each(home, pf_bytes(pem, n)))
		return ag_fault(&ag->fault, PF_E_INPUT, NULL,
		    "the browser can't be told to trust %s", ag->opt.ca);
	return PF_OK;
}

static enum pf_rc
launch(struct agent *ag, struct ag_chromium *c, const char *browser)
{
	bool root = geteuid() == 0;
	char profile[PATH_MAX + 32];
	const char *argv[] = {
		browser, "--headless=new", "--remote-debugging-pipe", profile,
		"--no-first-run", "--no-default-browser-check",
		"--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-breakpad", "--disable-gpu",
		"--password-store=basic", "about:blank",
		root ? "--no-sandbox" : NULL, NULL
	};
	int to[2], from[2];
	enum pf_rc rc;

	if (root)
		ag_show_note(&ag->show, "as root the browser runs without its "
		    "sandbox (--no-sandbox): better run this as another user");
	snprintf(profile, sizeof(profile), "--user-data-dir=%s/profile",
	    c->home);
	if (pipe2(to, O_CLOEXEC) != 0)
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no pipe");
	if (pipe2(from, O_CLOEXEC) != 0) {
		close(to[0]);
		close(to[1]);
		return ag_fault(&ag->fault, PF_E_MEM, NULL, "no pipe");
	}
	rc = ag_devtools_init(&c->tools, to[1], from[0]);
	if (rc == PF_OK)
		c->pid = ag_process_start(&(struct ag_process){ argv, c->home,
		    to[0], from[1] });
	close(to[0]);
	close(from[1]);
	if (rc != PF_OK || c->pid < 0)
		return ag_fault(&ag->fault, PF_E_MEM, NULL,
		    "%s can't be started", browser);
	return PF_OK;
}

/* A page of its own, and its events. */
static enum pf_rc
attach(struct agent *ag, struct ag_chromium *c)
{
	int64_t until_ms = pf_mono_ms() + START_MS;
	const struct pf_json *v;
	struct pf_str id;
	struct pf_buf b;
	enum pf_rc rc;

	rc = ag_devtools_call(&c->tools, "Target.createTarget",
	    PF_LIT("{\"url\":\"about:blank\"}"), until_ms, &v);
	if (rc != PF_OK || (rc = pf_json_str(v, "targetId", &id)) != PF_OK)
		return rc;
	pf_buf_init(&b, &ag->arena, 1024);
	pf_buf_addz(&b, "{\"flatten\":true,\"targetId\":");
	pf_json_quote(&b, id);
	pf_buf_char(&b, '}');
	rc = ag_devtools_call(&c->tools, "Target.attachToTarget",
	    pf_buf_str(&b), until_ms, &v);
	if (rc != PF_OK || (rc = pf_json_str(v, "sessionId", &id)) != PF_OK)
		return rc;
	c->tools.page = pf_str(pf_arena_z(&ag->arena, id));
	if ((rc = ag_devtools_call(&c->tools, "Page.enable", PF_LIT("{}"),
	    until_ms, &v)) != PF_OK)
		return rc;
	return ag_devtools_call(&c->tools, "Network.enable", PF_LIT("{}"),
	    until_ms, &v);
}

enum pf_rc
ag_chromium_start(struct agent *ag, struct ag_chromium *c)
{
	const char *browser = find_browser();
	enum pf_rc rc;

	c->pid = -1;
	c->home[0] = '\0';
	c->tools.to = c->tools.from = -1;
	ag_process_begin();
	if (browser == NULL)
		return ag_fault(&ag->fault, PF_E_ABSENT, NULL, "no Chromium: "
		    "install it, or say where it is with CHROMIUM in the "
		    "environment");
	if (!ag_folder_make(c->home, sizeof(c->home))) {
		c->home[0] = '\0';
		return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL,
		    "no folder for the browser: %s", strerror(errno));
	}
	if ((ag->opt.ca != NULL && (rc = trust(ag, c->home)) != PF_OK) ||
	    (rc = launch(ag, c, browser)) != PF_OK)
		return rc;
	if ((rc = attach(ag, c)) == PF_OK)
		return PF_OK;
	return ag_fault(&ag->fault, PF_E_UPSTREAM, NULL, "%s %s", browser,
	    ag_process_stopped() ? "was interrupted" :
	    rc == PF_E_ABSENT ? "does not answer" :
	    "has ended, or is no Chromium");
}

void
ag_chromium_stop(struct ag_chromium *c)
{
	if (c->pid > 0) {
		c->tools.page = PF_NOSTR;
		(void)!ag_devtools_send(&c->tools, "Browser.close",
		    PF_LIT("{}"));
	}
	if (c->tools.to >= 0) {
		close(c->tools.to);
		close(c->tools.from);
		ag_devtools_free(&c->tools);
	}
	if (c->pid > 0)
		ag_process_reap(c->pid, CLOSE_MS);
	if (c->home[0] != '\0')
		ag_folder_remove(c->home);
	ag_process_end();
}
