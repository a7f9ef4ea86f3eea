/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the reader of patterns: their characters, names and numbers (pattern_lex.c), the nodes
 * that they become (pattern.c), binaries (pattern_binary.c).
 */
#ifndef PROG_PATTERN_LEX_H
#define PROG_PATTERN_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "term.h"

#define PAT_NODES     8192 /* of a pattern */
#define PAT_DEEP      32   /* parts within parts; the tail of a list is not deeper than its head */
#define PAT_BIG_WORDS 16   /* of an integer: 1,024 bits */
#define PAT_ATOM_MAX  255  /* characters, as in Erlang */

struct pat_text {
	const struct pat_reader *r;
	const char *text;
	size_t len, at;
	struct pat *out;
	unsigned room; /* for nodes */
	struct et_error *e;
	size_t error_at;
	bool key; /* inside the key of a map: no variables */
};

/* An error at a position; returns -1. */
int pat_fail(struct pat_text *p, size_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void *pat_alloc(struct pat_text *p, size_t size); /* NULL: p has an error */

void pat_skip(struct pat_text *p);		      /* blanks and comments */
bool pat_take(struct pat_text *p, const char *token); /* is it next? Then it is read. */
bool pat_sees(struct pat_text *p, const char *token); /* is it next? */
/* The byte that is n bytes ahead; 0: none. */
static inline unsigned char pat_peek(const struct pat_text *p, size_t n)
{
	return n < p->len - p->at ? (unsigned char)p->text[p->at + n] : 0;
}

/* Begins a plain atom, a variable? Letters of Latin-1 are letters, as in Erlang. */
bool pat_is_small(const struct pat_text *p);
bool pat_is_capital(const struct pat_text *p);

/*
 * The next character of a text in these quotes. 1: it is *c; 0: the quotes have ended, and are
 * read; -1: an error.
 */
int pat_char(struct pat_text *p, char quote, uint32_t *c);

/* A plain name, or one in quotes, as UTF-8. 0, or -1. */
int pat_name(struct pat_text *p, const char **name, uint32_t *len);
/* An integer, $c, or a float, behind its sign: op, num, real, or text and n for large ones. */
int pat_number(struct pat_text *p, bool negative, struct pat_node *node);

/* ---- pattern.c -------------------------------------------------------------------------- */

/* A node without children so far. Its index, or -1. */
int pat_add(struct pat_text *p, struct pat_node node);
int pat_emit(struct pat_text *p, enum pat_op op);
/* All nodes since node i are its children: n of them. */
void pat_close(struct pat_text *p, int i, unsigned n);
int pat_expect(struct pat_text *p, const char *token, const char *in);

int pat_variable(struct pat_text *p);
bool pat_is_number(const struct pat_text *p); /* does one begin here, without a sign? */
int pat_signed_number(struct pat_text *p, struct pat_node *node);

/* ---- pattern_binary.c ------------------------------------------------------------------- */

int pat_binary(struct pat_text *p); /* from its << on */

#endif
