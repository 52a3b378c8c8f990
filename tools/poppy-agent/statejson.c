/*
 * The state as JSON and back; declared in state.h.
 *
 * The file is the agent's own, and still read strictly: a truncated or edited
 * one is refused rather than half understood.
 */
#include "config.h"

#include "core/base/json.h"
#include "tools/poppy-agent/state.h"

#define FILE_VERSION	1

static const struct pf_json_limits limits = { 16u << 20, 12, 200000 };

static void
write_keys(struct pf_jw *w, struct pf_buf *b, const struct ag_key *k)
{
	pf_jw_open(w, "keys", '[');
	for (; k != NULL; k = k->next) {
		pf_jw_open(w, NULL, '{');
		pf_jw_strz(w, "alg", pf_alg_name(k->alg));
		pf_jw_str(w, "kid", k->kid);
		pf_jw_int(w, "made_at", k->made_at);
		pf_jw_int(w, "retired_at", k->retired_at);
		pf_jw_raw(w, "jwk", PF_LIT(""));
		pf_key_write(b, k->key, k->kid, true);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
}

static void
write_sessions(struct pf_jw *w, const struct ag_session *s)
{
	pf_jw_open(w, "sessions", '[');
	for (; s != NULL; s = s->next) {
		pf_jw_open(w, NULL, '{');
		pf_jw_str(w, "session_id", s->id);
		pf_jw_str(w, "token", s->token);
		pf_jw_str(w, "scope", s->scope);
		pf_jw_int(w, "started_at", s->started_at);
		pf_jw_int(w, "expires_at", s->expires_at);
		pf_jw_bool(w, "signed_in", s->signed_in);
		pf_jw_str(w, "account", s->account);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
}

static void
write_accounts(struct pf_jw *w, const struct ag_account *a)
{
	pf_jw_open(w, "accounts", '[');
	for (; a != NULL; a = a->next) {
		pf_jw_open(w, NULL, '{');
		pf_jw_str(w, "id", a->id);
		pf_jw_str(w, "token", a->token);
		pf_jw_str(w, "scope", a->scope);
		pf_jw_int(w, "given_at", a->given_at);
		pf_jw_int(w, "expires_at", a->expires_at);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
}

static void
write_users(struct pf_jw *w, struct pf_buf *b, const struct ag_user *u)
{
	pf_jw_open(w, "users", '[');
	for (; u != NULL; u = u->next) {
		pf_jw_open(w, NULL, '{');
		pf_jw_str(w, "user", u->user);
		pf_jw_str(w, "issuer", u->issuer);
		pf_jw_str(w, "user_id", u->id);
		pf_jw_raw(w, "dpop", PF_LIT(""));
		pf_key_write(b, u->dpop, PF_NOSTR, true);
		write_sessions(w, u->sessions);
		write_accounts(w, u->accounts);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
}

static void
write_docs(struct pf_jw *w, const struct ag_doc *d)
{
	pf_jw_open(w, "documents", '[');
	for (; d != NULL; d = d->next) {
		pf_jw_open(w, NULL, '{');
		pf_jw_str(w, "url", d->url);
		pf_jw_str(w, "final_url", d->final_url);
		pf_jw_str(w, "etag", d->etag);
		pf_jw_int(w, "fetched_at", d->fetched_at);
		pf_jw_int(w, "fresh_until_at", d->fresh_until_at);
		pf_jw_str(w, "body", d->body);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
}

static void
write_rest(struct pf_jw *w, const struct ag_state *st)
{
	pf_jw_open(w, "places", '[');
	for (const struct ag_place *p = st->places; p != NULL; p = p->next) {
		pf_jw_open(w, NULL, '{');
		pf_jw_str(w, "domain", p->domain);
		pf_jw_str(w, "issuer", p->issuer);
		pf_jw_str(w, "origins", p->origins);
		pf_jw_str(w, "servers", p->servers);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
	pf_jw_open(w, "nonces", '[');
	for (const struct ag_nonce *n = st->nonces; n != NULL; n = n->next) {
		pf_jw_open(w, NULL, '{');
		pf_jw_str(w, "server", n->server);
		pf_jw_str(w, "nonce", n->nonce);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
	pf_jw_open(w, "holds", '[');
	for (const struct ag_hold *h = st->holds; h != NULL; h = h->next) {
		pf_jw_open(w, NULL, '{');
		pf_jw_str(w, "request", h->request);
		pf_jw_int(w, "until_at", h->until_at);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
	pf_jw_open(w, "pending", '[');
	for (const struct ag_pending *p = st->pendings; p != NULL;
	    p = p->next) {
		pf_jw_open(w, NULL, '{');
		pf_jw_str(w, "state", p->state);
		pf_jw_str(w, "query", p->query);
		pf_jw_int(w, "until_at", p->until_at);
		pf_jw_close(w, '}');
	}
	pf_jw_close(w, ']');
}

void
ag_state_write(struct pf_buf *b, const struct ag_state *st)
{
	struct pf_jw w = pf_jw(b);

	pf_jw_open(&w, NULL, '{');
	pf_jw_int(&w, "version", FILE_VERSION);
	pf_jw_str(&w, "client_id", st->client_id);
	pf_jw_str(&w, "name", st->name);
	write_keys(&w, b, st->keys);
	write_users(&w, b, st->users);
	write_rest(&w, st);
	write_docs(&w, st->docs);
	pf_jw_close(&w, '}');
	pf_buf_char(b, '\n');
}

/*
 * Reading. A reader remembers the first fault, so that lines of members can be
 * read without a test after each.
 */
struct reader {
	struct pf_arena *a;
	const char *why;
};

/* null is how a text that was never given is written. */
static struct pf_str
text(struct reader *r, const struct pf_json *o, const char *key)
{
	struct pf_str s = PF_NOSTR;
	enum pf_rc rc = pf_json_str(o, key, &s);

	if (rc == PF_E_ABSENT && pf_json_has(o, key))
		return PF_NOSTR;
	if (rc != PF_OK && r->why == NULL)
		r->why = "a text is missing";
	return s;
}

static int64_t
number(struct reader *r, const struct pf_json *o, const char *key)
{
	int64_t v = 0;

	if (pf_json_int(o, key, &v) != PF_OK && r->why == NULL)
		r->why = "a number is missing";
	return v;
}

static void
free_key(void *k)
{
	pf_key_free(k);
}

static struct pf_key *
private_key(struct reader *r, const struct pf_json *o, const char *member)
{
	const struct pf_json *jwk;
	const char *why = NULL;
	struct pf_key *k = NULL;

	if (pf_json_obj(o, member, &jwk) != PF_OK ||
	    pf_jwk_parse_private(jwk, &k, &why) != PF_OK ||
	    pf_arena_defer(r->a, free_key, k) != PF_OK) {
		if (r->why == NULL)
			r->why = "a private key can't be read";
		return NULL;
	}
	return k;
}

static void *
make(struct reader *r, size_t size)
{
	void *p = pf_arena_alloc(r->a, size);

	if (p == NULL && r->why == NULL)
		r->why = "no memory";
	return p;
}

/* What older files do not have is nothing. */
static struct pf_str
text_if(struct reader *r, const struct pf_json *o, const char *key)
{
	return pf_json_has(o, key) ? text(r, o, key) : PF_NOSTR;
}

static const struct pf_json *
list(struct reader *r, const struct pf_json *o, const char *key)
{
	const struct pf_json *v = NULL;

	if (pf_json_arr(o, key, &v) != PF_OK && r->why == NULL)
		r->why = "a list is missing";
	return v;
}

static struct ag_key *
read_key(struct reader *r, const struct pf_json *o)
{
	struct ag_key *k = make(r, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->alg = pf_alg_parse(text(r, o, "alg"));
	k->kid = text(r, o, "kid");
	k->made_at = number(r, o, "made_at");
	k->retired_at = number(r, o, "retired_at");
	k->key = private_key(r, o, "jwk");
	if (r->why == NULL && !pf_key_fits(k->key, k->alg))
		r->why = "a key does not fit its alg";
	return k;
}

static struct ag_session *
read_session(struct reader *r, const struct pf_json *o)
{
	struct ag_session *s = make(r, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->id = text(r, o, "session_id");
	s->token = text(r, o, "token");
	s->scope = text(r, o, "scope");
	s->started_at = number(r, o, "started_at");
	s->expires_at = number(r, o, "expires_at");
	if (pf_json_bool(o, "signed_in", &s->signed_in) != PF_OK)
		r->why = "signed_in is missing";
	s->account = text_if(r, o, "account");
	return s;
}

static struct ag_account *
read_account(struct reader *r, const struct pf_json *o)
{
	struct ag_account *a = make(r, sizeof(*a));

	if (a == NULL)
		return NULL;
	a->id = text(r, o, "id");
	a->token = text(r, o, "token");
	a->scope = text(r, o, "scope");
	a->given_at = number(r, o, "given_at");
	a->expires_at = number(r, o, "expires_at");
	return a;
}

static struct ag_pending *
read_pending(struct reader *r, const struct pf_json *o)
{
	struct ag_pending *p = make(r, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->state = text(r, o, "state");
	p->query = text(r, o, "query");
	p->until_at = number(r, o, "until_at");
	return p;
}

/* Every list of the file is read in the same way, in its order. */
#define READ_LIST(r, o, name, head, type, one)				\
	do {								\
		const struct pf_json *l_ = list((r), (o), (name));	\
		struct type **end_ = &(head);				\
		size_t n_ = pf_json_len(l_);				\
		for (size_t i_ = 0; (r)->why == NULL && i_ < n_; i_++)	\
			if ((*end_ = one((r), pf_json_at(l_, i_))))	\
				end_ = &(*end_)->next;			\
	} while (0)

static struct ag_user *
read_user(struct reader *r, const struct pf_json *o)
{
	struct ag_user *u = make(r, sizeof(*u));

	if (u == NULL)
		return NULL;
	u->user = text(r, o, "user");
	u->issuer = text(r, o, "issuer");
	u->id = text(r, o, "user_id");
	u->dpop = private_key(r, o, "dpop");
	READ_LIST(r, o, "sessions", u->sessions, ag_session, read_session);
	if (pf_json_has(o, "accounts"))
		READ_LIST(r, o, "accounts", u->accounts, ag_account,
		    read_account);
	return u;
}

static struct ag_place *
read_place(struct reader *r, const struct pf_json *o)
{
	struct ag_place *p = make(r, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->domain = text(r, o, "domain");
	p->issuer = text(r, o, "issuer");
	p->origins = text(r, o, "origins");
	p->servers = text(r, o, "servers");
	return p;
}

static struct ag_doc *
read_doc(struct reader *r, const struct pf_json *o)
{
	struct ag_doc *d = make(r, sizeof(*d));

	if (d == NULL)
		return NULL;
	d->url = text(r, o, "url");
	d->final_url = text(r, o, "final_url");
	d->etag = text(r, o, "etag");
	d->body = text(r, o, "body");
	d->fetched_at = number(r, o, "fetched_at");
	d->fresh_until_at = number(r, o, "fresh_until_at");
	return d;
}

static struct ag_nonce *
read_nonce(struct reader *r, const struct pf_json *o)
{
	struct ag_nonce *n = make(r, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->server = text(r, o, "server");
	n->nonce = text(r, o, "nonce");
	return n;
}

static struct ag_hold *
read_hold(struct reader *r, const struct pf_json *o)
{
	struct ag_hold *h = make(r, sizeof(*h));

	if (h == NULL)
		return NULL;
	h->request = text(r, o, "request");
	h->until_at = number(r, o, "until_at");
	return h;
}

enum pf_rc
ag_state_parse(struct pf_arena *a, struct pf_str file, struct ag_state *out,
    const char **why)
{
	struct reader r = { a, NULL };
	struct ag_state st = { .client_id = PF_NOSTR };
	struct pf_json_fault fault = { 0, "is no JSON" };
	const struct pf_json *o;

	if (pf_json_parse(a, file, &limits, &o, &fault) != PF_OK) {
		*why = fault.why;
		return PF_E_INPUT;
	}
	if (number(&r, o, "version") != FILE_VERSION)
		r.why = "is of another version";
	st.client_id = text(&r, o, "client_id");
	st.name = text(&r, o, "name");
	READ_LIST(&r, o, "keys", st.keys, ag_key, read_key);
	READ_LIST(&r, o, "users", st.users, ag_user, read_user);
	READ_LIST(&r, o, "places", st.places, ag_place, read_place);
	READ_LIST(&r, o, "nonces", st.nonces, ag_nonce, read_nonce);
	READ_LIST(&r, o, "holds", st.holds, ag_hold, read_hold);
	READ_LIST(&r, o, "documents", st.docs, ag_doc, read_doc);
	if (pf_json_has(o, "pending"))
		READ_LIST(&r, o, "pending", st.pendings, ag_pending,
		    read_pending);
	if (r.why != NULL) {
		*why = r.why;
		return PF_E_INPUT;
	}
	*out = st;
	return PF_OK;
}
