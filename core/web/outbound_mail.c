/*
 * A message handed to a mail server, by SMTP. The server is the operator's own
 * choice, so that the address policy of fetches isn't asked.
 */
#include "config.h"

#include <curl/curl.h>
#include <string.h>

#include "core/web/outbound.h"

#define REFUSED		"the message could not be prepared"

static size_t
on_read(char *out, size_t size, size_t n, void *arg)
{
	struct pf_str *left = arg;
	size_t take = size * n < left->n ? size * n : left->n;

	if (take > 0)
		memcpy(out, left->p, take);
	*left = pf_str_from(*left, take);
	return take;
}

/* "smtp://localhost:25" and the like: nobody is in between. */
bool
pf_mail_is_local(struct pf_str url)
{
	static const struct pf_str local[] = {
		PF_LIT_INIT("localhost"), PF_LIT_INIT("127.0.0.1"),
		PF_LIT_INIT("[::1]"),
	};
	size_t at = pf_str_starts(url, PF_LIT("smtps://")) ? 8 : 7;
	struct pf_str host = pf_str_from(url, at);

	for (size_t i = 0; i < PF_COUNT(local); i++)
		if (pf_str_eq(host, local[i]) ||
		    (pf_str_starts(host, local[i]) &&
		    host.p[local[i].n] == ':'))
			return true;
	return false;
}

static const struct { CURLoption opt; long value; } numbers[] = {
	{ CURLOPT_SSL_VERIFYPEER, 1 },
	{ CURLOPT_SSL_VERIFYHOST, 2 },
	{ CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 },
	{ CURLOPT_NOSIGNAL, 1 },
	{ CURLOPT_UPLOAD, 1 },
};

static bool
set(CURL *e, const struct pf_mail *m, struct curl_slist *to,
    struct pf_str *left)
{
	CURLcode bad = CURLE_OK;

	for (size_t i = 0; i < PF_COUNT(numbers); i++)
		bad |= curl_easy_setopt(e, numbers[i].opt, numbers[i].value);
	bad |= curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	bad |= curl_easy_setopt(e, CURLOPT_PROXY, "");
	bad |= curl_easy_setopt(e, CURLOPT_URL, m->url);
	/* A server that offers no STARTTLS gets nothing. */
	bad |= curl_easy_setopt(e, CURLOPT_USE_SSL, (long)(pf_mail_is_local(
	    pf_str(m->url)) ? CURLUSESSL_TRY : CURLUSESSL_ALL));
	if (m->ca_file[0] != '\0')
		bad |= curl_easy_setopt(e, CURLOPT_CAINFO, m->ca_file);
	if (m->user[0] != '\0') {
		bad |= curl_easy_setopt(e, CURLOPT_USERNAME, m->user);
		bad |= curl_easy_setopt(e, CURLOPT_PASSWORD, m->password);
	}
	bad |= curl_easy_setopt(e, CURLOPT_MAIL_FROM, m->from);
	bad |= curl_easy_setopt(e, CURLOPT_MAIL_RCPT, to);
	bad |= curl_easy_setopt(e, CURLOPT_READFUNCTION, on_read);
	bad |= curl_easy_setopt(e, CURLOPT_READDATA, left);
	bad |= curl_easy_setopt(e, CURLOPT_INFILESIZE_LARGE,
	    (curl_off_t)m->text.n);
	bad |= curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)m->timeout_ms);
	bad |= curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS,
	    (long)m->timeout_ms);
	return bad == CURLE_OK;
}

static enum pf_rc
send_to(CURL *e, const struct pf_mail *m, struct curl_slist *to,
    const char **why)
{
	struct pf_str left = m->text;
	CURLcode code;

	*why = REFUSED;
	if (!set(e, m, to, &left))
		return PF_E_UPSTREAM;
	if ((code = curl_easy_perform(e)) == CURLE_OK)
		return PF_OK;
	*why = curl_easy_strerror(code);
	return PF_E_UPSTREAM;
}

enum pf_rc
pf_mail_send(const struct pf_mail *m, const char **why)
{
	struct curl_slist *to;
	CURL *e = NULL;
	enum pf_rc rc = PF_E_UPSTREAM;

	*why = REFUSED;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return rc;
	to = curl_slist_append(NULL, m->to);
	if (to != NULL && (e = curl_easy_init()) != NULL)
		rc = send_to(e, m, to, why);
	curl_easy_cleanup(e);
	curl_slist_free_all(to);
	curl_global_cleanup();
	return rc;
}
