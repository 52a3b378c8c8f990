/*
 * poppyctl - for the operator: the schema, secrets, agents, Sessions, settings,
 * and whether all is well.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "core/jose/crypt.h"
#include "tools/poppyctl/ctl.h"

#define ARENA_FIRST	(256u << 10)
#define ARENA_CAP	(64u << 20)

#define LIMIT		100	/* of a list, unless told */
#define LIMIT_MAX	100000

/* What a command takes beside operands. */
#define TAKES_CLIENT	1u
#define TAKES_LIMIT	2u
#define TAKES_ALL	4u
#define TAKES_KIND	8u
#define TAKES_AGENT	16u
#define TAKES_TAP	32u
#define TAKES_LOGIN	64u
#define TAKES_ACCOUNT	128u
#define TAKES_YES	256u

/* What a command needs of poppy.conf: nothing, conninfo alone, the whole. */
enum need { NEEDS_NOTHING, NEEDS_DATABASE, NEEDS_ALL };

static const struct command {
	const char *noun, *verb;	/* verb NULL: a noun alone */
	enum need need;
	int least, most;		/* operands */
	unsigned takes;
	int (*run)(struct ctl *);
	const char *usage, *doc;
} commands[] = {
	{ "check", NULL, NEEDS_ALL, 0, 0, 0, ctl_check, "[--ca FILE]",
	    "look at this host and what it publishes" },
	{ "doctor", NULL, NEEDS_ALL, 0, 0, TAKES_AGENT | TAKES_TAP, ctl_doctor,
	    "[--ca FILE] [--tap]",
	    "let an agent of our own visit the shop" },
	{ "db", "install", NEEDS_DATABASE, 0, 0, 0, ctl_db_install, "",
	    "make or complete schemas, tables and functions" },
	{ "db", "migrate", NEEDS_DATABASE, 0, 0, 0, ctl_db_migrate, "",
	    "bring an installed database up to this release" },
	{ "db", "status", NEEDS_DATABASE, 0, 0, 0, ctl_db_status, "",
	    "exit 0 if current, 1 if behind or absent, 2 if wrong" },
	{ "secrets", "init", NEEDS_ALL, 0, 0, 0, ctl_secrets_init, "",
	    "make this host's master key, and the gate's secret" },
	{ "secrets", "rotate", NEEDS_ALL, 1, 1, 0, ctl_secrets_rotate,
	    "begin|switch|finish", "replace it, step by step" },
	{ "agents", "list", NEEDS_DATABASE, 0, 0, TAKES_LIMIT, ctl_agents_list,
	    "", "rules, and agents that are known" },
	{ "agents", "show", NEEDS_DATABASE, 1, 1, 0, ctl_agents_show,
	    "CLIENT_ID", "all that is known of one" },
	{ "agents", "allow", NEEDS_DATABASE, 1, 1, 0, ctl_agents_allow,
	    "PATTERN", "register those, and never count them as new" },
	{ "agents", "block", NEEDS_DATABASE, 1, 1, 0, ctl_agents_block,
	    "PATTERN", "refuse those, and all their tokens, at once" },
	{ "agents", "unblock", NEEDS_DATABASE, 1, 1, 0, ctl_agents_unblock,
	    "PATTERN", "take a block back" },
	{ "agents", "forget", NEEDS_DATABASE, 1, 1, 0, ctl_agents_forget,
	    "PATTERN", "drop a rule, and fetch documents anew" },
	{ "sessions", "list", NEEDS_DATABASE, 0, 0, TAKES_CLIENT | TAKES_LIMIT |
	    TAKES_ALL, ctl_sessions_list, "[--client ID] [--all]",
	    "live Sessions, the last used first" },
	{ "sessions", "end", NEEDS_DATABASE, 0, 1, TAKES_CLIENT,
	    ctl_sessions_end, "ID | --client ID",
	    "end one, or all of an agent" },
	{ "grants", "list", NEEDS_DATABASE, 0, 0, TAKES_CLIENT | TAKES_LIMIT |
	    TAKES_ALL | TAKES_LOGIN, ctl_grants_list,
	    "[--login L] [--client ID] [--all]",
	    "what customers let agents do, the newest first" },
	{ "grants", "revoke", NEEDS_DATABASE, 1, 1, 0, ctl_grants_revoke, "NO",
	    "sign an agent out of one" },
	{ "customer", "export", NEEDS_DATABASE, 0, 1, TAKES_ACCOUNT,
	    ctl_customer_export, "LOGIN | --account ID",
	    "all that is kept about one, as JSON" },
	{ "customer", "erase", NEEDS_DATABASE, 0, 1, TAKES_ACCOUNT | TAKES_YES,
	    ctl_customer_erase, "LOGIN | --account ID",
	    "forget it; asks, unless --yes" },
	{ "audit", NULL, NEEDS_DATABASE, 0, 0, TAKES_CLIENT | TAKES_KIND |
	    TAKES_LIMIT, ctl_audit, "[--client ID] [--kind KIND]",
	    "what was refused or changed, the newest first" },
	{ "settings", NULL, NEEDS_NOTHING, 0, 0, 0, ctl_settings, "",
	    "list every setting of poppy.conf" },
};

