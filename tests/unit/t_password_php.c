/* Hashes that PHP made, and what PHP says of passwords: password.php. */
#include "config.h"

#include <stdio.h>

#include "core/jose/crypt.h"
#include "core/poppy/password.h"
#include "core/poppy/password_in.h"
#include "tests/unit/tap.h"

#define LINE_MAX_	4096

static struct pf_str
unhex(struct pf_str hex, unsigned char *out, size_t cap)
{
	size_t n;

	if (pf_pw_unhex(hex, out, cap, &n) != PF_OK)
		return PF_NOSTR;
	return pf_bytes(out, n);
}

/* Does ours agree with PHP on this line? */
static bool
agrees(struct pf_str line)
{
	unsigned char h[512], p[512];
	struct pf_str kind, hash, password, says;
	enum pf_rc rc;

	if (!pf_str_cut(&line, '\t', &kind) ||
	    !pf_str_cut(&line, '\t', &hash) ||
	    !pf_str_cut(&line, '\t', &password) ||
	    !pf_str_cut(&line, '\n', &says))
		return false;
	rc = pf_password_check(kind, unhex(hash, h, sizeof(h)),
	    unhex(password, p, sizeof(p)));
	if (rc == (pf_str_eqz(says, "1") ? PF_OK : PF_E_AUTH))
		return true;
	tap_diag("%s: PHP says %.*s of kind %.*s, hash %.*s, password %.*s",
	    pf_rc_name(rc), PF_STRF(says), PF_STRF(kind), PF_STRF(hash),
	    PF_STRF(password));
	return false;
}

int
main(void)
{
	char command[LINE_MAX_], line[LINE_MAX_];
	int n = 0, fit = 0, wrong = 0;
	FILE *php;

	if (system("php -r 'exit(function_exists(\"sodium_crypto_pwhash\") && "
	    "in_array(\"argon2id\", password_algos()) ? 0 : 1);' "
	    ">/dev/null 2>&1") != 0)
		tap_skip_all("no php with argon2 and sodium");
	(void)snprintf(command, sizeof(command), "php '%s/tests/unit/"
	    "password.php'", getenv("top_srcdir") != NULL ?
	    getenv("top_srcdir") : ".");
	if (pf_crypt_init() != PF_OK || (php = popen(command, "r")) == NULL)
		return 1;
	while (fgets(line, sizeof(line), php) != NULL) {
		struct pf_str l = pf_str(line);

		n++;
		fit += pf_str_ends(l, PF_LIT("\t1\n"));
		wrong += !agrees(l);
	}
	tap_is(pclose(php), 0, "PHP has made them");
	tap_is(n, 3000, "500 passwords, and 5 others for each");
	tap_ok(fit > 700 && fit < 2000, "%d fit", fit);
	tap_is(wrong, 0, "the same as PHP for each");
	pf_crypt_end();
	return tap_done();
}
