/* Messages with codes: what may be in a header, and what is written. */
#include "config.h"

#include "core/poppy/send_code.h"
#include "tests/unit/tap.h"

#define L63	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void
recipients(void)
{
	static const struct pf_str good[] = {
		PF_LIT_INIT("ada@shop.example"), PF_LIT_INIT("a@b"),
		PF_LIT_INIT("a.b+c_d=e@mail.shop.example"),
	}, bad[] = {
		PF_LIT_INIT(""), PF_LIT_INIT("@"), PF_LIT_INIT("a@"),
		PF_LIT_INIT("@b"), PF_LIT_INIT("ab"), PF_LIT_INIT("a@b@c"),
		PF_LIT_INIT("a@b\nBcc: c@d"), PF_LIT_INIT("a@b\r\nc"),
		PF_LIT_INIT("a@b\0c"), PF_LIT_INIT("a b@c"),
		PF_LIT_INIT("a@b, c@d"), PF_LIT_INIT("<a@b>"),
		PF_LIT_INIT("Ada <a@b>"), PF_LIT_INIT("\"a\"@b"),
		PF_LIT_INIT("a@b(c)"), PF_LIT_INIT("-oQ@b"),
		PF_LIT_INIT("\xc3\xa4@b"), PF_LIT_INIT("a@b\x7f"),
		PF_LIT_INIT("a@" L63 "." L63 "." L63 "." L63),
	}, numbers[] = {
		PF_LIT_INIT("+49 30 123456"), PF_LIT_INIT("(030) 12-34/56.7"),
		PF_LIT_INIT("12345"),
	}, none[] = {
		PF_LIT_INIT(""), PF_LIT_INIT("1234"), PF_LIT_INIT("+"),
		PF_LIT_INIT("12345x"), PF_LIT_INIT("12345\nTo: 67890"),
		PF_LIT_INIT("12345;67890"), PF_LIT_INIT("12345,67890"),
		PF_LIT_INIT("0123456789012345678901234567890123"),
	};

	for (size_t i = 0; i < PF_COUNT(good); i++)
		tap_ok(pf_send_code_address(good[i]), "good: %s", good[i].p);
	for (size_t i = 0; i < PF_COUNT(bad); i++)
		tap_ok(!pf_send_code_address(bad[i]), "no address: %zu", i);
	for (size_t i = 0; i < PF_COUNT(numbers); i++)
		tap_ok(pf_send_code_number(numbers[i]), "good: %s",
		    numbers[i].p);
	for (size_t i = 0; i < PF_COUNT(none); i++)
		tap_ok(!pf_send_code_number(none[i]), "no number: %zu", i);
}

static struct pf_str
written(const struct pf_message *m, struct pf_str from, const char *eol)
{
	static char text[4096];
	struct pf_buf b;
	struct pf_str out = PF_NOSTR;

	pf_buf_fixed(&b, text, sizeof(text) - 1);
	pf_send_code_write(&b, m, from, eol, 1796082000);
	tap_is(pf_buf_done(&b, &out), PF_OK, "written");
	text[out.n] = '\0';
	return out;
}

static void
messages(void)
{
	struct pf_message m = {
		PF_LIT("+49 30 123456"), PF_LIT("Your code"),
		PF_LIT("Your code is 123456.\n\nBye\n"),
	};
	struct pf_str s = written(&m, PF_NOSTR, "\n");

	tap_is_z(s, "To: +49 30 123456\n"
	    "Date: Mon, 30 Nov 2026 23:40:00 +0000\nSubject: Your code\n"
	    "Auto-Submitted: auto-generated\nMIME-Version: 1.0\n"
	    "Content-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: 8bit\n\n"
	    "Your code is 123456.\n\nBye\n", "for a command");
	m.to = PF_LIT("ada@shop.example");
	m.subject = PF_LIT("Ihr Code f\xc3\xbcr\r\nBcc: all\xe4\xba\xac");
	s = written(&m, PF_LIT("shop@shop.example"), "\r\n");
	tap_ok(strstr(s.p, "From: <shop@shop.example>\r\nMessage-ID: <") == s.p,
	    "who sends it");
	tap_ok(strstr(s.p, "@shop.example>\r\nTo: ada@shop.example\r\n") !=
	    NULL, "to whom");
	tap_ok(strstr(s.p, "\r\nSubject: =?UTF-8?B?SWhyIENvZGUgZsO8cg0KQmNjOiB"
	    "hbGzkuqw=?=\r\nAuto") != NULL, "a subject is one header");
	m.subject = PF_LIT("\xe4\xba\xac\xe4\xba\xac\xe4\xba\xac\xe4\xba\xac"
	    "\xe4\xba\xac\xe4\xba\xac\xe4\xba\xac\xe4\xba\xac\xe4\xba\xac"
	    "\xe4\xba\xac\xe4\xba\xac\xe4\xba\xac\xe4\xba\xac\xe4\xba\xac"
	    "\xe4\xba\xac");
	s = written(&m, PF_NOSTR, "\n");
	tap_ok(strstr(s.p, "?=\n =?UTF-8?B?5Lqs?=\nAuto") != NULL,
	    "a long one is folded between characters");
}

int
main(void)
{
	recipients();
	messages();
	return tap_done();
}
