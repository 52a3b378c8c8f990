/*
 * Values of headers, one a line: If-None-Match, Cache-Control of an agent's
 * document, a token, a Session id.
 */
#include "core/poppy/fetch.h"
#include "core/store/token.h"
#include "tests/fuzz/fuzz.h"

/* Was the body sent, or did the header name it? */
static bool
sent(struct pf_str if_none_match, struct pf_str *etag)
{
	struct pf_req rq = { .arena = &fuzz_arena, .method = PF_GET,
		.if_none_match = if_none_match };
	struct pf_str head;
	size_t at;

	pf_resp_init(&rq);
	FUZZ_HOLDS(pf_resp_cached(&rq, "text/plain", PF_LIT("x"), NULL)
	    == PF_OK);
	FUZZ_HOLDS(rq.resp.status == 200 || rq.resp.status == 304);
	head = pf_buf_str(&rq.resp.head);
	at = pf_str_find(head, '"');
	*etag = pf_str_from(head, at);
	*etag = pf_str_head(*etag, pf_str_find(*etag, '\r'));
	return rq.resp.status == 200;
}

/* What is told to be there already must be named, or be *. */
static void
not_modified(struct pf_str line)
{
	struct pf_str etag;
	bool named = pf_str_eqz(pf_str_trim(line), "*");

	if (sent(line, &etag))
		return;
	for (size_t i = 0; i < line.n; i++)
		named = named || pf_str_starts(pf_str_from(line, i), etag);
	FUZZ_HOLDS(named);
	FUZZ_HOLDS(!sent(etag, &etag));
}

static bool
token(struct pf_str line)
{
	unsigned bucket = PF_BUCKETS;

	if (pf_token_parse("pst_", line, &bucket) != PF_OK)
		return false;
	FUZZ_HOLDS(line.n == PF_TOKEN_TEXT && bucket < PF_BUCKETS);
	return true;
}

static bool
sid(struct pf_str line)
{
	char text[PF_SID_TEXT];
	struct pf_sid s;

	if (pf_sid_parse(line, &s) != PF_OK)
		return false;
	FUZZ_HOLDS(s.bucket < PF_BUCKETS);
	pf_sid_text(&s, text);
	FUZZ_HOLDS(pf_str_eq(line, pf_bytes(text, sizeof(text))));
	return true;
}

bool
fuzz_one(struct pf_str in)
{
	struct pf_str rest = in, one = PF_NOSTR;
	int64_t fresh;

	if (pf_str_cut(&rest, '\n', &one))
		not_modified(one);
	if (pf_str_cut(&rest, '\n', &one)) {
		fresh = pf_fetch_fresh_s(one, 3600);
		FUZZ_HOLDS(fresh >= 60 && fresh <= 86400);
	}
	if (!pf_str_cut(&rest, '\n', &one) || !token(one))
		return false;
	return pf_str_cut(&rest, '\n', &one) && sid(one);
}
