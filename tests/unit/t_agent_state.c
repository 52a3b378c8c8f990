/*
 * poppy-agent's state as JSON, there and back, and what is no state.
 */
#include "config.h"

#include <string.h>

#include "core/jose/crypt.h"
#include "tests/unit/tap.h"
#include "tools/poppy-agent/state.h"

static struct pf_arena arena;

static struct pf_str
written(const struct ag_state *st)
{
	struct pf_str out = PF_NOSTR;
	struct pf_buf b;

	pf_buf_init(&b, &arena, 1 << 20);
	ag_state_write(&b, st);
	tap_need(pf_buf_done(&b, &out) == PF_OK, "the state as text");
	return out;
}

static struct pf_str
whole_state(void)
{
	static struct ag_session s2 = { .id = PF_LIT_INIT("ses_2"),
	    .token = PF_LIT_INIT("t2"), .scope = PF_LIT_INIT(""),
	    .started_at = 5, .expires_at = INT64_MAX };
	static struct ag_session s1 = { .next = &s2,
	    .id = PF_LIT_INIT("ses_\"1"), .token = PF_LIT_INIT("t1"),
	    .scope = PF_LIT_INIT("a b"), .signed_in = true,
	    .account = PF_LIT_INIT("acc") };
	static struct ag_account account = { .id = PF_LIT_INIT("acc"),
	    .token = PF_LIT_INIT("pat"), .scope = PF_LIT_INIT("a b"),
	    .given_at = 7, .expires_at = 8 };
	static struct ag_pending pending = { .state = PF_LIT_INIT("xyz"),
	    .until_at = 11 };
	static struct ag_user user = { .user = PF_LIT_INIT("me"),
	    .issuer = PF_LIT_INIT("https://i.example"),
	    .id = PF_LIT_INIT("usr_1"), .sessions = &s1,
	    .accounts = &account };
	static struct ag_place place = { .domain = PF_LIT_INIT("e.example"),
	    .issuer = PF_LIT_INIT("https://i.example"),
	    .origins = PF_LIT_INIT("https://a https://b"),
	    .servers = PF_LIT_INIT("https://c") };
	static struct ag_doc doc = { .url = PF_LIT_INIT("https://e/x"),
	    .final_url = PF_LIT_INIT("https://f/x"),
	    .body = PF_LIT_INIT("{\"a\":\"\\u00e4\"}"), .fetched_at = 1,
	    .fresh_until_at = 2 };
	static struct ag_nonce nonce = { .server = PF_LIT_INIT("api x"),
	    .nonce = PF_LIT_INIT("n") };
	static struct ag_hold hold = { .request = PF_LIT_INIT("POST x"),
	    .until_at = 9 };
	static struct ag_key key = { .alg = PF_PS256,
	    .kid = PF_LIT_INIT("k"), .made_at = 3, .retired_at = 4 };
	const struct ag_state st = { PF_LIT("https://a.example/c"),
	    PF_LIT("Name"), &key, &user, &place, &doc, &nonce, &hold,
	    &pending };
	struct pf_str text;

	tap_need(pf_key_generate(PF_PS256, &key.key) == PF_OK &&
	    pf_key_generate(PF_ES256, &user.dpop) == PF_OK, "keys");
	text = written(&st);
	pf_key_free(key.key);
	pf_key_free(user.dpop);
	return text;
}

static void
test_there_and_back(struct pf_str text)
{
	const char *why = "";
	struct ag_state st;

	tap_is(ag_state_parse(&arena, text, &st, &why), PF_OK,
	    "what was written is read (%s)", why);
	tap_ok(pf_str_eq(written(&st), text), "and written the same again");
	tap_ok(st.users != NULL && st.users->sessions != NULL &&
	    pf_str_eqz(st.users->sessions->id, "ses_\"1") &&
	    st.users->sessions->signed_in &&
	    st.users->sessions->next->expires_at == INT64_MAX,
	    "Sessions in their order");
	tap_ok(st.users->accounts != NULL &&
	    pf_str_eqz(st.users->accounts->token, "pat") &&
	    pf_str_eqz(st.users->sessions->account, "acc") &&
	    !pf_str_given(st.users->sessions->next->account),
	    "an Account Token, and whose Session it signed in");
	tap_ok(st.pendings != NULL &&
	    pf_str_eqz(st.pendings->state, "xyz") &&
	    !pf_str_given(st.pendings->query), "a sign-in that waits");
	tap_ok(!pf_str_given(st.docs->etag), "an ETag that was never given");
}

static void
refused(struct pf_str text, const char *what)
{
	struct ag_state st = { .client_id = PF_LIT("unchanged") };
	const char *why = NULL;

	tap_ok(ag_state_parse(&arena, text, &st, &why) == PF_E_INPUT &&
	    why != NULL && pf_str_eqz(st.client_id, "unchanged"),
	    "refused: %s", what);
}

/* A copy in which the first 'from' is 'to', of the same length. */
static struct pf_str
changed(struct pf_str text, const char *from, const char *to)
{
	char *z = pf_arena_z(&arena, text), *at;

	tap_need(z != NULL && (at = strstr(z, from)) != NULL &&
	    strlen(from) == strlen(to), from);
	memcpy(at, to, strlen(to));
	return pf_str(z);
}

int
main(void)
{
	struct pf_str text;
	size_t cuts = 0;

	tap_need(pf_arena_init(&arena, 65536, 256u << 20) == PF_OK &&
	    pf_crypt_init() == PF_OK, "memory");
	text = whole_state();
	test_there_and_back(text);
	test_there_and_back(changed(text, "\"Name\"", "\"Nime\""));
	refused(PF_LIT(""), "nothing");
	refused(PF_LIT("[]"), "an array");
	refused(PF_LIT("{}"), "an empty object");
	refused(changed(text, "\"version\":1", "\"version\":2"),
	    "another version");
	refused(changed(text, "\"users\"", "\"usors\""), "no Users");
	refused(changed(text, "\"alg\":\"PS256\"", "\"alg\":\"HS256\""),
	    "a key of an alg that is none");
	refused(changed(text, "\"alg\":\"PS256\"", "\"alg\":\"ES256\""),
	    "a key that does not fit its alg");
	refused(changed(text, "\"dpop\":{\"kty\":\"EC\"",
	    "\"dpop\":{\"kty\":\"XX\""), "a DPoP key that is none");
	refused(changed(text, "\"signed_in\":true", "\"signed_in\":1234"),
	    "signed_in as a number");
	refused(changed(text, "\"until_at\":9", "\"until_at\":x"), "no JSON");
	/* The closing brace and the newline behind it are its last bytes. */
	for (size_t n = 0; n + 2 <= text.n; n += 37) {
		struct ag_state st;
		const char *why = NULL;

		cuts += ag_state_parse(&arena, pf_str_head(text, n), &st,
		    &why) != PF_E_INPUT;
	}
	tap_is((long long)cuts, 0, "refused: cut anywhere");
	pf_arena_free(&arena);
	pf_crypt_thread_end();
	pf_crypt_end();
	return tap_done();
}
