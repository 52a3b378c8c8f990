/*
 * pages_say - see pages_say.h.
 */
#include "core/poppy/pages_say.h"

static const struct say {
	int status;
	const char *title, *text;
} say[PF_SAY_COUNT] = {
	[PF_SAY_BAD_CLIENT] = { 400, PF_T("This link doesn't work"),
	    PF_T("We can't tell which agent sent you here. Nothing has "
	    "happened. Go back to it and try again.") },
	[PF_SAY_NO_CLIENT] = { 503, PF_T("The agent can't be reached"),
	    PF_T("We could not look up which agent it is. Try again in a "
	    "moment.") },
	[PF_SAY_BLOCKED] = { 403, PF_T("This agent is not accepted here"),
	    PF_T("{shop} doesn't work with it. Nothing has happened.") },
	[PF_SAY_BAD_REDIRECT] = { 400, PF_T("This link doesn't work"),
	    PF_T("It would lead you to an address that the agent has not "
	    "published. Nothing has happened.") },
	[PF_SAY_BAD_REQUEST] = { 400, PF_T("This link doesn't work"),
	    PF_T("Something is missing from it. Go back to your agent and "
	    "start again.") },
	[PF_SAY_ENDED] = { 410, PF_T("This request has ended"),
	    PF_T("It is too old, or it was answered already. If you still "
	    "want it, go back to your agent and start again.") },
	[PF_SAY_OTHER_ACCOUNT] = { 403,
	    PF_T("This request belongs to another account"),
	    PF_T("It was begun with another account. Sign in with that one, "
	    "or go back to your agent and start again.") },
	[PF_SAY_AGENT] = { 403, PF_T("This page is for people"),
	    PF_T("The browser of an agent can't sign in or give access. Open "
	    "the link in your own browser.") },
	[PF_SAY_PRIVILEGED] = { 403, PF_T("This account can't be connected"),
	    PF_T("Accounts of the people who run {shop} can't be used by "
	    "agents.") },
	[PF_SAY_DISABLED] = { 403, PF_T("This account can't be used"),
	    PF_T("It is locked. Ask {shop} for help.") },
	[PF_SAY_UNVERIFIED] = { 403, PF_T("Confirm your e-mail address first"),
	    PF_T("Open the link in the e-mail that {shop} sent you, then come "
	    "back here.") },
	[PF_SAY_LIMIT] = { 429, PF_T("Too many attempts"),
	    PF_T("Wait a few minutes, then try again.") },
	[PF_SAY_BUSY] = { 503, PF_T("Try again in a moment"),
	    PF_T("We can't answer just now. Nothing is lost.") },
	[PF_SAY_STALE_FORM] = { 403, PF_T("This page was too old"),
	    PF_T("Go back, load it again and repeat what you did. Your "
	    "browser must allow cookies here.") },
	[PF_SAY_TICKET] = { 400, PF_T("You are not signed in yet"),
	    PF_T("The way back from the sign-in of {shop} took too long, or "
	    "began in another browser.") },
	[PF_SAY_ABSENT] = { 404, PF_T("There is nothing here"),
	    PF_T("Check the address.") },
	[PF_SAY_METHOD] = { 405, PF_T("There is nothing here"),
	    PF_T("Check the address.") },
	[PF_SAY_TOO_LARGE] = { 413, PF_T("That was too much"),
	    PF_T("Go back and enter less.") },
	[PF_SAY_FAULT] = { 500, PF_T("Something went wrong"),
	    PF_T("It is our fault. Try again in a moment.") },
	[PF_SAY_LEFT] = { 200, PF_T("You are signed out"),
	    PF_T("Nothing has been allowed. To use another account, go back "
	    "to your agent and start again.") },
	[PF_SAY_NOT_ME] = { 200, PF_T("Sign in with another account"),
	    PF_T("Sign out of {shop} first. Then go back to your agent and "
	    "start again.") },
	[PF_SAY_SIGNED_OUT] = { 200, PF_T("You are signed out"),
	    PF_T("You can close this page.") },
};

int
pf_say_status(enum pf_say what)
{
	return say[what].status;
}

enum pf_rc
pf_pages_say(struct pf_req *rq, const struct pf_pages *p, enum pf_say what,
    struct pf_str next, const char *next_text)
{
	const struct pf_lang *lang = pf_pages_lang(rq, p, PF_NOSTR);
	const struct pf_var shop[] = { PF_VAR("shop", p->shop) };
	const struct pf_vars vars = { shop, PF_COUNT(shop), NULL };
	const struct say *s = &say[what];
	const struct pf_var v[] = {
		PF_VAR("title", pf_pages_text(rq, lang, s->title, &vars)),
		PF_VAR("text", pf_pages_text(rq, lang, s->text, &vars)),
		PF_VAR("next", next),
		PF_VAR("next_text", next_text == NULL ? PF_LIT("") :
		    pf_pages_text(rq, lang, next_text, &vars)),
	};
	const struct pf_page page = {
		.id = PF_PAGE_MESSAGE, .status = s->status, .lang = lang,
		.v = v, .n = PF_COUNT(v),
	};

	return pf_pages_send(rq, p, &page);
}

enum pf_say
pf_say_of_status(struct pf_str status)
{
	if (pf_str_eqz(status, "privileged"))
		return PF_SAY_PRIVILEGED;
	if (pf_str_eqz(status, "unverified"))
		return PF_SAY_UNVERIFIED;
	return PF_SAY_DISABLED;
}
