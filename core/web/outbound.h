/*
 * outbound - all HTTP that we ask of others, on one thread a process (libcurl).
 *
 * HTTPS only, HTTP/1.1 or 2, no redirects (a 3xx is an answer), no proxy from
 * the environment, no cookies, no credentials. The name is resolved by us once;
 * every address it has must be allowed (if one is not, all are refused), and
 * the connection goes to an address that was checked. Refused are all
 * special-use ranges of RFC 6890 and IANA's registries, multicast, everything
 * of IPv6 that is not global unicast, and IPv4 inside IPv6: mapped, compatible,
 * 6to4 and Teredo always, NAT64 (64:ff9b::/96) by the address it carries. Host
 * names that are numbers in any spelling (0x7f.1, 2130706433) are no URLs here.
 * So many fetches in flight, in all and to one host, as the options say.
 */
#ifndef PF_OUTBOUND_H
#define PF_OUTBOUND_H

#include "core/base/conf.h"

struct pf_outbound;

struct pf_outbound_opts {
	unsigned max_inflight;		/* 1 to 1,024 */
	unsigned max_per_host;		/* at least 1 */
	struct pf_strs ports;		/* "443"; others are refused; "*": any,
					 * none at all means 443 */
	/* For tests and demos only; a warning is logged at every start. */
	struct pf_strs allow_nets;	/* "127.0.0.0/8", "::1/128" */
	struct pf_str extra_ca;		/* a PEM file beside the system's; "" */
};

struct pf_outbound_get {
	struct pf_str url;		/* copied */
	size_t max_bytes;
	int timeout_ms;			/* in all, resolving included */
	const char *accept;		/* header; kept */
};

enum pf_outbound_fault {
	PF_OUT_OK,		/* a complete answer came: look at status */
	PF_OUT_REFUSED,		/* by the address policy or the URL itself */
	PF_OUT_NETWORK,		/* resolve, connect, TLS, reset */
	PF_OUT_TIMEOUT,
	PF_OUT_TOO_LARGE
};

struct pf_outbound_reply {
	enum pf_outbound_fault fault;
	const char *why;		/* a sentence for the log */
	int status;
	struct pf_str content_type;
	struct pf_str cache_control;	/* all of them, joined */
	struct pf_str body;
};

PF_MUST enum pf_rc pf_outbound_start(const struct pf_outbound_opts *opts,
    struct pf_outbound **out);
/*
 * Ends the thread; fetches under way are answered PF_OUT_NETWORK. Nobody else
 * may use o from here on; NULL is fine.
 */
void pf_outbound_stop(struct pf_outbound *o);

/*
 * Begin a fetch. done() is called exactly once, on the outbound thread, and
 * must be short; reply is valid during the call. It may begin another fetch:
 * the place of its own is free by then. A URL that is refused is answered so
 * too. PF_E_BUSY: too many in flight, in all or to that host; done() is not
 * called then.
 */
PF_MUST enum pf_rc pf_outbound_fetch(struct pf_outbound *o,
    const struct pf_outbound_get *get,
    void (*done)(void *ctx, const struct pf_outbound_reply *reply), void *ctx);

/* A message for a mail server of the operator's; strings are never NULL. */
struct pf_mail {
	const char *url;		/* "smtps://mail.example" */
	const char *from, *to;		/* addresses alone */
	const char *user, *password;	/* "": without signing in */
	const char *ca_file;		/* PEM; "": the system's authorities */
	struct pf_str text;		/* headers, empty line, body; CR LF */
	int timeout_ms;
};

/*
 * Hand it over by SMTP, with TLS (smtps, or STARTTLS) that is required unless
 * the server is on this host. PF_E_UPSTREAM with *why, a constant without
 * anything secret. Blocks: not for workers.
 */
PF_MUST enum pf_rc pf_mail_send(const struct pf_mail *m, const char **why);
/* Is the server of this smtp or smtps URL on this host? */
bool pf_mail_is_local(struct pf_str url);

/* The policy alone, for settings and tests: may this address be reached? text
 * is IPv4 or IPv6 in its standard form. */
bool pf_outbound_address_ok(const struct pf_outbound_opts *opts,
    const char *text);

#endif
