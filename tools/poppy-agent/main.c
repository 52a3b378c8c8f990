/*
 * poppy-agent - a Personal Agent for the command line (protocol draft 0.1).
 */
#include "config.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/jose/crypt.h"
#include "tools/poppy-agent/agent.h"
#include "tools/poppy-agent/http.h"

#define ARENA_FIRST	(256u << 10)
#define ARENA_CAP	(512u << 20)
#define MAX_WAIT	30

enum { EXIT_USAGE = 2 };

/* takes: the letters of its own options; args: how many words follow. */
static const struct command {
	const char *name;
	enum pf_rc (*run)(struct agent *ag);
	const char *takes;
	int min_args, max_args;
	const char *usage, *what;
} commands[] = {
	{ "init", ag_cmd_init, "can", 0, 0,
	    "--client-id URL [--alg ALG] [--name NAME]",
	    "make the agent's identity and its signing key" },
	{ "keys", ag_cmd_keys, "a", 0, 1, "[list|rotate|jwks] [--alg ALG]",
	    "list or rotate the signing keys, print the public ones" },
	{ "serve", ag_cmd_serve, "lcCKan", 0, 0,
	    "--listen ADDR:PORT [--client-id URL] [--cert FILE --key FILE]",
	    "publish the client metadata and the public keys over HTTPS" },
	{ "discover", ag_cmd_discover, "", 1, 1, "DOMAIN[:PORT]",
	    "read and check what a Company publishes" },
	{ "session", ag_cmd_session, "", 1, 1, "DOMAIN[:PORT]",
	    "start a Session" },
	{ "renew", ag_cmd_renew, "S", 1, 1, "DOMAIN[:PORT] [--session ID]",
	    "get a new Session Token for a Session" },
	{ "signin", ag_cmd_signin, "SO", 2, 2,
	    "direct|device|mediated DOMAIN[:PORT] --scope SCOPES\n"
	    "              [--session ID]",
	    "get access to the User's account" },
	{ "refresh", ag_cmd_refresh, "SO", 1, 1,
	    "DOMAIN[:PORT] [--session ID] [--scope SCOPES]",
	    "use the Account Token, for a new Session or for that one" },
	{ "signout", ag_cmd_signout, "", 1, 1, "DOMAIN[:PORT]",
	    "give the access back" },
	{ "call", ag_cmd_call, "dHSo", 2, 2,
	    "METHOD URL [--data FILE|-] [--header 'Name: value']...\n"
	    "              [--session ID] [--company DOMAIN]",
	    "call an API with Session Token and DPoP Proof" },
	{ "open", ag_cmd_open, "SxT", 2, 2,
	    "DOMAIN[:PORT] URL [--session ID] [--headless [--text]]",
	    "let a browser join the Session and open a page" },
	{ "visit", ag_cmd_visit, "", 1, 1, "DOMAIN[:PORT]",
	    "walk the whole path of a signed-out visit, step by step" },
	{ "check", ag_cmd_check, "cL", 1, 1,
	    "DOMAIN[:PORT] [--client-url URL] [--login NAME]",
	    "test a deployment, mistakes included; prints TAP" },
	{ "status", ag_cmd_status, "", 0, 0, "",
	    "show what the state file holds, without secrets" },
};

static const struct option options[] = {
	{ "state", required_argument, NULL, 's' },
	{ "ca", required_argument, NULL, 'A' },
	{ "user", required_argument, NULL, 'u' },
	{ "max-wait", required_argument, NULL, 'w' },
	{ "refresh", no_argument, NULL, 'r' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ "listen", required_argument, NULL, 'l' },
	{ "client-id", required_argument, NULL, 'c' },
	{ "client-url", required_argument, NULL, 'c' },
	{ "cert", required_argument, NULL, 'C' },
	{ "key", required_argument, NULL, 'K' },
	{ "alg", required_argument, NULL, 'a' },
	{ "name", required_argument, NULL, 'n' },
	{ "data", required_argument, NULL, 'd' },
	{ "header", required_argument, NULL, 'H' },
	{ "session", required_argument, NULL, 'S' },
	{ "company", required_argument, NULL, 'o' },
	{ "scope", required_argument, NULL, 'O' },
	{ "login", required_argument, NULL, 'L' },
	{ "headless", no_argument, NULL, 'x' },
	{ "text", no_argument, NULL, 'T' },
	{ NULL, 0, NULL, 0 }
};
#define GLOBAL_OPTIONS	"sAuwrvjhV"

static void
help(FILE *to)
{
	fputs("usage: poppy-agent [options] command ...\n\n", to);
	for (size_t i = 0; i < PF_COUNT(commands); i++)
		fprintf(to, "  %-9s %s\n              %s\n", commands[i].name,
		    commands[i].usage, commands[i].what);
	fputs("\n"
	    "  --state FILE     ~/.local/state/poppy-agent/state.json\n"
	    "  --ca FILE        trust the certificates of this PEM file\n"
	    "  --user NAME      which of the agent's Users (default: me)\n"
	    "  --max-wait SECS  longest Retry-After to wait out (30)\n"
	    "  --refresh        ask again for cached documents\n"
	    "  --verbose        show what was sent and what came back\n"
	    "  --json           one JSON object a step\n", to);
}

static int PF_PRINTF(1, 2)
usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("poppy-agent: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputs("\n\"poppy-agent --help\" lists commands and options.\n", stderr);
	va_end(ap);
	return EXIT_USAGE;
}

