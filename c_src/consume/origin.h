/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a consumer's records and aggregations come from: the engine of this process
 * (engine_origin.c), or streams of others (stream/). A consumer calls it from one thread.
 */
#ifndef CONSUME_ORIGIN_H
#define CONSUME_ORIGIN_H

#include "engine/engine.h"
#include "engine/seen.h"
#include "erltrace.h"
#include "symbols/names.h"

/* A clause at a probe. */
struct co_at {
	uint32_t epid;
	const struct prog_clause *clause;
	erltrace_probe_info_t probe;
	const char *node; /* NULL: there is one only */
};

struct co_origin {
	bool (*at)(void *of, uint32_t epid, struct co_at *at); /* false: it has no such clause */
	int (*records)(void *of, en_rec_cb cb, void *arg);	 /* as en_consume() */
	int (*aggregations)(void *of, en_agg_cb cb, void *arg); /* as en_agg_take() */
	uint64_t (*wall)(void *of, uint64_t mono);
	/*
	 * An address of a record or a key: the process it belongs to, by its index, which is taken
	 * out of it (en_address()).
	 */
	int (*address)(void *of, uint64_t *addr);
	void (*process_text)(void *of, uint64_t term, char *buf, size_t size);
	unsigned (*threads)(void *of);
	/* Of a thread, or, of the kinds that are of none, of a stream. */
	uint64_t (*drops)(void *of, unsigned at, enum en_drop kind);
	/* A message for the user, and of which stream; false: none. */
	bool (*news)(void *of, char *buf, size_t size, unsigned *stream);
	bool (*exited)(void *of, int *code);		 /* the script called exit() */
	void (*seen)(void *of, struct en_seen *seen);
	/*
	 * Where there may be several streams; NULL: there is one. Which one the record or key under way
	 * is of; the node, NULL if there is one only; what a thread is called there.
	 */
	unsigned (*streams)(void *of);
	unsigned (*stream)(void *of);
	const char *(*node)(void *of, unsigned stream);
	unsigned (*cpu)(void *of, unsigned thread, unsigned *stream);
	struct sy *(*symbols)(void *of); /* a new one, which names its addresses; NULL: no memory */
};

extern const struct co_origin co_engine_origin; /* of: a struct en */

#endif
