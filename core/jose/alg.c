#include "core/jose/key.h"

static const struct { const char *name; enum pf_alg alg; } names[] = {
	{ "ES256", PF_ES256 },
	{ "ES384", PF_ES384 },
	{ "RS256", PF_RS256 },
	{ "PS256", PF_PS256 },
	{ "EdDSA", PF_EDDSA },
};

/* Alg names are compared with case (RFC 7515, 4.1.1). */
enum pf_alg
pf_alg_parse(struct pf_str name)
{
	for (size_t i = 0; i < PF_COUNT(names); i++)
		if (pf_str_eqz(name, names[i].name))
			return names[i].alg;
	return PF_ALG_NONE;
}

const char *
pf_alg_name(enum pf_alg alg)
{
	for (size_t i = 0; i < PF_COUNT(names); i++)
		if (names[i].alg == alg)
			return names[i].name;
	return "none";
}

bool
pf_kind_does(enum pf_kind kind, enum pf_alg alg)
{
	switch (kind) {
	case PF_KIND_P256:
		return alg == PF_ES256;
	case PF_KIND_P384:
		return alg == PF_ES384;
	case PF_KIND_RSA:
		return alg == PF_RS256 || alg == PF_PS256;
	case PF_KIND_ED25519:
		return alg == PF_EDDSA;
	}
	return false;
}

size_t
pf_kind_field(enum pf_kind kind)
{
	switch (kind) {
	case PF_KIND_P256:
	case PF_KIND_ED25519:
		return 32;
	case PF_KIND_P384:
		return 48;
	case PF_KIND_RSA:
		break;
	}
	return 0;
}
