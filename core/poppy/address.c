#include "core/poppy/address.h"

#include <arpa/inet.h>
#include <string.h>

#define V4_AT	12	/* where IPv4 begins in a mapped address */

static const unsigned char v4_head[V4_AT] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff
};

static bool
is_v4(const struct pf_address *a)
{
	return memcmp(a->b, v4_head, V4_AT) == 0;
}

enum pf_rc
pf_address_read(struct pf_str text, struct pf_address *out)
{
	char z[PF_ADDRESS_TEXT];

	*out = (struct pf_address){ { 0 } };
	if (text.n == 0 || text.n >= sizeof(z) ||
	    memchr(text.p, '\0', text.n) != NULL)
		return PF_E_INPUT;
	(void)memcpy(z, text.p, text.n);
	z[text.n] = '\0';
	if (inet_pton(AF_INET, z, out->b + V4_AT) == 1) {
		(void)memcpy(out->b, v4_head, V4_AT);
		return PF_OK;
	}
	if (inet_pton(AF_INET6, z, out->b) == 1)
		return PF_OK;
	*out = (struct pf_address){ { 0 } };
	return PF_E_INPUT;
}

void
pf_address_write(const struct pf_address *a, char out[PF_ADDRESS_TEXT])
{
	static const struct pf_address unknown;
	bool v4 = is_v4(a);

	if (memcmp(a, &unknown, sizeof(*a)) == 0 ||
	    inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? a->b + V4_AT : a->b, out,
	    PF_ADDRESS_TEXT) == NULL)
		out[0] = '\0';
}

void
pf_address_key(const struct pf_address *a, unsigned char key[PF_ADDRESS_LEN])
{
	(void)memcpy(key, a->b, PF_ADDRESS_LEN);
	if (!is_v4(a))
		(void)memset(key + 8, 0, 8);
}

bool
pf_network_has(const struct pf_network *n, const struct pf_address *a)
{
	unsigned whole = n->bits / 8, rest = n->bits % 8;
	unsigned char mask = (unsigned char)(0xff00u >> rest);

	return memcmp(n->at.b, a->b, whole) == 0 &&
	    (rest == 0 || ((n->at.b[whole] ^ a->b[whole]) & mask) == 0);
}

static bool
bits_behind(const struct pf_network *n)
{
	for (unsigned i = n->bits; i < 8 * PF_ADDRESS_LEN; i++)
		if ((n->at.b[i / 8] >> (7 - i % 8) & 1) != 0)
			return true;
	return false;
}

enum pf_rc
pf_network_read(struct pf_str text, struct pf_network *out)
{
	size_t slash = pf_str_find(text, '/');
	struct pf_str head = pf_str_head(text, slash);
	bool v4 = !pf_str_has(head, ':');
	int64_t bits;

	if (slash == text.n || pf_address_read(head, &out->at) != PF_OK ||
	    pf_str_int(pf_str_from(text, slash + 1), 0, v4 ? 32 : 128, &bits) !=
	    PF_OK)
		return PF_E_INPUT;
	out->bits = (unsigned)bits + (v4 ? 8 * V4_AT : 0);
	return bits_behind(out) ? PF_E_INPUT : PF_OK;
}

static bool
is_port(struct pf_str s)
{
	int64_t n;

	return pf_str_int(s, 0, 65535, &n) == PF_OK && s.p[0] != '-';
}

/* A hop as proxies write it: an address, also in brackets or with a port. */
static enum pf_rc
read_hop(struct pf_str hop, struct pf_address *out)
{
	size_t end;

	if (pf_str_starts(hop, PF_LIT("["))) {
		struct pf_str after;

		end = pf_str_find(hop, ']');
		after = pf_str_from(hop, end + 1);
		if (end == hop.n || (after.n != 0 && (after.p[0] != ':' ||
		    !is_port(pf_str_from(after, 1)))))
			return PF_E_INPUT;
		hop = pf_str_from(pf_str_head(hop, end), 1);
		return pf_str_has(hop, ':') ? pf_address_read(hop, out) :
		    PF_E_INPUT;
	}
	end = pf_str_find(hop, ':');
	/* One colon is a port behind IPv4; more are IPv6. */
	if (end < hop.n && !pf_str_has(pf_str_from(hop, end + 1), ':')) {
		if (!is_port(pf_str_from(hop, end + 1)))
			return PF_E_INPUT;
		hop = pf_str_head(hop, end);
	}
	return pf_address_read(hop, out);
}

/* Take the last piece of a list off it; false when there is none. */
static bool
cut_last(struct pf_str *list, struct pf_str *one)
{
	size_t at = list->n;

	if (!pf_str_given(*list))
		return false;
	while (at > 0 && list->p[at - 1] != ',')
		at--;
	*one = pf_str_trim(pf_str_from(*list, at));
	*list = at == 0 ? PF_NOSTR : pf_str_head(*list, at - 1);
	return true;
}

static bool
is_proxy(const struct pf_list *proxies, const struct pf_address *a)
{
	const struct pf_network *n = proxies->v;

	for (size_t i = 0; i < proxies->n; i++)
		if (pf_network_has(&n[i], a))
			return true;
	return false;
}

void
pf_address_of(const struct pf_list *proxies, struct pf_str remote_addr,
    struct pf_str forwarded_for, struct pf_address *out)
{
	struct pf_address next;
	struct pf_str hop;

	if (pf_address_read(remote_addr, out) != PF_OK)
		return;
	while (is_proxy(proxies, out) && cut_last(&forwarded_for, &hop) &&
	    read_hop(hop, &next) == PF_OK)
		*out = next;
}