static bool
set_option(struct agent *ag, int letter)
{
	struct ag_options *o = &ag->opt;
	const struct { int letter; const char **to; } texts[] = {
		{ 's', &o->state }, { 'A', &o->ca }, { 'u', &o->user },
		{ 'l', &o->listen }, { 'c', &o->client_id },
		{ 'C', &o->cert }, { 'K', &o->key }, { 'a', &o->alg },
		{ 'n', &o->name }, { 'd', &o->data }, { 'S', &o->session },
		{ 'o', &o->company }, { 'O', &o->scope },
		{ 'L', &o->login },
	};

	for (size_t i = 0; i < PF_COUNT(texts); i++)
		if (texts[i].letter == letter) {
			*texts[i].to = optarg;
			return pf_utf8_valid(pf_str(optarg));
		}
	switch (letter) {
	case 'r':
		o->refresh = true;
		return true;
	case 'v':
		ag->show.verbose = true;
		return true;
	case 'j':
		ag->show.json = true;
		return true;
	case 'x':
		o->headless = true;
		return true;
	case 'T':
		o->text = true;
		return true;
	case 'w':
		return pf_str_int(pf_str(optarg), 0, 86400, &o->max_wait) ==
		    PF_OK;
	case 'H':
		if (o->nheaders == AG_HEADERS_MAX)
			return false;
		o->header[o->nheaders++] = optarg;
		return true;
	default:
		return false;
	}
}

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; i < PF_COUNT(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* XDG base directories: what a program keeps between runs goes to the state
 * home. */
static const char *
default_state(struct agent *ag)
{
	const char *home = getenv("XDG_STATE_HOME");
	struct pf_buf b;

	pf_buf_init(&b, &ag->arena, 4096);
	if (home != NULL && home[0] == '/')
		pf_buf_addz(&b, home);
	else if ((home = getenv("HOME")) != NULL && home[0] == '/') {
		pf_buf_addz(&b, home);
		pf_buf_addz(&b, "/.local/state");
	} else
		return NULL;
	pf_buf_addz(&b, "/poppy-agent/state.json");
	return pf_arena_z(&ag->arena, pf_buf_str(&b));
}

static int
run(struct agent *ag, const struct command *c)
{
	enum pf_rc rc;

	if ((rc = ag_http_open(ag)) != PF_OK)
		return usage("libcurl can't be started");
	if ((rc = ag_state_load(ag)) == PF_OK)
		rc = c->run(ag);
	ag_http_close(ag);
	if (rc == PF_OK)
		return EXIT_SUCCESS;
	if (!ag->fault.shown) {
		if (ag->fault.got[0] == '\0')
			rc = ag_fault(&ag->fault, rc, NULL,
			    "failed without a reason (%s)", pf_rc_name(rc));
		ag_show_fault(&ag->show, &ag->fault);
	}
	return EXIT_FAILURE;
}

/* Options may stand before and after the command. */
static int
start(struct agent *ag, int argc, char **argv)
{
	const struct command *c;
	char given[64] = "";
	size_t n = 0;
	int letter;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (letter == 'h') {
			help(stdout);
			return EXIT_SUCCESS;
		}
		if (letter == 'V') {
			puts("poppy-agent " PACKAGE_VERSION);
			return EXIT_SUCCESS;
		}
		if (letter == '?')
			return usage("unknown option, or one without its "
			    "value: %s", argv[optind - 1]);
		if (!set_option(ag, letter))
			return usage("\"%s\" is no value for this option",
			    optarg != NULL ? optarg : "");
		if (n < sizeof(given) - 1)
			given[n++] = (char)letter;
	}
	if (optind == argc)
		return usage("a command is needed");
	if ((c = find_command(argv[optind])) == NULL)
		return usage("unknown command \"%s\"", argv[optind]);
	for (size_t i = 0; i < n; i++)
		if (strchr(GLOBAL_OPTIONS, given[i]) == NULL &&
		    strchr(c->takes, given[i]) == NULL)
			return usage("an option that \"%s\" does not take",
			    c->name);
	ag->opt.arg = argv + optind + 1;
	ag->opt.narg = argc - optind - 1;
	if (ag->opt.narg < c->min_args || ag->opt.narg > c->max_args)
		return usage("usage: poppy-agent %s %s", c->name, c->usage);
	if (ag->opt.state == NULL &&
	    (ag->opt.state = default_state(ag)) == NULL)
		return usage("no HOME: say where the state is with --state");
	return run(ag, c);
}

int
main(int argc, char **argv)
{
	struct agent *ag = calloc(1, sizeof(*ag));
	int status;

	if (ag == NULL || pf_arena_init(&ag->arena, ARENA_FIRST, ARENA_CAP) !=
	    PF_OK || pf_crypt_init() != PF_OK) {
		fputs("poppy-agent: can't start\n", stderr);
		return EXIT_FAILURE;
	}
	signal(SIGPIPE, SIG_IGN);
	ag->opt.user = "me";
	ag->opt.max_wait = MAX_WAIT;
	ag->show.arena = &ag->arena;
	ag->show.out = stdout;
	ag->show.faults = stderr;
	ag->show.colour = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
	status = start(ag, argc, argv);
	pf_arena_free(&ag->arena);
	pf_crypt_thread_end();
	pf_crypt_end();
	free(ag);
	return status;
}
