/*
 * poppyctl - for the operator: install and migrate the schema, make secrets,
 * look whether all is well.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "core/jose/crypt.h"
#include "tools/poppyctl/ctl.h"

#define ARENA_FIRST	(256u << 10)
#define ARENA_CAP	(64u << 20)

/* What a command needs of poppy.conf: nothing, conninfo alone, the whole. */
enum need { NEEDS_NOTHING, NEEDS_DATABASE, NEEDS_ALL };

static int
settings(struct ctl *c)
{
	(void)c;
	pf_conf_document(stdout, &pf_settings_table);
	return CTL_OK;
}

static const struct command {
	const char *noun, *verb;	/* verb NULL: a noun alone */
	enum need need;
	int (*run)(struct ctl *);
} commands[] = {
	{ "db",		"install",	NEEDS_DATABASE,	ctl_db_install },
	{ "db",		"migrate",	NEEDS_DATABASE,	ctl_db_migrate },
	{ "db",		"status",	NEEDS_DATABASE,	ctl_db_status },
	{ "check",	NULL,		NEEDS_ALL,	ctl_check },
	{ "secrets",	"init",		NEEDS_ALL,	ctl_secrets_init },
	{ "settings",	NULL,		NEEDS_NOTHING,	settings },
};

static const struct option options[] = {
	{ "ca",		required_argument,	NULL, 'a' },
	{ "config",	required_argument,	NULL, 'c' },
	{ "conninfo",	required_argument,	NULL, 'd' },
	{ "help",	no_argument,		NULL, 'h' },
	{ "json",	no_argument,		NULL, 'j' },
	{ "sql",	required_argument,	NULL, 's' },
	{ "version",	no_argument,		NULL, 'V' },
	{ NULL,		0,			NULL, 0 },
};

static int
usage(FILE *to)
{
	(void)fprintf(to,
	    "usage: poppyctl [-c FILE] [--json] [--conninfo TEXT] [--sql DIR] "
	    "[--ca FILE]\n                COMMAND\n\n"
	    "  check         look at this host and what it publishes; exit 0, "
	    "1 with\n                warnings, 2 with faults\n"
	    "  db install    make or complete schemas, tables and functions\n"
	    "  db migrate    bring an installed database up to this release\n"
	    "  db status     exit 0 if current, 1 if behind or absent, 2 if "
	    "wrong\n"
	    "  secrets init  make this host's master key\n"
	    "  settings      list every setting of poppy.conf\n\n"
	    "FILE is %s/poppy/poppy.conf unless given. See poppyctl(8).\n",
	    PF_SYSCONFDIR);
	return to == stdout ? CTL_OK : CTL_USAGE;
}

int
ctl_fail(const struct ctl *c, int status, const char *fmt, ...)
{
	char text[1400];
	struct pf_buf b;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!c->json) {
		(void)fprintf(stderr, "poppyctl: %s\n", text);
		return status;
	}
	pf_buf_init(&b, c->arena, 16384);
	pf_json_quote(&b, pf_str(text));
	(void)printf("{\"error\":%.*s}\n", PF_STRF(pf_buf_str(&b)));
	(void)fflush(stdout);
	return status;
}

/* A fault of the file as a whole has neither line nor key. */
static int
bad_settings(const struct ctl *c, const struct pf_conf_fault *f)
{
	char line[32] = "";

	if (f->line > 0)
		(void)snprintf(line, sizeof(line), ":%lld", (long long)f->line);
	return ctl_fail(c, CTL_WRONG, "%s%s%s%s: %s", f->file, line,
	    f->key[0] != '\0' ? ": " : "", f->key, f->reason);
}

static int
run(struct ctl *c, const struct command *cmd)
{
	struct pf_conf_fault fault = { 0 };
	enum pf_rc rc;

	if (cmd->need == NEEDS_ALL ||
	    (cmd->need == NEEDS_DATABASE && c->conninfo == NULL)) {
		rc = pf_settings_read(c->conf, c->arena, &c->set, &fault);
		if (rc == PF_E_MEM)
			return ctl_fail(c, CTL_WRONG, "no memory");
		if (rc != PF_OK)
			return bad_settings(c, &fault);
	}
	if (cmd->need == NEEDS_DATABASE && c->conninfo == NULL)
		c->conninfo = c->set.database.conninfo.p;
	return cmd->run(c);
}

static const struct command *
find(int argc, char **argv)
{
	if (argc < 1 || argc > 2)
		return NULL;
	for (size_t i = 0; i < PF_COUNT(commands); i++) {
		const char *verb = commands[i].verb;

		if (strcmp(argv[0], commands[i].noun) == 0 &&
		    (verb == NULL ? argc == 1 :
		    argc == 2 && strcmp(argv[1], verb) == 0))
			return &commands[i];
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	struct pf_arena arena;
	struct ctl c = {
		.conf = PF_SYSCONFDIR "/poppy/poppy.conf",
		.sql = PF_PKGDATADIR "/sql",
		.arena = &arena,
	};
	const struct command *cmd;
	int opt, status;

	while ((opt = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			c.conf = optarg;
			break;
		case 'a':
			c.ca = optarg;
			break;
		case 'd':
			c.conninfo = optarg;
			break;
		case 'j':
			c.json = true;
			break;
		case 's':
			c.sql = optarg;
			break;
		case 'V':
			(void)puts(PACKAGE_STRING);
			return CTL_OK;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	}
	if ((cmd = find(argc - optind, argv + optind)) == NULL)
		return usage(stderr);
	if (pf_arena_init(&arena, ARENA_FIRST, ARENA_CAP) != PF_OK)
		return CTL_WRONG;
	status = pf_crypt_init() == PF_OK ? run(&c, cmd) :
	    ctl_fail(&c, CTL_WRONG, "OpenSSL lacks what is needed");
	pf_arena_free(&arena);
	pf_crypt_end();
	return status;
}
