/*
 * What the settings of all hosts have in common, as one hash: every setting in
 * the order of the table, but for those that are a host's own.
 */
#include "tools/poppyctl/check.h"

#include <string.h>

#define TEXT_MAX	(4u << 20)

/* At the top of the file: where this host has its database, sockets, keys. */
static const char *const own[] = {
	"database", "secrets", "gate", "listen", "listen_anywhere", "workers",
	"max_parked", "log"
};

static bool
is_own(const char *name)
{
	for (size_t i = 0; i < PF_COUNT(own); i++)
		if (strcmp(name, own[i]) == 0)
			return true;
	return false;
}

static void write_struct(struct pf_jw *w, const struct pf_conf_table *t,
    const char *at, bool top);

static void
write_strs(struct pf_jw *w, const char *name, const struct pf_strs *list)
{
	pf_jw_open(w, name, '[');
	for (size_t i = 0; i < list->n; i++)
		pf_jw_str(w, NULL, list->v[i]);
	pf_jw_close(w, ']');
}

static void
write_map(struct pf_jw *w, const char *name, const struct pf_map *map)
{
	pf_jw_open(w, name, '[');
	for (size_t i = 0; i < map->n; i++) {
		pf_jw_str(w, NULL, map->key[i]);
		pf_jw_str(w, NULL, map->value[i]);
	}
	pf_jw_close(w, ']');
}

static void
write_list(struct pf_jw *w, const struct pf_conf_key *key,
    const struct pf_list *list)
{
	pf_jw_open(w, key->name, '[');
	for (size_t i = 0; i < list->n; i++) {
		pf_jw_open(w, NULL, '{');
		write_struct(w, key->sub,
		    (const char *)list->v + i * key->sub->size, false);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
}

static void
write_key(struct pf_jw *w, const struct pf_conf_key *key, const void *at)
{
	switch (key->type) {
	case PF_CONF_STR:
		pf_jw_str(w, key->name, *(const struct pf_str *)at);
		break;
	case PF_CONF_INT:
		pf_jw_int(w, key->name, *(const int64_t *)at);
		break;
	case PF_CONF_BOOL:
		pf_jw_bool(w, key->name, *(const bool *)at);
		break;
	case PF_CONF_STRS:
		write_strs(w, key->name, at);
		break;
	case PF_CONF_MAP:
		write_map(w, key->name, at);
		break;
	case PF_CONF_OBJ:
		pf_jw_open(w, key->name, '{');
		write_struct(w, key->sub, at, false);
		pf_jw_close(w, '}');
		break;
	case PF_CONF_LIST:
		write_list(w, key, at);
		break;
	case PF_CONF_LINE:	/* where it stands is no setting */
		break;
	}
}

static void
write_struct(struct pf_jw *w, const struct pf_conf_table *t, const char *at,
    bool top)
{
	for (size_t i = 0; i < t->nkeys; i++)
		if (!top || !is_own(t->keys[i].name))
			write_key(w, &t->keys[i], at + t->keys[i].at);
}

enum pf_rc
ck_shared(struct pf_arena *a, const struct pf_settings *s,
    unsigned char out[PF_SHA256_LEN])
{
	struct pf_str text;
	struct pf_buf b;
	struct pf_jw w;
	enum pf_rc rc;

	pf_buf_init(&b, a, TEXT_MAX);
	w = pf_jw(&b);
	pf_jw_open(&w, NULL, '{');
	write_struct(&w, &pf_settings_table, (const char *)s, true);
	pf_jw_close(&w, '}');
	rc = pf_buf_done(&b, &text);
	return rc != PF_OK ? rc : pf_sha256(text, out);
}
