/* The file of the master key and its rotation: Users stay, nonces go over. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/poppy/keys.h"
#include "core/poppy/master.h"
#include "core/poppy/nonce.h"
#include "tests/unit/tap.h"

#define AT	1790000000

static char folder[] = "/tmp/t_master.XXXXXX";
static char path[sizeof(folder) + 8];

static void
put(const void *p, size_t n)
{
	int fd;

	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0400);
	tap_need(fd != -1 && write(fd, p, n) == (ssize_t)n && close(fd) == 0,
	    "a file");
}

static struct pf_keys
load(const struct pf_master *m)
{
	unsigned char raw[PF_MASTER_MAX];
	struct pf_keys k = { .user = { 0 } };
	const char *why = "";

	put(raw, pf_master_write(m, raw));
	tap_need(pf_keys_load(folder, &k, &why) == PF_OK, why);
	return k;
}

static bool
same_user(const struct pf_keys *a, const struct pf_keys *b)
{
	struct pf_user x, y;

	return pf_user_of(a, PF_LIT("https://a.example/c"), PF_LIT("u"), &x) ==
	    PF_OK && pf_user_of(b, PF_LIT("https://a.example/c"), PF_LIT("u"),
	    &y) == PF_OK && memcmp(x.key, y.key, sizeof(x.key)) == 0 &&
	    x.bucket == y.bucket;
}

/* Does to accept a nonce that from made? */
static bool
accepts(const struct pf_keys *to, const struct pf_keys *from)
{
	char n[PF_NONCE_TEXT];

	tap_need(pf_nonce_at(from, AT, n) == PF_OK, "a nonce");
	return pf_nonce_check(to, AT, pf_bytes(n, sizeof(n))) == PF_OK;
}

static void
rotation(void)
{
	struct pf_master m;
	struct pf_keys before, begun, switched, after;
	unsigned char raw[PF_KEY_LEN] = "a master of a company, 32 bytes",
	    old[PF_KEY_LEN];

	tap_is(pf_master_parse(raw, sizeof(raw), &m), PF_OK, "a first master");
	before = load(&m);
	tap_is(pf_master_switch(&m), PF_E_CONFLICT, "no switch before begin");
	tap_is(pf_master_finish(&m), PF_E_CONFLICT, "no finish before begin");
	tap_is(pf_master_begin(&m), PF_OK, "begin");
	tap_is(pf_master_begin(&m), PF_E_CONFLICT, "no begin twice");
	tap_is(pf_master_finish(&m), PF_E_CONFLICT, "no finish before switch");
	begun = load(&m);
	tap_is(pf_master_switch(&m), PF_OK, "switch");
	tap_is(pf_master_switch(&m), PF_E_CONFLICT, "no switch back");
	tap_is(pf_master_begin(&m), PF_E_CONFLICT, "no begin before finish");
	switched = load(&m);
	(void)memcpy(old, m.other, sizeof(old));
	tap_ok(memcmp(old, raw, sizeof(old)) == 0, "the old one is the first");
	tap_is(pf_master_finish(&m), PF_OK, "finish");
	after = load(&m);
	tap_ok(memcmp(m.now, raw, sizeof(raw)) != 0, "another master");

	tap_ok(same_user(&before, &begun) && same_user(&before, &switched) &&
	    same_user(&before, &after), "Users are who they were");
	tap_ok(accepts(&before, &begun) && accepts(&begun, &before),
	    "a host that has begun, one that hasn't");
	tap_ok(accepts(&begun, &switched) && accepts(&switched, &begun),
	    "a host that has switched, one that hasn't");
	tap_ok(accepts(&switched, &after) && accepts(&after, &switched),
	    "a host that has finished, one that hasn't");
	tap_ok(!accepts(&after, &before) && !accepts(&after, &begun),
	    "what the old one made counts no more");
	tap_is(pf_master_begin(&m), PF_OK, "another rotation");
	begun = load(&m);
	tap_ok(same_user(&before, &begun), "... and Users still stay");
}

static void
faults(void)
{
	unsigned char raw[PF_MASTER_MAX + 1] = { 1 };
	struct pf_keys k = { .user = { 0 } };
	const char *why = "";

	for (size_t n = 0; n <= sizeof(raw); n++) {
		put(raw, n);
		raw[PF_MASTER_MAX - 1] = 'n';
		tap_is(pf_keys_load(folder, &k, &why), n == PF_KEY_LEN ||
		    n == 2 * PF_KEY_LEN || n == PF_MASTER_MAX ? PF_OK :
		    PF_E_INPUT, "a file of %zu bytes", n);
	}
	raw[PF_MASTER_MAX - 1] = 'x';
	put(raw, PF_MASTER_MAX);
	tap_is(pf_keys_load(folder, &k, &why), PF_E_INPUT, "an odd mark");
	put(raw, PF_KEY_LEN);
	(void)chmod(path, 0440);
	tap_is(pf_keys_load(folder, &k, &why), PF_E_INPUT, "open to the group");
	(void)unlink(path);
	tap_is(pf_keys_load(folder, &k, &why), PF_E_ABSENT, "no file");
	tap_need(symlink("/dev/zero", path) == 0, "a link");
	tap_ok(pf_keys_load(folder, &k, &why) != PF_OK, "a link");
	(void)unlink(path);
}

int
main(void)
{
	tap_need(pf_crypt_init() == PF_OK && mkdtemp(folder) != NULL,
	    "a temporary folder");
	(void)snprintf(path, sizeof(path), "%s/master", folder);
	rotation();
	faults();
	(void)rmdir(folder);
	pf_crypt_end();
	return tap_done();
}
