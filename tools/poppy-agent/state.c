#include "config.h"

#include "tools/poppy-agent/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tools/poppy-agent/agent.h"

#define FILE_MAX	(16u << 20)
#define DOCS_MAX	64
#define SESSIONS_MAX	8	/* of one User at one Company */

static enum pf_rc
broken(struct agent *ag, enum pf_rc rc, const char *what)
{
	ag_fault_asked(&ag->fault, NULL, PF_NOSTR);
	return ag_fault(&ag->fault, rc, NULL, "state file %s: %s",
	    ag->opt.state, what);
}

/* Private keys and tokens lie in it: nobody else may read it, or have put it
 * there. */
static enum pf_rc
check_owner(struct agent *ag, int fd, size_t *size)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return broken(ag, PF_E_UPSTREAM, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return broken(ag, PF_E_FORBID, "is no regular file");
	if (st.st_uid != geteuid())
		return broken(ag, PF_E_FORBID, "belongs to another user");
	if ((st.st_mode & 077) != 0)
		return broken(ag, PF_E_FORBID, "others may read it, and it "
		    "holds private keys and tokens; put it right with "
		    "chmod 600, and make new keys if others could have read "
		    "it");
	if (st.st_size < 0 || (uintmax_t)st.st_size > FILE_MAX)
		return broken(ag, PF_E_INPUT, "is larger than 16 MiB");
	*size = (size_t)st.st_size;
	return PF_OK;
}

static enum pf_rc
read_all(struct agent *ag, int fd, size_t size, struct pf_str *out)
{
	char *p = pf_arena_alloc(&ag->arena, size + 1);
	size_t got = 0;
	ssize_t n;

	if (p == NULL)
		return broken(ag, PF_E_MEM, "no memory");
	while (got < size && (n = read(fd, p + got, size - got)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return broken(ag, PF_E_UPSTREAM, strerror(errno));
		got += (size_t)n;
	}
	*out = pf_bytes(p, got);
	return PF_OK;
}

static enum pf_rc
load_from(struct agent *ag, int fd)
{
	const char *why = "";
	struct pf_str text;
	size_t size;
	enum pf_rc rc;

	if ((rc = check_owner(ag, fd, &size)) != PF_OK ||
	    (rc = read_all(ag, fd, size, &text)) != PF_OK)
		return rc;
	if ((rc = ag_state_parse(&ag->arena, text, &ag->st, &why)) != PF_OK)
		return broken(ag, rc, why);
	return PF_OK;
}

enum pf_rc
ag_state_load(struct agent *ag)
{
	enum pf_rc rc;
	int fd;

	fd = open(ag->opt.state,
	    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT) {
		memset(&ag->st, 0, sizeof(ag->st));
		return PF_OK;
	}
	if (fd < 0)
		return broken(ag, PF_E_UPSTREAM, strerror(errno));
	rc = load_from(ag, fd);
	close(fd);
	return rc;
}

/* The folders of the path that don't exist yet, for this user only. */
static void
make_folders(char *path)
{
	for (char *p = strchr(path + 1, '/'); p != NULL;
	    p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(path, 0700);	/* open() will tell */
		*p = '/';
	}
}

static enum pf_rc
lock(struct agent *ag, int *fd)
{
	struct pf_buf b;
	char *path;

	pf_buf_init(&b, &ag->arena, 4096);
	pf_buf_addz(&b, ag->opt.state);
	pf_buf_addz(&b, ".lock");
	if ((path = pf_arena_z(&ag->arena, pf_buf_str(&b))) == NULL)
		return broken(ag, PF_E_INPUT, "path too long");
	make_folders(path);
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd < 0)
		return broken(ag, PF_E_UPSTREAM, strerror(errno));
	while (flock(*fd, LOCK_EX) != 0)
		if (errno != EINTR) {
			close(*fd);
			return broken(ag, PF_E_UPSTREAM, strerror(errno));
		}
	return PF_OK;
}

static bool
write_all(int fd, struct pf_str s)
{
	ssize_t n;

	for (; s.n > 0; s = pf_str_from(s, (size_t)n)) {
		n = write(fd, s.p, s.n);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n < 0)
			return false;
	}
	return fsync(fd) == 0;
}

