/*
 * floor - the least that a Session start or a guarded call can cost: a textbook
 * libfcgi responder that does only what can't be left out. One binary, two
 * roles: "start" verifies three JWTs, calls one SQL function and answers JSON;
 * "guard" verifies one and calls one.
 *
 * No settings, no error texts, no event thread, no limits; what is malformed gets
 * 400 and no reason. It shares no code with the product, so that a slow spot of
 * the product can't hide in both.
 *
 *	floor start|guard SOCKET CONNINFO THREADS JWKS-FILE
 */
#include "config.h"

#include <fcgiapp.h>
#include <json-c/json.h>
#include <libpq-fe.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define MAX_BODY	16384

struct job {
	int sock;
	const char *conninfo;
	int guard;
};

static EVP_PKEY *client_key;	/* of the agent that asks, fetched at start */
static EVP_PKEY *template;	/* P-256 parameters */
static EVP_MD *sha256;

struct jwt {
	unsigned char head[1024], claims[2048];
	int nhead, nclaims;
	const char *text;
	size_t nsigned;
	unsigned char sig[64];
};

static int
b64(const char *s, size_t n, unsigned char *out, size_t cap)
{
	static signed char val[256];
	uint32_t acc = 0;
	size_t k = 0;
	int bits = 0;

	if (val['A'] == 0 && val['B'] == 0) {
		const char *abc = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn"
		    "opqrstuvwxyz0123456789-_";

		memset(val, -1, sizeof(val));
		for (int i = 0; i < 64; i++)
			val[(unsigned char)abc[i]] = (signed char)i;
	}
	for (size_t i = 0; i < n; i++) {
		int v = val[(unsigned char)s[i]];

		if (v < 0 || k >= cap)
			return -1;
		acc = acc << 6 | (uint32_t)v;
		if ((bits += 6) >= 8)
			out[k++] = (unsigned char)(acc >> (bits -= 8));
	}
	return (int)k;
}

static int
split(const char *s, struct jwt *j)
{
	const char *a = strchr(s, '.'), *b = a ? strchr(a + 1, '.') : NULL;

	if (b == NULL)
		return 0;
	j->text = s;
	j->nsigned = (size_t)(b - s);
	j->nhead = b64(s, (size_t)(a - s), j->head, sizeof(j->head) - 1);
	j->nclaims = b64(a + 1, (size_t)(b - a - 1), j->claims,
	    sizeof(j->claims) - 1);
	if (j->nhead < 0 || j->nclaims < 0 ||
	    b64(b + 1, strlen(b + 1), j->sig, sizeof(j->sig)) != 64)
		return 0;
	j->head[j->nhead] = j->claims[j->nclaims] = 0;
	return 1;
}

static size_t
der_int(const unsigned char *p, unsigned char *out)
{
	size_t n = 32, pad;

	while (n > 1 && *p == 0)
		p++, n--;
	pad = *p >> 7;
	out[0] = 2;
	out[1] = (unsigned char)(n + pad);
	out[2] = 0;
	memcpy(out + 2 + pad, p, n);
	return 2 + pad + n;
}

static int
verify(const struct jwt *j, EVP_PKEY *key)
{
	unsigned char der[80], md[32];
	EVP_PKEY_CTX *ctx;
	size_t n;
	int ok;

	n = der_int(j->sig, der + 2);
	n += der_int(j->sig + 32, der + 2 + n);
	der[0] = 0x30;
	der[1] = (unsigned char)n;
	if (!EVP_Digest(j->text, j->nsigned, md, NULL, sha256, NULL))
		return 0;
	ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
	ok = ctx != NULL && EVP_PKEY_verify_init(ctx) == 1 &&
	    EVP_PKEY_verify(ctx, der, n + 2, md, 32) == 1;
	EVP_PKEY_CTX_free(ctx);
	return ok;
}

static EVP_PKEY *
key_of(const char *x, const char *y)
{
	unsigned char point[65] = { 4 };
	EVP_PKEY *key = EVP_PKEY_new();

	if (key == NULL || b64(x, strlen(x), point + 1, 32) != 32 ||
	    b64(y, strlen(y), point + 33, 32) != 32 ||
	    EVP_PKEY_copy_parameters(key, template) != 1 ||
	    EVP_PKEY_set1_encoded_public_key(key, point, 65) != 1) {
		EVP_PKEY_free(key);
		return NULL;
	}
	return key;
}

