#include "config.h"

#include "core/poppy/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/poppy/master.h"

#define PATH_LEN	1100

/* A credential of one byte is the units' way to hand over none. */
static const char *
folder_of(const char *setting, const char *name)
{
	const char *handed = getenv("CREDENTIALS_DIRECTORY");
	char path[PATH_LEN];
	struct stat st;
	int n;

	if (handed == NULL || handed[0] != '/')
		return setting;
	n = snprintf(path, sizeof(path), "%s/%s", handed, name);
	if (n < 0 || (size_t)n >= sizeof(path) || stat(path, &st) != 0 ||
	    st.st_size <= 1)
		return setting;
	return handed;
}

const char *
pf_keys_folder(const char *setting)
{
	return folder_of(setting, "master");
}

/* The bits that nobody may have. systemd may give us its own file by an access
 * list, which shows as bits of the group. */
static mode_t
forbidden(const char *folder)
{
	const char *handed = getenv("CREDENTIALS_DIRECTORY");

	if (handed != NULL && strcmp(folder, handed) == 0)
		return S_IWGRP | S_IXGRP | S_IRWXO;
	return S_IRWXG | S_IRWXO;
}

/* Nobody but the owner, and the owner is us or root. */
static bool
private_file(int fd, mode_t closed, const char **why)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		*why = "is no regular file";
		return false;
	}
	if ((st.st_mode & closed) != 0) {
		*why = "may be read by others: chmod 0400";
		return false;
	}
	/* root may look at what is another's: "poppy-auth -t". */
	if (st.st_uid != geteuid() && st.st_uid != 0 && geteuid() != 0) {
		*why = "belongs to somebody else";
		return false;
	}
	return true;
}

enum pf_rc
pf_keys_open(const char *setting, const char *name, int *out, const char **why)
{
	const char *folder = folder_of(setting, name);
	char path[PATH_LEN];
	int fd, n;

	n = snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (n < 0 || (size_t)n >= sizeof(path)) {
		*why = "has too long a name";
		return PF_E_INPUT;
	}
	/* Not blocking, for it may be no file at all. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd == -1) {
		*why = errno == ENOENT ?
		    "is missing: make it with poppyctl secrets init" :
		    "can't be opened by this user";
		return PF_E_ABSENT;
	}
	if (!private_file(fd, forbidden(folder), why)) {
		(void)close(fd);
		return PF_E_INPUT;
	}
	*out = fd;
	return PF_OK;
}

static enum pf_rc
read_master(const char *folder, struct pf_master *out, const char **why)
{
	unsigned char raw[PF_MASTER_MAX + 1] = { 0 };
	ssize_t got;
	enum pf_rc rc;
	int fd;

	if ((rc = pf_keys_open(folder, "master", &fd, why)) != PF_OK)
		return rc;
	*why = "must have exactly 32 bytes, or be one that poppyctl secrets "
	    "rotate wrote";
	rc = PF_E_INPUT;
	if ((got = read(fd, raw, sizeof(raw))) > 0)
		rc = pf_master_parse(raw, (size_t)got, out);
	pf_wipe(raw, sizeof(raw));
	(void)close(fd);
	return rc;
}

/* A key of the master in use and, unless other is NULL, of the other one. */
static enum pf_rc
derive_one(const struct pf_master *m, const char *purpose,
    unsigned char now[PF_KEY_LEN], unsigned char other[PF_KEY_LEN])
{
	enum pf_rc rc;

	if ((rc = pf_hkdf(m->now, purpose, now)) != PF_OK || other == NULL)
		return rc;
	return pf_hkdf(m->other_is != 0 ? m->other : m->now, purpose, other);
}

static enum pf_rc
derive(const struct pf_master *m, struct pf_keys *out)
{
	const struct {
		const char *purpose;
		unsigned char *now, *other;
	} all[] = {
		{ "poppy audit 1", out->audit, NULL },
		{ "poppy dpop nonce 1", out->nonce, out->other_nonce },
		{ "poppy csrf 1", out->csrf, out->other_csrf },
		{ "poppy one-time code 1", out->code, out->other_code },
		{ "poppy account token successor 1", out->successor, NULL },
	};
	enum pf_rc rc;

	(void)memcpy(out->user, m->user, sizeof(out->user));
	for (size_t i = 0; i < PF_COUNT(all); i++) {
		rc = derive_one(m, all[i].purpose, all[i].now, all[i].other);
		if (rc != PF_OK)
			return rc;
	}
	return PF_OK;
}

enum pf_rc
pf_keys_load(const char *folder, struct pf_keys *out, const char **why)
{
	struct pf_master m = { .kept = false };
	enum pf_rc rc;

	rc = read_master(folder, &m, why);
	if (rc == PF_OK) {
		*why = "OpenSSL can't derive keys";
		rc = derive(&m, out);
	}
	pf_master_wipe(&m);
	return rc;
}

void
pf_keys_wipe(struct pf_keys *k)
{
	pf_wipe(k, sizeof(*k));
}

enum pf_rc
pf_user_of(const struct pf_keys *k, struct pf_str client_id, struct pf_str sub,
    struct pf_user *out)
{
	const struct pf_str parts[] = { client_id, sub };
	enum pf_rc rc;

	rc = pf_hmac256(k->user, parts, PF_COUNT(parts), out->key);
	out->bucket = (unsigned)out->key[0] << 4 | out->key[1] >> 4;
	return rc;
}
