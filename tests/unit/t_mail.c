/* Mail to a real server: in the clear on this host, by TLS, by STARTTLS. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/web/outbound.h"
#include "tests/unit/tap.h"

#define TEXT	"To: ada@shop.example\r\nSubject: x\r\n\r\n.one\r\n. two\r\n"

static char dir[] = "/tmp/t_mail.XXXXXX";
static char key[64], cert[64], url[64], word[64];

static struct {
	pid_t pid;
	FILE *from;
	int port;
} server;

static void
server_start(const char *mode)
{
	const char *top = getenv("top_srcdir");
	char script[512], line[64] = "";
	int fd[2];

	(void)snprintf(script, sizeof(script), "%s/tests/unit/smtp.mjs",
	    top != NULL ? top : ".");
	tap_need(pipe(fd) == 0, "pipe");
	(void)fflush(stdout);
	if ((server.pid = fork()) == 0) {
		(void)dup2(fd[1], 1);
		(void)close(fd[0]);
		(void)close(fd[1]);
		(void)execlp("node", "node", script, mode, key, cert,
		    (char *)NULL);
		_exit(127);
	}
	(void)close(fd[1]);
	server.from = fdopen(fd[0], "r");
	tap_need(server.pid > 0 && server.from != NULL &&
	    fgets(line, sizeof(line), server.from) != NULL, "a mail server");
	server.port = atoi(line);
}

static void
server_stop(void)
{
	(void)kill(server.pid, SIGKILL);
	(void)waitpid(server.pid, NULL, 0);
	(void)fclose(server.from);
}

static struct pf_mail
mail(const char *scheme, const char *host)
{
	(void)snprintf(url, sizeof(url), "%s://%s:%d", scheme, host,
	    server.port);
	return (struct pf_mail){
		.url = url, .from = "shop@shop.example",
		.to = "ada@shop.example", .user = "", .password = "",
		.ca_file = cert, .text = PF_LIT(TEXT), .timeout_ms = 10000,
	};
}

/* What the server has got, as far as it matters. */
static void
got(const char *tls, const char *auth)
{
	char line[4096] = "", want[64];

	tap_ok(fgets(line, sizeof(line), server.from) != NULL &&
	    strstr(line, "\"from\":\"<shop@shop.example>") != NULL &&
	    strstr(line, "\"to\":\"<ada@shop.example>") != NULL,
	    "the envelope");
	(void)snprintf(want, sizeof(want), "\"tls\":%s", tls);
	tap_ok(strstr(line, want) != NULL, "TLS: %s", tls);
	tap_ok(strstr(line, "Subject: x\\n\\n.one\\n. two\\n") != NULL,
	    "the text as it was, dots included");
	(void)snprintf(want, sizeof(want), "\"auth\":\"|%s\"", auth);
	tap_ok(auth[0] != '\0' ? strstr(line, want) != NULL :
	    strstr(line, "\"auth\"") == NULL, "who sends: %s", auth);
}

static void
sent(const struct pf_mail *m, const char *what)
{
	const char *why = "";

	tap_is(pf_mail_send(m, &why), PF_OK, "%s: %s", what, why);
}

static void
refused(const struct pf_mail *m, const char *what)
{
	const char *why = "";

	tap_is(pf_mail_send(m, &why), PF_E_UPSTREAM, "%s: %s", what, why);
}

static void
in_the_clear(void)
{
	struct pf_mail m;

	server_start("plain");
	m = mail("smtp", "127.0.0.1");
	sent(&m, "on this host");
	got("false", "");
	m = mail("smtp", "127.0.0.2");
	refused(&m, "elsewhere: no STARTTLS is offered");
	m = mail("smtps", "127.0.0.1");
	refused(&m, "no TLS spoken");
	server_stop();
}

static void
protected_ones(const char *mode, const char *scheme)
{
	struct pf_mail m;

	server_start(mode);
	m = mail(scheme, "localhost");
	m.user = "shop";
	m.password = word;
	sent(&m, mode);
	got("true", "shop|pass word");
	m.ca_file = "";
	refused(&m, "a certificate of an unknown authority");
	m = mail(scheme, "127.0.0.1");
	refused(&m, "a certificate for another name");
	server_stop();
}

static void
others(void)
{
	int64_t began;
	struct pf_mail m;

	server_start("reject");
	m = mail("smtp", "127.0.0.1");
	refused(&m, "a recipient that the server refuses");
	server_stop();
	refused(&m, "nobody listens");
	server_start("slow");
	m = mail("smtp", "127.0.0.1");
	m.timeout_ms = 300;
	began = pf_mono_ms();
	refused(&m, "nobody answers");
	tap_ok(pf_mono_ms() - began < 5000, "in time");
	server_stop();
	tap_ok(pf_mail_is_local(PF_LIT("smtp://localhost")) &&
	    pf_mail_is_local(PF_LIT("smtps://[::1]:465")) &&
	    pf_mail_is_local(PF_LIT("smtp://127.0.0.1:25")), "of this host");
	tap_ok(!pf_mail_is_local(PF_LIT("smtp://localhost.example")) &&
	    !pf_mail_is_local(PF_LIT("smtp://127.0.0.10:25")) &&
	    !pf_mail_is_local(PF_LIT("smtp://mail.example:25")) &&
	    !pf_mail_is_local(PF_LIT("smtps://")), "not of this host");
}

int
main(void)
{
	char command[512];

	if (system("node --version >/dev/null 2>&1") != 0 ||
	    system("openssl version >/dev/null 2>&1") != 0)
		tap_skip_all("no node, or no openssl");
	(void)signal(SIGPIPE, SIG_IGN);
	tap_need(mkdtemp(dir) != NULL, "mkdtemp");
	(void)snprintf(key, sizeof(key), "%s/key", dir);
	(void)snprintf(cert, sizeof(cert), "%s/cert", dir);
	(void)snprintf(word, sizeof(word), "pass word");
	(void)snprintf(command, sizeof(command), "openssl req -x509 -newkey "
	    "ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
	    "/CN=localhost -addext subjectAltName=DNS:localhost -keyout %s "
	    "-out %s 2>/dev/null", key, cert);
	tap_need(system(command) == 0, "a certificate");
	in_the_clear();
	protected_ones("tls", "smtps");
	protected_ones("starttls", "smtp");
	others();
	(void)unlink(key);
	(void)unlink(cert);
	(void)rmdir(dir);
	return tap_done();
}
