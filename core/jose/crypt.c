#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <string.h>

#include "core/jose/key.h"

/* Written by pf_crypt_init() and pf_crypt_end() alone: workers only read. */
static struct {
	EVP_MD *md[PF_SHA512 + 1];
	EVP_MAC *hmac;
	EVP_KDF *hkdf;
	EVP_PKEY *p256;
	EVP_PKEY *p384;
} fetched;

static const struct { const char *name; size_t len; } digests[] = {
	[PF_MD5] = { "MD5", 16 },
	[PF_SHA1] = { "SHA1", 20 },
	[PF_SHA256] = { "SHA256", 32 },
	[PF_SHA384] = { "SHA384", 48 },
	[PF_SHA512] = { "SHA512", 64 },
};

static _Thread_local struct {
	EVP_MD_CTX *md;
	EVP_MAC_CTX *mac;
} mine;

/*
 * A key of the curve, to take the domain parameters from: copying them into a
 * new key costs a few microseconds, building the group by name ten times that.
 */
static EVP_PKEY *
curve(const char *name)
{
	return EVP_PKEY_Q_keygen(NULL, NULL, "EC", name);
}

enum pf_rc
pf_crypt_init(void)
{
	for (size_t i = 0; i < PF_COUNT(digests); i++)
		fetched.md[i] = EVP_MD_fetch(NULL, digests[i].name, NULL);
	/* A system may be without the old ones. */
	ERR_clear_error();
	fetched.hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	fetched.hkdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	fetched.p256 = curve("P-256");
	fetched.p384 = curve("P-384");
	if (fetched.md[PF_SHA256] == NULL || fetched.md[PF_SHA384] == NULL ||
	    fetched.md[PF_SHA512] == NULL || fetched.hmac == NULL ||
	    fetched.hkdf == NULL || fetched.p256 == NULL ||
	    fetched.p384 == NULL) {
		ERR_clear_error();
		pf_crypt_end();
		return PF_E_BUG;
	}
	return PF_OK;
}

void
pf_crypt_end(void)
{
	pf_crypt_thread_end();
	for (size_t i = 0; i < PF_COUNT(digests); i++)
		EVP_MD_free(fetched.md[i]);
	EVP_MAC_free(fetched.hmac);
	EVP_KDF_free(fetched.hkdf);
	EVP_PKEY_free(fetched.p256);
	EVP_PKEY_free(fetched.p384);
	memset(&fetched, 0, sizeof(fetched));
}

void
pf_crypt_thread_end(void)
{
	EVP_MD_CTX_free(mine.md);
	EVP_MAC_CTX_free(mine.mac);
	mine.md = NULL;
	mine.mac = NULL;
}

const EVP_PKEY *
pf_crypt_curve(enum pf_kind kind)
{
	return kind == PF_KIND_P384 ? fetched.p384 : fetched.p256;
}

const EVP_MD *
pf_crypt_md(enum pf_alg alg)
{
	return fetched.md[alg == PF_ES384 ? PF_SHA384 : PF_SHA256];
}

enum pf_rc
pf_crypt_digest(const EVP_MD *md, struct pf_str in, unsigned char *out)
{
	if (mine.md == NULL && (mine.md = EVP_MD_CTX_new()) == NULL)
		return PF_E_MEM;
	if (md == NULL || EVP_DigestInit_ex2(mine.md, md, NULL) != 1 ||
	    EVP_DigestUpdate(mine.md, in.p, in.n) != 1 ||
	    EVP_DigestFinal_ex(mine.md, out, NULL) != 1) {
		ERR_clear_error();
		return PF_E_BUG;
	}
	return PF_OK;
}

enum pf_rc
pf_sha256(struct pf_str in, unsigned char out[PF_SHA256_LEN])
{
	return pf_crypt_digest(fetched.md[PF_SHA256], in, out);
}

size_t
pf_digest_len(enum pf_digest d)
{
	return digests[d].len;
}

enum pf_rc
pf_digest(enum pf_digest d, const struct pf_str *parts, size_t n,
    unsigned char *out)
{
	const EVP_MD *md = fetched.md[d];
	bool ok;

	if (mine.md == NULL && (mine.md = EVP_MD_CTX_new()) == NULL)
		return PF_E_MEM;
	ok = md != NULL && EVP_DigestInit_ex2(mine.md, md, NULL) == 1;
	for (size_t i = 0; ok && i < n; i++)
		ok = EVP_DigestUpdate(mine.md, parts[i].p, parts[i].n) == 1;
	if (!ok || EVP_DigestFinal_ex(mine.md, out, NULL) != 1) {
		ERR_clear_error();
		return PF_E_BUG;
	}
	return PF_OK;
}