static enum pf_rc
replace(struct agent *ag, struct pf_str text)
{
	struct pf_buf b;
	char *temp;
	int fd, saved;

	pf_buf_init(&b, &ag->arena, 4096);
	pf_buf_addz(&b, ag->opt.state);
	pf_buf_addz(&b, ".XXXXXX");
	if ((temp = pf_arena_z(&ag->arena, pf_buf_str(&b))) == NULL)
		return broken(ag, PF_E_INPUT, "path too long");
	if ((fd = mkostemp(temp, O_CLOEXEC)) < 0)	/* makes it 0600 */
		return broken(ag, PF_E_UPSTREAM, strerror(errno));
	if (!write_all(fd, text) || rename(temp, ag->opt.state) != 0) {
		saved = errno;
		close(fd);
		(void)unlink(temp);
		return broken(ag, PF_E_UPSTREAM, strerror(saved));
	}
	close(fd);
	return PF_OK;
}

/* What has had its time, so that the file stays small. */
static void
prune(struct ag_state *st)
{
	int64_t now_at = pf_now_at();
	size_t n = 0;

	for (struct ag_hold **h = &st->holds; *h != NULL;)
		if ((*h)->until_at <= now_at)
			*h = (*h)->next;
		else
			h = &(*h)->next;
	for (struct ag_pending **p = &st->pendings; *p != NULL;)
		if ((*p)->until_at <= now_at)
			*p = (*p)->next;
		else
			p = &(*p)->next;
	for (struct ag_doc **d = &st->docs; *d != NULL;)
		if (++n > DOCS_MAX)
			*d = NULL;
		else
			d = &(*d)->next;
	for (struct ag_user *u = st->users; u != NULL; u = u->next) {
		n = 0;
		for (struct ag_session **s = &u->sessions; *s != NULL;)
			if (++n > SESSIONS_MAX)
				*s = NULL;
			else
				s = &(*s)->next;
	}
}

static enum pf_rc
save(struct agent *ag)
{
	struct pf_str text;
	struct pf_buf b;

	prune(&ag->st);
	pf_buf_init(&b, &ag->arena, FILE_MAX);
	ag_state_write(&b, &ag->st);
	if (pf_buf_done(&b, &text) != PF_OK)
		return broken(ag, PF_E_MEM, "would be larger than 16 MiB");
	return replace(ag, text);
}

enum pf_rc
ag_state_change(struct agent *ag,
    enum pf_rc (*fn)(struct agent *ag, void *arg), void *arg)
{
	enum pf_rc rc;
	int fd = -1;

	if ((rc = lock(ag, &fd)) != PF_OK)
		return rc;
	if ((rc = ag_state_load(ag)) == PF_OK &&
	    (rc = fn(ag, arg)) == PF_OK)
		rc = save(ag);
	close(fd);
	return rc;
}

struct ag_user *
ag_state_user(struct agent *ag, struct pf_str issuer)
{
	for (struct ag_user *u = ag->st.users; u != NULL; u = u->next)
		if (pf_str_eq(u->issuer, issuer) &&
		    pf_str_eqz(u->user, ag->opt.user))
			return u;
	return NULL;
}

struct ag_session *
ag_state_session(struct agent *ag, struct pf_str issuer, struct pf_str id)
{
	struct ag_user *u = ag_state_user(ag, issuer);

	if (u == NULL)
		return NULL;
	for (struct ag_session *s = u->sessions; s != NULL; s = s->next)
		if (!pf_str_given(id) || pf_str_eq(s->id, id))
			return s;
	return NULL;
}

struct ag_account *
ag_state_account(struct agent *ag, struct pf_str issuer, struct pf_str id)
{
	struct ag_user *u = ag_state_user(ag, issuer);

	if (u == NULL)
		return NULL;
	for (struct ag_account *a = u->accounts; a != NULL; a = a->next)
		if (!pf_str_given(id) || pf_str_eq(a->id, id))
			return a;
	return NULL;
}

struct ag_pending *
ag_state_pending(struct agent *ag, struct pf_str state)
{
	for (struct ag_pending *p = ag->st.pendings; p != NULL; p = p->next)
		if (pf_str_eq(p->state, state))
			return p;
	return NULL;
}

struct ag_place *
ag_state_place(struct agent *ag, struct pf_str domain)
{
	for (struct ag_place *p = ag->st.places; p != NULL; p = p->next)
		if (pf_str_eq(p->domain, domain))
			return p;
	return NULL;
}

struct ag_doc *
ag_state_doc(struct agent *ag, struct pf_str url)
{
	for (struct ag_doc *d = ag->st.docs; d != NULL; d = d->next)
		if (pf_str_eq(d->url, url))
			return d;
	return NULL;
}

struct pf_str
ag_state_nonce(struct agent *ag, struct pf_str server)
{
	for (struct ag_nonce *n = ag->st.nonces; n != NULL; n = n->next)
		if (pf_str_eq(n->server, server))
			return n->nonce;
	return PF_NOSTR;
}
