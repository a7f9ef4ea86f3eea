/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of a file of events, for the rules of c_src/term: nodes that the reader of patterns
 * (prog/pattern.c) has made of their text. A binary's node has its bits, in one piece.
 */
#ifndef RP_FILE_TERMS_H
#define RP_FILE_TERMS_H

#include <string.h>

#include "events.h"

typedef struct {
	const struct rp_term *of;
	unsigned node;
} term_ref;
typedef const struct rp_file *term_env;
typedef struct pat_node term_node;

struct term_parts {
	term_ref at;
};

struct term_pairs {
	term_ref at;
	unsigned n; /* left */
};

#include "term/term_access.h"

/* The rules, as functions: file_terms.c. */
int rp_same(const struct rp_file *f, const struct term_value *a, const struct term_value *b,
	unsigned *steps);
bool rp_match(const struct rp_file *f, const struct pat *pat, const struct term_value *v,
	struct term_value *var);
bool rp_map_value(const struct rp_file *f, term_ref map, const struct pat *key, term_ref *value);
void rp_print(const struct rp_file *f, const struct term_value *v, char *buf, size_t size);
bool rp_chars(const struct rp_file *f, const struct term_value *v, char *buf, size_t size);
int rp_chars_are(const struct rp_file *f, const struct term_value *v, const char *text, size_t len);

static inline const struct pat_node *rp_node(term_ref t)
{
	return &t.of->pat.nodes[t.node];
}

static inline enum term_kind rp_kind_of_text(const char *text)
{
	return text[0] == '<'			? KIND_PID
	       : strncmp(text, "#Ref", 4) == 0	? KIND_REFERENCE
	       : strncmp(text, "#Port", 5) == 0 ? KIND_PORT
						: KIND_FUN;
}

static inline enum term_kind term_kind(term_env env, term_ref t)
{
	const struct pat_node *n = rp_node(t);

	(void)env;
	switch (n->op) {
	case PAT_ATOM: return KIND_ATOM;
	case PAT_INT:
	case PAT_BIG: return KIND_INTEGER;
	case PAT_FLOAT: return KIND_FLOAT;
	case PAT_NIL:
	case PAT_CONS: return KIND_LIST;
	case PAT_TUPLE: return KIND_TUPLE;
	case PAT_MAP: return KIND_MAP;
	case PAT_BINARY: return KIND_BITSTRING;
	default: return rp_kind_of_text(n->text);
	}
}

/* ---- lists, tuples, maps --------------------------------------------------------------- */

static inline bool term_is_nil(term_env env, term_ref t)
{
	(void)env;
	return rp_node(t)->op == PAT_NIL;
}

/* The term behind this one and its parts. */
static inline term_ref rp_behind(term_ref t)
{
	return (term_ref){t.of, rp_node(t)->end};
}

static inline bool term_cell(term_env env, term_ref t, term_ref *head, term_ref *tail)
{
	(void)env;
	if (rp_node(t)->op != PAT_CONS)
		return false;
	*head = (term_ref){t.of, t.node + 1};
	*tail = rp_behind(*head);
	return true;
}

static inline bool term_tuple(term_env env, term_ref t, unsigned *n, struct term_parts *parts)
{
	(void)env;
	*n = rp_node(t)->n;
	parts->at = (term_ref){t.of, t.node + 1};
	return rp_node(t)->op == PAT_TUPLE;
}

static inline term_ref term_next(struct term_parts *parts)
{
	term_ref t = parts->at;

	parts->at = rp_behind(t);
	return t;
}

static inline void term_skip(struct term_parts *parts, unsigned n)
{
	while (n-- > 0)
		parts->at = rp_behind(parts->at);
}

static inline bool term_map_size(term_env env, term_ref t, size_t *n)
{
	(void)env;
	*n = rp_node(t)->n;
	return rp_node(t)->op == PAT_MAP;
}

static inline bool term_pairs(term_env env, term_ref map, struct term_pairs *p)
{
	(void)env;
	*p = (struct term_pairs){{map.of, map.node + 1}, rp_node(map)->n};
	return true;
}

static inline enum term_next term_next_pair(term_env env, struct term_pairs *p, term_ref *key,
	term_ref *value, struct term_pairs *inner)
{
	(void)env, (void)inner;
	if (p->n == 0)
		return PAIRS_END;
	p->n--;
	*key = p->at;
	*value = rp_behind(p->at);
	p->at = rp_behind(*value);
	return PAIRS_PAIR;
}

/* ---- numbers, binaries ----------------------------------------------------------------- */

static inline bool term_bits(term_env env, term_ref t, struct term_bits *b)
{
	const struct pat_node *n = rp_node(t);

	(void)env;
	*b = (struct term_bits){(const uint8_t *)n->text, 0, n->len};
	return n->op == PAT_BINARY;
}

static inline bool term_int64(term_env env, term_ref t, int64_t *i)
{
	(void)env;
	*i = rp_node(t)->num;
	return rp_node(t)->op == PAT_INT;
}

static inline unsigned term_big(term_env env, term_ref t, const uint64_t **digits, bool *negative)
{
	const struct pat_node *n = rp_node(t);

	(void)env;
	if (n->op != PAT_BIG)
		return 0;
	*digits = (const uint64_t *)(const void *)n->text;
	*negative = n->n != 0;
	return n->len / sizeof(**digits);
}

