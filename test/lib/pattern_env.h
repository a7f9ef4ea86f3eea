/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of patterns share: memory, records, and a look at whether nodes are as term.h says. */
#ifndef TEST_PATTERN_ENV_H
#define TEST_PATTERN_ENV_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "prog/term.h"

struct pattern_env {
	struct pattern_block {
		struct pattern_block *next;
		_Alignas(16) char bytes[];
	} * blocks;
	size_t used, most; /* bytes; most: 0: any number */
	bool key;	   /* keys are read */
};

static void *pattern_alloc(void *ctx, size_t size)
{
	struct pattern_env *env = ctx;
	struct pattern_block *b;

	env->used += size;
	if ((env->most != 0 && env->used > env->most) || (b = malloc(sizeof(*b) + size)) == NULL)
		return NULL;
	b->next = env->blocks;
	env->blocks = b;
	return b->bytes;
}

static inline void pattern_free(struct pattern_env *env)
{
	struct pattern_block *b;

	while ((b = env->blocks) != NULL) {
		env->blocks = b->next;
		free(b);
	}
	env->used = 0;
}

static const char *const *pattern_record(void *ctx, const char *name)
{
	static const char *const order[] = {"id", "item", "n", NULL}, *const none[] = {NULL};

	(void)ctx;
	return strcmp(name, "order") == 0 ? order : strcmp(name, "none") == 0 ? none : NULL;
}

static inline int pattern_read(struct pattern_env *env, const char *text, size_t len,
	struct pat *out, size_t *at, struct et_error *e)
{
	const struct pat_reader r = {
		.key = env->key, .alloc = pattern_alloc, .record = pattern_record, .ctx = env};

	return pat_read(&r, text, len, out, at, e);
}

/* The node behind this one and its children, as its kind says; 0: it is not what it should be. */
static inline unsigned pattern_walk(const struct pat *p, unsigned i)
{
	const struct pat_node *node = &p->nodes[i];
	unsigned n = 0, at = i + 1;

	if (i >= p->n)
		return 0;
	switch (node->op) {
	case PAT_ANY:
	case PAT_ATOM:
	case PAT_INT:
	case PAT_BIG:
	case PAT_FLOAT:
	case PAT_NIL:
	case SEG_BYTES: break;
	case PAT_VAR:
		if (node->n >= p->nvars)
			return 0;
		break;
	case PAT_CONS: /* a list may be long */
	case PAT_BOTH:
		while (i < p->n && (p->nodes[i].op == PAT_CONS || p->nodes[i].op == PAT_BOTH)) {
			if (p->nodes[i].end != node->end || (at = pattern_walk(p, i + 1)) == 0)
				return 0;
			i = at;
		}
		n = 1;
		break;
	case PAT_TUPLE:
	case PAT_BINARY: n = node->n; break;
	case PAT_MAP: n = 2 * node->n; break;
	case SEG_INT:
	case SEG_PART:
	case SEG_REST: n = 1; break;
	default: return 0;
	}
	while (n-- > 0)
		if ((at = pattern_walk(p, at)) == 0)
			return 0;
	return at == node->end ? at : 0;
}

static inline bool pattern_is_sound(const struct pat *p)
{
	return p->n > 0 && p->nvars <= PAT_VARS && pattern_walk(p, 0) == p->n;
}

#endif
