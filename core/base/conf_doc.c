#include "core/base/conf.h"

static const struct { const char *what, *unit; } kinds[] = {
	[PF_CONF_STR] = { "string", " bytes" },
	[PF_CONF_INT] = { "integer", "" },
	[PF_CONF_BOOL] = { "true or false", NULL },
	[PF_CONF_STRS] = { "list of strings", " entries" },
	[PF_CONF_MAP] = { "object of strings", " entries" },
	[PF_CONF_OBJ] = { "object", NULL },
	[PF_CONF_LIST] = { "list of objects", " entries" },
	[PF_CONF_LINE] = { "", NULL },
};

static void
describe(FILE *to, const char *prefix, const struct pf_conf_key *k)
{
	fprintf(to, "%s%s: %s", prefix, k->name, kinds[k->type].what);
	if (kinds[k->type].unit != NULL && (k->min != 0 || k->max != 0))
		fprintf(to, ", %lld to %lld%s", (long long)k->min,
		    (long long)k->max, kinds[k->type].unit);
	if (k->def == NULL)
		fputs(", must be given", to);
	else if (k->type != PF_CONF_OBJ)
		fprintf(to, ", default %s", k->def);
	fprintf(to, ". %s\n", k->doc == NULL ? "" : k->doc);
}

static void
table_lines(FILE *to, const char *prefix, const struct pf_conf_table *t)
{
	char deeper[256];

	for (size_t i = 0; i < t->nkeys; i++) {
		const struct pf_conf_key *k = &t->keys[i];

		if (k->type == PF_CONF_LINE)
			continue;
		describe(to, prefix, k);
		if (k->sub == NULL)
			continue;
		snprintf(deeper, sizeof(deeper), "%s%s%s", prefix, k->name,
		    k->type == PF_CONF_LIST ? "[]." : ".");
		table_lines(to, deeper, k->sub);
	}
}

void
pf_conf_document(FILE *to, const struct pf_conf_table *table)
{
	table_lines(to, "", table);
}
