#include "config.h"

#include "tools/poppy-agent/tls.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"

#define CERT_DAYS	90L

struct ag_tls {
	SSL_CTX *ctx;
};

struct ag_tls_conn {
	SSL *ssl;
	int fd;
};

static enum pf_rc
broken(struct ag_fault *f, const char *what, const char *file)
{
	unsigned long code = ERR_peek_last_error();
	const char *why = ERR_reason_error_string(code);

	ERR_clear_error();
	return ag_fault(f, PF_E_INPUT, NULL, "%s%s%s: %s", what,
	    file != NULL ? " " : "", file != NULL ? file : "",
	    why != NULL ? why : "failed");
}

static enum pf_rc
load_files(struct ag_tls *t, const char *cert, const char *key,
    struct ag_fault *f)
{
	if (SSL_CTX_use_certificate_chain_file(t->ctx, cert) != 1)
		return broken(f, "certificate", cert);
	if (SSL_CTX_use_PrivateKey_file(t->ctx, key, SSL_FILETYPE_PEM) != 1)
		return broken(f, "key", key);
	if (SSL_CTX_check_private_key(t->ctx) != 1)
		return broken(f, "the key is not the certificate's:", key);
	return PF_OK;
}

static bool
add_extension(X509 *x, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *e;
	bool good;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, x, x, NULL, NULL, 0);
	if ((e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value)) == NULL)
		return false;
	good = X509_add_ext(x, e, -1) == 1;
	X509_EXTENSION_free(e);
	return good;
}

static bool
set_serial(X509 *x)
{
	unsigned char raw[8];
	uint64_t serial;

	if (RAND_bytes(raw, sizeof(raw)) != 1)
		return false;
	memcpy(&serial, raw, sizeof(serial));
	return ASN1_INTEGER_set_uint64(X509_get_serialNumber(x),
	    serial >> 1) == 1;
}

static bool
fill_certificate(X509 *x, EVP_PKEY *key, struct pf_str host)
{
	X509_NAME *name = X509_get_subject_name(x);
	bool ip = pf_is_digit(host.p[host.n - 1]) || host.p[0] == '[';
	char san[300];

	/* X509v3 wants an IPv6 address without its brackets. */
	if (host.p[0] == '[')
		host = pf_str_head(pf_str_from(host, 1), host.n - 2);
	snprintf(san, sizeof(san), "%s:%.*s", ip ? "IP" : "DNS",
	    PF_STRF(host));
	return X509_set_version(x, X509_VERSION_3) == 1 && set_serial(x) &&
	    X509_gmtime_adj(X509_getm_notBefore(x), -60) != NULL &&
	    X509_gmtime_adj(X509_getm_notAfter(x), CERT_DAYS * 86400) !=
	    NULL && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
	    (const unsigned char *)"poppy-agent", -1, -1, 0) == 1 &&
	    X509_set_issuer_name(x, name) == 1 &&
	    X509_set_pubkey(x, key) == 1 &&
	    add_extension(x, NID_basic_constraints, "critical,CA:TRUE") &&
	    add_extension(x, NID_subject_alt_name, san) &&
	    X509_sign(x, key, EVP_sha256()) > 0;
}

static bool
save_certificate(X509 *x, const char *file)
{
	FILE *f = fopen(file, "w");
	bool good;

	if (f == NULL)
		return false;
	good = PEM_write_X509(f, x) == 1;
	return fclose(f) == 0 && good;
}

static enum pf_rc
make_certificate(struct ag_tls *t, struct pf_str host, const char *save_as,
    struct ag_fault *f)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	enum pf_rc rc = PF_OK;

	if (key == NULL || x == NULL || !fill_certificate(x, key, host) ||
	    SSL_CTX_use_certificate(t->ctx, x) != 1 ||
	    SSL_CTX_use_PrivateKey(t->ctx, key) != 1)
		rc = broken(f, "self-signed certificate", NULL);
	else if (!save_certificate(x, save_as))
		rc = ag_fault(f, PF_E_INPUT, NULL, "%s: %s", save_as,
		    strerror(errno));
	X509_free(x);
	EVP_PKEY_free(key);
	return rc;
}

