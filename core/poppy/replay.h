/*
 * replay - the names under which signed requests are remembered, so that each
 * is accepted once. The memory itself is the database's
 * (sql/functions/replay.sql).
 */
#ifndef PF_REPLAY_H
#define PF_REPLAY_H

#include "core/jose/crypt.h"

#define PF_SPEND_LEN	16

/* One signed thing to spend: its name and the time it was signed. */
struct pf_spend {
	unsigned char key[PF_SPEND_LEN];
	int64_t iat;
};

/* An assertion's name: client_id and jti, one space for client and Session
 * assertions. */
PF_MUST enum pf_rc pf_spend_assertion(struct pf_str client_id,
    struct pf_str jti, int64_t iat, struct pf_spend *out);

#endif
