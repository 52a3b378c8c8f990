/*
 * send_code - tell a customer a one-time code, by mail or by a command of the
 * operator's (which may send text messages).
 */
#ifndef PF_SEND_CODE_H
#define PF_SEND_CODE_H

#include "core/poppy/aside.h"
#include "core/poppy/settings.h"

struct pf_message {
	struct pf_str to;		/* an address of mail, or a number */
	struct pf_str subject;		/* both UTF-8 */
	struct pf_str text;		/* lines end in '\n' */
};

/* The threads on which messages are sent. */
PF_MUST enum pf_rc pf_send_code_start(struct pf_aside **out);

/* Do the settings say how codes are sent? */
bool pf_send_code_ready(const struct pf_settings *s);

/*
 * Send it, once a request: asked again, the answer is the same. PF_OK: *sent is
 * PF_OK, PF_E_INPUT (there is nobody that this could be sent to) or
 * PF_E_UPSTREAM (logged, without the recipient). PF_PARKED: return it.
 * PF_E_BUSY: noted. PF_E_ABSENT: the settings have no way to send.
 *
 * A command gets a message as RFC 5322 has it, so that "sendmail -t" is one; an
 * exit status of 0 means that it was taken.
 */
PF_MUST enum pf_rc pf_send_code(struct pf_req *rq, const struct pf_message *m,
    enum pf_rc *sent);

/* May this stand in a header, as a mail address or as a telephone number? */
bool pf_send_code_address(struct pf_str s);
bool pf_send_code_number(struct pf_str s);

/* The message as it is sent; eol is "\n" or "\r\n". For send_code.c and its
 * test. */
void pf_send_code_write(struct pf_buf *b, const struct pf_message *m,
    struct pf_str from, const char *eol, int64_t now_at);

#endif
