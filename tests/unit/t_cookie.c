/* Set-Cookie: what a browser must read, and what is never written. */
#include "core/web/cookie.h"
#include "tests/unit/tap.h"

#define S(z)	PF_LIT_INIT(z)

static const struct {
	struct pf_cookie c;
	const char *want;
} good[] = {
	{ { S("__Host-poppy"), S("pbs_AAx"), { NULL, 0 }, 60 },
	    "__Host-poppy=pbs_AAx; Path=/; Max-Age=60; Secure; HttpOnly; "
	    "SameSite=Lax" },
	{ { S("__Host-poppy"), S("x"), S(""), 1 },
	    "__Host-poppy=x; Path=/; Max-Age=1; Secure; HttpOnly; "
	    "SameSite=Lax" },
	{ { S("__Secure-p"), S("x"), S("shop.example"), 2592000 },
	    "__Secure-p=x; Path=/; Domain=shop.example; Max-Age=2592000; "
	    "Secure; HttpOnly; SameSite=Lax" },
};

static const struct {
	const char *why;
	struct pf_cookie c;
} bad[] = {
	{ "no name", { S(""), S("x"), S(""), 60 } },
	{ "no name at all", { { NULL, 0 }, S("x"), S(""), 60 } },
	{ "a name with =", { S("a=b"), S("x"), S(""), 60 } },
	{ "a name with ;", { S("a;b"), S("x"), S(""), 60 } },
	{ "a name with a space", { S("a b"), S("x"), S(""), 60 } },
	{ "a name with a line break", { S("a\r\nb"), S("x"), S(""), 60 } },
	{ "a name with a NUL", { S("a\0"), S("x"), S(""), 60 } },
	{ "a name beyond ASCII", { S("a\xc3\xa4"), S("x"), S(""), 60 } },
	{ "no value", { S("a"), S(""), S(""), 60 } },
	{ "a value with ;", { S("a"), S("x;Domain=evil"), S(""), 60 } },
	{ "a value with ,", { S("a"), S("x,y"), S(""), 60 } },
	{ "a value with a space", { S("a"), S("x y"), S(""), 60 } },
	{ "a quoted value", { S("a"), S("\"x\""), S(""), 60 } },
	{ "a value with a line break", { S("a"), S("x\n"), S(""), 60 } },
	{ "a value with a NUL", { S("a"), S("x\0y"), S(""), 60 } },
	{ "a value beyond ASCII", { S("a"), S("\xc3\xa4"), S(""), 60 } },
	{ "a domain with ;", { S("a"), S("x"), S("a.example; x"), 60 } },
	{ "a domain with a dot first", { S("a"), S("x"), S(".a.example"), 60 } },
	{ "a domain with a port", { S("a"), S("x"), S("a.example:1"), 60 } },
	{ "a domain with a line break", { S("a"), S("x"), S("a\n"), 60 } },
	{ "__Host- with a domain", { S("__Host-a"), S("x"), S("a.example"),
	    60 } },
	{ "no time to live", { S("a"), S("x"), S(""), 0 } },
	{ "a time that is past", { S("a"), S("x"), S(""), -1 } },
};

int
main(void)
{
	char room[512];
	struct pf_buf b;

	for (size_t i = 0; i < PF_COUNT(good); i++) {
		pf_buf_fixed(&b, room, sizeof(room));
		tap_is(pf_cookie_write(&b, &good[i].c), PF_OK, "written");
		tap_is_z(pf_buf_str(&b), good[i].want, "as it should be");
	}
	for (size_t i = 0; i < PF_COUNT(bad); i++) {
		pf_buf_fixed(&b, room, sizeof(room));
		tap_is(pf_cookie_write(&b, &bad[i].c), PF_E_BUG, "refused: %s",
		    bad[i].why);
		tap_is((long long)b.n, 0, "and nothing is written");
	}
	return tap_done();
}
