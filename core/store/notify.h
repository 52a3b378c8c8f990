/*
 * notify - one LISTEN connection a process, driven by the event thread.
 *
 * Never inside a transaction, never through PgBouncer. The order is LISTEN,
 * then "lost" is reported so that everybody reads afresh, then notifications. A
 * connection that breaks is made anew with a pause of 100 ms to 2 s; everything
 * is non-blocking.
 */
#ifndef PF_NOTIFY_H
#define PF_NOTIFY_H

#include "core/base/str.h"

struct pf_notify;

struct pf_notify_ops {
	/* Someone said NOTIFY channel, payload. */
	void (*heard)(void *ctx, struct pf_str payload);
	/* (Re)connected: anything may have been missed. */
	void (*lost)(void *ctx);
};

PF_MUST enum pf_rc pf_notify_new(const char *conninfo, const char *channel,
    const struct pf_notify_ops *ops, void *ctx, struct pf_notify **out);
void pf_notify_free(struct pf_notify *n);
/* The descriptor to poll and the events (EPOLLIN, EPOLLOUT) it waits for; -1
 * while pausing. It changes: ask after each pf_notify_step(). */
int pf_notify_fd(const struct pf_notify *n, uint32_t *events);
/* When pf_notify_step() must be called at the latest (pf_mono_ms()). */
int64_t pf_notify_due_ms(const struct pf_notify *n);
/* Call when the descriptor is ready or the time is due. Never blocks but for
 * the resolution of the host's name. */
void pf_notify_step(struct pf_notify *n);

#endif
