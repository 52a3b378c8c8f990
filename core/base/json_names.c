#include "core/base/json_names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t key[2];
static enum pf_rc drawn;

static void
draw(void)
{
	drawn = pf_random(key, sizeof(key));
}

enum pf_rc
pf_json_names_init(struct pf_json_names *s, size_t n, size_t values)
{
	size_t most, slots = PF_JSON_NAMES;

	pthread_once(&once, draw);
	if (drawn != PF_OK)
		return drawn;
	/* "":0, is the shortest member. At least half the slots stay free. */
	most = n / 5 + 1;
	if (most > values)
		most = values + 1;
	while (slots < most * 2)
		slots *= 2;
	s->mask = slots - 1;
	s->slot = s->few;
	if (slots == PF_JSON_NAMES)
		memset(s->few, 0, sizeof(s->few));
	else if ((s->slot = calloc(slots, sizeof(*s->slot))) == NULL)
		return PF_E_MEM;
	return PF_OK;
}

void
pf_json_names_free(struct pf_json_names *s)
{
	if (s->slot != s->few)
		free(s->slot);
}

bool
pf_json_names_add(struct pf_json_names *s, uint64_t hash)
{
	size_t i;

	hash += hash == 0;
	for (i = hash & s->mask; s->slot[i] != 0; i = (i + 1) & s->mask)
		if (s->slot[i] == hash)
			return false;
	s->slot[i] = hash;
	return true;
}

static uint64_t
rotated(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static void
sip_round(uint64_t *v)
{
	v[0] += v[1];
	v[1] = rotated(v[1], 13) ^ v[0];
	v[0] = rotated(v[0], 32);
	v[2] += v[3];
	v[3] = rotated(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotated(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotated(v[1], 17) ^ v[2];
	v[2] = rotated(v[2], 32);
}

static void
take_word(struct pf_json_hash *h, uint64_t word)
{
	h->v[3] ^= word;
	sip_round(h->v);
	h->v[0] ^= word;
}

void
pf_json_hash_init(struct pf_json_hash *h, uint64_t object)
{
	h->v[0] = key[0] ^ 0x736f6d6570736575u;
	h->v[1] = key[1] ^ 0x646f72616e646f6du;
	h->v[2] = key[0] ^ 0x6c7967656e657261u;
	h->v[3] = key[1] ^ 0x7465646279746573u;
	h->word = 0;
	h->n = 0;
	take_word(h, object);
}

void
pf_json_hash_bytes(struct pf_json_hash *h, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		h->word |= (uint64_t)(unsigned char)p[i] << (h->n % 8 * 8);
		if (++h->n % 8 == 0) {
			take_word(h, h->word);
			h->word = 0;
		}
	}
}

void
pf_json_hash_char(struct pf_json_hash *h, uint32_t c)
{
	char text[4];
	size_t n;

	if (c < 0x80) {
		text[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		text[0] = (char)(0xc0 | c >> 6);
		n = 2;
	} else if (c < 0x10000) {
		text[0] = (char)(0xe0 | c >> 12);
		n = 3;
	} else {
		text[0] = (char)(0xf0 | c >> 18);
		n = 4;
	}
	for (size_t i = n; i > 1; i--, c >>= 6)
		text[i - 1] = (char)(0x80 | (c & 0x3f));
	pf_json_hash_bytes(h, text, n);
}

uint64_t
pf_json_hash_done(struct pf_json_hash *h)
{
	take_word(h, h->word | (uint64_t)h->n << 56);
	h->v[2] ^= 0xff;
	sip_round(h->v);
	sip_round(h->v);
	sip_round(h->v);
	return h->v[0] ^ h->v[1] ^ h->v[2] ^ h->v[3];
}