enum pf_rc
pf_hmac(enum pf_digest d, struct pf_str key, struct pf_str in,
    unsigned char *out)
{
	size_t n;

	if (EVP_Q_mac(NULL, "HMAC", NULL, digests[d].name, NULL, key.p, key.n,
	    (const unsigned char *)in.p, in.n, out, digests[d].len, &n) != NULL)
		return PF_OK;
	ERR_clear_error();
	return PF_E_BUG;
}

/* This thread's HMAC context, whose digest is set once. */
static enum pf_rc
mac_context(void)
{
	char digest[] = "SHA256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_END
	};

	if (mine.mac != NULL)
		return PF_OK;
	if (fetched.hmac == NULL)
		return PF_E_BUG;
	if ((mine.mac = EVP_MAC_CTX_new(fetched.hmac)) == NULL)
		return PF_E_MEM;
	if (EVP_MAC_CTX_set_params(mine.mac, params) == 1)
		return PF_OK;
	EVP_MAC_CTX_free(mine.mac);
	mine.mac = NULL;
	return PF_E_BUG;
}

static bool
mac_part(struct pf_str part)
{
	unsigned char len[8];
	uint64_t n = part.n;

	for (size_t i = sizeof(len); i-- > 0; n >>= 8)
		len[i] = (unsigned char)(n & 0xff);
	return EVP_MAC_update(mine.mac, len, sizeof(len)) == 1 &&
	    (part.n == 0 || EVP_MAC_update(mine.mac,
	    (const unsigned char *)part.p, part.n) == 1);
}

enum pf_rc
pf_hmac256(const unsigned char key[PF_KEY_LEN], const struct pf_str *parts,
    size_t n, unsigned char out[PF_SHA256_LEN])
{
	enum pf_rc rc;
	bool ok;

	if ((rc = mac_context()) != PF_OK)
		return rc;
	ok = EVP_MAC_init(mine.mac, key, PF_KEY_LEN, NULL) == 1;
	for (size_t i = 0; ok && i < n; i++)
		ok = mac_part(parts[i]);
	if (!ok || EVP_MAC_final(mine.mac, out, NULL, PF_SHA256_LEN) != 1) {
		ERR_clear_error();
		return PF_E_BUG;
	}
	return PF_OK;
}

static bool
derive(EVP_KDF_CTX *ctx, unsigned char *master, char *purpose,
    unsigned char *out)
{
	char digest[] = "SHA256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_octet_string(OSSL_KDF_PARAM_KEY, master,
		    PF_KEY_LEN),
		OSSL_PARAM_octet_string(OSSL_KDF_PARAM_INFO, purpose,
		    strlen(purpose)),
		OSSL_PARAM_END
	};

	return EVP_KDF_derive(ctx, out, PF_KEY_LEN, params) == 1;
}

/* OSSL_PARAM wants its bytes writable, so they are copied first. */
static enum pf_rc
hkdf(unsigned char master[PF_KEY_LEN], const char *purpose,
    unsigned char out[PF_KEY_LEN])
{
	EVP_KDF_CTX *ctx;
	char info[128];
	bool ok;

	if (fetched.hkdf == NULL || strlen(purpose) >= sizeof(info))
		return PF_E_BUG;
	memcpy(info, purpose, strlen(purpose) + 1);
	if ((ctx = EVP_KDF_CTX_new(fetched.hkdf)) == NULL)
		return PF_E_MEM;
	ok = derive(ctx, master, info, out);
	EVP_KDF_CTX_free(ctx);
	if (!ok)
		ERR_clear_error();
	return ok ? PF_OK : PF_E_BUG;
}

enum pf_rc
pf_hkdf(const unsigned char master[PF_KEY_LEN], const char *purpose,
    unsigned char out[PF_KEY_LEN])
{
	unsigned char copy[PF_KEY_LEN];
	enum pf_rc rc;

	memcpy(copy, master, sizeof(copy));
	rc = hkdf(copy, purpose, out);
	pf_wipe(copy, sizeof(copy));
	return rc;
}
