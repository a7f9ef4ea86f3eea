/* SPDX-License-Identifier: Apache-2.0 */
/* Speculations: spec.c. */
#ifndef EN_SPEC_H
#define EN_SPEC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "error.h"

struct en_thread;

/* The buffer of one speculation in one slot: a list of blocks. */
struct spec_buf {
	_Atomic(uint32_t) first; /* block number + 1; 0: none */
	uint32_t last;
	uint32_t rblock, roff; /* the consumer's position; rblock 0: not begun */
};

struct spec {
	_Atomic(uint32_t) state; /* SPEC_* */
	char pad[60];
};

enum { SPEC_FREE, SPEC_ACTIVE, SPEC_COMMITTING, SPEC_DISCARDING, SPEC_RINSING };
int spec_init(struct en *en, struct et_error *e);
void spec_free(struct en *en);
bool spec_put(struct en_thread *t, uint32_t id, const void *rec, uint32_t size);
bool spec_pending(const struct en *en);
void spec_clean(struct en *en); /* call it a grace period after the last call */
/* The same, but it stays; false: cb has stopped it, or there is no such speculation. */
bool spec_look(struct en *en, uint32_t id, en_rec_cb cb, void *arg);
int spec_deliver(struct en *en, uint32_t id, en_rec_cb cb, void *arg);

#endif
