/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregation tables: agg.c. */
#ifndef EN_AGG_H
#define EN_AGG_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "error.h"
#include "key.h"
#include "prog/prog.h"

struct agg_tab;
struct en_thread;

struct en_aggdef {
	struct prog_agg fn; /* a copy, for locality */
	uint32_t id, words;
	bool one_str; /* its only key is a string */
	int64_t base; /* lquantize: agg.c */
	uint64_t span, per;
	struct en_key key;
};

int agg_init(struct en *en, struct et_error *e);
void agg_free(struct en *en);
enum en_unread agg_unread(const struct en *en); /* of the tables: see there */
void agg_slot_init(struct en *en, struct en_thread *t, uint64_t size);

#endif
