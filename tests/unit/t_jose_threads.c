/*
 * Workers share keys: several threads verify with the same pf_key, count
 * references, make keys of their own from the shared curves, hash and derive,
 * all at once. Built with --enable-tsan this shows that no data of ours is
 * raced for.
 */
#include "config.h"

#include <pthread.h>

#include "core/jose/dpop.h"
#include "tests/unit/jose.h"

#define THREADS	4
#define ROUNDS	60
#define NOW	1700000000

static struct {
	struct pf_keyset set;
	struct pf_key *one;		/* shared without the set */
	struct pf_str jws[5];		/* one of each alg, without kid */
	struct pf_str forged;
	struct pf_str proof;
	pthread_barrier_t start;
} shared;

static const struct pf_dpop_want want = {
	.method = PF_LIT_INIT("GET"), .url = PF_LIT_INIT("https://h/x"),
	.now_at = NOW, .past = 60, .future = 10
};

static bool
hashes(void)
{
	static const unsigned char key[PF_KEY_LEN] = { 1 };
	unsigned char a[PF_SHA256_LEN], b[PF_SHA256_LEN], c[PF_SHA256_LEN];
	const struct pf_str part = PF_LIT("part");

	return pf_sha256(part, a) == PF_OK &&
	    pf_hmac256(key, &part, 1, b) == PF_OK &&
	    pf_hkdf(key, "threads", c) == PF_OK &&
	    memcmp(a, b, sizeof(a)) != 0 && memcmp(b, c, sizeof(b)) != 0;
}

static bool
tokens(struct pf_arena *a)
{
	struct pf_jws jws;
	const char *why;

	for (size_t i = 0; i < PF_COUNT(shared.jws); i++)
		if (pf_jws_parse(a, shared.jws[i], false, &jws, &why) !=
		    PF_OK || pf_jws_verify_set(&jws, &shared.set) != PF_OK)
			return false;
	return pf_jws_parse(a, shared.forged, false, &jws, &why) == PF_OK &&
	    pf_jws_verify_set(&jws, &shared.set) == PF_E_AUTH;
}

static bool
proofs(struct pf_arena *a)
{
	struct pf_proof p;
	struct pf_jws jws;
	struct pf_key *own;
	const char *why;
	bool ok;

	own = pf_key_ref(shared.one);
	ok = pf_dpop_check(a, shared.proof, &want, &p, &why) == PF_OK &&
	    memcmp(p.jkt, pf_key_thumbprint(own), sizeof(p.jkt)) == 0 &&
	    pf_jws_parse(a, shared.proof, true, &jws, &why) == PF_OK &&
	    pf_jws_verify(&jws, own) == PF_OK;
	pf_key_free(own);
	return ok;
}

static void *
work(void *failed)
{
	struct pf_arena a;
	int bad = 0;

	if (pf_arena_init(&a, 16384, 1 << 20) != PF_OK)
		return failed;
	pthread_barrier_wait(&shared.start);
	for (int i = 0; i < ROUNDS; i++) {
		bad += !tokens(&a) || !proofs(&a) || !hashes();
		pf_arena_reset(&a);
	}
	pf_arena_free(&a);
	pf_crypt_thread_end();
	return bad == 0 ? NULL : failed;
}

static void
prepare(void)
{
	struct pf_buf set, header;
	struct pf_key *k;
	const char *why;
	char *z;

	pf_buf_init(&set, &arena, 16384);
	pf_buf_addz(&set, "{\"keys\":[");
	for (enum pf_alg a = PF_ES256; a <= PF_EDDSA; a++) {
		k = new_key(a);
		if (a != PF_ES256)
			pf_buf_char(&set, ',');
		pf_key_write(&set, k, PF_NOSTR, false);
		shared.jws[a - PF_ES256] = signed_by(k, a, join(
		    "{\"alg\":\"%s\"}", pf_alg_name(a)), PF_LIT("{}"));
		pf_key_free(k);
	}
	pf_buf_addz(&set, "]}");
	tap_need(pf_jwks_parse(pf_buf_str(&set), &shared.set, &why) == PF_OK,
	    "a set of all kinds");
	z = pf_arena_z(&arena, shared.jws[0]);
	tap_need(z != NULL, "arena");
	shared.forged = pf_bytes(z, shared.jws[0].n);
	z += shared.jws[0].n - 20;
	*z = *z == 'A' ? 'B' : 'A';
	shared.one = new_key(PF_ES256);
	pf_buf_init(&header, &arena, 4096);
	pf_buf_addz(&header, "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\","
	    "\"jwk\":");
	pf_key_write(&header, shared.one, PF_NOSTR, false);
	pf_buf_char(&header, '}');
	shared.proof = signed_by(shared.one, PF_ES256, pf_buf_str(&header),
	    join("{\"jti\":\"j\",\"htm\":\"GET\",\"htu\":\"https://h/x\","
	    "\"iat\":%d}", NOW));
}

int
main(void)
{
	pthread_t thread[THREADS];
	void *res;

	jose_begin();
	prepare();
	tap_need(pthread_barrier_init(&shared.start, NULL, THREADS) == 0,
	    "barrier");
	for (size_t i = 0; i < THREADS; i++)
		tap_need(pthread_create(&thread[i], NULL, work, &shared) == 0,
		    "thread");
	for (size_t i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &res);
		tap_ok(res == NULL, "thread %zu: every verdict right", i);
	}
	pthread_barrier_destroy(&shared.start);
	pf_keyset_free(&shared.set);
	pf_key_free(shared.one);
	return jose_end();
}
