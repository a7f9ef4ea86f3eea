/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of Erlang, whoever holds them: how they are compared, matched, printed and turned into
 * values of D. Two hold terms: the VM (beam/term/beam_terms.h) and files of recorded events
 * (replay/file_terms.h). Each has an accessor, a header that defines the types and the functions
 * that are declared here. The rules are templates: a source includes its accessor, then the rules
 * that it needs, and gets static functions into which the compiler puts the accessor inline.
 *
 *   term_same.h        are two terms the same?
 *   term_matcher.h     a term and a pattern
 *   term_printer.h     a term as text
 *   term_characters.h  the characters of a term
 *   term_answers.h     numbers, sizes and types of terms; parts of them
 *   term_writer.h, .c  texts with limits: numbers, characters, binaries as text
 *   term_bits.h        some bits of a binary
 *
 * All of it is on the probe path: nothing allocates, and the work is bounded by what is asked for,
 * never by the size of a term.
 *
 * An accessor defines these types, includes this file, and defines the functions:
 *
 *   term_ref		a term
 *   term_env		where terms are
 *   term_node		a node of a pattern: a pat_node (prog/term.h), or one that begins with it
 *   struct term_parts	the next element of a tuple
 *   struct term_pairs	the next key of a map, and its value
 */
#ifndef TERM_ACCESS_H
#define TERM_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prog/term.h"
#include "term_bits.h"

/* What a script has: a term of the event, or what a binary of it contains. */
struct term_value {
	enum term_value_kind {
		VALUE_TERM,
		VALUE_ARGS, /* a term too: a list of arguments, never a text */
		VALUE_BITS, /* a part of a binary */
		VALUE_INT,  /* num */
		VALUE_UINT, /* num, as a uint64_t: it is larger than any int64_t */
	} kind;
	union {
		term_ref term;
		struct term_bits bits;
		int64_t num;
	};
};

static inline bool value_is_term(const struct term_value *v)
{
	return v->kind == VALUE_TERM || v->kind == VALUE_ARGS;
}

/* ---- kinds ----------------------------------------------------------------------------- */

enum term_kind {
	KIND_ATOM = 1,
	KIND_BITSTRING,
	KIND_FLOAT,
	KIND_FUN,
	KIND_INTEGER,
	KIND_LIST,
	KIND_MAP,
	KIND_PID,
	KIND_PORT,
	KIND_REFERENCE,
	KIND_TUPLE,
};
static inline enum term_kind term_kind(term_env env, term_ref t);

/* ---- lists, tuples, maps --------------------------------------------------------------- */

static inline bool term_is_nil(term_env env, term_ref t);
static inline bool term_cell(term_env env, term_ref t, term_ref *head, term_ref *tail);
static inline bool term_tuple(term_env env, term_ref t, unsigned *n, struct term_parts *parts);
static inline term_ref term_next(struct term_parts *parts);
static inline void term_skip(struct term_parts *parts, unsigned n);

static inline bool term_map_size(term_env env, term_ref t, size_t *n);
/* false: it cannot be walked without allocating. */
static inline bool term_pairs(term_env env, term_ref map, struct term_pairs *pairs);
/* PAIRS_INNER: what comes next is in *inner, whose pairs are part of the map. */
enum term_next { PAIRS_END, PAIRS_PAIR, PAIRS_INNER };
static inline enum term_next term_next_pair(term_env env, struct term_pairs *pairs, term_ref *key,
	term_ref *value, struct term_pairs *inner);

/* ---- numbers, binaries, atoms, others -------------------------------------------------- */

static inline bool term_bits(term_env env, term_ref t, struct term_bits *b);
static inline bool term_int64(term_env env, term_ref t, int64_t *i);
static inline bool term_uint64(term_env env, term_ref t, uint64_t *u);
static inline bool term_double(term_env env, term_ref t, double *d);
static inline bool term_char(term_env env, term_ref t, uint32_t *c); /* an integer of 32 bits */
/* The digits of a larger integer, base 2^64, the lowest first; 0: not known. */
static inline unsigned term_big(term_env env, term_ref t, const uint64_t **digits, bool *negative);
/* Is a number of more than 64 bits below 0 (-1), above it (1)? 0: it is no number. */
static inline int term_sign(term_env env, term_ref t);

static inline bool term_atom_is(term_env env, term_ref t, const char *name, size_t len);
static inline const char *term_atom_name(
	term_env env, term_ref t, char buf[TERM_ATOM_NAME], size_t *len);
/* As the node writes it, with its quotes, cut to fit. The length of all of it is returned. */
static inline size_t term_atom_text(term_env env, term_ref t, char *buf, size_t size);
/* The same of pids, ports, references and funs. */
static inline size_t term_other_text(term_env env, term_ref t, char *buf, size_t size);

/* ---- two terms, a term and a node of a pattern ----------------------------------------- */

enum { SAME_NOT = 0, SAME = 1, SAME_UNKNOWN = -1 };
#define SAME_STEPS 10000 /* that two values take at most: terms, or 64 bytes of a binary */
static inline bool term_identical(term_ref a, term_ref b); /* it is one term */
static inline bool term_immediate(term_ref a, term_ref b); /* one of them is same or not at once */
/* Of what is no list, tuple, map, binary: both are of this kind. SAME and so on. */
static inline int term_same_plain(term_env env, enum term_kind kind, term_ref a, term_ref b);

static inline bool term_match_atom(term_env env, const term_node *p, term_ref t);
static inline bool term_match_int(term_env env, const term_node *p, term_ref t);
static inline bool term_match_big(term_env env, const term_node *p, term_ref t);
static inline bool term_match_nil(term_env env, const term_node *p, term_ref t);
/* The value of a key. KEY_BY_WALK: its keys are to be matched, one by one. */
enum term_key { KEY_NOT, KEY_FOUND, KEY_BY_WALK };
static inline enum term_key term_key(
	term_env env, const term_node *key, term_ref map, term_ref *value);

/* ---- how it was in the node, which depends on its release and flags -------------------- */

static inline bool term_zeros_same(term_env env); /* 0.0 =:= -0.0 */
static inline bool term_wide_texts(term_env env); /* lists of characters above 255 are texts */

/* ---- rules that other rules need; which source has them -------------------------------- */

static inline int term_same_values(
	term_env env, const struct term_value *a, const struct term_value *b, unsigned *steps);
static inline void term_print_value(
	term_env env, const struct term_value *v, char *buf, size_t size);
static inline int term_chars_are(
	term_env env, const struct term_value *v, const char *text, size_t len);

#endif
