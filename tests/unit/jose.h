/*
 * jose - what the tests of core/jose share: JSON that can be read in C, keys
 * and tokens from it, all in one arena that lives as long as the program.
 */
#ifndef PF_TEST_JOSE_H
#define PF_TEST_JOSE_H

#include "core/jose/jws.h"
#include "tests/unit/tap.h"

/* RFC 7515, A.3: the key of most tests here. */
#define A3_PUBLIC							\
	"'kty':'EC','crv':'P-256',"					\
	"'x':'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',"		\
	"'y':'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0'"
#define A3_D	"'d':'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI'"

/* RFC 7515, A.2. */
#define A2_N								\
	"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHm"	\
	"fHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_"	\
	"YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5"	\
	"z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uD"	\
	"Zlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9ia"	\
	"GNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"

/* RFC 7638, 3.1, and RFC 7517, A.1. */
#define N7638								\
	"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtV"	\
	"T86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64t"	\
	"Z_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2Q"	\
	"vzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbO"	\
	"pbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_"	\
	"xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"

/* The private members of RFC 7515, A.2. */
#define A2_PRIVATE							\
	"'d':'"								\
	"Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97I"	\
	"jlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0"	\
	"BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn"	\
	"439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYT"	\
	"CBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLh"	\
	"BOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ',"	\
	"'p':'"								\
	"4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdi"	\
	"YrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPG"	\
	"BY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc',"	\
	"'q':'"								\
	"uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxa"	\
	"ewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe_HlB-TnBA"	\
	"-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc',"	\
	"'dp':'"							\
	"BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QC"	\
	"LdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb3"	\
	"4MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0',"	\
	"'dq':'"							\
	"h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7"	\
	"I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd2w9cjz3_-kyN"	\
	"lxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU',"	\
	"'qi':'"							\
	"IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy"	\
	"26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW"	\
	"0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U'"

static struct pf_arena arena;

static inline void
jose_begin(void)
{
	tap_need(pf_crypt_init() == PF_OK, "pf_crypt_init");
	tap_need(pf_arena_init(&arena, 65536, (size_t)64 << 20) == PF_OK,
	    "arena");
}

static inline int
jose_end(void)
{
	pf_arena_free(&arena);
	pf_crypt_end();
	return tap_done();
}

/* Text with ' for ", in the arena. */
static inline struct pf_str
q(const char *z)
{
	size_t n = strlen(z);
	char *p = pf_arena_alloc(&arena, n + 1);

	tap_need(p != NULL, "arena");
	for (size_t i = 0; i <= n; i++)
		p[i] = (char)(z[i] == '\'' ? '"' : z[i]);
	return pf_bytes(p, n);
}

static inline const struct pf_json *
json(const char *z)
{
	const struct pf_json *v = NULL;

	tap_need(pf_json_parse(&arena, q(z), &pf_json_large, &v, NULL) ==
	    PF_OK, z);
	return v;
}

static inline struct pf_key *
public_key(const char *z)
{
	struct pf_key *k = NULL;
	const char *why;
	bool ok;

	ok = pf_jwk_parse(json(z), &k, &why) == PF_OK;
	tap_need(ok, z);
	return k;
}

static inline struct pf_key *
private_key(const char *z)
{
	struct pf_key *k = NULL;
	const char *why;
	bool ok;

	ok = pf_jwk_parse_private(json(z), &k, &why) == PF_OK;
	tap_need(ok, z);
	return k;
}

static inline struct pf_key *
new_key(enum pf_alg alg)
{
	struct pf_key *k = NULL;

	tap_need(pf_key_generate(alg, &k) == PF_OK, "pf_key_generate");
	return k;
}

static inline struct pf_str
signed_by(const struct pf_key *k, enum pf_alg alg, struct pf_str header,
    struct pf_str payload)
{
	struct pf_str out = PF_NOSTR;

	tap_need(pf_jws_sign(&arena, k, alg, header, payload, &out) == PF_OK,
	    "pf_jws_sign");
	return out;
}

static inline struct pf_str
b64(struct pf_str raw)
{
	char *p = pf_arena_alloc(&arena, PF_B64URL_LEN(raw.n) + 1);

	tap_need(p != NULL, "arena");
	return pf_bytes(p, pf_b64url_encode(raw.p, raw.n, p));
}

static inline struct pf_str
join(const char *fmt, ...)
{
	struct pf_buf b;
	struct pf_str out = PF_NOSTR;
	char text[16384];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tap_need(n >= 0 && (size_t)n < sizeof(text), "join");
	pf_buf_init(&b, &arena, sizeof(text));
	pf_buf_add(&b, pf_bytes(text, (size_t)n));
	tap_need(pf_buf_done(&b, &out) == PF_OK, "join");
	return out;
}

#endif
