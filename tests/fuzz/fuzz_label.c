/* Names of strangers for people to see, domains and networks of strangers. */
#include <string.h>

#include "core/poppy/domain.h"
#include "core/poppy/label.h"
#include "core/poppy/places.h"
#include "core/web/url.h"
#include "tests/fuzz/fuzz.h"

/* The character at p, of n bytes that are well-formed. */
static unsigned
code_point(const char *p, size_t n)
{
	unsigned c = (unsigned char)p[0];

	if (n > 1)
		c &= 0x7fu >> n;
	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

static void
visible(unsigned c)
{
	FUZZ_HOLDS(c >= 0x20 && (c < 0x7f || c >= 0xa0));
	FUZZ_HOLDS(c < 0x200b || c > 0x200f);	/* zero width, marks */
	FUZZ_HOLDS(c < 0x2028 || c > 0x202e);	/* lines, embeddings */
	FUZZ_HOLDS(c < 0x2060 || c > 0x206f);	/* joiners, isolates */
	FUZZ_HOLDS(c != 0xad && c != 0x61c && c != 0xfeff);
	FUZZ_HOLDS(c < 0xe0000 || c > 0xe0fff);	/* tags */
}

static bool
label(struct pf_str in)
{
	struct pf_str out, twice;
	size_t n, chars = 0;

	FUZZ_HOLDS(pf_label(&fuzz_arena, in, &out) == PF_OK);
	if (!pf_str_given(out))
		return false;
	FUZZ_HOLDS(out.n > 0 && pf_utf8_valid(out));
	for (size_t i = 0; i < out.n; i += n, chars++) {
		n = pf_utf8_next(pf_str_from(out, i));
		visible(code_point(out.p + i, n));
	}
	FUZZ_HOLDS(chars <= PF_LABEL_CHARS);
	FUZZ_HOLDS(pf_label(&fuzz_arena, out, &twice) == PF_OK);
	FUZZ_HOLDS(pf_str_eq(out, twice));
	return true;
}

static void
domain(struct pf_str in)
{
	struct pf_str key, out, twice;

	if (pf_host_key(&fuzz_arena, in, &key) != PF_OK)
		return;
	FUZZ_HOLDS(pf_domain_of(&fuzz_arena, key, &out) == PF_OK);
	FUZZ_HOLDS(pf_str_eq(key, out) || pf_host_within(key, out));
	FUZZ_HOLDS(pf_domain_of(&fuzz_arena, out, &twice) == PF_OK);
	FUZZ_HOLDS(pf_str_eq(out, twice));
	(void)pf_domain_is_suffix(key);
}

bool
fuzz_one(struct pf_str in)
{
	struct pf_net_key net;

	memset(&net, 0, sizeof(net));
	pf_net_key(in, &net);
	domain(in);
	return label(in);
}