static const char *
member(json_object *o, const char *name)
{
	json_object *v;

	return json_object_object_get_ex(o, name, &v) ?
	    json_object_get_string(v) : "";
}

/* The proof: its own key, thumbprint, claims; spend is what replay is told by. */
static int
proof(const char *text, unsigned char jkt[32], unsigned char spend[32],
    int64_t *iat)
{
	json_object *head, *claims, *jwk;
	char canon[256];
	EVP_PKEY *key;
	struct jwt j;
	int ok = 0, n;

	if (text == NULL || !split(text, &j))
		return 0;
	head = json_tokener_parse((char *)j.head);
	claims = json_tokener_parse((char *)j.claims);
	if (json_object_object_get_ex(head, "jwk", &jwk) &&
	    strcmp(member(head, "typ"), "dpop+jwt") == 0 &&
	    (key = key_of(member(jwk, "x"), member(jwk, "y"))) != NULL) {
		n = snprintf(canon, sizeof(canon), "{\"crv\":\"P-256\","
		    "\"kty\":\"EC\",\"x\":\"%s\",\"y\":\"%s\"}",
		    member(jwk, "x"), member(jwk, "y"));
		EVP_Digest(canon, (size_t)n, jkt, NULL, sha256, NULL);
		n = snprintf(canon, sizeof(canon), "%s", member(claims, "jti"));
		EVP_Digest(canon, (size_t)n, spend, NULL, sha256, NULL);
		*iat = atoll(member(claims, "iat"));
		ok = llabs(*iat - time(NULL)) < 60 &&
		    *member(claims, "htu") != 0 && verify(&j, key);
		EVP_PKEY_free(key);
	}
	json_object_put(head);
	json_object_put(claims);
	return ok;
}

static int
assertion(const char *text, char sub[256], unsigned char spend[32],
    int64_t *iat)
{
	json_object *head, *claims;
	struct jwt j;
	int ok;

	if (text == NULL || !split(text, &j))
		return 0;
	head = json_tokener_parse((char *)j.head);
	claims = json_tokener_parse((char *)j.claims);
	snprintf(sub, 256, "%s", member(claims, "sub"));
	*iat = atoll(member(claims, "iat"));
	EVP_Digest(member(claims, "jti"), strlen(member(claims, "jti")), spend,
	    NULL, sha256, NULL);
	ok = atoll(member(claims, "exp")) > time(NULL) &&
	    *member(claims, "aud") != 0 && verify(&j, client_key);
	json_object_put(head);
	json_object_put(claims);
	return ok;
}

/* The value of a form field, decoded in place; JWTs need no decoding. */
static char *
field(char *body, const char *name)
{
	size_t n = strlen(name);
	char *p = body, *end;

	while (p != NULL && (strncmp(p, name, n) != 0 || p[n] != '='))
		p = (p = strchr(p, '&')) ? p + 1 : NULL;
	if (p == NULL)
		return NULL;
	p += n + 1;
	if ((end = strchr(p, '&')) != NULL)
		*end = 0;
	return p;
}

static PGresult *
call(PGconn *c, const char *name, int n, const void *const *v, const int *len)
{
	static const int binary[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	    1, 1, 1 };

	return PQexecPrepared(c, name, n, (const char *const *)v, len, binary,
	    1);
}

static int64_t
be64(int64_t v)
{
	return (int64_t)__builtin_bswap64((uint64_t)v);
}

