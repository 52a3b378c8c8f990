/*
 * tls - the server side of TLS for "serve"; the only file here that knows
 * OpenSSL. Descriptors are non-blocking; every wait ends at a deadline
 * (pf_mono_ms()).
 */
#ifndef AG_TLS_H
#define AG_TLS_H

#include "tools/poppy-agent/fault.h"

struct ag_tls;
struct ag_tls_conn;

/*
 * With cert and key: PEM files, the certificate's chain included. Without: a
 * key and a self-signed certificate for host, valid for 90 days, are made; the
 * certificate is written to save_as for those who are to trust it. Fault set.
 */
PF_MUST enum pf_rc ag_tls_new(const char *cert, const char *key,
    struct pf_str host, const char *save_as, struct ag_tls **out,
    struct ag_fault *f);
void ag_tls_free(struct ag_tls *t);

/* The handshake on an accepted descriptor, which stays the caller's. NULL if it
 * fails or takes too long. */
struct ag_tls_conn *ag_tls_accept(struct ag_tls *t, int fd,
    int64_t deadline_ms);
/* Bytes read, 0 at the end, -1 on failure or past the deadline. */
int ag_tls_read(struct ag_tls_conn *c, char *p, size_t n, int64_t deadline_ms);
bool ag_tls_write(struct ag_tls_conn *c, struct pf_str s, int64_t deadline_ms);
/* NULL is fine. */
void ag_tls_close(struct ag_tls_conn *c);

#endif
