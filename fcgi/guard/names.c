/*
 * names - under which paths a page of the shop may be reached.
 *
 * Those that are the page's own: itself, what PHP gets as PATH_INFO behind it,
 * a folder without its slash. By these a rule lets through. Others depend on
 * the web server and the shop: DirectoryIndex, MultiViews, a front controller,
 * a database that ignores case. By those a rule only adds to what is demanded,
 * so that none of them leads around it.
 */
#include "fcgi/guard/guard.h"

#define PHP	PF_LIT(".php")

static struct pf_str
without_slash(struct pf_str path)
{
	return pf_str_ends(path, PF_LIT("/")) ?
	    pf_str_head(path, path.n - 1) : path;
}

bool
guard_names(struct pf_str rule, struct pf_str path)
{
	struct pf_str at = without_slash(rule);

	return pf_str_starts(path, at) &&
	    (path.n == at.n || path.p[at.n] == '/');
}

static bool
starts(struct pf_str path, struct pf_str at)
{
	return path.n >= at.n &&
	    pf_str_eq_nocase(pf_str_head(path, at.n), at);
}

static bool
ends(struct pf_str path, struct pf_str tail)
{
	return path.n >= tail.n &&
	    pf_str_eq_nocase(pf_str_from(path, path.n - tail.n), tail);
}

/* Where a shop that takes paths apart by itself may see its end. */
static bool
ends_there(struct pf_str rest)
{
	return rest.n == 0 || pf_str_has(PF_LIT("/;?#"), rest.p[0]) ||
	    starts(rest, PHP);
}

static bool
begins(struct pf_str path, struct pf_str at)
{
	return starts(path, at) && ends_there(pf_str_from(path, at.n));
}

static bool
may_be(struct pf_str rule, struct pf_str path)
{
	struct pf_str at = without_slash(rule);

	if (begins(path, at))
		return true;
	if (!ends(at, PHP))
		return false;
	if (begins(path, pf_str_head(at, at.n - PHP.n)))
		return true;
	return ends(at, PF_LIT("/index.php")) && pf_str_ends(path,
	    PF_LIT("/")) && pf_str_eq_nocase(path,
	    pf_str_head(at, at.n - PF_LIT("index.php").n));
}

bool
guard_may_name(struct pf_str rule, struct pf_str path)
{
	if (may_be(rule, path))
		return true;
	/* What a script gets may be what it goes by. */
	for (size_t i = 1; i < path.n; i++)
		if (path.p[i] == '/' && ends(pf_str_head(path, i), PHP) &&
		    may_be(rule, pf_str_from(path, i)))
			return true;
	return false;
}
