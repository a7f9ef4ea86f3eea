/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic variables: dyn.c (probe path), dyn_clean.c (the consumer's side). */
#ifndef EN_DYN_H
#define EN_DYN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bits.h"
#include "compiler.h"
#include "counter.h"
#include "error.h"
#include "key.h"

struct en;

/* ---- a node ----------------------------------------------------------------------------- */

/*
 * A node holds one variable. Its value says whether the variable exists: for a number it is the
 * number itself, for other types 1 (2 while the bytes are being zeroed for first use). 0 means that
 * the variable does not exist; the node is then a tombstone, and the next store to the same key may
 * use it again as long as its state allows that:
 *
 *   FRESH  being inserted. A search of the chain may use it. A slot's cache, which may still point
 *          to this memory from its last use, must not: the insertion may yet be abandoned, and
 *          the memory be reused at once.
 *   LIVE   in its chain; the variable exists or was deleted a moment ago
 *   DYING  the cleaner has seen it deleted; a writer must change it back to LIVE first
 *   GONE   owned by the cleaner; searches skip it
 *
 * The cleaner lets a grace period pass between DYING and GONE, and another one before the memory of
 * a GONE node is reused. So a firing that has seen LIVE may go on writing to value without further
 * checks: the cleaner reads value again before it makes the node GONE.
 */
enum { NODE_LIVE, NODE_DYING, NODE_GONE, NODE_FRESH };

/*
 * queued says who owns the member link. A thread that deletes a variable queues its node unless it
 * is QUEUED already. It puts the node into its list only if it was FREE: LEAVING means that the
 * cleaner still has the node and is about to release it, and will notice the change to QUEUED.
 */
enum { NODE_FREE, NODE_QUEUED, NODE_LEAVING };

struct dyn_node {
	_Atomic(struct dyn_node *) next;  /* next in its hash chain */
	_Atomic(struct dyn_node *) snext; /* next in the chain of its self key */
	_Atomic(struct dyn_node *) link;  /* next in a list of free, deleted or dying nodes */
	uint64_t hash;
	_Atomic(uint64_t) value;
	uint16_t var;
	uint8_t cls;		 /* size class */
	_Atomic(uint8_t) state;	 /* NODE_* */
	_Atomic(uint8_t) queued;	 /* NODE_FREE ...: who owns link */
	bool out;		 /* the cleaner's: a GONE node is out of its self chain */
	_Alignas(8) char body[]; /* bytes of the value, then the key */
};
_Static_assert(sizeof(struct dyn_node) == 48, "a node with a short key fills one cache line");

/* ---- the table -------------------------------------------------------------------------- */

#define DYN_CLASSES 40
#define DYN_RECENT_LOG 10

enum {
	KEY_SELF = 1,
	KEY_NUMBER = 2,
	KEY_STRING = 4,
	KEY_LONG = 8,	/* not cached: more than one part */
	KEY_BEHIND = 16 /* in the node, the bytes of the value precede it */
};

struct dyn_var {
	uint32_t id;
	uint32_t data; /* bytes of the value in the node: 0 for numbers */
	bool is_str;
	bool flow;     /* by the number of a flow: 0 is none, and has no variables */
	uint8_t shape; /* KEY_*, of its key */
	struct en_key key;
};

struct dyn {
	_Atomic(struct dyn_node *) *heads; /* hash chains */
	_Atomic(struct dyn_node *) *selfs; /* chains of self-> variables by their self key */
	uint64_t mask, self_mask;
	char *map, *pool;
	size_t map_size, pool_size;
	struct dyn_var *vars;
	_Alignas(LINE) counter bump; /* bytes of the pool handed out so far; never decreases */
	_Alignas(LINE) _Atomic(uint64_t) free[DYN_CLASSES]; /* clean nodes: tag and index */
	/* the cleaner's */
	_Alignas(LINE) struct dyn_node *dirty, *rinse, *gone;
	counter ndirty, nrinse; /* lengths, to tell the kind of a drop */
};

#define DYN_UNIT 64 /* nodes are whole cache lines: no false sharing */

static inline uint64_t *dyn_key(const struct dyn_var *v, struct dyn_node *n)
{
	return (uint64_t *)(void *)(n->body + v->data);
}

/* The self key, which is stored after the ids of the strings. */
static inline uint64_t dyn_self_key(const struct dyn_var *v, struct dyn_node *n)
{
	return dyn_key(v, n)[v->key.nstr];
}

static inline _Atomic(struct dyn_node *) *dyn_self_head(const struct dyn *d, uint64_t key)
{
	return &d->selfs[(key * 0x9e3779b97f4a7c15 >> 20) & d->self_mask];
}

/* Size classes: one for each size up to 16 units, then powers of two. */
static inline unsigned dyn_class(uint64_t size)
{
	uint64_t units = (size + DYN_UNIT - 1) / DYN_UNIT;

	return units <= 16 ? (unsigned)units - 1 : 11 + bit_length(units - 1);
}
static inline uint64_t dyn_class_size(unsigned cls)
{
	return cls < 16 ? (cls + 1) * (uint64_t)DYN_UNIT : (uint64_t)DYN_UNIT << (cls - 11);
}

int dyn_init(struct en *en, struct et_error *e);
void dyn_free(struct en *en);
bool dyn_pending(const struct en *en);
void dyn_clean(struct en *en); /* call it a grace period after the last call */

#endif
