/*
 * The Test Anything Protocol of poppy-agent check, told otherwise.
 */
#include "config.h"

#include <stdio.h>

#include "tools/poppyctl/doctor.h"

struct point {
	const char *result;
	struct pf_str rows;	/* ids of requirements */
	struct pf_str text;
	struct pf_str reason;	/* why it was left out */
};

static void
close_point(struct doctor_show *s)
{
	if (s->json != NULL && s->open) {
		pf_jw_close(s->json, ']');
		pf_jw_close(s->json, '}');
	}
	s->open = false;
}

static void
show(struct doctor_show *s, const struct point *p)
{
	s->open = true;
	if (s->json == NULL) {
		(void)printf("%-9s%.*s (%.*s)%s%.*s\n", p->result,
		    PF_STRF(p->text), PF_STRF(p->rows),
		    p->reason.n != 0 ? ": " : "", PF_STRF(p->reason));
		return;
	}
	pf_jw_open(s->json, NULL, '{');
	pf_jw_str(s->json, "domain", s->domain);
	pf_jw_strz(s->json, "result", p->result);
	pf_jw_str(s->json, "requirements", p->rows);
	pf_jw_str(s->json, "text", p->text);
	if (p->reason.n != 0)
		pf_jw_str(s->json, "reason", p->reason);
	pf_jw_open(s->json, "details", '[');
}

/* "12 - R-4.3-8,R-4.3-12 a proof sent again # SKIP why" */
static void
read_point(struct doctor_show *s, struct pf_str rest, bool ok)
{
	const struct pf_str skip = PF_LIT("# SKIP ");
	struct point p = { .result = ok ? "ok" : "failed", .reason = PF_NOSTR };
	size_t at;

	rest = pf_str_from(rest, pf_str_find(rest, '-') + 2);
	at = pf_str_find(rest, ' ');
	p.rows = pf_str_head(rest, at);
	p.text = pf_str_from(rest, at + 1);
	at = pf_str_find(p.text, '#');
	if (pf_str_starts(pf_str_from(p.text, at), skip)) {
		p.reason = pf_str_from(p.text, at + skip.n);
		p.text = pf_str_trim(pf_str_head(p.text, at));
		p.result = "left out";
	}
	show(s, &p);
}

/* One protocol of all runs: points are numbered on, and the plan is the sum's. */
static void
pass_on(struct doctor_show *s, struct pf_str line, bool good)
{
	size_t at = pf_str_find(line, '-');

	(void)printf("%s %u %.*s\n", good ? "ok" : "not ok", s->points + 1,
	    PF_STRF(pf_str_from(line, at)));
}

static void
show_detail(struct doctor_show *s, struct pf_str text)
{
	if (s->json != NULL)
		pf_jw_str(s->json, NULL, text);
	else
		(void)printf("         %.*s\n", PF_STRF(text));
}

void
doctor_line(void *ctx, struct pf_str line)
{
	const struct pf_str ok = PF_LIT("ok "), not_ok = PF_LIT("not ok ");
	const struct pf_str remark = PF_LIT("# ");
	struct doctor_show *s = ctx;

	if (s->c->tap && pf_str_starts(line, remark))
		(void)printf("%.*s\n", PF_STRF(line));
	if (pf_str_starts(line, PF_LIT("1.."))) {
		s->planned = true;
		close_point(s);
	}
	if (pf_str_starts(line, ok) || pf_str_starts(line, not_ok)) {
		bool good = pf_str_starts(line, ok);

		close_point(s);
		if (s->c->tap)
			pass_on(s, line, good);
		else
			read_point(s, pf_str_from(line, good ? ok.n :
			    not_ok.n), good);
		s->points++;
		s->failed += !good;
	} else if (s->open && pf_str_starts(line, remark)) {
		show_detail(s, pf_str_from(line, remark.n));
	}
	(void)fflush(stdout);
}