static const struct option options[] = {
	{ "account",	required_argument,	NULL, 'i' },
	{ "agent",	required_argument,	NULL, 'g' },
	{ "all",	no_argument,		NULL, 'a' },
	{ "ca",		required_argument,	NULL, 'A' },
	{ "client",	required_argument,	NULL, 'C' },
	{ "config",	required_argument,	NULL, 'c' },
	{ "conninfo",	required_argument,	NULL, 'd' },
	{ "help",	no_argument,		NULL, 'h' },
	{ "json",	no_argument,		NULL, 'j' },
	{ "kind",	required_argument,	NULL, 'k' },
	{ "limit",	required_argument,	NULL, 'n' },
	{ "login",	required_argument,	NULL, 'l' },
	{ "sql",	required_argument,	NULL, 's' },
	{ "tap",	no_argument,		NULL, 't' },
	{ "version",	no_argument,		NULL, 'V' },
	{ "yes",	no_argument,		NULL, 'y' },
	{ NULL,		0,			NULL, 0 },
};

#define USAGE_WIDTH	36

static int
usage(FILE *to)
{
	char text[80];

	(void)fprintf(to,
	    "usage: poppyctl [-c FILE] [--json] [--conninfo TEXT] [--sql DIR] "
	    "COMMAND\n\n");
	for (size_t i = 0; i < PF_COUNT(commands); i++) {
		(void)snprintf(text, sizeof(text), "%s%s%s %s",
		    commands[i].noun, commands[i].verb == NULL ? "" : " ",
		    commands[i].verb == NULL ? "" : commands[i].verb,
		    commands[i].usage);
		/* What is too long for the column has a line of its own. */
		if (strlen(text) >= USAGE_WIDTH) {
			(void)fprintf(to, "  %s\n", text);
			text[0] = '\0';
		}
		(void)fprintf(to, "  %-*s%s\n", USAGE_WIDTH, text,
		    commands[i].doc);
	}
	(void)fprintf(to, "\nPATTERN is a client_id, a host, or *.HOST. Lists "
	    "take --limit N.\n"
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

/* "secret" is as good as "secrets". */
static bool
is_noun(const char *word, const char *noun)
{
	return strcmp(word, noun) == 0 || (strcmp(word, "secret") == 0 &&
	    strcmp(noun, "secrets") == 0);
}

/* The command that these words begin with, if all of them fit. */
static const struct command *
find(struct ctl *c, int argc, char **argv, unsigned given)
{
	for (size_t i = 0; i < PF_COUNT(commands); i++) {
		const struct command *cmd = &commands[i];
		int words = cmd->verb == NULL ? 1 : 2;

		if (argc < words || !is_noun(argv[0], cmd->noun) ||
		    (cmd->verb != NULL && strcmp(argv[1], cmd->verb) != 0))
			continue;
		c->operand = argv + words;
		return argc - words >= cmd->least && argc - words <= cmd->most &&
		    (given & ~cmd->takes) == 0 ? cmd : NULL;
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
		.agent = PF_BINDIR "/poppy-agent",
		.limit = LIMIT,
		.arena = &arena,
	};
	const struct command *cmd;
	unsigned given = 0;
	int opt, status;

	while ((opt = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (opt) {
		case 'a':
			c.all = true;
			given |= TAKES_ALL;
			break;
		case 'g':
			c.agent = optarg;
			given |= TAKES_AGENT;
			break;
		case 't':
			c.tap = true;
			given |= TAKES_TAP;
			break;
		case 'i':
			c.account = optarg;
			given |= TAKES_ACCOUNT;
			break;
		case 'l':
			c.login = optarg;
			given |= TAKES_LOGIN;
			break;
		case 'y':
			c.yes = true;
			given |= TAKES_YES;
			break;
		case 'C':
			c.client = optarg;
			given |= TAKES_CLIENT;
			break;
		case 'k':
			c.kind = optarg;
			given |= TAKES_KIND;
			break;
		case 'n':
			if (pf_str_int(pf_str(optarg), 1, LIMIT_MAX, &c.limit)
			    != PF_OK)
				return usage(stderr);
			given |= TAKES_LIMIT;
			break;
		case 'c':
			c.conf = optarg;
			break;
		case 'A':
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
	if ((cmd = find(&c, argc - optind, argv + optind, given)) == NULL)
		return usage(stderr);
	if (pf_arena_init(&arena, ARENA_FIRST, ARENA_CAP) != PF_OK)
		return CTL_WRONG;
	status = pf_crypt_init() == PF_OK ? run(&c, cmd) :
	    ctl_fail(&c, CTL_WRONG, "OpenSSL lacks what is needed");
	pf_arena_free(&arena);
	pf_crypt_end();
	return status;
}
