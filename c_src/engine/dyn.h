/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic variables: dyn.c (probe path), dyn_clean.c (the consumer's). */
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

/* ---- a variable in its table ------------------------------------------------------------ */

/*
 * value is what tells whether a variable is there: of a number the number itself, of others 1 (2
 * while it is being emptied for its first use). 0 is a variable that is not, and the node may
 * become one again for as long as state lets it:
 *
 *   FRESH  being put into its chain: in use for who finds it there. The short way, which may find
 *	    a node by what it was before, leaves it alone: it may yet be given up, and be another's
 *	    at once
 *   LIVE   in use, or deleted a moment ago
 *   DYING  the cleaner has seen it deleted; who wants it back must make it LIVE first
 *   GONE   the cleaner's: pass over it
 *
 * From LIVE to DYING to GONE lies a grace period each, so that a firing which has seen LIVE may
 * go on writing to value: the cleaner looks again before it lets go.
 */
enum { NODE_LIVE, NODE_DYING, NODE_GONE, NODE_FRESH };

/*
 * queued tells whose link is. Who deletes a variable queues its node unless it is QUEUED already;
 * only from FREE the node is put into a list, as LEAVING means that the cleaner has it still.
 */
enum { NODE_FREE, NODE_QUEUED, NODE_LEAVING };

struct dyn_node {
	_Atomic(struct dyn_node *) next;  /* in the chain of its hash */
	_Atomic(struct dyn_node *) snext; /* in the chain of its self key */
	_Atomic(struct dyn_node *) link;  /* in a list of free, deleted or dying ones */
	uint64_t hash;
	_Atomic(uint64_t) value;
	uint16_t var;
	uint8_t cls;		 /* of its size */
	_Atomic(uint8_t) state;	 /* NODE_* */
	_Atomic(uint8_t) queued;	 /* with the cleaner, or on the way there */
	bool out;		 /* the cleaner's: of a GONE one, not in its self chain any more */
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
	KEY_LONG = 8,	/* more than one part */
	KEY_BEHIND = 16 /* the bytes of a value come before it */
};

struct dyn_var {
	uint32_t id;
	uint32_t data; /* bytes behind the head: 0 for numbers */
	bool is_str;
	uint8_t shape; /* KEY_*, of its key */
	struct en_key key;
};

struct dyn {
	_Atomic(struct dyn_node *) *heads; /* chains by hash */
	_Atomic(struct dyn_node *) *selfs; /* chains of self-> variables by whose they are */
	uint64_t mask, self_mask;
	char *map, *pool;
	size_t map_size, pool_size;
	struct dyn_var *vars;
	_Alignas(LINE) counter bump; /* bytes of the pool handed out so far: never back */
	_Alignas(LINE) _Atomic(uint64_t) free[DYN_CLASSES]; /* clean nodes: tag and unit */
	/* the cleaner's */
	_Alignas(LINE) struct dyn_node *dirty, *rinse, *gone;
	counter ndirty, nrinse; /* for the kind of a drop */
};

#define DYN_UNIT 64 /* nodes are whole cache lines: threads do not share them */

static inline uint64_t *dyn_key(const struct dyn_var *v, struct dyn_node *n)
{
	return (uint64_t *)(void *)(n->body + v->data);
}

/* Whose self-> variable it is: the first word behind the ids of the strings. */
static inline uint64_t dyn_self_key(const struct dyn_var *v, struct dyn_node *n)
{
	return dyn_key(v, n)[v->key.nstr];
}

static inline _Atomic(struct dyn_node *) *dyn_self_head(const struct dyn *d, uint64_t key)
{
	return &d->selfs[(key * 0x9e3779b97f4a7c15 >> 20) & d->self_mask];
}

/* Sizes: up to 16 units each its own class, then by powers of two. */
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
void dyn_clean(struct en *en); /* after a grace period since the last call */

#endif
