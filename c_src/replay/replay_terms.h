/* SPDX-License-Identifier: Apache-2.0 */
/* Terms of events, as values of D: replay_terms.c, replay_match.c, term_text.c. */
#ifndef RP_TERMS_H
#define RP_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "prog/term.h"

/* Some bits of a binary: the first is in data[0], off bits from its highest one. */
struct rp_bits {
	const uint8_t *data;
	unsigned off;
	uint64_t n;
};

enum rp_value_kind {
	VALUE_TERM,
	VALUE_ARGS, /* the arguments of a call: a list, never a text */
	VALUE_BITS, /* part of a binary */
	VALUE_INT,  /* a number from one */
	VALUE_UINT,
};

struct rp_value {
	enum rp_value_kind kind;
	const struct rp_term *of; /* a term: whose it is, and its node */
	unsigned node;
	struct rp_bits bits;
	int64_t num;
};

static inline const struct pat_node *node_of(const struct rp_value *v)
{
	return &v->of->pat.nodes[v->node];
}

static inline bool is_term(const struct rp_value *v)
{
	return v->kind == VALUE_TERM || v->kind == VALUE_ARGS;
}

static inline uint8_t octet(const struct rp_bits *b, uint64_t i)
{
	const uint8_t *p = b->data + i;

	return b->off == 0 ? *p : (uint8_t)(p[0] << b->off | p[1] >> (8 - b->off));
}

/* Another node of the same term. */
static inline struct rp_value part_of(const struct rp_value *v, unsigned node)
{
	return (struct rp_value){.kind = VALUE_TERM, .of = v->of, .node = node};
}

bool rp_bits_of(const struct rp_value *v, struct rp_bits *b);	 /* false: it is no binary */
int rp_same(const struct rp_value *a, const struct rp_value *b); /* 1, 0; -1: too large to tell */
bool rp_match(const struct pat *pat, const struct rp_value *v, struct rp_value *var);
bool rp_map_value(const struct rp_value *map, const struct pat *key, struct rp_value *value);

/* As ~0tp writes it; what does not fit ends with three dots. */
void rp_print(const struct rp_value *v, char *buf, size_t size);
/* Its characters; false: it has none. */
bool rp_chars(const struct rp_value *v, char *buf, size_t size);
int rp_chars_are(const struct rp_value *v, const char *text, size_t len);

#endif