enum pf_rc
ag_tls_new(const char *cert, const char *key, struct pf_str host,
    const char *save_as, struct ag_tls **out, struct ag_fault *f)
{
	struct ag_tls *t = calloc(1, sizeof(*t));
	enum pf_rc rc;

	if (t == NULL || (t->ctx = SSL_CTX_new(TLS_server_method())) == NULL) {
		free(t);
		return ag_fault(f, PF_E_MEM, NULL, "TLS can't be started");
	}
	SSL_CTX_set_min_proto_version(t->ctx, TLS1_2_VERSION);
	SSL_CTX_set_options(t->ctx, SSL_OP_NO_RENEGOTIATION |
	    SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(t->ctx, SSL_MODE_ENABLE_PARTIAL_WRITE |
	    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	rc = cert != NULL ? load_files(t, cert, key, f) :
	    make_certificate(t, host, save_as, f);
	if (rc != PF_OK)
		ag_tls_free(t);
	else
		*out = t;
	return rc;
}

void
ag_tls_free(struct ag_tls *t)
{
	if (t == NULL)
		return;
	SSL_CTX_free(t->ctx);
	free(t);
}

/* After a call that did not succeed: wait for what it needs. False: it is no
 * matter of waiting, or the time is up. */
static bool
wait_for(struct ag_tls_conn *c, int result, int64_t deadline_ms)
{
	int error = SSL_get_error(c->ssl, result);
	struct pollfd p = { .fd = c->fd };
	int64_t left = deadline_ms - pf_mono_ms();
	int n;

	if (error == SSL_ERROR_WANT_READ)
		p.events = POLLIN;
	else if (error == SSL_ERROR_WANT_WRITE)
		p.events = POLLOUT;
	else
		return false;
	if (left <= 0)
		return false;
	n = poll(&p, 1, left > INT_MAX ? INT_MAX : (int)left);
	return n > 0 || (n < 0 && errno == EINTR);
}

struct ag_tls_conn *
ag_tls_accept(struct ag_tls *t, int fd, int64_t deadline_ms)
{
	struct ag_tls_conn *c = calloc(1, sizeof(*c));
	int r;

	if (c == NULL || (c->ssl = SSL_new(t->ctx)) == NULL ||
	    SSL_set_fd(c->ssl, fd) != 1) {
		ag_tls_close(c);
		return NULL;
	}
	c->fd = fd;
	while ((r = SSL_accept(c->ssl)) != 1)
		if (!wait_for(c, r, deadline_ms)) {
			ERR_clear_error();
			ag_tls_close(c);
			return NULL;
		}
	return c;
}

int
ag_tls_read(struct ag_tls_conn *c, char *p, size_t n, int64_t deadline_ms)
{
	int want = n > INT_MAX ? INT_MAX : (int)n, r;

	while ((r = SSL_read(c->ssl, p, want)) <= 0) {
		if (SSL_get_error(c->ssl, r) == SSL_ERROR_ZERO_RETURN)
			return 0;
		if (!wait_for(c, r, deadline_ms)) {
			ERR_clear_error();
			return -1;
		}
	}
	return r;
}

bool
ag_tls_write(struct ag_tls_conn *c, struct pf_str s, int64_t deadline_ms)
{
	int r;

	while (s.n > 0) {
		r = SSL_write(c->ssl, s.p, s.n > INT_MAX ? INT_MAX : (int)s.n);
		if (r > 0) {
			s = pf_str_from(s, (size_t)r);
		} else if (!wait_for(c, r, deadline_ms)) {
			ERR_clear_error();
			return false;
		}
	}
	return true;
}

void
ag_tls_close(struct ag_tls_conn *c)
{
	if (c == NULL)
		return;
	if (c->ssl != NULL) {
		(void)SSL_shutdown(c->ssl);	/* once, no waiting */
		ERR_clear_error();
		SSL_free(c->ssl);
	}
	free(c);
}
