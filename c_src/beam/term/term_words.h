/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a term (probe path): its words are read where their layout is known
 * (beam_vm.words), else the VM is asked, which takes a call. Neither depends on how large the term
 * is.
 *
 *   a cell of a list	lowest bits 01: head, tail
 *   a tuple		lowest bits 10: size << 6, elements
 *   a map		of up to 32 keys: lowest bits 10: a word that all of them begin with, how
 *			many keys, their tuple, the values in the same order
 *
 * Terms, in this folder (probe path):
 *
 *   beam_terms.h  the accessor for the rules of c_src/term, which are compiled in
 *     same.c      ... are two terms the same?
 *     match.c     ... a term and a pattern
 *     term_print.c, term_chars.c  ... terms as text, their characters
 *   patterns.c    patterns of terms, made ready for events
 *   kept_args.c   arguments of calls, until they return
 *   atom_text.c   atoms as Erlang writes them
 *   texts.c       pids, functions, atoms as texts that a thread keeps
 */
#ifndef BEAM_TERM_WORDS_H
#define BEAM_TERM_WORDS_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#include "beam/vm/vm_facts.h"
#include "compiler.h"

/* The words of a term that is none by itself; with what its lowest bits are. */
static inline const ERL_NIF_TERM *beam_words(ERL_NIF_TERM t)
{
	return (const ERL_NIF_TERM *)(uintptr_t)(t & ~(ERL_NIF_TERM)7);
}

static inline bool beam_is_immediate(ERL_NIF_TERM t) /* if beam_vm.immediates */
{
	return (t & 3) == 3;
}

static inline bool beam_get_cell(
	ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *head, ERL_NIF_TERM *tail)
{
	const ERL_NIF_TERM *w = beam_words(t);

	if (unlikely(!beam_vm.words))
		return enif_get_list_cell(env, t, head, tail);
	if ((t & 3) != 1)
		return false;
	*head = w[0];
	*tail = w[1];
	return true;
}

static inline bool beam_get_tuple(
	ErlNifEnv *env, ERL_NIF_TERM t, unsigned *n, const ERL_NIF_TERM **e)
{
	const ERL_NIF_TERM *w = beam_words(t);
	int arity;

	if (unlikely(!beam_vm.words)) {
		if (!enif_get_tuple(env, t, &arity, e))
			return false;
		*n = (unsigned)arity;
		return true;
	}
	if ((t & 3) != 2 || (w[0] & 0x3f) != 0)
		return false;
	*n = (unsigned)(w[0] >> 6);
	*e = w + 1;
	return true;
}

#define BEAM_FLAT_MAP 32 /* keys */

/* A map of up to 32 keys, if its words are known. */
static inline bool beam_get_flat_map(
	ERL_NIF_TERM t, unsigned *n, const ERL_NIF_TERM **keys, const ERL_NIF_TERM **values)
{
	const ERL_NIF_TERM *w = beam_words(t);

	if (unlikely(!beam_vm.words) || (t & 3) != 2 || w[0] != beam_vm.map1.header)
		return false;
	*n = (unsigned)w[1];
	*keys = beam_words(w[2]) + 1;
	*values = w + 3;
	return true;
}

/*
 * The value of a key. The VM compares keys with the one that is looked for, and computes the hash
 * of that one alone: what it takes depends on the size of the key.
 */
static inline bool beam_get_value(
	ErlNifEnv *env, ERL_NIF_TERM map, ERL_NIF_TERM key, ERL_NIF_TERM *value)
{
	const ERL_NIF_TERM *keys, *values;
	unsigned n;

	if (!beam_is_immediate(key) || !beam_get_flat_map(map, &n, &keys, &values))
		return enif_get_map_value(env, map, key, value);
	for (unsigned i = 0; i < n; i++)
		if (keys[i] == key) {
			*value = values[i];
			return true;
		}
	return false;
}

#endif
