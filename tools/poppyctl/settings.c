/*
 * poppyctl settings: what may stand in poppy.conf.
 */
#include <stdio.h>

#include "tools/poppyctl/table.h"

static const char *const types[] = {
	[PF_CONF_STR] = "string",
	[PF_CONF_INT] = "integer",
	[PF_CONF_BOOL] = "boolean",
	[PF_CONF_STRS] = "strings",
	[PF_CONF_MAP] = "map",
	[PF_CONF_OBJ] = "object",
	[PF_CONF_LIST] = "list",
	[PF_CONF_LINE] = "",
};

static void members(struct pf_jw *w, const struct pf_conf_table *t);

static void
member(struct pf_jw *w, const struct pf_conf_key *k)
{
	pf_jw_open(w, k->name, '{');
	pf_jw_strz(w, "type", types[k->type]);
	if (k->min != 0 || k->max != 0) {
		pf_jw_int(w, "min", k->min);
		pf_jw_int(w, "max", k->max);
	}
	pf_jw_bool(w, "required", k->def == NULL);
	if (k->def != NULL)
		pf_jw_raw(w, "default", pf_str(k->def));
	if (k->doc != NULL)
		pf_jw_strz(w, "doc", k->doc);
	if (k->sub != NULL) {
		pf_jw_open(w, "keys", '{');
		members(w, k->sub);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, '}');
}

/* As deep as the table is: settings nest three times at most. */
static void
members(struct pf_jw *w, const struct pf_conf_table *t)
{
	for (size_t i = 0; i < t->nkeys; i++)
		if (t->keys[i].type != PF_CONF_LINE)
			member(w, &t->keys[i]);
}

int
ctl_settings(struct ctl *c)
{
	struct pf_buf b;
	struct pf_jw w;

	if (c->json) {
		ctl_json_begin(c, &b, &w);
		members(&w, &pf_settings_table);
		return ctl_json_end(c, &b, &w);
	}
	pf_conf_document(stdout, &pf_settings_table);
	return fflush(stdout) == 0 ? CTL_OK : CTL_WRONG;
}
