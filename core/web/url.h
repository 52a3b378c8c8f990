/*
 * url - URLs as strangers write them (RFC 3986), and hosts.
 */
#ifndef PF_URL_H
#define PF_URL_H

#include "core/base/buf.h"

struct pf_url {
	struct pf_str scheme;	/* as written */
	struct pf_str host;	/* as written, brackets of IPv6 included */
	int port;		/* 443 for https, 80 for http if not given */
	bool port_given;
	struct pf_str path;	/* raw; may be empty */
	struct pf_str query;	/* without '?'; PF_NOSTR if there is none */
	struct pf_str fragment;	/* without '#'; PF_NOSTR if there is none */
	bool userinfo;		/* user@ stands there */
};

/*
 * An absolute http or https URL of at most 2,048 bytes of visible ASCII without
 * backslash, double quote, <>, ^, `, {|}; a host that is a DNS name (labels of
 * letters, digits, - and _, no empty label, no trailing dot), a dotted IPv4
 * address or a bracketed IPv6 address; every % followed by two hex digits; a
 * port from 1 to 65535 without leading zeros. A host whose last label is a
 * number is an IPv4 address or nothing: 127.1, 0x7f.1 and 2130706433 are
 * PF_E_INPUT, as is all else.
 */
PF_MUST enum pf_rc pf_url_parse(struct pf_str text, struct pf_url *out);

/* https, no userinfo, no fragment. */
bool pf_url_is_https(struct pf_str text);

/* Is host equal to domain or below it at a label boundary, without case? IP
 * addresses are below nothing, and what is no host is within nothing. */
bool pf_host_within(struct pf_str host, struct pf_str domain);
bool pf_host_is_ip(struct pf_str host);

/*
 * A Host header as a key: lower-cased, port and one trailing dot cut.
 * PF_E_INPUT for anything that is no host. In the arena.
 */
PF_MUST enum pf_rc pf_host_key(struct pf_arena *a, struct pf_str header,
    struct pf_str *out);

/*
 * A raw request path that can be routed: begins with '/', visible ASCII, every
 * % followed by two hex digits, and neither %2F, %5C, %00 nor a backslash,
 * "//", or a segment "." or ".." (also written with %2e, or with ";..." behind
 * it). PF_E_INPUT.
 */
PF_MUST enum pf_rc pf_path_check(struct pf_str raw);
/* The path decoded once, as a web server does, after pf_path_check(); also
 * refused: an encoded unreserved character (RFC 3986, 2.3), a NUL or control
 * character, invalid UTF-8. */
PF_MUST enum pf_rc pf_path_decode(struct pf_arena *a, struct pf_str raw,
    struct pf_str *out);

/* The byte that "%41" at s[i] stands for; -1 if no such thing stands there. */
int pf_url_percent(struct pf_str s, size_t i);
/* Percent-encode all but unreserved characters. */
void pf_url_escape(struct pf_buf *b, struct pf_str s);

#endif
