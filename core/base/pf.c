#include "core/base/pf.h"

static const char *const names[] = {
	[PF_OK] = "ok",
	[PF_PARKED] = "parked",
	[PF_E_INPUT] = "input",
	[PF_E_AUTH] = "auth",
	[PF_E_FORBID] = "forbid",
	[PF_E_ABSENT] = "absent",
	[PF_E_CONFLICT] = "conflict",
	[PF_E_LIMIT] = "limit",
	[PF_E_BUSY] = "busy",
	[PF_E_DB] = "db",
	[PF_E_UPSTREAM] = "upstream",
	[PF_E_MEM] = "mem",
	[PF_E_BUG] = "bug",
};

const char *
pf_rc_name(enum pf_rc rc)
{
	if ((size_t)rc >= PF_COUNT(names) || names[rc] == NULL)
		return "unknown";
	return names[rc];
}
