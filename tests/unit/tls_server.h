/*
 * tls_server - a real HTTPS server for the tests of outbound, in processes of
 * its own. What it answers is said by the last word of the path.
 */
#ifndef PF_TLS_SERVER_H
#define PF_TLS_SERVER_H

#include <stdbool.h>

/* Of the shared page: how often somebody connected. */
struct tls_server {
	int port;
	int pid;
	volatile unsigned *connections;
};

/* With one pair of tls_server_certificates(). False: it can't be had. */
bool tls_server_start(const char *cert, const char *key,
    struct tls_server *out);
void tls_server_stop(struct tls_server *s);
/*
 * Write ca.pem, good.pem and good.key (signed by it, for good.test,
 * *.good.test, localhost and 127.0.0.1), bad.pem and bad.key (signed by itself)
 * into dir.
 */
bool tls_server_certificates(const char *dir);

#endif