static inline bool term_uint64(term_env env, term_ref t, uint64_t *u)
{
	const uint64_t *digits;
	bool negative;

	if (term_big(env, t, &digits, &negative) == 1 && !negative) {
		*u = *digits;
		return true;
	}
	*u = (uint64_t)rp_node(t)->num;
	return rp_node(t)->op == PAT_INT && rp_node(t)->num >= 0;
}

static inline bool term_double(term_env env, term_ref t, double *d)
{
	(void)env;
	*d = rp_node(t)->real;
	return rp_node(t)->op == PAT_FLOAT;
}

static inline bool term_char(term_env env, term_ref t, uint32_t *c)
{
	const struct pat_node *n = rp_node(t);

	(void)env;
	*c = (uint32_t)n->num;
	return n->op == PAT_INT && n->num >= 0 && n->num <= UINT32_MAX;
}

static inline int term_sign(term_env env, term_ref t)
{
	const uint64_t *digits;
	bool negative;

	return term_big(env, t, &digits, &negative) == 0 ? 0 : negative ? -1 : 1;
}

/* ---- atoms and others ------------------------------------------------------------------ */

static inline bool rp_has_text(const struct pat_node *n, const char *text, size_t len)
{
	return n->len == len && memcmp(n->text, text, len) == 0;
}

static inline bool term_atom_is(term_env env, term_ref t, const char *name, size_t len)
{
	(void)env;
	return rp_node(t)->op == PAT_ATOM && rp_has_text(rp_node(t), name, len);
}

static inline const char *term_atom_name(
	term_env env, term_ref t, char buf[TERM_ATOM_NAME], size_t *len)
{
	(void)env, (void)buf;
	*len = rp_node(t)->len;
	return rp_node(t)->text;
}

static inline size_t rp_copy(const char *text, size_t len, char *buf, size_t size)
{
	size_t n = len < size ? len : size - 1;

	memcpy(buf, text, n);
	buf[n] = '\0';
	return len;
}

/* As the file has it: whether it has quotes depends on the node's release. */
static inline size_t term_atom_text(term_env env, term_ref t, char *buf, size_t size)
{
	const struct pat_node *n = rp_node(t);
	const char *text = t.of->text->text;
	size_t to = n->to;

	(void)env;
	while (to > n->from && strchr(" \t\r\n", text[to - 1]) != NULL)
		to--;
	return rp_copy(text + n->from, to - n->from, buf, size);
}

static inline size_t term_other_text(term_env env, term_ref t, char *buf, size_t size)
{
	(void)env;
	return rp_copy(rp_node(t)->text, rp_node(t)->len, buf, size);
}

/* ---- two terms, a term and a node of a pattern ----------------------------------------- */

static inline bool term_identical(term_ref a, term_ref b)
{
	return a.of == b.of && a.node == b.node;
}

static inline bool term_immediate(term_ref a, term_ref b)
{
	(void)a, (void)b;
	return false;
}

static inline int term_same_plain(term_env env, enum term_kind kind, term_ref a, term_ref b)
{
	const struct pat_node *na = rp_node(a), *nb = rp_node(b);

	(void)env;
	if (kind == KIND_FLOAT)
		return na->real == nb->real;
	if (na->op != nb->op || !rp_has_text(na, nb->text, nb->len))
		return SAME_NOT;
	if (na->op == PAT_ATOM)
		return SAME;
	/* of funs, and of what was left out of a reference, the text does not say it */
	return strncmp(na->text, "#Fun", 4) == 0 || strstr(na->text, "...") != NULL ? SAME_UNKNOWN
										    : SAME;
}

static inline bool term_match_atom(term_env env, const term_node *p, term_ref t)
{
	return term_atom_is(env, t, p->text, p->len);
}

static inline bool term_match_int(term_env env, const term_node *p, term_ref t)
{
	(void)env;
	return rp_node(t)->op == PAT_INT && rp_node(t)->num == p->num;
}

static inline bool term_match_big(term_env env, const term_node *p, term_ref t)
{
	const struct pat_node *n = rp_node(t);

	(void)env;
	return n->op == PAT_BIG && n->n == p->n && rp_has_text(n, p->text, p->len);
}

static inline bool term_match_nil(term_env env, const term_node *p, term_ref t)
{
	(void)p;
	return term_is_nil(env, t);
}

static inline enum term_key term_key(
	term_env env, const term_node *key, term_ref map, term_ref *value)
{
	(void)env, (void)key, (void)value;
	return rp_node(map)->op == PAT_MAP ? KEY_BY_WALK : KEY_NOT;
}

/* Up to OTP 26; a file does not say what it comes from. */
static inline bool term_zeros_same(term_env env)
{
	(void)env;
	return true;
}

static inline bool term_wide_texts(term_env env)
{
	return env->wide_texts;
}

/* ---- rules that other rules need ------------------------------------------------------- */

static inline int term_same_values(
	term_env env, const struct term_value *a, const struct term_value *b, unsigned *steps)
{
	return rp_same(env, a, b, steps);
}

static inline void term_print_value(
	term_env env, const struct term_value *v, char *buf, size_t size)
{
	rp_print(env, v, buf, size);
}

static inline int term_chars_are(
	term_env env, const struct term_value *v, const char *text, size_t len)
{
	return rp_chars_are(env, v, text, len);
}

#endif
