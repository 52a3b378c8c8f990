#include "core/base/buf.h"

#include <stdio.h>
#include <string.h>

void
pf_buf_init(struct pf_buf *b, struct pf_arena *a, size_t max)
{
	*b = (struct pf_buf){ .arena = a, .max = max };
}

void
pf_buf_fixed(struct pf_buf *b, char *p, size_t size)
{
	*b = (struct pf_buf){ .p = p, .size = size, .max = size };
}

static bool
resize(struct pf_buf *b, size_t size)
{
	char *p;

	if (b->p == NULL || !pf_arena_grow(b->arena, b->p, b->size, size)) {
		if ((p = pf_arena_alloc(b->arena, size)) == NULL)
			return false;
		if (b->n > 0)
			memcpy(p, b->p, b->n);
		b->p = p;
	}
	b->size = size;
	return true;
}

/* A larger place; by doubling, so that appending stays linear, but the last
 * bytes of an arena are worth trying for. */
static bool
grow(struct pf_buf *b, size_t need)
{
	size_t size = b->size < 128 ? 256 : b->size * 2;

	if (size < need)
		size = need;
	if (size > b->max)
		size = b->max;
	return resize(b, size) || (size > need && resize(b, need));
}

/* Room for n bytes more, or NULL. */
static char *
room(struct pf_buf *b, size_t n)
{
	if (b->failed)
		return NULL;
	if (n > b->max - b->n ||
	    (n > b->size - b->n &&
	    (b->arena == NULL || !grow(b, b->n + n)))) {
		b->failed = true;
		return NULL;
	}
	return b->p + b->n;
}

void
pf_buf_add(struct pf_buf *b, struct pf_str s)
{
	char *to;

	if (s.n == 0 || (to = room(b, s.n)) == NULL)
		return;
	memcpy(to, s.p, s.n);
	b->n += s.n;
}

void
pf_buf_addz(struct pf_buf *b, const char *z)
{
	pf_buf_add(b, pf_str(z));
}

void
pf_buf_char(struct pf_buf *b, char c)
{
	char *to;

	if ((to = room(b, 1)) == NULL)
		return;
	*to = c;
	b->n++;
}

void
pf_buf_int(struct pf_buf *b, int64_t v)
{
	char text[20], *p = text + sizeof(text);
	uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do
		*--p = (char)('0' + left % 10);
	while ((left /= 10) != 0);
	if (v < 0)
		*--p = '-';
	pf_buf_add(b, pf_bytes(p, (size_t)(text + sizeof(text) - p)));
}

void
pf_buf_b64url(struct pf_buf *b, const void *p, size_t n)
{
	char *to;

	if (n > (SIZE_MAX - 2) / 4) {
		b->failed = true;
		return;
	}
	if (n == 0 || (to = room(b, PF_B64URL_LEN(n))) == NULL)
		return;
	b->n += pf_b64url_encode(p, n, to);
}

void
pf_buf_hex(struct pf_buf *b, const void *p, size_t n)
{
	static const char digits[16] = {
		'0', '1', '2', '3', '4', '5', '6', '7',
		'8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
	};
	const unsigned char *in = p;
	char *to;

	if (n > SIZE_MAX / 2) {
		b->failed = true;
		return;
	}
	if (n == 0 || (to = room(b, n * 2)) == NULL)
		return;
	for (size_t i = 0; i < n; i++) {
		*to++ = digits[in[i] >> 4];
		*to++ = digits[in[i] & 15];
	}
	b->n += n * 2;
}

/* vsnprintf() writes a NUL, for which a full buffer has no room: format aside
 * when the text is short, which is nearly always. */
void
pf_buf_fmt(struct pf_buf *b, const char *fmt, ...)
{
	char text[256], *to;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = true;
	} else if ((size_t)n < sizeof(text)) {
		pf_buf_add(b, pf_bytes(text, (size_t)n));
	} else if ((to = room(b, (size_t)n + 1)) != NULL) {
		va_start(ap, fmt);
		vsnprintf(to, (size_t)n + 1, fmt, ap);
		va_end(ap);
		b->n += (size_t)n;
	}
	pf_wipe(text, sizeof(text));
}

struct pf_str
pf_buf_str(const struct pf_buf *b)
{
	return (struct pf_str){ b->p == NULL ? "" : b->p, b->n };
}

enum pf_rc
pf_buf_done(const struct pf_buf *b, struct pf_str *out)
{
	if (b->failed)
		return PF_E_MEM;
	*out = pf_buf_str(b);
	return PF_OK;
}