static void
b64out(const unsigned char *in, char out[44])
{
	unsigned char text[48];

	EVP_EncodeBlock(text, in, 32);
	for (int i = 0; i < 43; i++)
		out[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' :
		    (char)text[i];
	out[43] = 0;
}

static void
start(FCGX_Request *r, PGconn *c)
{
	unsigned char jkt[32], s1[32], s2[32], s3[32], hash[32], raw[32];
	char body[MAX_BODY], sub[256], who[256], token[44];
	char *client, *grant, *p;
	int64_t iat, i2, i3, user;
	PGresult *res;
	int n, ok;

	n = FCGX_GetStr(body, sizeof(body) - 1, r->in);
	body[n > 0 ? n : 0] = 0;
	p = strdup(body);
	grant = field(body, "assertion");
	client = field(p, "client_assertion");
	ok = proof(FCGX_GetParam("HTTP_DPOP", r->envp), jkt, s1, &iat) &&
	    assertion(client, who, s2, &i2) && assertion(grant, sub, s3, &i3);
	free(p);
	if (!ok) {
		FCGX_PutS("Status: 400\r\n\r\n", r->out);
		return;
	}
	RAND_bytes(raw, sizeof(raw));
	b64out(raw, token);
	EVP_Digest(token, 43, hash, NULL, sha256, NULL);
	EVP_Digest(sub, strlen(sub), raw, NULL, sha256, NULL);
	memcpy(&user, raw, sizeof(user));
	iat = be64(iat);
	const void *v[] = { raw, hash, jkt, s1, s2, s3, &iat };
	const int len[] = { 32, 32, 32, 16, 16, 16, 8 };

	res = call(c, "start", 7, v, len);
	if (PQresultStatus(res) != PGRES_TUPLES_OK ||
	    PQgetvalue(res, 0, 0)[0] != 1)
		FCGX_PutS("Status: 400\r\n\r\n", r->out);
	else
		FCGX_FPrintF(r->out, "Content-Type: application/json\r\n"
		    "Cache-Control: no-store\r\n\r\n{\"access_token\":\"%s\","
		    "\"token_type\":\"DPoP\",\"expires_in\":3600,\"scope\":"
		    "\"\",\"session_id\":\"s%d\",\"signed_in\":false}", token,
		    (int)user);
	PQclear(res);
}

static void
guard(FCGX_Request *r, PGconn *c)
{
	const char *auth = FCGX_GetParam("HTTP_AUTHORIZATION", r->envp);
	unsigned char jkt[32], spend[32], hash[32];
	PGresult *res = NULL;
	int64_t iat;

	if (auth == NULL || strncmp(auth, "DPoP ", 5) != 0 ||
	    !proof(FCGX_GetParam("HTTP_DPOP", r->envp), jkt, spend, &iat)) {
		FCGX_PutS("Status: 401\r\n\r\n", r->out);
		return;
	}
	EVP_Digest(auth + 5, strlen(auth + 5), hash, NULL, sha256, NULL);
	iat = be64(iat);
	const void *v[] = { hash, jkt, spend, &iat };
	const int len[] = { 32, 32, 16, 8 };

	res = call(c, "guard", 4, v, len);
	if (PQresultStatus(res) != PGRES_TUPLES_OK || PQntuples(res) != 1 ||
	    PQgetisnull(res, 0, 0))
		FCGX_PutS("Status: 401\r\n\r\n", r->out);
	else
		FCGX_FPrintF(r->out, "Status: 200\r\n"
		    "Variable-POPPY_USER: %02x\r\n\r\n",
		    (unsigned char)PQgetvalue(res, 0, 0)[0]);
	PQclear(res);
}

static void *
work(void *arg)
{
	struct job *job = arg;
	PGconn *c = PQconnectdb(job->conninfo);
	FCGX_Request r;

	PQclear(PQprepare(c, "start",
	    "SELECT floor.start($1,$2,$3,$4,$5,$6,$7)", 0, NULL));
	PQclear(PQprepare(c, "guard", "SELECT floor.guard($1,$2,$3,$4)", 0,
	    NULL));
	FCGX_InitRequest(&r, job->sock, 0);
	while (FCGX_Accept_r(&r) == 0) {
		if (job->guard)
			guard(&r, c);
		else
			start(&r, c);
		FCGX_Detach(&r);
		FCGX_Finish_r(&r);
	}
	return NULL;
}

/* The first key of a JWK Set. */
static EVP_PKEY *
read_jwks(const char *file)
{
	json_object *set = json_object_from_file(file), *keys, *k;

	if (set == NULL || !json_object_object_get_ex(set, "keys", &keys) ||
	    (k = json_object_array_get_idx(keys, 0)) == NULL)
		return NULL;
	return key_of(member(k, "x"), member(k, "y"));
}

int
main(int argc, char **argv)
{
	struct job job;
	pthread_t t;

	if (argc != 6 || FCGX_Init() != 0)
		return 2;
	sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	template = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
	if (template == NULL || (client_key = read_jwks(argv[5])) == NULL)
		return 1;
	(void)umask(0);
	job.guard = strcmp(argv[1], "guard") == 0;
	job.sock = FCGX_OpenSocket(argv[2], 4096);
	job.conninfo = argv[3];
	for (int i = 1; i < atoi(argv[4]); i++)
		(void)pthread_create(&t, NULL, work, &job);
	(void)work(&job);
	return 0;
}
