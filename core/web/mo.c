/*
 * mo - see mo.h.
 */
#include "core/web/mo.h"

#include <string.h>

#define MAGIC		0x950412deu
#define MAGIC_SWAPPED	0xde120495u
#define HEADER		28u		/* magic, revision, five numbers */
#define ENTRY		8u		/* length and offset */

static uint32_t
number(const struct pf_mo *mo, size_t at)
{
	uint32_t v;

	memcpy(&v, mo->file.p + at, sizeof(v));
	return mo->swapped ? __builtin_bswap32(v) : v;
}

/* Text i of the table; it has been looked at by entry_ok(). */
static struct pf_str
entry(const struct pf_mo *mo, size_t table, size_t i)
{
	size_t n = number(mo, table + i * ENTRY);
	size_t at = number(mo, table + i * ENTRY + 4);

	return (struct pf_str){ mo->file.p + at, n };
}

/* Plural forms lie behind one another, each ended by a NUL. */
static struct pf_str
first_form(struct pf_str s)
{
	return pf_str_head(s, pf_str_find(s, '\0'));
}

static int
compare(struct pf_str a, struct pf_str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n == 0 ? 0 : memcmp(a.p, b.p, n);

	if (c != 0)
		return c;
	return a.n < b.n ? -1 : a.n > b.n;
}

static const char *
entry_fault(const struct pf_mo *mo, size_t table, size_t i)
{
	size_t n = number(mo, table + i * ENTRY);
	size_t at = number(mo, table + i * ENTRY + 4);
	struct pf_str s, one;

	if (at >= mo->file.n || n >= mo->file.n - at)
		return "a text lies outside of the file";
	if (mo->file.p[at + n] != '\0')
		return "a text doesn't end where it says";
	s = (struct pf_str){ mo->file.p + at, n };
	while (pf_str_cut(&s, '\0', &one))
		if (!pf_utf8_valid(one))
			return "a text is not UTF-8";
	return NULL;
}

static bool
table_fits(const struct pf_mo *mo, size_t table)
{
	return table >= HEADER && table <= mo->file.n &&
	    mo->n <= (mo->file.n - table) / ENTRY;
}

/* Texts that share bytes would make a small file long work. */
static bool
overlap(const struct pf_mo *mo)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < mo->n; i++)
		sum += (uint64_t)number(mo, mo->ids + i * ENTRY) +
		    number(mo, mo->texts + i * ENTRY) + 2;
	return sum > mo->file.n;
}

static const char *
tables_fault(const struct pf_mo *mo)
{
	const char *why;

	if (!table_fits(mo, mo->ids) || !table_fits(mo, mo->texts))
		return "a table lies outside of the file";
	if (overlap(mo))
		return "its texts are longer than the file";
	for (size_t i = 0; i < mo->n; i++) {
		if ((why = entry_fault(mo, mo->ids, i)) != NULL ||
		    (why = entry_fault(mo, mo->texts, i)) != NULL)
			return why;
		if (i > 0 && compare(first_form(entry(mo, mo->ids, i - 1)),
		    first_form(entry(mo, mo->ids, i))) >= 0)
			return "its messages are not sorted";
	}
	return NULL;
}

/* The message without an id holds lines such as those of mail. */
static bool
is_utf8(const struct pf_mo *mo)
{
	static const struct pf_str want = PF_LIT_INIT("charset=utf-8");
	struct pf_str head = pf_mo_text(mo, PF_LIT(""));

	for (size_t i = 0; i + want.n <= head.n; i++)
		if (pf_str_eq_nocase(pf_str_head(pf_str_from(head, i), want.n),
		    want))
			return true;
	return false;
}

enum pf_rc
pf_mo_open(struct pf_str file, struct pf_mo *out, const char **why)
{
	struct pf_mo mo = { .file = file };
	uint32_t magic;

	*why = "it is no message catalogue";
	if (file.n < HEADER || file.n > PF_MO_BYTES)
		return PF_E_INPUT;
	magic = number(&mo, 0);
	if (magic != MAGIC && magic != MAGIC_SWAPPED)
		return PF_E_INPUT;
	mo.swapped = magic == MAGIC_SWAPPED;
	*why = "its revision is unknown";
	if (number(&mo, 4) >> 16 != 0)
		return PF_E_INPUT;
	mo.n = number(&mo, 8);
	mo.ids = number(&mo, 12);
	mo.texts = number(&mo, 16);
	*why = "it has too many messages";
	if (mo.n > PF_MO_MAX)
		return PF_E_INPUT;
	if ((*why = tables_fault(&mo)) != NULL)
		return PF_E_INPUT;
	*why = "its charset is not UTF-8";
	if (!is_utf8(&mo))
		return PF_E_INPUT;
	*out = mo;
	return PF_OK;
}

struct pf_str
pf_mo_text(const struct pf_mo *mo, struct pf_str id)
{
	size_t low = 0, high = mo->n, mid;
	struct pf_str text;
	int c;

	while (low < high) {
		mid = low + (high - low) / 2;
		c = compare(id, first_form(entry(mo, mo->ids, mid)));
		if (c == 0) {
			text = first_form(entry(mo, mo->texts, mid));
			return text.n != 0 ? text : PF_NOSTR;
		}
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return PF_NOSTR;
}

void
pf_mo_at(const struct pf_mo *mo, size_t i, struct pf_str *id,
    struct pf_str *text)
{
	*id = first_form(entry(mo, mo->ids, i));
	*text = first_form(entry(mo, mo->texts, i));
}
